// SPDX-License-Identifier: Apache-2.0
//
// Loops with reductions on the block engine.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_REDUCE_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_REDUCE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "src/cpu_device/loop/loop_engine.h"

namespace pjrt::cpu {

absl::StatusOr<std::unique_ptr<LoopKernel>> MakeReduceKernel(LoopProgram program,
                                                             const Kernels& kernels,
                                                             const LoopEngine& engine);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_REDUCE_H_
