// SPDX-License-Identifier: Apache-2.0
//
// Passes: rewrites of a program that pay on every backend. Each takes a verified module and leaves
// a module that computes the same values, bit for bit.
#ifndef PJRT_IR_PASSES_H_
#define PJRT_IR_PASSES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Replaces each func.call, and each stablehlo.composite, reachable from the entry function by the
// body of what it calls, and removes the functions that nothing names any more. RESOURCE_EXHAUSTED
// when the result would have more than `max_ops` ops: calls of calls can double a program at each
// level.
absl::Status InlineCalls(Module* module, int64_t max_ops = 4 << 20);

// Replaces each op of CHLO by StableHLO ops that compute the same: special functions within 3 units
// in the last place of f32 and f64 (of lgamma, digamma, zeta and polygamma where the argument is
// not close to a zero of the function among negative arguments), narrower floats in f32 or f64 and
// rounded once; top_k, scan, ragged_dot; ops that broadcast by themselves. Ops on dynamic shapes,
// and on element types that have no expansion, stay as they are. Never fails on a verified module.
absl::Status ExpandChlo(Module* module);

// Removes ops without side effects whose results nothing uses, regions of others included.
void RemoveDeadOps(Module* module);

}  // namespace pjrt::ir

#endif  // PJRT_IR_PASSES_H_
