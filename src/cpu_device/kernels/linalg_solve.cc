// SPDX-License-Identifier: Apache-2.0
//
// Cholesky and LU by panels of columns, and solves with a triangle by diagonal blocks. Panels and
// diagonal blocks are copied out, into the layout that their kernels want; all else is matrix
// products.
#include "src/cpu_device/kernels/linalg_solve.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "src/cpu_device/kernels/linalg_dense.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kPanel = 32;
constexpr int64_t kTriangle = 64;
// Columns of a strip of the trailing update of a triangle.
constexpr int64_t kStrip = 128;

// By chunks of a fixed size, which compilers move in registers.
template <typename T>
void SwapRows(int64_t n, T* x, T* y) {
  constexpr int64_t kChunk = 256 / static_cast<int64_t>(sizeof(T));
  T kept[kChunk];
  int64_t i = 0;
  for (; i + kChunk <= n; i += kChunk) {
    std::memcpy(static_cast<void*>(kept), x + i, sizeof(kept));
    std::memcpy(static_cast<void*>(x + i), y + i, sizeof(kept));
    std::memcpy(static_cast<void*>(y + i), kept, sizeof(kept));
  }
  std::swap_ranges(x + i, x + n, y + i);
}

}  // namespace

template <typename T>
int32_t Potrf(const Kernels& kernels, bool lower, int64_t n, T* a) {
  DenseOps<T> ops(kernels);
  const auto panel = Scratch<T>(n * std::min(n, kPanel));
  for (int64_t j0 = 0; j0 < n; j0 += kPanel) {
    const int64_t width = std::min(kPanel, n - j0), m = n - j0;
    // Columns of the lower triangle, conjugated rows of the upper one.
    if (lower) {
      ops.Transpose(m, width, a + j0 * n + j0, n, panel.get(), m);
    } else {
      for (int64_t j = 0; j < width; ++j) {
        const T* const row = a + (j0 + j) * n + j0;
        for (int64_t i = j; i < m; ++i) panel[j * m + i] = Conjugate(row[i]);
      }
    }
    const int64_t failed = ops.CholeskyPanel(m, width, panel.get(), m);
    for (int64_t j = 0; j < width; ++j) {
      const T* const column = panel.get() + j * m;
      if (lower) {
        for (int64_t i = j; i < width; ++i) a[(j0 + i) * n + j0 + j] = column[i];
      } else {
        T* const row = a + (j0 + j) * n + j0;
        for (int64_t i = j; i < m; ++i) row[i] = Conjugate(column[i]);
      }
    }
    if (lower) {
      ops.Transpose(width, m - width, panel.get() + width, m, a + (j0 + width) * n + j0, n);
    }
    if (failed != 0) return static_cast<int32_t>(j0 + failed);
    // The triangle behind the panel, -= panel panel^H, by strips that have a corner too much: the
    // corner beyond the diagonal is put aside and back.
    for (int64_t s = width; s < m; s += kStrip) {
      const int64_t columns = std::min(kStrip, m - s);
      const MatrixView<T> rows{panel.get() + s, 1, m};
      const MatrixView<T> strip{panel.get() + s, m, 1, true};
      T* const corner = a + (j0 + s) * n + j0 + s;
      const auto kept = Scratch<T>(columns * columns);
      for (int64_t i = 0; i < columns; ++i) {
        std::copy_n(corner + i * n, columns, kept.get() + i * columns);
      }
      if (lower) {
        ops.SubtractGemm(m - s, columns, width, rows, strip, corner, n);
      } else {
        ops.SubtractGemm(columns, m - s, width, rows, strip, corner, n);
      }
      for (int64_t i = 0; i < columns; ++i) {
        const int64_t from = lower ? i + 1 : 0, to = lower ? columns : i;
        std::copy(kept.get() + i * columns + from, kept.get() + i * columns + to,
                  corner + i * n + from);
      }
    }
  }
  return 0;
}

