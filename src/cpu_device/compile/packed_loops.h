// SPDX-License-Identifier: Apache-2.0
//
// Programs that unpack arguments, run one loop over them and pack its results.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_PACKED_LOOPS_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_PACKED_LOOPS_H_

#include "src/cpu_device/compile/plan_builder.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// Where the first step behind those that unpack arguments is a loop over elements, has it unpack
// what it alone reads, and pack what the steps right behind it do. `builder` has emitted the steps.
void JoinPackedLoop(const PlanBuilder& builder, const LoopEngine& engine, Steps* steps);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_PACKED_LOOPS_H_
