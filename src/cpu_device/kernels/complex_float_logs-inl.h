// SPDX-License-Identifier: Apache-2.0
//
// Logarithms and angles of c64 numbers by f32 numbers in two parts: what a rounding loses goes into
// the second one. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOAT_LOGS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOAT_LOGS_INL_H_

#include "src/cpu_device/kernels/complex_floats-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

struct FloatTable {
  alignas(64) float entry[16];
};
PJRT_INLINE Floats FetchFloats(const FloatTable& table, FloatBits places) {
  return FetchFloats(table.entry, places);
}
// ExponentOf: of a positive normal number. AtMost: of numbers without sign. ChooseOpposite: -a or
// b, and any zero for one of a.
#if defined(__AVX512F__)
PJRT_INLINE Floats ExponentOf(Floats x) { return _mm512_getexp_ps(x); }
PJRT_INLINE FloatMask AtMost(FloatBits a, FloatBits b) { return _mm512_cmple_epu32_mask(a, b); }
PJRT_INLINE Floats ChooseOpposite(FloatMask mask, Floats a, Floats b) {
  return _mm512_mask_sub_ps(b, mask, AllFloats(0), a);
}
#else
PJRT_INLINE Floats ExponentOf(Floats x) { return FromIntegers(BitsRight<23>(x)) - AllFloats(127); }
PJRT_INLINE FloatMask AtMost(FloatBits a, FloatBits b) {
  return (FloatMask)_mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a);
}
PJRT_INLINE Floats ChooseOpposite(FloatMask mask, Floats a, Floats b) {
  return Choose(mask, -a, b);
}
#endif
// Whether the bits of x, as an integer, are at least `least` and at most `most`, or not between.
PJRT_INLINE FloatMask IsBetween(Floats x, int least, int most) {
  return AtMost(Minus32((FloatBits)x, AllBits(least)), AllBits(most - least));
}
PJRT_INLINE FloatMask IsNotBetween(Floats x, int least, int most) {
  return AtMost(AllBits(most - least + 1), Minus32((FloatBits)x, AllBits(least)));
}
PJRT_INLINE int OtherLanes(FloatMask mask) { return Lanes(mask) ^ ((1 << kFloats) - 1); }

