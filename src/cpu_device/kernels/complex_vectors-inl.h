// SPDX-License-Identifier: Apache-2.0
//
// Vectors of f64 for functions of c64 numbers, at the levels with fused multiply-add: the same
// results whatever the width. See level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_VECTORS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_VECTORS_INL_H_

// Of lanes that gcc's header leaves undefined, as in intrinsics-inl.h; gcc 12 says so of templates.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complex_vectors {

// Tables whose entries the last four or three bits of places choose.
using Table = double[16];
using Table8 = double[8];

#if defined(__AVX512F__)
using Doubles = __m512d;
using Mask = __mmask8;  // of each lane a bit
using Raw = __m512;     // complex numbers
PJRT_INLINE Doubles All(double x) { return _mm512_set1_pd(x); }
PJRT_INLINE Doubles Magnitude(Doubles x) { return _mm512_abs_pd(x); }
PJRT_INLINE Doubles Larger(Doubles a, Doubles b) { return _mm512_max_pd(a, b); }
PJRT_INLINE Doubles Smaller(Doubles a, Doubles b) { return _mm512_min_pd(a, b); }
PJRT_INLINE Doubles Fused(Doubles a, Doubles b, Doubles c) { return _mm512_fmadd_pd(a, b, c); }
PJRT_INLINE Doubles SquareRoot(Doubles x) { return _mm512_sqrt_pd(x); }
PJRT_INLINE Mask Below(Doubles a, Doubles b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
PJRT_INLINE Mask Equal(Doubles a, Doubles b) { return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ); }
PJRT_INLINE Mask Negative(Doubles x) { return _mm512_movepi64_mask((__m512i)x); }
// Lanes as bits: those of the mask, and those that are not positive finite numbers.
PJRT_INLINE unsigned LanesOf(Mask mask) { return mask; }
PJRT_INLINE unsigned NotPositive(Doubles x) { return _mm512_fpclass_pd_mask(x, 0xdf); }
// mask ? a : b
PJRT_INLINE Doubles Choose(Mask mask, Doubles a, Doubles b) {
  return _mm512_mask_mov_pd(b, mask, a);
}
PJRT_INLINE Doubles ZeroWhere(Mask mask, Doubles x) {
  return _mm512_maskz_mov_pd(static_cast<Mask>(~mask), x);
}
// mask ? -a : b
PJRT_INLINE Doubles MinusOr(Mask mask, Doubles a, Doubles b) {
  return (Doubles)_mm512_mask_xor_epi64((__m512i)b, mask, (__m512i)a, _mm512_set1_epi64(INT64_MIN));
}
// |a| with the sign of x, and a with its sign changed where x is negative.
PJRT_INLINE Doubles WithSign(Doubles a, Doubles x) {
  return (Doubles)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)x, _mm512_set1_epi64(INT64_MIN),
                                            0xd8);
}
PJRT_INLINE Doubles TimesSign(Doubles a, Doubles x) {
  return (Doubles)_mm512_ternarylogic_epi64((__m512i)a, (__m512i)x, _mm512_set1_epi64(INT64_MIN),
                                            0x78);
}
// Of bits as integers.
PJRT_INLINE Doubles PlusBits(Doubles a, Doubles b) {
  return (Doubles)_mm512_add_epi64((__m512i)a, (__m512i)b);
}
template <int kBits>
PJRT_INLINE Doubles ShiftLeft(Doubles x) {
  return (Doubles)_mm512_slli_epi64((__m512i)x, kBits);
}
template <int kBits>
PJRT_INLINE Doubles ShiftRight(Doubles x) {
  return (Doubles)_mm512_srli_epi64((__m512i)x, kBits);
}
PJRT_INLINE Doubles Fetch(const Table& table, Doubles places) {
  return _mm512_permutex2var_pd(_mm512_load_pd(table), (__m512i)places, _mm512_load_pd(table + 8));
}
PJRT_INLINE Doubles Fetch(const Table8& table, Doubles places) {
  return _mm512_permutexvar_pd((__m512i)places, _mm512_load_pd(table));
}
// Of a positive number: the mantissa is from 1 to 2.
PJRT_INLINE Doubles Mantissa(Doubles x) {
  return _mm512_getmant_pd(x, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_src);
}
PJRT_INLINE Doubles Exponent(Doubles x) { return _mm512_getexp_pd(x); }

