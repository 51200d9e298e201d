// SPDX-License-Identifier: Apache-2.0
//
// Which ops of a block run as one loop, and in what order everything runs.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_FUSION_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_FUSION_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "pjrt/ir/module.h"

namespace pjrt::cpu {

// What is lowered together: one op, or the elementwise ops and reductions of a loop, in program
// order.
struct Unit {
  bool is_loop = false;
  std::vector<ir::Op*> ops;
};

// All ops of the block but its terminator, in an order that respects data flow and side effects and
// stays close to the program's. With `fuse` off every loop has one op.
std::vector<Unit> PlanUnits(const ir::Block& block, bool fuse);

// Calls fn on each operand of the op and on each value that its regions use from outside of it.
void ForEachInput(const ir::Op& op, absl::FunctionRef<void(ir::Value*)> fn);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_FUSION_H_
