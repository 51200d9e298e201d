// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/kernels/linalg_dense.h"

#include <cmath>
#include <limits>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

template <typename T>
struct TypeInfo;
template <>
struct TypeInfo<float> {
  static constexpr CType kType = CType::kF32;
  static constexpr VectorKernels LinalgKernels::*kVectors = &LinalgKernels::f32;
};
template <>
struct TypeInfo<double> {
  static constexpr CType kType = CType::kF64;
  static constexpr VectorKernels LinalgKernels::*kVectors = &LinalgKernels::f64;
};
template <>
struct TypeInfo<std::complex<float>> {
  static constexpr CType kType = CType::kC64;
  static constexpr VectorKernels LinalgKernels::*kVectors = &LinalgKernels::c64;
};
template <>
struct TypeInfo<std::complex<double>> {
  static constexpr CType kType = CType::kC128;
  static constexpr VectorKernels LinalgKernels::*kVectors = &LinalgKernels::c128;
};

// Depth of a block of the inner dimension, and bytes of a packed block of A: it stays in L2.
constexpr int64_t kDepth = 256;
constexpr int64_t kPackedBytesA = 128 * 1024;
constexpr int64_t kBlockColumns = 1024;

// Packs `lines` lines into a panel of `width`, depth-major: to[p * width + i]. Missing lines are
// zero.
template <typename T, bool kConjugate, bool kNegate>
void PackAs(const T* from, int64_t line_stride, int64_t depth_stride, int64_t lines, int64_t depth,
            int64_t width, T* to) {
  for (int64_t p = 0; p < depth; ++p) {
    const T* source = from + p * depth_stride;
    for (int64_t i = 0; i < lines; ++i) {
      T value = source[i * line_stride];
      if constexpr (kConjugate) value = Conjugate(value);
      if constexpr (kNegate) value = -value;
      to[i] = value;
    }
    for (int64_t i = lines; i < width; ++i) to[i] = T(0);
    to += width;
  }
}

template <typename T>
void Pack(const T* from, int64_t line_stride, int64_t depth_stride, bool conjugate, bool negate,
          int64_t lines, int64_t depth, int64_t width, T* to) {
  if (kIsComplexType<T> && conjugate) {
    negate ? PackAs<T, true, true>(from, line_stride, depth_stride, lines, depth, width, to)
           : PackAs<T, true, false>(from, line_stride, depth_stride, lines, depth, width, to);
  } else {
    negate ? PackAs<T, false, true>(from, line_stride, depth_stride, lines, depth, width, to)
           : PackAs<T, false, false>(from, line_stride, depth_stride, lines, depth, width, to);
  }
}

// Brings the largest part near 1 unless its exponent is within `limit`.
template <typename T>
int TakeOutExponent(int64_t n, int limit, T* x) {
  RealOf<T> largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    largest = std::max({largest, std::abs(RealPart(x[i])), std::abs(ImagPart(x[i]))});
  }
  if (largest == 0) return 0;
  const int exponent = std::ilogb(largest);
  if (std::abs(exponent) <= limit) return 0;
  ScaleByPower(n, -exponent, x);
  return exponent;
}

}  // namespace

template <typename T>
DenseOps<T>::DenseOps(const Kernels& kernels)
    : kernels_(kernels),
      k_(kernels.linalg->*TypeInfo<T>::kVectors),
      tile_(kernels.gemm->tile[static_cast<int>(TypeInfo<T>::kType)]) {}

template <typename T>
void DenseOps<T>::Transpose(int64_t rows, int64_t columns, const T* from, int64_t ldf, T* to,
                            int64_t ldt) const {
  if (rows == 0 || columns == 0) return;
  constexpr int kLog2 = sizeof(T) == 4 ? 2 : sizeof(T) == 8 ? 3 : 4;
  kernels_.block->transpose_2d[kLog2](to, ldt, from, ldf, rows, columns);
}

