// SPDX-License-Identifier: Apache-2.0
//
// What the files of ExpandCustomCalls share. Each function writes, before a custom call, the ops
// that it stands for, and takes the call's place; false when the call is not of the form that it
// knows, and is then left as it was.
#ifndef PJRT_CORE_PASSES_EXPAND_CUSTOM_CALLS_H_
#define PJRT_CORE_PASSES_EXPAND_CUSTOM_CALLS_H_

#include "absl/strings/string_view.h"
#include "pjrt/ir/module.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {

// An attribute of a custom call, wherever exporters put it: in the dictionaries backend_config,
// mhlo.backend_config and mhlo.attributes, or directly. Null when there is none.
Attribute CallAttr(const Op& op, absl::string_view name);

// Uses values[i] in the place of result i and erases the op.
void Replace(Op* op, absl::Span<Value* const> values);

// Checks the op just made; one that is not valid is erased, and false returned.
bool KeepIfValid(Op* op);

// Copies the body of the function that called_computations names to the op's first region. False
// when there is no such function, or its arguments and results are not of these types.
bool CopyComputation(const Op& call, Op* to, absl::Span<const Type> arguments,
                     absl::Span<const Type> results);

// expand_selection_calls.cc: ApproxTopK, stablehlo.dynamic_approx_top_k; mhlo.topk,
// stablehlo.dynamic_top_k.
bool ExpandApproxTopK(Module* module, Op* op);
bool ExpandTopKCall(Module* module, Op* op);
// mhlo.topk, the op.
void ExpandTopKOp(Module* module, Op* op);

// expand_dynamic_calls.cc
bool ExpandDynamicRngBitGenerator(Module* module, Op* op);
bool ExpandDynamicReduceWindow(Module* module, Op* op);

// expand_fft_calls.cc: ducc_fft, dynamic_ducc_fft, pocketfft.
bool ExpandFftCall(Module* module, Op* op);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_EXPAND_CUSTOM_CALLS_H_
