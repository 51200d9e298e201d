// SPDX-License-Identifier: Apache-2.0
//
// Binary functions of Floats: remainders, and powers and angles of numbers of bf16, f16 and less.
// See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_POWER_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_POWER_INL_H_

#include "src/cpu_device/kernels/floats-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// The exponent of |x| as a number, also of a denormal; of 0 and infinity, -infinity and infinity.
// The mantissa of 0 and infinity is 1.
struct Normal {
  Floats exponent, mantissa;
};
#if defined(__AVX512F__)
PJRT_INLINE Normal NormalOf(Floats x) {
  return {_mm512_getexp_ps(Magnitude(x)),
          _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero)};
}
// `power` with the rules for the sign and for what does not exist.
PJRT_INLINE Floats WithSignOfPower(Floats power, Floats x, Floats y) {
  if (!Any(IsNegative(x))) return power;  // most are positive
  const __m512 whole = Nearest(y);
  const __mmask16 integer = _mm512_cmp_ps_mask(whole, y, _CMP_EQ_OQ);
  // Large numbers, which are even, have a last bit of 0 here as well.
  const __m512i odd = _mm512_maskz_slli_epi32(integer, _mm512_cvtps_epi32(y), 31);
  const __m512 result =
      (__m512)_mm512_ternarylogic_epi32((__m512i)power, (__m512i)x, odd, 0x78);  // a ^ (b & c)
  constexpr int kNegativeFinite = 0x40;
  const __mmask16 undefined =
      _mm512_mask_fpclass_ps_mask(static_cast<__mmask16>(~integer), x, kNegativeFinite);
  return _mm512_mask_mov_ps(result, undefined, All(__builtin_nanf("")));
}
#else
PJRT_INLINE Normal NormalOf(Floats x) {
  constexpr float kInfinity = __builtin_inff();
  const Floats size = Magnitude(x);
  const Floats denormal = Compare<_CMP_LT_OQ>(size, All(0x1p-126f));
  const Floats normal = Choose(denormal, size * All(0x1p+24f), size);
  const Floats exponent = _mm256_cvtepi32_ps(_mm256_srli_epi32((__m256i)normal, 23)) -
                          Choose(denormal, All(127 + 24), All(127));
  const Floats above = Choose(Compare<_CMP_LT_OQ>(size, All(kInfinity)), exponent, size);
  return {Choose(Compare<_CMP_EQ_OQ>(size, All(0)), All(-kInfinity), above),
          _mm256_or_ps(_mm256_andnot_ps(All(-kInfinity), normal), All(1))};
}
PJRT_INLINE Floats WithSignOfPower(Floats power, Floats x, Floats y) {
  if (!Any(IsNegative(x))) return power;
  const Floats whole = Nearest(y);
  const Floats integer = Compare<_CMP_EQ_OQ>(whole, y);
  const Floats odd = (Floats)_mm256_slli_epi32(_mm256_cvtps_epi32(y), 31);
  const Floats result = _mm256_xor_ps(power, _mm256_and_ps(_mm256_and_ps(integer, odd), x));
  const Floats undefined = _mm256_andnot_ps(
      integer,
      Both(Compare<_CMP_LT_OQ>(x, All(0)), Compare<_CMP_GT_OQ>(x, All(-__builtin_inff()))));
  return Choose(undefined, All(__builtin_nanf("")), result);
}
#endif

// What y log|x| leaves: 0 where x is 1 or -1 or y is 0, infinities and NaNs included.
PJRT_INLINE Floats KeepSome(Floats x, Floats y, Floats product) {
  const Mask one = Compare<_CMP_NEQ_UQ>(Magnitude(x), All(1));
  return Keep(Both(one, Compare<_CMP_NEQ_UQ>(y, All(0))), product);
}
// All NaNs are one: of two, compilers choose by place which one a product keeps.
PJRT_INLINE Floats WithRulesOfPower(Floats power, Floats x, Floats y) {
  const Floats result = WithSignOfPower(power, x, y);
  return Choose(Compare<_CMP_UNORD_Q>(result, result), All(__builtin_nanf("")), result);
}

