// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a vector of 16 in an order that is known when a kernel runs. Only files in levels/
// include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_SHUFFLE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_SHUFFLE_INL_H_

#if defined(__SSSE3__)
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

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

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_SHUFFLE_INL_H_
