// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices with vectors, updates by outer products and rotations, and the level's table
// of linear algebra.
#include "src/cpu_device/kernels/level_tables.h"
#include "src/cpu_device/kernels/linalg_vectors-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <typename T>
void DotEntry(int64_t n, const void* x, const void* y, void* out) {
  *static_cast<T*>(out) = Dot(n, static_cast<const T*>(x), static_cast<const T*>(y));
}

template <typename T>
void AxpyEntry(int64_t n, const void* alpha, const void* x, void* y) {
  Axpy(n, *static_cast<const T*>(alpha), static_cast<const T*>(x), static_cast<T*>(y));
}

template <typename T>
void SubtractProductEntry(int64_t m, int64_t n, const void* a, int64_t lda, const void* x,
                          void* y) {
  SubtractProduct(m, n, static_cast<const T*>(a), lda, static_cast<const T*>(x), 1,
                  static_cast<T*>(y));
}

template <typename T>
void AdjointProduct(int64_t m, int64_t n, const void* a, int64_t lda, const void* x, void* y) {
  const T* const from = static_cast<const T*>(a);
  const T* const vector = static_cast<const T*>(x);
  T* const to = static_cast<T*>(y);
  int64_t j = 0;
  for (; j + 4 <= n; j += 4) Dots<T, 4>(m, from + j * lda, lda, vector, to + j);
  for (; j < n; ++j) Dots<T, 1>(m, from + j * lda, lda, vector, to + j);
}

template <typename T>
void SubtractOuter(int64_t m, int64_t n, const void* x, const void* y, void* a, int64_t lda) {
  for (int64_t j = 0; j < n; ++j) {
    Axpy(m, Negated(Conj(static_cast<const T*>(y)[j])), static_cast<const T*>(x),
         static_cast<T*>(a) + j * lda);
  }
}

template <typename T>
PJRT_INLINE void AddProduct(T* sum, T x, PartOf<T> factor) {
  if constexpr (kIsComplex<T>) {
    sum->re += x.re * factor;
    sum->im += x.im * factor;
  } else {
    *sum += x * factor;
  }
}

template <typename T>
void HermitianProduct(int64_t n, const void* a, int64_t lda, const void* x, void* y) {
  const T* const matrix = static_cast<const T*>(a);
  const T* const from = static_cast<const T*>(x);
  T* const to = static_cast<T*>(y);
  for (int64_t i = 0; i < n; ++i) to[i] = T{};
  for (int64_t j = 0; j < n; ++j) {
    const T* const column = matrix + j * lda;
    const T sum = AxpyDot(n - j - 1, from[j], column + j + 1, from + j + 1, to + j + 1);
    AddProduct(&to[j], from[j], Re(column[j]));
    AddProduct(&to[j], sum, PartOf<T>(1));
  }
}

template <typename T>
void SubtractOuter2(int64_t n, const void* x, const void* y, void* a, int64_t lda) {
  const T* const v = static_cast<const T*>(x);
  const T* const w = static_cast<const T*>(y);
  for (int64_t j = 0; j < n; ++j) {
    Axpy2(n - j, Negated(Conj(w[j])), v + j, Negated(Conj(v[j])), w + j,
          static_cast<T*>(a) + j * lda + j);
  }
}

// One sweep over the columns for each block of rows; the column between two rotations stays in
// registers.
template <typename R, int kWidth, int kRegisters>
PJRT_INLINE void RotateRows(int64_t i, int64_t rows, int64_t count, const R* c, const R* s, R* a,
                            int64_t lda, bool backward) {
  using V = LanesOf<R, kWidth>;
  for (; i + kRegisters * kWidth <= rows; i += kRegisters * kWidth) {
    V held[kRegisters];
    R* column = a + i + (backward ? count * lda : 0);
#pragma GCC unroll 8
    for (int r = 0; r < kRegisters; ++r) held[r] = LoadLanes<kWidth>(column + r * kWidth);
    if (backward) {
      for (int64_t j = count - 1; j >= 0; --j) {
        const V cv = Broadcast<R, kWidth>(c[j]), sv = Broadcast<R, kWidth>(s[j]);
        R* const next = column - lda;
#pragma GCC unroll 8
        for (int r = 0; r < kRegisters; ++r) {
          const V v = LoadLanes<kWidth>(next + r * kWidth);
          StoreLanes<kWidth>(column + r * kWidth, cv * held[r] - sv * v);
          held[r] = cv * v + sv * held[r];
        }
        column = next;
      }
    } else {
      for (int64_t j = 0; j < count; ++j) {
        const V cv = Broadcast<R, kWidth>(c[j]), sv = Broadcast<R, kWidth>(s[j]);
        R* const next = column + lda;
#pragma GCC unroll 8
        for (int r = 0; r < kRegisters; ++r) {
          const V v = LoadLanes<kWidth>(next + r * kWidth);
          StoreLanes<kWidth>(column + r * kWidth, cv * held[r] + sv * v);
          held[r] = cv * v - sv * held[r];
        }
        column = next;
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRegisters; ++r) StoreLanes<kWidth>(column + r * kWidth, held[r]);
  }
  if constexpr (kRegisters > 1) {
    RotateRows<R, kWidth, 1>(i, rows, count, c, s, a, lda, backward);
  } else if constexpr (kWidth > 1) {
    RotateRows<R, kWidth / 2, 1>(i, rows, count, c, s, a, lda, backward);
  }
}
template <typename R>
void RotateColumns(int64_t rows, int64_t count, const void* c, const void* s, void* a, int64_t lda,
                   bool backward) {
  RotateRows<R, kFullWidth<R>, 4>(0, rows, count, static_cast<const R*>(c),
                                  static_cast<const R*>(s), static_cast<R*>(a), lda, backward);
}
template <typename R>
void RotateComplexColumns(int64_t rows, int64_t count, const void* c, const void* s, void* a,
                          int64_t lda, bool backward) {
  RotateColumns<R>(2 * rows, count, c, s, a, 2 * lda, backward);
}

template <typename T>
void Set(VectorKernels* k) {
  k->dot = DotEntry<T>;
  k->axpy = AxpyEntry<T>;
  k->subtract_product = SubtractProductEntry<T>;
  k->adjoint_product = AdjointProduct<T>;
  k->subtract_outer = SubtractOuter<T>;
  k->hermitian_product = HermitianProduct<T>;
  k->subtract_outer_2 = SubtractOuter2<T>;
  if constexpr (kIsComplex<T>) {
    k->rotate_columns = RotateComplexColumns<PartOf<T>>;
  } else {
    k->rotate_columns = RotateColumns<T>;
  }
}

}  // namespace

void FillLinalgVectors(LinalgKernels* kernels) {
  Set<float>(&kernels->f32);
  Set<double>(&kernels->f64);
  Set<C64>(&kernels->c64);
  Set<C128>(&kernels->c128);
}

const LinalgKernels* GetLinalgKernels() {
  static const LinalgKernels kernels = [] {
    LinalgKernels k;
    FillLinalgVectors(&k);
    FillLinalgPanels(&k);
    return k;
  }();
  return &kernels;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