// UsualNormalOf is NormalOf where x is a normal number; what else it serves, kOnlyUsual tells.
#if defined(__AVX512F__)
PJRT_INLINE Mask Either(Mask a, Mask b) { return a | b; }
PJRT_INLINE Floats AddedWhere(Mask mask, Floats x, Floats more) {
  return _mm512_mask_add_ps(x, mask, x, more);
}
constexpr bool kOnlyUsual = false;
PJRT_INLINE Normal UsualNormalOf(Floats x) {
  return {_mm512_getexp_ps(x), _mm512_getmant_ps(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero)};
}
// What the integer next to x leaves, x scaled by that of n, and whether one x is infinite or NaN.
PJRT_INLINE Floats LeftOf(Floats x) { return Fraction(x); }
PJRT_INLINE Floats ScaledNext(Floats x, Floats n, Floats left) { return Scaled(x, n - left); }
PJRT_INLINE Mask IsNoNumber(Floats x, Floats) { return _mm512_fpclass_ps_mask(x, 0x99); }
// `power` with the rules for the sign and for what does not exist, where x and y are numbers, and x
// is not 0.
PJRT_INLINE Floats WithSignOfUsualPower(Floats power, Floats x, Floats y) {
  const __mmask16 negative = IsNegative(x);
  if (!Any(negative)) return power;                                  // most are positive
  const __m512i odd = _mm512_slli_epi32(_mm512_cvtps_epi32(y), 31);  // large ones are even
  const __m512 result =
      (__m512)_mm512_ternarylogic_epi32((__m512i)power, (__m512i)x, odd, 0x78);  // a ^ (b & c)
  const __mmask16 undefined = _mm512_mask_cmp_ps_mask(negative, Nearest(y), y, _CMP_NEQ_UQ);
  return _mm512_mask_mov_ps(result, undefined, All(__builtin_nanf("")));
}
#else
PJRT_INLINE Mask Either(Mask a, Mask b) { return _mm256_or_ps(a, b); }
PJRT_INLINE Floats AddedWhere(Mask mask, Floats x, Floats more) { return x + Keep(mask, more); }
// NaN as the exponent of an x that is not normal.
constexpr bool kOnlyUsual = true;
PJRT_INLINE Normal UsualNormalOf(Floats x) {
  const __m256i size = (__m256i)Magnitude(x), one = (__m256i)All(1);
  const __m256i exponent = _mm256_srai_epi32(_mm256_sub_epi32(size, one), 23);
  const __m256i mantissa = _mm256_sub_epi32(size, _mm256_slli_epi32(exponent, 23));
  // Normal ones end below this, as integers with a sign.
  const __m256i moved = _mm256_add_epi32(size, _mm256_set1_epi32(0x7f800000));
  const __m256i other = _mm256_cmpgt_epi32(moved, _mm256_set1_epi32(-0x01000001));
  return {_mm256_or_ps(_mm256_cvtepi32_ps(exponent), (Floats)other), (Floats)mantissa};
}
PJRT_INLINE Floats LeftOf(Floats x) { return x - Nearest(x); }
PJRT_INLINE Floats ScaledNext(Floats x, Floats n, Floats) { return ScaledBy(IntegerOf(n), x, n); }
PJRT_INLINE Mask IsNoNumber(Floats, Floats left) { return Compare<_CMP_UNORD_Q>(left, left); }
PJRT_INLINE Floats WithSignOfUsualPower(Floats power, Floats x, Floats y) {
  if (!Any(IsNegative(x))) return power;
  const Floats odd = (Floats)_mm256_slli_epi32(_mm256_cvtps_epi32(y), 31);
  const Floats result = _mm256_xor_ps(power, _mm256_and_ps(odd, x));
  const Mask undefined = _mm256_and_ps(Compare<_CMP_NEQ_UQ>(Nearest(y), y), x);
  return Choose(undefined, All(__builtin_nanf("")), result);  // by the sign alone
}
#endif

