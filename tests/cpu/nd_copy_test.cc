// SPDX-License-Identifier: Apache-2.0
//
// Boxes copied between strided arrays, at each kernel level: against the definition, element by
// element.
#include "src/cpu_device/run/nd_copy.h"

#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/kernel_test_util.h"

namespace pjrt::cpu {
namespace {

// Where the elements of a box stand: strides in elements, and the range that they cover.
struct Place {
  std::vector<int64_t> strides;
  int64_t lowest = 0, highest = 0;
};

// Strides of a dense array whose dims lie in memory in the order `order`, outermost first, with
// steps between elements of each dim and gaps at its end.
Place PlaceOf(const std::vector<int64_t>& dims, const std::vector<int>& order,
              const std::vector<int64_t>& steps, int64_t gap) {
  Place place;
  place.strides.resize(dims.size());
  int64_t stride = 1;
  for (size_t k = order.size(); k-- > 0;) {
    const int d = order[k];
    place.strides[d] = stride * steps[d];
    const int64_t reach = (dims[d] - 1) * place.strides[d];
    (reach < 0 ? place.lowest : place.highest) += reach;
    stride *= std::max<int64_t>(dims[d] * std::abs(steps[d]), 1) + gap;
  }
  return place;
}

// Copies a box, whole and unit by unit, and compares every byte of the target.
void CheckCopy(const std::vector<int64_t>& dims, const Place& from, const Place& to, int size) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::mt19937 random(7);
  std::vector<uint8_t> source((from.highest - from.lowest + 1) * size);
  for (uint8_t& byte : source) byte = static_cast<uint8_t>(random());
  const std::vector<uint8_t> untouched = Untouched<uint8_t>((to.highest - to.lowest + 1) * size);
  std::vector<uint8_t> expected = untouched;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, from_at = -from.lowest, to_at = -to.lowest;
    for (size_t d = dims.size(); d-- > 0;) {
      from_at += rest % dims[d] * from.strides[d];
      to_at += rest % dims[d] * to.strides[d];
      rest /= dims[d];
    }
    std::memcpy(&expected[to_at * size], &source[from_at * size], size);
  }
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    const NdCopy copy(dims, from.strides, to.strides, size, *kernels);
    ASSERT_EQ(copy.count(), count);
    ASSERT_EQ(copy.bytes(), count * size);
    const std::string what =
        absl::StrCat(kernels->level, " size ", size, " dims ", absl::StrJoin(dims, "x"), " from ",
                     absl::StrJoin(from.strides, ","), " to ", absl::StrJoin(to.strides, ","));
    for (bool by_unit : {false, true}) {
      std::vector<uint8_t> result = untouched;
      const char* const first = reinterpret_cast<const char*>(&source[-from.lowest * size]);
      char* const target = reinterpret_cast<char*>(&result[-to.lowest * size]);
      if (by_unit) {
        for (int64_t unit = copy.num_units(); unit-- > 0;) copy.RunUnit(unit, first, target);
      } else {
        copy.Run(first, target);
      }
      ASSERT_TRUE(result == expected) << what << (by_unit ? " by units" : "");
    }
  }
}

std::vector<int64_t> Ones(size_t n) { return std::vector<int64_t>(n, 1); }

TEST(NdCopyTest, EveryPermutationOfEveryWidthIsItsDefinition) {
  const std::vector<std::vector<int64_t>> boxes = {
      {},      {1},       {7},        {0, 5},     {33, 17},    {2, 100},     {100, 3},
      {4, 70}, {5, 6, 7}, {3, 1, 40}, {8, 16, 2}, {66, 1, 35}, {2, 3, 4, 5}, {5, 19, 2, 4}};
  for (const std::vector<int64_t>& dims : boxes) {
    std::vector<int> identity(dims.size());
    std::iota(identity.begin(), identity.end(), 0);
    std::vector<int> order = identity;
    do {
      for (int size : {1, 2, 4, 8, 16}) {
        CheckCopy(dims, PlaceOf(dims, order, Ones(dims.size()), 0),
                  PlaceOf(dims, identity, Ones(dims.size()), 0), size);
      }
    } while (std::next_permutation(order.begin(), order.end()));
  }
}

