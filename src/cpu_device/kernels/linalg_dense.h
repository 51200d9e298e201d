// SPDX-License-Identifier: Apache-2.0
//
// What the algorithms of linear algebra are written in: the level's functions on columns with their
// types back, a matrix product without threads for updates of parts of a matrix, and scratch
// memory. Internal to linalg_*.cc.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_DENSE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_DENSE_H_

#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "src/cpu_device/kernels/gemm_tile.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/linalg_eigen.h"
#include "src/cpu_device/kernels/linalg_vectors.h"

namespace pjrt::cpu {

template <typename T>
inline constexpr bool kIsComplexType = !std::is_same_v<T, RealOf<T>>;

// Complex arithmetic as its formulas say, without the C++ library's recovery of infinities.
template <typename T>
T Conjugate(T x) {
  if constexpr (kIsComplexType<T>) {
    return T(x.real(), -x.imag());
  } else {
    return x;
  }
}
template <typename T>
RealOf<T> RealPart(T x) {
  if constexpr (kIsComplexType<T>) {
    return x.real();
  } else {
    return x;
  }
}
template <typename T>
RealOf<T> ImagPart(T x) {
  if constexpr (kIsComplexType<T>) {
    return x.imag();
  } else {
    return 0;
  }
}
template <typename T>
T Times(T x, T y) {
  if constexpr (kIsComplexType<T>) {
    return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  } else {
    return x * y;
  }
}
// |re| + |im|.
template <typename T>
RealOf<T> OneNorm(T x) {
  return std::abs(RealPart(x)) + std::abs(ImagPart(x));
}
// The quotient without overflow on the way.
template <typename T>
T Quotient(T x, T y) {
  if constexpr (kIsComplexType<T>) {
    using R = RealOf<T>;
    if (std::abs(y.real()) >= std::abs(y.imag())) {
      const R ratio = y.imag() / y.real();
      const R size = y.real() + y.imag() * ratio;
      return T((x.real() + x.imag() * ratio) / size, (x.imag() - x.real() * ratio) / size);
    }
    const R ratio = y.real() / y.imag();
    const R size = y.imag() + y.real() * ratio;
    return T((x.real() * ratio + x.imag()) / size, (x.imag() * ratio - x.real()) / size);
  } else {
    return x / y;
  }
}

// Memory for n elements, contents undefined for real types.
template <typename T>
std::unique_ptr<T[]> Scratch(int64_t n) {
  return std::unique_ptr<T[]>(new T[static_cast<size_t>(n)]);
}

// A matrix that is read: element (i, j) is data[i * row_stride + j * col_stride], or its conjugate.
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row_stride, col_stride;
  bool conjugate = false;
};

// The operations of one element type. Matrices of the functions on columns are column-major, with
// columns lda apart. Holds buffers of its own: use one object on one thread.
template <typename T>
class DenseOps {
 public:
  explicit DenseOps(const Kernels& kernels);

  // See VectorKernels.
  T Dot(int64_t n, const T* x, const T* y) const {
    T out;
    k_.dot(n, x, y, &out);
    return out;
  }
  void Axpy(int64_t n, T alpha, const T* x, T* y) const { k_.axpy(n, &alpha, x, y); }
  void SubtractProduct(int64_t m, int64_t n, const T* a, int64_t lda, const T* x, T* y) const {
    k_.subtract_product(m, n, a, lda, x, y);
  }
  void AdjointProduct(int64_t m, int64_t n, const T* a, int64_t lda, const T* x, T* y) const {
    k_.adjoint_product(m, n, a, lda, x, y);
  }
  void SubtractOuter(int64_t m, int64_t n, const T* x, const T* y, T* a, int64_t lda) const {
    k_.subtract_outer(m, n, x, y, a, lda);
  }
  void HermitianProduct(int64_t n, const T* a, int64_t lda, const T* x, T* y) const {
    k_.hermitian_product(n, a, lda, x, y);
  }
  void SubtractOuter2(int64_t n, const T* x, const T* y, T* a, int64_t lda) const {
    k_.subtract_outer_2(n, x, y, a, lda);
  }
  int64_t CholeskyPanel(int64_t m, int64_t n, T* a, int64_t lda) const {
    return k_.cholesky_panel(m, n, a, lda);
  }
  int64_t LuPanel(int64_t m, int64_t n, T* a, int64_t lda, int32_t* pivots) const {
    return k_.lu_panel(m, n, a, lda, pivots);
  }
  void SolveLower(int64_t n, int64_t columns, bool unit_diagonal, const T* t, T* b,
                  int64_t ldb) const {
    k_.solve_lower(n, columns, unit_diagonal, t, b, ldb);
  }
  void RotateColumns(int64_t rows, int64_t count, const RealOf<T>* c, const RealOf<T>* s, T* a,
                     int64_t lda, bool backward) const {
    k_.rotate_columns(rows, count, c, s, a, lda, backward);
  }

