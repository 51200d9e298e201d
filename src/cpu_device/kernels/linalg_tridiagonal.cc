// SPDX-License-Identifier: Apache-2.0
//
// Solves with tridiagonal matrices by elimination with partial pivoting. A swap of two rows fills
// in a second diagonal above the first.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "src/cpu_device/kernels/linalg_dense.h"
#include "src/cpu_device/kernels/linalg_solve.h"

namespace pjrt::cpu {
namespace {

// to -= factor * from.
template <typename T>
void SubtractRow(int64_t columns, T factor, const T* from, T* to) {
  for (int64_t j = 0; j < columns; ++j) to[j] = to[j] - Times(factor, from[j]);
}

// Makes the matrix upper triangular with the diagonals d, du, du2 (du2[i] at (i, i + 2)), and does
// to b what it does to the matrix. `zero_pivot(i)` is asked when row i and the row below have
// nothing in column i, and may end the elimination by returning true.
template <typename T, typename ZeroPivot>
bool Eliminate(int64_t n, int64_t columns, T* dl, T* d, T* du, T* du2, T* b, ZeroPivot zero_pivot) {
  for (int64_t i = 0; i + 1 < n; ++i) {
    T& below = dl[i + 1];
    T* const row = b + i * columns;
    T* const next = row + columns;
    const bool last = i + 2 == n;
    if (OneNorm(d[i]) >= OneNorm(below) || std::isnan(OneNorm(d[i]))) {
      if (d[i] == T(0)) {
        if (zero_pivot(i)) return false;
        du2[i] = T(0);
        continue;
      }
      const T factor = Quotient(below, d[i]);
      d[i + 1] = d[i + 1] - Times(factor, du[i]);
      SubtractRow(columns, factor, row, next);
      du2[i] = T(0);
    } else {
      const T factor = Quotient(d[i], below);
      d[i] = below;
      const T above = du[i];
      du[i] = d[i + 1];
      d[i + 1] = above - Times(factor, du[i]);
      du2[i] = last ? T(0) : du[i + 1];
      if (!last) du[i + 1] = -Times(factor, du2[i]);
      std::swap_ranges(row, next, next);
      SubtractRow(columns, factor, row, next);
    }
  }
  return true;
}

// b = U^-1 b.
template <typename T>
void BackSubstitute(int64_t n, int64_t columns, const T* d, const T* du, const T* du2, T* b) {
  for (int64_t i = n - 1; i >= 0; --i) {
    T* const row = b + i * columns;
    if (i + 1 < n) SubtractRow(columns, du[i], row + columns, row);
    if (i + 2 < n && du2[i] != T(0)) SubtractRow(columns, du2[i], row + 2 * columns, row);
    for (int64_t j = 0; j < columns; ++j) row[j] = Quotient(row[j], d[i]);
  }
}

}  // namespace

template <typename T>
int32_t Gtsv(int64_t n, int64_t columns, T* dl, T* d, T* du, T* b) {
  if (n == 0) return 0;
  std::vector<T> du2(static_cast<size_t>(n));
  int64_t info = 0;
  Eliminate(n, columns, dl, d, du, du2.data(), b, [&](int64_t i) {
    info = i + 1;
    return true;
  });
  if (info == 0 && d[n - 1] == T(0)) info = n;
  if (info == 0) BackSubstitute(n, columns, d, du, du2.data(), b);
  return static_cast<int32_t>(info);
}

template <typename T>
void TridiagonalSolvePerturbed(int64_t n, int64_t columns, const T* dl, const T* d, const T* du,
                               T* b) {
  using R = RealOf<T>;
  if (n == 0) return;
  const size_t size = static_cast<size_t>(n);
  std::vector<T> below(dl, dl + n), diagonal(d, d + n), above(du, du + n), above2(size);
  Eliminate(n, columns, below.data(), diagonal.data(), above.data(), above2.data(), b,
            [](int64_t) { return false; });
  constexpr R kSmallest = std::numeric_limits<R>::min();
  constexpr R kLargest = std::numeric_limits<R>::max();
  R largest = 0;
  for (int64_t i = 0; i < n; ++i) {
    const size_t at = static_cast<size_t>(i);
    largest = std::max(largest, std::abs(diagonal[at]));
    if (i + 1 < n) largest = std::max(largest, std::abs(above[at]));
    if (i + 2 < n) largest = std::max(largest, std::abs(above2[at]));
  }
  const R first_step = std::max(std::numeric_limits<R>::epsilon() * largest, kSmallest);
  for (int64_t i = n - 1; i >= 0; --i) {
    const size_t at = static_cast<size_t>(i);
    T* const row = b + i * columns;
    if (i + 1 < n) SubtractRow(columns, above[at], row + columns, row);
    if (i + 2 < n) SubtractRow(columns, above2[at], row + 2 * columns, row);
    R wanted = 0;
    for (int64_t j = 0; j < columns; ++j) wanted = std::max(wanted, std::abs(row[j]));
    T pivot = diagonal[at];
    const auto too_small = [&] {
      const R pivot_size = std::abs(pivot);
      return pivot_size < kSmallest ||
             (std::isfinite(wanted) && pivot_size < 1 && wanted > pivot_size * kLargest);
    };
    // Away from zero in the direction that it has, and on while that is not enough.
    for (R step = first_step; too_small(); step *= 2) {
      const R pivot_size = std::abs(pivot);
      pivot = pivot_size == 0 ? T(std::copysign(step, RealPart(pivot)))
                              : pivot + pivot / pivot_size * step;
    }
    for (int64_t j = 0; j < columns; ++j) row[j] = Quotient(row[j], pivot);
  }
}

#define PJRT_INSTANTIATE_(T)                               \
  template int32_t Gtsv(int64_t, int64_t, T*, T*, T*, T*); \
  template void TridiagonalSolvePerturbed(int64_t, int64_t, const T*, const T*, const T*, T*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
