// SPDX-License-Identifier: Apache-2.0
//
// Replaces runs of steps that compute a few elements, loops and branches of such steps included, by
// one step that runs a scalar program.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_SCALAR_RUNS_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_SCALAR_RUNS_H_

#include "src/cpu_device/compile/plan_builder.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// Rewrites the steps of a plan whose buffers have their places. `builder` has made the plan.
void MakeScalarRuns(const PlanBuilder& builder, const BlockKernels& kernels, const Plan& plan,
                    Steps* steps);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_SCALAR_RUNS_H_