TEST(NdCopyTest, StepsReversalsAndGapsOnEitherSide) {
  const std::vector<int64_t> dims = {4, 9, 37};
  const std::vector<std::vector<int64_t>> steps = {{1, 1, 1}, {1, 1, -1}, {-1, 1, 1}, {1, -1, 1},
                                                   {1, 1, 2}, {1, 2, -3}, {3, 1, 1}};
  for (const std::vector<int64_t>& from : steps) {
    for (const std::vector<int64_t>& to : steps) {
      for (const std::vector<int>& order : {std::vector<int>{0, 1, 2}, {2, 0, 1}}) {
        for (int size : {1, 4, 16}) {
          CheckCopy(dims, PlaceOf(dims, order, from, 0), PlaceOf(dims, {0, 1, 2}, to, 2), size);
        }
      }
    }
  }
}

TEST(NdCopyTest, AStrideOfZeroRepeatsAnElement) {
  for (int size : {1, 2, 4, 8, 16}) {
    Place from;
    from.strides = {0, 3, 0};
    from.highest = 12;
    CheckCopy({6, 5, 21}, from, PlaceOf({6, 5, 21}, {0, 1, 2}, Ones(3), 0), size);
    // Each element of an image twice along both dims: a few rows, and tiles of them.
    from.strides = {9 * 11 * 5, 11 * 5, 0, 5, 0, 1};
    from.highest = 3 * 9 * 11 * 5 - 1;
    CheckCopy({3, 9, 2, 11, 2, 5}, from,
              PlaceOf({3, 9, 2, 11, 2, 5}, {0, 1, 2, 3, 4, 5}, Ones(6), 0), size);
    from.strides = {3, 0, 1};
    from.highest = 3 * 5 + 2;
    CheckCopy({6, 5, 3}, from, PlaceOf({6, 5, 3}, {0, 1, 2}, Ones(3), 0), size);
  }
}

TEST(NdCopyTest, LargeBoxesFallIntoUnits) {
  struct {
    std::vector<int64_t> dims;
    std::vector<int> order;
  } const boxes[] = {{{600, 700}, {1, 0}},           {{3, 200001}, {1, 0}},
                     {{200001, 3}, {1, 0}},          {{700001}, {0}},
                     {{70, 90, 64}, {1, 0, 2}},      {{20, 30000}, {1, 0}},
                     {{50, 40, 333}, {2, 0, 1}},     {{70, 90, 24}, {1, 0, 2}},
                     {{40, 3, 50, 14}, {0, 2, 1, 3}}};
  for (const auto& box : boxes) {
    std::vector<int> identity(box.dims.size());
    std::iota(identity.begin(), identity.end(), 0);
    for (int size : {1, 4}) {
      CheckCopy(box.dims, PlaceOf(box.dims, box.order, Ones(box.dims.size()), 0),
                PlaceOf(box.dims, identity, Ones(box.dims.size()), 0), size);
    }
    const Place dense = PlaceOf(box.dims, identity, Ones(box.dims.size()), 0);
    EXPECT_GT(
        NdCopy(box.dims, dense.strides, dense.strides, 4, *SupportedBlockKernels()[0]).num_units(),
        1);
  }
}

// Over 16 MiB: written past the caches, where whole lines are.
TEST(NdCopyTest, BoxesTooLargeForTheCachesAreCopiedToo) {
  const struct {
    std::vector<int64_t> dims;
    std::vector<int> order;
    int size;
    int64_t gap;
  } boxes[] = {{{2048, 2052}, {1, 0}, 4, 0},
               {{5, 64, 60, 221}, {0, 3, 1, 2}, 4, 0},
               {{81, 16, 16, 16, 15}, {0, 3, 1, 4, 2}, 4, 0},
               {{1031, 1020}, {0, 1}, 16, 3}};
  for (const auto& box : boxes) {
    std::vector<int> identity(box.dims.size());
    std::iota(identity.begin(), identity.end(), 0);
    CheckCopy(box.dims, PlaceOf(box.dims, box.order, Ones(box.dims.size()), 0),
              PlaceOf(box.dims, identity, Ones(box.dims.size()), box.gap), box.size);
  }
}

