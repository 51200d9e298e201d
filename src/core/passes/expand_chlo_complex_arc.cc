// SPDX-License-Identifier: Apache-2.0
//
// The inverse trigonometric and hyperbolic functions of complex numbers.
//
// asin, acos, asinh and acosh follow T. E. Hull, T. F. Fairgrieve, P. T. P. Tang, "Implementing the
// complex arcsine and arccosine functions using exception handling", ACM TOMS 23 (1997). With
// r = |z + 1|, s = |z - 1| and a = (r + s) / 2, for z in the first quadrant:
//
//   asin z = atan2(x, sqrt(a^2 - x^2)) + i log(a + sqrt(a^2 - 1))
#include <limits>

#include "src/core/passes/expand_chlo.h"

namespace pjrt::ir {
namespace {

// sqrt(a^2 + b^2) of numbers that are not negative, without overflow of the squares.
Term Hypot(Term a, Term b) {
  const Term high = Max(a, b), low = Min(a, b);
  const Term ratio = Select(high == low, 1.0, low / high);
  return Select(high == 0.0, 0.0, high * Sqrt(1.0 + ratio * ratio));
}

// The largest size whose square is finite with room to spare.
double LargestToSquare(Term x) { return x.element() == F32 ? 1e18 : 1e152; }

struct Parts {
  Term root;  // sqrt(a^2 - x^2)
  Term log;   // log(a + sqrt(a^2 - 1))
};

// Of the quadrant's x and y, both without sign.
Parts Kernel(Term x, Term y) {
  const Term r = Hypot(x + 1.0, y), s = Hypot(Abs(x - 1.0), y);
  const Term a = (r + s) * 0.5;
  const Term right = r + (x + 1.0);
  // Differences of near numbers, r - (x + 1) = y^2 / (r + x + 1) among them, are taken this way.
  const Term inner = s + (1.0 - x);  // x <= 1
  const Term outer = s + (x - 1.0);  // x > 1
  const Term inside = x <= 1.0;
  const Term ax = a + x;
  const Term root = Select(inside, Sqrt(0.5 * ax * (y * y / right + inner)),
                           y * Sqrt(0.5 * (ax / right + ax / Select(inside, 1.0, outer))));
  // a - 1 is y^2 times `share` inside of the unit circle; y stays out of it, as its square may be
  // 0.
  const Term before = x < 1.0;
  const Term share = 0.5 * (1.0 / right + 1.0 / Select(before, inner, 1.0));
  const Term within = Log1p(y * (y * share + Sqrt(share * (a + 1.0))));
  // Twice a - 1; its half may be 0.
  const Term excess = y * y / right + outer;
  const Term beyond = Log1p(0.5 * excess + Sqrt(excess * (0.5 * (a + 1.0))));
  const Term log = Select(before, within, beyond);
  // Far out, sqrt(a^2 - x^2) is y and the logarithm that of 2 |z|.
  const Term high = Max(x, y), low = Min(x, y);
  const Term far = high >= LargestToSquare(x);
  const Term ratio = Select(high == low, 1.0, low / high);
  const Term far_log = kLog2 + Log(high) + 0.5 * Log1p(ratio * ratio);
  const Term infinite = high == std::numeric_limits<double>::infinity();
  return {Select(far, y, root),
          Select(infinite, std::numeric_limits<double>::infinity(), Select(far, far_log, log))};
}

Parts KernelOf(Term z) { return Kernel(Abs(Real(z)), Abs(Imag(z))); }

// `size` with the sign of `y`, where -0 counts as 0: the decompositions that programs carry of
// these functions ask whether y < 0, so their branch cuts belong to the upper half plane (asinh's
// to the right one) whatever the zero's sign.
Term AboveCut(Term size, Term y) { return Select(y < 0.0, -size, size); }

Term Atanh(Term x, Term y) {
  const Term size = Abs(x), high = Max(size, Abs(y));
  // log|(1 + z) / (1 - z)| / 2.
  // = log1p(4 |x| / ((|x| - 1)^2 + y^2)) / 4; close to the pole at 1, whose square may be 0,
  // log(2 / |y|) / 2.
  const Term gap = size - 1.0;
  const Term at_pole = (gap == 0.0) & (Abs(y) < 1e-9);
  const Term near =
      Select(at_pole, 0.5 * (kLog2 - Log(Abs(y))), 0.25 * Log1p(4.0 * size / (gap * gap + y * y)));
  // Far out, re z / |z|^2, where neither |z| nor a product leaves the range: with all lengths in
  // units of the larger part, which divides last.
  const Term low = Min(size, Abs(y)), share = size / high, ratio = low / high;
  const Term far_real = share / (1.0 + ratio * ratio) / high;
  const Term infinite = high == std::numeric_limits<double>::infinity();
  const Term far = high > LargestToSquare(x);
  const Term real = Select(infinite, 0.0, Select(far, far_real, near));
  const Term flat = (1.0 - size) * (1.0 + size) - y * y;
  const Term angle = 0.5 * Atan2(2.0 * y, flat);
  const Term half_pi = x.Like(1.57079632679489661923);
  const Term imag = Select(far, AboveCut(half_pi, y), angle);
  const Term nan = x.Like(std::numeric_limits<double>::quiet_NaN());
  return MakeComplex(
      Select(IsNan(x), nan, CopySign(real, x)),
      Select(IsNan(y) | (IsNan(x) & (Abs(y) != std::numeric_limits<double>::infinity())), nan,
             imag));
}

}  // namespace

Term ExpandComplexAsinAcosKernel(Term z) {
  const Parts w = KernelOf(z);
  return MakeComplex(w.root, w.log);
}

Term ExpandComplexAcos(Term z) {
  const Parts w = KernelOf(z);
  return MakeComplex(Atan2(w.root, Real(z)), Select(Imag(z) < 0.0, w.log, -w.log));
}

Term ExpandComplexAcosh(Term z) {
  const Parts w = KernelOf(z);
  return MakeComplex(w.log, AboveCut(Atan2(w.root, Real(z)), Imag(z)));
}

Term ExpandComplexAsin(Term z) {
  const Parts w = KernelOf(z);
  return MakeComplex(Atan2(Real(z), w.root), AboveCut(w.log, Imag(z)));
}

// asinh(z) = -i asin(i z).
Term ExpandComplexAsinh(Term z) {
  const Term x = Real(z), y = Imag(z);
  const Parts w = Kernel(Abs(y), Abs(x));
  return MakeComplex(AboveCut(w.log, x), Atan2(y, w.root));
}

Term ExpandComplexAtanh(Term z) { return Atanh(Real(z), Imag(z)); }

// atan(z) = -i atanh(i z).
Term ExpandComplexAtan(Term z) {
  const Term w = Atanh(-Imag(z), Real(z));
  return MakeComplex(Imag(w), -Real(w));
}

}  // namespace pjrt::ir
