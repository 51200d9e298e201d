// SPDX-License-Identifier: Apache-2.0
//
// Vectors of the parts of c64 numbers in f32, of twice as many elements as vectors of f64, for what
// f32 is enough for. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOATS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOATS_INL_H_

#include "src/cpu_device/kernels/complex_vectors-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// OfLargerSize, OfSmallerSize: with any sign; LargestSize, LeastSize: without one.
// FetchFloats(table, places): the entries that the last four bits of places choose. HalfOf<0>(x),
// HalfOf<1>(x): the elements of each half in f64; HalfAt: of a vector in memory; FromHalves: of
// both in f32.
#if defined(__AVX512F__)
using Floats = __m512;
using FloatMask = __mmask16;
PJRT_INLINE Floats AllFloats(float x) { return _mm512_set1_ps(x); }
PJRT_INLINE Floats Magnitude(Floats x) { return _mm512_abs_ps(x); }
PJRT_INLINE Floats Larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }
PJRT_INLINE Floats Smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }
constexpr int kOfSmaller = 2, kOfLarger = 3, kPositive = 2 << 2;  // of _mm512_range_ps
PJRT_INLINE Floats OfLargerSize(Floats a, Floats b) { return _mm512_range_ps(a, b, kOfLarger); }
PJRT_INLINE Floats OfSmallerSize(Floats a, Floats b) { return _mm512_range_ps(a, b, kOfSmaller); }
PJRT_INLINE Floats LargestSize(Floats a, Floats b) {
  return _mm512_range_ps(a, b, kOfLarger | kPositive);
}
PJRT_INLINE Floats LeastSize(Floats a, Floats b) {
  return _mm512_range_ps(a, b, kOfSmaller | kPositive);
}
PJRT_INLINE Floats Fused(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
PJRT_INLINE Floats FusedLess(Floats a, Floats b, Floats c) { return _mm512_fnmadd_ps(a, b, c); }
template <int kPredicate>
PJRT_INLINE FloatMask Compare(Floats a, Floats b) {
  return _mm512_cmp_ps_mask(a, b, kPredicate);
}
PJRT_INLINE FloatMask IsNegative(Floats x) { return _mm512_movepi32_mask((__m512i)x); }
PJRT_INLINE FloatMask Both(FloatMask a, FloatMask b) { return a & b; }
PJRT_INLINE FloatMask Either(FloatMask a, FloatMask b) { return a | b; }
PJRT_INLINE int Lanes(FloatMask mask) { return mask; }
PJRT_INLINE Floats Choose(FloatMask mask, Floats a, Floats b) {
  return _mm512_mask_mov_ps(b, mask, a);
}
PJRT_INLINE Floats WithSign(Floats size, Floats x) {
  return (Floats)_mm512_ternarylogic_epi32((__m512i)size, (__m512i)x, _mm512_set1_epi32(1 << 31),
                                           0xd8);
}
PJRT_INLINE FloatMask IsZeroOrNotFinite(Floats x) { return _mm512_fpclass_ps_mask(x, 0x9f); }
using FloatBits = __m512i;
PJRT_INLINE FloatBits AllBits(int x) { return _mm512_set1_epi32(x); }
PJRT_INLINE FloatBits Minus32(FloatBits a, FloatBits b) { return _mm512_sub_epi32(a, b); }
template <int kShift>
PJRT_INLINE FloatBits BitsRight(Floats x) {
  return _mm512_srli_epi32((__m512i)x, kShift);
}
template <int kShift>
PJRT_INLINE FloatBits BitsLeft(Floats x) {
  return _mm512_slli_epi32((__m512i)x, kShift);
}
PJRT_INLINE Floats FromIntegers(FloatBits x) { return _mm512_cvtepi32_ps(x); }
PJRT_INLINE Floats FetchFloats(const float (&table)[16], FloatBits places) {
  return _mm512_permutexvar_ps(places, _mm512_load_ps(table));
}
template <int kHalf>
PJRT_INLINE Doubles HalfOf(Floats x) {
  return _mm512_cvtps_pd(_mm512_extractf32x8_ps(x, kHalf));
}
template <int kHalf>
PJRT_INLINE Doubles HalfAt(const Floats* x) {
  return _mm512_cvtps_pd(_mm256_loadu_ps(reinterpret_cast<const float*>(x) + 8 * kHalf));
}
PJRT_INLINE Floats FromHalves(Doubles low, Doubles high) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}
#else
using Floats = __m256;
using FloatMask = __m256;
PJRT_INLINE Floats AllFloats(float x) { return _mm256_set1_ps(x); }
PJRT_INLINE Floats Magnitude(Floats x) { return _mm256_andnot_ps(AllFloats(-0.0f), x); }
PJRT_INLINE Floats Larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }
PJRT_INLINE Floats Smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }
PJRT_INLINE Floats OfLargerSize(Floats a, Floats b) { return Larger(Magnitude(a), Magnitude(b)); }
PJRT_INLINE Floats OfSmallerSize(Floats a, Floats b) { return Smaller(Magnitude(a), Magnitude(b)); }
PJRT_INLINE Floats LargestSize(Floats a, Floats b) { return Larger(Magnitude(b), Magnitude(a)); }
PJRT_INLINE Floats LeastSize(Floats a, Floats b) { return OfSmallerSize(a, b); }
PJRT_INLINE Floats Fused(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
PJRT_INLINE Floats FusedLess(Floats a, Floats b, Floats c) { return _mm256_fnmadd_ps(a, b, c); }
template <int kPredicate>
PJRT_INLINE FloatMask Compare(Floats a, Floats b) {
  return _mm256_cmp_ps(a, b, kPredicate);
}
PJRT_INLINE FloatMask IsNegative(Floats x) { return x; }
PJRT_INLINE FloatMask Both(FloatMask a, FloatMask b) { return _mm256_and_ps(a, b); }
PJRT_INLINE FloatMask Either(FloatMask a, FloatMask b) { return _mm256_or_ps(a, b); }
PJRT_INLINE int Lanes(FloatMask mask) { return _mm256_movemask_ps(mask); }
PJRT_INLINE Floats Choose(FloatMask mask, Floats a, Floats b) {
  return _mm256_blendv_ps(b, a, mask);
}
PJRT_INLINE Floats WithSign(Floats size, Floats x) {
  return _mm256_or_ps(Magnitude(size), _mm256_and_ps(x, AllFloats(-0.0f)));
}
PJRT_INLINE FloatMask IsZeroOrNotFinite(Floats x) {
  return Either(Compare<_CMP_EQ_OQ>(x, AllFloats(0)), Compare<_CMP_NEQ_UQ>(x - x, AllFloats(0)));
}
using FloatBits = __m256i;
PJRT_INLINE FloatBits AllBits(int x) { return _mm256_set1_epi32(x); }
PJRT_INLINE FloatBits Minus32(FloatBits a, FloatBits b) { return _mm256_sub_epi32(a, b); }
template <int kShift>
PJRT_INLINE FloatBits BitsRight(Floats x) {
  return _mm256_srli_epi32((__m256i)x, kShift);
}
template <int kShift>
PJRT_INLINE FloatBits BitsLeft(Floats x) {
  return _mm256_slli_epi32((__m256i)x, kShift);
}
PJRT_INLINE Floats FromIntegers(FloatBits x) { return _mm256_cvtepi32_ps(x); }
PJRT_INLINE Floats FetchFloats(const float (&table)[16], FloatBits places) {
  const Floats upper = (Floats)_mm256_slli_epi32(places, 28);
  return _mm256_blendv_ps(_mm256_permutevar8x32_ps(_mm256_load_ps(table), places),
                          _mm256_permutevar8x32_ps(_mm256_load_ps(table + 8), places), upper);
}
template <int kHalf>
PJRT_INLINE Doubles HalfOf(Floats x) {
  return _mm256_cvtps_pd(_mm256_extractf128_ps(x, kHalf));
}
template <int kHalf>
PJRT_INLINE Doubles HalfAt(const Floats* x) {
  return _mm256_cvtps_pd(_mm_loadu_ps(reinterpret_cast<const float*>(x) + 4 * kHalf));
}
PJRT_INLINE Floats FromHalves(Doubles low, Doubles high) {
  return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}
#endif

// The highest power comes first.
template <int kCount>
PJRT_INLINE Floats Polynomial(const float (&c)[kCount], Floats x) {
  Floats p = AllFloats(c[0]);
  for (int i = 1; i < kCount; ++i) p = Fused(p, x, AllFloats(c[i]));
  return p;
}

constexpr int64_t kFloats = sizeof(Floats) / sizeof(float);

// Elements stand in the order that is the cheapest to reach.
struct FloatParts {
  Floats re, im;
};
#if defined(__AVX512F__)
PJRT_INLINE FloatParts LoadFloatParts(const C64* from) {
  const Floats low = _mm512_loadu_ps(&from->re), high = _mm512_loadu_ps(&from->re + kFloats);
  return {_mm512_shuffle_ps(low, high, 0x88), _mm512_shuffle_ps(low, high, 0xdd)};
}
PJRT_INLINE void StoreFloatParts(C64* to, FloatParts z) {
  _mm512_storeu_ps(&to->re, _mm512_unpacklo_ps(z.re, z.im));
  _mm512_storeu_ps(&to->re + kFloats, _mm512_unpackhi_ps(z.re, z.im));
}
PJRT_INLINE void StoreReal(float* to, Floats re) {
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  _mm512_storeu_ps(to, (Floats)_mm512_permutexvar_epi64(order, (__m512i)re));
}
#else
PJRT_INLINE FloatParts LoadFloatParts(const C64* from) {
  const Floats low = _mm256_loadu_ps(&from->re), high = _mm256_loadu_ps(&from->re + kFloats);
  return {_mm256_shuffle_ps(low, high, 0x88), _mm256_shuffle_ps(low, high, 0xdd)};
}
PJRT_INLINE void StoreFloatParts(C64* to, FloatParts z) {
  _mm256_storeu_ps(&to->re, _mm256_unpacklo_ps(z.re, z.im));
  _mm256_storeu_ps(&to->re + kFloats, _mm256_unpackhi_ps(z.re, z.im));
}
PJRT_INLINE void StoreReal(float* to, Floats re) {
  _mm256_storeu_ps(to, (Floats)_mm256_permute4x64_epi64((__m256i)re, 0xd8));
}
#endif
PJRT_INLINE int64_t ElementOfFloats(int64_t lane) {
  return lane / 4 * 2 + lane % 2 + lane / 2 % 2 * kDoubles;
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_FLOATS_INL_H_