// Tiles go through buffers. They end within the last dim of the target, of the source, or both;
// outer dims may be reversed or have gaps.
TEST(NdCopyTest, LinesThatLieFarApartAreMovedInTiles) {
  const struct {
    std::vector<int64_t> dims;
    std::vector<int> order;
    std::vector<int64_t> steps;
    int size;
    int64_t gap;
  } boxes[] = {{{15, 17, 13, 5, 270}, {4, 3, 2, 1, 0}, {1, 1, -1, 1, 1}, 4, 3},
               {{150, 14, 16, 16, 16}, {0, 2, 4, 1, 3}, {1, -1, 1, 1, 1}, 2, 0},
               // Small pieces.
               {{62, 30, 20, 14, 33}, {0, 2, 4, 1, 3}, {1, 1, 1, 1, 1}, 1, 0},
               {{670, 14, 15, 10, 3}, {0, 4, 2, 1, 3}, {1, 1, -1, 1, 1}, 4, 1},
               {{33, 16, 4, 31, 260}, {4, 3, 2, 1, 0}, {1, 1, 1, 1, -1}, 1, 0},
               {{1531, 130, 90}, {0, 2, 1}, {1, 1, 1}, 1, 0},
               {{600001, 30}, {1, 0}, {1, 1}, 1, 0},
               {{1901, 33, 3, 31, 3}, {0, 1, 3, 2, 4}, {1, 1, 1, 1, 1}, 1, 0},
               // Boxes that caches hold: lines collide, pieces are small, runs come from far.
               {{128, 128, 128, 2}, {3, 2, 1, 0}, {1, 1, 1, 1}, 1, 0},
               {{105, 16, 64, 16}, {3, 2, 0, 1}, {1, 1, -1, 1}, 2, 0},
               {{32, 26, 8, 6, 15}, {2, 1, 0, 4, 3}, {1, 1, 1, 1, 1}, 1, 0},
               {{50, 64, 61, 12}, {3, 2, 1, 0}, {1, 1, 1, 1}, 1, 2},
               // Blocks of a few bytes.
               {{3001, 5, 3}, {0, 2, 1}, {1, 1, 1}, 4, 0},
               {{2, 4003, 2, 2, 3}, {0, 1, 4, 3, 2}, {1, 1, 1, 1, 1}, 1, 0},
               // Rows that are turned, of 3 and of 6 bytes.
               {{2531, 2311, 3}, {1, 0, 2}, {1, 1, 1}, 1, 0},
               {{343, 75, 111, 3}, {0, 2, 1, 3}, {1, 1, -1, 1}, 2, 0},
               // Rows that stay rows.
               {{320, 100, 40, 15}, {0, 2, 1, 3}, {1, 1, 1, 1}, 1, 0},
               {{1031, 530, 9}, {1, 0, 2}, {1, -1, 1}, 4, 0},
               {{47, 35, 53, 51}, {0, 2, 1, 3}, {1, 1, 1, 1}, 4, 0},
               {{350, 451, 2, 27}, {0, 2, 1, 3}, {1, 1, 1, 1}, 2, 0}};
  for (const auto& box : boxes) {
    std::vector<int> identity(box.dims.size());
    std::iota(identity.begin(), identity.end(), 0);
    const Place from = PlaceOf(box.dims, box.order, box.steps, 0);
    const Place to = PlaceOf(box.dims, identity, Ones(box.dims.size()), box.gap);
    EXPECT_THAT(NdCopy(box.dims, from.strides, to.strides, box.size, *SupportedBlockKernels()[0])
                    .Describe(),
                testing::StartsWith("tiles"));
    CheckCopy(box.dims, from, to, box.size);
  }
}

// The address of the first byte of a line.
uint8_t* Aligned(std::vector<uint8_t>& bytes) {
  return bytes.data() + (64 - reinterpret_cast<uintptr_t>(bytes.data()) % 64) % 64;
}

