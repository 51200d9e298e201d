// SPDX-License-Identifier: Apache-2.0
//
// Exponentials, sines and cosines of f32 vectors as numbers in two parts, of which the second makes
// good what the first one's rounding lost. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_PAIRS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_PAIRS_INL_H_

#include "src/cpu_device/kernels/complex_float_tables-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// AnyAbove: whether any is, without signs. Alternate: `re` for real parts and `im` for others of
// numbers as they are in memory.
#if defined(__AVX512F__)
PJRT_INLINE FloatBits Larger32(FloatBits a, FloatBits b) { return _mm512_max_epu32(a, b); }
PJRT_INLINE FloatBits Smaller32(FloatBits a, FloatBits b) { return _mm512_min_epu32(a, b); }
PJRT_INLINE bool AnyAbove(FloatBits x, FloatBits bound) {
  return _mm512_cmpgt_epu32_mask(x, bound) != 0;
}
PJRT_INLINE FloatBits Alternate(uint32_t re, uint32_t im) {
  return _mm512_set1_epi64(static_cast<int64_t>(uint64_t{im} << 32 | re));
}
PJRT_INLINE Floats LoadFloats(const float* from) { return _mm512_loadu_ps(from); }
#else
PJRT_INLINE FloatBits Larger32(FloatBits a, FloatBits b) { return _mm256_max_epu32(a, b); }
PJRT_INLINE FloatBits Smaller32(FloatBits a, FloatBits b) { return _mm256_min_epu32(a, b); }
PJRT_INLINE bool AnyAbove(FloatBits x, FloatBits bound) {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(Larger32(x, bound), bound)) != -1;
}
PJRT_INLINE FloatBits Alternate(uint32_t re, uint32_t im) {
  return _mm256_set1_epi64x(static_cast<int64_t>(uint64_t{im} << 32 | re));
}
PJRT_INLINE Floats LoadFloats(const float* from) { return _mm256_loadu_ps(from); }
#endif

// high - less, where `less` may be as large as some hundredths of `high`. It is 0, not -0, beside a
// zero, which so keeps its sign.
struct Pair {
  Floats high, less;
};
// The product, rounded once. b is not 0.
PJRT_INLINE Floats Product(Pair a, Pair b) {
  const Floats less = Fused(a.high, b.less, a.less * (b.high - b.less));
  return Fused(a.high, b.high, -less);
}
// The same of any two.
PJRT_INLINE Floats ProductOrZero(Pair a, Pair b) {
  const Floats less = Fused(a.high, b.less, a.less * (b.high - b.less)) + AllFloats(0);
  return Fused(a.high, b.high, -less);
}

constexpr FloatColumns<3, kAngleEntries> kAngleTable = MakeFloatAngles(1);

// An angle less r - low is one of kAngleTable with these sine and cosine.
struct FloatAngle {
  Floats sine, cosine, r, low;
};
constexpr float kLargestFloatAngle = 2048;
PJRT_INLINE FloatAngle ReduceAngle(Floats y) {
  // pi/16 in three parts, with exact products and differences of the first two.
  const Floats shift = AllFloats(kFloatShift), step = AllFloats(0x1.444p-27f);
  const Floats shifted = Fused(y, AllFloats(0x1.45f306p+2f), shift), n = shifted - shift;
  const FloatEntries<3> place = FetchAngle<kAngleTable>((FloatBits)shifted);
  const Floats near = FusedLess(n, AllFloats(0x1.921fb4p-3f), y) - place[0];
  const Floats r = FusedLess(n, step, near);
  return {place[1], place[2], r, Fused(n, AllFloats(0x1.68c234p-42f), Fused(n, step, r - near))};
}

