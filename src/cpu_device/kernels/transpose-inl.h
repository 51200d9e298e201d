// SPDX-License-Identifier: Apache-2.0
//
// Squares of elements transposed in vector registers, and small matrices by squares. See
// level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_TRANSPOSE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_TRANSPOSE_INL_H_

#include <utility>

#include "src/cpu_device/kernels/anywhere.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

// The longest row of a square of elements that fits the registers, in bytes.
template <typename T>
constexpr int LongestRow() {
  constexpr int kLimit = sizeof(T) == 1 ? 16 : sizeof(T) == 2 ? 32 : 64;
  return kLimit < PJRT_VECTOR_BYTES ? kLimit : PJRT_VECTOR_BYTES;
}

// A vector of kBytes in lanes of at most 16 bytes, within which shuffles of elements are quick. An
// element of 16 bytes is a lane.
template <typename T, int kBytes>
struct Lanes {
  using Element = std::conditional_t<(sizeof(T) > 8), uint64_t, T>;
  typedef Element Row __attribute__((vector_size(kBytes)));
  static constexpr int kLaneBytes = kBytes < 16 ? kBytes : 16;
  static constexpr int kCount = kBytes / kLaneBytes;
  static constexpr int kPerLane = kLaneBytes / static_cast<int>(sizeof(T));  // elements of T
  static constexpr int kSide = kBytes / static_cast<int>(sizeof(T));
};

// Lane by lane, the elements of a and b in turn: of the lanes' first halves, or of their second.
template <int kHalf, int kPerLane, typename Row, int... kIndex>
PJRT_INLINE Row InterleaveInLanes(Row a, Row b, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(
      a, b,
      (kIndex / kPerLane * kPerLane + kHalf * (kPerLane / 2) + kIndex % kPerLane / 2 +
       kIndex % 2 * static_cast<int>(sizeof...(kIndex)))...);
}
// The even lanes of a, then those of b; or the odd ones.
template <int kOdd, int kLane, typename Row, int... kIndex>
PJRT_INLINE Row EveryOtherLane(Row a, Row b, std::integer_sequence<int, kIndex...>) {
  return __builtin_shufflevector(a, b, ((kIndex / kLane * 2 + kOdd) * kLane + kIndex % kLane)...);
}

// Of kRows vectors, each lane of which holds rows of kRows elements, one or several: lane l of
// vector j becomes what stood in element j of the rows in lane l of each vector, in order.
// Interleaving vector i with vector i + half, as often as a lane can be halved, does that.
template <typename T, int kBytes, int kRows = Lanes<T, kBytes>::kPerLane>
PJRT_INLINE void TransposeLanes(typename Lanes<T, kBytes>::Row* rows) {
  using L = Lanes<T, kBytes>;
  if constexpr (kRows > 1) {
    constexpr std::make_integer_sequence<int, L::kSide> kAll;
    typename L::Row next[kRows];
#pragma GCC unroll 4
    for (int step = 1; step < L::kPerLane; step *= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < kRows / 2; ++i) {
        next[2 * i] = InterleaveInLanes<0, L::kPerLane>(rows[i], rows[i + kRows / 2], kAll);
        next[2 * i + 1] = InterleaveInLanes<1, L::kPerLane>(rows[i], rows[i + kRows / 2], kAll);
      }
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) rows[i] = next[i];
    }
  }
}

// Of as many vectors as there are lanes: lane i of vector j becomes lane j of vector i.
template <typename T, int kBytes>
PJRT_INLINE void TransposeSquareOfLanes(typename Lanes<T, kBytes>::Row* vectors) {
  using L = Lanes<T, kBytes>;
  constexpr int kElements = kBytes / static_cast<int>(sizeof(typename L::Element));
  constexpr int kLane = kElements / L::kCount, kHalf = L::kCount / 2;
  constexpr std::make_integer_sequence<int, kElements> kAll;
  typename L::Row next[L::kCount];
#pragma GCC unroll 2
  for (int step = 1; step < L::kCount; step *= 2) {
#pragma GCC unroll 2
    for (int i = 0; i < kHalf; ++i) {
      next[i] = EveryOtherLane<0, kLane>(vectors[2 * i], vectors[2 * i + 1], kAll);
      next[i + kHalf] = EveryOtherLane<1, kLane>(vectors[2 * i], vectors[2 * i + 1], kAll);
    }
#pragma GCC unroll 4
    for (int i = 0; i < L::kCount; ++i) vectors[i] = next[i];
  }
}

