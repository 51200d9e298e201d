// SPDX-License-Identifier: Apache-2.0
//
// Folding one op in place, for the passes that fold on their way.
#ifndef PJRT_CORE_PASSES_FOLD_H_
#define PJRT_CORE_PASSES_FOLD_H_

#include <cstdint>

#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Replaces an op whose operands are constants by the constant that it gives (see EvaluateOp) and
// erases it. False when it stays.
bool FoldOp(Op* op, int64_t max_elements);

// Puts the ops of the branch that a constant chooses in the place of an `if` or `case`, erases that
// and returns the op that now stands in its place. Null when the choice isn't constant, or the op
// has no results.
Op* InlineBranch(Op* op);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_FOLD_H_
