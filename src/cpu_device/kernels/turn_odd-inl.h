// SPDX-License-Identifier: Apache-2.0
//
// Elements that are no power of two of bytes, turned in the first cache. Only files in levels/
// include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_TURN_ODD_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_TURN_ODD_INL_H_

#include "src/cpu_device/kernels/intrinsics-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/shuffle-inl.h"
#include "src/cpu_device/kernels/tile_reader-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"
#include "src/cpu_device/kernels/turned_tile.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {  // as the reader is

// An element of 16 bytes.
typedef uint64_t Pair __attribute__((vector_size(16)));

// Elements of kHalf to 2 * kHalf bytes, as two pieces that may overlap.
template <int kHalf>
void TurnPieces(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
  const int64_t bytes = tile.together;
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t c = 0; c < tile.cols; ++c) {
      char* to = dst + tile.matrices[m].dst_at + tile.col_at[c];
      const char* const col = src + tile.matrices[m].src_at + c * bytes;
      for (int64_t r = 0; r < tile.rows; ++r, to += bytes) {
        const char* const from = col + tile.row_at[r];
        char first[kHalf], last[kHalf];
        __builtin_memcpy(first, from, kHalf);
        __builtin_memcpy(last, from + bytes - kHalf, kHalf);
        __builtin_memcpy(to, first, kHalf);
        __builtin_memcpy(to + bytes - kHalf, last, kHalf);
      }
      reader->Step();
    }
  }
}

// Elements that fill all but some bytes of a Wide: squares of those, spread to that width when they
// are loaded and packed before they are stored. What is stored behind a square is where the next
// one goes; the last ones are stored without, by halves. Places of bytes in vectors of kVector
// bytes, by the bytes of an element.
template <int kWide, int kVector>
struct OddPlaces {
  alignas(kVector) uint8_t spread[kWide][kVector], pack[kWide][kVector], halves[kWide][kVector];
};
template <int kWide, int kVector>
constexpr OddPlaces<kWide, kVector> kOddPlaces = [] {
  constexpr int kHalf = kVector / 2;
  OddPlaces<kWide, kVector> places = {};
  for (int bytes = kWide / 2 + 1; bytes < kWide; ++bytes) {
    const int used = kVector / kWide * bytes;
    for (int i = 0; i < used; ++i) {
      const int at = i / bytes * kWide + i % bytes;
      places.spread[bytes][at] = static_cast<uint8_t>(i);
      places.pack[bytes][i] = static_cast<uint8_t>(at);
    }
    for (int i = 0; i < kHalf; ++i) {
      places.halves[bytes][i] = places.pack[bytes][i];
      places.halves[bytes][kHalf + i] = places.pack[bytes][used - kHalf + i];
    }
  }
  return places;
}();

// Stores a lane of each of kSide vectors, `cols` of them at most, and the lanes behind it. The
// `halves` are as many bytes apart, or the vectors are whole where that is 0.
template <int kSide, int kWidth, int kLane = 0>
PJRT_INLINE void StoreShort(char* dst, const int32_t* col_at, const BytesInLanes<kWidth>* columns,
                            int64_t cols, int64_t halves) {
#pragma GCC unroll 4
  for (int i = 0; i < kSide; ++i) {
    if (kLane * kSide + i == cols) return;
    const Bytes16 column = LaneOf<kLane>(columns[i]);
    char* const to = dst + col_at[kLane * kSide + i];
    if (halves == 0) {
      Store16(to, column);
    } else {
      __builtin_memcpy(to, &column, kShuffled / 2);
      __builtin_memcpy(to + halves, reinterpret_cast<const char*>(&column) + kShuffled / 2,
                       kShuffled / 2);
    }
  }
  if constexpr ((kLane + 1) * kShuffled < kWidth)
    StoreShort<kSide, kWidth, kLane + 1>(dst, col_at, columns, cols, halves);
}

