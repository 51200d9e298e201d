// SPDX-License-Identifier: Apache-2.0
//
// erf, erfc and the inverse of erf.
//
// f64: the rational approximation of erf that Cephes has, erfc by a polynomial. f32: erf by two
// short polynomials. erf_inv: M. Giles, "Approximating the erfinv function", GPU Computing Gems 2
// (2011).
#include <limits>

#include "src/core/passes/expand_chlo.h"

namespace pjrt::ir {
namespace {

// erf(x) = x * T(x^2) / U(x^2) for |x| <= 1.
constexpr double kErfT[] = {9.60497373987051638749e0, 9.00260197203842689217e1,
                            2.23200534594684319226e3, 7.00332514112805075473e3,
                            5.55923013010394962768e4};
constexpr double kErfU[] = {1,
                            3.35617141647503099647e1,
                            5.21357949780152679795e2,
                            4.59432382970980127987e3,
                            2.26290000613890934246e4,
                            4.92673942608635921086e4};
// erfc(x) = exp(-x^2) / (1 + 2 x) * E((x - 3) / (x + 3)) for x >= 0.5, by Chebyshev interpolation.
// E lies between 1 and 1.3; these are the coefficients but E(0), which follows in two parts.
constexpr double kErfcE[] = {
    -4.325370719107278e-09,  -1.0659628807393203e-08, 3.42329907978226e-08,
    9.877438074940672e-08,   -1.3432312409451292e-07, -6.146346341425417e-07,
    3.52693258412998e-07,    3.471616676593574e-06,   -7.300550882569987e-07,
    -2.0100376113106087e-05, 4.9491714476033325e-06,  0.00012509932758636072,
    -0.00010515976008945177, -0.0007798322714918795,  0.0018886903564002055,
    0.002529391816335117,    -0.02377051491853638,    0.06830802734394434,
    -0.11927366341531179,    0.12964515870276203,     -0.0475622943534507,
    -0.1356211061245812};
constexpr double kErfcMiddle = 1.2530080582697296, kErfcMiddleLow = 4.6e-17;

Term SmallErf(Term x) {
  const Term square = x * x;
  return x * (Polynomial(square, kErfT) / Polynomial(square, kErfU));
}

// erfc of x >= 0.5. The square of x is taken in two parts, so that exp's argument has no error that
// exp would enlarge: x = high + low, where high has few enough digits for an exact square. What the
// divisor and E lose by rounding is made good.
Term LargeErfc(Term x) {
  const Term high = Convert(Convert(x, F32), F64);
  const Term rest = (high - x) * (high + x);  // at most 2^-13: three terms of exp's series will do
  const Term twice = 2.0 * x, divisor = 1.0 + twice;
  const Term lost_of_divisor = twice - (divisor - 1.0);
  const Term t = (x - 3.0) / (x + 3.0);
  const Term rise = t * Polynomial(t, kErfcE), e = kErfcMiddle + rise;
  const Term lost_of_e = (rise - (e - kErfcMiddle)) + kErfcMiddleLow;
  const Term ratio = e / divisor;
  const Term lost = (lost_of_e - ratio * lost_of_divisor) / divisor;
  const Term more = ratio * (rest + rest * rest * (0.5 + rest * (1.0 / 6))) + lost;
  const Term value = Exp(-(high * high)) * (ratio + more);
  return Select(x > 28.0, 0.0, value);  // 0 from 27.3 on; further out, infinities meet
}

// f32: erf(x) = x + x * P(x^2) for |x| < 1, and 1 - exp(L(|x| - 1)) from there to 4, where erf(x)
// rounds to 1. Chebyshev interpolations.
constexpr double kErfNear[] = {7.875875062685488e-05, -0.000801686428716587, 0.005189087423433974,
                               -0.026854212010626412, 0.11283594715160218,   -0.37612626666720334,
                               0.12837916584835093};
constexpr double kErfFar[] = {
    1.6371514145936436e-06, -3.2960831372440634e-05, 0.0003202395664450733,
    -0.002054300956557328,  0.010077808029144182,    -0.04157574036051611,
    -0.8431047415762557,    -2.6389676995839992,     -1.8496055068535158};

// f32: x * P(w - 2.0625) for w < 5, x * Q(sqrt(w) - 3) beyond; w = -log(1 - x^2). Least relative
// errors.
constexpr double kInvCentral[] = {-8.791782e-09, 5.784924e-08, 3.2428875e-07, -4.70402e-06,
                                  5.850479e-06,  0.0002179711, -0.0016379737, -0.002280306,
                                  0.24950247,    1.3928176};
constexpr double kInvTail[] = {0.00012914374, -0.00031899574, -7.672441e-05, 0.0014961353,
                               -0.0035869991, 0.0056830845,   -0.007639399,  0.009445693,
                               1.0016751,     2.8329768};
// f64: w - 1 for w < 2, w - 3.125 for w < 6.25, sqrt(w) - 3.25 for w < 16, sqrt(w) - 5 beyond. The
// first and the last are Chebyshev interpolations: Giles has none for the one and fewer terms for
// the other.
constexpr double kInvNear64[] = {
    -1.2776954397584746e-12, -3.1915037193755515e-12, 6.746259499713772e-11,
    1.5796564589906403e-11,  -3.0240824383729207e-09, 6.04072987316235e-09,
    1.223171098985725e-07,   -5.652254700104941e-07,  -4.2755857067607e-06,
    3.820187253779952e-05,   0.00010012177623017419,  -0.0023763699555835504,
    0.004250709244824757,    0.24783287028621104,     1.1273743936892278};
constexpr double kInvCentral64[] = {
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
    1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
    6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
    2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
    4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
    0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
    0.24015818242558961693,     1.6536545626831027356};
constexpr double kInvMiddle64[] = {
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
    1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
    2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
    6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
    3.0838856104922207635};
constexpr double kInvTail64[] = {
    -1.9767855775998172e-11, 4.344277632753491e-11,   6.673560908875344e-11,
    -4.398008019041459e-10,  1.3213659370046188e-09,  -3.467782458671497e-09,
    7.815933444416183e-09,   -1.5258009743653128e-08, 2.9021931231225686e-08,
    -6.755482052830864e-08,  2.290516708879071e-07,   -9.930297492654094e-07,
    4.5260527501617686e-06,  -1.9681770648389775e-05, 7.599527807496498e-05,
    -0.0002150301198312416,  -0.00013871931837933314, 1.0103004648645455,
    4.849906401408584};

}  // namespace

Term ExpandErf(Term x) {
  if (x.element() == F64) {
    const Term size = Abs(x);
    return Select(size <= 1.0, SmallErf(x), CopySign(1.0 - LargeErfc(Max(size, x.Like(1))), x));
  }
  const Term size = Abs(x);
  const Term near = x + x * Polynomial(x * x, kErfNear);
  const Term far = 1.0 - Exp(Polynomial(Min(size, size.Like(4)) - 1.0, kErfFar));
  return Select(size < 1.0, near, CopySign(far, x));
}

Term ExpandErfc(Term x) {
  const Term size = Abs(x);
  const Term outer = LargeErfc(Max(size, x.Like(0.5)));
  return Select(size < 0.5, 1.0 - SmallErf(x), Select(x < 0.0, 2.0 - outer, outer));
}

Term ExpandErfInv(Term x) {
  // -log(1 - x^2); the square would lose what tells x from 1.
  const Term w = -(Log1p(x) + Log1p(-x));
  const bool f32 = x.element() == F32;
  const Term root = Sqrt(w);
  const Term factor =
      f32 ? Select(w < 5.0, Polynomial(w - 2.0625, kInvCentral), Polynomial(root - 3.0, kInvTail))
          : Select(w < 2.0, Polynomial(w - 1.0, kInvNear64),
                   Select(w < 6.25, Polynomial(w - 3.125, kInvCentral64),
                          Select(w < 16.0, Polynomial(root - 3.25, kInvMiddle64),
                                 Polynomial(root - 5.0, kInvTail64))));
  return Select(Abs(x) == 1.0, x * std::numeric_limits<double>::infinity(), x * factor);
}

}  // namespace pjrt::ir
