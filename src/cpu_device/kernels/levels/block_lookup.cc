// SPDX-License-Identifier: Apache-2.0
//
// Bytes through a table of 256 bytes, and 16-bit words through one of 65,536 words.
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

PJRT_INLINE void LookUpEach(uint8_t* d, const uint8_t* s, const uint8_t* table, int64_t n) {
  for (int64_t i = 0; i < n; ++i) d[i] = table[s[i]];
}

#if defined(__AVX512F__)
// A permutation chooses among the 128 bytes of two vectors.
__attribute__((target("avx512vbmi"))) void LookUpByPermutations(void* dst, const void* a,
                                                                const void* b, const void*,
                                                                int64_t n) {
  uint8_t* const d = static_cast<uint8_t*>(dst);
  const uint8_t* const s = static_cast<const uint8_t*>(a);
  const uint8_t* const t = static_cast<const uint8_t*>(b);
  const __m512i t0 = _mm512_loadu_si512(t), t1 = _mm512_loadu_si512(t + 64);
  const __m512i t2 = _mm512_loadu_si512(t + 128), t3 = _mm512_loadu_si512(t + 192);
  int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i places = _mm512_loadu_si512(s + i);
    const __m512i low = _mm512_permutex2var_epi8(t0, places, t1);
    const __m512i high = _mm512_permutex2var_epi8(t2, places, t3);
    _mm512_storeu_si512(d + i, _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(places), high));
  }
  LookUpEach(d + i, s + i, t, n - i);
}
#endif

#if defined(__AVX2__)
#if defined(__AVX512BW__)
using Bytes = __m512i;
PJRT_INLINE Bytes AllBytes(char x) { return _mm512_set1_epi8(x); }
PJRT_INLINE Bytes AllOf(const uint8_t* entries) {
  return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(entries)));
}
PJRT_INLINE Bytes Saturated(Bytes a, Bytes b) { return _mm512_adds_epu8(a, b); }
PJRT_INLINE Bytes Shuffled(Bytes a, Bytes places) { return _mm512_shuffle_epi8(a, places); }
#else
using Bytes = __m256i;
PJRT_INLINE Bytes AllBytes(char x) { return _mm256_set1_epi8(x); }
PJRT_INLINE Bytes AllOf(const uint8_t* entries) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(entries)));
}
PJRT_INLINE Bytes Saturated(Bytes a, Bytes b) { return _mm256_adds_epu8(a, b); }
PJRT_INLINE Bytes Shuffled(Bytes a, Bytes places) { return _mm256_shuffle_epi8(a, places); }
#endif

// A shuffle chooses among 16 bytes, and gives 0 for a place with its highest bit set: what other
// shuffles see to.
void LookUpByShuffles(void* dst, const void* a, const void* b, const void*, int64_t n) {
  uint8_t* const d = static_cast<uint8_t*>(dst);
  const uint8_t* const s = static_cast<const uint8_t*>(a);
  const uint8_t* const t = static_cast<const uint8_t*>(b);
  const Bytes others = AllBytes(0x70);
  int64_t i = 0;
  for (; i + int64_t{sizeof(Bytes)} <= n; i += sizeof(Bytes)) {
    Bytes x, y = {};
    __builtin_memcpy(&x, s + i, sizeof(x));
    for (int first = 0; first < 256; first += 16)
      y |= Shuffled(AllOf(t + first), Saturated(x ^ AllBytes(static_cast<char>(first)), others));
    __builtin_memcpy(d + i, &y, sizeof(y));
  }
  LookUpEach(d + i, s + i, t, n - i);
}
#else
void LookUp(void* dst, const void* a, const void* b, const void*, int64_t n) {
  LookUpEach(static_cast<uint8_t*>(dst), static_cast<const uint8_t*>(a),
             static_cast<const uint8_t*>(b), n);
}
#endif

// The table takes 128 KB, of which numbers of like sizes touch some 10 KB if they are bf16, and
// some 40 KB if they are f16. Eight words are read and written at once: 0.17 ns a word, where
// single ones take 0.24 and gathers no less.
void LookUpWords(void* dst, const void* a, const void* b, const void*, int64_t n) {
  typedef uint16_t Words __attribute__((vector_size(16)));
  uint16_t* const d = static_cast<uint16_t*>(dst);
  const uint16_t* const s = static_cast<const uint16_t*>(a);
  const uint16_t* const t = static_cast<const uint16_t*>(b);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t x, y;
    __builtin_memcpy(&x, s + i, sizeof(x));
    __builtin_memcpy(&y, s + i + 4, sizeof(y));
    Words words = {};
    words[0] = t[x & 0xffff];
    words[1] = t[x >> 16 & 0xffff];
    words[2] = t[x >> 32 & 0xffff];
    words[3] = t[x >> 48];
    words[4] = t[y & 0xffff];
    words[5] = t[y >> 16 & 0xffff];
    words[6] = t[y >> 32 & 0xffff];
    words[7] = t[y >> 48];
    __builtin_memcpy(d + i, &words, sizeof(words));
  }
  for (; i < n; ++i) d[i] = t[s[i]];
}

}  // namespace

void FillLookup(BlockKernels* k) {
  // Measured times, over what other functions of the level take of those with AVX2.
#if defined(__AVX512F__)
  k->look_up[0] = LookUpByShuffles;
  k->look_up_ns[0] = 0.12 * 2;
  k->look_up_ns[1] = 0.75;  // level with x + exp(x)
  if (__builtin_cpu_supports("avx512vbmi")) {
    k->look_up[0] = LookUpByPermutations;
    k->look_up_ns[0] = 0.02 * 2;
  }
#elif defined(__AVX2__)
  k->look_up[0] = LookUpByShuffles;
  k->look_up_ns[0] = 0.2;
  k->look_up_ns[1] = 0.42;  // level with 2x + 1
#else
  k->look_up[0] = LookUp;
  k->look_up_ns[0] = 0.4 / 2.5;
  k->look_up_ns[1] = 0.3;
#endif
  k->look_up[1] = LookUpWords;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
