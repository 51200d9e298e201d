// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "src/core/ir/element.h"
#include "src/core/passes/expand_quantized.h"
#include "src/core/passes/quantized_arithmetic.h"

namespace pjrt::ir {
namespace {

// Dequantizing a sum of three stored integers and quantizing it again gives the sum: few bits, a
// wide float type, one scale and one zero point that are neither huge nor tiny.
bool RoundTrips(const QuantizedParams& params) {
  const PrimitiveType expressed = params.expressed_type.primitive_type();
  return params.IsPerTensor() && params.storage_type.bit_width() <= 16 &&
         (expressed == F32 || expressed == F64) && params.scales[0] > 0x1p-64 &&
         params.scales[0] < 0x1p64;
}

bool HasWholeRange(const QuantizedParams& params) {
  int64_t lowest, highest;
  DefaultStorageRange(params.storage_type, &lowest, &highest);
  return params.storage_min == lowest && params.storage_max == highest;
}

// `x`, 32-bit integers, brought into the range of stored values and narrowed.
Term Narrow(Term x, Type result) {
  const QuantizedParams& params = result.element_type().quantized();
  return ConvertTo(ClampToStored(x, params), params.storage_type);
}

bool HasIntegerForm(OpCode code) {
  switch (code) {
    case OpCode::kAbs:
    case OpCode::kAdd:
    case OpCode::kClamp:
    case OpCode::kCompare:
    case OpCode::kMaximum:
    case OpCode::kMinimum:
    case OpCode::kNegate:
    case OpCode::kSubtract:
      return true;
    default:
      return false;
  }
}

Term Compare(Emitter& emit, const Op& op, Term a, Term b) {
  return emit.Make1("stablehlo.compare", {a, b}, op.result_type(),
                    {{"comparison_direction", op.attr("comparison_direction")}});
}

}  // namespace

Value* ComputeWithStoredIntegers(Emitter& emit, const Op& op, absl::Span<Value* const> stored,
                                 absl::Span<const Type> types, Type result) {
  if (!HasIntegerForm(op.opcode()) || !std::all_of(types.begin(), types.end(), [&](Type type) {
        return IsQuantizedTensor(type) && SameQuantization(type, types[0]);
      })) {
    return nullptr;
  }
  const QuantizedParams& params = types[0].element_type().quantized();
  if (!RoundTrips(params)) return nullptr;
  if (op.Is(OpCode::kCompare)) {
    return Compare(emit, op, emit(stored[0]), emit(stored[1])).value();
  }
  if (!IsQuantizedTensor(result) || !SameQuantization(result, types[0])) return nullptr;

  // Integers out of the range may be stored all the same, by bitcast_convert; quantizing would
  // bring them into it.
  const bool selects = op.Is(OpCode::kMaximum) || op.Is(OpCode::kMinimum) || op.Is(OpCode::kClamp);
  if (selects && HasWholeRange(params)) {
    return emit.Make(op.name(), stored, {StorageType(emit.context(), result)})->result();
  }
  if (op.Is(OpCode::kClamp)) return nullptr;
  const Term a = Convert(emit(stored[0]), S32);
  const Term b = stored.size() == 2 ? Convert(emit(stored[1]), S32) : a;
  const int64_t zero_point = params.zero_points[0];
  const Term zero = a.LikeInt(zero_point);
  switch (op.opcode()) {
    case OpCode::kAdd:
      return Narrow(zero_point == 0 ? a + b : a + b - zero, result).value();
    case OpCode::kSubtract:
      return Narrow(zero_point == 0 ? a - b : a - b + zero, result).value();
    case OpCode::kNegate:
      return Narrow(a.LikeInt(2 * zero_point) - a, result).value();
    case OpCode::kAbs:
      return Narrow(Abs(a - zero) + zero, result).value();
    case OpCode::kMaximum:
      return Narrow(Max(a, b), result).value();
    case OpCode::kMinimum:
      return Narrow(Min(a, b), result).value();
    default:
      return nullptr;
  }
}

}  // namespace pjrt::ir