// 2^(y log2|x|) for results that are rounded to f16 or less: relative error below 2^-17, and 2^-15
// where they are outside of f16's range. For x = 2^k m and the 16th part of [1, 2) in which m lies:
// 1 + r = m c, and c such that -log2(c) is within 2^-30 of a multiple of 2^-16, which k is added to
// without rounding. The last c, 1/2, makes numbers just below a power of two the same as those
// above it.
alignas(64) constexpr float kNarrowInverse[16] = {
    0x1p+0f,        0x1.d384dep-1f, 0x1.ba6bc8p-1f, 0x1.a4657ep-1f, 0x1.8fb8cep-1f, 0x1.7c270cp-1f,
    0x1.6b7b36p-1f, 0x1.5d6704p-1f, 0x1.4d82e4p-1f, 0x1.41109ep-1f, 0x1.345356p-1f, 0x1.29d684p-1f,
    0x1.1fae02p-1f, 0x1.15375ep-1f, 0x1.0d1882p-1f, 0x1p-1f};
alignas(64) constexpr float kNarrowLog[16] = {
    0x0p+0f,      0x1.0c88p-3f, 0x1.af9p-3f,  0x1.2338p-2f, 0x1.6db8p-2f, 0x1.b7ep-2f,
    0x1.fa2p-2f,  0x1.1a3ep-1f, 0x1.3cap-1f,  0x1.58b8p-1f, 0x1.76ap-1f,  0x1.903p-1f,
    0x1.a9d2p-1f, 0x1.c53p-1f,  0x1.db26p-1f, 0x1p+0f};
struct NarrowPower {
  PJRT_INLINE Floats Log(Normal x) {
    const Places part = PlacesOf<19>(x.mantissa);
    const Floats r = Fused(x.mantissa, Fetch(kNarrowInverse, part), All(-1));
    const Floats p =
        Polynomial({-0x1.600c88p-2f, 0x1.eca9b6p-2f, -0x1.71565ep-1f, 0x1.715476p+0f}, r);
    return Fused(r, p, x.exponent + Fetch(kNarrowLog, part));
  }
  // 2^product, to 2^-18.4, by what the next integer leaves.
  PJRT_INLINE Floats Exp(Floats left, Floats product) {
    const Floats power =
        Polynomial({0x1.3a02ccp-7f, 0x1.c9fc46p-5f, 0x1.ec0378p-3f, 0x1.62e12cp-1f, 1.0f}, left);
    return ScaledNext(power, product, left);
  }
  // y log2|x|, which may be wrong where it is infinite or NaN: RunAny is for that.
  using Half = Floats;
  PJRT_INLINE Half Begin(Floats x, Floats y) { return y * Log(UsualNormalOf(x)); }
  PJRT_INLINE Floats RunAny(Floats x, Floats y, Half product) {
    if (kOnlyUsual) product = y * Log(NormalOf(x));
    const bool zeros = !Any(Either(Compare<_CMP_UNORD_Q>(product, product), IsNegative(x)));
    const Floats some = zeros ? product : KeepSome(x, y, product);
    const Floats power = Exp(Smaller(Larger(LeftOf(some), All(-0.5f)), All(0.5f)), some);
    return zeros ? power : WithRulesOfPower(power, x, y);
  }
  PJRT_INLINE Floats End(Floats x, Floats y, Half product) {
    const Floats left = LeftOf(product);
    if (__builtin_expect(Any(IsNoNumber(product, left)), 0)) return RunAny(x, y, product);
    return WithSignOfUsualPower(Exp(left, product), x, y);
  }
};

