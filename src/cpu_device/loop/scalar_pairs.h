// SPDX-License-Identifier: Apache-2.0
//
// Which arithmetic of scalar programs one instruction does together with what comes before it.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_PAIRS_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_PAIRS_H_

#include <optional>

#include "src/cpu_device/loop/scalar_facts.h"
#include "src/cpu_device/loop/scalar_program.h"

namespace pjrt::cpu {

// The instruction that computes `first` of a and b, and `second` of that and c, the value of
// `first` being operand number `operand` of `second`, 0 or 1. nullopt: there is none.
std::optional<ScalarOp> PairOf(ScalarOp first, ScalarOp second, int operand);

// The form of `op`, an operation on floats of `type` or a pair of them, that takes its operand
// number `operand`, 0 or 1, from what the interpreter keeps; the other one is then b. nullopt:
// there is none.
std::optional<ScalarOp> FormOnKept(ScalarOp op, ScalarKept type, int operand);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_PAIRS_H_
