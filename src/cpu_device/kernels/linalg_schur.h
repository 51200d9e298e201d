// SPDX-License-Identifier: Apache-2.0
//
// Hessenberg and Schur forms on column-major matrices, for Gehrd, Gees and Geev. Internal to
// linalg_*.cc.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_SCHUR_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_SCHUR_H_

#include <complex>
#include <cstdint>

#include "src/cpu_device/kernels/linalg_dense.h"

namespace pjrt::cpu {

// Reduces c (n x n) to Hessenberg form in rows and columns low <= i < high, from 0. The tails of
// the reflectors take the place of what they eliminate. taus: n - 1 elements.
template <typename T>
void ReduceToHessenberg(const DenseOps<T>& ops, int64_t n, int64_t low, int64_t high, T* c,
                        T* taus);

// Makes the Hessenberg matrix h upper triangular (real types: quasi-triangular with standardised
// 2 x 2 blocks) by unitary similarities, which are applied to the columns of z too unless it is
// null. Elements below the subdiagonal must be zero. False if an eigenvalue takes too many steps.
bool SchurFromHessenberg(int64_t n, float* h, float* z);
bool SchurFromHessenberg(int64_t n, double* h, double* z);
bool SchurFromHessenberg(int64_t n, std::complex<float>* h, std::complex<float>* z);
bool SchurFromHessenberg(int64_t n, std::complex<double>* h, std::complex<double>* z);

// The Schur form of c (n x n), which is finite and not far from 1 in size; z (n x n), if not null,
// becomes the unitary matrix. False as above.
template <typename T>
bool SchurForm(DenseOps<T>* ops, int64_t n, T* c, T* z);

// The eigenvalue at row i of a Schur form; of a 2 x 2 block that begins at row i the one with the
// positive imaginary part, and its conjugate one row later.
template <typename T>
std::complex<RealOf<T>> SchurEigenvalue(int64_t n, const T* t, int64_t i);

// A rotation of vectors x and y: x' = c x + s y, y' = c y - conj(s) x. c is real.
template <typename T>
struct PlaneRotation {
  RealOf<T> c = 1;
  T s = T(0);
  void Apply(T* x, T* y) const {
    const T next = *x * c + Times(s, *y);
    *y = *y * c - Times(Conjugate(s), *x);
    *x = next;
  }
};
// Rotates rows i and i + 1 of a column-major matrix, in `columns` columns.
template <typename T>
void RotateRows(const PlaneRotation<T>& rotation, int64_t columns, T* a, int64_t lda) {
  for (int64_t j = 0; j < columns; ++j) rotation.Apply(a + j * lda, a + j * lda + 1);
}
// a := a G^H for the G of RotateRows: columns j and j + 1, `rows` rows.
template <typename T>
void RotateColumnsBack(const PlaneRotation<T>& rotation, int64_t rows, T* a, int64_t lda) {
  const PlaneRotation<T> conjugate{rotation.c, Conjugate(rotation.s)};
  for (int64_t i = 0; i < rows; ++i) conjugate.Apply(a + i, a + lda + i);
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_SCHUR_H_
