// SPDX-License-Identifier: Apache-2.0
//
// Transposes of matrices of elements of 1 to 16 bytes.
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// A square of kSide x kSide elements fits kSide registers of 16 bytes. Interleaving row i with row
// i + kSide/2, log2(kSide) times over, transposes it.
template <typename T>
struct Square {
  static constexpr int kSide = 16 / sizeof(T);
  typedef T Row __attribute__((vector_size(16)));
};

PJRT_INLINE void Interleave(const Square<uint64_t>::Row a, const Square<uint64_t>::Row b,
                            Square<uint64_t>::Row* low, Square<uint64_t>::Row* high) {
  *low = __builtin_shufflevector(a, b, 0, 2);
  *high = __builtin_shufflevector(a, b, 1, 3);
}
PJRT_INLINE void Interleave(const Square<uint32_t>::Row a, const Square<uint32_t>::Row b,
                            Square<uint32_t>::Row* low, Square<uint32_t>::Row* high) {
  *low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  *high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
}
PJRT_INLINE void Interleave(const Square<uint16_t>::Row a, const Square<uint16_t>::Row b,
                            Square<uint16_t>::Row* low, Square<uint16_t>::Row* high) {
  *low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  *high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
PJRT_INLINE void Interleave(const Square<uint8_t>::Row a, const Square<uint8_t>::Row b,
                            Square<uint8_t>::Row* low, Square<uint8_t>::Row* high) {
  *low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  *high =
      __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

template <typename T>
PJRT_INLINE void TransposeSquare(T* dst, int64_t dst_stride, const T* src, int64_t src_stride) {
  using Row = typename Square<T>::Row;
  constexpr int kSide = Square<T>::kSide;
  Row rows[kSide], next[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(&rows[i], src + i * src_stride, 16);
#pragma GCC unroll 4
  for (int step = 1; step < kSide; step *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < kSide / 2; ++i) {
      Interleave(rows[i], rows[i + kSide / 2], &next[2 * i], &next[2 * i + 1]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < kSide; ++i) rows[i] = next[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(dst + i * dst_stride, &rows[i], 16);
}

template <typename T>
void TransposePlain(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                    int64_t cols) {
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) dst[c * dst_stride + r] = src[r * src_stride + c];
  }
}

// Squares of a band of rows, column by column: the band's cache lines are read several times, while
// they are near.
template <typename T>
void Transpose2d(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t rows,
                 int64_t cols) {
  constexpr int64_t kSide = Square<T>::kSide, kBand = 64;
  T* const d = static_cast<T*>(dst);
  const T* const s = static_cast<const T*>(src);
  const int64_t square_rows = rows / kSide * kSide, square_cols = cols / kSide * kSide;
  for (int64_t band = 0; band < square_rows; band += kBand) {
    const int64_t end = band + kBand < square_rows ? band + kBand : square_rows;
    for (int64_t c = 0; c < square_cols; c += kSide) {
      for (int64_t r = band; r < end; r += kSide) {
        TransposeSquare(d + c * dst_stride + r, dst_stride, s + r * src_stride + c, src_stride);
      }
    }
  }
  TransposePlain(d + square_cols * dst_stride, dst_stride, s + square_cols, src_stride, square_rows,
                 cols - square_cols);
  TransposePlain(d + square_rows, dst_stride, s + square_rows * src_stride, src_stride,
                 rows - square_rows, cols);
}

void Transpose2d16Bytes(void* dst, int64_t dst_stride, const void* src, int64_t src_stride,
                        int64_t rows, int64_t cols) {
  TransposePlain(static_cast<Bits128*>(dst), dst_stride, static_cast<const Bits128*>(src),
                 src_stride, rows, cols);
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