// The angle of (x, y) for results that are rounded to f16 or less: relative error below 2^-19. With
// t = smaller / larger of |y| and |x|: arctan(t) = t + t^3 P(t^2), added to a multiple of pi/2 or
// subtracted from it.
struct NarrowAtan2 {
  PJRT_INLINE Floats Run(Floats y, Floats x) {
    const Floats height = Magnitude(y), width = Magnitude(x);
    const Floats larger = Larger(All(0x1p-149f), Larger(height, width));  // one of them keeps a NaN
    const Floats smaller = Smaller(width, height);
    const Mask equal = Compare<_CMP_EQ_OQ>(smaller, larger);  // infinities as well
    const Floats t = Choose(equal, All(1), smaller / larger);
    return AngleOf(t, Compare<_CMP_GT_OQ>(height, width), y, x);
  }
  PJRT_INLINE Floats AngleOf(Floats t, Mask steep, Floats y, Floats x) {
    const Floats s = t * t;
    const Floats p = Polynomial({0x1.09a026p-7f, -0x1.35a0b4p-5f, 0x1.5b81d6p-4f, -0x1.156478p-3f,
                                 0x1.978222p-3f, -0x1.5548a4p-2f},
                                s);
    const Floats arc = Turned(Fused(t * s, p, t), x);
    const Floats flat = AddedWhere(IsNegative(x), arc, All(0x1.921fb6p+1f));
    return WithSign(Choose(steep, All(0x1.921fb6p+0f) - arc, flat), y);
  }
#if defined(__AVX512F__)
  // Run for two vectors, which without NaNs, two zeros and two infinities take less.
  struct Two {
    Floats first, second;
  };
  PJRT_INLINE Two RunTwo(Floats y, Floats other_y, Floats x, Floats other_x) {
    constexpr int kSmaller = 0xa, kLarger = 0xb;  // in size, without a sign; a number for a NaN
    const Floats smaller = _mm512_range_ps(x, y, kSmaller);
    const Floats other_smaller = _mm512_range_ps(other_x, other_y, kSmaller);
    const Floats t = smaller / _mm512_range_ps(x, y, kLarger);
    const Floats other_t = other_smaller / _mm512_range_ps(other_x, other_y, kLarger);
    Mask usual = Compare<_CMP_ORD_Q>(t, other_t);
    usual = _mm512_mask_cmp_ps_mask(usual, x, y, _CMP_ORD_Q);
    usual = _mm512_mask_cmp_ps_mask(usual, other_x, other_y, _CMP_ORD_Q);
    if (__builtin_expect(usual != 0xffff, 0)) return {Run(y, x), Run(other_y, other_x)};
    const Mask steep = Compare<_CMP_GT_OQ>(Magnitude(y), smaller);
    const Mask other_steep = Compare<_CMP_GT_OQ>(Magnitude(other_y), other_smaller);
    return {AngleOf(t, steep, y, x), AngleOf(other_t, other_steep, other_y, other_x)};
  }
#endif
};

// x - trunc(x / y) y, exact while the quotient has no more than 24 bits. Rounding can make it one
// too large. Where it has more, y is first multiplied by powers of two: with AVX-512 8 ns an
// element for pairs of any bits, where the C library takes 130. Other pairs take 0.12, where f64
// took 0.41.
struct Remainder {
  PJRT_INLINE Floats Reduced(Floats x, Floats y, Floats quotient) {
    const Floats rest = FusedLess(Truncated(quotient), y, x);
    return Choose(Compare<_CMP_LT_OQ>(rest, All(0)), rest + y, rest);
  }
  PJRT_INLINE Floats Run(Floats dividend, Floats divisor) {
    const Floats x = Magnitude(dividend), y = Magnitude(divisor);
    Floats rest = x, quotient = x / y;
    while (__builtin_expect(Any(Compare<_CMP_GE_OQ>(quotient, All(0x1p+24f))), 0)) {
      const Floats shift = NormalOf(rest).exponent - NormalOf(y).exponent - All(23);
      const Floats multiple = Scaled(y, Larger(shift, All(0)));
      rest = Reduced(rest, multiple, rest / multiple);
      quotient = rest / y;
    }
    rest = Reduced(rest, y, quotient);
    return WithSign(Choose(Compare<_CMP_LT_OQ>(x, y), x, rest), dividend);  // y may be infinite
  }
};

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_POWER_INL_H_
