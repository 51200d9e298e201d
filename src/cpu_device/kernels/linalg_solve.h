// SPDX-License-Identifier: Apache-2.0
//
// Factorisations for solving linear systems, and triangular and tridiagonal solves. Every function
// works on one dense row-major matrix in place and is instantiated for float, double and
// std::complex of both. Any thread may call; scratch memory is taken from the heap.
//
// The functions are named after the LAPACK routines whose results theirs stand for. `info` is what
// they return: 0 for success, j > 0 for a failure at the j-th pivot, minor or eigenvalue (1-based),
// -i for an argument that cannot be worked on. No input makes them crash or run without end: NaN
// and Inf spread as the arithmetic has it. Dimensions are at least 0 and an empty matrix is a
// success.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_SOLVE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_SOLVE_H_

#include <cstdint>

#include "src/cpu_device/kernels/kernel_level.h"

namespace pjrt::cpu {

// Cholesky: a (n x n) = L L^H if `lower`, else U^H U. Reads that triangle and the real part of the
// diagonal, and writes the factor over it; the other triangle stays. Returns j > 0 when the leading
// minor of order j is not positive definite or has a NaN on the diagonal; rows from j on are then
// unfinished.
template <typename T>
int32_t Potrf(const Kernels& kernels, bool lower, int64_t n, T* a);

// LU with partial pivoting: P a = L U, a is m x n. L (unit lower trapezoidal) lies below the
// diagonal, U on and above it. For i = 0 ... min(m, n) - 1 in order, row i was swapped with row
// pivots[i] - 1: pivots are 1-based. A pivot is the element of its column with the largest
// |re| + |im|, the first of equal ones. Returns j > 0 when U(j, j), 1-based, is exactly 0: the
// first such j; the factorisation is complete nevertheless.
template <typename T>
int32_t Getrf(const Kernels& kernels, int64_t m, int64_t n, T* a, int32_t* pivots);

struct TrsmOptions {
  bool left = true;            // op(a) x = b, else x op(a) = b
  bool lower = true;           // the triangle of a, as it is stored, that is read
  bool transpose = false;      // op(a) is the transpose
  bool conjugate = false;      // and conjugated; means something for complex types only
  bool unit_diagonal = false;  // the diagonal counts as ones and is not read
};
// Solves with a triangular matrix, in place of b (m x n). a is m x m (left) or n x n. A zero on the
// diagonal gives Inf and NaN.
template <typename T>
void Trsm(const Kernels& kernels, const TrsmOptions& options, int64_t m, int64_t n, const T* a,
          T* b);

// Solves T x = b for a tridiagonal T (n x n) and b (n x columns), in place of b, by elimination
// with partial pivoting. d[i] is T(i, i), dl[i] is T(i, i - 1), du[i] is T(i, i + 1); dl[0] and
// du[n - 1] are not read. dl, d, du are working storage: their contents change. Returns j > 0 when
// the j-th pivot is zero; b is then unfinished.
template <typename T>
int32_t Gtsv(int64_t n, int64_t columns, T* dl, T* d, T* du, T* b);

// The same for any T: a pivot that is zero, subnormal, or so small that a quotient by it would
// overflow is moved away from zero by max(eps * max |U(i, j)|, smallest normal number), eps 2^-23
// for f32 and 2^-52 for f64; its sign is kept, -0 being negative.
template <typename T>
void TridiagonalSolvePerturbed(int64_t n, int64_t columns, const T* dl, const T* d, const T* du,
                               T* b);

// out (rows x columns) = s * dense (inner x columns) for a sparse matrix s (rows x inner) in
// compressed rows: the entries of row i are data[p] at column indices[p], row_starts[i] <= p <
// row_starts[i + 1]. Entries beyond `entries`, and those whose column is not in [0, inner), count
// as absent. Also instantiated for T of int32_t and int64_t, which wrap around; indices are either.
template <typename T, typename Index>
void CsrTimesDense(int64_t rows, int64_t inner, int64_t columns, int64_t entries, const T* data,
                   const Index* row_starts, const Index* indices, const T* dense, T* out);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_SOLVE_H_
