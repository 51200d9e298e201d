// SPDX-License-Identifier: Apache-2.0
//
// Transposes of matrices of elements of 1 to 16 bytes.
//
// A tile is 64 bytes wide and as many elements high, so that a tile reads whole cache lines and
// writes whole cache lines. Rows that are a power of two apart fall on the same few places of the
// L1 cache; therefore no line is counted on to stay there: it is read once, to registers, and
// written once. A matrix much larger than the caches is written past them (stream-inl.h), and what
// comes next is asked for ahead: rows far apart are nothing that a machine foresees.
#include "src/cpu_device/kernels/anywhere.h"
#include "src/cpu_device/kernels/copy_pieces-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/shuffle-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Tiles below each other are transposed one after the other, as many as this: their results are
// neighbours.
constexpr int64_t kBandTiles = 8;
// Small matrices, in bytes, are made in a buffer and then written as one run; those of so few rows
// of src, which are collected, where the run is long enough for its ends not to matter.
constexpr int64_t kDenseBytes = 8192, kFewRows = 4, kWholeLines = 256, kLongRun = 2048;

// Matrices with few columns, or few rows: the elements of a row are dealt out to as many places, or
// collected from them.
template <typename T, int kCols>
void Deal(Anywhere<T>* __restrict dst, int64_t dst_stride, const Anywhere<T>* __restrict src,
          int64_t src_stride, int64_t rows) {
  if (src_stride == kCols) {
    InBlocks<T>(rows, [=](auto count, int64_t r) {
      DealBlock<T, kCols>(dst + r, dst_stride, src + r * kCols, count);
    });
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int c = 0; c < kCols; ++c) dst[c * dst_stride + r] = src[r * src_stride + c];
    }
  }
}
template <typename T, int kRows, typename Count>
__attribute__((noinline)) void CollectBlock(Anywhere<T>* __restrict dst,
                                            const Anywhere<T>* __restrict src, int64_t src_stride,
                                            Count cols) {
  for (int64_t c = 0; c < cols; ++c) {
    for (int r = 0; r < kRows; ++r) dst[c * kRows + r] = src[r * src_stride + c];
  }
}
template <typename T, int kRows>
void Collect(Anywhere<T>* __restrict dst, int64_t dst_stride, const Anywhere<T>* __restrict src,
             int64_t src_stride, int64_t cols) {
  if (dst_stride == kRows) {
    InBlocks<T>(cols, [=](auto count, int64_t c) {
      CollectBlock<T, kRows>(dst + c * kRows, src + c, src_stride, count);
    });
  } else {
    for (int64_t c = 0; c < cols; ++c) {
      for (int r = 0; r < kRows; ++r) dst[c * dst_stride + r] = src[r * src_stride + c];
    }
  }
}

// Asks for what follows a tile of so many rows in column c: the tile to the right, or the first one
// of `next`. For its last elements, as the first may lie in the lines that the tile before reads.
template <typename T>
PJRT_INLINE void AskForNext(const T* src, int64_t src_stride, int64_t r, int64_t rows, int64_t c,
                            int64_t cols, const T* next) {
  constexpr int64_t kTile = kLine / static_cast<int>(sizeof(T));
  const T* const tile = c + kTile < cols ? src + c + kTile : next;
  if (tile == nullptr) return;
  // To the first cache; to the second where elements are wide, which took a fifth longer otherwise,
  // while others took up to a fifth less.
  constexpr int kCache = sizeof(T) < 8 ? 3 : 2;
  for (int64_t i = r; i < r + rows; ++i)
    __builtin_prefetch(tile + i * src_stride + kTile - 1, 0, kCache);
}

// Strips of as many rows as a lane has elements, a vector wide: their lanes, transposed, are parts
// of rows of dst. Fewer rows than that, but more than half as many, will do where rows of dst
// follow each other: what a lane has too much goes where the next one is stored then.
template <typename T>
PJRT_INLINE bool FitsStrips(int64_t dst_stride, int64_t rows, int64_t cols) {
  using L = Lanes<T, PJRT_VECTOR_BYTES>;
  return sizeof(T) <= 2 && cols >= L::kSide &&
         (rows >= L::kPerLane || (2 * rows > L::kPerLane && rows == dst_stride));
}

