// SPDX-License-Identifier: Apache-2.0
//
// Reductions of rows that are read where they lie: of all lengths, next to each other or apart.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Small numbers, whose sums are exact.
template <typename T>
std::vector<T> ExactNumbers(int64_t count) {
  std::vector<T> x(count);
  uint32_t state = 11;
  for (T& v : x) {
    state = state * 1664525u + 1013904223u;
    v = static_cast<T>(static_cast<float>(state >> 29));
  }
  return x;
}

// Reduces elements [first, first + length) of the last dim of a parts x rows x width array.
template <typename T>
std::vector<T> Reduced(const std::string& op, const std::string& type, const std::vector<T>& x,
                       int64_t parts, int64_t rows, int64_t width, int64_t first, int64_t length,
                       T init) {
  const Literal operand = Array<T>({parts, rows, width}, x), start = Scalar<T>(init);
  return RunOne<T>(
      absl::Substitute(
          "func.func @main(%x: tensor<$0x$1x$2x$6>, %init: tensor<$6>) -> tensor<$0x$1x$6> {\n"
          "  %0 = stablehlo.slice %x [0:$0, 0:$1, $3:$4] : (tensor<$0x$1x$2x$6>) -> "
          "tensor<$0x$1x$5x$6>\n"
          "  %1 = stablehlo.reduce(%0 init: %init) applies stablehlo.$7 across dimensions = [2] : "
          "(tensor<$0x$1x$5x$6>, tensor<$6>) -> tensor<$0x$1x$6>\n"
          "  return %1 : tensor<$0x$1x$6>\n}\n",
          parts, rows, width, first, first + length, length, type, op),
      {&operand, &start});
}

template <typename T>
void CheckSums(const std::string& type) {
  for (int64_t length : {1, 2, 8, 31, 63, 64, 100, 255, 256, 300, 1000, 1024, 1025, 2500}) {
    for (const int64_t rows : {1, 3, 16, 40}) {
      // Next to each other, and apart; in one part, and in two.
      for (int64_t gap : {0, 5}) {
        for (int64_t parts : {1, 2}) {
          const int64_t width = length + gap, first = std::min<int64_t>(gap, 2);
          const std::vector<T> x = ExactNumbers<T>(parts * rows * width);
          std::vector<T> expected;
          for (int64_t row = 0; row < parts * rows; ++row) {
            float sum = 1;
            for (int64_t i = 0; i < length; ++i)
              sum += static_cast<float>(x[row * width + first + i]);
            expected.push_back(static_cast<T>(sum));
          }
          ASSERT_EQ(
              Reduced<T>("add", type, x, parts, rows, width, first, length, static_cast<T>(1.0f)),
              expected)
              << parts << "x" << rows << " rows of " << length << " of " << width;
        }
      }
    }
  }
}

TEST(ReduceRowsTest, RowsOfAllLengthsAreSummed) {
  CheckSums<float>("f32");
  CheckSums<double>("f64");
  CheckSums<int32_t>("i32");
}
TEST(ReduceRowsTest, RowsOfNarrowFloatsAreSummed) { CheckSums<bfloat16>("bf16"); }

TEST(ReduceRowsTest, ManyShortRowsAreSummed) {
  for (int64_t length : {2, 5, 16, 33}) {
    constexpr int64_t kRows = 5000;
    const std::vector<float> x = ExactNumbers<float>(kRows * length);
    std::vector<float> expected(kRows, 0.5f);
    for (int64_t i = 0; i < kRows * length; ++i) expected[i / length] += x[i];
    EXPECT_EQ(Reduced<float>("add", "f32", x, 1, kRows, length, 0, length, 0.5f), expected);
  }
}

TEST(ReduceRowsTest, TheMaximumOfARowWithANanIsANan) {
  constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN();
  for (int64_t length : {3, 40, 128, 300, 1000, 3000}) {
    // In each vector of a row that has some.
    for (int64_t place = 0; place < length; place += length < 1000 ? 15 : 499) {
      constexpr int64_t kRows = 20;
      std::vector<float> x = ExactNumbers<float>(kRows * length);
      x[7 * length + place] = kQuietNan;
      const std::vector<float> most =
          Reduced<float>("maximum", "f32", x, 1, kRows, length, 0, length, -1.0f);
      for (int64_t row = 0; row < kRows; ++row) {
        const auto begin = x.begin() + row * length;
        if (row == 7) {
          EXPECT_NE(most[row], most[row]) << "rows of " << length << ", at " << place;
        } else {
          EXPECT_EQ(most[row], *std::max_element(begin, begin + length));
        }
      }
    }
  }
}