// r - sin(r + low) and 1 - cos(r) for |r| <= 0.1003, to 2^-40 and 2^-33.
struct SmallAngle {
  Floats sine_less, cosine_less;
};
PJRT_INLINE SmallAngle SmallAngleOf(const FloatAngle& angle) {
  constexpr float kSine[] = {-0x1.10f8a6p-7f, 0x1.555554p-3f};
  constexpr float kCosine[] = {-0x1.552c5ap-5f, 0x1.fffffcp-2f};
  const Floats r = angle.r, square = r * r;
  return {Fused(r * square, Polynomial(kSine, square), angle.low),
          square * Polynomial(kCosine, square)};
}
PJRT_INLINE Pair SineOf(const FloatAngle& angle, const SmallAngle& small) {
  const Floats s = angle.sine, c = angle.cosine, sine = Fused(c, angle.r, s);
  const Floats lost = FusedLess(c, angle.r, sine - s);
  return {sine, Fused(c, small.sine_less, Fused(s, small.cosine_less, lost))};
}
struct SineCosine {
  Pair sine, cosine;
};
PJRT_INLINE SineCosine SineCosineOf(const FloatAngle& angle) {
  const SmallAngle small = SmallAngleOf(angle);
  const Floats s = angle.sine, c = angle.cosine, cosine = FusedLess(s, angle.r, c);
  const Floats lost = Fused(s, angle.r, cosine - c);
  return {SineOf(angle, small),
          {cosine, FusedLess(s, small.sine_less, Fused(c, small.cosine_less, lost))}};
}

// 2^(i/16) to f32, as the bits of which i << 19 is taken away: with n << 19 added, the bits of
// 2^(n/16). And what the entries lost, over them.
struct PowerTables {
  alignas(64) float power[16], rest[16];
};
constexpr PowerTables kSixteenths = [] {
  PowerTables tables = {};
  for (int i = 0; i < 16; ++i) {
    const double power = kPowers.column[0].entry[i];
    const float high = static_cast<float>(power);
    tables.power[i] = __builtin_bit_cast(
        float, __builtin_bit_cast(uint32_t, high) - (static_cast<uint32_t>(i) << 19));
    tables.rest[i] = static_cast<float>((power - high) / high);
  }
  return tables;
}();

// exp(x) = power (1 + part)
struct FloatExp {
  Floats power, part;
};
constexpr float kLargestFloatExponent = 60;
PJRT_INLINE FloatExp ExpOf(Floats x) {
  const Floats shift = AllFloats(kFloatShift);
  const Floats shifted = Fused(x, AllFloats(0x1.715476p+4f), shift), n = shifted - shift;
  // log(2) / 16 in two parts, the first short enough for exact products.
  const Floats near = FusedLess(n, AllFloats(0x1.62e42ep-5f), x);
  const Floats r = FusedLess(n, AllFloats(0x1.efa39ep-29f), near);
  const Floats bits = FetchFloats(kSixteenths.power, (FloatBits)shifted);
  const Floats rest = FetchFloats(kSixteenths.rest, (FloatBits)shifted);
  // (exp(r) - 1) / r for |r| <= log(2) / 32, to 2^-24.
  constexpr float kSeries[] = {0x1.555606p-5f, 0x1.55572p-3f, 0.5f, 1};
  return {(Floats)Plus32((FloatBits)bits, BitsLeft<19>(shifted)),
          Fused(r, Polynomial(kSeries, r), rest)};
}

