// SPDX-License-Identifier: Apache-2.0
//
// Gathers of single elements whose places count up, or down, along a dimension: they are gathers of
// windows, one for what were many index vectors.
#ifndef PJRT_CORE_PASSES_GATHER_WINDOWS_H_
#define PJRT_CORE_PASSES_GATHER_WINDOWS_H_

#include "src/core/passes/emitter.h"
#include "src/core/passes/known_ranges.h"

namespace pjrt::ir {

// The value that can take the place of the gather's result, or null. `ranges` knows the ops before
// it.
Value* GatherWindows(const Op& gather, const KnownRanges& ranges, Emitter& emit);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_GATHER_WINDOWS_H_
