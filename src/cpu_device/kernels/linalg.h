// SPDX-License-Identifier: Apache-2.0
//
// cholesky and triangular_solve of one dense row-major matrix, by element type. Types are F32, F64,
// C64 and C128; other types are converted by callers.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_H_

#include <cstdint>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/linalg_solve.h"

namespace pjrt::cpu {

// a (n x n) = L L^H, from the lower or the upper triangle; writes the factor to `out`, zero in the
// other triangle. NaN throughout the factor's triangle when the matrix is not positive definite.
void Cholesky(const Kernels& kernels, PrimitiveType type, const void* a, void* out, int64_t n,
              bool lower);

// Trsm by element type: solves in place of b (rows x columns).
void TriangularSolve(const Kernels& kernels, PrimitiveType type, const void* a, void* b,
                     int64_t rows, int64_t columns, const TrsmOptions& options);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_LINALG_H_
