// SPDX-License-Identifier: Apache-2.0
//
// Reductions and running sums of bf16 and f16, which fold f32 values and round once; sums of
// squares.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

// Small whole numbers, of which each sum is exact.
template <typename T>
std::vector<T> WholeNumbers(int64_t count) {
  std::vector<T> numbers;
  uint32_t state = 11;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    numbers.push_back(static_cast<T>(static_cast<float>(static_cast<int>(state >> 29)) - 3));
  }
  return numbers;
}

// The sum of an array of three dims over `dims`, and its maximum.
template <typename T>
void CheckReduce(const char* element, PrimitiveType type, std::vector<int64_t> shape,
                 std::vector<bool> is_reduced, int threads) {
  const int64_t count = shape[0] * shape[1] * shape[2];
  const std::vector<T> x = WholeNumbers<T>(count);
  std::vector<int64_t> kept, reduced;
  for (int d = 0; d < 3; ++d)
    (is_reduced[d] ? reduced : kept).push_back(is_reduced[d] ? d : shape[d]);
  int64_t results = 1;
  for (int64_t d : kept) results *= d;
  std::vector<float> sums(results, 1.0f), largest(results, -2.0f);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at[3] = {i / (shape[1] * shape[2]), i / shape[2] % shape[1], i % shape[2]};
    int64_t place = 0;
    for (int d = 0; d < 3; ++d) place = is_reduced[d] ? place : place * shape[d] + at[d];
    sums[place] += static_cast<float>(x[i]);
    largest[place] = std::max(largest[place], static_cast<float>(x[i]));
  }
  std::string dims;
  for (int64_t d : reduced) absl::StrAppend(&dims, dims.empty() ? "" : ", ", d);
  const std::string text = absl::Substitute(
      "func.func @main(%x: $0) -> ($1, $1) {\n"
      "  %one = stablehlo.constant dense<1.0> : tensor<$2>\n"
      "  %low = stablehlo.constant dense<-2.0> : tensor<$2>\n"
      "  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.add across dimensions = [$3] : "
      "($0, tensor<$2>) -> $1\n"
      "  %1 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [$3] : "
      "($0, tensor<$2>) -> $1\n"
      "  return %0, %1 : $1, $1\n}\n",
      TensorText(shape, element), TensorText(kept, element), element, dims);
  const Literal operand = Array<T>(type, shape, x);
  const auto both = RunProgram(*MakeClient(WithThreads(threads)), text, {&operand});
  ASSERT_TRUE(both.ok()) << both.status();
  const std::vector<T> sum = Elements<T>(*(*both)[0]), most = Elements<T>(*(*both)[1]);
  for (int64_t i = 0; i < results; ++i) {
    EXPECT_EQ(static_cast<float>(sum[i]), static_cast<float>(static_cast<T>(sums[i])))
        << "sum " << i << " of " << DimsText(shape) << " over " << dims;
    EXPECT_EQ(static_cast<float>(most[i]), largest[i])
        << "maximum " << i << " of " << DimsText(shape) << " over " << dims;
  }
}

TEST(NarrowFoldTest, ReductionsOverEachDim) {
  const std::vector<std::vector<int64_t>> shapes = {
      {1, 1, 1},   {2, 3, 4},    {5, 7, 33},  {3, 40, 8},   {70, 4, 8}, {2, 70, 20},
      {4, 9, 300}, {20, 5, 256}, {9, 3, 700}, {1, 300, 64}, {64, 2, 1}};
  for (const std::vector<int64_t>& shape : shapes) {
    for (int dims = 1; dims < 8; ++dims) {
      const std::vector<bool> is_reduced = {(dims & 1) != 0, (dims & 2) != 0, (dims & 4) != 0};
      CheckReduce<bfloat16>("bf16", BF16, shape, is_reduced, 1);
      CheckReduce<half>("f16", F16, shape, is_reduced, 1);
    }
  }
}

