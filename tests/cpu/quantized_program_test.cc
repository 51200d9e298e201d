// SPDX-License-Identifier: Apache-2.0
//
// Quantized types in products, moved values and regions on the CPU device. Scales are powers of two
// here, so that floats are exact and any order of summation gives the same.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// Numbers that look unordered, from the whole range of int8_t.
std::vector<int8_t> RandomInt8s(int64_t count, int seed) {
  std::vector<int8_t> values;
  uint32_t state = static_cast<uint32_t>(seed) * 2654435761u + 12345u;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<int8_t>(state >> 24));
  }
  return values;
}

int8_t Saturate(double x) {
  return static_cast<int8_t>(std::nearbyint(std::clamp(x, -128.0, 127.0)));
}

TEST(QuantizedProgramTest, ProductsOfMatricesSumDequantizedNumbers) {
  const int64_t m = 7, k = 40, n = 9;
  const std::vector<int8_t> a = RandomInt8s(m * k, 1), b = RandomInt8s(k * n, 2);
  const Literal lhs = Array<int8_t>({m, k}, a), rhs = Array<int8_t>({k, n}, b);
  const std::string text = R"(
      func.func @main(%a: tensor<7x40x!quant.uniform<i8:f32, 0.5:-3>>,
                      %b: tensor<40x9x!quant.uniform<i8:f32, 0.25:10>>)
          -> (tensor<7x9x!quant.uniform<i32:f32, 0.125>>, tensor<7x9x!quant.uniform<i8:f32, 64.0:4>>) {
        %s = stablehlo.dot %a, %b
            : (tensor<7x40x!quant.uniform<i8:f32, 0.5:-3>>, tensor<40x9x!quant.uniform<i8:f32, 0.25:10>>)
              -> tensor<7x9x!quant.uniform<i32:f32, 0.125>>
        %r = stablehlo.dot %a, %b
            : (tensor<7x40x!quant.uniform<i8:f32, 0.5:-3>>, tensor<40x9x!quant.uniform<i8:f32, 0.25:10>>)
              -> tensor<7x9x!quant.uniform<i8:f32, 64.0:4>>
        return %s, %r : tensor<7x9x!quant.uniform<i32:f32, 0.125>>, tensor<7x9x!quant.uniform<i8:f32, 64.0:4>>
      })";
  std::vector<int32_t> sums;
  std::vector<int8_t> narrow;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += (a[i * k + p] + 3) * (b[p * n + j] - 10);
      sums.push_back(sum);
      narrow.push_back(Saturate(sum * 0.125 / 64 + 4));
    }
  }
  const auto results = RunAll(text, {&lhs, &rhs});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int32_t>(*results[0]), ElementsAreArray(sums));
  EXPECT_THAT(Elements<int8_t>(*results[1]), ElementsAreArray(narrow));
}

TEST(QuantizedProgramTest, FloatsTimesQuantizedWeightsAreFloats) {
  const std::vector<int8_t> b = RandomInt8s(6, 3);
  const Literal lhs = Array<float>({2, 3}, {1, 2, 3, -4, 5, 0.5}), rhs = Array<int8_t>({3, 2}, b);
  const float scales[] = {0.5f, 2.f};
  const int zero_points[] = {1, -7};
  std::vector<float> expected;
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      float sum = 0;
      for (int p = 0; p < 3; ++p) {
        sum += lhs.data<float>()[i * 3 + p] *
               (static_cast<float>(b[p * 2 + j] - zero_points[j]) * scales[j]);
      }
      expected.push_back(sum);
    }
  }
  EXPECT_THAT(RunOne<float>(R"(
      func.func @main(%a: tensor<2x3xf32>,
                      %b: tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 2.0:-7}>>) -> tensor<2x2xf32> {
        %r = stablehlo.dot %a, %b
            : (tensor<2x3xf32>, tensor<3x2x!quant.uniform<i8:f32:1, {0.5:1, 2.0:-7}>>) -> tensor<2x2xf32>
        return %r : tensor<2x2xf32>
      })",
                            {&lhs, &rhs}),
              ElementsAreArray(expected));
}

