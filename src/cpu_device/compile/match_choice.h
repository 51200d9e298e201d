// SPDX-License-Identifier: Apache-2.0
//
// Recognising reductions that find the largest or smallest value and where it stands.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_MATCH_CHOICE_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_MATCH_CHOICE_H_

#include <optional>

#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// The choice that the body of a reduction of `program` makes, whatever way it is written in: the
// body is evaluated for each way in which two values can compare, as far as it does nothing with
// them but compare and select. nullopt where it is no choice, or one that depends on how companions
// compare while the program does not show that they grow, or shrink, along the reduction. The
// program's dims are in the order of the reduction.
std::optional<LoopChoice> MatchChoice(const LoopProgram& program, const LoopReduce& reduce);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_MATCH_CHOICE_H_