// Those that reach beyond the edge move back and overlap.
template <typename T>
void TransposeStrips(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                     int64_t cols, const T* next) {
  using L = Lanes<T, PJRT_VECTOR_BYTES>;
  constexpr int64_t kTile = kLine / static_cast<int>(sizeof(T));
  const int64_t height = rows < L::kPerLane ? rows : L::kPerLane;
  for (int64_t i = 0; i < cols; i += L::kSide) {
    const int64_t c = i + L::kSide <= cols ? i : cols - L::kSide;
    if (i % kTile == 0) AskForNext(src, src_stride, 0, rows, i, cols, next);
    const bool is_last = c + L::kSide == cols;
    for (int64_t j = 0; j < rows; j += L::kPerLane) {
      const int64_t r = j + height <= rows ? j : rows - height;
      typename L::Row strip[L::kPerLane];
#pragma GCC unroll 16
      for (int k = 0; k < L::kPerLane; ++k) {
        const int64_t row = k < height ? r + k : rows - 1;
        __builtin_memcpy(&strip[k], src + row * src_stride + c, sizeof(strip[k]));
      }
      TransposeLanes<T, PJRT_VECTOR_BYTES>(strip);
      T* to = dst + c * dst_stride + r;
#pragma GCC unroll 4
      for (int lane = 0; lane < L::kCount; ++lane) {
#pragma GCC unroll 16
        for (int k = 0; k < L::kPerLane; ++k, to += dst_stride) {
          char part[L::kLaneBytes];
          __builtin_memcpy(part, reinterpret_cast<const char*>(&strip[k]) + lane * L::kLaneBytes,
                           L::kLaneBytes);
          if (is_last && lane == L::kCount - 1 && k == L::kPerLane - 1) {
            CopyInLine(to, part, height * static_cast<int64_t>(sizeof(T)));
          } else {
            __builtin_memcpy(to, part, L::kLaneBytes);
          }
        }
      }
    }
  }
}

// What is less than a tile either way.
template <typename T>
PJRT_INLINE void TransposeEnd(T* dst, int64_t dst_stride, const T* src, int64_t src_stride,
                              int64_t rows, int64_t cols) {
  if (FitsStrips<T>(dst_stride, rows, cols)) {
    TransposeStrips<T>(dst, dst_stride, src, src_stride, rows, cols, nullptr);
  } else {
    TransposeEdge<T>(dst, dst_stride, src, src_stride, rows, cols);
  }
}

// Tiles in bands; with kStream all rows of dst are aligned to lines.
template <typename T, bool kStream>
void TransposeByTiles(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                      int64_t cols, const T* next) {
  constexpr int64_t kTile = kLine / static_cast<int>(sizeof(T));
  for (int64_t band = 0; band < rows; band += kBandTiles * kTile) {
    const int64_t end = band + kBandTiles * kTile < rows ? band + kBandTiles * kTile : rows;
    for (int64_t c = 0; c < cols; c += kTile) {
      const int64_t width = cols - c < kTile ? cols - c : kTile;
      for (int64_t r = band; r < end; r += kTile) {
        const int64_t height = end - r < kTile ? end - r : kTile;
        T* const to = dst + c * dst_stride + r;
        const T* const from = src + r * src_stride + c;
        AskForNext(src, src_stride, r, height, c, cols, next);
        if (width == kTile && height == kTile) {
          TransposeTile<T, kStream>(to, dst_stride, from, src_stride, [] {});
        } else {
          TransposeEnd<T>(to, dst_stride, from, src_stride, height, width);
        }
      }
    }
  }
}

