// SPDX-License-Identifier: Apache-2.0
//
// digamma of numbers far to the left of 0 in f64: digamma(1 - x) - pi / tan(pi x), both with twice
// the digits, so that the difference keeps those of f64 beside the zeros.
#include <limits>

#include "src/core/passes/expand_chlo.h"
#include "src/core/passes/two_doubles.h"

namespace pjrt::ir {
namespace {

// zeta(2k) - 1 for k = 17, 16, ..., 1.
constexpr double kZetaTail[] = {
    5.820772087902701e-11, 2.3283118336765053e-10, 9.313274324196682e-10,
    3.725334024788457e-09, 1.4901554828365043e-08, 5.960818905125948e-08,
    2.38450502727733e-07,  9.539620338727962e-07,  3.81729326499984e-06};
constexpr Constant2 kZeta[] = {{1.528225940865187e-05, 7.677620188142347e-22},
                               {6.124813505870483e-05, 1.5932044187197156e-21},
                               {0.0002460865533080483, -2.126804481899407e-20},
                               {0.0009945751278180853, 8.155271993117836e-20},
                               {0.00407735619794434, -2.2242833400456106e-19},
                               {0.01734306198444914, -4.414770097141147e-19},
                               {0.08232323371113819, 5.851757005110278e-18},
                               {0.6449340668482264, 3.040672350398476e-17}};

// log(1 + (i + 1/2) / 16).
constexpr Constant2 kLog[] = {
    {0.030771658666753687, 1.0431732029005968e-18}, {0.08961215868968714, -5.4268129336647135e-18},
    {0.1451820098444979, 8.242418783022475e-18},    {0.19782574332991987, 1.2821194372980142e-17},
    {0.24783616390458127, -1.2432209578702523e-17}, {0.2954642128938359, -2.16461086040599e-17},
    {0.3409265869705932, 1.7467136443544747e-17},   {0.38441169891033206, -1.612149700764673e-17},
    {0.4260843953109001, -2.499176776547466e-17},   {0.46608972992459924, -1.4116523239904406e-17},
    {0.5045560107523953, -2.4888518873597905e-17},  {0.5415972824327444, -3.748764246125639e-17},
    {0.5773153650348236, -8.903591846974013e-18},   {0.6118015411059929, -3.7397759448726e-17},
    {0.6451379613735847, 9.346960920120906e-19},    {0.6773988235918061, -2.0978183882652005e-18}};
constexpr Constant2 kLongLog2 = {0.6931471805599453, 2.3190468138462996e-17};
// 1 / (2k + 1) for k = 9, 8, ..., 0.
constexpr double kArtanhTail[] = {1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13, 1.0 / 11, 1.0 / 9};
constexpr Constant2 kArtanh[] = {{1.0 / 7, 7.93016446160826e-18},
                                 {1.0 / 5, -1.1102230246251566e-17},
                                 {1.0 / 3, 1.850371707708594e-17},
                                 {1.0, 0.0}};

// (1 - 2^(1 - 2k)) B(2k) / 2k for k = 8, 7, ..., 1.
constexpr double kSmoothTail[] = {-0.4432462767058728, 0.08332316080729167, -0.021082496875953906,
                                  0.007560961174242424, -0.004134114583333333};
constexpr Constant2 kSmoothSeries[] = {{0.0038442460317460315, 2.1339852283841673e-19},
                                       {-0.007291666666666667, 1.1564823173178714e-19},
                                       {0.041666666666666664, 2.3129646346357427e-18}};

// log(x) for x >= 1: of its power of two, of the middle of a sixteenth of what is left, and of the
// quotient of that and the middle.
Double2 Log(const Double2& x) {
  const Term bits = Bitcast(x.high, S64);
  const Term digits = bits & bits.LikeInt((int64_t{1} << 52) - 1);
  const Term exponent = Convert(ShiftRight(bits, 52) - bits.LikeInt(1023), F64);
  const Term high = Bitcast(digits | bits.LikeInt(int64_t{1023} << 52), F64);
  const Double2 rest = {high, x.low * (high / x.high)};
  const Term index = Convert(ShiftRight(digits, 48), S32);
  const Term middle = Convert(index, F64) * (1.0 / 16) + (1.0 + 1.0 / 32);

  const Double2 m = Exactly(middle);
  const Double2 z = (rest - m) / (rest + m);
  const Double2 log_rest = (z + z) * Polynomial(z * z, kArtanhTail, kArtanh);
  return (Exactly(exponent) * kLongLog2 + Lookup(kLog, index)) + log_rest;
}

}  // namespace

Term FarDigamma(Term x) {
  // digamma(1/2 + t), Stirling's series.
  const Double2 one = Exactly(x.Like(1));
  const Double2 t = ExactSum(-x, x.Like(0.5));
  const Double2 inverse = one / t, square = inverse * inverse;
  const Double2 smooth = Log(t) + square * Polynomial(square, kSmoothTail, kSmoothSeries);

  // pi / tan(pi d) for |d| <= 1/2: 1 / d - 2 d times the sum of zeta(2k + 2) d^2k. What comes of
  // the 1 in zeta is a geometric series.
  const Term d = x - Floor(x + 0.5);
  const Double2 v = ExactProduct(d, d);
  const Double2 pole = (one - v * Constant2{3, 0}) / (Exactly(d) * (one - v));
  const Double2 cotangent = pole - Exactly(2.0 * d) * Polynomial(v, kZetaTail, kZeta);

  const Double2 value = smooth - cotangent;
  return Select(d == 0.0, std::numeric_limits<double>::quiet_NaN(), value.high + value.low);
}

}  // namespace pjrt::ir