// Rows of -0 but for one element, whose place moves from row to row.
template <typename T>
void CheckOneAmongZeros(const std::string& type, const std::string& op, float one, float init) {
  for (int64_t length : {33, 255, 256, 257, 300, 513, 544, 1100, 16384, 16385, 33000}) {
    constexpr int64_t kRows = 50;
    std::vector<T> x(kRows * length, static_cast<T>(-0.0f));
    for (int64_t row = 0; row < kRows; ++row)
      x[row * length + (row == 0 ? length - 1 : row * 7919 % length)] = static_cast<T>(one);
    for (const T found :
         Reduced<T>(op, type, x, 1, kRows, length, 0, length, static_cast<T>(init))) {
      const float value = static_cast<float>(found);
      if (one != one) {
        ASSERT_NE(value, value) << op << " of " << length;
        continue;
      }
      ASSERT_EQ(value, one) << op << " of " << length;
      ASSERT_EQ(std::signbit(value), std::signbit(one)) << op << " of " << length;
    }
  }
}

TEST(ReduceRowsTest, TheLargestAndTheLeastAreFoundWhereverTheyAre) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (float one : {0.0f, 3.0f, kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    CheckOneAmongZeros<float>("f32", "maximum", one, -kInfinity);
    CheckOneAmongZeros<double>("f64", "maximum", one, -kInfinity);
    CheckOneAmongZeros<bfloat16>("bf16", "maximum", one, -kInfinity);
    CheckOneAmongZeros<half>("f16", "maximum", one, -kInfinity);
  }
  for (float one : {-3.0f, -kInfinity}) {
    CheckOneAmongZeros<float>("f32", "minimum", one, kInfinity);
    CheckOneAmongZeros<double>("f64", "minimum", one, kInfinity);
    CheckOneAmongZeros<bfloat16>("bf16", "minimum", one, kInfinity);
  }
}

// Over an outer and the inner dim, of many rows next to each other.
TEST(ReduceRowsTest, PiecesOfNeighbouringRowsAreSummed) {
  for (int64_t length : {2, 3, 30, 63, 64, 70, 500, 1024, 1100}) {
    constexpr int64_t kPieces = 135, kRows = 40;
    const std::vector<float> x = ExactNumbers<float>(kPieces * kRows * length);
    std::vector<float> expected(kRows, 2.0f);
    for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i)
      expected[i / length % kRows] += x[i];
    const Literal operand = Array<float>({kPieces, kRows, length}, x);
    EXPECT_EQ(
        RunOne<float>(
            absl::Substitute("func.func @main(%x: tensor<$0x$1x$2xf32>) -> tensor<$1xf32> {\n"
                             "  %init = stablehlo.constant dense<2.0> : tensor<f32>\n"
                             "  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across "
                             "dimensions = [0, 2] : (tensor<$0x$1x$2xf32>, tensor<f32>) -> "
                             "tensor<$1xf32>\n"
                             "  return %0 : tensor<$1xf32>\n}\n",
                             kPieces, kRows, length),
            {&operand}),
        expected)
        << "pieces of " << length;
  }
}

// The same where neighbouring rows lie apart, so that their pieces don't follow each other.
TEST(ReduceRowsTest, ShortPiecesOfRowsThatLieApartAreSummed) {
  constexpr int64_t kPieces = 100, kRows = 9, kLength = 5;
  const std::vector<float> x = ExactNumbers<float>(kPieces * kRows * kLength);
  std::vector<float> expected(kRows, 2.0f);
  for (int64_t i = 0; i < static_cast<int64_t>(x.size()); ++i) {
    if (i % kLength != 0) expected[i / kLength / kPieces] += x[i];
  }
  const Literal operand = Array<float>({kRows, kPieces, kLength}, x);
  EXPECT_EQ(RunOne<float>("func.func @main(%x: tensor<9x100x5xf32>) -> tensor<9xf32> {\n"
                          "  %init = stablehlo.constant dense<2.0> : tensor<f32>\n"
                          "  %t = stablehlo.transpose %x, dims = [1, 0, 2] : "
                          "(tensor<9x100x5xf32>) -> tensor<100x9x5xf32>\n"
                          "  %s = stablehlo.slice %t [0:100, 0:9, 1:5] : "
                          "(tensor<100x9x5xf32>) -> tensor<100x9x4xf32>\n"
                          "  %0 = stablehlo.reduce(%s init: %init) applies stablehlo.add across "
                          "dimensions = [0, 2] : (tensor<100x9x4xf32>, tensor<f32>) -> "
                          "tensor<9xf32>\n"
                          "  return %0 : tensor<9xf32>\n}\n",
                          {&operand}),
            expected);
}

}  // namespace
}  // namespace pjrt::cpu
