// SPDX-License-Identifier: Apache-2.0
//
// Signed division that rounds down, and its remainder, by a positive constant. StableHLO's rounds
// towards 0, so exporters correct it with the remainder r = x % n:
//
//   quotient   sign(x) != 1 && r != 0 ? x / n - 1 : x / n
//   remainder  r < 0 && r != 0 ? r + n : r
//
// Both conditions say r < 0; and where n is 2^k, the results are a shift and a mask.
#include <optional>

#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

bool IsSigned(const Value* value) { return IsSignedInteger(value->type().primitive_type()); }

// n, for x % n with a positive constant n.
std::optional<int64_t> PositiveModulus(const Op& remainder) {
  const std::optional<int64_t> n = SplatInt(remainder.operand(1));
  return n.has_value() && *n > 0 ? n : std::nullopt;
}

// What `predicate` compares with `number`, in that direction, or null.
Value* ComparedWith(const Value* predicate, ComparisonDirection direction, int64_t number) {
  const Op* compare = ComparisonIn(predicate, direction);
  return compare != nullptr && IsSplatOfInt(compare->operand(1), number) ? compare->operand(0)
                                                                         : nullptr;
}

}  // namespace

Replacement SimplifyNegativeRemainder(const Op& op, Emitter& emit) {
  for (size_t i : {0u, 1u}) {
    Value* const r = ComparedWith(op.operand(i), ComparisonDirection::kNe, 0);
    if (r == nullptr || !IsSigned(r)) continue;
    Value* const other = op.operand(1 - i);
    if (ComparedWith(other, ComparisonDirection::kLt, 0) == r) return {other};
    const Op* const remainder = MadeBy(r, OpCode::kRemainder);
    const Value* const sign_of_x = ComparedWith(other, ComparisonDirection::kNe, 1);
    const Op* const sign = sign_of_x == nullptr ? nullptr : MadeBy(sign_of_x, OpCode::kSign);
    if (remainder != nullptr && sign != nullptr && sign->operand(0) == remainder->operand(0) &&
        PositiveModulus(*remainder).has_value()) {
      const Term left = emit(r);
      return {Compare(ComparisonDirection::kLt, left, left.LikeInt(0), ComparisonType::kSigned)
                  .value()};
    }
  }
  return {};
}

Replacement SimplifyFloorDivision(const Op& op, Emitter& emit) {
  Value* const r = ComparedWith(op.operand(0), ComparisonDirection::kLt, 0);
  const Op* const remainder = r == nullptr ? nullptr : MadeBy(r, OpCode::kRemainder);
  if (remainder == nullptr || !IsSigned(r)) return {};
  const std::optional<int64_t> n = PositiveModulus(*remainder);
  if (!n.has_value() || (*n & (*n - 1)) != 0) return {};
  Value* const x = remainder->operand(0);
  Value* const corrected = op.operand(1);
  Value* const plain = op.operand(2);
  const Op* const sum = MadeBy(corrected, OpCode::kAdd);
  if (plain == r && sum != nullptr &&
      ((sum->operand(0) == r && SplatInt(sum->operand(1)) == n) ||
       (sum->operand(1) == r && SplatInt(sum->operand(0)) == n))) {
    const Term number = emit(x);
    return {(number & number.LikeInt(*n - 1)).value()};
  }
  const Op* const quotient = MadeBy(plain, OpCode::kDivide);
  const Op* const less = MadeBy(corrected, OpCode::kSubtract);
  if (quotient == nullptr || less == nullptr || quotient->operand(0) != x ||
      SplatInt(quotient->operand(1)) != n || less->operand(0) != plain ||
      !IsSplatOfInt(less->operand(1), 1)) {
    return {};
  }
  int k = 0;
  while ((int64_t{1} << k) != *n) ++k;
  return {ShiftRightArithmetic(emit(x), k).value()};
}

}  // namespace pjrt::ir