template <typename T>
void DenseOps<T>::Multiply(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
                           int64_t ldc, bool subtract) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m && !subtract; ++i) std::fill_n(c + i * ldc, n, T(0));
    return;
  }
  const int64_t mr = tile_.mr, nr = tile_.nr;
  const int64_t depth_limit = std::min(k, kDepth);
  const int64_t block_rows = std::min(
      AlignUp(m, mr),
      std::max<int64_t>(kPackedBytesA / (depth_limit * static_cast<int64_t>(sizeof(T))) / mr, 1) *
          mr);
  const int64_t block_columns = std::min(AlignUp(n, nr), AlignUp(kBlockColumns, nr));
  // B's rows are read where they lie if they are contiguous and few rows of A use them.
  const bool direct = b.col_stride == 1 && !(b.conjugate && kIsComplexType<T>)&&m <= 4 * mr;
  const auto grow = [](std::unique_ptr<T[]>* buffer, int64_t* size, int64_t wanted) {
    if (*size >= wanted) return;
    *buffer = Scratch<T>(wanted);
    *size = wanted;
  };
  grow(&packed_a_, &packed_a_size_, block_rows * depth_limit);
  grow(&packed_b_, &packed_b_size_, (direct ? nr : block_columns) * depth_limit);
  if (edge_ == nullptr) edge_ = Scratch<T>(mr * nr);

  for (int64_t j0 = 0; j0 < n; j0 += block_columns) {
    const int64_t columns = std::min(block_columns, n - j0);
    for (int64_t p0 = 0; p0 < k; p0 += kDepth) {
      const int64_t depth = std::min(kDepth, k - p0);
      const bool add = subtract || p0 > 0;
      const T* const b_block = b.data + p0 * b.row_stride + j0 * b.col_stride;
      if (!direct) {
        for (int64_t j = 0; j < columns; j += nr) {
          Pack(b_block + j * b.col_stride, b.col_stride, b.row_stride, b.conjugate, false,
               std::min(nr, columns - j), depth, nr, packed_b_.get() + j * depth);
        }
      }
      for (int64_t i0 = 0; i0 < m; i0 += block_rows) {
        const int64_t rows = std::min(block_rows, m - i0);
        for (int64_t i = 0; i < rows; i += mr) {
          Pack(a.data + (i0 + i) * a.row_stride + p0 * a.col_stride, a.row_stride, a.col_stride,
               a.conjugate, subtract, std::min(mr, rows - i), depth, mr,
               packed_a_.get() + i * depth);
        }
        for (int64_t j = 0; j < columns; j += nr) {
          const int64_t width = std::min(nr, columns - j);
          const T* panel = packed_b_.get() + j * depth;
          int64_t panel_stride = nr;
          if (direct && width == nr) {
            panel = b_block + j;
            panel_stride = b.row_stride;
          } else if (direct) {
            Pack(b_block + j, 1, b.row_stride, false, false, width, depth, nr, packed_b_.get());
            panel = packed_b_.get();
          }
          for (int64_t i = 0; i < rows; i += mr) {
            const int tile_rows = static_cast<int>(std::min(mr, rows - i));
            const T* const packed = packed_a_.get() + i * depth;
            T* const to = c + (i0 + i) * ldc + j0 + j;
            if (width == nr) {
              tile_.fn(depth, packed, panel, panel_stride, to, ldc, tile_rows, add);
              continue;
            }
            // The last columns, through a whole tile.
            tile_.fn(depth, packed, panel, panel_stride, edge_.get(), nr, tile_rows, false);
            for (int r = 0; r < tile_rows; ++r) {
              for (int64_t e = 0; e < width; ++e) {
                const T value = edge_[r * nr + e];
                to[r * ldc + e] = add ? to[r * ldc + e] + value : value;
              }
            }
          }
        }
      }
    }
  }
}

template <typename T>
RealOf<T> DenseOps<T>::Norm(int64_t n, const T* x) const {
  using R = RealOf<T>;
  if (n <= 0) return 0;
  // Squares that lose nothing to overflow, and to underflow only what does not count.
  constexpr R kLow = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon() /
                     std::numeric_limits<R>::epsilon();
  constexpr R kHigh = std::numeric_limits<R>::max();
  const R squares = RealPart(Dot(n, x, x));
  if (squares >= kLow && squares <= kHigh) return std::sqrt(squares);
  R largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const R size = std::max(std::abs(RealPart(x[i])), std::abs(ImagPart(x[i])));
    // Keeps a NaN.
    if (!(size <= largest)) largest = size;
    if (std::isnan(largest)) return largest;
  }
  if (largest == 0 || std::isinf(largest)) return largest;
  // A power of two, so that scaling is exact; in two steps, as its inverse may not be a number.
  const int exponent = std::ilogb(largest);
  R sum = 0;
  for (int64_t i = 0; i < n; ++i) {
    const R re = std::scalbn(RealPart(x[i]), -exponent);
    const R im = std::scalbn(ImagPart(x[i]), -exponent);
    sum += re * re + im * im;
  }
  return std::scalbn(std::sqrt(sum), exponent);
}

