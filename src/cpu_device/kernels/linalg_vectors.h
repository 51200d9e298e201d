// SPDX-License-Identifier: Apache-2.0
//
// The inner loops of linear algebra: the functions on columns and narrow panels that a kernel level
// gives the algorithms of linalg_*.cc. Matrices are column-major here: element (i, j) is
// a[i + j * lda], so that columns are contiguous. Sums are made in an order that follows from the
// sizes alone. Products and sums of these functions may be fused.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_VECTORS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_VECTORS_H_

#include <cstdint>

namespace pjrt::cpu {

// The functions for one element type. Pointers are to elements of it; those that are written alias
// no other.
struct VectorKernels {
  // *out = sum of conj(x[i]) * y[i].
  void (*dot)(int64_t n, const void* x, const void* y, void* out);
  // y += *alpha * x.
  void (*axpy)(int64_t n, const void* alpha, const void* x, void* y);
  // y (m) -= A x. A is m x n.
  void (*subtract_product)(int64_t m, int64_t n, const void* a, int64_t lda, const void* x,
                           void* y);
  // y (n) = A^H x.
  void (*adjoint_product)(int64_t m, int64_t n, const void* a, int64_t lda, const void* x, void* y);
  // A -= x y^H.
  void (*subtract_outer)(int64_t m, int64_t n, const void* x, const void* y, void* a, int64_t lda);
  // y (n) = A x for a Hermitian A of which the lower triangle and the real diagonal are read.
  void (*hermitian_product)(int64_t n, const void* a, int64_t lda, const void* x, void* y);
  // The lower triangle of A -= x y^H + y x^H.
  void (*subtract_outer_2)(int64_t n, const void* x, const void* y, void* a, int64_t lda);
  // Cholesky of a panel (m x n, m >= n): the upper n x n part A becomes L, A = L L^H, the rows
  // below are multiplied by L^-H. Returns 0, or the 1-based column whose pivot is not positive.
  int64_t (*cholesky_panel)(int64_t m, int64_t n, void* a, int64_t lda);
  // LU of a panel (m x n) by columns with partial pivoting. pivots[j] is the row, from 0, that row
  // j was swapped with. Returns 0, or the first 1-based column whose pivot is zero.
  int64_t (*lu_panel)(int64_t m, int64_t n, void* a, int64_t lda, int32_t* pivots);
  // Solves T x = b in place of b. T (n x n, lower triangular) is row-major and dense; row i of b,
  // contiguous, begins at b + i * ldb, and ldb may be negative.
  void (*solve_lower)(int64_t n, int64_t columns, bool unit_diagonal, const void* t, void* b,
                      int64_t ldb);
  // Rotates pairs of neighbouring columns of a matrix of real numbers (of complex ones: twice as
  // many rows), j = 0, 1, ..., count - 1, or the other way if `backward`:
  //   (a_j, a_(j+1)) = (c[j] a_j + s[j] a_(j+1), c[j] a_(j+1) - s[j] a_j).
  // c and s are real.
  void (*rotate_columns)(int64_t rows, int64_t count, const void* c, const void* s, void* a,
                         int64_t lda, bool backward);
};

struct LinalgKernels {
  VectorKernels f32, f64, c64, c128;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_VECTORS_H_