// Blocks of 2 x 2 of the second operand share scale and zero point.
TEST(QuantizedProgramTest, ProductsTakeTheScaleOfEachFactorsBlock) {
  const std::string weights =
      "tensor<4x4x!quant.uniform<i8:f32:{0:2, 1:2}, {{0.5:1, 2.0:-7}, {0.25:3, 4.0}}>>";
  const double scales[2][2] = {{0.5, 2}, {0.25, 4}};
  const int zero_points[2][2] = {{1, -7}, {3, 0}};
  const std::vector<int8_t> a = RandomInt8s(12, 11), b = RandomInt8s(16, 12);
  std::vector<float> numbers;
  for (const int8_t x : a) numbers.push_back(static_cast<float>(x) / 8);
  std::vector<float> floats;
  std::vector<int8_t> stored;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 4; ++j) {
      double of_numbers = 0, of_stored = 0;
      for (int p = 0; p < 4; ++p) {
        const double w = (b[p * 4 + j] - zero_points[p / 2][j / 2]) * scales[p / 2][j / 2];
        of_numbers += a[i * 4 + p] / 8. * w;
        of_stored += (a[i * 4 + p] + 5) * 0.25 * w;
      }
      floats.push_back(static_cast<float>(of_numbers));
      stored.push_back(Saturate(of_stored / 64 + 9));
    }
  }
  const Literal x = Array<float>({3, 4}, numbers), q = Array<int8_t>({3, 4}, a);
  const Literal w = Array<int8_t>({4, 4}, b);
  const auto results = RunAll(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<3x4xf32>, %q: tensor<3x4x!quant.uniform<i8:f32, 0.25:-5>>, %w: $w)
          -> (tensor<3x4xf32>, tensor<3x4x!quant.uniform<i8:f32, 64.0:9>>) {
        %f = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x4xf32>, $w) -> tensor<3x4xf32>
        %s = stablehlo.dot_general %q, %w, contracting_dims = [1] x [0]
            : (tensor<3x4x!quant.uniform<i8:f32, 0.25:-5>>, $w) -> tensor<3x4x!quant.uniform<i8:f32, 64.0:9>>
        return %f, %s : tensor<3x4xf32>, tensor<3x4x!quant.uniform<i8:f32, 64.0:9>>
      })",
                                                  {{"$w", weights}}),
                              {&x, &q, &w});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<float>(*results[0]), ElementsAreArray(floats));
  EXPECT_THAT(Elements<int8_t>(*results[1]), ElementsAreArray(stored));
}

// Scales of blocks of input features.
TEST(QuantizedProgramTest, ConvolutionsTakeTheScaleOfEachKernelBlock) {
  const std::string kernel = "tensor<1x4x2x!quant.uniform<i8:f32:{1:2}, {{{0.5:1}, {2.0:-3}}}>>";
  const double scales[] = {0.5, 2};
  const int zero_points[] = {1, -3};
  const std::vector<int8_t> k = RandomInt8s(8, 13);
  std::vector<float> x, expected;
  for (int i = 0; i < 12; ++i) x.push_back(static_cast<float>(i * i % 17) - 8);
  for (int i = 0; i < 3; ++i) {
    for (int o = 0; o < 2; ++o) {
      double sum = 0;
      for (int c = 0; c < 4; ++c)
        sum +=
            static_cast<double>(x[i * 4 + c]) * (k[c * 2 + o] - zero_points[c / 2]) * scales[c / 2];
      expected.push_back(static_cast<float>(sum));
    }
  }
  const Literal input = Array<float>({1, 3, 4}, x), weights = Array<int8_t>({1, 4, 2}, k);
  EXPECT_THAT(RunOne<float>(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<1x3x4xf32>, %k: $k) -> tensor<1x3x2xf32> {
        %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
            {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x4xf32>, $k) -> tensor<1x3x2xf32>
        return %r : tensor<1x3x2xf32>
      })",
                                                {{"$k", kernel}}),
                            {&input, &weights}),
              ElementsAreArray(expected));
}

