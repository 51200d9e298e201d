// SPDX-License-Identifier: Apache-2.0
//
// Many products of matrices of a few elements, or many rows times one such matrix.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TINY_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TINY_H_

#include <memory>

#include "src/cpu_device/kernels/gemm.h"

namespace pjrt::cpu {

// Null when the problem is none of these, or the level has no kernel for it.
std::unique_ptr<Gemm> MakeTinyGemm(const GemmProblem& problem, const Kernels& kernels);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TINY_H_
