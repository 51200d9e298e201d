// SPDX-License-Identifier: Apache-2.0
//
// Rules of arithmetic that hold for every value, NaN, infinities and signed zeros included.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>

#include "pjrt/base/primitive_type.h"
#include "src/core/ir/reducer.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

PrimitiveType ElementOf(const Op& op) { return op.operand_type(0).primitive_type(); }
// Integers and booleans: every value has one pattern of bits.
bool IsExact(const Op& op) {
  const PrimitiveType type = ElementOf(op);
  return IsInteger(type) || type == PRED;
}
bool AreSame(const Op& op) { return op.operand(0) == op.operand(1); }

Value* Zero(const Op& op, Emitter& emit) { return emit.IntConstant(op.result_type(), 0).value(); }

// The other operand when one is a constant of `number`.
Value* OtherThan(const Op& op, double number) {
  if (IsSplatOf(op.operand(1), number)) return op.operand(0);
  if (IsSplatOf(op.operand(0), number)) return op.operand(1);
  return nullptr;
}

// The bits that all elements of a constant have, of up to 8 bytes each.
std::optional<uint64_t> SplatBits(const Value* value) {
  const Op* constant = MadeBy(value, OpCode::kConstant);
  if (constant == nullptr) return std::nullopt;
  const Attribute attr = constant->attr("value");
  const size_t bytes = static_cast<size_t>(ByteWidth(value->type().primitive_type()));
  if ((!attr.IsSplat() && attr.raw_data().size() != bytes) || attr.raw_data().size() < bytes)
    return std::nullopt;
  uint64_t bits = 0;
  std::memcpy(&bits, attr.raw_data().data(), bytes);
  return bits;
}

// k for an unsigned constant of 2^k everywhere, or -1.
int PowerOfTwo(const Value* value) {
  if (!IsUnsignedInteger(value->type().primitive_type())) return -1;
  const std::optional<uint64_t> bits = SplatBits(value);
  if (!bits.has_value() || *bits == 0 || (*bits & (*bits - 1)) != 0) return -1;
  int k = 0;
  while ((*bits >> k) != 1) ++k;
  return k;
}

// 1 / x for a float constant x that is a power of two everywhere, of either sign, where that is
// neither a denormal nor infinite: then x / y and x * (1 / y) are the same number, rounded once.
std::optional<double> ExactReciprocal(const Value* value) {
  const PrimitiveType type = value->type().primitive_type();
  if (type != F16 && type != BF16 && type != F32 && type != F64) return std::nullopt;
  const std::optional<uint64_t> bits = SplatBits(value);
  if (!bits.has_value()) return std::nullopt;
  const int mantissa = type == F16 ? 10 : type == BF16 ? 7 : type == F32 ? 23 : 52;
  const int exponents = 8 * ByteWidth(type) - 1 - mantissa;
  const int bias = (1 << (exponents - 1)) - 1;
  const int exponent = static_cast<int>(*bits >> mantissa) & ((1 << exponents) - 1);
  const bool is_power = (*bits & ((uint64_t{1} << mantissa) - 1)) == 0;
  if (!is_power || exponent < 1 || exponent >= 2 * bias) return std::nullopt;
  const double reciprocal = std::ldexp(1.0, bias - exponent);
  return *bits >> (mantissa + exponents) != 0 ? -reciprocal : reciprocal;
}

}  // namespace

// x + 0 of floats is x but for x = -0, so only -0 is left out. Integers wrap, so x - y + y is x.
Replacement SimplifyAdd(const Op& op, Emitter& emit) {
  if (Replacement rows = SimplifyInterleaved(op, emit); !rows.empty()) return rows;
  if (IsComplex(ElementOf(op))) return {};
  for (size_t i : {0u, 1u}) {
    const Op* difference = IsExact(op) ? MadeBy(op.operand(i), OpCode::kSubtract) : nullptr;
    if (difference != nullptr && AreEqual(difference->operand(1), op.operand(1 - i)))
      return One(difference->operand(0));
  }
  return One(OtherThan(op, IsExact(op) ? 0.0 : -0.0));
}

Replacement SimplifySubtract(const Op& op, Emitter& emit) {
  if (IsComplex(ElementOf(op))) return {};
  if (IsSplatOf(op.operand(1), 0.0)) return One(op.operand(0));
  const Op* sum = IsExact(op) ? MadeBy(op.operand(0), OpCode::kAdd) : nullptr;
  for (size_t i : {0u, 1u}) {
    if (sum != nullptr && AreEqual(sum->operand(i), op.operand(1))) return One(sum->operand(1 - i));
  }
  return IsExact(op) && AreSame(op) ? One(Zero(op, emit)) : Replacement();
}

