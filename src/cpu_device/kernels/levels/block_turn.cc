// SPDX-License-Identifier: Apache-2.0
//
// Tiles turned in the first caches, and written past the caches where they are large. Memory is
// what such copies wait for; so the next tile is read a few rows at a time, which were asked for
// before, between the squares of this one and the rows that it writes.
#include "src/cpu_device/kernels/carry_rows-inl.h"
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/shuffle-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"
#include "src/cpu_device/kernels/tile_reader-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"
#include "src/cpu_device/kernels/turn_columns-inl.h"
#include "src/cpu_device/kernels/turn_odd-inl.h"
#include "src/cpu_device/kernels/turned_tile.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Stores a lane of each vector, `cols` of them at most, and the lanes behind it: kPart elements
// each, and as many `second` bytes further, which may overlap.
template <typename T, int kPart, int kWide, int kLane = 0>
PJRT_INLINE void StoreColumns(char* dst, const int32_t* col_at,
                              const typename Lanes<T, kWide>::Row* squares, int64_t cols,
                              int64_t second) {
  using L = Lanes<T, kWide>;
  constexpr int kSide = L::kPerLane, kBytes = kPart * static_cast<int>(sizeof(T));
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) {
    if (kLane * kSide + i == cols) return;
    const Bytes16 column = LaneOf<kLane>(squares[i]);
    char* const to = dst + col_at[kLane * kSide + i];
    char part[kShuffled];
    __builtin_memcpy(part, &column, kShuffled);
    __builtin_memcpy(to, part, kBytes);
    if constexpr (kPart < kSide) __builtin_memcpy(to + second, part + kBytes, kBytes);
  }
  if constexpr (kLane + 1 < L::kCount)
    StoreColumns<T, kPart, kWide, kLane + 1>(dst, col_at, squares, cols, second);
}

// By squares, as many side by side as fit a vector of kWide bytes. Those that reach beyond the edge
// move back and overlap. Where all rows are less than a square, it has the first kPart of them and
// the last kPart.
template <typename T, int kPart, int kWide>
void TurnBy(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T)), kSide = Square<T>::kSide;
  constexpr int64_t kCols = kWide / kSize;
  const int64_t rows = tile.rows, cols = tile.cols;
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t j = 0; j < cols; j += kCols) {
      const int64_t c = j + kCols <= cols || cols < kCols ? j : cols - kCols;
      const char* const from = src + tile.matrices[m].src_at + c * kSize;
      char* const to = dst + tile.matrices[m].dst_at;
      for (int64_t i = 0; i < rows; i += kSide) {
        const int64_t r = kPart < kSide || i + kSide <= rows ? i : rows - kSide;
        typename Lanes<T, kWide>::Row squares[kSide];
#pragma GCC unroll 16
        for (int64_t k = 0; k < kSide; ++k) {
          const int64_t row = kPart == kSide ? r + k : k < kPart ? k : rows - kPart + k % kPart;
          __builtin_memcpy(&squares[k], from + tile.row_at[row], kWide);
        }
        TransposeLanes<T, kWide>(squares);
        StoreColumns<T, kPart, kWide>(to + r * kSize, tile.col_at + c, squares, cols,
                                      (rows - kPart) * kSize);
        reader->Step(kWide / kShuffled);
      }
    }
  }
}

// The same where there are many rows: the lanes of a vector are of as many groups of rows, so that
// it is stored whole. Never inlined: gcc 12 makes of it what takes 87 ns a KB in place of 54.
template <typename T, int kWide>
__attribute__((noinline)) void TurnTall(char* dst, const char* src, const TurnedShape& tile,
                                        TileReader* reader) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T)), kCols = Square<T>::kSide;
  constexpr int64_t kRows = kWide / kSize;
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t j = 0; j < tile.cols; j += kCols) {
      const int64_t c = j + kCols <= tile.cols ? j : tile.cols - kCols;
      const char* const from = src + tile.matrices[m].src_at + c * kSize;
      for (int64_t i = 0; i < tile.rows; i += kRows) {
        const int64_t r = i + kRows <= tile.rows ? i : tile.rows - kRows;
        char* const to = dst + tile.matrices[m].dst_at + r * kSize;
        TurnRows<T, kWide>(
            from,
            tile.row_at + r, [&](int64_t k, const auto& column) __attribute__((always_inline)) {
              __builtin_memcpy(to + tile.col_at[c + k], &column, kWide);
            });
        reader->Step(kWide / kShuffled);
      }
    }
  }
}

