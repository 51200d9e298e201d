// SPDX-License-Identifier: Apache-2.0
//
// What the files of ExpandQuantized share.
#ifndef PJRT_CORE_PASSES_EXPAND_QUANTIZED_H_
#define PJRT_CORE_PASSES_EXPAND_QUANTIZED_H_

#include "absl/types/span.h"
#include "pjrt/ir/module.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {

// The result of `op` computed with stored integers alone, or null where that is not known to give
// what the specification's arithmetic gives: dequantize, compute in the expressed type, quantize.
// `stored` are the operands' integers, `types` the quantized types that they have in the program,
// and `result` that of the result, or its plain type where it is not quantized.
//
// Addition, subtraction, negation, abs, maximum, minimum, clamp and comparison have such a form
// where all have one quantization. What makes the two equal is that n * scale / scale rounds to n:
// three roundings of a number below 2^17 in f32 come nowhere near half a unit.
Value* ComputeWithStoredIntegers(Emitter& emit, const Op& op, absl::Span<Value* const> stored,
                                 absl::Span<const Type> types, Type result);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_EXPAND_QUANTIZED_H_