template <typename Wide, int kWidth>
void TurnShortBy(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
  constexpr int64_t kSide = kShuffled / static_cast<int64_t>(sizeof(Wide));
  constexpr int64_t kCols = kWidth / kShuffled * kSide;
  const int64_t bytes = tile.together, used = kSide * bytes, rows = tile.rows, cols = tile.cols;
  constexpr const auto& kPlaces = kOddPlaces<static_cast<int>(sizeof(Wide)), kShuffled>;
  const auto spread = LoadLanes<kWidth>(kPlaces.spread[bytes], 0);
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t i = 0; i < rows; i += kSide) {
      const int64_t r = i + kSide <= rows ? i : rows - kSide;
      const bool is_last = r * bytes + kShuffled > rows * bytes;
      const auto pack = LoadLanes<kWidth>((is_last ? kPlaces.halves : kPlaces.pack)[bytes], 0);
      const char* at[kSide];
      for (int64_t k = 0; k < kSide; ++k)
        at[k] = src + tile.matrices[m].src_at + tile.row_at[r + k];
      char* const to = dst + tile.matrices[m].dst_at + r * bytes;
      for (int64_t j = 0; j < cols; j += kCols) {
        const int64_t c = j + kCols <= cols || cols < kCols ? j : cols - kCols;
        using Row = typename Lanes<Wide, kWidth>::Row;
        Row squares[kSide];
        BytesInLanes<kWidth> columns[kSide];
#pragma GCC unroll 4
        for (int64_t k = 0; k < kSide; ++k) {
          squares[k] = reinterpret_cast<Row>(
              ShuffleLanes<kWidth>(LoadLanes<kWidth>(at[k] + c * bytes, used), spread));
        }
        TransposeLanes<Wide, kWidth>(squares);
#pragma GCC unroll 4
        for (int64_t k = 0; k < kSide; ++k) {
          columns[k] =
              ShuffleLanes<kWidth>(reinterpret_cast<BytesInLanes<kWidth>>(squares[k]), pack);
        }
        StoreShort<kSide, kWidth>(to, tile.col_at + c, columns, cols,
                                  is_last ? used - kShuffled / 2 : 0);
        reader->Step(kWidth / kShuffled);
      }
    }
  }
}

#if defined(__AVX512BW__)
constexpr int64_t kWideBytes = 64;
// Elements of three bytes where any bytes of a vector can be packed: the lanes of a vector are of
// four groups of rows, so that 16 elements of a column are stored at once. 84 ns a KB in place of
// 102; larger squares gain nothing.
constexpr int64_t kTriples = 16;

__attribute__((target("avx512vbmi"))) void TurnTriples(char* dst, const char* src,
                                                       const TurnedShape& tile,
                                                       TileReader* reader) {
  constexpr int64_t kBytes = 3, kSide = 4;
  constexpr __mmask64 kUsed = (uint64_t{1} << (kTriples * kBytes)) - 1;
  const int64_t rows = tile.rows, cols = tile.cols;
  const __m512i pack = _mm512_load_si512(kOddPlaces<kSide, kWideBytes>.pack[kBytes]);
  const __m512i spread = reinterpret_cast<__m512i>(
      LoadLanes<kWideBytes>(kOddPlaces<kSide, kShuffled>.spread[kBytes], 0));
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t i = 0; i < rows; i += kTriples) {
      const int64_t r = i + kTriples <= rows ? i : rows - kTriples;
      const bool is_last = r * kBytes + kWideBytes > rows * kBytes;
      const char* at[kTriples];
      for (int64_t k = 0; k < kTriples; ++k)
        at[k] = src + tile.matrices[m].src_at + tile.row_at[r + k];
      char* const to = dst + tile.matrices[m].dst_at + r * kBytes;
      for (int64_t j = 0; j < cols; j += kSide) {
        const int64_t c = j + kSide <= cols ? j : cols - kSide;
        using Row = typename Lanes<uint32_t, kWideBytes>::Row;
        Row squares[kSide];
#pragma GCC unroll 4
        for (int64_t k = 0; k < kSide; ++k) {
          const auto lanes = LoadLanes<kWideBytes>([&](int64_t l) __attribute__((always_inline)) {
            return at[l * kSide + k] + c * kBytes;
          });
          squares[k] =
              reinterpret_cast<Row>(_mm512_shuffle_epi8(reinterpret_cast<__m512i>(lanes), spread));
        }
        TransposeLanes<uint32_t, kWideBytes>(squares);
#pragma GCC unroll 4
        for (int64_t k = 0; k < kSide; ++k) {
          const __m512i column =
              _mm512_permutexvar_epi8(pack, reinterpret_cast<__m512i>(squares[k]));
          char* const column_at = to + tile.col_at[c + k];
          if (is_last) {
            _mm512_mask_storeu_epi8(column_at, kUsed, column);
          } else {
            _mm512_storeu_si512(column_at, column);
          }
        }
        reader->Step(kSide);
      }
    }
  }
}

