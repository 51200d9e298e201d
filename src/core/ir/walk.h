// SPDX-License-Identifier: Apache-2.0
//
// Visits ops in program order without recursion.
#ifndef PJRT_CORE_IR_WALK_H_
#define PJRT_CORE_IR_WALK_H_

#include "absl/functional/function_ref.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Calls `fn` on `root` and then on each op inside of it. `fn` may erase the op at hand, `root`
// excepted.
void WalkFrom(Op* root, absl::FunctionRef<void(Op*)> fn);

// The same for the ops of `block`.
void WalkBlock(Block* block, absl::FunctionRef<void(Op*)> fn);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_WALK_H_
