// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of numbers that follow from coordinates: masks of triangles, bands and diagonals.
#include "src/cpu_device/loop/compare_iotas.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

struct Comparison {
  BlockOp op;
  const char* direction;
  bool (*holds)(int64_t, int64_t);
};
const Comparison kComparisons[] = {
    {BlockOp::kCompareEq, "EQ", [](int64_t a, int64_t b) { return a == b; }},
    {BlockOp::kCompareNe, "NE", [](int64_t a, int64_t b) { return a != b; }},
    {BlockOp::kCompareLt, "LT", [](int64_t a, int64_t b) { return a < b; }},
    {BlockOp::kCompareLe, "LE", [](int64_t a, int64_t b) { return a <= b; }},
    {BlockOp::kCompareGt, "GT", [](int64_t a, int64_t b) { return a > b; }},
    {BlockOp::kCompareGe, "GE", [](int64_t a, int64_t b) { return a >= b; }},
};

TEST(FillComparisonTest, EachNumberIsComparedWithZero) {
  for (const Comparison& comparison : kComparisons) {
    for (int64_t first = -12; first <= 12; ++first) {
      for (int64_t stride = -5; stride <= 5; ++stride) {
        for (const int64_t count : {0, 1, 2, 7, 13}) {
          std::vector<char> filled(count + 1, 9), expected;
          FillComparison(filled.data(), comparison.op, first, stride, count);
          for (int64_t i = 0; i < count; ++i)
            expected.push_back(comparison.holds(first + i * stride, 0));
          expected.push_back(9);
          EXPECT_EQ(filled, expected) << comparison.direction << " from " << first << " by "
                                      << stride << ", " << count << " of them";
        }
      }
    }
  }
}

// The mask of iota along dim 0, plus an offset, compared with iota along dim 1.
template <typename T>
void CheckMasks(absl::string_view type, std::vector<int64_t> offsets) {
  constexpr int64_t kRows = 37, kColumns = 41;
  for (const Comparison& comparison : kComparisons) {
    for (const int64_t offset : offsets) {
      std::vector<bool> expected;
      for (int64_t i = 0; i < kRows; ++i) {
        const uint64_t sum = static_cast<uint64_t>(i) + static_cast<uint64_t>(offset);  // wraps
        for (int64_t j = 0; j < kColumns; ++j)
          expected.push_back(comparison.holds(static_cast<T>(sum), static_cast<T>(j)));
      }
      EXPECT_EQ(RunOne<bool>(absl::Substitute(R"(
func.func @main() -> tensor<37x41xi1> {
  %i = stablehlo.iota dim = 0 : tensor<37x41x$0>
  %j = stablehlo.iota dim = 1 : tensor<37x41x$0>
  %c = stablehlo.constant dense<$1> : tensor<37x41x$0>
  %k = stablehlo.add %i, %c : tensor<37x41x$0>
  %r = stablehlo.compare $2, %k, %j : (tensor<37x41x$0>, tensor<37x41x$0>) -> tensor<37x41xi1>
  return %r : tensor<37x41xi1>
})",
                                              type, offset, comparison.direction),
                             {}),
                expected)
          << type << ", " << comparison.direction << ", offset " << offset;
    }
  }
}

TEST(CompareIotasTest, MasksHoldTheComparisonOfCoordinates) {
  CheckMasks<int32_t>("i32", {0, 1, -1, 5, -36, -37, 41, 100, -100});
  CheckMasks<int64_t>("i64", {0, 3, -7, INT64_MAX - 36, INT64_MIN, int64_t{1} << 40});
}

TEST(CompareIotasTest, NumbersThatWrapAroundAreComparedAsTheyCome) {
  CheckMasks<int8_t>("i8", {0, 100, 120, -128});
  CheckMasks<uint8_t>("ui8", {0, 100, 230, 255});
  CheckMasks<int32_t>("i32", {INT32_MAX, INT32_MAX - 10, INT32_MIN});
  CheckMasks<uint32_t>("ui32", {0, 10, UINT32_MAX, UINT32_MAX - 20});
  CheckMasks<int64_t>("i64", {INT64_MAX, INT64_MAX - 10});
}

// Rows that are shorter than blocks, that are not and that have no second point, with the mask
// written, chosen by, and reduced under.
TEST(CompareIotasTest, MasksServeSelectionsAndReductionsOfAnySize) {
  for (const int64_t rows : {1, 3, 70}) {
    for (const int64_t columns : {1, 5, 100, 3000}) {
      std::vector<float> x, lower, sums(rows);
      for (int64_t i = 0; i < rows; ++i) {
        for (int64_t j = 0; j < columns; ++j) {
          x.push_back(static_cast<float>((i * 7 + j * 3) % 11));
          lower.push_back(2 * i - 1 >= j ? x.back() : -1.0f);
          sums[i] += lower.back();
        }
      }
      const std::string array = absl::StrCat(rows, "x", columns, "x");
      const Literal operand = Array<float>({rows, columns}, x);
      const auto text = [&](absl::string_view result, absl::string_view rest) {
        return absl::Substitute(R"(
func.func @main(%x: tensor<$0f32>) -> $1 {
  %i = stablehlo.iota dim = 0 : tensor<$0i32>
  %j = stablehlo.iota dim = 1 : tensor<$0i32>
  %one = stablehlo.constant dense<1> : tensor<$0i32>
  %low = stablehlo.constant dense<-1.0> : tensor<$0f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %i2 = stablehlo.add %i, %i : tensor<$0i32>
  %k = stablehlo.subtract %i2, %one : tensor<$0i32>
  %m = stablehlo.compare GE, %k, %j : (tensor<$0i32>, tensor<$0i32>) -> tensor<$0i1>
  %s = stablehlo.select %m, %x, %low : tensor<$0i1>, tensor<$0f32>
  $2
})",
                                array, result, rest);
      };
      EXPECT_EQ(RunOne<float>(text(absl::StrCat("tensor<", array, "f32>"),
                                   absl::StrCat("return %s : tensor<", array, "f32>")),
                              {&operand}),
                lower)
          << array;
      EXPECT_EQ(RunOne<float>(
                    text(absl::StrCat("tensor<", rows, "xf32>"),
                         absl::Substitute("%r = stablehlo.reduce(%s init: %zero) applies "
                                          "stablehlo.add across dimensions = [1] : (tensor<$0f32>, "
                                          "tensor<f32>) -> tensor<$1xf32>\n  return %r : "
                                          "tensor<$1xf32>",
                                          array, rows)),
                    {&operand}),
                sums)
          << array;
    }
  }
}

// A comparison and an array that other uses need as numbers.
TEST(CompareIotasTest, IotasThatAreReadAsNumbersStay) {
  const std::vector<int32_t> result = RunOne<int32_t>(R"(
func.func @main() -> tensor<3x4xi32> {
  %i = stablehlo.iota dim = 0 : tensor<3x4xi32>
  %j = stablehlo.iota dim = 1 : tensor<3x4xi32>
  %m = stablehlo.compare NE, %i, %j : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<3x4xi1>
  %s = stablehlo.select %m, %j, %i : tensor<3x4xi1>, tensor<3x4xi32>
  %r = stablehlo.add %s, %j : tensor<3x4xi32>
  return %r : tensor<3x4xi32>
})",
                                                      {});
  EXPECT_EQ(result, std::vector<int32_t>({0, 2, 4, 6, 0, 2, 4, 6, 0, 2, 4, 6}));
}

}  // namespace
}  // namespace pjrt::cpu