// A square: row i becomes element i of each. Lanes are transposed, then the square of lanes.
template <typename T, int kBytes>
PJRT_INLINE void TransposeRows(typename Lanes<T, kBytes>::Row* rows) {
  using L = Lanes<T, kBytes>;
  typename L::Row next[L::kSide];
#pragma GCC unroll 4
  for (int lane = 0; lane < L::kCount; ++lane) TransposeLanes<T, kBytes>(rows + lane * L::kPerLane);
#pragma GCC unroll 16
  for (int j = 0; j < L::kPerLane; ++j) {
    typename L::Row lanes[L::kCount];
#pragma GCC unroll 4
    for (int i = 0; i < L::kCount; ++i) lanes[i] = rows[i * L::kPerLane + j];
    TransposeSquareOfLanes<T, kBytes>(lanes);
#pragma GCC unroll 4
    for (int i = 0; i < L::kCount; ++i) next[i * L::kPerLane + j] = lanes[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < L::kSide; ++i) rows[i] = next[i];
}

// A square of kSide x kSide elements.
template <typename T, int kBytes = LongestRow<T>(), bool kStream = false>
PJRT_INLINE void TransposeSquare(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
  using L = Lanes<T, kBytes>;
  typename L::Row rows[L::kSide];
#pragma GCC unroll 16
  for (int i = 0; i < L::kSide; ++i)
    __builtin_memcpy(&rows[i], src + i * src_stride, sizeof(rows[i]));
  TransposeRows<T, kBytes>(rows);
#pragma GCC unroll 16
  for (int i = 0; i < L::kSide; ++i) {
    if constexpr (kStream && kBytes == kLine) {
      StreamLine(dst + i * dst_stride, &rows[i]);
    } else {
      __builtin_memcpy(dst + i * dst_stride, &rows[i], sizeof(rows[i]));
    }
  }
}

// A tile too large for the registers. Strips of as many rows as a lane has elements have their
// lanes transposed, then lanes of all strips are put together to rows of dst.
template <typename T, bool kStream, typename Fn>
PJRT_INLINE void TransposeByStrips(T* dst, int64_t dst_stride, const T* src, int64_t src_stride,
                                   Fn step) {
  using L = Lanes<T, PJRT_VECTOR_BYTES>;
  using Row = typename L::Row;
  constexpr int kTile = kLine / static_cast<int>(sizeof(T));
  Row strips[kTile];
  for (int c = 0; c < kTile; c += L::kSide) {
    for (int r = 0; r < kTile; r += L::kPerLane) {
      Row* const rows = strips + r;
      Row in[L::kPerLane];
#pragma GCC unroll 16
      for (int i = 0; i < L::kPerLane; ++i)
        __builtin_memcpy(&in[i], src + (r + i) * src_stride + c, sizeof(Row));
      TransposeLanes<T, PJRT_VECTOR_BYTES>(in);
#pragma GCC unroll 16
      for (int i = 0; i < L::kPerLane; ++i) rows[i] = in[i];
      step();
    }
    for (int j = 0; j < L::kPerLane; ++j) {
      if (j % 4 == 3) step();
      Row lines[L::kCount][kLine / sizeof(Row)];
#pragma GCC unroll 4
      for (int part = 0; part < kTile / L::kSide; ++part) {
        Row lanes[L::kCount];
#pragma GCC unroll 4
        for (int i = 0; i < L::kCount; ++i)
          lanes[i] = strips[part * L::kSide + i * L::kPerLane + j];
        TransposeSquareOfLanes<T, PJRT_VECTOR_BYTES>(lanes);
#pragma GCC unroll 4
        for (int i = 0; i < L::kCount; ++i) lines[i][part] = lanes[i];
      }
#pragma GCC unroll 4
      for (int i = 0; i < L::kCount; ++i) {
        T* const to = dst + (c + i * L::kPerLane + j) * dst_stride;
        if constexpr (kStream) {
          StreamLine(to, lines[i]);
        } else {
          // Row by row: gcc copies a whole line by way of general registers.
#pragma GCC unroll 4
          for (int part = 0; part < kTile / L::kSide; ++part)
            __builtin_memcpy(to + part * L::kSide, &lines[i][part], sizeof(Row));
        }
      }
    }
  }
}

// As many steps as TransposeTile has.
template <typename T>
constexpr int kTileSteps = [] {
  constexpr int kTile = kLine / static_cast<int>(sizeof(T));
  using L = Lanes<T, PJRT_VECTOR_BYTES>;
  return LongestRow<T>() == kLine ? 1 : kTile / L::kSide * (kTile / L::kPerLane + L::kPerLane / 4);
}();

// A whole tile, step() called now and then; with kStream the rows of dst are aligned to lines.
template <typename T, bool kStream, typename Fn>
PJRT_INLINE void TransposeTile(T* dst, int64_t dst_stride, const T* src, int64_t src_stride,
                               Fn step) {
  if constexpr (LongestRow<T>() == kLine) {
    TransposeSquare<T, kLine, kStream>(dst, dst_stride, src, src_stride);
    step();
  } else {
    TransposeByStrips<T, kStream>(dst, dst_stride, src, src_stride, step);
  }
}

// Calls fn(count, i) for as many elements as fill whole vectors, then for short blocks of a
// constant count, which become vector instructions too; the last one moves back and overlaps.
template <typename T, typename Fn>
PJRT_INLINE void InBlocks(int64_t n, Fn fn) {
  constexpr int64_t kLong = kLine / static_cast<int>(sizeof(T)), kShort = kLong / 4;
  const int64_t whole = n < kShort ? n : n - n % kLong;
  if (whole > 0) fn(whole, int64_t{0});
  for (int64_t i = whole; i < n; i += kShort)
    fn(std::integral_constant<int64_t, kShort>(), i + kShort <= n ? i : n - kShort);
}

// Rows of few columns, dealt out to as many places: a function of its own, so that its pointers are
// known to point to different memory.
template <typename T, int kCols, typename Count>
__attribute__((noinline)) void DealBlock(Anywhere<T>* __restrict dst, int64_t dst_stride,
                                         const Anywhere<T>* __restrict src, Count rows) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int c = 0; c < kCols; ++c) dst[c * dst_stride + r] = src[r * kCols + c];
  }
}