Replacement SimplifyMultiply(const Op& op, Emitter& emit) {
  if (IsComplex(ElementOf(op))) return {};
  if (Value* other = OtherThan(op, 1.0)) return One(other);
  return IsExact(op) && OtherThan(op, 0.0) != nullptr ? One(Zero(op, emit)) : Replacement();
}

Replacement SimplifyDivide(const Op& op, Emitter& emit) {
  if (IsComplex(ElementOf(op))) return {};
  if (IsSplatOf(op.operand(1), 1.0)) return One(op.operand(0));
  if (const std::optional<double> factor = ExactReciprocal(op.operand(1)); factor.has_value())
    return One((emit(op.operand(0)) * *factor).value());
  const int k = PowerOfTwo(op.operand(1));
  return k < 0 ? Replacement() : One(ShiftRight(emit(op.operand(0)), k).value());
}

Replacement SimplifyRemainder(const Op& op, Emitter& emit) {
  const int k = PowerOfTwo(op.operand(1));
  if (k < 0) return {};
  const Term x = emit(op.operand(0));
  return One((x & x.LikeInt(static_cast<int64_t>((uint64_t{1} << k) - 1))).value());
}

Replacement SimplifyPower(const Op& op, Emitter& emit) {
  if (IsComplex(ElementOf(op))) return {};
  if (IsSplatOf(op.operand(1), 1.0)) return One(op.operand(0));
  // The product is the power, rounded correctly.
  const Term x = emit(op.operand(0));
  return IsSplatOf(op.operand(1), 2.0) ? One((x * x).value()) : Replacement();
}

Replacement SimplifyAnd(const Op& op, Emitter& emit) {
  if (AreSame(op)) return One(op.operand(0));
  for (size_t i : {0u, 1u}) {
    if (IsSplatOfInt(op.operand(i), -1)) return One(op.operand(1 - i));
    if (IsSplatOfInt(op.operand(i), 0)) return One(Zero(op, emit));
  }
  return SimplifyNegativeRemainder(op, emit);
}

Replacement SimplifyOr(const Op& op, Emitter& emit) {
  if (Replacement rows = SimplifyInterleaved(op, emit); !rows.empty()) return rows;
  if (AreSame(op)) return One(op.operand(0));
  for (size_t i : {0u, 1u}) {
    if (IsSplatOfInt(op.operand(i), 0)) return One(op.operand(1 - i));
    if (IsSplatOfInt(op.operand(i), -1)) return One(op.operand(i));
  }
  return {};
}

Replacement SimplifyXor(const Op& op, Emitter& emit) {
  if (AreSame(op)) return One(Zero(op, emit));
  for (size_t i : {0u, 1u}) {
    if (IsSplatOfInt(op.operand(i), 0)) return One(op.operand(1 - i));
  }
  return {};
}

Replacement SimplifyShift(const Op& op, Emitter&) {
  return IsSplatOfInt(op.operand(1), 0) ? One(op.operand(0)) : Replacement();
}

Replacement SimplifyExtremum(const Op& op, Emitter&) {
  if (AreSame(op)) return One(op.operand(0));
  // Of x and -inf the maximum is x, a NaN as well. Some narrower floats have no infinity.
  const PrimitiveType type = ElementOf(op);
  if (type != F16 && type != BF16 && type != F32 && type != F64) return {};
  return One(OtherThan(op, op.Is(OpCode::kMaximum) ? -kInfinity : kInfinity));
}

// f(f(x)) = x.
Replacement SimplifyInvolution(const Op& op, Emitter&) {
  // Of numbers without a sign, the negative is NaN.
  if (op.result_type().primitive_type() == F8E8M0FNU) return {};
  const Op* inner = MadeBy(op.operand(0), op.opcode());
  return inner == nullptr ? Replacement() : One(inner->operand(0));
}

// f(f(x)) = f(x).
Replacement SimplifyIdempotent(const Op& op, Emitter&) {
  const Op* inner = MadeBy(op.operand(0), op.opcode());
  return inner == nullptr || op.result_type() != op.operand_type(0) ? Replacement()
                                                                    : One(op.operand(0));
}

Replacement SimplifyCompare(const Op& op, Emitter& emit) {
  const auto direction = EnumFrom<ComparisonDirection>(op.attr("comparison_direction"));
  if (!direction.has_value() || !IsExact(op)) return {};
  // Of booleans, p != false is p.
  if (op.operand_type(0).primitive_type() == PRED) {
    const bool is_equal = *direction == ComparisonDirection::kEq;
    for (size_t i : {0u, 1u}) {
      if ((is_equal || *direction == ComparisonDirection::kNe) &&
          IsSplatOfInt(op.operand(i), is_equal ? 1 : 0))
        return One(op.operand(1 - i));
    }
  }
  if (!AreSame(op)) return {};
  const bool equal = *direction == ComparisonDirection::kEq ||
                     *direction == ComparisonDirection::kGe ||
                     *direction == ComparisonDirection::kLe;
  return One(emit.IntConstant(op.result_type(), equal ? 1 : 0).value());
}