// Elements that fill all but some bytes of a Wide, where any bytes of a vector can be packed: as
// above by squares of whole vectors. Elements of 9 bytes take 88 ns a KB in place of 105, of 6
// bytes 92 in place of 100.
template <typename Wide>
__attribute__((target("avx512vbmi"))) void TurnWide(char* dst, const char* src,
                                                    const TurnedShape& tile, TileReader* reader) {
  constexpr int64_t kWide = static_cast<int64_t>(sizeof(Wide)), kSide = kWideBytes / kWide;
  constexpr int64_t kHalf = kWideBytes / 2;
  const int64_t bytes = tile.together, rows = tile.rows, cols = tile.cols, used = kSide * bytes;
  constexpr const auto& kPlaces = kOddPlaces<static_cast<int>(sizeof(Wide)), kWideBytes>;
  const __m512i spread = _mm512_load_si512(kPlaces.spread[bytes]);
  using Row = typename Lanes<Wide, kWideBytes>::Row;
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t i = 0; i < rows; i += kSide) {
      const int64_t r = i + kSide <= rows ? i : rows - kSide;
      const bool is_last = r * bytes + kWideBytes > rows * bytes;
      const __m512i pack = _mm512_load_si512((is_last ? kPlaces.halves : kPlaces.pack)[bytes]);
      const int32_t* const row_at = tile.row_at + r;
      char* const to = dst + tile.matrices[m].dst_at + r * bytes;
      for (int64_t j = 0; j < cols; j += kSide) {
        const int64_t c = j + kSide <= cols ? j : cols - kSide;
        const char* const from = src + tile.matrices[m].src_at + c * bytes;
        const int32_t* const col_at = tile.col_at + c;
        Row square[kSide];
#pragma GCC unroll 16
        for (int64_t k = 0; k < kSide; ++k) {
          square[k] = reinterpret_cast<Row>(
              _mm512_permutexvar_epi8(spread, _mm512_loadu_si512(from + row_at[k])));
        }
        TransposeRows<Wide, kWideBytes>(square);
#pragma GCC unroll 16
        for (int64_t k = 0; k < kSide; ++k) {
          const __m512i column =
              _mm512_permutexvar_epi8(pack, reinterpret_cast<__m512i>(square[k]));
          char* const column_at = to + col_at[k];
          if (!is_last) {
            _mm512_storeu_si512(column_at, column);
            continue;
          }
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(column_at),
                              _mm512_castsi512_si256(column));
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(column_at + used - kHalf),
                              _mm512_extracti64x4_epi64(column, 1));
        }
        reader->Step(kSide);
      }
    }
  }
}
#endif

// Elements of 9 to 15 bytes, each with what is behind it: that is where the next one goes. The last
// one of a column is stored by halves.
void TurnLong(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
#if defined(__AVX512BW__)
  if (tile.shuffle_bytes == kWideBytes && tile.rows >= 4 && tile.cols >= 4)
    return TurnWide<Pair>(dst, src, tile, reader);
#endif
  constexpr int64_t kHalf = kShuffled / 2;
  const int64_t bytes = tile.together, last = tile.rows - 1;
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t c = 0; c < tile.cols; ++c) {
      char* to = dst + tile.matrices[m].dst_at + tile.col_at[c];
      const char* const col = src + tile.matrices[m].src_at + c * bytes;
      for (int64_t r = 0; r < last; ++r, to += bytes) Store16(to, Load16(col + tile.row_at[r]));
      const char* const from = col + tile.row_at[last];
      char first[kHalf], second[kHalf];
      __builtin_memcpy(first, from, kHalf);
      __builtin_memcpy(second, from + bytes - kHalf, kHalf);
      __builtin_memcpy(to, first, kHalf);
      __builtin_memcpy(to + bytes - kHalf, second, kHalf);
      reader->Step((tile.rows + 3) / 4);
    }
  }
}

template <typename Wide>
void TurnShort(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
  constexpr int64_t kWide = static_cast<int64_t>(sizeof(Wide));
  if (!kHasShuffle || tile.rows < kShuffled / kWide)
    return TurnPieces<kWide / 2>(dst, src, tile, reader);
#if defined(__AVX512BW__)
  if (kWide == 4 && tile.shuffle_bytes == kWideBytes && tile.rows >= kTriples && tile.cols >= 4)
    return TurnTriples(dst, src, tile, reader);
  if (kWide == 8 && tile.shuffle_bytes == kWideBytes && tile.rows >= 8 && tile.cols >= 8)
    return TurnWide<uint64_t>(dst, src, tile, reader);
#endif
  if (tile.cols >= PJRT_VECTOR_BYTES / kWide)
    return TurnShortBy<Wide, PJRT_VECTOR_BYTES>(dst, src, tile, reader);
  TurnShortBy<Wide, kShuffled>(dst, src, tile, reader);
}

// Elements of tile.together bytes.
PJRT_INLINE void TurnOdd(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
  if (tile.together < 4) return TurnShort<uint32_t>(dst, src, tile, reader);
  if (tile.together < 8) return TurnShort<uint64_t>(dst, src, tile, reader);
  TurnLong(dst, src, tile, reader);
}

}  // namespace
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_TURN_ODD_INL_H_
