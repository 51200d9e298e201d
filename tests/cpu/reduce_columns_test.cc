// SPDX-License-Identifier: Apache-2.0
//
// Reductions over dims that others lie behind: each result is folded in the order of its elements.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// The sum over the middle dim of columns [first, first + columns) of an array, from 0.5 on: of
// numbers that show in which order, or of small integers.
void CheckSum(int64_t outer, int64_t reduced, int64_t width, int64_t first, int64_t columns,
              bool small = false) {
  std::vector<float> x(outer * reduced * width);
  uint32_t state = 5;
  for (float& v : x) {
    state = state * 1664525u + 1013904223u;
    v = small ? static_cast<float>(state >> 28)
              : static_cast<float>(static_cast<int32_t>(state)) * 1e-7f;
  }
  std::vector<float> expected;
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t c = first; c < first + columns; ++c) {
      float sum = 0.5f;
      for (int64_t r = 0; r < reduced; ++r) sum += x[(o * reduced + r) * width + c];
      expected.push_back(sum);
    }
  }
  const Literal operand = Array<float>({outer, reduced, width}, x);
  EXPECT_EQ(RunOne<float>(
                absl::Substitute(
                    "func.func @main(%x: tensor<$0x$1x$2xf32>) -> tensor<$0x$3xf32> {\n"
                    "  %init = stablehlo.constant dense<0.5> : tensor<f32>\n"
                    "  %0 = stablehlo.slice %x [0:$0, 0:$1, $4:$5] : (tensor<$0x$1x$2xf32>) -> "
                    "tensor<$0x$1x$3xf32>\n"
                    "  %1 = stablehlo.reduce(%0 init: %init) applies stablehlo.add across "
                    "dimensions = [1] : (tensor<$0x$1x$3xf32>, tensor<f32>) -> tensor<$0x$3xf32>\n"
                    "  return %1 : tensor<$0x$3xf32>\n}\n",
                    outer, reduced, width, columns, first, first + columns),
                {&operand}),
            expected)
      << outer << "x" << reduced << "x" << width << ", " << columns << " columns from " << first;
}

TEST(ReduceColumnsTest, WideRowsAreSummedOneAfterTheOther) {
  for (int64_t reduced : {1, 2, 7, 8, 9, 16, 37, 1100}) {
    CheckSum(1, reduced, 1024, 0, 1024);
    CheckSum(2, reduced, 1500, 0, 1500);
    CheckSum(1, reduced, 1500, 3, 1301);
  }
  CheckSum(1, 19, 5000, 0, 5000);
}

TEST(ReduceColumnsTest, RowsOfSomeLengthAreSummedOneAfterTheOtherToo) {
  for (int64_t reduced : {1, 8, 63, 65, 200, 1024}) {
    CheckSum(3, reduced, 128, 0, 128);
    CheckSum(2, reduced, 300, 5, 290);
  }
  CheckSum(3, 64, 40, 0, 40);
}

TEST(ReduceColumnsTest, FewColumnsOfManyRowsAreSummed) {
  for (int64_t columns : {2, 3, 16, 70, 127, 129}) {
    for (int64_t reduced : {65, 129, 3000}) {
      CheckSum(1, reduced, columns, 0, columns, true);
      CheckSum(3, reduced, columns + 3, 1, columns, true);
    }
  }
}

// Short points are folded side by side, as many as their accumulators' type allows.
template <typename T>
void CheckFewColumns(const std::string& type) {
  for (int64_t columns : {2, 3, 8, 15, 17}) {
    for (int64_t rows : {65, 300, 515}) {
      std::vector<T> x;
      std::vector<int> sums(columns, 1);
      for (int64_t i = 0; i < rows * columns; ++i) {
        const int value = static_cast<int>(i * i % 7 == 1);
        x.push_back(static_cast<T>(static_cast<float>(value)));
        sums[i % columns] += value;
      }
      std::vector<T> expected;
      for (int sum : sums) expected.push_back(static_cast<T>(static_cast<float>(sum)));
      const Literal operand = Array<T>({rows, columns}, x), init = Scalar<T>(static_cast<T>(1.0f));
      EXPECT_EQ(
          RunOne<T>(absl::Substitute(
                        "func.func @main(%x: tensor<$0x$1x$2>, %init: tensor<$2>) -> "
                        "tensor<$1x$2> {\n"
                        "  %0 = stablehlo.reduce(%x init: %init) applies stablehlo.add across "
                        "dimensions = [0] : (tensor<$0x$1x$2>, tensor<$2>) -> tensor<$1x$2>\n"
                        "  return %0 : tensor<$1x$2>\n}\n",
                        rows, columns, type),
                    {&operand, &init}),
          expected)
          << rows << "x" << columns << " of " << type;
    }
  }
}

TEST(ReduceColumnsTest, FewColumnsOfEachWidthAreSummed) {
  CheckFewColumns<uint8_t>("ui8");
  CheckFewColumns<bfloat16>("bf16");
  CheckFewColumns<int32_t>("i32");
  CheckFewColumns<double>("f64");
}

// Over an outer and the inner dim: pieces of each result lie apart.
TEST(ReduceColumnsTest, PiecesThatLieApartAreSummed) {
  for (int64_t outer : {1, 2, 9, 40}) {
    for (int64_t length : {100, 256, 300, 1024, 1500}) {
      const int64_t kept = 3, width = length + 5;
      std::vector<float> x(outer * kept * width), expected(kept, 1.0f);
      for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 17);
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t k = 0; k < kept; ++k) {
          for (int64_t i = 2; i < length + 2; ++i) expected[k] += x[(o * kept + k) * width + i];
        }
      }
      const Literal operand = Array<float>({outer, kept, width}, x);
      EXPECT_EQ(
          RunOne<float>(
              absl::Substitute(
                  "func.func @main(%x: tensor<$0x3x$1xf32>) -> tensor<3xf32> {\n"
                  "  %init = stablehlo.constant dense<1.0> : tensor<f32>\n"
                  "  %0 = stablehlo.slice %x [0:$0, 0:3, 2:$3] : (tensor<$0x3x$1xf32>) -> "
                  "tensor<$0x3x$2xf32>\n"
                  "  %1 = stablehlo.reduce(%0 init: %init) applies stablehlo.add across "
                  "dimensions = [0, 2] : (tensor<$0x3x$2xf32>, tensor<f32>) -> tensor<3xf32>\n"
                  "  return %1 : tensor<3xf32>\n}\n",
                  outer, width, length, length + 2),
              {&operand}),
          expected)
          << outer << " pieces of " << length;
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
