// SPDX-License-Identifier: Apache-2.0
//
// Rows that are written piece by piece, each line at once: pieces end where they like, and what
// they have of a line at their end is carried to the next one. See level-inl.h for who may include
// it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_CARRY_ROWS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_CARRY_ROWS_INL_H_

#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"
#include "src/cpu_device/kernels/tile_reader-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Lines that are written in part are read first: they are asked for so many rows ahead.
constexpr int64_t kEndsAhead = 16;
__attribute__((always_inline)) inline void AskForEnds(const char* row, int64_t bytes, bool begins,
                                                      bool ends) {
  const char* const end = row + bytes;
  if (begins && reinterpret_cast<uintptr_t>(row) % kLine != 0) __builtin_prefetch(row, 1, 3);
  if (ends && reinterpret_cast<uintptr_t>(end) % kLine != 0) __builtin_prefetch(end - 1, 1, 3);
}

// A piece of a row. If it does not begin the row, the 64 bytes before src are those before it; if
// it does not end it, its last ones go to `carried`.
template <bool kStream>
__attribute__((always_inline)) inline void CarryRow(char* dst, const char* src, int64_t bytes,
                                                    bool begins, bool ends, char* carried) {
  int64_t at = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(dst) % kLine);
  if (begins && at != 0) {
    at += kLine;
    CopyInLine(dst, src, at < bytes ? at : bytes);
  }
  for (; at + kLine <= bytes; at += kLine) {
    if constexpr (kStream) {
      StreamLine(dst + at, src + at);
    } else {
      __builtin_memcpy(dst + at, src + at, kLine);
    }
  }
  if (!ends) {
    char last[kLine];
    __builtin_memcpy(last, src + bytes - kLine, kLine);
    __builtin_memcpy(carried, last, kLine);
  } else if (at < bytes) {
    CopyInLine(dst + at, src + at, bytes - at);
  }
}

// Rows whose pieces always stand at the same places, after the bytes that are carried.
template <bool kStream>
void CarryRows(char* dst, int64_t dst_stride, char* src, int64_t src_stride, int64_t bytes,
               int64_t rows, bool begins, bool ends, TileReader* reader) {
  for (int64_t r = 0; r < kEndsAhead && r < rows; ++r)
    AskForEnds(dst + r * dst_stride, bytes, begins, ends);
  for (int64_t r = 0; r < rows; ++r, dst += dst_stride, src += src_stride) {
    if (r + kEndsAhead < rows) AskForEnds(dst + kEndsAhead * dst_stride, bytes, begins, ends);
    CarryRow<kStream>(dst, src, bytes, begins, ends, src - kLine);
    reader->Step();
  }
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_CARRY_ROWS_INL_H_
