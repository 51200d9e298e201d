// SPDX-License-Identifier: Apache-2.0
//
// Eigenvalues, singular values and the reductions that lead to them. The conventions of
// linalg_solve.h hold: dense row-major matrices, four element types T; RealOf<T> is the type of a
// part.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_EIGEN_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_EIGEN_H_

#include <complex>
#include <cstdint>

#include "src/cpu_device/kernels/kernel_level.h"

namespace pjrt::cpu {

template <typename T>
struct RealOfType {
  using Type = T;
};
template <typename R>
struct RealOfType<std::complex<R>> {
  using Type = R;
};
template <typename T>
using RealOf = typename RealOfType<T>::Type;

// a = Q T Q^H for a Hermitian a (n x n), of which the lower or the upper triangle is read, and a
// real tridiagonal T with diagonal d (n) and off-diagonal e (n - 1). taus has n - 1 elements.
//   lower: Q = H1 ... H(n-1); the vector of H(i + 1) is 1 at row i + 1 and has its tail in
//          a[i + 2:, i].
//   upper: Q = H(n-1) ... H1; the vector of H(i + 1) is 1 at row i and has the rest in
//          a[:i, i + 1].
// d and e also stand in their places in a; the other triangle of a stays.
template <typename T>
void Sytrd(const Kernels& kernels, bool lower, int64_t n, T* a, RealOf<T>* d, RealOf<T>* e,
           T* taus);

// Eigenvalues w (n), ascending, of a Hermitian a (n x n), of which one triangle and the real part
// of the diagonal is read. If `vectors`, a becomes the eigenvectors, orthonormal columns in the
// order of w; else its contents are lost. Returns > 0 if there is a NaN or an Inf, or an eigenvalue
// was not found within the limit of iterations; w and a are then NaN.
template <typename T>
int32_t Syevd(const Kernels& kernels, bool vectors, bool lower, int64_t n, T* a, RealOf<T>* w);

enum class SvdVectors {
  kNone,  // u and vt are not touched and may be null
  kThin,  // u is m x k, vt is k x n, k = min(m, n)
  kFull,  // u is m x m, vt is n x n
};
// a (m x n) = u diag(s) vt, vt = V^H; s (k) is descending and not negative. The contents of a are
// lost. Returns -4 if a has a NaN, > 0 if a singular value was not found within the limit of
// iterations; the results are then NaN. An Inf gives NaN everywhere and 0.
template <typename T>
int32_t Gesdd(const Kernels& kernels, SvdVectors vectors, int64_t m, int64_t n, T* a, RealOf<T>* s,
              T* u, T* vt);

// a (n x n) = Q H Q^H. H is upper Hessenberg: a's upper triangle and first subdiagonal on return.
// Q = H1 ... H(n-1); the vector of H(i + 1) is 1 at row i + 1 and has its tail in a[i + 2:, i].
// Rows and columns before `low` and after `high` (1-based, inclusive) are triangular already: their
// taus are 0. taus has n - 1 elements. Returns -i for a bad low (i = 2) or high (i = 3).
template <typename T>
int32_t Gehrd(const Kernels& kernels, int64_t n, int64_t low, int64_t high, T* a, T* taus);

// Where eigenvalues go: re[i * stride] + i * im[i * stride]. Two real vectors have the stride 1, a
// complex vector the stride 2.
template <typename R>
struct EigenvalueSpan {
  R* re;
  R* im;
  int64_t stride;
};
template <typename R>
EigenvalueSpan<R> SpanOf(std::complex<R>* w) {
  return {reinterpret_cast<R*>(w), reinterpret_cast<R*>(w) + 1, 2};
}
template <typename R>
EigenvalueSpan<R> SpanOf(R* re, R* im) {
  return {re, im, 1};
}

// Schur form: a = z t z^H; t takes the place of a. It is upper triangular, or for real types
// quasi-triangular: a pair of conjugate eigenvalues is a 2 x 2 block with equal diagonal elements
// and off-diagonal ones of opposite sign. Eigenvalues are written in the order of the diagonal, of
// a pair that with the positive imaginary part first. z (n x n, unitary) is written if it is not
// null. Returns > 0 if there is a NaN or an Inf or the iteration did not end; the results are then
// NaN.
template <typename T>
int32_t Gees(const Kernels& kernels, int64_t n, T* a, EigenvalueSpan<RealOf<T>> w, T* z);

// Eigenvalues and eigenvectors of any a (n x n), which stays. a vr[:, j] = w[j] vr[:, j] and
// vl[:, j]^H a = w[j] vl[:, j]^H; each vector has 2-norm 1 and a real largest component. vl and vr
// are n x n and complex for real types too; either may be null. For real types conjugate pairs of
// eigenvalues are adjacent, the positive imaginary part first, and their vectors conjugate. Returns
// -4 if a has a NaN or an Inf (nothing is written then), > 0 if the iteration did not end (the
// results are then NaN).
template <typename T>
int32_t Geev(const Kernels& kernels, int64_t n, const T* a, EigenvalueSpan<RealOf<T>> w,
             std::complex<RealOf<T>>* vl, std::complex<RealOf<T>>* vr);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_EIGEN_H_
