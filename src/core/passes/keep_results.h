// SPDX-License-Identifier: Apache-2.0
//
// Control flow with fewer results.
#ifndef PJRT_CORE_PASSES_KEEP_RESULTS_H_
#define PJRT_CORE_PASSES_KEEP_RESULTS_H_

#include <cstddef>

#include "absl/types/span.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Makes the regions that give the results of a while, if or case return the values at `kept`
// (ascending) alone, and leaves the op to KeepResults.
void ReturnOnly(Module* module, Op* op, absl::Span<const size_t> kept);

// Puts an op that has the results at `kept` alone in the place of a while, if, case or
// optimization_barrier, and gives it the uses of these. ReturnOnly has been here before, and
// nothing uses the results and the arguments that go.
Op* KeepResults(Module* module, Op* op, absl::Span<const size_t> kept);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_KEEP_RESULTS_H_
