// SPDX-License-Identifier: Apache-2.0
//
// Ops whose regions are called on elements, as loops that run those regions.
#ifndef PJRT_CORE_PASSES_SERIALIZE_REGIONS_H_
#define PJRT_CORE_PASSES_SERIALIZE_REGIONS_H_

#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Writes loops in the place of `op`, a reduce, reduce_window, scatter, select_and_scatter or sort,
// that run its regions on one element after the other, in row-major order: slower than what a
// backend makes of the op, but the regions stand where they may use any value and do anything.
// Replaces all uses of its results and erases it; false, and nothing changes, for another op or
// form.
bool SerializeRegions(Module* module, Op* op);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_SERIALIZE_REGIONS_H_