TEST(QuantizedProgramTest, ConvolutionsPadWithTheNumberZero) {
  const std::vector<int8_t> x = RandomInt8s(8, 4);
  const Literal input = Array<int8_t>({1, 8, 1}, x),
                kernel = Array<int8_t>({3, 1, 2}, RandomInt8s(6, 5));
  const int zero_points[] = {0, 4};
  std::vector<int32_t> expected;
  for (int at = 0; at < 8; ++at) {
    for (int c = 0; c < 2; ++c) {
      int32_t sum = 0;
      for (int w = 0; w < 3; ++w) {
        const int from = at + w - 1;
        if (from < 0 || from >= 8) continue;
        sum += (x[from] + 100) * (kernel.data<int8_t>()[w * 2 + c] - zero_points[c]);
      }
      expected.push_back(sum + 9);
    }
  }
  EXPECT_THAT(RunOne<int32_t>(
                  R"(
      func.func @main(%x: tensor<1x8x1x!quant.uniform<i8:f32, 0.5:-100>>,
                      %k: tensor<3x1x2x!quant.uniform<i8:f32:2, {0.5, 0.25:4}>>)
          -> tensor<1x8x2x!quant.uniform<i32:f32:2, {0.25:9, 0.125:9}>> {
        %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
            window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
            : (tensor<1x8x1x!quant.uniform<i8:f32, 0.5:-100>>,
               tensor<3x1x2x!quant.uniform<i8:f32:2, {0.5, 0.25:4}>>)
              -> tensor<1x8x2x!quant.uniform<i32:f32:2, {0.25:9, 0.125:9}>>
        return %r : tensor<1x8x2x!quant.uniform<i32:f32:2, {0.25:9, 0.125:9}>>
      })",
                  {&input, &kernel}),
              ElementsAreArray(expected));
}

// --- Moved values ---

TEST(QuantizedProgramTest, MovedIntegersStayAsTheyAreEvenOutOfTheirRange) {
  // -128 is none of <-127:127>, but a bitcast makes it.
  const std::string q = "tensor<4x!quant.uniform<i8<-127:127>:f32, 0.1:5>>";
  const Literal x = Array<int8_t>({4}, {-128, -127, 0, 127});
  EXPECT_THAT(RunOne<int8_t>(absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
        %q = stablehlo.bitcast_convert %x : (tensor<4xi8>) -> $q
        %r = stablehlo.reverse %q, dims = [0] : $q
        %b = stablehlo.bitcast_convert %r : ($q) -> tensor<4xi8>
        return %b : tensor<4xi8>
      })",
                                                 {{"$q", q}}),
                             {&x}),
              ElementsAre(127, 0, -127, -128));
}

TEST(QuantizedProgramTest, ChosenValuesTakeTheQuantizationOfTheResult) {
  const Literal p = Preds({4}, {1, 1, 0, 0});
  const Literal a = Array<int8_t>({4}, {10, -10, 0, 0}), b = Array<int8_t>({4}, {0, 0, 20, -20});
  EXPECT_THAT(RunOne<int8_t>(R"(
      func.func @main(%p: tensor<4xi1>, %a: tensor<4x!quant.uniform<i8:f32, 0.5:2>>,
                      %b: tensor<4x!quant.uniform<i8:f32, 0.5:2>>)
          -> tensor<4x!quant.uniform<i8:f32, 1.0:-1>> {
        %r = stablehlo.select %p, %a, %b
            : (tensor<4xi1>, tensor<4x!quant.uniform<i8:f32, 0.5:2>>,
               tensor<4x!quant.uniform<i8:f32, 0.5:2>>) -> tensor<4x!quant.uniform<i8:f32, 1.0:-1>>
        return %r : tensor<4x!quant.uniform<i8:f32, 1.0:-1>>
      })",
                             {&p, &a, &b}),
              ElementsAre(3, -7, 8, -12));
}