// Streams where rows of dst begin anywhere in a line. A band is transposed to a buffer along with a
// tile of the next one, and the lines that begin in the band are written whole.
template <typename T>
void StreamByLines(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t rows,
                   int64_t cols, const T* next) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T)), kTile = kLine / kSize;
  constexpr int64_t kBand = kBandTiles * kTile, kRow = kBand + kTile;
  alignas(kLine) T buffer[kTile * kRow];
  for (int64_t band = 0; band < rows; band += kBand) {
    const int64_t end = band + kBand < rows ? band + kBand : rows;
    const int64_t read_end = end + kTile < rows ? end + kTile : rows;
    for (int64_t c = 0; c < cols; c += kTile) {
      const int64_t width = cols - c < kTile ? cols - c : kTile;
      for (int64_t r = band; r < read_end; r += kTile) {
        const int64_t height = read_end - r < kTile ? read_end - r : kTile;
        const T* const from = src + r * src_stride + c;
        AskForNext(src, src_stride, r, height, c, cols, next);
        if (width == kTile && height == kTile) {
          TransposeTile<T, false>(buffer + (r - band), kRow, from, src_stride, [] {});
        } else {
          TransposeEnd<T>(buffer + (r - band), kRow, from, src_stride, height, width);
        }
      }
      for (int64_t i = 0; i < width; ++i) {
        char* const to = reinterpret_cast<char*>(dst + (c + i) * dst_stride + band);
        const char* const row = reinterpret_cast<const char*>(buffer + i * kRow);
        const int64_t in_band = (end - band) * kSize, ready = (read_end - band) * kSize;
        int64_t at = static_cast<int64_t>(-reinterpret_cast<uintptr_t>(to) % kLine);
        if (band == 0) CopyInLine(to, row, at);
        for (; at < in_band && at + kLine <= ready; at += kLine) StreamLine(to + at, row + at);
        if (at < in_band) CopyInLine(to + at, row + at, ready - at);
      }
    }
  }
}

template <typename T, bool kStream>
void TransposeAny(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t rows,
                  int64_t cols, const void* next);

PJRT_INLINE bool IsWorthStreaming(const void* dst, int64_t bytes) {
  const bool of_lines =
      (reinterpret_cast<uintptr_t>(dst) | static_cast<uintptr_t>(bytes)) % kLine == 0;
  return bytes >= (of_lines ? kWholeLines : kLongRun);
}

// Streams a matrix whose rows of dst follow each other.
template <typename T>
__attribute__((noinline)) void StreamDense(T* dst, const T* src, int64_t src_stride, int64_t rows,
                                           int64_t cols) {
  alignas(kLine) T buffer[kDenseBytes / sizeof(T)];
  int64_t together = kDenseBytes / static_cast<int64_t>(sizeof(T)) / rows;
  if (together > kLine) together -= together % kLine;
  for (int64_t c = 0; c < cols; c += together) {
    const int64_t n = cols - c < together ? cols - c : together;
    TransposeAny<T, false>(buffer, rows, src + c, src_stride, rows, n, nullptr);
    StreamBytes(reinterpret_cast<char*>(dst + c * rows), reinterpret_cast<const char*>(buffer),
                n * rows * static_cast<int64_t>(sizeof(T)));
  }
}

template <typename T, bool kStream>
void TransposeAny(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t rows,
                  int64_t cols, const void* next) {
  Anywhere<T>* const d = static_cast<Anywhere<T>*>(dst);
  const Anywhere<T>* const s = static_cast<const Anywhere<T>*>(src);
  if (kStream && rows <= kFewRows && dst_stride == rows &&
      IsWorthStreaming(dst, rows * cols * static_cast<int64_t>(sizeof(T))))
    return StreamDense<T>(static_cast<T*>(dst), static_cast<const T*>(src), src_stride, rows, cols);
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
  T* const to = static_cast<T*>(dst);
  const T* const from = static_cast<const T*>(src);
  const T* const after = static_cast<const T*>(next);
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T));
  if (kStream && cols * kSize >= kLine && reinterpret_cast<uintptr_t>(dst) % kLine == 0 &&
      dst_stride * kSize % kLine == 0) {
    TransposeByTiles<T, true>(to, dst_stride, from, src_stride, rows, cols, after);
  } else if (kStream && rows * kSize >= 2 * kLine) {
    StreamByLines<T>(to, dst_stride, from, src_stride, rows, cols, after);
  } else if (kStream && dst_stride == rows && rows * cols * kSize <= kDenseBytes) {
    StreamDense<T>(to, from, src_stride, rows, cols);
  } else if (rows * kSize < kLine && FitsStrips<T>(dst_stride, rows, cols)) {
    TransposeStrips<T>(to, dst_stride, from, src_stride, rows, cols, after);
  } else {
    TransposeByTiles<T, false>(to, dst_stride, from, src_stride, rows, cols, after);
  }
}

template <typename T>
void Transpose2d(void* dst, int64_t dst_stride, const void* src, int64_t src_stride, int64_t rows,
                 int64_t cols) {
  TransposeAny<T, false>(dst, dst_stride, src, src_stride, rows, cols, nullptr);
}