// Groups of rows with few columns.
template <typename T, int kCols>
void DealGroups(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
  const int64_t apart = (tile.col_at[1] - tile.col_at[0]) / static_cast<int64_t>(sizeof(T));
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t r = 0; r < tile.rows; r += tile.group) {
      const auto* from =
          reinterpret_cast<const Anywhere<T>*>(src + tile.matrices[m].src_at + tile.row_at[r]);
      auto* const to =
          reinterpret_cast<Anywhere<T>*>(dst + tile.matrices[m].dst_at + tile.col_at[0]) + r;
      InBlocks<T>(tile.group, [=](auto count, int64_t i) {
        DealBlock<T, kCols>(to + i, apart, from + i * kCols, count);
      });
      reader->Step();
    }
  }
}

// Where the bytes of columns come from: as many rows as fit a vector have as many vectors as there
// are columns. The last vector of a column is stored by halves, of which the second one has the
// last bytes: nothing is stored behind them.
template <int kCols>
struct DealtBytes {
  static constexpr int kSizes = 8;
  uint8_t at[kSizes][2][kCols][kCols][kShuffled];  // [size][is last][column][vector]
};
template <int kCols>
constexpr DealtBytes<kCols> kDealtBytes = [] {
  DealtBytes<kCols> dealt = {};
  for (int size = 1; size < dealt.kSizes; ++size) {
    const int used = kShuffled / size * size;
    for (int is_last = 0; is_last < 2; ++is_last) {
      for (int col = 0; col < kCols; ++col) {
        for (int i = 0; i < kShuffled; ++i) {
          const int byte = is_last && i >= kShuffled / 2 ? used - kShuffled + i : i;
          const int from = (byte / size * kCols + col) * size + byte % size;
          for (int v = 0; v < kCols; ++v) {
            const bool is_here = byte < used && from / kShuffled == v;
            dealt.at[size][is_last][col][v][i] =
                static_cast<uint8_t>(is_here ? from % kShuffled : kNowhere);
          }
        }
      }
    }
  }
  return dealt;
}();

template <int kCols>
PJRT_INLINE Bytes16 DealtColumn(const Bytes16* in, const Bytes16* places) {
  Bytes16 out = Shuffle(in[0], places[0]);
#pragma GCC unroll 4
  for (int v = 1; v < kCols; ++v) out |= Shuffle(in[v], places[v]);
  return out;
}

// Groups of rows of elements of `size` bytes with few columns, by shuffles.
template <int kCols>
void DealBytes(char* dst, const char* src, const TurnedShape& tile, int64_t size,
               TileReader* reader) {
  constexpr int64_t kHalf = kShuffled / 2;
  const int64_t apart = tile.col_at[1] - tile.col_at[0], group = tile.group;
  const int64_t block = kShuffled / size, used = block * size, last = group - block;
  const auto& dealt = kDealtBytes<kCols>.at[size];
  Bytes16 places[kCols][kCols];
#pragma GCC unroll 4
  for (int c = 0; c < kCols; ++c) {
#pragma GCC unroll 4
    for (int v = 0; v < kCols; ++v) places[c][v] = Load16(dealt[0][c][v]);
  }
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t r = 0; r < tile.rows; r += group) {
      const char* const from = src + tile.matrices[m].src_at + tile.row_at[r];
      char* const to = dst + tile.matrices[m].dst_at + tile.col_at[0] + r * size;
      // The last block moves back and overlaps.
      for (int64_t i = 0; i < group; i += block) {
        const int64_t at = i < last ? i : last;
        Bytes16 in[kCols];
#pragma GCC unroll 4
        for (int v = 0; v < kCols; ++v) in[v] = Load16(from + at * kCols * size + v * kShuffled);
        char* const column = to + at * size;
        if (at < last || used == kShuffled) {
#pragma GCC unroll 4
          for (int c = 0; c < kCols; ++c)
            Store16(column + c * apart, DealtColumn<kCols>(in, places[c]));
          continue;
        }
        for (int c = 0; c < kCols; ++c) {
          Bytes16 ends[kCols];
          for (int v = 0; v < kCols; ++v) ends[v] = Load16(dealt[1][c][v]);
          const Bytes16 out = DealtColumn<kCols>(in, ends);
          __builtin_memcpy(column + c * apart, &out, kHalf);
          __builtin_memcpy(column + c * apart + used - kHalf,
                           reinterpret_cast<const char*>(&out) + kHalf, kHalf);
        }
      }
      reader->Step();
    }
  }
}

