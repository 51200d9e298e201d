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

// The result of a dot, dot_general or convolution of quantized operands and result, computed with
// integers; null for another op, for blocks that share scales, for scales of operand and result
// along different dimensions, and where sums can have more than 53 bits. Arguments as above.
//
// The specification dequantizes, multiplies floats in an order that it leaves open, and quantizes.
// Here the sum of products is exact, and what is rounded, once, is
//   sum * (lhs_scale * rhs_scale / result_scale) + zero_point,
// computed in f64 with the scales as the types name them. A result scale that is the product of the
// others, rounded to the expressed type, leaves sums as they are.
Value* MultiplyStoredIntegers(Emitter& emit, const Op& op, absl::Span<Value* const> stored,
                              absl::Span<const Type> types, Type result);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_EXPAND_QUANTIZED_H_