template <typename T>
int32_t Getrf(const Kernels& kernels, int64_t m, int64_t n, T* a, int32_t* pivots) {
  DenseOps<T> ops(kernels);
  const int64_t k = std::min(m, n);
  const auto panel = Scratch<T>(m * std::min(k, kPanel));
  const auto triangle = Scratch<T>(kPanel * kPanel);
  int64_t info = 0;
  for (int64_t j0 = 0; j0 < k; j0 += kPanel) {
    const int64_t width = std::min(kPanel, k - j0), rows = m - j0;
    int32_t* const swaps = pivots + j0;
    ops.Transpose(rows, width, a + j0 * n + j0, n, panel.get(), rows);
    const int64_t failed = ops.LuPanel(rows, width, panel.get(), rows, swaps);
    if (failed != 0 && info == 0) info = j0 + failed;
    // The panel's swaps to the rest of the rows; the panel's part is overwritten.
    for (int64_t j = 0; j < width; ++j) {
      if (swaps[j] != j) SwapRows(n, a + (j0 + j) * n, a + (j0 + swaps[j]) * n);
      swaps[j] += static_cast<int32_t>(j0 + 1);
    }
    ops.Transpose(width, rows, panel.get(), rows, a + j0 * n + j0, n);
    const int64_t right = n - j0 - width;
    if (right == 0) continue;
    T* const upper = a + j0 * n + j0 + width;
    ops.Transpose(width, width, panel.get(), rows, triangle.get(), width);
    ops.SolveLower(width, right, /*unit_diagonal=*/true, triangle.get(), upper, n);
    ops.SubtractGemm(rows - width, right, width, {panel.get() + width, 1, rows}, {upper, n, 1},
                     upper + width * n, n);
  }
  return static_cast<int32_t>(info);
}

template <typename T>
void Trsm(const Kernels& kernels, const TrsmOptions& options, int64_t m, int64_t n, const T* a,
          T* b) {
  if (m == 0 || n == 0) return;
  DenseOps<T> ops(kernels);
  if (!options.left) {
    // x op(a) = b is op(a)^T x^T = b^T.
    const auto transposed = Scratch<T>(m * n);
    ops.Transpose(m, n, b, n, transposed.get(), m);
    TrsmOptions left = options;
    left.left = true;
    left.transpose = !options.transpose;
    Trsm(kernels, left, n, m, a, transposed.get());
    ops.Transpose(n, m, transposed.get(), m, b, n);
    return;
  }
  // op(a) as a view; an upper one is solved from its last row on, which is what a lower one with
  // rows and columns in reverse is.
  MatrixView<T> view{a, m, 1, options.conjugate};
  if (options.transpose) std::swap(view.row_stride, view.col_stride);
  const bool reverse = options.lower == options.transpose;
  const int64_t size = std::min(m, kTriangle);
  const auto triangle = Scratch<T>(size * size);
  for (int64_t done = 0; done < m; done += kTriangle) {
    const int64_t width = std::min(kTriangle, m - done);
    const int64_t first = reverse ? m - 1 - done : done;
    const int64_t step = reverse ? -1 : 1;
    for (int64_t i = 0; i < width; ++i) {
      const T* const row = view.data + (first + step * i) * view.row_stride;
      for (int64_t j = 0; j <= i; ++j) {
        const T value = row[(first + step * j) * view.col_stride];
        triangle[i * width + j] = options.conjugate ? Conjugate(value) : value;
      }
    }
    ops.SolveLower(width, n, options.unit_diagonal, triangle.get(), b + first * n, step * n);
    const int64_t rest = m - done - width;
    const int64_t solved = reverse ? rest : done;
    const int64_t next = reverse ? 0 : done + width;
    const MatrixView<T> beside{view.data + next * view.row_stride + solved * view.col_stride,
                               view.row_stride, view.col_stride, options.conjugate};
    ops.SubtractGemm(rest, n, width, beside, {b + solved * n, n, 1}, b + next * n, n);
  }
}

#define PJRT_INSTANTIATE_(T)                                              \
  template int32_t Potrf(const Kernels&, bool, int64_t, T*);              \
  template int32_t Getrf(const Kernels&, int64_t, int64_t, T*, int32_t*); \
  template void Trsm(const Kernels&, const TrsmOptions&, int64_t, int64_t, const T*, T*);
PJRT_INSTANTIATE_(float)
PJRT_INSTANTIATE_(double)
PJRT_INSTANTIATE_(std::complex<float>)
PJRT_INSTANTIATE_(std::complex<double>)
#undef PJRT_INSTANTIATE_

}  // namespace pjrt::cpu
