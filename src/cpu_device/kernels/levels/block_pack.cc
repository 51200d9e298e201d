// SPDX-License-Identifier: Apache-2.0
//
// Numbers of 1, 2 and 4 bits from packed memory to a byte each, and back. The first one lies in the
// lowest bits of a byte. A byte becomes a word of as many bytes as it has numbers, so that
// compilers vectorise the loops.
#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/narrow-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <int kBits>
using WordOf =
    std::conditional_t<kBits == 4, uint16_t, std::conditional_t<kBits == 2, uint32_t, uint64_t>>;
template <int kBits>
inline constexpr int64_t kPerByte = 8 / kBits;
// The bits of `byte` in each byte.
template <int kBits>
inline constexpr WordOf<kBits> Each(uint8_t byte) {
  return static_cast<WordOf<kBits>>(byte * 0x0101010101010101u);
}

template <int kBits, bool kSigned>
PJRT_INLINE WordOf<kBits> Unpacked(uint8_t packed) {
  using Word = WordOf<kBits>;
  // The sign bits, changed, count from the smallest number.
  constexpr uint8_t kSign = 1 << (kBits - 1), kSigns = 0xff / ((1 << kBits) - 1) * kSign;
  const Word from = static_cast<uint8_t>(kSigned ? packed ^ kSigns : packed);
  Word spread = from;
  for (int i = 1; i < kPerByte<kBits>; ++i) spread |= static_cast<Word>(from << (i * (8 - kBits)));
  const Word x = spread & Each<kBits>((1 << kBits) - 1);
  if constexpr (!kSigned) return x;
  // x - kSign in each byte, without a loan from the next one.
  return static_cast<Word>(x + Each<kBits>(0x80 - kSign)) ^ Each<kBits>(0x80);
}
template <int kBits>
PJRT_INLINE uint8_t Packed(WordOf<kBits> word) {
  const WordOf<kBits> x = word & Each<kBits>((1 << kBits) - 1);
  WordOf<kBits> packed = x;
  for (int i = 1; i < kPerByte<kBits>; ++i)
    packed |= static_cast<WordOf<kBits>>(x >> (i * (8 - kBits)));
  return static_cast<uint8_t>(packed);
}

// Bytes of two numbers of 4 bits of which vectors were unpacked or packed, as many as fill them.
#if defined(__AVX512BW__)
// A number's sign comes from a table, in half of the instructions that compilers choose.
template <bool kSigned>
int64_t UnpackVectors(uint8_t* d, const uint8_t* s, int64_t bytes) {
  const __m512i low = _mm512_set1_epi8(0x0f);
  const __m512i values = _mm512_maskz_broadcast_i32x4(
      0xffff, _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1));
  int64_t i = 0;
  for (; i + 32 <= bytes; i += 32) {
    const __m512i words =
        _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(s + i)));
    // (words | words << 4) & low
    const __m512i x = _mm512_ternarylogic_epi64(words, _mm512_slli_epi16(words, 4), low, 0xa8);
    _mm512_storeu_si512(d + 2 * i, kSigned ? _mm512_shuffle_epi8(values, x) : x);
  }
  return i;
}
int64_t PackVectors(uint8_t* d, const uint8_t* s, int64_t bytes) {
  const __m512i low = _mm512_set1_epi8(0x0f), factors = _mm512_set1_epi16(0x1001);
  const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const auto words_at = [&](const uint8_t* at) __attribute__((always_inline)) {
    return _mm512_maddubs_epi16(_mm512_and_si512(_mm512_loadu_si512(at), low), factors);
  };
  int64_t i = 0;
  for (; i + 64 <= bytes; i += 64) {
    const __m512i packed = _mm512_packus_epi16(words_at(s + 2 * i), words_at(s + 2 * i + 64));
    _mm512_storeu_si512(d + i, _mm512_permutexvar_epi64(order, packed));
  }
  return i;
}
#else
template <bool kSigned>
int64_t UnpackVectors(uint8_t*, const uint8_t*, int64_t) {
  return 0;
}
int64_t PackVectors(uint8_t*, const uint8_t*, int64_t) { return 0; }
#endif

template <int kBits, bool kSigned>
void Unpack(void* dst, const void* src, int64_t n) {
  typedef WordOf<kBits> Word __attribute__((aligned(1), may_alias));
  Word* const d = static_cast<Word*>(dst);
  const uint8_t* const s = static_cast<const uint8_t*>(src);
  const int64_t whole = n / kPerByte<kBits>, rest = n % kPerByte<kBits>;
  int64_t done = 0;
  if constexpr (kBits == 4) done = UnpackVectors<kSigned>(static_cast<uint8_t*>(dst), s, whole);
  PJRT_INDEPENDENT_ITERATIONS
  for (int64_t i = done; i < whole; ++i) d[i] = Unpacked<kBits, kSigned>(s[i]);
  if (rest == 0) return;
  const WordOf<kBits> last = Unpacked<kBits, kSigned>(s[whole]);
  __builtin_memcpy(d + whole, &last, rest);
}
template <int kBits>
void Pack(void* dst, const void* src, int64_t n) {
  typedef WordOf<kBits> Word __attribute__((aligned(1), may_alias));
  uint8_t* const d = static_cast<uint8_t*>(dst);
  const Word* const s = static_cast<const Word*>(src);
  const int64_t whole = n / kPerByte<kBits>, rest = n % kPerByte<kBits>;
  if constexpr (kBits == 2) {
    StoreNarrow(
        d, whole, [s](int64_t i) __attribute__((always_inline)) {
          return uint32_t{Packed<kBits>(s[i])};
        });
  } else {
    int64_t done = 0;
    if constexpr (kBits == 4) done = PackVectors(d, static_cast<const uint8_t*>(src), whole);
    PJRT_INDEPENDENT_ITERATIONS
    for (int64_t i = done; i < whole; ++i) d[i] = Packed<kBits>(s[i]);
  }
  if (rest == 0) return;
  WordOf<kBits> last = 0;
  __builtin_memcpy(&last, s + whole, rest);
  d[whole] = Packed<kBits>(last);
}

template <int kBits>
void Set(BlockKernels* k, int log2) {
  k->unpack[log2][false] = Unpack<kBits, false>;
  k->unpack[log2][true] = Unpack<kBits, true>;
  k->pack[log2] = Pack<kBits>;
}

}  // namespace

void FillPack(BlockKernels* k) {
  Set<1>(k, 0);
  Set<2>(k, 1);
  Set<4>(k, 2);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
