// SPDX-License-Identifier: Apache-2.0
//
// Tiles turned in the first caches, and written past the caches. Memory is what such copies wait
// for; so the lines of the next tile are asked for a few at a time between the squares of this one,
// while nothing else is under way.
#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/shuffle-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"
#include "src/cpu_device/kernels/transpose-inl.h"
#include "src/cpu_device/kernels/turned_tile.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Wider vectors do not pay: what is stored are columns of 16 bytes.
constexpr int kTurned = 16;
template <typename T>
using Square = Lanes<T, kTurned>;

// Columns of a square, `cols` of them at most: kPart elements of each, and as many `second` bytes
// further, which may overlap.
template <typename T, int kPart>
PJRT_INLINE void TurnSquare(char* dst, const int32_t* col_at, const char* const* rows, int64_t at,
                            int64_t cols, int64_t second) {
  constexpr int kSide = Square<T>::kSide, kBytes = kPart * static_cast<int>(sizeof(T));
  typename Square<T>::Row square[kSide];
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) __builtin_memcpy(&square[i], rows[i] + at, kTurned);
  TransposeLanes<T, kTurned>(square);
#pragma GCC unroll 16
  for (int i = 0; i < kSide; ++i) {
    if (i == cols) return;
    const char* const column = reinterpret_cast<const char*>(&square[i]);
    char* const to = dst + col_at[i];
    char part[kBytes];
    __builtin_memcpy(part, column, kBytes);
    __builtin_memcpy(to, part, kBytes);
    if constexpr (kPart < kSide) {
      __builtin_memcpy(part, column + kBytes, kBytes);
      __builtin_memcpy(to + second, part, kBytes);
    }
  }
}

// Asks for the lines that are read next, some of them at each of so many steps.
class Asker {
 public:
  Asker(const TurnedTile& tile, int64_t steps)
      : next_(tile.next),
        line_(tile.lines),
        end_(tile.lines + tile.num_lines),
        each_(tile.num_lines / steps + 1) {}
  __attribute__((always_inline)) void Step() {
    for (int64_t i = 0; i < each_ && line_ != end_; ++i) __builtin_prefetch(next_ + *line_++, 0, 2);
  }

 private:
  const char* next_;
  const int64_t *line_, *end_;
  int64_t each_;
};

// Squares that reach beyond the edge move back and overlap. Where all rows are less than a square,
// it has the first kPart of them and the last kPart.
template <typename T, int kPart>
void TurnBy(char* dst, const char* src, const TurnedTile& tile) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(T)), kSide = Square<T>::kSide;
  const int64_t rows = tile.rows, cols = tile.cols;
  Asker asker(tile,
              tile.num_matrices * ((rows + kSide - 1) / kSide) * ((cols + kSide - 1) / kSide));
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t i = 0; i < rows; i += kSide) {
      const int64_t r = kPart < kSide || i + kSide <= rows ? i : rows - kSide;
      const char* at[kSide];
      for (int64_t k = 0; k < kSide; ++k) {
        const int64_t row = kPart == kSide ? r + k : k < kPart ? k : rows - kPart + k % kPart;
        at[k] = src + tile.matrices[m].src_at + tile.row_at[row];
      }
      char* const to = dst + tile.matrices[m].dst_at + r * kSize;
      for (int64_t j = 0; j < cols; j += kSide) {
        const int64_t c = j + kSide <= cols || cols < kSide ? j : cols - kSide;
        TurnSquare<T, kPart>(to, tile.col_at + c, at, c * kSize, cols, (rows - kPart) * kSize);
        asker.Step();
      }
    }
  }
}

// Groups of rows with few columns.
template <typename T, int kCols>
void DealGroups(char* dst, const char* src, const TurnedTile& tile) {
  Asker asker(tile, tile.num_matrices * (tile.rows / tile.group));
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
      asker.Step();
    }
  }
}

template <typename T, int kPart = Square<T>::kSide>
void TurnElements(char* dst, const char* src, const TurnedTile& tile) {
  if constexpr (kPart > 1) {
    if (tile.rows < kPart) return TurnElements<T, kPart / 2>(dst, src, tile);
  }
  TurnBy<T, kPart>(dst, src, tile);
}

// Elements of kHalf to 2 * kHalf bytes, as two pieces that may overlap.
template <int kHalf>
void TurnPieces(char* dst, const char* src, const TurnedTile& tile) {
  const int64_t bytes = tile.together;
  Asker asker(tile, tile.num_matrices * tile.cols);
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
      asker.Step();
    }
  }
}

