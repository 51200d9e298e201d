// SPDX-License-Identifier: Apache-2.0
//
// Exponential and trigonometric functions of f64 that other functions are made of. See level-inl.h
// for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_MATH_F64_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_MATH_F64_INL_H_

#include "src/cpu_device/kernels/math_wide-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::f64 {

// The unevaluated sum of a number and of one that is small beside it.
struct Pair {
  double high, low;
};
// What the rounding of product = a * b lost, exactly where nothing underflows and no factor is
// beyond 2^990.
PJRT_INLINE double LostOfProduct(double a, double b, double product) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fma(a, b, -product);
#else
  const double a_spread = a * 134217729.0, b_spread = b * 134217729.0;  // 2^27 + 1
  const double a_high = a_spread - (a_spread - a), b_high = b_spread - (b_spread - b);
  const double a_low = a - a_high, b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}
PJRT_INLINE Pair Sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return {sum, (a - (sum - b_part)) + (b - b_part)};
}
PJRT_INLINE Pair Product(double a, double b) {
  const double product = a * b;
  return {product, LostOfProduct(a, b, product)};
}
// a.low and b.low may be anything.
PJRT_INLINE Pair Times(Pair a, Pair b) {
  const Pair product = Product(a.high, b.high);
  return {product.high, product.low + (a.high * b.low + a.low * b.high)};
}
// a / b, within 0.6 ULP; `inverse` is 1 / b.high.
PJRT_INLINE double Quotient(Pair a, Pair b, double inverse) {
  const double quotient = a.high * inverse, product = quotient * b.high;
  const double rest = (a.high - product) - LostOfProduct(quotient, b.high, product);
  return quotient + ((rest + a.low) - quotient * b.low) * inverse;
}
PJRT_INLINE Pair Choose(bool chosen, Pair a, Pair b) {
  return {chosen ? a.high : b.high, chosen ? a.low : b.low};
}

// Parts of log(2): n * kLn2High is exact for |n| < 2^20.
constexpr double kLn2High = 0x1.62e42fefp-1, kLn2Low = 0x1.473de6af278edp-34;

// (exp(r) - 1 - r) / r^2 = 1/2 + r g(r) for |r| <= log(2) / 2; exp(r) to 2^-57.
PJRT_INLINE double ExpSeries(double r) {
  const double r2 = r * r, r4 = r2 * r2;
  const double g01 = MulAdd(r, 0x1.555555555316ap-5, 0x1.555555555555cp-3);
  const double g23 = MulAdd(r, 0x1.6c16c17cf44eep-10, 0x1.111111110e640p-7);
  const double g45 = MulAdd(r, 0x1.a019aa94caeb6p-16, 0x1.a01a01b6354f9p-13);
  const double g67 = MulAdd(r, 0x1.28a0200824128p-22, 0x1.71dde904f9c9dp-19);
  const double g0123 = MulAdd(r2, g23, g01);
  const double g4567 = MulAdd(r2, g67, g45);
  const double g = MulAdd(r4, MulAdd(r4, 0x1.af786b6bb41e2p-26, g4567), g0123);
  return MulAdd(r, g, 0.5);
}

// exp(x + tail) = 2^n (1 + r + rest), with 2^n in two factors whose product may leave the range;
// |x| < 1000 or NaN, the tail below x's last bit.
struct ExpParts {
  double r, rest, first, second;
};
PJRT_INLINE ExpParts SplitExp(double x, double tail = 0) {
  const wide::Rounded n = wide::Round(x * 0x1.71547652b82fep+0);
  const double high = MulAdd(n.value, -kLn2High, x);
  const double low = n.value * kLn2Low - tail;
  const double r = high - low;
  const double lost = (high - r) - low;  // what rounding r lost
  const double rest_of_power = MulAdd(r * r, ExpSeries(r), lost);
  const wide::Rounded half = wide::Round(n.value * 0.5);
  const wide::Rounded rest = wide::Round(n.value - half.value);
  return {r, rest_of_power, BitCast<double>((half.bits + 1023) << 52),
          BitCast<double>((rest.bits + 1023) << 52)};
}
PJRT_INLINE double ExpInside(double x) {
  const ExpParts e = SplitExp(x);
  return (1 + (e.r + e.rest)) * e.first * e.second;
}

// exp(x) for |x| < 700, without what rounding r loses.
PJRT_INLINE double ExpOfModerate(double x) {
  const wide::Rounded n = wide::Round(x * 0x1.71547652b82fep+0);
  const double r = MulAdd(n.value, -kLn2Low, MulAdd(n.value, -kLn2High, x));
  const double part = MulAdd(r * r, ExpSeries(r), r);
  return (1 + part) * BitCast<double>((n.bits + 1023) << 52);
}

// Below this exp(x) is 0. Products that underflow take a hundred times as long as others, so none
// is formed there.
constexpr double kExpVanishes = -745.14;

struct Exp {
  PJRT_INLINE double Run(double x) {
    const uint64_t keep = x < kExpVanishes ? 0 : ~uint64_t{0};
    const double kept = BitCast<double>(ToBits(x) & keep);
    const double power = kept > 710 ? wide::kInfinity : ExpInside(kept);
    return BitCast<double>(ToBits(power) & keep);
  }
};

