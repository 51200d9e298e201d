// SPDX-License-Identifier: Apache-2.0
//
// Functions of narrow floats from memory to memory, without f32 between.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_NARROW_FUNCTIONS_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_NARROW_FUNCTIONS_H_

#include <vector>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/block_chain.h"
#include "src/cpu_device/loop/block_code.h"

namespace pjrt::cpu {

// Whether there is such a function for `op` on `type`.
bool HasNarrowFunction(const BlockKernels& kernels, PrimitiveType type, BlockOp op);

// Makes one instruction of loads, a unary or binary operation and a store of the same narrow type,
// or of loads and a comparison, where the level has such a function (BlockKernels::narrow) and
// nothing else reads what lies between. What is rounded to the type is then kept as such, where
// only such functions read it. The bits are the same, but for which of two NaNs a sum or the like
// keeps, and a loop of one function is a loop of one instruction. Registers must not have been
// assigned yet.
void JoinNarrowFunctions(const BlockKernels& kernels, std::vector<BlockSlot>* slots,
                         BlockCode* code);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_NARROW_FUNCTIONS_H_