TEST(QuantizedProgramTest, ConstantsAndIotasAreQuantized) {
  const std::string q = "tensor<4x!quant.uniform<i8:f32, 0.5:1>>";
  const auto results = RunAll(absl::StrReplaceAll(R"(
      func.func @main() -> ($q, $q) {
        %c = stablehlo.constant() <{value = dense<[1, 2, -128, 4]> : tensor<4xi8>}> : () -> $q
        %i = stablehlo.iota dim = 0 : $q
        return %c, %i : $q, $q
      })",
                                                  {{"$q", q}}));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int8_t>(*results[0]), ElementsAre(1, 2, -128, 4));
  EXPECT_THAT(Elements<int8_t>(*results[1]), ElementsAre(1, 3, 5, 7));
}

TEST(QuantizedProgramTest, TransposedBlocksAreQuantizedByTheirNewScales) {
  const std::string a = "tensor<2x4x!quant.uniform<i8:f32:{1:2}, {{1.0, 2.0:1}}>>";
  const std::string b = "tensor<4x2x!quant.uniform<i8:f32:{0:2}, {{1.0}, {2.0:1}}>>";
  const Literal x = Array<int8_t>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_THAT(RunOne<int8_t>(absl::StrCat("func.func @main(%x: ", a, ") -> ", b,
                                          " {\n  %r = stablehlo.transpose %x, dims = [1, 0] : (", a,
                                          ") -> ", b, "\n  return %r : ", b, "\n}"),
                             {&x}),
              ElementsAre(1, 5, 2, 6, 3, 7, 4, 8));
}

// --- Regions ---

TEST(QuantizedProgramTest, ReductionsQuantizeAfterEachStep) {
  const std::string q = "tensor<3x4x!quant.uniform<i8:f32, 0.5:10>>";
  const std::string r = "tensor<3x!quant.uniform<i8:f32, 0.5:10>>";
  const std::string s = "tensor<!quant.uniform<i8:f32, 0.5:10>>";
  const Literal x = Array<int8_t>({3, 4}, {11, 12, 13, 14, 127, 127, 127, 127, -50, 9, 8, 10});
  const Literal zero = Scalar<int8_t>(10), least = Scalar<int8_t>(-128);
  const std::string text = absl::StrReplaceAll(R"(
      func.func @main(%x: $q, %zero: $s, %least: $s) -> ($r, $r) {
        %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : ($q, $s) -> $r
        %1 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : ($q, $s) -> $r
        return %0, %1 : $r, $r
      })",
                                               {{"$q", q}, {"$r", r}, {"$s", s}});
  const auto results = RunAll(text, {&x, &zero, &least});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int8_t>(*results[0]), ElementsAre(20, 127, -53));
  EXPECT_THAT(Elements<int8_t>(*results[1]), ElementsAre(14, 127, 10));
}

TEST(QuantizedProgramTest, ScansQuantizeAfterEachStep) {
  const Literal x = Array<int8_t>({2, 3}, {11, -20, 100, 12, 10, 100}),
                zero = Array<int8_t>({2}, {10, 12});
  const std::string text = absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<2x3x$q>, %c: tensor<2x$q>) -> (tensor<2x3x$q>, tensor<2x$q>) {
        %0:2 = chlo.scan(%x) inits (%c) dimension=1 {
        ^bb0(%a: tensor<2x$q>, %b: tensor<2x$q>):
          %1 = stablehlo.add %a, %b : tensor<2x$q>
          stablehlo.return %1, %1 : tensor<2x$q>, tensor<2x$q>
        } : (tensor<2x3x$q>, tensor<2x$q>) -> (tensor<2x3x$q>, tensor<2x$q>)
        return %0#0, %0#1 : tensor<2x3x$q>, tensor<2x$q>
      })",
                                               {{"$q", "!quant.uniform<i8:f32, 0.5:10>"}});
  const auto results = RunAll(text, {&x, &zero});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_THAT(Elements<int8_t>(*results[0]), ElementsAre(11, -19, 71, 14, 14, 104));
  EXPECT_THAT(Elements<int8_t>(*results[1]), ElementsAre(71, 104));
}

