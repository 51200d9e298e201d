// SPDX-License-Identifier: Apache-2.0
//
// Between floats narrower than 32 bits and f32, without branches, so that compilers vectorise loops
// of them. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_SMALL_FLOAT_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_SMALL_FLOAT_INL_H_

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

constexpr uint32_t kInfinityF32 = 0x7f800000u;

// The facts of a format of small_float.h that conversions need.
template <class Format>
struct Layout {
  using Storage = typename Format::Storage;
  static constexpr int kMantissa = Format::kMantissaBits;
  static constexpr int kBias = Format::kBias;
  static constexpr bool kIeee = Format::kSpecials == FloatSpecials::kIeee;
  static constexpr bool kNanOnly = Format::kSpecials == FloatSpecials::kNanOnly;
  static constexpr bool kUnsignedZero = Format::kSpecials == FloatSpecials::kUnsignedZero;
  static constexpr bool kFiniteOnly = Format::kSpecials == FloatSpecials::kFiniteOnly;
  static constexpr uint32_t kSign = 1u << (Format::kBits - 1);
  static constexpr uint32_t kMagnitude = kSign - 1;
  static constexpr uint32_t kInfinity = kMagnitude & ~((1u << kMantissa) - 1);
  static constexpr uint32_t kMax = kIeee ? kInfinity - 1 : kNanOnly ? kMagnitude - 1 : kMagnitude;
  static constexpr uint32_t kNan = kIeee      ? kInfinity | (1u << (kMantissa - 1))
                                   : kNanOnly ? kMagnitude
                                              : kSign;
  // Denormals of the format are normal f32 numbers, in all formats but bfloat16, whose exponent is
  // f32's.
  static constexpr bool kSameExponent = Format::kExponentBits == 8;
};

template <class Format>
PJRT_INLINE float DecodeIeeeLike(uint32_t bits) {
  using L = Layout<Format>;
  if constexpr (L::kSameExponent) {
    return BitCast<float>(bits << (32 - Format::kBits));
  } else {
    const uint32_t sign = (bits & L::kSign) << (32 - Format::kBits);
    const uint32_t magnitude = bits & L::kMagnitude;
    const uint32_t shifted = magnitude << (23 - L::kMantissa);
    const uint32_t normal = shifted + (static_cast<uint32_t>(127 - L::kBias) << 23);
    // Denormals count units of the smallest one.
    constexpr float kUnit =
        __builtin_bit_cast(float, static_cast<uint32_t>(128 - L::kBias - L::kMantissa) << 23);
    const uint32_t denormal = ToBits(static_cast<float>(static_cast<int32_t>(magnitude)) * kUnit);
    uint32_t wide = magnitude < (1u << L::kMantissa) ? denormal : normal;
    if constexpr (L::kIeee) {
      const uint32_t quiet = magnitude > L::kInfinity ? 0x400000u : 0u;
      wide = magnitude >= L::kInfinity ? kInfinityF32 | shifted | quiet : wide;
    }
    if constexpr (L::kNanOnly) wide = magnitude == L::kMagnitude ? 0x7fc00000u : wide;
    wide |= sign;
    if constexpr (L::kUnsignedZero) {
      wide = (bits & (L::kSign | L::kMagnitude)) == L::kSign ? 0x7fc00000u : wide;
    }
    return BitCast<float>(wide);
  }
}