PJRT_INLINE void Load(const C64* from, Doubles* re, Doubles* im) {
  const float* x = &from->re;
  const Doubles low = _mm512_cvtps_pd(_mm256_loadu_ps(x));
  const Doubles high = _mm512_cvtps_pd(_mm256_loadu_ps(x + 8));
  *re = _mm512_unpacklo_pd(low, high);
  *im = _mm512_unpackhi_pd(low, high);
}
PJRT_INLINE Raw Narrow(Doubles re, Doubles im) {
  return _mm512_permutex2var_ps(
      _mm512_castps256_ps512(_mm512_cvtpd_ps(re)),
      _mm512_setr_epi32(0, 16, 2, 18, 4, 20, 6, 22, 1, 17, 3, 19, 5, 21, 7, 23),
      _mm512_castps256_ps512(_mm512_cvtpd_ps(im)));
}
#else
using Doubles = __m256d;
using Mask = __m256d;  // of each lane the sign
using Raw = __m256;
PJRT_INLINE Doubles All(double x) { return _mm256_set1_pd(x); }
PJRT_INLINE Doubles Magnitude(Doubles x) { return _mm256_andnot_pd(All(-0.0), x); }
PJRT_INLINE Doubles Larger(Doubles a, Doubles b) { return _mm256_max_pd(a, b); }
PJRT_INLINE Doubles Smaller(Doubles a, Doubles b) { return _mm256_min_pd(a, b); }
PJRT_INLINE Doubles Fused(Doubles a, Doubles b, Doubles c) { return _mm256_fmadd_pd(a, b, c); }
PJRT_INLINE Doubles SquareRoot(Doubles x) { return _mm256_sqrt_pd(x); }
PJRT_INLINE Mask Below(Doubles a, Doubles b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
PJRT_INLINE Mask Equal(Doubles a, Doubles b) { return _mm256_cmp_pd(a, b, _CMP_EQ_OQ); }
PJRT_INLINE Mask Negative(Doubles x) { return x; }
PJRT_INLINE unsigned LanesOf(Mask mask) { return static_cast<unsigned>(_mm256_movemask_pd(mask)); }
PJRT_INLINE unsigned NotPositive(Doubles x) {
  return LanesOf(_mm256_and_pd(Below(All(0), x), Below(x, All(__builtin_inf())))) ^ 15;
}
PJRT_INLINE Doubles Choose(Mask mask, Doubles a, Doubles b) { return _mm256_blendv_pd(b, a, mask); }
PJRT_INLINE Doubles ZeroWhere(Mask mask, Doubles x) { return Choose(mask, All(0), x); }
PJRT_INLINE Doubles MinusOr(Mask mask, Doubles a, Doubles b) { return Choose(mask, -a, b); }
PJRT_INLINE Doubles WithSign(Doubles a, Doubles x) {
  return _mm256_or_pd(Magnitude(a), _mm256_and_pd(x, All(-0.0)));
}
PJRT_INLINE Doubles TimesSign(Doubles a, Doubles x) {
  return _mm256_xor_pd(a, _mm256_and_pd(x, All(-0.0)));
}
PJRT_INLINE Doubles PlusBits(Doubles a, Doubles b) {
  return (Doubles)_mm256_add_epi64((__m256i)a, (__m256i)b);
}
template <int kBits>
PJRT_INLINE Doubles ShiftLeft(Doubles x) {
  return (Doubles)_mm256_slli_epi64((__m256i)x, kBits);
}
template <int kBits>
PJRT_INLINE Doubles ShiftRight(Doubles x) {
  return (Doubles)_mm256_srli_epi64((__m256i)x, kBits);
}
template <int kPlaces>
PJRT_INLINE Doubles Fetch(const double (&table)[kPlaces], Doubles places) {
  const __m256i last = _mm256_and_si256((__m256i)places, _mm256_set1_epi64x(kPlaces - 1));
  return _mm256_i64gather_pd(table, last, sizeof(double));
}
PJRT_INLINE Doubles Mantissa(Doubles x) {
  const __m256i digits = _mm256_and_si256((__m256i)x, _mm256_set1_epi64x((int64_t{1} << 52) - 1));
  return (Doubles)_mm256_or_si256(digits, (__m256i)All(1));
}
PJRT_INLINE Doubles Exponent(Doubles x) {
  return _mm256_or_pd(ShiftRight<52>(x), All(0x1p+52)) - All(0x1p+52 + 1023);
}

PJRT_INLINE void Load(const C64* from, Doubles* re, Doubles* im) {
  const float* x = &from->re;
  const Doubles low = _mm256_cvtps_pd(_mm_loadu_ps(x)), high = _mm256_cvtps_pd(_mm_loadu_ps(x + 4));
  *re = _mm256_unpacklo_pd(low, high);
  *im = _mm256_unpackhi_pd(low, high);
}
PJRT_INLINE Raw Narrow(Doubles re, Doubles im) {
  return _mm256_set_m128(_mm256_cvtpd_ps(_mm256_unpackhi_pd(re, im)),
                         _mm256_cvtpd_ps(_mm256_unpacklo_pd(re, im)));
}
#endif

constexpr int kLanes = sizeof(Doubles) / sizeof(double);
// Lanes hold elements in the order in which the parts of halves unpack: 0, kLanes / 2, 1, ...
PJRT_INLINE int ElementOf(int lane) { return lane / 2 + lane % 2 * (kLanes / 2); }

struct Parts {
  Doubles re, im;
};
PJRT_INLINE Parts Load(const C64* from) {
  Parts parts;
  Load(from, &parts.re, &parts.im);
  return parts;
}
PJRT_INLINE void Store(C64* to, Parts z) {
  const Raw raw = Narrow(z.re, z.im);
  __builtin_memcpy(to, &raw, sizeof(raw));
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::complex_vectors
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_VECTORS_INL_H_
