// SPDX-License-Identifier: Apache-2.0
//
// Boxes copied by turned tiles, at each kernel level: against the definition, element by element,
// in memory whose neighbours must not be touched.
#include "src/cpu_device/run/turned_tiles.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/cpu/guarded_memory.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

constexpr int kElementSizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

// A dense box in the order of the target, with `gap` elements behind each run of its last dim; the
// source has the dims in `order`, outermost first, those of `reversed` backwards.
struct Box {
  std::vector<int64_t> sizes;
  std::vector<int> order;
  int64_t gap;
  int reversed;
};
struct Layout {
  TurnedTiles::DimList dims;
  int64_t from_bytes, to_bytes, from_at = 0, count = 1;
};
Layout LayoutOf(const Box& box, int size) {
  Layout layout;
  layout.from_bytes = layout.to_bytes = size;
  for (int64_t n : box.sizes) layout.dims.push_back({n, 0, 0});
  for (size_t d = box.sizes.size(); d-- > 0;) {
    layout.dims[d].to = layout.to_bytes;
    layout.to_bytes *= box.sizes[d];
    if (d + 1 == box.sizes.size()) layout.to_bytes += box.gap * size;
    layout.count *= box.sizes[d];
  }
  for (size_t i = box.order.size(); i-- > 0;) {
    const int d = box.order[i];
    int64_t& from = layout.dims[d].from;
    from = layout.from_bytes;
    layout.from_bytes *= box.sizes[d];
    if (d == box.reversed) {
      layout.from_at += from * (box.sizes[d] - 1);
      from = -from;
    }
  }
  return layout;
}

void CheckTiles(const Box& box, int size) {
  const auto [dims, from_bytes, to_bytes, from_at, count] = LayoutOf(box, size);
  const Guarded source(from_bytes), target(to_bytes);
  std::mt19937 random(9);
  for (const bool end : {false, true}) {
    std::generate_n(source.At(end), from_bytes, [&] { return static_cast<char>(random()); });
    std::vector<char> expected(to_bytes, 'x');
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i, from = from_at, to = 0;
      for (size_t d = dims.size(); d-- > 0;) {
        from += rest % dims[d].size * dims[d].from;
        to += rest % dims[d].size * dims[d].to;
        rest /= dims[d].size;
      }
      std::memcpy(&expected[to], source.At(end) + from, size);
    }
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      const bool is_streamed = end;  // either will do
      const TurnedTiles tiles(dims, size, is_streamed, *kernels);
      // At once, and in ranges that begin within runs of the target.
      for (const int64_t together : {tiles.num_tiles(), int64_t{3}}) {
        std::memset(target.At(end), 'x', to_bytes);
        for (int64_t tile = 0; tile < tiles.num_tiles(); tile += together) {
          tiles.Run(tile, std::min(tile + together, tiles.num_tiles()), source.At(end) + from_at,
                    target.At(end));
        }
        kernels->end_stream();
        ASSERT_EQ(std::memcmp(target.At(end), expected.data(), to_bytes), 0)
            << kernels->level << " size " << size << ", " << tiles.Describe();
      }
    }
  }
}