Replacement SimplifySelect(const Op& op, Emitter& emit) {
  if (op.operand(1) == op.operand(2)) return One(op.operand(1));
  if (IsSplatOfInt(op.operand(0), 1)) return One(op.operand(1));
  if (IsSplatOfInt(op.operand(0), 0)) return One(op.operand(2));
  // Of booleans, p ? true : x is p | x, and p ? x : false is p & x.
  if (op.result_type().primitive_type() == PRED && op.operand_type(0) == op.result_type()) {
    if (IsSplatOfInt(op.operand(1), 1))
      return One((emit(op.operand(0)) | emit(op.operand(2))).value());
    if (IsSplatOfInt(op.operand(2), 0))
      return One((emit(op.operand(0)) & emit(op.operand(1))).value());
  }
  if (const Op* inverse = MadeBy(op.operand(0), OpCode::kNot)) {
    return One(Select(emit(inverse->operand(0)), emit(op.operand(2)), emit(op.operand(1))).value());
  }
  return SimplifyFloorDivision(op, emit);
}

namespace {

// True when `wide` holds each value of `narrow`.
bool Holds(PrimitiveType wide, PrimitiveType narrow) {
  if (wide == narrow) return true;
  if (IsComplex(wide) || IsComplex(narrow) || wide == PRED) return false;
  if (narrow == PRED) return true;
  if (IsInteger(narrow) && IsInteger(wide)) {
    if (IsUnsignedInteger(narrow)) return BitWidth(wide) > BitWidth(narrow);
    return IsSignedInteger(wide) && BitWidth(wide) >= BitWidth(narrow);
  }
  if (IsInteger(narrow)) {
    // As many digits as the significand has.
    return BitWidth(narrow) <= (wide == F64 ? 53 : wide == F32 ? 24 : 0);
  }
  if (IsInteger(wide)) return false;
  if (wide == F64) return true;
  return wide == F32 && narrow != F64;
}

// A sum of integers wraps, so that it needs no more bits than are kept of it.
Replacement NarrowSum(const Op& op, Emitter& emit) {
  const Op* const sum = MadeBy(op.operand(0), OpCode::kReduce);
  if (sum == nullptr || sum->num_operands() != 2 || !sum->result()->HasOneUse()) return {};
  const Op* const combine = ReducerOp(*sum->region()->block());
  const Op* const wide = MadeBy(sum->operand(0), OpCode::kConvert);
  if (combine == nullptr || !combine->Is(OpCode::kAdd) || wide == nullptr ||
      SplatInt(sum->operand(1)) != 0)
    return {};
  const PrimitiveType from = ElementOf(*wide), over = ElementOf(op),
                      to = op.result_type().primitive_type();
  if (!IsInteger(from) || !IsInteger(to) || !Holds(over, from) || BitWidth(to) < 8 ||
      BitWidth(from) > BitWidth(to) || BitWidth(to) >= BitWidth(over))
    return {};
  return One(Sum(Convert(emit(wide->operand(0)), to), sum->IntsAttr("dimensions")).value());
}

}  // namespace

Replacement SimplifyConvert(const Op& op, Emitter& emit) {
  if (op.operand_type(0) == op.result_type()) return One(op.operand(0));
  if (const Replacement narrow = NarrowSum(op, emit); !narrow.empty()) return narrow;
  // What was made wider without loss need not have been.
  const Op* inner = MadeBy(op.operand(0), OpCode::kConvert);
  if (inner == nullptr) return {};
  const PrimitiveType from = inner->operand_type(0).primitive_type();
  const PrimitiveType over = ElementOf(op), to = op.result_type().primitive_type();
  if (!Holds(over, from)) return {};
  // To booleans, to complex numbers and between floats and narrower integers there are rules that
  // depend on where the value comes from.
  if (from != to &&
      (to == PRED || IsComplex(to) || from == PRED || IsInteger(from) != IsInteger(over))) {
    return {};
  }
  return One(Convert(emit(inner->operand(0)), to).value());
}

Replacement SimplifyComplexPart(const Op& op, Emitter&) {
  const Op* made = MadeBy(op.operand(0), OpCode::kComplex);
  return made == nullptr ? Replacement() : One(made->operand(op.Is(OpCode::kReal) ? 0 : 1));
}

Replacement SimplifyComplex(const Op& op, Emitter&) {
  const Op* real = MadeBy(op.operand(0), OpCode::kReal);
  const Op* imag = MadeBy(op.operand(1), OpCode::kImag);
  if (real == nullptr || imag == nullptr || real->operand(0) != imag->operand(0)) return {};
  return real->operand_type(0) == op.result_type() ? One(real->operand(0)) : Replacement();
}

}  // namespace pjrt::ir
