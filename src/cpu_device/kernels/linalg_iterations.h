// SPDX-License-Identifier: Apache-2.0
//
// The iterations that make a tridiagonal or a bidiagonal matrix diagonal. They run in double for
// every element type and hand their rotations to the caller by sweeps. Internal to linalg_*.cc.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_ITERATIONS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_ITERATIONS_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"

namespace pjrt::cpu {

// c and s with c f + s g = r and c g - s f = 0.
struct Rotation {
  double c, s, r;
};
inline Rotation MakeRotation(double f, double g) {
  const double squares = f * f + g * g;
  double r = std::sqrt(squares);
  // Squares that overflow or lose digits.
  if (!(squares > 1e-280 && squares < 1e300)) {
    r = std::hypot(f, g);
    if (r == 0) return {1, 0, 0};
  }
  return {f / r, g / r, r};
}

// A sweep of rotations of neighbouring vectors, those of first + j and first + j + 1 by c[j] and
// s[j], as VectorKernels::rotate_columns does it.
struct RotationSweep {
  int64_t first = 0;
  int64_t count = 0;
  const double* c = nullptr;
  const double* s = nullptr;
  bool backward = false;
};

// Eigenvalues of the real symmetric tridiagonal matrix with the diagonal d and the off-diagonal e
// (n - 1; e has room for n), by implicitly shifted QL. d becomes the eigenvalues, in no order.
// Applying the sweeps to the columns of the identity gives the eigenvectors. e's elements below
// epsilon times their neighbours on the diagonal count as zero. False if an eigenvalue takes too
// many sweeps.
bool DiagonalizeTridiagonal(int64_t n, double epsilon, std::vector<double>* d,
                            std::vector<double>* e,
                            absl::FunctionRef<void(const RotationSweep&)> rotate);

// Singular values of the upper bidiagonal matrix with the diagonal d and the superdiagonal e
// (n - 1; e has room for n), by implicitly shifted QR. d becomes the singular values with any sign,
// in no order: B = U diag(d) V^T with U and V the sweeps, `left` and `right`, applied to the
// columns of identities.
bool DiagonalizeBidiagonal(int64_t n, double epsilon, std::vector<double>* d,
                           std::vector<double>* e,
                           absl::FunctionRef<void(const RotationSweep&)> left,
                           absl::FunctionRef<void(const RotationSweep&)> right);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_ITERATIONS_H_
