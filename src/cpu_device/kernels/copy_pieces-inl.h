// SPDX-License-Identifier: Apache-2.0
//
// Copies of runs too short for a call, from one memory to another, by the level's registers. See
// level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COPY_PIECES_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COPY_PIECES_INL_H_

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

template <int kBytes>
struct Piece {
  typedef uint64_t Type __attribute__((vector_size(kBytes)));
};
// kBytes, a power of two. By vectors, because with AVX2 gcc copies a struct of 64 bytes by halves
// of registers and once more to the stack, which takes twice as long.
template <int kBytes>
PJRT_INLINE void CopyPiece(char* to, const char* from) {
  if constexpr (kBytes > PJRT_VECTOR_BYTES) {
    CopyPiece<kBytes / 2>(to, from);
    CopyPiece<kBytes / 2>(to + kBytes / 2, from + kBytes / 2);
  } else if constexpr (kBytes >= 16) {
    typename Piece<kBytes>::Type piece;
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

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COPY_PIECES_INL_H_