TEST(QuantizedProgramTest, TheLargestAreChosenAmongStoredIntegers) {
  const Literal x = Array<int8_t>({2, 4}, {3, -128, 127, 3, -1, -2, -3, -4});
  for (const char* k : {"1", "2", "4"}) {
    const std::string text =
        absl::StrReplaceAll(R"(
      func.func @main(%x: tensor<2x4x$q>) -> (tensor<2x$kx$q>, tensor<2x$kxi32>) {
        %0:2 = chlo.top_k(%x, k = $k) : tensor<2x4x$q> -> (tensor<2x$kx$q>, tensor<2x$kxi32>)
        return %0#0, %0#1 : tensor<2x$kx$q>, tensor<2x$kxi32>
      })",
                            {{"$q", "!quant.uniform<i8:f32, 0.5:10>"}, {"$k", k}});
    const auto results = RunAll(text, {&x});
    ASSERT_EQ(results.size(), 2u);
    std::vector<int8_t> values;
    std::vector<int32_t> places;
    for (const std::vector<int8_t>& row : {std::vector<int8_t>{127, 3, 3, -128}, {-1, -2, -3, -4}})
      values.insert(values.end(), row.begin(), row.begin() + (*k - '0'));
    for (const std::vector<int32_t>& row : {std::vector<int32_t>{2, 0, 3, 1}, {0, 1, 2, 3}})
      places.insert(places.end(), row.begin(), row.begin() + (*k - '0'));
    EXPECT_THAT(Elements<int8_t>(*results[0]), ElementsAreArray(values)) << k;
    EXPECT_THAT(Elements<int32_t>(*results[1]), ElementsAreArray(places)) << k;
  }
}

TEST(QuantizedProgramTest, AccumulatorsMayBeWiderThanInputs) {
  const Literal x = Array<int8_t>({300}, std::vector<int8_t>(300, 127)), zero = Scalar<int32_t>(0);
  EXPECT_THAT(RunOne<int32_t>(R"(
      func.func @main(%x: tensor<300x!quant.uniform<i8:f32, 0.5:-3>>, %z: tensor<!quant.uniform<i32:f32, 0.5>>)
          -> tensor<!quant.uniform<i32:f32, 0.5>> {
        %r = stablehlo.reduce(%x init: %z) across dimensions = [0]
            : (tensor<300x!quant.uniform<i8:f32, 0.5:-3>>, tensor<!quant.uniform<i32:f32, 0.5>>)
              -> tensor<!quant.uniform<i32:f32, 0.5>>
          reducer(%a: tensor<!quant.uniform<i32:f32, 0.5>>, %b: tensor<!quant.uniform<i32:f32, 0.5>>) {
            %s = stablehlo.add %a, %b : tensor<!quant.uniform<i32:f32, 0.5>>
            stablehlo.return %s : tensor<!quant.uniform<i32:f32, 0.5>>
          }
        return %r : tensor<!quant.uniform<i32:f32, 0.5>>
      })",
                              {&x, &zero}),
              ElementsAre(300 * 130));
}