TEST(TurnedTilesTest, EveryElementGetsToItsPlaceAndNothingElseIsTouched) {
  const Box boxes[] = {
      // Tiles end within the last dim of the target, of the source, or both.
      {{300, 700}, {1, 0}, 0, -1},
      {{64, 512}, {1, 0}, 0, -1},
      {{301, 1111}, {1, 0}, 5, -1},
      {{3, 33, 103, 70}, {0, 3, 2, 1}, 0, -1},
      {{70, 5, 20, 33}, {3, 2, 1, 0}, 3, 2},
      // Rows of both sides share dims.
      {{3, 30, 20, 14, 12}, {0, 2, 4, 1, 3}, 0, -1},
      {{3, 20, 16, 16, 16}, {0, 2, 4, 1, 3}, 0, -1},
      {{2, 43, 3, 2, 19, 13}, {5, 2, 3, 4, 1, 0}, 0, 1},
      // A few rows or columns.
      {{3, 2, 1111}, {0, 2, 1}, 0, -1},
      {{3, 1111, 2}, {0, 2, 1}, 0, -1},
      {{1111, 3}, {1, 0}, 0, -1},
      {{3, 1111}, {1, 0}, 0, -1},
      {{15, 99, 7}, {2, 1, 0}, 0, -1},
      // Groups of rows with a few columns.
      {{5, 3, 3, 22, 22}, {0, 3, 1, 4, 2}, 0, -1},
      {{9, 2, 7, 61}, {0, 2, 3, 1}, 0, -1},
      {{9, 4, 3, 7, 40}, {0, 3, 2, 4, 1}, 1, 2},
      {{2, 2, 50, 70}, {2, 3, 1, 0}, 0, -1},
      {{7, 99, 15}, {2, 1, 0}, 0, 0},
      {{33, 99, 6}, {2, 0, 1}, 0, -1},
      {{2, 2, 2, 2, 2, 2, 2}, {6, 5, 4, 3, 2, 1, 0}, 0, -1},
      // Five or six planes, and what becomes of them.
      {{5, 1111}, {1, 0}, 0, -1},
      {{1111, 5}, {1, 0}, 0, -1},
      {{7, 6, 131}, {0, 2, 1}, 3, -1},
      {{7, 131, 6}, {0, 2, 1}, 1, 1},
      {{3, 5, 20, 64}, {1, 0, 3, 2}, 0, -1},
      // Blocks of a few elements that stay together.
      {{1201, 5, 3}, {0, 2, 1}, 0, -1},
      {{1999, 2, 2}, {0, 2, 1}, 0, -1},
      {{301, 2, 3, 2}, {0, 3, 2, 1}, 0, -1},
      {{3, 203, 2, 2, 3}, {1, 0, 4, 3, 2}, 0, -1},
      {{7, 3, 2}, {0, 2, 1}, 0, 0},
      // The same, of several vectors.
      {{201, 7, 7}, {0, 2, 1}, 0, -1},
      {{402, 10, 33}, {0, 2, 1}, 0, -1},
      {{99, 6, 11}, {0, 2, 1}, 0, -1},
      {{103, 16, 8}, {0, 2, 1}, 0, -1},
      {{77, 5, 4, 3}, {0, 3, 2, 1}, 0, -1},
      {{5, 61, 3, 13}, {1, 0, 3, 2}, 0, 1},
  };
  for (const Box& box : boxes) {
    for (const int size : kElementSizes) CheckTiles(box, size);
  }
}

TEST(TurnedTilesTest, TallMatricesOfBytesAreStreamedByColumns) {
  const struct {
    Box box;
    std::string way;
  } boxes[] = {
      // Rows of the source begin anywhere in the caches, or at the same places of them.
      {{{20, 3, 448}, {2, 1, 0}, 0, -1}, "by columns of lines where they are"},
      {{{32, 128, 192}, {2, 1, 0}, 0, -1}, "by columns of lines of copies"},
      {{{20, 3, 1027}, {2, 1, 0}, 0, -1}, "by columns where they are"},
      {{{32, 128, 397}, {2, 1, 0}, 0, -1}, "by columns of copies"},
      // Little is left behind tiles of whole lines.
      {{{40, 1930}, {1, 0}, 0, -1}, "by columns where they are"},
      {{{2309, 130}, {1, 0}, 0, -1}, "by columns where they are"},
      {{{2309, 128}, {1, 0}, 0, -1}, "by columns of lines where they are"},
      // Rows and columns of several dims, some of them backwards; rows that do not follow each
      // other.
      {{{21, 9, 4, 3, 16, 8}, {3, 4, 5, 0, 2, 1}, 0, 4}, "by columns of lines where they are"},
      {{{21, 9, 4, 3, 11, 13}, {3, 4, 5, 0, 2, 1}, 0, 5}, "by columns where they are"},
      {{{50, 448}, {1, 0}, 64, 1}, "by columns of lines where they are"},
      {{{50, 500}, {1, 0}, 12, 1}, "by columns where they are"},
  };
  for (const auto& [box, way] : boxes) {
    for (const BlockKernels* kernels : SupportedBlockKernels()) {
      const std::string description =
          TurnedTiles(LayoutOf(box, 1).dims, 1, true, *kernels).Describe();
      if (kernels->streams_columns) {
        EXPECT_TRUE(absl::EndsWith(description, way)) << description;
      } else {
        EXPECT_FALSE(absl::StrContains(description, "by columns")) << description;
      }
    }
    for (const int size : {1, 2, 4}) CheckTiles(box, size);
  }
}

