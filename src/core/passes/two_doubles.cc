// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/two_doubles.h"

namespace pjrt::ir {
namespace {

// a * b, both also in halves.
Double2 HalvesProduct(Term a, const Double2& a_halves, Term b, const Double2& b_halves) {
  const Term product = a * b;
  const Term lost = ((a_halves.high * b_halves.high - product) + a_halves.high * b_halves.low +
                     a_halves.low * b_halves.high) +
                    a_halves.low * b_halves.low;
  return {product, lost};
}

}  // namespace

Double2 Split(Term a) {
  const Term spread = a * 134217729.0;  // 2^27 + 1
  const Term high = spread - (spread - a);
  return {high, a - high};
}

Double2 ExactSum(Term a, Term b) {
  const Term sum = a + b, b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}

Double2 ExactProduct(Term a, Term b) { return HalvesProduct(a, Split(a), b, Split(b)); }

Double2 operator+(const Double2& a, const Double2& b) {
  const Double2 sum = ExactSum(a.high, b.high);
  return {sum.high, (a.low + b.low) + sum.low};
}

Double2 operator*(const Double2& a, const Double2& b) {
  const Double2 product = ExactProduct(a.high, b.high);
  return {product.high, product.low + (a.high * b.low + a.low * b.high)};
}

Double2 operator/(const Double2& a, const Double2& b) {
  const Term quotient = a.high / b.high;
  const Double2 product = ExactProduct(quotient, b.high);
  const Term rest = ((a.high - product.high) - product.low) + (a.low - quotient * b.low);
  return {quotient, rest / b.high};
}

Double2 Times(const Double2& a, Term b, const Double2& b_halves) {
  const Double2 product = HalvesProduct(a.high, Split(a.high), b, b_halves);
  return {product.high, product.low + a.low * b};
}

Double2 Polynomial(const Double2& x, absl::Span<const double> tail,
                   absl::Span<const Constant2> head) {
  Double2 sum = {Polynomial(x.high, tail), x.high.Like(0)};
  for (const Constant2& c : head) sum = sum * x + c;
  return sum;
}

}  // namespace pjrt::ir
