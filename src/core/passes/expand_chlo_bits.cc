// SPDX-License-Identifier: Apache-2.0
//
// Ops on the bits of numbers: the next float, the high half of a product.
#include "src/core/passes/expand_chlo.h"

namespace pjrt::ir {
namespace {

PrimitiveType ImageOf(PrimitiveType type) {
  switch (BitWidth(type)) {
    case 64:
      return U64;
    case 32:
      return U32;
    case 16:
      return U16;
    default:
      return U8;
  }
}

// The high half of the product of two u64, by halves of 32 bits.
Term UnsignedHigh(Term a, Term b) {
  const Term mask = a.LikeInt(0xffffffff);
  const Term a_low = a & mask, a_high = ShiftRight(a, 32);
  const Term b_low = b & mask, b_high = ShiftRight(b, 32);
  const Term middle = a_high * b_low + ShiftRight(a_low * b_low, 32);
  const Term other = a_low * b_high + (middle & mask);
  return a_high * b_high + ShiftRight(middle, 32) + ShiftRight(other, 32);
}

}  // namespace

Term ExpandNextAfter(Term x, Term to) {
  const PrimitiveType image = ImageOf(x.element());
  const Term bits = Bitcast(x, image), target = Bitcast(to, image);
  const Term one = bits.LikeInt(1);
  const Term sign = ShiftLeft(one, BitWidth(x.element()) - 1);
  // Away from zero is one up in the image, whichever the sign.
  const Term away = Compare(ComparisonDirection::kEq, to > x, x > x.Like(0));
  const Term next = Bitcast(Select(away, bits + one, bits - one), x.element());
  const Term least = Bitcast((target & sign) | one, x.element());
  const Term moved = Select(x == 0.0, least, next);
  return Select(IsNan(x), x, Select(IsNan(to) | (x == to), to, moved));
}

Term ExpandMulhi(Term a, Term b) {
  const PrimitiveType type = a.element();
  const int bits = BitWidth(type);
  if (bits < 64) {
    const bool is_signed = IsSignedInteger(type);
    const PrimitiveType wide = bits == 32 ? (is_signed ? S64 : U64) : (is_signed ? S32 : U32);
    return Convert(ShiftRight(Convert(a, wide) * Convert(b, wide), bits), type);
  }
  if (type == U64) return UnsignedHigh(a, b);
  // As unsigned numbers, negative ones count 2^64 too much.
  const Term high = Bitcast(UnsignedHigh(Bitcast(a, U64), Bitcast(b, U64)), S64);
  const Term zero = a.LikeInt(0);
  return high - Select(a < zero, b, zero) - Select(b < zero, a, zero);
}

}  // namespace pjrt::ir
