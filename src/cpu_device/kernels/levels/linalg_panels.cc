// SPDX-License-Identifier: Apache-2.0
//
// Factorisations of narrow panels and solves with small triangles. They go by columns: a column is
// updated by all columns before it at once, in registers.
#include "src/cpu_device/kernels/linalg_vectors-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

PJRT_INLINE float SquareRoot(float x) { return __builtin_sqrtf(x); }
PJRT_INLINE double SquareRoot(double x) { return __builtin_sqrt(x); }

// 1 / x without the overflow of |x|^2. Of a real number division is as good as the product.
template <typename R>
PJRT_INLINE Complex<R> Reciprocal(Complex<R> x) {
  if (Abs1(x.re) >= Abs1(x.im)) {
    const R ratio = x.im / x.re;
    const R size = x.re + x.im * ratio;
    return {R(1) / size, -ratio / size};
  }
  const R ratio = x.re / x.im;
  const R size = x.im + x.re * ratio;
  return {ratio / size, R(-1) / size};
}

// x /= divisor.
template <typename T>
PJRT_INLINE void Divide(int64_t n, T divisor, T* x) {
  if constexpr (kIsComplex<T>) {
    const T factor = Reciprocal(divisor);
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) {
      const T v = x[i];
      x[i].re = v.re * factor.re - v.im * factor.im;
      x[i].im = v.re * factor.im + v.im * factor.re;
    }
  } else {
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < n; ++i) x[i] = x[i] / divisor;
  }
}

template <typename T>
int64_t CholeskyPanel(int64_t m, int64_t n, void* panel, int64_t lda) {
  T* const a = static_cast<T*>(panel);
  for (int64_t j = 0; j < n; ++j) {
    T* const column = a + j * lda;
    SubtractProduct<T, true>(m - j, j, a + j, lda, a + j, lda, column + j);
    const PartOf<T> pivot = Re(column[j]);
    if (!(pivot > 0)) return j + 1;
    const PartOf<T> root = SquareRoot(pivot);
    column[j] = T{};
    *Parts(column + j) = root;
    PartOf<T>* const below = Parts(column + j + 1);
    const int64_t count = (m - j - 1) * Part<T>::kParts;
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) below[i] = below[i] / root;
  }
  return 0;
}

// The first row of the largest |re| + |im| from row `begin` on; `begin` if there are only NaNs.
template <typename T>
PJRT_INLINE int64_t FindPivot(const T* column, int64_t begin, int64_t m) {
  using R = PartOf<T>;
  R largest = -1;
  int64_t i = begin;
  if constexpr (!kIsComplex<T>) {
    constexpr int kWidth = kFullWidth<T>;
    if (m - begin >= 2 * kWidth) {
      LanesOf<T, kWidth> best = Broadcast<T, kWidth>(-1);
      for (; i + kWidth <= m; i += kWidth) {
        const LanesOf<T, kWidth> v = LoadLanes<kWidth>(column + i);
        const LanesOf<T, kWidth> size = v < 0 ? -v : v;
        best = size > best ? size : best;
      }
      for (int e = 0; e < kWidth; ++e) largest = best[e] > largest ? best[e] : largest;
    }
  }
  for (; i < m; ++i) {
    const R size = Abs1(column[i]);
    largest = size > largest ? size : largest;
  }
  for (i = begin; i < m; ++i) {
    if (Abs1(column[i]) == largest) return i;
  }
  return begin;
}

template <typename T>
int64_t LuPanel(int64_t m, int64_t n, void* panel, int64_t lda, int32_t* pivots) {
  T* const a = static_cast<T*>(panel);
  int64_t info = 0;
  for (int64_t j = 0; j < n; ++j) {
    T* const column = a + j * lda;
    const int64_t top = j < m ? j : m;
    for (int64_t k = 1; k < top; ++k) SubtractProduct(1, k, a + k, lda, column, 1, column + k);
    if (j >= m) continue;
    SubtractProduct(m - j, j, a + j, lda, column, 1, column + j);
    const int64_t pivot = FindPivot(column, j, m);
    pivots[j] = static_cast<int32_t>(pivot);
    if (pivot != j) {
      for (int64_t k = 0; k < n; ++k) {
        const T moved = a[j + k * lda];
        a[j + k * lda] = a[pivot + k * lda];
        a[pivot + k * lda] = moved;
      }
    }
    if (Abs1(column[j]) == 0) {
      if (info == 0) info = j + 1;
      continue;
    }
    Divide(m - j - 1, column[j], column + j + 1);
  }
  return info;
}

// Few columns: each is gathered, so that sums run along the rows of T.
template <typename T>
PJRT_INLINE void SolveColumn(int64_t n, bool unit_diagonal, const T* t, T* b, int64_t ldb) {
  constexpr int64_t kMax = 128;
  T x[kMax];
  for (int64_t i = 0; i < n; ++i) {
    T value = b[i * ldb];
    // Conj undoes the conjugation in Dot: sum of t x is conj(sum of conj(t) conj(x)).
    const T sum = Conj(Dot(i, t + i * n, x));
    if constexpr (kIsComplex<T>) {
      value.re -= sum.re;
      value.im -= sum.im;
    } else {
      value -= sum;
    }
    if (!unit_diagonal) Divide(1, t[i * n + i], &value);
    b[i * ldb] = value;
    x[i] = Conj(value);
  }
}

template <typename T>
void SolveLower(int64_t n, int64_t columns, bool unit_diagonal, const void* triangle, void* rhs,
                int64_t ldb) {
  const T* const t = static_cast<const T*>(triangle);
  T* const b = static_cast<T*>(rhs);
  if (columns <= 3 && n <= 128) {
    for (int64_t c = 0; c < columns; ++c) SolveColumn(n, unit_diagonal, t, b + c, ldb);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    SubtractProduct(columns, i, b, ldb, t + i * n, 1, b + i * ldb);
    if (!unit_diagonal) Divide(columns, t[i * n + i], b + i * ldb);
  }
}

template <typename T>
void Set(VectorKernels* k) {
  k->cholesky_panel = CholeskyPanel<T>;
  k->lu_panel = LuPanel<T>;
  k->solve_lower = SolveLower<T>;
}

}  // namespace

void FillLinalgPanels(LinalgKernels* kernels) {
  Set<float>(&kernels->f32);
  Set<double>(&kernels->f64);
  Set<C64>(&kernels->c64);
  Set<C128>(&kernels->c128);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