TEST(QuantizedProgramTest, WindowsSortsMapsAndScattersWorkOnStoredIntegers) {
  const std::string q = "tensor<6x!quant.uniform<i8:f32, 0.5:10>>";
  const std::string h = "tensor<3x!quant.uniform<i8:f32, 0.5:10>>";
  const std::string s = "tensor<!quant.uniform<i8:f32, 0.5:10>>";
  const Literal x = Array<int8_t>({6}, {12, 4, 100, -100, 127, 60});
  const Literal zero = Scalar<int8_t>(10);
  const std::string text = absl::StrReplaceAll(R"(
      func.func @main(%x: $q, %z: $s) -> ($h, $q, $q, $q, $q) {
        %w = "stablehlo.reduce_window"(%x, %z) ({
        ^bb0(%a: $s, %b: $s):
          %m = stablehlo.add %a, %b : $s
          stablehlo.return %m : $s
        }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : ($q, $s) -> $h
        %o = "stablehlo.sort"(%x) ({
        ^bb0(%a: $s, %b: $s):
          %c = stablehlo.compare GT, %a, %b : ($s, $s) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }) {dimension = 0 : i64} : ($q) -> $q
        %p = "stablehlo.map"(%x, %x) ({
        ^bb0(%a: $s, %b: $s):
          %c = stablehlo.multiply %a, %b : $s
          stablehlo.return %c : $s
        }) {dimensions = array<i64: 0>} : ($q, $q) -> $q
        %i = stablehlo.constant dense<[[0], [5], [9]]> : tensor<3x1xi32>
        %u = "stablehlo.scatter"(%x, %i, %w) ({
        ^bb0(%a: $s, %b: $s):
          %c = stablehlo.subtract %a, %b : $s
          stablehlo.return %c : $s
        }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : ($q, tensor<3x1xi32>, $h) -> $q
        %v = "stablehlo.select_and_scatter"(%x, %w, %z) ({
        ^bb0(%a: $s, %b: $s):
          %c = stablehlo.compare GE, %a, %b : ($s, $s) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }, {
        ^bb0(%a: $s, %b: $s):
          %c = stablehlo.add %a, %b : $s
          stablehlo.return %c : $s
        }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : ($q, $h, $s) -> $q
        return %w, %o, %p, %u, %v : $h, $q, $q, $q, $q
      })",
                                               {{"$q", q}, {"$h", h}, {"$s", s}});
  const auto results = RunAll(text, {&x, &zero});
  ASSERT_EQ(results.size(), 5u);
  EXPECT_THAT(Elements<int8_t>(*results[0]), ElementsAre(6, -10, 127));
  EXPECT_THAT(Elements<int8_t>(*results[1]), ElementsAre(127, 100, 60, 12, 4, -100));
  // (q - 10) * 0.5 squared, over 0.5, plus 10.
  EXPECT_THAT(Elements<int8_t>(*results[2]), ElementsAre(12, 28, 127, 127, 127, 127));
  EXPECT_THAT(Elements<int8_t>(*results[3]), ElementsAre(16, 4, 100, -100, 127, 80));
  EXPECT_THAT(Elements<int8_t>(*results[4]), ElementsAre(6, 10, -10, 10, 127, 10));
}

TEST(QuantizedProgramTest, LoopsAndBranchesCarryStoredIntegers) {
  const std::string q = "tensor<2x!quant.uniform<i8:f32:0, {0.5, 0.25:3}>>";
  const Literal x = Array<int8_t>({2}, {1, 4}), n = Scalar<int32_t>(5);
  EXPECT_THAT(RunOne<int8_t>(absl::StrReplaceAll(R"(
      func.func @main(%x: $q, %n: tensor<i32>) -> $q {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, $q
          cond {
            %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %j = stablehlo.add %i, %one : tensor<i32>
            %first = stablehlo.compare EQ, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
            %w = "stablehlo.if"(%first) ({
              %d = stablehlo.add %v, %x : $q
              stablehlo.return %d : $q
            }, {
              stablehlo.return %v : $q
            }) : (tensor<i1>) -> $q
            stablehlo.return %j, %w : tensor<i32>, $q
          }
        return %r#1 : $q
      })",
                                                 {{"$q", q}}),
                             {&x, &n}),
              ElementsAre(2, 5));
}

TEST(QuantizedProgramTest, CallsTuplesBranchesAndGathersPassStoredIntegersOn) {
  const std::string q = "tensor<3x!quant.uniform<i8:f32, 0.5>>";
  const Literal x = Array<int8_t>({3}, {2, -40, 6}), branch = Scalar<int32_t>(1);
  EXPECT_THAT(RunOne<int8_t>(absl::StrReplaceAll(R"(
      func.func private @twice(%x: $q) -> $q {
        %0 = stablehlo.add %x, %x : $q
        return %0 : $q
      }
      func.func @main(%x: $q, %b: tensor<i32>) -> $q {
        %y = func.call @twice(%x) : ($q) -> $q
        %t = stablehlo.tuple %y, %b : tuple<$q, tensor<i32>>
        %g = stablehlo.get_tuple_element %t[0] : (tuple<$q, tensor<i32>>) -> $q
        %c = "stablehlo.case"(%b) ({
          stablehlo.return %g : $q
        }, {
          %n = stablehlo.negate %g : $q
          stablehlo.return %n : $q
        }) : (tensor<i32>) -> $q
        %i = stablehlo.constant dense<[[2], [0], [1]]> : tensor<3x1xi32>
        %r = "stablehlo.gather"(%c, %i) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0],
            start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}
            : ($q, tensor<3x1xi32>) -> $q
        return %r : $q
      })",
                                                 {{"$q", q}}),
                             {&x, &branch}),
              ElementsAre(-12, -4, 80));
}

