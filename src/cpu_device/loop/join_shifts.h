// SPDX-License-Identifier: Apache-2.0
//
// Rotations in block code.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_JOIN_SHIFTS_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_JOIN_SHIFTS_H_

#include "absl/types/span.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/block_chain.h"
#include "src/cpu_device/loop/block_code.h"

namespace pjrt::cpu {

// Joins two shifts of a number by one element each and the "or" of the results to one instruction
// (BlockInstr::shifts_both), where types have chains: a rotation, if the shifts add to the width,
// which the chain finds out. Drops shifts that nothing else asks for.
void JoinShifts(const BlockKernels& kernels, absl::Span<const BlockSlot> slots, BlockCode* code);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_JOIN_SHIFTS_H_
