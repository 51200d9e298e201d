// SPDX-License-Identifier: Apache-2.0
//
// Reductions over dims that others lie behind: each result is folded in the order of its elements,
// unless they are many.
#include <cstdint>
#include <memory>
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
  for (int64_t reduced : {1, 2, 7, 8, 9, 16, 37, 120}) {
    CheckSum(1, reduced, 1024, 0, 1024);
    CheckSum(2, reduced, 1500, 0, 1500);
    CheckSum(1, reduced, 1500, 3, 1301);
  }
  CheckSum(1, 19, 5000, 0, 5000);
}

TEST(ReduceColumnsTest, RowsOfSomeLengthAreSummedOneAfterTheOtherToo) {
  for (int64_t reduced : {1, 8, 63, 65, 200, 430}) {
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

// Where a thread alone would fold them, the rows are cut in parts.
TEST(ReduceColumnsTest, LongColumnsAreSummedInParts) {
  CheckSum(1, 1100, 1024, 0, 1024, true);
  CheckSum(2, 1100, 1500, 7, 1490, true);
  CheckSum(3, 1024, 128, 0, 128, true);
  CheckSum(1, 5003, 300, 0, 300, true);  // a prime number of rows
  CheckSum(17, 1024, 64, 0, 64, true);   // enough to do in one part
  CheckSum(1, 4096, 5000, 0, 5000, true);
}

// The program by clients with 1 and 3 threads.
void CheckThreads(absl::string_view program, const Literal& x) {
  const auto alone = RunAll(program, {&x});
  const std::unique_ptr<PjRtClient> client = MakeClient(WithThreads(3));
  const auto shared = RunProgram(*client, program, {&x});
  ASSERT_TRUE(shared.ok()) << shared.status();
  ASSERT_EQ(alone.size(), shared->size());
  for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(*alone[i], *(*shared)[i]) << program;
}

std::vector<float> Waves(int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * i % 1009) / 7);
  return values;
}

TEST(ReduceColumnsTest, PartsDoNotDependOnTheNumberOfThreads) {
  CheckThreads(R"(
    func.func @main(%x: tensor<3x600x7x96xf32>) -> (tensor<96xf32>, tensor<3x600x7x96xf32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %y = stablehlo.multiply %x, %x : tensor<3x600x7x96xf32>
      %0 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1, 2]
        : (tensor<3x600x7x96xf32>, tensor<f32>) -> tensor<96xf32>
      return %0, %y : tensor<96xf32>, tensor<3x600x7x96xf32>
    })",
               Array<float>({3, 600, 7, 96}, Waves(3 * 600 * 7 * 96)));
}

// Of numbers and of what they are more than is added along the second dim: the parts may be runs of
// points or not.
TEST(ReduceColumnsTest, SeveralDimsAreSummedInParts) {
  const std::vector<std::vector<int64_t>> shapes = {
      {8, 56, 56, 64}, {4, 4, 90, 200}, {17, 256, 2, 64}, {2, 5, 600, 70}, {1, 3, 2000, 50}};
  for (const std::vector<int64_t>& d : shapes) {
    std::vector<float> x(d[0] * d[1] * d[2] * d[3]), less(d[1]), expected(d[3]);
    for (size_t i = 0; i < less.size(); ++i) less[i] = static_cast<float>(i % 4);
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t column = i % d[3], row = i / d[3] / d[2] % d[1];
      x[i] = static_cast<float>(i * i % 11);
      expected[column] += x[i] - less[row];
    }
    const Literal operand = Array<float>(d, x), bias = Array<float>({d[1]}, less);
    const std::string program = absl::Substitute(
        "func.func @main(%x: tensor<$0x$1x$2x$3xf32>, %b: tensor<$1xf32>) -> tensor<$3xf32> {\n"
        "  %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
        "  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<$1xf32>) -> "
        "tensor<$0x$1x$2x$3xf32>\n"
        "  %1 = stablehlo.subtract %x, %0 : tensor<$0x$1x$2x$3xf32>\n"
        "  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = "
        "[0, 1, 2] : (tensor<$0x$1x$2x$3xf32>, tensor<f32>) -> tensor<$3xf32>\n"
        "  return %2 : tensor<$3xf32>\n}\n",
        d[0], d[1], d[2], d[3]);
    EXPECT_EQ(RunOne<float>(program, {&operand, &bias}), expected) << program;
  }
}

TEST(ReduceColumnsTest, PlacesOfMaximaAreFoundInParts) {
  const int64_t rows = 4096, columns = 70;
  std::vector<float> values = Waves(rows * columns);
  std::vector<float> maxima(columns);
  std::vector<int32_t> places(columns);
  for (int64_t c = 0; c < columns; ++c) {
    maxima[c] = values[c];
    for (int64_t r = 1; r < rows; ++r) {
      if (values[r * columns + c] <= maxima[c]) continue;
      maxima[c] = values[r * columns + c];
      places[c] = static_cast<int32_t>(r);
    }
  }
  const Literal x = Array<float>({rows, columns}, values);
  const char* const program = R"(
    func.func @main(%x: tensor<4096x70xf32>) -> (tensor<70xf32>, tensor<70xi32>) {
      %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %n = stablehlo.iota dim = 0 : tensor<4096x70xi32>
      %0:2 = stablehlo.reduce(%x init: %low), (%n init: %zero) across dimensions = [0]
        : (tensor<4096x70xf32>, tensor<4096x70xi32>, tensor<f32>, tensor<i32>)
          -> (tensor<70xf32>, tensor<70xi32>)
        reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {
        %gt = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %ne = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %first = stablehlo.or %gt, %ne : tensor<i1>
        %eq = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %lt = stablehlo.compare LT, %i, %j, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %tie = stablehlo.and %eq, %lt : tensor<i1>
        %left = stablehlo.or %first, %tie : tensor<i1>
        %value = stablehlo.select %first, %a, %b : tensor<i1>, tensor<f32>
        %place = stablehlo.select %left, %i, %j : tensor<i1>, tensor<i32>
        stablehlo.return %value, %place : tensor<f32>, tensor<i32>
      }
      return %0#0, %0#1 : tensor<70xf32>, tensor<70xi32>
    })";
  const auto results = RunAll(program, {&x});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(Elements<float>(*results[0]), maxima);
  EXPECT_EQ(Elements<int32_t>(*results[1]), places);
  CheckThreads(program, x);
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