  // to (columns x rows) = from (rows x columns), transposed. Rows are ldf and ldt apart.
  void Transpose(int64_t rows, int64_t columns, const T* from, int64_t ldf, T* to,
                 int64_t ldt) const;

  // C (m x n) = A B, or C -= A B. C's rows are contiguous and ldc apart, and overlap neither A
  // nor B.
  void Product(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
               int64_t ldc) {
    Multiply(m, n, k, a, b, c, ldc, /*subtract=*/false);
  }
  void SubtractGemm(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
                    int64_t ldc) {
    Multiply(m, n, k, a, b, c, ldc, /*subtract=*/true);
  }

  // H = I - tau v v^H with v[0] = 1, chosen so that H^H maps (alpha, x) to (beta, 0), beta real;
  // alpha becomes beta, x (n - 1 elements, contiguous) the tail of v. Returns tau.
  T MakeReflector(int64_t n, T* alpha, T* x) const;
  // a (m x n) = (I - tau v v^H) a; v has m elements, v[0] = 1 included. work: n elements.
  void ApplyLeft(int64_t m, int64_t n, const T* v, T tau, T* a, int64_t lda, T* work) const;
  // a (m x n) = a (I - tau v v^H); v has n elements. work: m + n elements.
  void ApplyRight(int64_t m, int64_t n, const T* v, T tau, T* a, int64_t lda, T* work) const;

  // The 2-norm of a vector; no overflow or underflow on the way.
  RealOf<T> Norm(int64_t n, const T* x) const;

 private:
  void Multiply(int64_t m, int64_t n, int64_t k, MatrixView<T> a, MatrixView<T> b, T* c,
                int64_t ldc, bool subtract);

  const Kernels& kernels_;
  const VectorKernels& k_;
  const GemmTile tile_;
  std::unique_ptr<T[]> packed_a_, packed_b_, edge_;
  int64_t packed_a_size_ = 0, packed_b_size_ = 0;
};

// True if all n elements are finite; false if one is Inf or NaN.
template <typename T>
bool AllFinite(int64_t n, const T* x);
// True if one of n elements is NaN.
template <typename T>
bool AnyNaN(int64_t n, const T* x);

// Brings the largest part of n finite elements near 1 if it is so large or small that squares are
// at risk. Returns the binary exponent that was taken out: 0 for a matrix that was left alone.
template <typename T>
int ScaleToSafeRange(int64_t n, T* x);
// The same for any size but 1.
template <typename T>
int ScaleToOne(int64_t n, T* x);
// x *= 2^exponent.
template <typename T>
void ScaleByPower(int64_t n, int exponent, T* x);

template <typename T>
inline constexpr RealOf<T> kNaNOf = std::numeric_limits<RealOf<T>>::quiet_NaN();

extern template class DenseOps<float>;
extern template class DenseOps<double>;
extern template class DenseOps<std::complex<float>>;
extern template class DenseOps<std::complex<double>>;

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_DENSE_H_