TEST(NarrowFoldTest, LongReductionsWithAnyNumberOfThreads) {
  for (int threads : {1, 2, 3, 8}) {
    CheckReduce<bfloat16>("bf16", BF16, {6, 3, 8000}, {true, false, true}, threads);
    CheckReduce<bfloat16>("bf16", BF16, {3000, 1, 40}, {true, true, false}, threads);
    CheckReduce<half>("f16", F16, {40, 90, 64}, {true, true, true}, threads);
  }
}

// The sums of an array's squares over its rows and over its columns, from 1 on.
template <typename T>
void CheckSquares(const char* element, int64_t rows, int64_t columns, int threads) {
  const std::vector<T> x = WholeNumbers<T>(rows * columns);
  std::vector<double> of_rows(rows, 1.0), of_columns(columns, 1.0);
  for (int64_t i = 0; i < rows * columns; ++i) {
    const double v = static_cast<double>(static_cast<float>(x[i]));
    of_rows[i / columns] += v * v;
    of_columns[i % columns] += v * v;
  }
  for (int dim : {1, 0}) {
    const std::vector<double>& expected = dim == 1 ? of_rows : of_columns;
    const std::string text = absl::Substitute(
        "func.func @main(%x: $0) -> $1 {\n"
        "  %one = stablehlo.constant dense<1.0> : tensor<$2>\n"
        "  %0 = stablehlo.multiply %x, %x : $0\n"
        "  %1 = stablehlo.reduce(%0 init: %one) applies stablehlo.add across dimensions = [$3] : "
        "($0, tensor<$2>) -> $1\n"
        "  return %1 : $1\n}\n",
        TensorText({rows, columns}, element), TensorText({dim == 1 ? rows : columns}, element),
        element, dim);
    const Literal operand = Array<T>(PrimitiveTypeOf<T>(), {rows, columns}, x);
    const auto results = RunProgram(*MakeClient(WithThreads(threads)), text, {&operand});
    ASSERT_TRUE(results.ok()) << results.status();
    const std::vector<T> sums = Elements<T>(*(*results)[0]);
    ASSERT_EQ(sums.size(), expected.size());
    for (size_t i = 0; i < sums.size(); ++i)
      ASSERT_EQ(sums[i], static_cast<T>(expected[i]))
          << element << " " << rows << "x" << columns << " along " << dim << " at " << i;
  }
}

TEST(SquaresFoldTest, SumsOfSquaresOfEachTypeAndLength) {
  for (const auto& [rows, columns] : std::vector<std::pair<int64_t, int64_t>>{{0, 3},
                                                                              {1, 1},
                                                                              {3, 2},
                                                                              {70, 3},
                                                                              {5, 16},
                                                                              {9, 31},
                                                                              {40, 32},
                                                                              {33, 33},
                                                                              {20, 100},
                                                                              {3, 1025},
                                                                              {1, 70000},
                                                                              {3000, 40}}) {
    for (int threads : {1, 3}) {
      CheckSquares<float>("f32", rows, columns, threads);
      CheckSquares<double>("f64", rows, columns, threads);
      CheckSquares<bfloat16>("bf16", rows, columns, threads);
      CheckSquares<half>("f16", rows, columns, threads);
    }
  }
}

TEST(SquaresFoldTest, ANanAndAnInfinityCount) {
  std::vector<float> x(3 * 50, 2.0f);
  x[7] = std::numeric_limits<float>::quiet_NaN();
  x[99] = -std::numeric_limits<float>::infinity();
  const Literal operand = Array<float>({3, 50}, x);
  const std::vector<float> sums = RunOne<float>(R"(
    func.func @main(%x: tensor<3x50xf32>) -> tensor<3xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.multiply %x, %x : tensor<3x50xf32>
      %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x50xf32>, tensor<f32>) -> tensor<3xf32>
      return %1 : tensor<3xf32>
    })",
                                                {&operand});
  ASSERT_EQ(sums.size(), 3u);
  EXPECT_TRUE(std::isnan(sums[0]));
  EXPECT_EQ(sums[1], std::numeric_limits<float>::infinity());
  EXPECT_EQ(sums[2], 200.0f);
}