struct Expm1 {
  PJRT_INLINE double Run(double x) {
    const ExpParts e = SplitExp(x < -50 ? -50 : x);
    // (2^n - 1) + 2^n r, with what the sum loses: for n = 0 nothing, else the first term is the
    // larger.
    const double scale = e.first * e.second;
    const double base = scale - 1, linear = scale * e.r;
    const double sum = base + linear;
    const double lost = (base - sum) + linear;
    const double inside = sum + MulAdd(scale, e.rest, lost);
    const double outside = (1 + (e.r + e.rest)) * e.first * e.second;  // where 2^n is too large
    const double result = scale < wide::kInfinity ? inside : outside;
    return wide::CopySign(x > 710 ? wide::kInfinity : result, x);
  }
};

// An angle as r + tail + quadrant * pi/2, |r| <= pi/4.
struct Angle {
  double r, tail;
  uint64_t quadrant;
};

// pi/2 in four parts. Products of the first three with 20 bits are exact, and what their
// subtraction rounds away is kept: numbers as near to a multiple of pi/2 as 2^-60 keep all their
// digits.
PJRT_INLINE Angle ReduceAngle(double x) {
  constexpr double kPart1 = 0x1.921fb544p+0, kPart2 = 0x1.0b4611a6p-34, kPart3 = 0x1.3198a2ep-69,
                   kPart4 = 0x1.b839a252049c1p-104;
  const wide::Rounded q = wide::Round(x * 0x1.45f306dc9c883p-1);
  const double a = x - q.value * kPart1;  // exact
  const double b = q.value * kPart2;
  const double ab = a - b;
  const double b_seen = a - ab;
  const double ab_lost = (a - (ab + b_seen)) + (b_seen - b);
  const double c = q.value * kPart3;
  const double abc = ab - c;
  const double c_seen = ab - abc;
  const double abc_lost = (ab - (abc + c_seen)) + (c_seen - c);
  const double low = (ab_lost + abc_lost) - q.value * kPart4;
  const double r = abc + low;
  return {r, (abc - r) + low, q.bits};
}

// sin(r + tail), to 2^-58.
PJRT_INLINE Pair SinOf(double r, double tail) {
  const double s = r * r;
  double p = 0x1.5d9314b9aca38p-33;
  p = MulAdd(p, s, -0x1.ae5e667cf3ef8p-26);
  p = MulAdd(p, s, 0x1.71de357809cbbp-19);
  p = MulAdd(p, s, -0x1.a01a019c11f91p-13);
  p = MulAdd(p, s, 0x1.111111110f87dp-7);
  p = MulAdd(p, s, -0x1.5555555555549p-3);
  // The derivative of sine, 1 - s/2 + ..., times the tail.
  return Sum(r, MulAdd(r * s, p, tail - 0.5 * s * tail));
}
// cos(r + tail), to 2^-58; 1 - s/2 with what its rounding loses.
PJRT_INLINE Pair CosOf(double r, double tail) {
  const double s = r * r;
  double p = -0x1.8faeb4d595a9bp-37;
  p = MulAdd(p, s, 0x1.1ee9ec16ceeebp-29);
  p = MulAdd(p, s, -0x1.27e4f80a31887p-22);
  p = MulAdd(p, s, 0x1.a01a019cb2143p-16);
  p = MulAdd(p, s, -0x1.6c16c16c15181p-10);
  p = MulAdd(p, s, 0x1.555555555554cp-5);
  const double half = 0.5 * s;
  const double most = 1 - half;
  return Sum(most, ((1 - most) - half) + MulAdd(s * s, p, -r * tail));
}

struct Sin {
  static constexpr double kLargest = 0x1p+20;
  PJRT_INLINE int IsRare(double x) { return wide::Abs(x) > kLargest; }
  PJRT_INLINE double RunRare(double x) { return __builtin_sin(x); }
  PJRT_INLINE double Value(Angle angle) {
    const double sine = SinOf(angle.r, angle.tail).high;
    const double cosine = CosOf(angle.r, angle.tail).high;
    const double value = (angle.quadrant & 1) != 0 ? cosine : sine;
    return BitCast<double>(ToBits(value) ^ ((angle.quadrant & 2) << 62));
  }
  // The polynomial would turn -0 into +0.
  PJRT_INLINE double Run(double x) { return x == 0 ? x : Value(ReduceAngle(x)); }
};
struct Cos {
  PJRT_INLINE int IsRare(double x) { return Sin::IsRare(x); }
  PJRT_INLINE double RunRare(double x) { return __builtin_cos(x); }
  PJRT_INLINE double Run(double x) {
    const Angle angle = ReduceAngle(x);
    return Sin::Value({angle.r, angle.tail, angle.quadrant + 1});
  }
};

struct Tan {
  PJRT_INLINE int IsRare(double x) { return Sin::IsRare(x); }
  PJRT_INLINE double RunRare(double x) { return __builtin_tan(x); }
  PJRT_INLINE double Run(double x) {
    const Angle angle = ReduceAngle(x);
    const Pair sine = SinOf(angle.r, angle.tail), cosine = CosOf(angle.r, angle.tail);
    const bool odd = (angle.quadrant & 1) != 0;
    const Pair divisor = Choose(odd, sine, cosine);
    const double tangent = Quotient(Choose(odd, cosine, sine), divisor, 1 / divisor.high);
    return x == 0 ? x : odd ? -tangent : tangent;
  }
};

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::f64

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_MATH_F64_INL_H_
