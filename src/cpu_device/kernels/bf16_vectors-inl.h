// SPDX-License-Identifier: Apache-2.0
//
// Between bf16 in memory and vectors of f32, as BlockKernels::load, store and round_to. See
// level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_BF16_VECTORS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_BF16_VECTORS_INL_H_

#include "src/cpu_device/kernels/mask-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::bf16 {

using Bits = Vector<uint32_t>;
typedef uint16_t Half __attribute__((vector_size(PJRT_VECTOR_BYTES / 2)));
typedef uint16_t UnalignedHalf
    __attribute__((vector_size(PJRT_VECTOR_BYTES / 2), aligned(2), may_alias));
constexpr int64_t kLanes = PJRT_VECTOR_BYTES / 4;

PJRT_INLINE Vector<float> Load(const uint16_t* from) {
  const Half half = *reinterpret_cast<const UnalignedHalf*>(from);
  return (Vector<float>)(__builtin_convertvector(half, Bits) << 16);
}

#if defined(__AVX512BW__)
// The elements whose bit is in `used`.
PJRT_INLINE Vector<float> LoadPart(const uint16_t* from, uint64_t used) {
  const __m256i half = _mm256_maskz_loadu_epi16(static_cast<__mmask16>(used), from);
  return (Vector<float>)_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16);
}
#endif

// The upper halves are the result.
PJRT_INLINE Bits RoundedNumbers(Vector<float> x) {
  const Bits bits = (Bits)x;
  return bits + 0x7fffu + ((bits >> 16) & 1);
}
PJRT_INLINE Bits Rounded(Vector<float> x) {
  constexpr uint32_t kQuiet = 0x400000u;
  return (Bits)Blend<float>(CompareUnequal<float>(x, x), (Vector<float>)RoundedNumbers(x),
                            (Vector<float>)((Bits)x | kQuiet));
}
PJRT_INLINE Vector<float> Round(Vector<float> x) {
  return (Vector<float>)(Rounded(x) & 0xffff0000u);
}

#if defined(__AVX512BW__)
PJRT_INLINE __m512i RoundTwo(Vector<float> x, Vector<float> y) {
  const __m512i counted =
      _mm512_set_epi16(31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13,
                       12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i upper = _mm512_add_epi16(_mm512_add_epi16(counted, counted), _mm512_set1_epi16(1));
  const auto both = [upper](Bits a, Bits b) __attribute__((always_inline)) {
    return _mm512_permutex2var_epi16((__m512i)a, upper, (__m512i)b);
  };
  const bool nan = _mm512_cmp_ps_mask((__m512)x, (__m512)y, _CMP_UNORD_Q) != 0;
  if (__builtin_expect(nan, 0)) return both(Rounded(x), Rounded(y));
  return both(RoundedNumbers(x), RoundedNumbers(y));
}
PJRT_INLINE void StoreTwoPart(uint16_t* to, Vector<float> x, Vector<float> y, uint64_t used) {
  _mm512_mask_storeu_epi16(to, static_cast<__mmask32>(used), RoundTwo(x, y));
}
#endif

// x to to[0, kLanes) and y behind it.
PJRT_INLINE void StoreTwo(uint16_t* to, Vector<float> x, Vector<float> y) {
#if defined(__AVX512BW__)
  _mm512_storeu_si512(to, RoundTwo(x, y));
#else
  *reinterpret_cast<UnalignedHalf*>(to) = __builtin_convertvector(Rounded(x) >> 16, Half);
  *reinterpret_cast<UnalignedHalf*>(to + kLanes) = __builtin_convertvector(Rounded(y) >> 16, Half);
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::bf16

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_BF16_VECTORS_INL_H_
