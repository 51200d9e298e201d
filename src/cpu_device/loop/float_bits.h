// SPDX-License-Identifier: Apache-2.0
//
// Operations on narrow floats that need no arithmetic.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_FLOAT_BITS_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_FLOAT_BITS_H_

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// Has a program compute on the bits of floats of 8 and 16 bits, as integers of their width, where
// all that becomes of a number can be done so: it is moved, chosen, its sign is taken or turned, it
// is bounded by or compared with a constant of a suitable sign, or asked whether it is finite or
// NaN. A NaN may keep another payload than it does on its way through f32. To be followed by
// Simplify, which drops what is no longer used.
void ComputeOnBits(const BlockKernels& kernels, LoopProgram* program);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_FLOAT_BITS_H_
