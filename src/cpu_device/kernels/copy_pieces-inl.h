// SPDX-License-Identifier: Apache-2.0
//
// Copies of runs too short for a call, from one memory to another, by the level's registers. See
// level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COPY_PIECES_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COPY_PIECES_INL_H_

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// kBytes, a power of two. By vectors, because with AVX2 gcc copies a struct of 64 bytes by halves
// of registers and once more to the stack, which takes twice as long.
template <int kBytes>
PJRT_INLINE void CopyPiece(char* to, const char* from) {
  if constexpr (kBytes > PJRT_VECTOR_BYTES) {
    CopyPiece<kBytes / 2>(to, from);
    CopyPiece<kBytes / 2>(to + kBytes / 2, from + kBytes / 2);
  } else if constexpr (kBytes >= 16) {
    typedef uint64_t Piece __attribute__((vector_size(kBytes)));
    Piece piece;
    __builtin_memcpy(&piece, from, kBytes);
    __builtin_memcpy(to, &piece, kBytes);
  } else {
    __builtin_memcpy(to, from, kBytes);
  }
}

// Between kHalf and 2 * kHalf bytes, as two pieces that may overlap.
template <int kHalf>
struct CopyShort {
  PJRT_INLINE void Run(char* to, const char* from, int64_t bytes) {
    CopyPiece<kHalf>(to, from);
    CopyPiece<kHalf>(to + bytes - kHalf, from + bytes - kHalf);
  }
};
// A cache line or more, the last one of them over the one before.
struct CopyLines {
  PJRT_INLINE void Run(char* to, const char* from, int64_t bytes) {
    for (int64_t i = 0; i < bytes - 64; i += 64) CopyPiece<64>(to + i, from + i);
    CopyPiece<64>(to + bytes - 64, from + bytes - 64);
  }
};

// Calls `use` with the one of these whose Run copies so many bytes, 1 or more.
template <class Use>
PJRT_INLINE void WithCopyOf(int64_t bytes, const Use& use) {
  if (bytes > 128) return use(CopyLines());
  if (bytes >= 64) return use(CopyShort<64>());
  if (bytes >= 32) return use(CopyShort<32>());
  if (bytes >= 16) return use(CopyShort<16>());
  if (bytes >= 8) return use(CopyShort<8>());
  if (bytes >= 4) return use(CopyShort<4>());
  if (bytes >= 2) return use(CopyShort<2>());
  use(CopyShort<1>());
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COPY_PIECES_INL_H_
