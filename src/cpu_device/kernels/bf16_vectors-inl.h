// SPDX-License-Identifier: Apache-2.0
//
// Between bf16 in memory and vectors of f32, as BlockKernels::load, store and round_to. See
// level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_BF16_VECTORS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_BF16_VECTORS_INL_H_

#include "src/cpu_device/kernels/mask-inl.h"
#include "src/cpu_device/kernels/narrow-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::bf16 {

using Bits = Vector<uint32_t>;
constexpr int64_t kLanes = PJRT_VECTOR_BYTES / 4;

PJRT_INLINE Vector<float> Load(const uint16_t* from) {
  return (Vector<float>)(WidenWords<Bits>(from) << 16);
}

#if defined(__AVX512BW__)
// The elements whose bit is in `used`.
PJRT_INLINE Vector<float> LoadPart(const uint16_t* from, uint64_t used) {
  const __m256i half = _mm256_maskz_loadu_epi16(static_cast<__mmask16>(used), from);
  return (Vector<float>)_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16);
}
#endif

// The upper halves are the result.
PJRT_INLINE Bits Rounded(Vector<float> x) {
  constexpr uint32_t kQuiet = 0x400000u;
  const Bits bits = (Bits)x, number = bits + 0x7fffu + ((bits >> 16) & 1);
  return (Bits)Blend<float>(CompareUnequal<float>(x, x), (Vector<float>)number,
                            (Vector<float>)(bits | kQuiet));
}
PJRT_INLINE Vector<float> Round(Vector<float> x) {
  return (Vector<float>)(Rounded(x) & 0xffff0000u);
}

#if defined(__AVX2__)
typedef uint16_t Words __attribute__((vector_size(PJRT_VECTOR_BYTES)));
// Numbers of twice as many words as a vector of f32 has, by their upper and lower halves: to the
// nearest, ties to even. No NaN may have anything in its lower half.
PJRT_INLINE Words RoundedWords(Words upper, Words lower) {
#if defined(__AVX512BW__)
  const __m512i half = _mm512_set1_epi16(static_cast<int16_t>(0x8000));
  const __m512i part = _mm512_ternarylogic_epi32((__m512i)lower, (__m512i)upper,
                                                 _mm512_set1_epi16(1), 0xf8);  // a | b & c
  const __mmask32 up = _mm512_cmpgt_epu16_mask(part, half);
  return (Words)_mm512_mask_sub_epi16((__m512i)upper, up, (__m512i)upper, _mm512_set1_epi16(-1));
#else
  const __m256i part = (__m256i)(lower | (upper & 1));
  const __m256i above = _mm256_subs_epu16(part, _mm256_set1_epi16(static_cast<int16_t>(0x8000)));
  return (Words)_mm256_sub_epi16((__m256i)upper, _mm256_cmpgt_epi16(above, _mm256_setzero_si256()));
#endif
}

// The upper and the lower halves of x, then of y.
struct Parts {
  Words upper, lower;
};
PJRT_INLINE Parts PartsOf(Vector<float> x, Vector<float> y) {
#if defined(__AVX512BW__)
  const __m512i counted =
      _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                       12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i even = _mm512_add_epi16(counted, counted);
  const __m512i odd = _mm512_add_epi16(even, _mm512_set1_epi16(1));
  return {(Words)_mm512_permutex2var_epi16((__m512i)x, odd, (__m512i)y),
          (Words)_mm512_permutex2var_epi16((__m512i)x, even, (__m512i)y)};
#else
  // Lane by lane: RoundTwo puts them in order.
  const Bits a = (Bits)x, b = (Bits)y;
  return {(Words)_mm256_packus_epi32((__m256i)(a >> 16), (__m256i)(b >> 16)),
          (Words)_mm256_packus_epi32((__m256i)(a & 0xffff), (__m256i)(b & 0xffff))};
#endif
}
PJRT_INLINE bool AnyNan(Vector<float> x, Vector<float> y) {
#if defined(__AVX512BW__)
  return _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_UNORD_Q) != 0;
#else
  return _mm256_movemask_ps(_mm256_cmp_ps((__m256)x, (__m256)y, _CMP_UNORD_Q)) != 0;
#endif
}
PJRT_INLINE Words RoundTwo(Vector<float> x, Vector<float> y) {
  if (__builtin_expect(AnyNan(x, y), 0)) {
    x = Round(x);
    y = Round(y);
  }
  const Parts parts = PartsOf(x, y);
  const Words words = RoundedWords(parts.upper, parts.lower);
#if defined(__AVX512BW__)
  return words;
#else
  return (Words)_mm256_permute4x64_epi64((__m256i)words, _MM_SHUFFLE(3, 1, 2, 0));
#endif
}
#endif

#if defined(__AVX512BW__)
PJRT_INLINE void StoreTwoPart(uint16_t* to, Vector<float> x, Vector<float> y, uint64_t used) {
  _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(used), (__m512i)RoundTwo(x, y));
}
#endif

// x to to[0, kLanes) and y behind it.
PJRT_INLINE void StoreTwo(uint16_t* to, Vector<float> x, Vector<float> y) {
#if defined(__AVX2__)
  const Words words = RoundTwo(x, y);
  __builtin_memcpy(to, &words, sizeof(words));
#else
  typedef uint16_t Half __attribute__((vector_size(PJRT_VECTOR_BYTES / 2)));
  const Half first = __builtin_convertvector(Rounded(x) >> 16, Half);
  const Half second = __builtin_convertvector(Rounded(y) >> 16, Half);
  __builtin_memcpy(to, &first, sizeof(first));
  __builtin_memcpy(to + kLanes, &second, sizeof(second));
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::bf16

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_BF16_VECTORS_INL_H_
