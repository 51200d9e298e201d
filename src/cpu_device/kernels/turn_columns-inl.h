// SPDX-License-Identifier: Apache-2.0
//
// Tall matrices of small elements whose columns are turned a few at a time, each into a row of the
// target, and streamed at once. See level-inl.h for who may include it.
//
// What is fetched from the second cache waits for the same buffers as what is streamed. So nothing
// but the source of a tile takes more than a part of the first cache: 128^4 bytes, all dims in the
// opposite order, took 55 ms on an Emerald Rapids when all of a tile was turned before it was
// written, and take 41.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_TURN_COLUMNS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_TURN_COLUMNS_INL_H_

#include "src/cpu_device/kernels/carry_rows-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/shuffle-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"
#include "src/cpu_device/kernels/tile_reader-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"
#include "src/cpu_device/kernels/turned_tile.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// What is stored are columns of 16 bytes.
template <typename T>
using Square = Lanes<T, kShuffled>;

// Of as many rows as fit a vector, at `from` + row_at: put(k, vector) is called with each of the
// columns that 16 bytes of a row have.
template <typename T, int kWide, typename Put>
PJRT_INLINE void TurnRows(const char* from, const int32_t* row_at, Put put) {
  constexpr int64_t kCols = Square<T>::kSide;
  typename Lanes<T, kWide>::Row squares[kCols];
#pragma GCC unroll 16
  for (int64_t k = 0; k < kCols; ++k) {
    squares[k] = reinterpret_cast<typename Lanes<T, kWide>::Row>(LoadLanes<kWide>([&](
        int64_t l) __attribute__((always_inline)) { return from + row_at[l * kCols + k]; }));
  }
  TransposeLanes<T, kWide>(squares);
#pragma GCC unroll 16
  for (int64_t k = 0; k < kCols; ++k) put(k, squares[k]);
}

// Only where a vector is a line.
constexpr bool kStreamsColumns = PJRT_VECTOR_BYTES == kLine;

// Columns that are whole lines are streamed from registers. Others go by a buffer of a few of them;
// `carried` has a line for each column of the tile.
template <typename T, bool kLines>
__attribute__((noinline)) void StreamColumnsBy(const TurnedTile& tile, const char* src,
                                               char* carried, TileReader* reader) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T)), kCols = Square<T>::kSide;
  constexpr int64_t kRows = kLine / kSize, kPitch = kLine + TurnedShape::kColumnBytes;
  const TurnedShape& shape = *tile.shape;
  alignas(kLine) char columns[kLines ? 1 : kCols * kPitch];
  for (int64_t j = 0; j < shape.cols; j += kCols) {
    const int64_t c = j + kCols <= shape.cols ? j : shape.cols - kCols;
    const int64_t* const to = shape.columns + c;
    if constexpr (!kLines) {
      for (int64_t k = j - c; k < kCols; ++k)
        AskForEnds(tile.to + to[k], shape.to_bytes, tile.begins, tile.ends);
    }
    for (int64_t i = 0; i < shape.rows; i += kRows) {
      const int64_t r = i + kRows <= shape.rows ? i : shape.rows - kRows;
      TurnRows<T, kLine>(
          src + c * kSize,
          shape.row_at + r, [&](int64_t k, const auto& column) __attribute__((always_inline)) {
            if constexpr (kLines) {
              StreamLine(tile.to + to[k] + r * kSize, &column);
            } else {
              __builtin_memcpy(columns + k * kPitch + kLine + r * kSize, &column, kLine);
            }
          });
      reader->Step(kLine / kShuffled);
    }
    for (int64_t k = j - c; !kLines && k < kCols; ++k) {
      char *const column = columns + k * kPitch + kLine, *const line = carried + (c + k) * kLine;
      if (!tile.begins) __builtin_memcpy(column - kLine, line, kLine);
      CarryRow<true>(tile.to + to[k], column, shape.to_bytes, tile.begins, tile.ends, line);
    }
  }
}

template <typename T>
void StreamColumns(const TurnedTile& tile, const char* src, char* carried, TileReader* reader) {
  const bool lines = tile.shape->are_lines && reinterpret_cast<uintptr_t>(tile.to) % kLine == 0;
  const auto stream = lines ? StreamColumnsBy<T, true> : StreamColumnsBy<T, false>;
  stream(tile, src, carried, reader);
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_TURN_COLUMNS_INL_H_
