// SPDX-License-Identifier: Apache-2.0
//
// Rejects what the StableHLO specification calls invalid: its sections "Programs", "Types" and
// "Ops".
#ifndef PJRT_IR_VERIFIER_H_
#define PJRT_IR_VERIFIER_H_

#include "absl/status/status.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// OK when every op of the module obeys its row of the op table (operand and result types,
// attributes, regions), its inferred types and its own rules; when regions end in terminators with
// the right types; symbols resolve and calls match; no function calls itself. Otherwise
// INVALID_ARGUMENT for the first violation in program order: "[PJRT-Vnnn] name:line:column:
// 'stablehlo.add' op: rule; given ..., expected ...". Ops of dialects that the op set does not hold
// are accepted. Linear in the size of the module; uses no recursion.
absl::Status VerifyModule(const Module& module);

// One op, without what is nested in its regions.
absl::Status VerifyOp(const Op& op);

}  // namespace pjrt::ir

#endif  // PJRT_IR_VERIFIER_H_