// Elements that fill all but some bytes of a Wide: squares of those, spread to that width when they
// are loaded and packed before they are stored. What is stored behind a square is where the next
// one goes; the last ones are stored without, by halves.
template <typename Wide>
void TurnShort(char* dst, const char* src, const TurnedTile& tile) {
  constexpr int64_t kWide = static_cast<int64_t>(sizeof(Wide)), kSide = kShuffled / kWide;
  constexpr int64_t kHalf = kShuffled / 2;
  const int64_t bytes = tile.together, used = kSide * bytes, rows = tile.rows, cols = tile.cols;
  if (!kHasShuffle || rows < kSide) return TurnPieces<kWide / 2>(dst, src, tile);
  uint8_t places[3][kShuffled] = {};
  for (int64_t i = 0; i < kSide; ++i) {
    for (int64_t b = 0; b < bytes; ++b) {
      places[0][i * kWide + b] = static_cast<uint8_t>(i * bytes + b);
      places[1][i * bytes + b] = static_cast<uint8_t>(i * kWide + b);
    }
  }
  for (int64_t b = 0; b < kHalf; ++b) {
    places[2][b] = places[1][b];
    places[2][kHalf + b] = places[1][used - kHalf + b];
  }
  const Bytes16 spread = Load16(places[0]), pack = Load16(places[1]), halves = Load16(places[2]);
  using Row = typename Lanes<Wide, kShuffled>::Row;
  Asker asker(tile,
              tile.num_matrices * ((rows + kSide - 1) / kSide) * ((cols + kSide - 1) / kSide));
  for (int64_t m = 0; m < tile.num_matrices; ++m) {
    for (int64_t i = 0; i < rows; i += kSide) {
      const int64_t r = i + kSide <= rows ? i : rows - kSide;
      const bool is_last = r * bytes + kShuffled > rows * bytes;
      const char* at[kSide];
      for (int64_t k = 0; k < kSide; ++k)
        at[k] = src + tile.matrices[m].src_at + tile.row_at[r + k];
      char* const to = dst + tile.matrices[m].dst_at + r * bytes;
      for (int64_t j = 0; j < cols; j += kSide) {
        const int64_t c = j + kSide <= cols || cols < kSide ? j : cols - kSide;
        Row square[kSide];
#pragma GCC unroll 4
        for (int64_t k = 0; k < kSide; ++k)
          square[k] = reinterpret_cast<Row>(Shuffle(Load16(at[k] + c * bytes), spread));
        TransposeRows<Wide, kShuffled>(square);
#pragma GCC unroll 4
        for (int64_t k = 0; k < kSide; ++k) {
          if (k == cols) break;
          const Bytes16 column = reinterpret_cast<Bytes16>(square[k]);
          char* const to_column = to + tile.col_at[c + k];
          if (is_last) {
            const Bytes16 ends = Shuffle(column, halves);
            __builtin_memcpy(to_column, &ends, kHalf);
            __builtin_memcpy(to_column + used - kHalf, reinterpret_cast<const char*>(&ends) + kHalf,
                             kHalf);
          } else {
            Store16(to_column, Shuffle(column, pack));
          }
        }
        asker.Step();
      }
    }
  }
}

template <typename T>
void TurnTile(void* dst, const void* src, const TurnedTile& tile) {
  char* const to = static_cast<char*>(dst);
  const char* const from = static_cast<const char*>(src);
  if constexpr (sizeof(T) <= 4) {
    if (tile.group > 0) {
      constexpr decltype(DealGroups<T, 2>)* kDeal[] = {DealGroups<T, 2>, DealGroups<T, 3>,
                                                       DealGroups<T, 4>};
      return kDeal[tile.cols - 2](to, from, tile);
    }
  }
  if (tile.together == 1) return TurnElements<T>(to, from, tile);
  if (tile.together < 4) return TurnShort<uint32_t>(to, from, tile);
  TurnShort<uint64_t>(to, from, tile);
}

void CarryRows(char* dst, int64_t dst_stride, char* src, int64_t src_stride, int64_t bytes,
               int64_t rows, bool begins, bool ends) {
  for (int64_t r = 0; r < rows; ++r, dst += dst_stride, src += src_stride) {
    int64_t at = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(dst) % kLine);
    if (begins && at != 0) {
      at += kLine;
      CopyInLine(dst, src, at < bytes ? at : bytes);
    }
    for (; at + kLine <= bytes; at += kLine) StreamLine(dst + at, src + at);
    if (!ends) {
      char last[kLine];
      __builtin_memcpy(last, src + bytes - kLine, kLine);
      __builtin_memcpy(src - kLine, last, kLine);
    } else if (at < bytes) {
      CopyInLine(dst + at, src + at, bytes - at);
    }
  }
}

}  // namespace

void FillTurn(BlockKernels* k) {
  k->turn_tile[0] = TurnTile<uint8_t>;
  k->turn_tile[1] = TurnTile<uint16_t>;
  k->turn_tile[2] = TurnTile<uint32_t>;
  k->turn_tile[3] = TurnTile<uint64_t>;
  typedef uint64_t Pair __attribute__((vector_size(16)));
  k->turn_tile[4] = TurnTile<Pair>;
  k->carry_rows = CarryRows;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