template <typename T, int kPart = Square<T>::kSide>
void TurnElements(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
  if constexpr (kPart > 1) {
    if (tile.rows < kPart) return TurnElements<T, kPart / 2>(dst, src, tile, reader);
  }
  if constexpr (sizeof(T) <= 2 && kPart == Square<T>::kSide && PJRT_VECTOR_BYTES > kShuffled) {
    if (tile.rows >= PJRT_VECTOR_BYTES / static_cast<int>(sizeof(T)) && tile.cols >= kPart)
      return TurnTall<T, PJRT_VECTOR_BYTES>(dst, src, tile, reader);
  }
  if (tile.cols >= PJRT_VECTOR_BYTES / static_cast<int>(sizeof(T)))
    return TurnBy<T, kPart, PJRT_VECTOR_BYTES>(dst, src, tile, reader);
  TurnBy<T, kPart, kShuffled>(dst, src, tile, reader);
}

// Blocks whose bytes change their order: those of several passes through the shuffles at a time,
// each as far `apart` from the one before, so that places are loaded once for all of them. Without
// vectors that any bytes can be packed in, a batch of 7x7 bytes takes 99 ns a KB in place of 125,
// of 3x3 f32 84 in place of 96.
struct Apart {
  int64_t from, to;
};
template <typename Vector, int... kLane>
PJRT_INLINE void StoreLanes(char* to, int64_t apart, Vector lanes,
                            std::integer_sequence<int, kLane...>) {
  (Store16(to + kLane * apart, LaneOf<kLane>(lanes)), ...);
}
template <int kPasses>
PJRT_INLINE void ShuffleLanesOf(char* dst, const char* src, Apart apart,
                                const TurnedShape::Shuffle* shuffle,
                                const TurnedShape::Shuffle* end) {
  constexpr int kBytes = kPasses * kShuffled;
  while (shuffle < end) {
    char* const to = dst + shuffle->to;
    BytesInLanes<kBytes> out = {};
    for (bool ends = false; !ends; ++shuffle) {
      out |= ShuffleLanes<kBytes>(LoadLanes<kBytes>(src + shuffle->from, apart.from),
                                  LoadLanes<kBytes>(shuffle->places, 0));
      ends = shuffle->ends;
    }
    StoreLanes(to, apart.to, out, std::make_integer_sequence<int, kPasses>());
  }
}

#if defined(__AVX512BW__)
// The same by vectors of 64 bytes: a batch of 7x7 bytes takes 54 ns a KB in place of 124, and a
// copy 50.
template <int kPasses>
__attribute__((target("avx512vbmi"))) void ShuffleWide(char* dst, const char* src, Apart apart,
                                                       const TurnedShape::Shuffle* shuffle,
                                                       const TurnedShape::Shuffle* end) {
  while (shuffle < end) {
    char* const to = dst + shuffle->to;
    __m512i out[kPasses];
    for (bool begins = true, ends = false; !ends; begins = false, ++shuffle) {
      const __m512i places = _mm512_load_si512(shuffle->places);
      const char* const at = src + shuffle->from;
#pragma GCC unroll 4
      for (int i = 0; i < kPasses; ++i) {
        const __m512i bytes = _mm512_loadu_si512(at + i * apart.from);
        out[i] = begins ? _mm512_permutexvar_epi8(places, bytes)
                        : _mm512_mask_permutexvar_epi8(out[i], shuffle->used, places, bytes);
      }
      ends = shuffle->ends;
    }
#pragma GCC unroll 4
    for (int i = 0; i < kPasses; ++i) _mm512_storeu_si512(to + i * apart.to, out[i]);
  }
}
#endif

template <bool kIsWide>
void ShuffleBlocks(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
  constexpr int kPasses = kIsWide ? 4 : PJRT_VECTOR_BYTES / static_cast<int>(kShuffled);
  const int64_t blocks = tile.num_blocks, once = tile.at_once;
  const TurnedShape::Shuffle* const end = tile.shuffles + tile.num_shuffles;
  const auto shuffle = [&](auto passes, char* to, const char* from, int64_t block) {
    const Apart apart = {once * tile.block_from, once * tile.block_to};
    to += block * tile.block_to;
    from += block * tile.block_from;
#if defined(__AVX512BW__)
    if constexpr (kIsWide) return ShuffleWide<passes>(to, from, apart, tile.shuffles, end);
#endif
    ShuffleLanesOf<passes>(to, from, apart, tile.shuffles, end);
  };
  for (int64_t m = 0; m < tile.num_block_places; ++m) {
    char* const to = dst + tile.blocks[m].dst_at;
    const char* const from = src + tile.blocks[m].src_at;
    int64_t i = 0;
    for (; i + kPasses * once <= blocks; i += kPasses * once) {
      shuffle(std::integral_constant<int, kPasses>(), to, from, i);
      reader->Step(kPasses);
    }
    // The last ones move back and overlap.
    for (; i < blocks; i += once) {
      shuffle(std::integral_constant<int, 1>(), to, from, i + once <= blocks ? i : blocks - once);
      reader->Step();
    }
  }
}