template <class Format>
PJRT_INLINE uint32_t EncodeIeeeLike(float x) {
  using L = Layout<Format>;
  constexpr int kShift = 23 - L::kMantissa;
  const uint32_t from = ToBits(x);
  const uint32_t magnitude = from & 0x7fffffffu;
  if constexpr (L::kSameExponent) {  // rounding carries into exponent and infinity
    const uint32_t carried = from + ((1u << (kShift - 1)) - 1) + ((from >> kShift) & 1);
    const uint32_t quiet = from | 0x400000u;
    return (magnitude > kInfinityF32 ? quiet : carried) >> kShift;
  }
  // Beyond the largest number comes, as if the format went on, the code of what overflows to. It is
  // also that of NaNs where there is one alone.
  constexpr uint32_t kLast = L::kFiniteOnly ? L::kMax : L::kMax + 1;
  constexpr uint32_t kFirstNormal = static_cast<uint32_t>(128 - L::kBias) << 23;
  constexpr uint32_t kLimit = kFirstNormal + ((kLast - (1u << L::kMantissa)) << kShift);
  // The processor rounds, in the sum with a power of two whose last bit is worth the last one of
  // the result, as that of its exponent or, for denormals, that of the first normal number.
  constexpr uint32_t kToSum = static_cast<uint32_t>(kShift) << 23;
  const uint32_t bounded = magnitude < kLimit ? magnitude : kLimit;
  const uint32_t exponent = (bounded & kInfinityF32) + kToSum;
  const uint32_t power = exponent > kFirstNormal + kToSum ? exponent : kFirstNormal + kToSum;
  const uint32_t digits = ToBits(BitCast<float>(bounded) + BitCast<float>(power)) - power;
  const uint32_t result = digits + (power >> kShift) - ((kFirstNormal + kToSum) >> kShift);
  const uint32_t sign = (from >> (32 - Format::kBits)) & L::kSign;
  if constexpr (L::kUnsignedZero) {
    return result | (result == 0 ? 0u : sign);
  } else if constexpr (L::kNanOnly) {
    return result | sign;
  } else {
    uint32_t nan = L::kNan;
    if constexpr (L::kIeee) nan |= sign | ((magnitude >> kShift) & ((1u << L::kMantissa) - 1));
    return magnitude > kInfinityF32 ? nan : result | sign;
  }
}

// One element of bf16 or f16 to f32 and back; f16 by instruction where there is one.
template <class Format>
PJRT_INLINE void LoadFloat(float* d, const uint16_t* s) {
#if defined(__F16C__)
  if constexpr (!Layout<Format>::kSameExponent) {
    *d = _cvtsh_ss(*s);
    return;
  }
#endif
  *d = DecodeIeeeLike<Format>(*s);
}
template <class Format>
PJRT_INLINE void StoreFloat(uint16_t* d, const float* s) {
#if defined(__F16C__)
  if constexpr (!Layout<Format>::kSameExponent) {
    *d = _cvtss_sh(*s, 0);  // to the nearest, ties to even
    return;
  }
#endif
  *d = static_cast<uint16_t>(EncodeIeeeLike<Format>(*s));
}

#if defined(__F16C__)
// A vector of numbers of f16, and of f32.
#if defined(__AVX512F__)
using Halves = __m256i;
using Singles = __m512;
PJRT_INLINE Singles SinglesOf(Halves x) { return _mm512_cvtph_ps(x); }
PJRT_INLINE Halves HalvesOf(Singles x) { return _mm512_cvtps_ph(x, 0); }
#else
using Halves = __m128i;
using Singles = __m256;
PJRT_INLINE Singles SinglesOf(Halves x) { return _mm256_cvtph_ps(x); }
PJRT_INLINE Halves HalvesOf(Singles x) { return _mm256_cvtps_ph(x, 0); }
#endif
constexpr int64_t kHalves = sizeof(Halves) / sizeof(uint16_t);
#endif

// The same for n of them.
template <class Format>
PJRT_INLINE void LoadFloats(float* d, const uint16_t* s, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (!Layout<Format>::kSameExponent) {
    for (; i + kHalves <= n; i += kHalves) {
      Halves halves;
      __builtin_memcpy(&halves, s + i, sizeof(halves));
      const Singles singles = SinglesOf(halves);
      __builtin_memcpy(d + i, &singles, sizeof(singles));
    }
  }
#endif
  PJRT_INDEPENDENT_ITERATIONS
  for (; i < n; ++i) LoadFloat<Format>(d + i, s + i);
}
template <class Format>
PJRT_INLINE void StoreFloats(uint16_t* d, const float* s, int64_t n) {
  int64_t i = 0;
#if defined(__F16C__)
  if constexpr (!Layout<Format>::kSameExponent) {
    for (; i + kHalves <= n; i += kHalves) {
      Singles singles;
      __builtin_memcpy(&singles, s + i, sizeof(singles));
      const Halves halves = HalvesOf(singles);
      __builtin_memcpy(d + i, &halves, sizeof(halves));
    }
  }
#endif
  PJRT_INDEPENDENT_ITERATIONS
  for (; i < n; ++i) StoreFloat<Format>(d + i, s + i);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_SMALL_FLOAT_INL_H_
