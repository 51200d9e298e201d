// SPDX-License-Identifier: Apache-2.0
//
// Transposes of matrices of elements of 1 to 16 bytes.
//
// A tile is 64 bytes wide and as many elements high, so that a tile reads whole cache lines and
// writes whole cache lines. Rows that are a power of two apart fall on the same few places of the
// L1 cache; therefore no line is counted on to stay there: it is read once, to registers or to a
// copy of the tile.
#include <cstring>
#include <utility>

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr int kLine = 64;
// Tiles below each other are transposed one after the other, as many as this: their results are
// neighbours.
constexpr int64_t kBandTiles = 8;

// The longest row of a square of elements that fits the registers, in bytes.
template <typename T>
constexpr int LongestRow() {
  constexpr int kLimit = sizeof(T) == 1 ? 16 : sizeof(T) == 2 ? 32 : 64;
  return kLimit < PJRT_VECTOR_BYTES ? kLimit : PJRT_VECTOR_BYTES;
}

// A square of kSide x kSide elements in kSide registers of kBytes.
template <typename T, int kBytes = LongestRow<T>()>
struct Square {
  static constexpr int kSide = kBytes / static_cast<int>(sizeof(T));
  typedef T Row __attribute__((vector_size(kBytes)));
};

// low, high: the elements of a and b in turn.
template <typename Row, int... kIndex>
PJRT_INLINE void Interleave(Row a, Row b, Row* low, Row* high,
                            std::integer_sequence<int, kIndex...>) {
  constexpr int kSide = sizeof...(kIndex);
  *low = __builtin_shufflevector(a, b, (kIndex / 2 + kIndex % 2 * kSide)...);
  *high = __builtin_shufflevector(a, b, (kSide / 2 + kIndex / 2 + kIndex % 2 * kSide)...);
}

// Interleaving row i with row i + kSide / 2, log2(kSide) times over, transposes a square.
template <typename T, int kBytes = LongestRow<T>()>
PJRT_INLINE void TransposeSquare(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
  using Row = typename Square<T, kBytes>::Row;
  constexpr int kSide = Square<T, kBytes>::kSide;
  Row rows[kSide], next[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(&rows[i], src + i * src_stride, sizeof(Row));
#pragma GCC unroll 4
  for (int step = 1; step < kSide; step *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kSide / 2; ++i) {
      Interleave(rows[i], rows[i + kSide / 2], &next[2 * i], &next[2 * i + 1],
                 std::make_integer_sequence<int, kSide>());
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(dst + i * dst_stride, &rows[i], sizeof(Row));
}

// A whole tile.
template <typename T>
PJRT_INLINE void TransposeTile(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
  constexpr int kTile = kLine / static_cast<int>(sizeof(T)), kSide = Square<T>::kSide;
  if constexpr (kTile == kSide) {
    TransposeSquare(dst, dst_stride, src, src_stride);
  } else {
    T tile[kTile * kTile];
    for (int r = 0; r < kTile; ++r) __builtin_memcpy(tile + r * kTile, src + r * src_stride, kLine);
    for (int c = 0; c < kTile; c += kSide) {
      for (int r = 0; r < kTile; r += kSide)
        TransposeSquare(dst + c * dst_stride + r, dst_stride, tile + r * kTile + c, kTile);
    }
  }
}

// At most a line, by two pieces of known size that may overlap.
PJRT_INLINE void CopyShort(void* to, const void* from, int64_t bytes) {
  char* const d = static_cast<char*>(to);
  const char* const s = static_cast<const char*>(from);
  if (bytes == kLine) {
    __builtin_memcpy(d, s, kLine);
  } else if (bytes >= 32) {
    __builtin_memcpy(d, s, 32);
    __builtin_memcpy(d + bytes - 32, s + bytes - 32, 32);
  } else if (bytes >= 16) {
    __builtin_memcpy(d, s, 16);
    __builtin_memcpy(d + bytes - 16, s + bytes - 16, 16);
  } else if (bytes >= 8) {
    __builtin_memcpy(d, s, 8);
    __builtin_memcpy(d + bytes - 8, s + bytes - 8, 8);
  } else if (bytes >= 4) {
    __builtin_memcpy(d, s, 4);
    __builtin_memcpy(d + bytes - 4, s + bytes - 4, 4);
  } else {
    for (int64_t i = 0; i < bytes; ++i) d[i] = s[i];
  }
}

// rows x cols of a tile.
template <typename T>
void TransposePart(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                   int64_t cols) {
  constexpr int kTile = kLine / static_cast<int>(sizeof(T)), kSide = Square<T>::kSide;
  T from[kTile * kTile] = {}, to[kTile * kTile];
  for (int64_t r = 0; r < rows; ++r)
    CopyShort(from + r * kTile, src + r * src_stride, cols * static_cast<int64_t>(sizeof(T)));
  for (int64_t c = 0; c < cols; c += kSide) {
    for (int64_t r = 0; r < rows; r += kSide)
      TransposeSquare(to + c * kTile + r, kTile, from + r * kTile + c, kTile);
  }
  for (int64_t c = 0; c < cols; ++c)
    CopyShort(dst + c * dst_stride, to + c * kTile, rows * static_cast<int64_t>(sizeof(T)));
}

// rows x cols of a tile, by the largest squares that fit both ways: those that reach beyond the
// edge move back and overlap. Panels of matrix products are such tiles, 14 or 6 rows high.
template <typename T, int kBytes = LongestRow<T>()>
void TransposeEdge(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                   int64_t cols) {
  constexpr int64_t kSide = Square<T, kBytes>::kSide;
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

// Matrices with few columns, or few rows: the elements of a row are dealt out to as many places, or
// collected from them.
template <typename T, int kCols>
void Deal(T* __restrict dst, int64_t dst_stride, const T* __restrict src, int64_t src_stride,
          int64_t rows) {
  if (src_stride == kCols) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int c = 0; c < kCols; ++c) dst[c * dst_stride + r] = src[r * kCols + c];
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int c = 0; c < kCols; ++c) dst[c * dst_stride + r] = src[r * src_stride + c];
    }
  }
}
template <typename T, int kRows>
void Collect(T* __restrict dst, int64_t dst_stride, const T* __restrict src, int64_t src_stride,
             int64_t cols) {
  if (dst_stride == kRows) {
    for (int64_t c = 0; c < cols; ++c) {
      for (int r = 0; r < kRows; ++r) dst[c * kRows + r] = src[r * src_stride + c];
    }
  } else {
    for (int64_t c = 0; c < cols; ++c) {
      for (int r = 0; r < kRows; ++r) dst[c * dst_stride + r] = src[r * src_stride + c];
    }
  }
}