template <typename T>
void Turn(char* dst, const char* src, const TurnedShape& tile, TileReader* reader) {
#if defined(__AVX512BW__)
  if (tile.num_shuffles > 0 && tile.shuffle_bytes == kWideBytes)
    return ShuffleBlocks<true>(dst, src, tile, reader);
#endif
  if (kHasShuffle && tile.num_shuffles > 0) return ShuffleBlocks<false>(dst, src, tile, reader);
  if (tile.group > 0 && sizeof(T) <= 4) {
    const int64_t size = tile.together == 1 ? static_cast<int64_t>(sizeof(T)) : tile.together;
    if (kHasShuffle && size != 4) {
      constexpr decltype(DealBytes<2>)* kDeal[] = {DealBytes<2>, DealBytes<3>, DealBytes<4>};
      return kDeal[tile.cols - 2](dst, src, tile, size, reader);
    }
    if (tile.together == 1) {
      constexpr decltype(DealGroups<T, 2>)* kDeal[] = {DealGroups<T, 2>, DealGroups<T, 3>,
                                                       DealGroups<T, 4>};
      return kDeal[tile.cols - 2](dst, src, tile, reader);
    }
  }
  if (tile.together == 1) return TurnElements<T>(dst, src, tile, reader);
  TurnOdd(dst, src, tile, reader);
}

// About how often that calls a reader.
template <typename T>
int64_t TurnSteps(const TurnedShape& tile) {
  if (kHasShuffle && tile.num_shuffles > 0)
    return tile.num_block_places * ((tile.num_blocks + tile.at_once - 1) / tile.at_once);
  if (tile.group > 0) return tile.num_matrices * (tile.rows / tile.group);
  if (tile.together > 8) return tile.num_matrices * tile.cols * ((tile.rows + 3) / 4);
  const int64_t side = tile.together == 1 ? Square<T>::kSide : tile.together < 4 ? 4 : 2;
  return tile.num_matrices * ((tile.rows + side - 1) / side) * ((tile.cols + side - 1) / side);
}

template <typename T>
void TurnTile(const TurnedTile& tile, const TurnedTile& next, const TurnedTile& after,
              TurnScratch* scratch) {
  if (scratch->read == nullptr) TileReader(tile, next, scratch, 1).Rest();
  const char* const source = scratch->read;
  char* const target = scratch->target + kLine;
  const TurnedShape& shape = *tile.shape;
  if constexpr (kStreamsColumns) {
    if (shape.columns != nullptr) {
      TileReader reader(next, after, scratch, TurnSteps<T>(shape));
      StreamColumns<T>(tile, source, target, &reader);
      reader.Rest();
      return;
    }
  }
  TileReader reader(next, after, scratch, TurnSteps<T>(shape) + shape.num_places * shape.to_rows);
  Turn<T>(target, source, shape, &reader);
  for (int64_t i = 0; i < shape.num_places; ++i) {
    const TurnedShape::Place& place = shape.places[i];
    const auto carry = shape.is_streamed ? CarryRows<true> : CarryRows<false>;
    carry(tile.to + place.at, shape.to_stride, target + place.buffer_at, shape.to_pitch,
          shape.to_bytes, shape.to_rows, tile.begins, tile.ends, &reader);
  }
  reader.Rest();
}

}  // namespace

void FillTurn(BlockKernels* k) {
  k->turn_tile[0] = TurnTile<uint8_t>;
  k->turn_tile[1] = TurnTile<uint16_t>;
  k->turn_tile[2] = TurnTile<uint32_t>;
  k->turn_tile[3] = TurnTile<uint64_t>;
  k->turn_tile[4] = TurnTile<Pair>;
  // Where vectors are less than a line it gains nothing: on a Zen 3 256 MiB of bytes, a matrix of
  // 16384x16384, take 80 ms without and 115 and more by columns, four dims the same either way.
  k->streams_columns = kStreamsColumns;
  // Larger blocks are turned in less time by squares, which fit them better.
  k->shuffle_bytes = kHasShuffle ? kShuffled : 0;
  k->largest_block = 5 * kShuffled;
#if defined(__AVX512BW__)
  if (__builtin_cpu_supports("avx512vbmi")) {
    k->shuffle_bytes = kWideBytes;
    k->largest_block = 23 * kShuffled;
  }
#endif
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