TEST(NdCopyTest, StreamingKernelsWriteWhatTheOthersDoAndNothingElse) {
  const int64_t sides[] = {1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 129, 200, 530};
  std::mt19937 random(3);
  std::vector<uint8_t> source(600 * 600 * 16);
  for (uint8_t& byte : source) byte = static_cast<uint8_t>(random());
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    for (int log2 = 0; log2 < 5; ++log2) {
      const int64_t size = 1 << log2;
      for (int64_t rows : sides) {
        for (int64_t cols : sides) {
          if (rows > 100 && cols > 100 && rows != cols) continue;
          // Rows of the target that begin with a line, that follow each other, and others.
          for (int64_t stride : {(rows * size + 63) / 64 * 64 / size, rows, rows + 1}) {
            std::vector<uint8_t> result(stride * cols * size + 128, 0xAA), expected = result;
            uint8_t* const to = Aligned(result);
            uint8_t* const wanted = expected.data() + (to - result.data());
            kernels->stream_transpose_2d[log2](to, stride, source.data() + size, cols + 3, rows,
                                               cols, rows % 2 == 0 ? nullptr : source.data());
            for (int64_t r = 0; r < rows; ++r) {
              for (int64_t c = 0; c < cols; ++c) {
                std::memcpy(wanted + (c * stride + r) * size,
                            &source[(r * (cols + 3) + c + 1) * size], size);
              }
            }
            ASSERT_TRUE(result == expected) << kernels->level << " size " << size << ", " << rows
                                            << "x" << cols << ", stride " << stride;
          }
        }
      }
    }
    for (int64_t bytes : {1, 64, 100, 255, 256, 257, 319, 320, 384, 1000}) {
      for (int64_t offset : {0, 1, 32, 63}) {
        for (int64_t stride : {1024, 1024 + 4}) {
          std::vector<uint8_t> result(stride * 5 + 128, 0xAA), expected = result;
          uint8_t* const to = Aligned(result) + offset;
          uint8_t* const wanted = expected.data() + (to - result.data());
          kernels->stream_rows(to, stride, source.data() + 1, 1200, bytes, 5);
          for (int64_t r = 0; r < 5; ++r)
            std::memcpy(wanted + r * stride, &source[1 + r * 1200], bytes);
          ASSERT_TRUE(result == expected) << kernels->level << " " << bytes << " at " << offset;
        }
      }
    }
  }
}

// Runs of four bytes whose neighbours are seven bytes further: no multiple of their width.
TEST(NdCopyTest, RunsThatTheStridesDoNotCountInStayRuns) {
  const std::vector<int64_t> dims = {3, 5, 4};
  Place from, to;
  for (const std::vector<int64_t>& strides :
       {std::vector<int64_t>{35, 7, 1}, {5, 40, 1}, {20, 4, 1}, {4, 12, 1}}) {
    from.strides = strides;
    from.highest = 2 * strides[0] + 4 * strides[1] + 3;
    for (const std::vector<int64_t>& other : {std::vector<int64_t>{35, 7, 1}, {7, 21, 1}}) {
      to.strides = other;
      to.highest = 2 * other[0] + 4 * other[1] + 3;
      for (int size : {1, 2, 4}) CheckCopy(dims, from, to, size);
    }
  }
}

TEST(NdCopyTest, AFewElementsThatStayTogetherNeedNoAlignment) {
  // Pairs of bytes at odd addresses.
  std::vector<uint8_t> source(2 * 50 * 40 + 1), result(source.size());
  std::iota(source.begin(), source.end(), 0);
  for (const BlockKernels* kernels : SupportedBlockKernels()) {
    NdCopy({40, 50, 2}, {2, 80, 1}, {100, 2, 1}, 1, *kernels)
        .Run(reinterpret_cast<const char*>(source.data() + 1),
             reinterpret_cast<char*>(result.data() + 1));
    for (int64_t i = 0; i < 40 * 50 * 2; ++i) {
      ASSERT_EQ(result[1 + i], source[1 + i / 100 * 2 + i / 2 % 50 * 80 + i % 2])
          << kernels->level << " at " << i;
    }
    // The same, apart on one side only, and one pair for all.
    for (const auto& [from_step, to_step] : {std::pair{6, 2}, std::pair{2, 6}, std::pair{0, 2}}) {
      NdCopy({300, 2}, {from_step, 1}, {to_step, 1}, 1, *kernels)
          .Run(reinterpret_cast<const char*>(source.data() + 1),
               reinterpret_cast<char*>(result.data() + 1));
      for (int i = 0; i < 600; ++i) {
        ASSERT_EQ(result[1 + i / 2 * to_step + i % 2], source[1 + i / 2 * from_step + i % 2])
            << kernels->level << " from " << from_step << " to " << to_step << " at " << i;
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
