// SPDX-License-Identifier: Apache-2.0
//
// Functions computed in f64 for results in f32. An approximation good to 2^-34 or better, rounded
// once, is within 0.51 ULP; denormals, on either side, need no care. Everything is free of branches
// and of 64-bit instructions that AVX2 lacks, so that the loops around it vectorise.
//
// Polynomials are minimax for relative error. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_MATH_WIDE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_MATH_WIDE_INL_H_

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::wide {

constexpr double kInfinity = __builtin_inf();
constexpr double kNan = __builtin_nan("");
constexpr uint64_t kSign = uint64_t{1} << 63;
constexpr double kPi = 0x1.921fb54442d18p+1, kHalfPi = 0x1.921fb54442d18p+0;

PJRT_INLINE double Abs(double x) { return BitCast<double>(ToBits(x) & ~kSign); }
// The magnitude of x with the sign of y.
PJRT_INLINE double CopySign(double x, double y) {
  return BitCast<double>((ToBits(x) & ~kSign) | (ToBits(y) & kSign));
}
// `chosen` ? a : b, for conditions from which compilers would make a branch.
PJRT_INLINE double Choose(bool chosen, double a, double b) {
  const uint64_t mask = uint64_t{0} - static_cast<uint64_t>(chosen);
  return BitCast<double>((ToBits(a) & mask) | (ToBits(b) & ~mask));
}
// This one also where compilers would compute all that follows a second time, for the constant that
// a or b is.
PJRT_INLINE float Choose(bool chosen, float a, float b) {
  const uint32_t mask = uint32_t{0} - static_cast<uint32_t>(chosen);
  return BitCast<float>((ToBits(a) & mask) | (ToBits(b) & ~mask));
}
// NaN stays.
PJRT_INLINE double Bound(double x, double low, double high) {
  const double raised = x < low ? low : x;
  return raised > high ? high : raised;
}

// a * b + c with the product exact, for what roundings lost.
PJRT_INLINE float ExactMulAdd(float a, float b, float c) {
#if defined(__FMA__) || defined(__aarch64__)
  return __builtin_fmaf(a, b, c);
#else
  return static_cast<float>(double{a} * b + c);
#endif
}

// The nearest integer of a number below 2^51: as a number, and modulo 2^51 in the low bits of
// `bits`.
struct Rounded {
  double value;
  uint64_t bits;
};
constexpr double kShift = 0x1.8p+52;
PJRT_INLINE Rounded RoundShifted(double shifted) { return {shifted - kShift, ToBits(shifted)}; }
PJRT_INLINE Rounded Round(double x) { return RoundShifted(x + kShift); }
// The same of x * factor.
PJRT_INLINE Rounded Round(double x, double factor) {
  return RoundShifted(MulAdd(x, factor, kShift));
}

// exp(x) - 1 = scale * (1 + part) - 1 with scale a power of two; |x| < 700.
struct ExpParts {
  double scale, part;
};
PJRT_INLINE ExpParts SplitExp(double x) {
  constexpr double kLog2E = 0x1.71547652b82fep+0, kLn2 = 0x1.62e42fefa39efp-1;
  const Rounded n = Round(x, kLog2E);
  const double r = MulAdd(n.value, -kLn2, x);
  // (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2, to 2^-37.
  const double r2 = r * r;
  const double p01 = MulAdd(r, 0x1.55555573874c8p-3, 0x1.fffffffff45afp-2);
  const double p23 = MulAdd(r, 0x1.1110b1c42ba74p-7, 0x1.5555557d02340p-5);
  const double p45 = MulAdd(r, 0x1.a16ff0dd0ee4fp-13, 0x1.6c1638b5163e7p-10);
  const double p456 = MulAdd(r2, 0x1.a1757aa4b2d00p-16, p45);
  const double p = MulAdd(r2, MulAdd(r2, p456, p23), p01);
  const double scale = BitCast<double>((n.bits + 1023) << 52);
  return {scale, MulAdd(r2, p, r)};
}
PJRT_INLINE double Exp(double x) {
  const ExpParts e = SplitExp(x);
  return MulAdd(e.scale, e.part, e.scale);
}
PJRT_INLINE double Expm1(double x) {
  const ExpParts e = SplitExp(x);
  return MulAdd(e.scale, e.part, e.scale - 1);
}

// log(x + tail), for a normal x > 0 and a tail below x's last bit; to 2^-44.
PJRT_INLINE double LogOfNormal(double x, double tail) {
  constexpr uint64_t kSqrtHalf = 0x3fe6a09e667f3bcd, kOne = 0x3ff0000000000000;
  constexpr double kLn2 = 0x1.62e42fefa39efp-1;
  // x = 2^k * m with m in [sqrt(1/2), sqrt(2)).
  const uint64_t lifted = ToBits(x) + (kOne - kSqrtHalf);
  const double k = BitCast<double>((lifted >> 52) | 0x4330000000000000) - (0x1p+52 + 1023);
  const double m = BitCast<double>((lifted & 0x000fffffffffffff) + kSqrtHalf);
  // log(m) = 2 artanh(f / (2 + f)), f = m - 1. The tail only matters where k is 0.
  const double f = (m - 1) + (k == 0 ? tail : 0);
  const double t = f / (2 + f);
  const double s = t * t;
  double p = 0x1.9115929d9f797p-3;
  p = MulAdd(p, s, 0x1.c62b146f1aafdp-3);
  p = MulAdd(p, s, 0x1.249411eec0a52p-2);
  p = MulAdd(p, s, 0x1.999996a948d40p-2);
  p = MulAdd(p, s, 0x1.555555561e43fp-1);
  return MulAdd(k, kLn2, MulAdd(t * s, p, 2 * t));
}
// What the logarithm of x is where x is not a positive finite number; `log` elsewhere.
PJRT_INLINE double LogSpecials(double x, double log) {
  const double at_most_zero = x == 0 ? -kInfinity : kNan;
  const double above = x < kInfinity ? log : kInfinity;
  return x > 0 ? above : at_most_zero;
}
// x from an f32 number.
PJRT_INLINE double Log(double x) { return LogSpecials(x, LogOfNormal(x, 0)); }

// sin(r) and cos(r) for |r| <= pi/4, to 2^-37 and 2^-43.
PJRT_INLINE double SinPolynomial(double r) {
  const double s = r * r;
  double p = 0x1.6cd738808ecf5p-19;
  p = MulAdd(p, s, -0x1.a00f98ff5e247p-13);
  p = MulAdd(p, s, 0x1.111108909a170p-7);
  p = MulAdd(p, s, -0x1.5555554cb2377p-3);
  return r * MulAdd(p, s, 1.0);
}
PJRT_INLINE double CosTerms(double s) {
  double p = -0x1.23d70db65ef70p-22;
  p = MulAdd(p, s, 0x1.a00f0c5d35815p-16);
  p = MulAdd(p, s, -0x1.6c16b3f6d20ccp-10);
  p = MulAdd(p, s, 0x1.55555546e6ccap-5);
  p = MulAdd(p, s, -0x1.ffffffffebe56p-2);
  return p;
}
PJRT_INLINE double CosPolynomial(double r) {
  const double s = r * r;
  return MulAdd(CosTerms(s), s, 1.0);
}
// cos(r) - 1 to 2^-36 of it.
PJRT_INLINE double CosLessOne(double r) {
  const double s = r * r;
  return CosTerms(s) * s;
}

// An angle as r + quadrant * pi/2 with |r| <= pi/4; the quadrant modulo 4 in the low bits.
struct Angle {
  double r;
  uint64_t quadrant;
};
// For |x| <= kLargestAngle; infinities and NaN give NaN.
constexpr float kLargestAngle = 0x1p+20f;
PJRT_INLINE Angle ReduceAngle(double x) {
  // pi/2 in two parts, the first short enough for exact products.
  constexpr double kHigh = 0x1.921fb544p+0, kLow = 0x1.0b4611a626331p-34;
  const Rounded q = Round(x, 0x1.45f306dc9c883p-1);
  return {MulAdd(q.value, -kLow, MulAdd(q.value, -kHigh, x)), q.bits};
}
PJRT_INLINE double SinOf(Angle angle) {
  const double sine = SinPolynomial(angle.r), cosine = CosPolynomial(angle.r);
  const double value = (angle.quadrant & 1) != 0 ? cosine : sine;
  return BitCast<double>(ToBits(value) ^ ((angle.quadrant & 2) << 62));
}
PJRT_INLINE double CosOf(Angle angle) { return SinOf({angle.r, angle.quadrant + 1}); }
PJRT_INLINE double TanOf(Angle angle) {
  const double sine = SinPolynomial(angle.r), cosine = CosPolynomial(angle.r);
  const bool odd = (angle.quadrant & 1) != 0;
  return (odd ? -cosine : sine) / (odd ? sine : cosine);
}

// arctan(t) for 0 <= t <= 1, to 2^-36.
PJRT_INLINE double AtanPolynomial(double t) {
  const double s = t * t;
  double p = 0x1.d702402447004p-12;
  p = MulAdd(p, s, -0x1.baa7d354e63b7p-9);
  p = MulAdd(p, s, 0x1.864c12e3e18e3p-7);
  p = MulAdd(p, s, -0x1.b633eaeab992cp-6);
  p = MulAdd(p, s, 0x1.6b73c8f7296b7p-5);
  p = MulAdd(p, s, -0x1.f1254f575e55ep-5);
  p = MulAdd(p, s, 0x1.33d46f0aa5d2cp-4);
  p = MulAdd(p, s, -0x1.72e40f6220399p-4);
  p = MulAdd(p, s, 0x1.c6eab9e34519ap-4);
  p = MulAdd(p, s, -0x1.2490574579cd3p-3);
  p = MulAdd(p, s, 0x1.999985ea37bcbp-3);
  p = MulAdd(p, s, -0x1.5555553270e54p-2);
  return MulAdd(t * s, p, t);
}
// The angle of (x, y), to 2^-36.
PJRT_INLINE double Atan2(double y, double x) {
  const double height = Abs(y), width = Abs(x);
  const bool steep = height > width;
  const double larger = steep ? height : width, smaller = steep ? width : height;
  const double ratio = larger == 0 ? 0.0 : smaller / larger;
  const double slope = smaller == kInfinity ? 1.0 : ratio;
  const double arc = AtanPolynomial(slope);
  const double from_x = steep ? kHalfPi - arc : arc;
  const double angle = (ToBits(x) & kSign) != 0 ? kPi - from_x : from_x;
  const bool undefined = (x != x) | (y != y);
  return undefined ? x + y : CopySign(angle, y);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::wide

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_MATH_WIDE_INL_H_
