// SPDX-License-Identifier: Apache-2.0
//
// Vectors of the parts of c64 numbers, in f64, and tables for functions of them. See level-inl.h
// for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_VECTORS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_VECTORS_INL_H_

#include "src/cpu_device/kernels/doubles-inl.h"

#if defined(__AVX2__)
namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Elements stand in the order in which the parts of halves unpack.
struct Parts {
  Doubles re, im;
};
#if defined(__AVX512F__)
PJRT_INLINE Parts LoadParts(const C64* from) {
  const float* const x = &from->re;
  const Doubles low = _mm512_cvtps_pd(_mm256_loadu_ps(x));
  const Doubles high = _mm512_cvtps_pd(_mm256_loadu_ps(x + 8));
  return {_mm512_unpacklo_pd(low, high), _mm512_unpackhi_pd(low, high)};
}
PJRT_INLINE void StoreParts(C64* to, Parts z) {
  const __m512 raw = _mm512_permutex2var_ps(
      _mm512_castps256_ps512(_mm512_cvtpd_ps(z.re)),
      _mm512_setr_epi32(0, 16, 2, 18, 4, 20, 6, 22, 1, 17, 3, 19, 5, 21, 7, 23),
      _mm512_castps256_ps512(_mm512_cvtpd_ps(z.im)));
  _mm512_storeu_ps(&to->re, raw);
}
PJRT_INLINE void StoreReal(float* to, Doubles re) {
  const __m256i order = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
  _mm256_storeu_ps(to, _mm256_permutevar8x32_ps(_mm512_cvtpd_ps(re), order));
}
#else
PJRT_INLINE Parts LoadParts(const C64* from) {
  const float* const x = &from->re;
  const Doubles low = _mm256_cvtps_pd(_mm_loadu_ps(x)), high = _mm256_cvtps_pd(_mm_loadu_ps(x + 4));
  return {_mm256_unpacklo_pd(low, high), _mm256_unpackhi_pd(low, high)};
}
PJRT_INLINE void StoreParts(C64* to, Parts z) {
  const __m256 raw = _mm256_set_m128(_mm256_cvtpd_ps(_mm256_unpackhi_pd(z.re, z.im)),
                                     _mm256_cvtpd_ps(_mm256_unpacklo_pd(z.re, z.im)));
  _mm256_storeu_ps(&to->re, raw);
}
PJRT_INLINE void StoreReal(float* to, Doubles re) {
  const __m128 raw = _mm256_cvtpd_ps(re);
  _mm_storeu_ps(to, _mm_shuffle_ps(raw, raw, 0xd8));
}
#endif
PJRT_INLINE int64_t ElementOf(int64_t lane) { return lane / 2 + lane % 2 * (kDoubles / 2); }

// 2^(i/16), as the bits of which i << 48 is taken away: with n << 48 added, the bits of 2^(n/16).
// And 2^(-i/16) with the bits added, from which n << 48 is to be taken away.
constexpr Columns<2> MakePowerBits() {
  Columns<2> bits = {};
  for (uint64_t i = 0; i < 16; ++i) {
    const double power = kPowers.column[0].entry[i];
    const double inverse = i == 0 ? 1 : kPowers.column[0].entry[16 - i] / 2;
    const uint64_t up = __builtin_bit_cast(uint64_t, power) - (i << 48);
    const uint64_t down = __builtin_bit_cast(uint64_t, inverse) + (i << 48);
    bits.column[0].entry[i] = __builtin_bit_cast(double, up);
    bits.column[1].entry[i] = __builtin_bit_cast(double, down);
  }
  return bits;
}
constexpr Columns<2> kPowerBits = MakePowerBits();

// sin(i pi/8) and cos(i pi/8), with the zero that the sine of 0 is to be.
constexpr double kSine1 = 0x1.87de2a6aea963p-2, kSine2 = 0x1.6a09e667f3bcdp-1;
constexpr double kSine3 = 0x1.d906bcf328d46p-1;
constexpr Columns<2> MakeAngles(double zero) {
  return {{{{zero, kSine1, kSine2, kSine3, 1, kSine3, kSine2, kSine1, 0, -kSine1, -kSine2, -kSine3,
             -1, -kSine3, -kSine2, -kSine1}},
           {{1, kSine3, kSine2, kSine1, 0, -kSine1, -kSine2, -kSine3, -1, -kSine3, -kSine2, -kSine1,
             0, kSine1, kSine2, kSine3}}}};
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_VECTORS_INL_H_
