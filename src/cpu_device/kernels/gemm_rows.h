// SPDX-License-Identifier: Apache-2.0
//
// Products of a few rows and a matrix, or of a matrix and a few columns.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_ROWS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_ROWS_H_

#include <memory>

#include "src/cpu_device/kernels/gemm.h"

namespace pjrt::cpu {

// Null when the problem is none of these, or nothing in the matrix is contiguous.
std::unique_ptr<Gemm> MakeRowGemm(const GemmProblem& problem, const Kernels& kernels);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_ROWS_H_
