// SPDX-License-Identifier: Apache-2.0
//
// Linear algebra on dense row-major matrices, on Eigen's decompositions. Types are those of F32,
// F64, C64 and C128; other types are converted by callers.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_H_

#include <cstdint>

#include "pjrt/base/primitive_type.h"

namespace pjrt::cpu {

// a (n x n) = L L^H, from the lower or the upper triangle; writes the factor to `out`, zero in the
// other triangle. NaN throughout the factor's triangle when the matrix is not positive definite.
void Cholesky(PrimitiveType type, const void* a, void* out, int64_t n, bool lower);

struct TriangularSolveOptions {
  bool left_side = true;
  bool lower = true;
  bool unit_diagonal = false;
  bool transpose = false;
  bool conjugate = false;
};
// Solves op(a) x = b (left side, a is rows x rows) or x op(a) = b (a is columns x columns) for x,
// in place of b (rows x columns).
void TriangularSolve(PrimitiveType type, const void* a, void* b, int64_t rows, int64_t columns,
                     const TriangularSolveOptions& options);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_H_
