// SPDX-License-Identifier: Apache-2.0
//
// sinh, cosh, real and complex, and the scaled Bessel function I1.
#include <limits>

#include "src/core/passes/expand_chlo.h"

namespace pjrt::ir {
namespace {

// I1(x) / x as a polynomial of (x / 2)^2: 1 / (2 k! (k + 1)!). All terms are positive, so that none
// of their digits cancel; enough of them for x <= 4.
constexpr int kI1Terms = 18;

// exp(-x) I1(x) sqrt(x) for x > 4, in 16 / x - 2.
constexpr double kI1eLarge[] = {
    1.3118653527941955e-17,  -2.300382429233109e-17,  -3.126891337545175e-18,
    8.723850213090807e-17,   -1.47142803592607e-16,   -5.381184738095949e-17,
    6.379084438366227e-16,   -9.069275208217315e-16,  -8.769659351681605e-16,
    4.974753804396638e-15,   -4.717607877954865e-15,  -1.2340567306714118e-14,
    3.852764480594617e-14,   -7.206013867550484e-15,  -1.5302185426124687e-13,
    2.482891006371856e-13,   3.42613690257321e-13,    -1.5757948066266859e-12,
    3.250569090325554e-13,   7.222208888181406e-12,   -9.238148283170294e-12,
    -2.8308142305363017e-11, 7.30079751286961e-11,    1.0538755187456803e-10,
    -4.8145750919749e-10,    -4.6054519661970223e-10, 3.1646152478940138e-09,
    3.444981208575822e-09,   -2.1712842394552182e-08, -4.4890747841115016e-08,
    1.2938214846830005e-07,  6.996853243578198e-07,   6.567216161280733e-07,
    -6.466634809117659e-06,  -5.811374626471902e-05,  -0.0005958466966503214,
    -0.02066295409041414,    0.7576472703452799};

// Where the exponential comes near its overflow.
double OverflowOf(Term size) { return size.element() == F32 ? 88.0 : 709.0; }

// exp(|x|) / 2 without early overflow: beyond some number c as exp(|x| - c) times half of exp(c).
// The difference is exact, and c is one for which that factor is nearly so, too.
Term HalfExp(Term size) {
  const bool f32 = size.element() == F32;
  const double c = f32 ? 78 : 695;
  const double half_power = f32 ? 3.7492084907891723e+33 : 3.4169209147890054e+301;
  const Term far = size > OverflowOf(size);
  return Exp(Select(far, size - c, size)) * Select(far, half_power, size.Like(0.5));
}

// `value`, that is sinh(x) or cosh(x), times `factor`; also where it overflows and their product
// does not.
Term Scaled(Term value, Term x, Term factor) {
  const Term size = Abs(x), root = Exp(size * 0.5);
  return Select(size > OverflowOf(size), CopySign(0.5 * root, value) * (root * factor),
                value * factor);
}

// StableHLO's own expansion is exp(x + log(1/2)) +- exp(log(1/2) - x), whose first sum is rounded:
// some units in the last place are lost where x is large. Recorded results have that error; so its
// value is taken as far as it lies near `exact`, at most 1.5 units away.
Term Near(Term exact, double sign, Term x) {
  constexpr double kLogHalf = -0.69314718055994530942;
  const Term decomposed = Exp(x + kLogHalf) + sign * Exp(kLogHalf - x);
  const bool f32 = x.element() == F32;
  const double max = f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
  const Term slack = Min(Abs(exact), exact.Like(max)) * (1.5 * (f32 ? 0x1p-24 : 0x1p-53));
  return Max(Min(decomposed, exact + slack), exact - slack);
}

// Of |x|.
Term SmallSinh(Term size) {
  const Term m = Expm1(size);
  return 0.5 * (m + m / (m + 1.0));
}

Term ExactSinh(Term x) {
  const Term size = Abs(x), half = HalfExp(size);
  const Term value = Select(size < 1.0, SmallSinh(size), half - 0.25 / half);
  return Select(x == 0.0, x, CopySign(value, x));
}

Term ExactCosh(Term x) {
  const Term half = HalfExp(Abs(x));
  return half + 0.25 / half;
}

}  // namespace

Term ExpandSinh(Term x) {
  const Term size = Abs(x);
  const Term value = Select(size < 1.0, SmallSinh(size), Near(Abs(ExactSinh(x)), -1, size));
  return Select(x == 0.0, x, CopySign(value, x));
}

Term ExpandCosh(Term x) { return Near(ExactCosh(x), 1, x); }

// sinh(a + bi) = sinh(a) cos(b) + i cosh(a) sin(b); on the real axis b itself stands for its sine,
// as infinity times 0 would be NaN.
Term ExpandComplexSinh(Term z) {
  const Term a = Real(z), b = Imag(z);
  const Term imag = Scaled(ExactCosh(a), a, Sin(b));
  const Term real = Scaled(ExactSinh(a), a, Cos(b));
  return MakeComplex(Select(a == 0.0, a, real), Select(b == 0.0, b, imag));
}

// cosh(a + bi) = cosh(a) cos(b) + i sinh(a) sin(b).
Term ExpandComplexCosh(Term z) {
  const Term a = Real(z), b = Imag(z);
  const Term imag = Scaled(ExactSinh(a), a, Sin(b));
  return MakeComplex(
      Scaled(ExactCosh(a), a, Cos(b)),
      Select((a == 0.0) | (b == 0.0), CopySign(a.Like(0), a) * CopySign(a.Like(1), b), imag));
}

Term ExpandBesselI1e(Term x) {
  const Term size = Abs(x);
  double coefficients[kI1Terms];
  double c = 0.5;
  for (int k = 0; k < kI1Terms; ++k) {
    coefficients[kI1Terms - 1 - k] = c;
    c /= (k + 1.0) * (k + 2.0);
  }
  const Term half = Min(size, size.Like(4)) * 0.5;
  const Term small = size * Polynomial(half * half, coefficients) * Exp(-size);
  const Term large = Chebyshev(16.0 / size - 2.0, kI1eLarge) / Sqrt(size);
  return Select(x == 0.0, x, CopySign(Select(size <= 4.0, small, large), x));
}

}  // namespace pjrt::ir