template <typename T>
T DenseOps<T>::MakeReflector(int64_t n, T* alpha, T* x) const {
  using R = RealOf<T>;
  if (n <= 0) return T(0);
  R tail = Norm(n - 1, x);
  if (tail == 0 && ImagPart(*alpha) == 0) return T(0);
  const auto hypotenuse = [&] {
    return std::hypot(std::hypot(RealPart(*alpha), ImagPart(*alpha)), tail);
  };
  R beta = -std::copysign(hypotenuse(), RealPart(*alpha));
  // Below this 1 / (alpha - beta) would overflow: scale up first.
  constexpr R kSafe = std::numeric_limits<R>::min() / std::numeric_limits<R>::epsilon();
  int scalings = 0;
  while (std::abs(beta) < kSafe && scalings < 20) {
    for (int64_t i = 0; i < n - 1; ++i) x[i] = x[i] * (R(1) / kSafe);
    *alpha = *alpha * (R(1) / kSafe);
    tail = Norm(n - 1, x);
    beta = -std::copysign(hypotenuse(), RealPart(*alpha));
    ++scalings;
  }
  T tau;
  if constexpr (kIsComplexType<T>) {
    tau = T((beta - alpha->real()) / beta, -alpha->imag() / beta);
  } else {
    tau = (beta - *alpha) / beta;
  }
  const T factor = Quotient(T(1), *alpha - T(beta));
  for (int64_t i = 0; i < n - 1; ++i) x[i] = Times(x[i], factor);
  for (; scalings > 0; --scalings) beta *= kSafe;
  *alpha = T(beta);
  return tau;
}

template <typename T>
void DenseOps<T>::ApplyLeft(int64_t m, int64_t n, const T* v, T tau, T* a, int64_t lda,
                            T* work) const {
  if (tau == T(0) || m <= 0 || n <= 0) return;
  // work = conj(tau) A^H v, so that A -= v work^H is A -= tau v (v^H A).
  AdjointProduct(m, n, a, lda, v, work);
  for (int64_t j = 0; j < n; ++j) work[j] = Times(work[j], Conjugate(tau));
  SubtractOuter(m, n, v, work, a, lda);
}

template <typename T>
void DenseOps<T>::ApplyRight(int64_t m, int64_t n, const T* v, T tau, T* a, int64_t lda,
                             T* work) const {
  if (tau == T(0) || m <= 0 || n <= 0) return;
  // work = -A (tau v), then A += work v^H.
  T* const scaled = work + m;
  for (int64_t j = 0; j < n; ++j) scaled[j] = Times(v[j], tau);
  std::fill_n(work, m, T(0));
  SubtractProduct(m, n, a, lda, scaled, work);
  for (int64_t i = 0; i < m; ++i) work[i] = -work[i];
  SubtractOuter(m, n, work, v, a, lda);
}

template <typename T>
bool AllFinite(int64_t n, const T* x) {
  for (int64_t i = 0; i < n; ++i) {
    if (!std::isfinite(RealPart(x[i])) || !std::isfinite(ImagPart(x[i]))) return false;
  }
  return true;
}

template <typename T>
bool AnyNaN(int64_t n, const T* x) {
  for (int64_t i = 0; i < n; ++i) {
    if (std::isnan(RealPart(x[i])) || std::isnan(ImagPart(x[i]))) return true;
  }
  return false;
}

template <typename T>
void ScaleByPower(int64_t n, int exponent, T* x) {
  if (exponent == 0) return;
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kIsComplexType<T>) {
      x[i] = T(std::scalbn(x[i].real(), exponent), std::scalbn(x[i].imag(), exponent));
    } else {
      x[i] = std::scalbn(x[i], exponent);
    }
  }
}

template <typename T>
int ScaleToSafeRange(int64_t n, T* x) {
  return TakeOutExponent(n, std::numeric_limits<RealOf<T>>::max_exponent / 5, x);
}
template <typename T>
int ScaleToOne(int64_t n, T* x) {
  return TakeOutExponent(n, 0, x);
}

#define PJRT_INSTANTIATE_(T)                  \
  template class DenseOps<T>;                 \
  template bool AllFinite(int64_t, const T*); \
  template bool AnyNaN(int64_t, const T*);    \
  template int ScaleToSafeRange(int64_t, T*); \
  template int ScaleToOne(int64_t, T*);       \
  template void ScaleByPower(int64_t, int, T*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
