// SPDX-License-Identifier: Apache-2.0
//
// Between stored integers and the numbers that they express, as ops: the arithmetic of the
// StableHLO specification, section "Quantized types".
#ifndef PJRT_CORE_PASSES_QUANTIZED_ARITHMETIC_H_
#define PJRT_CORE_PASSES_QUANTIZED_ARITHMETIC_H_

#include "pjrt/ir/context.h"
#include "pjrt/ir/types.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {

// A tensor of quantized elements.
inline bool IsQuantizedTensor(Type type) {
  return type.IsTensor() && type.element_type().Is(TypeKind::kQuantized);
}

// `type` with the storage type in the place of each quantized element type: of tensors, and of the
// parts of tuples, futures and functions. `type` itself where it has none.
Type StorageType(Context& context, Type type);
// The tensor of floats that a quantized tensor stands for.
Type ExpressedType(Context& context, Type quantized);
// The quantized tensor of `type`'s dimensions whose elements are those of `like`.
Type WithQuantizedElement(Context& context, Type type, Type like);

// Whether equal stored integers express equal numbers: storage, expressed type, range, scales, zero
// points and the dimension that has them are the same; that dimension is left aside on request.
bool SameQuantization(Type a, Type b, bool any_axis = false);

// (stored - zero_point) * scale: the difference is exact, then rounded to the expressed type, then
// the product is. `stored` has StorageType(type).
Term Dequantize(Term stored, Type type);

// round_nearest_even(clamp(min, x / scale + zero_point, max)) as stored integers, each step in the
// expressed type. NaN becomes 0, or the end of the range of stored values that is next to it.
Term Quantize(Term x, Type type);

// The end of Quantize: `x`, floats that are scaled and moved, rounded and brought into the range of
// stored values.
Term RoundToStored(Term x, const QuantizedParams& params);

// Integers of 32 or 64 bits brought into the range of stored values; their type stays.
Term ClampToStored(Term x, const QuantizedParams& params);

// One value for all of `like`, or one for each index of its dimension `axis`, as a tensor of its
// type, rounded or wrapped to it.
Term SpreadAlong(Term like, absl::Span<const double> values, int64_t axis);
Term SpreadAlong(Term like, absl::Span<const int64_t> values, int64_t axis);

// Of zero points, or of what is added to them.
bool AllZero(absl::Span<const int64_t> values);

// `x` with elements of that type.
Term ConvertTo(Term x, Type element);

// The stored integers of `to` for those of `from`: Quantize(Dequantize(stored)), or what is given
// where the quantization is the same.
Term Requantize(Term stored, Type from, Type to);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_QUANTIZED_ARITHMETIC_H_