template <typename Element>
void Transpose2d(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t rows,
                 int64_t cols) {
  // Several of an array's elements may be moved as one: it need not be aligned to its size.
  typedef Element T __attribute__((aligned(1), may_alias));
  constexpr int64_t kTile = kLine / static_cast<int>(sizeof(T));
  T* const d = static_cast<T*>(dst);
  const T* const s = static_cast<const T*>(src);
  switch (cols) {
    case 2:
      return Deal<T, 2>(d, dst_stride, s, src_stride, rows);
    case 3:
      return Deal<T, 3>(d, dst_stride, s, src_stride, rows);
    case 4:
      return Deal<T, 4>(d, dst_stride, s, src_stride, rows);
  }
  switch (rows) {
    case 2:
      return Collect<T, 2>(d, dst_stride, s, src_stride, cols);
    case 3:
      return Collect<T, 3>(d, dst_stride, s, src_stride, cols);
    case 4:
      return Collect<T, 4>(d, dst_stride, s, src_stride, cols);
  }
  for (int64_t band = 0; band < rows; band += kBandTiles * kTile) {
    const int64_t end = band + kBandTiles * kTile < rows ? band + kBandTiles * kTile : rows;
    for (int64_t c = 0; c < cols; c += kTile) {
      const int64_t width = cols - c < kTile ? cols - c : kTile;
      for (int64_t r = band; r < end; r += kTile) {
        const int64_t height = end - r < kTile ? end - r : kTile;
        T* const to = d + c * dst_stride + r;
        const T* const from = s + r * src_stride + c;
        if (width == kTile && height == kTile) {
          TransposeTile<Element>(reinterpret_cast<Element*>(to), dst_stride,
                                 reinterpret_cast<const Element*>(from), src_stride);
        } else {
          TransposeEdge<Element>(reinterpret_cast<Element*>(to), dst_stride,
                                 reinterpret_cast<const Element*>(from), src_stride, height, width);
        }
      }
    }
  }
}

void Transpose2d16Bytes(void* dst, int64_t dst_stride, const void* src, int64_t src_stride,
                        int64_t rows, int64_t cols) {
  constexpr int64_t kTile = kLine / 16;
  typedef uint64_t Element __attribute__((vector_size(16), aligned(1), may_alias));
  Element* const d = static_cast<Element*>(dst);
  const Element* const s = static_cast<const Element*>(src);
  for (int64_t c = 0; c < cols; c += kTile) {
    if (cols - c >= kTile) {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = c; i < c + kTile; ++i) d[i * dst_stride + r] = s[r * src_stride + i];
      }
    } else {
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t i = c; i < cols; ++i) d[i * dst_stride + r] = s[r * src_stride + i];
      }
    }
  }
}

}  // namespace

void FillTranspose(BlockKernels* k) {
  k->transpose_2d[0] = Transpose2d<uint8_t>;
  k->transpose_2d[1] = Transpose2d<uint16_t>;
  k->transpose_2d[2] = Transpose2d<uint32_t>;
  k->transpose_2d[3] = Transpose2d<uint64_t>;
  k->transpose_2d[4] = Transpose2d16Bytes;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
