// SPDX-License-Identifier: Apache-2.0
//
// Scatters of one window that surely lies within bounds, as x.at[i].set(y) is one in a loop that
// counts: they update a slice. Gathers of one window are slices wherever it lies (simplify.h).
#ifndef PJRT_CORE_PASSES_SCATTER_SLICE_H_
#define PJRT_CORE_PASSES_SCATTER_SLICE_H_

#include "src/core/passes/emitter.h"
#include "src/core/passes/known_ranges.h"

namespace pjrt::ir {

// The value that can take the place of the scatter's result, or null. `ranges` knows the ops before
// it.
Value* ScatterSlice(const Op& scatter, const KnownRanges& ranges, Emitter& emit);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_SCATTER_SLICE_H_