// Numbers beside each fourth whose hyperbolic sines and cosines are f32 numbers but for 2^-32.
constexpr FloatColumns<3, 32> kFourths = [] {
  constexpr float kRows[][3] = {{0, 0, 1},
                                {0x1.e9e11p-3f, 0x1.ee9064p-3f, 0x1.075bdp+0f},
                                {0x1.02c67cp-1f, 0x1.0def2cp-1f, 0x1.21664cp+0f},
                                {0x1.7f8566p-1f, 0x1.a46804p-1f, 0x1.4b3dfep+0f},
                                {0x1.014958p+0f, 0x1.2ed72ap+0f, 0x1.8c8ba8p+0f},
                                {0x1.3ff12p+0f, 0x1.99fb48p+0f, 0x1.e357ecp+0f},
                                {0x1.817ba4p+0f, 0x1.124bfp+1f, 0x1.2eb13cp+1f},
                                {0x1.bf352cp+0f, 0x1.64002p+1f, 0x1.7a5p+1f},
                                {0x1.002f46p+1f, 0x1.d0eefp+1f, 0x1.e23b36p+1f},
                                {0x1.2172a8p+1f, 0x1.2fb9fap+2f, 0x1.36656ap+2f},
                                {0x1.400eccp+1f, 0x1.8363eep+2f, 0x1.88a434p+2f},
                                {0x1.5f3af8p+1f, 0x1.ef816p+2f, 0x1.f39f16p+2f},
                                {0x1.7ebe0ap+1f, 0x1.3d6c08p+3f, 0x1.3f07eap+3f},
                                {0x1.9f9256p+1f, 0x1.9aa4fp+3f, 0x1.9be3a4p+3f},
                                {0x1.bfeda2p+1f, 0x1.08889p+4f, 0x1.090452p+4f},
                                {0x1.df6668p+1f, 0x1.52638ep+4f, 0x1.52c456p+4f},
                                {0x1.ff0d8p+1f, 0x1.b16ac6p+4f, 0x1.b1b65ap+4f},
                                {0x1.0f45e4p+2f, 0x1.153254p+5f, 0x1.154fep+5f},
                                {0x1.1ff5a2p+2f, 0x1.67cbdap+5f, 0x1.67e29ep+5f},
                                {0x1.3039ccp+2f, 0x1.cfefbep+5f, 0x1.d00166p+5f},
                                {0x1.3f6f2p+2f, 0x1.26331ap+6f, 0x1.263a1p+6f},
                                {0x1.5042ecp+2f, 0x1.7eae9ap+6f, 0x1.7eb3f4p+6f},
                                {0x1.6032dep+2f, 0x1.eae5cp+6f, 0x1.eae9ecp+6f},
                                {0x1.6fdf92p+2f, 0x1.3990f2p+7f, 0x1.399294p+7f},
                                {0x1.815fbcp+2f, 0x1.9c2e4ep+7f, 0x1.9c2f8cp+7f},
                                {0x1.9042bp+2f, 0x1.040fd4p+8f, 0x1.041052p+8f},
                                {0x1.a058e8p+2f, 0x1.4e613p+8f, 0x1.4e6192p+8f},
                                {0x1.aef462p+2f, 0x1.a41c3ep+8f, 0x1.a41c8cp+8f},
                                {0x1.bfc038p+2f, 0x1.1117c6p+9f, 0x1.1117e4p+9f},
                                {0x1.ce02d2p+2f, 0x1.55410ap+9f, 0x1.554122p+9f},
                                {0x1.e069p+2f, 0x1.c6eaa4p+9f, 0x1.c6eab6p+9f},
                                {0x1.e7f534p+2f, 0x1.ffdb8ap+9f, 0x1.ffdb9ap+9f}};
  FloatColumns<3, 32> table = {};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 32; ++j) table.column[i][j] = kRows[j][i];
  }
  return table;
}();

// For |x| <= kLargestHyperbolic.
struct Hyperbolic {
  Pair sinh, cosh;  // of |x|
};
constexpr float kLargestHyperbolic = 7.75f;
PJRT_INLINE Hyperbolic HyperbolicOf(Floats size) {
  const FloatBits places = (FloatBits)Fused(size, AllFloats(4), AllFloats(kFloatShift));
  const FloatEntries<3> place = FetchEntries<kFourths>(places);
  const Floats r = size - place[0], square = r * r, s = place[1], c = place[2];
  // (sinh(r) - r) / r^3 and (cosh(r) - 1) / r^2 for |r| <= 0.157, to 2^-35 and 2^-30 of 1.
  constexpr float kSinh[] = {0x1.115116p-7f, 0x1.55554cp-3f};
  constexpr float kCosh[] = {0x1.55b9c2p-5f, 0x1.ffffe8p-2f};
  const Floats sinh_more = r * square * Polynomial(kSinh, square);
  const Floats cosh_more = square * Polynomial(kCosh, square);
  const Floats sinh = Fused(c, r, s), cosh = Fused(s, r, c);
  const Floats sinh_lost = FusedLess(c, r, sinh - s), cosh_lost = FusedLess(s, r, cosh - c);
  return {{sinh, FusedLess(c, sinh_more, FusedLess(s, cosh_more, sinh_lost))},
          {cosh, FusedLess(s, sinh_more, FusedLess(c, cosh_more, cosh_lost))}};
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_PAIRS_INL_H_
