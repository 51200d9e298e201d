// SPDX-License-Identifier: Apache-2.0
//
// QR factorisation by Householder reflectors, and products with its orthogonal factor. The
// conventions of linalg_solve.h hold: one dense row-major matrix, in place, four element types.
//
// A reflector is H = I - tau v v^H with v = (0, ..., 0, 1, tail). The factorisations keep the tails
// of their reflectors in the matrix, in place of the zeros that they made, and the taus apart.
// H1^H maps a column with the leading element alpha to beta = -sign(re alpha) * norm, a real
// number; where the tail is zero already (and alpha real) tau is 0 and the column stays.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_QR_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_QR_H_

#include <cstdint>

#include "src/cpu_device/kernels/kernel_level.h"

namespace pjrt::cpu {

// a (m x n) = Q R, Q = H1 H2 ... Hk, k = min(m, n). R lies on and above the diagonal and has a real
// diagonal; the tail of H(i + 1) is a[i + 1:, i]. taus has k elements.
template <typename T>
void Geqrf(const Kernels& kernels, int64_t m, int64_t n, T* a, T* taus);

// a[:, permutation - 1] = Q R with column pivoting: each step takes the remaining column of the
// largest norm. On entry permutation[j] != 0 moves column j to the front, where it is not pivoted;
// 0 leaves it free. On return permutation[j] is the 1-based column that became column j. Q, R and
// taus as in Geqrf.
template <typename T>
void Geqp3(const Kernels& kernels, int64_t m, int64_t n, T* a, int32_t* permutation, T* taus);

// The first n columns of Q = H1 ... Ht in place of a (m x n), whose first t columns hold the tails
// of the reflectors as Geqrf leaves them; what is on and above the diagonal is not read. Meant for
// m >= n >= t. Reflectors beyond the first min(m, n) are left out, and columns of Q from m on are
// zero.
template <typename T>
void Orgqr(const Kernels& kernels, int64_t m, int64_t n, int64_t t, T* a, const T* taus);

// c (p x q) = op(Q) c if `left`, else c op(Q), in place. Q = H1 ... Ht; op(Q) is Q or, if
// `adjoint`, Q^H. The reflectors are the first t columns of a, which has p rows (left) or q rows
// and `a_columns` >= t columns. t is at most the number of a's rows.
template <typename T>
void Ormqr(const Kernels& kernels, bool left, bool adjoint, int64_t p, int64_t q, int64_t t,
           const T* a, int64_t a_columns, const T* taus, T* c);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_QR_H_
