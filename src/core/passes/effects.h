// SPDX-License-Identifier: Apache-2.0
//
// Which ops a pass may remove, merge or move.
#ifndef PJRT_CORE_PASSES_EFFECTS_H_
#define PJRT_CORE_PASSES_EFFECTS_H_

#include "pjrt/ir/module.h"

namespace pjrt::ir {

// True for an op that has results and makes them, whatever its regions hold, without side effects
// and state of its own.
bool ComputesOnly(const Op& op);

// True when all that an op does is compute its results from its operands, and from nothing else: no
// side effects, no state, no terminator, no definition; the ops of its regions likewise. An op
// whose regions hold regions themselves counts as one that may do more.
bool IsPure(const Op& op);

// True for an op of static shapes that does nothing but compute each element of its one result from
// the elements of its operands at the same place, or from scalars that all places share (those that
// select and clamp take).
bool ComputesByElement(const Op& op);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_EFFECTS_H_