// rows x cols of a tile.
template <typename T>
void TransposePart(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                   int64_t cols) {
  constexpr int kTile = kLine / static_cast<int>(sizeof(T));
  constexpr int kSide = Lanes<T, LongestRow<T>()>::kSide;
  T from[kTile * kTile] = {}, to[kTile * kTile];
  for (int64_t r = 0; r < rows; ++r)
    CopyInLine(from + r * kTile, src + r * src_stride, cols * static_cast<int64_t>(sizeof(T)));
  for (int64_t c = 0; c < cols; c += kSide) {
    for (int64_t r = 0; r < rows; r += kSide)
      TransposeSquare(to + c * kTile + r, kTile, from + r * kTile + c, kTile);
  }
  for (int64_t c = 0; c < cols; ++c)
    CopyInLine(dst + c * dst_stride, to + c * kTile, rows * static_cast<int64_t>(sizeof(T)));
}

// rows x cols of a tile, by the largest squares that fit both ways: those that reach beyond the
// edge move back and overlap. Panels of matrix products are such tiles, 14 or 6 rows high.
template <typename T, int kBytes = LongestRow<T>()>
void TransposeEdge(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                   int64_t cols) {
  constexpr int64_t kSide = Lanes<T, kBytes>::kSide;
  if (rows < kSide || cols < kSide) {
    if constexpr (kSide > 4) {
      TransposeEdge<T, kBytes / 2>(dst, dst_stride, src, src_stride, rows, cols);
    } else {
      TransposePart(dst, dst_stride, src, src_stride, rows, cols);
    }
    return;
  }
  for (int64_t i = 0; i < cols; i += kSide) {
    const int64_t c = i + kSide <= cols ? i : cols - kSide;
    for (int64_t j = 0; j < rows; j += kSide) {
      const int64_t r = j + kSide <= rows ? j : rows - kSide;
      TransposeSquare<T, kBytes>(dst + c * dst_stride + r, dst_stride, src + r * src_stride + c,
                                 src_stride);
    }
  }
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_TRANSPOSE_INL_H_
