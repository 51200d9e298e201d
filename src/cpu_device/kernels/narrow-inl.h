// SPDX-License-Identifier: Apache-2.0
//
// Integers of 32 bits to the low bits of 8 or 16, and from 16. See level-inl.h for who may include
// it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_NARROW_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_NARROW_INL_H_

#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

// As many 16-bit integers as V has elements, of 32 bits. gcc makes five instructions of a
// conversion by vectors.
template <typename V>
PJRT_INLINE V WidenWords(const uint16_t* from) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64)
    return (V)_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(V) == 32)
    return (V)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#endif
  typename VectorOfBytes<uint16_t, static_cast<int>(sizeof(V) / 2)>::Type narrow;
  __builtin_memcpy(&narrow, from, sizeof(narrow));
  return __builtin_convertvector(narrow, V);
}

#if defined(__AVX512F__)
// 16 of them.
template <typename To>
PJRT_INLINE void StoreNarrowed(To* d, __m512i wide) {
  if constexpr (sizeof(To) == 1) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(d), _mm512_cvtepi32_epi8(wide));
  } else {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(d), _mm512_cvtepi32_epi16(wide));
  }
}
#endif

template <typename To>
PJRT_INLINE void NarrowIntegers(To* d, const uint32_t* s, int64_t n) {
  int64_t i = 0;
#if defined(__AVX512F__)
  for (; i + 16 <= n; i += 16) StoreNarrowed(d + i, _mm512_loadu_si512(s + i));
#endif
  PJRT_INDEPENDENT_ITERATIONS
  for (; i < n; ++i) d[i] = static_cast<To>(s[i]);
}

// d[i] = the low bits of element(i) for n elements, some at a time: first all bits, then those. In
// one loop, compilers shuffle lanes of so different widths a lot.
template <typename To, typename Element>
PJRT_INLINE void StoreNarrow(To* d, int64_t n, Element element) {
  constexpr int64_t kSome = 256;
  alignas(64) uint32_t wide[kSome];
  for (int64_t begin = 0; begin < n; begin += kSome) {
    const int64_t count = n - begin < kSome ? n - begin : kSome;
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = 0; i < count; ++i) wide[i] = element(begin + i);
    NarrowIntegers(d + begin, wide, count);
  }
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_NARROW_INL_H_