struct FloatPair {
  Floats high, low;
};
// Exact.
PJRT_INLINE FloatPair SumOf(Floats a, Floats b) {
  const Floats sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

// Half of an inverse c of 1 + i/16, with the exponent's bits of 1 added, and -log(2c) / 2. The
// logarithms are multiples of 2^-19, to 2^-35, those of the first and the last places to 2^-37.
constexpr FloatTable kHalfInverses = {
    {0x1p+126f, 0x1.e5ba34p+125f, 0x1.c7981ep+125f, 0x1.af44dap+125f, 0x1.99bcb4p+125f,
     0x1.87ab66p+125f, 0x1.74acaap+125f, 0x1.63439ap+125f, 0x1.53b316p+125f, 0x1.48328p+125f,
     0x1.3b6456p+125f, 0x1.2f5442p+125f, 0x1.245b24p+125f, 0x1.18c644p+125f, 0x1.116bcap+125f,
     0x1.07a648p+125f}};
constexpr FloatTable kHalfLogs = {{0, 0x1.af88p-6f, 0x1.de18p-5f, 0x1.5f6cp-4f, 0x1.c85p-4f,
                                   0x1.1256p-3f, 0x1.453ep-3f, 0x1.763cp-3f, 0x1.a41cp-3f,
                                   0x1.c762p-3f, 0x1.f023p-3f, 0x1.0c09p-2f, 0x1.1ee68p-2f,
                                   0x1.33988p-2f, 0x1.412fp-2f, 0x1.53d1p-2f}};
constexpr float kHalfLn2High = 0x1.62e4p-2f, kHalfLn2Low = 0x1.7f7d1cp-21f;
// (log(1 + 2h) / 2 - h) / h^2 for h from -0.0134 to 0.0189: with h^2 to 2^-30 of h.
constexpr float kHalfLogSeries[] = {0x1.9113ecp+1f, -0x1.001eecp+1f, 0x1.5555e8p+0f, -1};

// log(x) / 2 as high + low and log(1 + 2h) / 2 - h.
struct HalfLog {
  Floats high, low, h;
};
// Of sum + low.
PJRT_INLINE HalfLog StartHalfLog(Floats sum, Floats low) {
  const Floats lifted = (Floats)Minus32((FloatBits)sum, AllBits(-(1 << 18)));
  const FloatBits places = BitsRight<19>(lifted);
  const FloatBits exponent = (FloatBits)lifted & AllBits(0xff << 23);
  const Floats k = ExponentOf(lifted);
  const Floats inverse = (Floats)Minus32((FloatBits)FetchFloats(kHalfInverses, places), exponent);
  const Floats product = sum * inverse, product_low = Fused(sum, inverse, -product);
  const Floats h = product - AllFloats(0.5f), h_low = Fused(low, inverse, product_low);
  const Floats far = Fused(k, AllFloats(kHalfLn2High), FetchFloats(kHalfLogs, places));
  const Floats high = far + h, lost = h - (high - far);
  // About the derivative at h: exact at 0, and good to 2^-10 elsewhere.
  constexpr float kSlope = -1.96875f;
  const Floats slope = Fused(AllFloats(kSlope), product, AllFloats(1 - kSlope / 2));
  return {high, Fused(h_low, slope, Fused(k, AllFloats(kHalfLn2Low), lost)), h};
}
// What is so near 0 comes of sums near 1, which may not be exact enough; what is large, of sums
// beyond 2^89, for which `far` would not be exact, or of what is no number.
PJRT_INLINE FloatMask IsNearZero(const HalfLog& log) {
  return Compare<_CMP_LT_OQ>(Magnitude(log.high), AllFloats(0x1p-18f));
}
PJRT_INLINE FloatMask IsModerate(const HalfLog& log) {
  return Compare<_CMP_LE_OQ>(Magnitude(log.high), AllFloats(31));
}
PJRT_INLINE FloatMask IsModerateAndNotNearZero(const HalfLog& log) {
  return IsBetween(Magnitude(log.high), (127 - 18) << 23, 0x41f80000);
}

// large^2 + small^2.
struct SquareSum {
  Floats sum, low;
};
PJRT_INLINE SquareSum SumOfSquares(Floats large, Floats small) {
  const Floats most = large * large, most_low = Fused(large, large, -most);
  const Floats sum = Fused(small, small, most);
  return {sum, Fused(small, small, most - sum) + most_low};
}
// log(large^2 + small^2) / 2 near 1, where terms cancel: exact, but for the logarithm itself. What
// the second sum loses is 0 where it is not large beside the rest.
PJRT_INLINE HalfLog StartLogOfSizeNearOne(Floats large, Floats small) {
  const Floats most = large * large, most_low = Fused(large, large, -most);
  const Floats other = small * small, other_low = Fused(small, small, -other);
  const Floats sum = most + other, sum_lost = other - (sum - most), low = sum_lost + most_low;
  const Floats rest = other_low + (most_low - (low - sum_lost));
  const Floats half = AllFloats(0.5f), first = half * (sum - AllFloats(1)), second = half * low;
  const Floats both = first + second, lost = second - (both - first);
  const Floats h = Fused(half, rest, both);
  return {h, Fused(half, rest, both - h) + lost, h};
}
PJRT_INLINE HalfLog Choose(FloatMask mask, const HalfLog& a, const HalfLog& b) {
  return {Choose(mask, a.high, b.high), Choose(mask, a.low, b.low), Choose(mask, a.h, b.h)};
}
PJRT_INLINE Floats FinishHalfLog(const HalfLog& x) {
  return x.high + Fused(x.h * x.h, Polynomial(kHalfLogSeries, x.h), x.low);
}

// Angles. arctan(t) / t for t beside a place c near each fifteenth of [0, 1], to 2^-31, is that at
// c, which an f32 number is to 2^-33, and a polynomial of h = t - c times h.
constexpr FloatTable kAtanPlaces = {
    {0, 0x1.1110fap-4f, 0x1.11114ep-3f, 0x1.9997dp-3f, 0x1.1110f4p-2f, 0x1.555312p-2f,
     0x1.9998a2p-2f, 0x1.dddd82p-2f, 0x1.11112ep-1f, 0x1.3333b2p-1f, 0x1.5553dap-1f, 0x1.7779a4p-1f,
     0x1.999ac8p-1f, 0x1.bbbaaep-1f, 0x1.dddc5ap-1f, 0x1.fffe7cp-1f}};
constexpr FloatTable kAtanSlopes = {{1, 0x1.ff3e56p-1f, 0x1.fcff74p-1f, 0x1.f95536p-1f,
                                     0x1.f45b4cp-1f, 0x1.ee35bp-1f, 0x1.e70c7p-1f, 0x1.df0ae4p-1f,
                                     0x1.d65be2p-1f, 0x1.cd284ep-1f, 0x1.c3967p-1f, 0x1.b9c572p-1f,
                                     0x1.afd536p-1f, 0x1.a5dd3p-1f, 0x1.9bf0ap-1f, 0x1.922024p-1f}};
constexpr FloatTable kAtanSeries[] = {
    {{0x1.988902p-3f, 0x1.860008p-3f, 0x1.4f9706p-3f, 0x1.00cdcep-3f, 0x1.4b326p-4f, 0x1.2cba58p-5f,
      -0x1.259808p-9f, -0x1.11741cp-5f, -0x1.c0250cp-5f, -0x1.15d60ep-4f, -0x1.2da6d8p-4f,
      -0x1.2b2a92p-4f, -0x1.1d5c62p-4f, -0x1.022c46p-4f, -0x1.c852c6p-5f, -0x1.8b925ap-5f}},
    {{0x1.0bfc0cp-16f, 0x1.ad6e68p-5f, 0x1.99a258p-4f, 0x1.1c4ffap-3f, 0x1.54d34p-3f, 0x1.74cep-3f,
      0x1.7dd504p-3f, 0x1.73aee6p-3f, 0x1.5b27cp-3f, 0x1.3942b6p-3f, 0x1.126f5cp-3f, 0x1.d47086p-4f,
      0x1.8659dap-4f, 0x1.3dd94ap-4f, 0x1.fa3378p-5f, 0x1.88e4b2p-5f}},
    {{-0x1.55555ep-2f, -0x1.4fea4p-2f, -0x1.4029dcp-2f, -0x1.277ffp-2f, -0x1.08003cp-2f,
      -0x1.c82bd8p-3f, -0x1.7c47fcp-3f, -0x1.309828p-3f, -0x1.d0f414p-4f, -0x1.4c9584p-4f,
      -0x1.ade5ap-5f, -0x1.c4b9eap-6f, -0x1.b66f6ep-8f, 0x1.5a1e7ep-7f, 0x1.90cad6p-6f,
      0x1.21f824p-5f}},
    {{0, -0x1.6a27dap-5f, -0x1.6477cap-4f, -0x1.047ea4p-3f, -0x1.4f394ep-3f, -0x1.90e5f4p-3f,
      -0x1.c8af86p-3f, -0x1.f6529ap-3f, -0x1.0d097p-2f, -0x1.1a4abap-2f, -0x1.235f46p-2f,
      -0x1.28cc68p-2f, -0x1.2b190cp-2f, -0x1.2acb16p-2f, -0x1.285dcap-2f, -0x1.243fa2p-2f}}};

// arctan(t - excess) + base, with what base lacks: it is 0 or pi/2 or pi, with a sign.
struct FloatAngle {
  Floats t, excess, base;
};
// Zeros keep their signs, to which end pi is rounded down.
constexpr float kPiHigh = 0x1.921fb4p+1f, kPiLow = 0x1.4442d2p-23f;
PJRT_INLINE Floats FinishAngle(const FloatAngle& x) {
  const Floats size = Magnitude(x.t);
  const FloatBits places = (FloatBits)Fused(size, AllFloats(15), AllFloats(0x1.8p+23f));
  const Floats slope = FetchFloats(kAtanSlopes, places),
               h = size - FetchFloats(kAtanPlaces, places);
  const Floats first = FetchFloats(kAtanSeries[3], places);
  Floats p = FetchFloats(kAtanSeries[0], places);
  p = Fused(p, h, FetchFloats(kAtanSeries[1], places));
  p = Fused(p, h, FetchFloats(kAtanSeries[2], places));
  p = Fused(p, h, first);
  const Floats high = Fused(slope, x.t, x.base), lost = Fused(slope, x.t, -(high - x.base));
  const Floats low = Fused(x.base, AllFloats(kPiLow / kPiHigh), Fused(x.t * h, p, lost));
  return high + FusedLess(x.excess, Fused(size, first, slope), low);
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOAT_LOGS_INL_H_