TEST(QuantizedProgramTest, LinearAlgebraAndEinsumsComputeInFloats) {
  const std::string q = "tensor<2x2x!quant.uniform<i8:f32, 0.5>>";
  const std::string v = "tensor<2x!quant.uniform<i8:f32, 0.5>>";
  const Literal x = Array<int8_t>({2, 2}, {8, 4, 4, 10});  // [[4, 2], [2, 5]]
  const auto results = RunAll(absl::StrReplaceAll(R"(
      func.func @main(%x: $q) -> ($q, $v) {
        %c = stablehlo.cholesky %x, lower = true : $q
        %e = stablehlo.einsum %x, %x, config = "ab,ab->a" : ($q, $q) -> $v
        return %c, %e : $q, $v
      })",
                                                  {{"$q", q}, {"$v", v}}),
                              {&x});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0]->data<int8_t>()[0], 4);
  EXPECT_EQ(results[0]->data<int8_t>()[2], 2);
  EXPECT_EQ(results[0]->data<int8_t>()[3], 4);
  EXPECT_THAT(Elements<int8_t>(*results[1]), ElementsAre(40, 58));
}

TEST(QuantizedProgramTest, ScalesThatDoNotFitTheTensorAreRefused) {
  for (const char* element :
       {"!quant.uniform<i8:f32:2, {0.5, 0.25}>", "!quant.uniform<i8:f32:0, {0.5, 0.25, 1.0}>",
        "!quant.uniform<i8:f32:{0:2}, {0.5}>", "!quant.uniform<i8:f32:{0:2, 5:1}, {{0.5}}>",
        "!quant.uniform<i8:f32:{0:3}, {{0.5}}>"}) {
    const std::string type = absl::StrCat("tensor<2x3x", element, ">");
    const absl::Status status =
        RunProgram(OneThreadClient(),
                   absl::StrCat("func.func @main(%x: ", type, ") -> tensor<2x3xf32> {\n",
                                "  %r = stablehlo.uniform_dequantize %x : (", type,
                                ") -> tensor<2x3xf32>\n  return %r : tensor<2x3xf32>\n}"))
            .status();
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("PJRT-V009")) << element;
  }
}

}  // namespace
}  // namespace pjrt::cpu