// A program that reads a value for more than a reduction loads it for both.
TEST(NarrowFoldTest, ValuesThatAreUsedBesides) {
  const std::vector<bfloat16> x = WholeNumbers<bfloat16>(300);
  const Literal operand = Array<bfloat16>(BF16, {3, 100}, x);
  const auto results = RunAll(R"(
    func.func @main(%x: tensor<3x100xbf16>) -> (tensor<3xbf16>, tensor<3xbf16>) {
      %zero = stablehlo.constant dense<0.0> : tensor<bf16>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x100xbf16>, tensor<bf16>) -> tensor<3xbf16>
      %1 = stablehlo.multiply %x, %x : tensor<3x100xbf16>
      %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<3x100xbf16>, tensor<bf16>) -> tensor<3xbf16>
      return %0, %2 : tensor<3xbf16>, tensor<3xbf16>
    })",
                              {&operand});
  ASSERT_EQ(results.size(), 2u);
  for (int row = 0; row < 3; ++row) {
    float sum = 0, squares = 0;
    for (int i = 0; i < 100; ++i) {
      const float v = static_cast<float>(x[row * 100 + i]);
      sum += v;
      squares += v * v;
    }
    EXPECT_EQ(Elements<bfloat16>(*results[0])[row], static_cast<bfloat16>(sum));
    EXPECT_EQ(Elements<bfloat16>(*results[1])[row], static_cast<bfloat16>(squares));
  }
}

// Running sums of `rows` x `columns` along `dim`.
template <typename T>
void CheckScan(const char* element, PrimitiveType type, int64_t rows, int64_t columns, int dim,
               bool is_reverse) {
  const std::vector<T> x = WholeNumbers<T>(rows * columns);
  const int64_t length = dim == 0 ? rows : columns, lines = dim == 0 ? columns : rows;
  const int64_t step = dim == 0 ? columns : 1, line_step = dim == 0 ? 1 : columns;
  std::vector<float> expected(x.size());
  for (int64_t line = 0; line < lines; ++line) {
    float sum = 0;
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = line * line_step + (is_reverse ? length - 1 - i : i) * step;
      expected[at] = sum = static_cast<float>(static_cast<T>(sum + static_cast<float>(x[at])));
    }
  }
  const std::string pad =
      absl::StrCat(is_reverse ? 0 : length - 1, ", ", is_reverse ? length - 1 : 0);
  const std::string text = absl::Substitute(
      "func.func @main(%x: $0) -> $0 {\n"
      "  %zero = stablehlo.constant dense<0.0> : tensor<$1>\n"
      "  %0 = \"stablehlo.reduce_window\"(%x, %zero) ({\n"
      "  ^bb0(%a: tensor<$1>, %b: tensor<$1>):\n"
      "    %s = stablehlo.add %a, %b : tensor<$1>\n"
      "    stablehlo.return %s : tensor<$1>\n"
      "  }) {window_dimensions = array<i64: $2>, padding = dense<[[$3], [$4]]> : "
      "tensor<2x2xi64>} : ($0, tensor<$1>) -> $0\n"
      "  return %0 : $0\n}\n",
      TensorText({rows, columns}, element), element,
      dim == 0 ? absl::StrCat(length, ", 1") : absl::StrCat("1, ", length), dim == 0 ? pad : "0, 0",
      dim == 0 ? "0, 0" : pad);
  const Literal operand = Array<T>(type, {rows, columns}, x);
  const std::vector<T> sums = RunOne<T>(text, {&operand});
  ASSERT_EQ(sums.size(), expected.size());
  for (size_t i = 0; i < sums.size(); ++i)
    ASSERT_EQ(static_cast<float>(sums[i]), expected[i])
        << "at " << i << " of " << rows << "x" << columns << " along " << dim;
}

TEST(NarrowFoldTest, RunningSumsAreRoundedAfterEachAddition) {
  for (bool is_reverse : {false, true}) {
    for (int64_t length : {2, 17, 255, 256, 257, 600}) {
      for (int64_t lines : {1, 5, 16, 37}) {
        CheckScan<bfloat16>("bf16", BF16, lines, length, 1, is_reverse);
        CheckScan<bfloat16>("bf16", BF16, length, lines, 0, is_reverse);
        CheckScan<half>("f16", F16, lines, length, 1, is_reverse);
      }
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
