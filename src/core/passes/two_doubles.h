// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of the expansions with twice the digits of f64, where terms of a sum cancel: a number
// is an unevaluated sum of two. Relative errors are a few 2^-105. No step needs a fused
// multiply-add, so every kernel level has the same bits. Infinities, and numbers within 2^27 of the
// largest, give NaN.
#ifndef PJRT_CORE_PASSES_TWO_DOUBLES_H_
#define PJRT_CORE_PASSES_TWO_DOUBLES_H_

#include "absl/types/span.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {

// The sum of a number and of one that is small beside it; not always as small as rounding would
// leave it.
struct Double2 {
  Term high, low;
};

// A constant with twice the digits.
struct Constant2 {
  double high, low;
};
inline Double2 Like(const Term& x, const Constant2& c) { return {x.Like(c.high), x.Like(c.low)}; }

// A number of f64 as it is.
inline Double2 Exactly(const Term& x) { return {x, x.Like(0)}; }

// Halves of a number's digits, whose products are exact.
Double2 Split(Term a);

// a + b and a * b, exactly.
Double2 ExactSum(Term a, Term b);
Double2 ExactProduct(Term a, Term b);

Double2 operator+(const Double2& a, const Double2& b);
Double2 operator*(const Double2& a, const Double2& b);
Double2 operator/(const Double2& a, const Double2& b);
inline Double2 operator-(const Double2& a) { return {-a.high, -a.low}; }
inline Double2 operator-(const Double2& a, const Double2& b) { return a + -b; }
inline Double2 operator+(const Double2& a, const Constant2& c) { return a + Like(a.high, c); }
inline Double2 operator*(const Double2& a, const Constant2& c) { return a * Like(a.high, c); }

// a * b for a `b` whose halves are known.
Double2 Times(const Double2& a, Term b, const Double2& b_halves);

// The polynomial with the coefficients of `tail`, for which one number does, followed by those of
// `head`; that of the highest power first.
Double2 Polynomial(const Double2& x, absl::Span<const double> tail,
                   absl::Span<const Constant2> head);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_TWO_DOUBLES_H_