// Elements that fill all but some bytes of a Wide: squares of 16 bytes a row, spread to that width,
// turned, and packed again. What is stored beyond a row of a square is where the next squares go;
// those at the end are stored without.
template <typename Wide>
void TransposeShort(char* dst, int64_t dst_stride, const char* src, int64_t src_stride,
                    int64_t rows, int64_t cols, int64_t bytes) {
  constexpr int64_t kWide = static_cast<int64_t>(sizeof(Wide)), kSide = kShuffled / kWide;
  const int64_t used = kSide * bytes, rest = used - kShuffled / 2;
  const int64_t reach = (kShuffled + bytes - 1) / bytes;
  if (!kHasShuffle || rows < kSide || cols < reach) {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) {
        CopyShort<kWide / 2>::Run(dst + c * dst_stride + r * bytes,
                                  src + r * src_stride + c * bytes, bytes);
      }
    }
    return;
  }
  // Spread from the first bytes of a vector, or from the last.
  uint8_t places[3][kShuffled] = {};
  for (int64_t i = 0; i < kSide; ++i) {
    for (int64_t b = 0; b < bytes; ++b) {
      places[0][i * kWide + b] = static_cast<uint8_t>(i * bytes + b);
      places[1][i * kWide + b] = static_cast<uint8_t>(i * bytes + b + kShuffled - used);
      places[2][i * bytes + b] = static_cast<uint8_t>(i * kWide + b);
    }
  }
  const Bytes16 spread = Load16(places[0]), spread_last = Load16(places[1]);
  const Bytes16 pack = Load16(places[2]);
  using Row = typename Lanes<Wide, kShuffled>::Row;
  for (int64_t i = 0; i < rows; i += kSide) {
    const int64_t r = i + kSide <= rows ? i : rows - kSide;
    const bool is_last = r + reach > rows;
    const char* const from = src + r * src_stride;
    char* const to = dst + r * bytes;
    const auto turn = [&](int64_t c, int64_t from_byte, Bytes16 order) {
      Row square[kSide];
#pragma GCC unroll 4
      for (int64_t j = 0; j < kSide; ++j)
        square[j] =
            reinterpret_cast<Row>(Shuffle(Load16(from + j * src_stride + from_byte), order));
      TransposeRows<Wide, kShuffled>(square);
#pragma GCC unroll 4
      for (int64_t j = 0; j < kSide; ++j) {
        const Bytes16 row = Shuffle(reinterpret_cast<Bytes16>(square[j]), pack);
        char* const to_row = to + (c + j) * dst_stride;
        if (is_last) {
          __builtin_memcpy(to_row, &row, kShuffled / 2);
          __builtin_memcpy(to_row + rest, reinterpret_cast<const char*>(&row) + rest,
                           kShuffled / 2);
        } else {
          Store16(to_row, row);
        }
      }
    };
    int64_t c = 0;
    for (; c + reach <= cols; c += kSide) turn(c, c * bytes, spread);
    for (; c < cols; c += kSide) {
      if (c + kSide > cols) c = cols - kSide;
      turn(c, (c + kSide) * bytes - kShuffled, spread_last);
    }
  }
}

void TransposeShortAny(void* dst, int64_t dst_stride, const void* src, int64_t src_stride,
                       int64_t rows, int64_t cols, int64_t bytes) {
  (bytes < 4 ? TransposeShort<uint32_t> : TransposeShort<uint64_t>)(static_cast<char*>(dst),
                                                                    dst_stride,
                                                                    static_cast<const char*>(src),
                                                                    src_stride, rows, cols, bytes);
}

template <typename T>
void FillSize(BlockKernels* k, int log2) {
  k->transpose_2d[log2] = Transpose2d<T>;
  k->stream_transpose_2d[log2] = TransposeAny<T, true>;
}

}  // namespace

void FillTranspose(BlockKernels* k) {
  FillSize<uint8_t>(k, 0);
  FillSize<uint16_t>(k, 1);
  FillSize<uint32_t>(k, 2);
  FillSize<uint64_t>(k, 3);
  typedef uint64_t Pair __attribute__((vector_size(16)));
  FillSize<Pair>(k, 4);
  k->transpose_short = TransposeShortAny;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
