// SPDX-License-Identifier: Apache-2.0
//
// Makes scalar programs shorter. What an instruction costs is mostly that it is one more: copies go
// away, values are computed once, and instructions that follow from each other become one.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_OPTIMIZER_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_OPTIMIZER_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "src/cpu_device/loop/scalar_program.h"

namespace pjrt::cpu {

// Rewrites `code`, which ends with kEnd, is not linked yet and has the first form of instructions
// only, those that FindScalarOp and its like name. Registers 0 to constants.size() - 1 hold
// `constants`; those of `live_out` are read behind the program. Results stay the same bits. Takes
// time in proportion to the length of the code.
void OptimizeScalarCode(absl::Span<const uint64_t> constants, absl::Span<const uint16_t> live_out,
                        int num_registers, std::vector<ScalarInstr>* code);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_OPTIMIZER_H_
