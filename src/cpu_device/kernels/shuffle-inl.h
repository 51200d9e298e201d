// SPDX-License-Identifier: Apache-2.0
//
// The bytes of vectors in an order that is known when a kernel runs, within lanes of 16. Only files
// in levels/ include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_SHUFFLE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_SHUFFLE_INL_H_

#if defined(__SSSE3__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include <utility>

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

constexpr int64_t kShuffled = 16;
typedef uint8_t Bytes16 __attribute__((vector_size(16)));

PJRT_INLINE Bytes16 Load16(const void* src) {
  Bytes16 bytes;
  __builtin_memcpy(&bytes, src, kShuffled);
  return bytes;
}
PJRT_INLINE void Store16(void* dst, Bytes16 bytes) { __builtin_memcpy(dst, &bytes, kShuffled); }

// Byte i becomes what byte places[i] was, which is below 16, or 0 where it is kNowhere. Where a
// level has no such instruction it is not to be called.
constexpr uint8_t kNowhere = 128;
#if defined(__SSSE3__)
constexpr bool kHasShuffle = true;
PJRT_INLINE Bytes16 Shuffle(Bytes16 bytes, Bytes16 places) {
  return reinterpret_cast<Bytes16>(
      _mm_shuffle_epi8(reinterpret_cast<__m128i>(bytes), reinterpret_cast<__m128i>(places)));
}
#elif defined(__aarch64__) && defined(__ARM_NEON)
constexpr bool kHasShuffle = true;
PJRT_INLINE Bytes16 Shuffle(Bytes16 bytes, Bytes16 places) {
  return reinterpret_cast<Bytes16>(
      vqtbl1q_u8(reinterpret_cast<uint8x16_t>(bytes), reinterpret_cast<uint8x16_t>(places)));
}
#else
constexpr bool kHasShuffle = false;
PJRT_INLINE Bytes16 Shuffle(Bytes16 bytes, Bytes16) { return bytes; }
#endif

// The same in each lane of a vector of kBytes, which has lanes of 16 bytes.
template <int kBytes>
struct LanesOfBytes {
  typedef uint8_t Type __attribute__((vector_size(kBytes)));
};
template <int kBytes>
using BytesInLanes = typename LanesOfBytes<kBytes>::Type;

template <int kBytes>
PJRT_INLINE BytesInLanes<kBytes> ShuffleLanes(BytesInLanes<kBytes> bytes,
                                              BytesInLanes<kBytes> places) {
#if defined(__AVX512BW__)
  if constexpr (kBytes == 64) {
    return reinterpret_cast<BytesInLanes<kBytes>>(
        _mm512_shuffle_epi8(reinterpret_cast<__m512i>(bytes), reinterpret_cast<__m512i>(places)));
  }
#endif
#if defined(__AVX2__)
  if constexpr (kBytes == 32) {
    return reinterpret_cast<BytesInLanes<kBytes>>(
        _mm256_shuffle_epi8(reinterpret_cast<__m256i>(bytes), reinterpret_cast<__m256i>(places)));
  }
#endif
  if constexpr (kBytes == kShuffled) return Shuffle(bytes, places);
}

// 16 bytes from at(0) for the first lane, from at(1) for the second one, and so on.
template <int kBytes, int... kIndex>
PJRT_INLINE BytesInLanes<2 * kBytes> JoinLanes(BytesInLanes<kBytes> a, BytesInLanes<kBytes> b,
                                               std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(a, b, kIndex...);
}
template <int kBytes, typename At>
PJRT_INLINE BytesInLanes<kBytes> LoadLanes(At at) {
  if constexpr (kBytes == kShuffled) {
    return Load16(at(0));
#if defined(__AVX512F__)
  } else if constexpr (kBytes == 64) {
    // No shuffle, where a lane comes from memory.
    const auto lane = [&](int64_t l) __attribute__((always_inline)) {
      return reinterpret_cast<__m128i>(Load16(at(l)));
    };
    __m512i lanes = _mm512_castsi128_si512(lane(0));
    lanes = _mm512_mask_broadcast_i32x4(lanes, 0x00f0, lane(1));
    lanes = _mm512_mask_broadcast_i32x4(lanes, 0x0f00, lane(2));
    lanes = _mm512_mask_broadcast_i32x4(lanes, 0xf000, lane(3));
    return reinterpret_cast<BytesInLanes<kBytes>>(lanes);
#endif
  } else {
    constexpr int kHalf = kBytes / 2;
    return JoinLanes<kHalf>(LoadLanes<kHalf>(at),
                            LoadLanes<kHalf>([&](int64_t l) __attribute__((always_inline)) {
                              return at(l + kHalf / kShuffled);
                            }),
                            std::make_integer_sequence<int, kBytes>());
  }
}
// From src, and from so many bytes further each time.
template <int kBytes>
PJRT_INLINE BytesInLanes<kBytes> LoadLanes(const void* src, int64_t apart) {
  return LoadLanes<kBytes>([&](int64_t l) __attribute__((always_inline)) {
    return static_cast<const char*>(src) + l * apart;
  });
}

// Of a vector, 16 bytes.
template <int kLane, typename Row, int... kIndex>
PJRT_INLINE auto LaneOf(Row row, std::integer_sequence<int, kIndex...>) {
  if constexpr (sizeof(Row) == kShuffled) {
    return row;
  } else {
    constexpr int kElements = static_cast<int>(sizeof...(kIndex));
    return __builtin_shufflevector(row, row, (kLane * kElements + kIndex)...);
  }
}
template <int kLane, typename Row>
PJRT_INLINE Bytes16 LaneOf(Row row) {
  constexpr int kElements = kShuffled / static_cast<int>(sizeof(row[0]));
  return reinterpret_cast<Bytes16>(
      LaneOf<kLane>(row, std::make_integer_sequence<int, kElements>()));
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_SHUFFLE_INL_H_