// Whole lines of a target that does not begin with a line.
TEST(TurnedTilesTest, ColumnsOfLinesMayBeginAnywhere) {
  const Layout layout = LayoutOf({{32, 128, 192}, {2, 1, 0}, 0, -1}, 1);
  std::vector<char> source(layout.from_bytes);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 37 / 16);
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const TurnedTiles tiles(layout.dims, 1, true, *kernels);
    std::vector<char> target(layout.to_bytes + 64, 'x');
    for (const int64_t at : {1, 33}) {
      tiles.Run(0, tiles.num_tiles(), source.data(), target.data() + at);
      kernels->end_stream();
      for (int64_t i = 0; i < layout.to_bytes; ++i) {
        const int64_t from = i % 192 * 4096 + i / 192 % 128 * 32 + i / (192 * 128);
        ASSERT_EQ(target[at + i], source[from]) << kernels->level << " " << at << " " << i;
      }
    }
  }
}

TEST(TurnedTilesTest, RandomPermutationsAreTheirDefinition) {
  std::mt19937 random(4);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
  for (int i = 0; i < 200; ++i) {
    const int rank = 2 + below(4);
    std::vector<int64_t> sizes(static_cast<size_t>(rank));
    for (int64_t& n : sizes) n = 2 + below(rank == 2 ? 500 : rank == 3 ? 60 : rank == 4 ? 20 : 12);
    std::vector<int> order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    while (order.back() == rank - 1) std::shuffle(order.begin(), order.end(), random);
    const int64_t gap = below(3) == 0 ? below(9) : 0;
    const int reversed = below(2) == 0 ? below(rank) : -1;
    CheckTiles({sizes, order, gap, reversed},
               kElementSizes[below(static_cast<int>(std::size(kElementSizes)))]);
  }
}

// Windows of 277 elements, 160 apart: the length of a tile's run, so that one seems to go on in the
// next where the last tile's run is shorter.
TEST(TurnedTilesTest, SourcesMayOverlap) {
  const int64_t window = 277, count = 13, hop = 160;
  const TurnedTiles::DimList dims = {{window, 2, 2 * count}, {count, 2 * hop, 2}};
  std::vector<uint16_t> source(window + hop * (count - 1)), expected, result(window * count);
  std::iota(source.begin(), source.end(), 0);
  for (int64_t i = 0; i < window; ++i) {
    for (int64_t w = 0; w < count; ++w) expected.push_back(source[i + w * hop]);
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const TurnedTiles tiles(dims, 2, true, *kernels);
    tiles.Run(0, tiles.num_tiles(), reinterpret_cast<const char*>(source.data()),
              reinterpret_cast<char*>(result.data()));
    kernels->end_stream();
    EXPECT_EQ(result, expected) << kernels->level << ", " << tiles.Describe();
  }
}

// Elements of the source that stand for several of the target.
TEST(TurnedTilesTest, AStrideOfZeroRepeatsElements) {
  const TurnedTiles::DimList dims = {{40, 4, 4 * 6 * 90}, {6, 0, 4 * 90}, {90, 4 * 40, 4}};
  std::vector<uint32_t> source(40 * 90), result(40 * 6 * 90);
  std::iota(source.begin(), source.end(), 0);
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    std::fill(result.begin(), result.end(), 0);
    const TurnedTiles tiles(dims, 4, false, *kernels);
    tiles.Run(0, tiles.num_tiles(), reinterpret_cast<const char*>(source.data()),
              reinterpret_cast<char*>(result.data()));
    kernels->end_stream();
    for (uint32_t i = 0; i < result.size(); ++i)
      ASSERT_EQ(result[i], i % 90 * 40 + i / (6 * 90)) << kernels->level << " at " << i;
  }
}

}  // namespace
}  // namespace pjrt::cpu
