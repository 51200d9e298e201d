// SPDX-License-Identifier: Apache-2.0
//
// Ops that are short for others on the CPU device: batch normalisation, einsum,
// torch_index_select, map and the rest of DecomposeOps, against plain loops.
#include <cmath>
#include <complex>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

// --- Batch normalisation: operands of [3, 2, 4] with 2 features in the middle ---

constexpr int kFeatures = 2;
constexpr int kPerFeature = 12;  // elements
constexpr double kEpsilon = 0.125;
int FeatureOf(int i) { return i / 4 % 2; }

std::vector<float> Samples(int count, int seed) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i)
    values.push_back(static_cast<float>(std::sin(i * 1.3 + seed) * 3));
  return values;
}

std::vector<double> MeanOf(const std::vector<float>& x) {
  std::vector<double> mean(kFeatures, 0);
  for (int i = 0; i < 24; ++i) mean[FeatureOf(i)] += static_cast<double>(x[i]) / kPerFeature;
  return mean;
}

std::vector<double> VarianceOf(const std::vector<float>& x, const std::vector<double>& mean) {
  std::vector<double> variance(kFeatures, 0);
  for (int i = 0; i < 24; ++i) {
    const double d = x[i] - mean[FeatureOf(i)];
    variance[FeatureOf(i)] += d * d / kPerFeature;
  }
  return variance;
}

void ExpectClose(const std::vector<float>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    EXPECT_NEAR(got[i], want[i], 1e-5 * (1 + std::abs(want[i]))) << i;
}

TEST(BatchNormTest, InferenceNormalizesWithGivenStatistics) {
  const std::vector<float> x = Samples(24, 0);
  const Literal operand = Array<float>({3, 2, 4}, x), scale = Array<float>({2}, {2, -0.5}),
                offset = Array<float>({2}, {1, 10}), mean = Array<float>({2}, {0.5, -1}),
                variance = Array<float>({2}, {4, 0});
  std::vector<double> expected;
  for (int i = 0; i < 24; ++i) {
    const int f = FeatureOf(i);
    expected.push_back((x[i] - mean.data<float>()[f]) /
                           std::sqrt(variance.data<float>()[f] + kEpsilon) *
                           scale.data<float>()[f] +
                       offset.data<float>()[f]);
  }
  ExpectClose(RunOne<float>(R"(
      func.func @main(%x: tensor<3x2x4xf32>, %s: tensor<2xf32>, %o: tensor<2xf32>, %m: tensor<2xf32>,
                      %v: tensor<2xf32>) -> tensor<3x2x4xf32> {
        %r = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) {epsilon = 0.125 : f32, feature_index = 1 : i64}
            : (tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2x4xf32>
        return %r : tensor<3x2x4xf32>
      })",
                            {&operand, &scale, &offset, &mean, &variance}),
              expected);
}

TEST(BatchNormTest, TrainingGivesTheStatisticsOfTheBatch) {
  const std::vector<float> x = Samples(24, 5);
  const Literal operand = Array<float>({3, 2, 4}, x), scale = Array<float>({2}, {2, -0.5}),
                offset = Array<float>({2}, {1, 10});
  const std::vector<double> mean = MeanOf(x), variance = VarianceOf(x, mean);
  std::vector<double> expected;
  for (int i = 0; i < 24; ++i) {
    const int f = FeatureOf(i);
    expected.push_back((x[i] - mean[f]) / std::sqrt(variance[f] + kEpsilon) *
                           scale.data<float>()[f] +
                       offset.data<float>()[f]);
  }
  const auto results = RunAll(R"(
      func.func @main(%x: tensor<3x2x4xf32>, %s: tensor<2xf32>, %o: tensor<2xf32>)
          -> (tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>) {
        %r:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.125 : f32, feature_index = 1 : i64}
            : (tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>)
        return %r#0, %r#1, %r#2 : tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>
      })",
                              {&operand, &scale, &offset});
  ASSERT_EQ(results.size(), 3u);
  ExpectClose(Elements<float>(*results[0]), expected);
  ExpectClose(Elements<float>(*results[1]), mean);
  ExpectClose(Elements<float>(*results[2]), variance);
}

TEST(BatchNormTest, GradientsAreThoseOfTraining) {
  // Differences of sum(grad * batch_norm_training(x)) in f64 stand for the derivatives.
  const std::vector<float> x = Samples(24, 2), grad = Samples(24, 9);
  const double scales[] = {2, -0.5};
  const auto loss = [&](std::vector<double> at, const double* scale, const double* offset) {
    double sum = 0;
    for (int f = 0; f < kFeatures; ++f) {
      double mean = 0, variance = 0;
      for (int i = 0; i < 24; ++i) mean += FeatureOf(i) == f ? at[i] / kPerFeature : 0;
      for (int i = 0; i < 24; ++i) {
        variance += FeatureOf(i) == f ? (at[i] - mean) * (at[i] - mean) / kPerFeature : 0;
      }
      for (int i = 0; i < 24; ++i) {
        if (FeatureOf(i) != f) continue;
        sum += grad[i] * ((at[i] - mean) / std::sqrt(variance + kEpsilon) * scale[f] + offset[f]);
      }
    }
    return sum;
  };
  const std::vector<double> point(x.begin(), x.end());
  const double h = 1e-5, zeros[] = {0, 0};
  std::vector<double> d_operand, d_scale, d_offset;
  for (int i = 0; i < 24; ++i) {
    std::vector<double> up = point, down = point;
    up[i] += h;
    down[i] -= h;
    d_operand.push_back((loss(up, scales, zeros) - loss(down, scales, zeros)) / (2 * h));
  }
  for (int f = 0; f < kFeatures; ++f) {
    double up[] = {scales[0], scales[1]}, down[] = {scales[0], scales[1]}, one[] = {0, 0};
    up[f] += h;
    down[f] -= h;
    one[f] = 1;
    d_scale.push_back((loss(point, up, zeros) - loss(point, down, zeros)) / (2 * h));
    d_offset.push_back(loss(point, scales, one) - loss(point, scales, zeros));
  }
  const std::vector<double> mean = MeanOf(x), variance = VarianceOf(x, mean);
  const Literal operand = Array<float>({3, 2, 4}, x), scale = Array<float>({2}, {2, -0.5}),
                m = Array<float>({2}, {static_cast<float>(mean[0]), static_cast<float>(mean[1])}),
                v = Array<float>(
                    {2}, {static_cast<float>(variance[0]), static_cast<float>(variance[1])}),
                g = Array<float>({3, 2, 4}, grad);
  const auto results = RunAll(R"(
      func.func @main(%x: tensor<3x2x4xf32>, %s: tensor<2xf32>, %m: tensor<2xf32>, %v: tensor<2xf32>,
                      %g: tensor<3x2x4xf32>) -> (tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>) {
        %r:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) {epsilon = 0.125 : f32, feature_index = 1 : i64}
            : (tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<3x2x4xf32>)
              -> (tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>)
        return %r#0, %r#1, %r#2 : tensor<3x2x4xf32>, tensor<2xf32>, tensor<2xf32>
      })",
                              {&operand, &scale, &m, &v, &g});
  ASSERT_EQ(results.size(), 3u);
  ExpectClose(Elements<float>(*results[0]), d_operand);
  ExpectClose(Elements<float>(*results[1]), d_scale);
  ExpectClose(Elements<float>(*results[2]), d_offset);
}

TEST(BatchNormTest, SixteenBitFloatsAreRoundedOnce) {
  // 1 + 2^-8 is no bfloat16, so sums that rounded would lose it.
  std::vector<bfloat16> x(256, bfloat16(1.f));
  x[0] = bfloat16(2.f);
  const Literal operand = Array<bfloat16>({256, 1}, x), one = Array<bfloat16>({1}, {bfloat16(1.f)});
  const auto results = RunAll(R"(
      func.func @main(%x: tensor<256x1xbf16>, %s: tensor<1xbf16>) -> (tensor<1xbf16>, tensor<1xbf16>) {
        %r:3 = "stablehlo.batch_norm_training"(%x, %s, %s) {epsilon = 0.0 : f32, feature_index = 1 : i64}
            : (tensor<256x1xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> (tensor<256x1xbf16>, tensor<1xbf16>, tensor<1xbf16>)
        return %r#1, %r#2 : tensor<1xbf16>, tensor<1xbf16>
      })",
                              {&operand, &one});
  ASSERT_EQ(results.size(), 2u);
  const double mean = 257.0 / 256, variance = 1.0 / 256 - 1.0 / 65536;
  EXPECT_EQ(static_cast<float>(results[0]->data<bfloat16>()[0]),
            static_cast<float>(bfloat16(static_cast<float>(mean))));
  EXPECT_EQ(static_cast<float>(results[1]->data<bfloat16>()[0]),
            static_cast<float>(bfloat16(static_cast<float>(variance))));
}

// --- einsum ---

std::vector<int32_t> Einsum(const std::string& config, const std::vector<const Literal*>& operands,
                            const std::vector<int64_t>& result) {
  std::string arguments, values, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string type = TensorText(operands[i]->shape().dimensions(), "i32");
    absl::StrAppend(&arguments, i > 0 ? ", " : "", "%a", i, ": ", type);
    absl::StrAppend(&values, i > 0 ? ", " : "", "%a", i);
    absl::StrAppend(&types, i > 0 ? ", " : "", type);
  }
  const std::string out = TensorText(result, "i32");
  return RunOne<int32_t>(
      absl::StrCat("func.func @main(", arguments, ") -> ", out, " {\n  %r = stablehlo.",
                   operands.size() == 1 ? "unary_einsum " : "einsum ", values, ", config = \"",
                   config, "\" : (", types, ") -> ", out, "\n  return %r : ", out, "\n}"),
      operands);
}

TEST(EinsumTest, LettersOfBothAndTheResultAreBatchesOthersAreSummed) {
  const Literal a = Array<int32_t>({2, 3, 4}, Counting<int32_t>(24));
  const Literal b = Array<int32_t>({2, 4, 5}, Counting<int32_t>(40, -7));
  std::vector<int32_t> expected(2 * 5 * 3, 0);
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 5; ++j)
          expected[(n * 5 + j) * 3 + i] += (n * 12 + i * 4 + k) * (n * 20 + k * 5 + j - 7);
  EXPECT_THAT(Einsum("nik,nkj->nji", {&a, &b}, {2, 5, 3}), ElementsAreArray(expected));
}

TEST(EinsumTest, LettersOfOneOperandAloneAreSummedFirst) {
  const Literal a = Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6}), b = Array<int32_t>({2}, {10, 100});
  EXPECT_THAT(Einsum("ab,c->ca", {&a, &b}, {2, 2}), ElementsAre(60, 150, 600, 1500));
  EXPECT_THAT(Einsum("ab,c->", {&a, &b}, {}), ElementsAre(21 * 110));
}

TEST(EinsumTest, RepeatedLettersTakeDiagonals) {
  const Literal a = Array<int32_t>({2, 3, 2}, Counting<int32_t>(12)),
                b = Array<int32_t>({2}, {1, 10});
  // a[i, j, i]
  EXPECT_THAT(Einsum("iji->ji", {&a}, {3, 2}), ElementsAre(0, 7, 2, 9, 4, 11));
  EXPECT_THAT(Einsum("iji,i->j", {&a, &b}, {3}), ElementsAre(70, 92, 114));
}

TEST(EinsumTest, OneOperandIsSummedAndTransposed) {
  const Literal a = Array<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Einsum("ab->ba", {&a}, {3, 2}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(Einsum("ab->b", {&a}, {3}), ElementsAre(5, 7, 9));
  EXPECT_THAT(Einsum("ab->", {&a}, {}), ElementsAre(21));
}

TEST(EinsumTest, DotsStandForDimensionsThatBroadcast) {
  // Products of 1x2 and 2x1 matrices, [3, 1] of them by [2].
  const Literal a = Array<int32_t>({3, 1, 1, 2}, {1, 2, 3, 4, 5, 6});
  const Literal b = Array<int32_t>({2, 2, 1}, {1, 10, 100, 1000});
  EXPECT_THAT(Einsum("...ab,...bc->...ac", {&a, &b}, {3, 2, 1, 1}),
              ElementsAre(21, 2100, 43, 4300, 65, 6500));
}

// --- The others ---

TEST(DecomposeTest, TorchIndexSelectTakesSlicesPerBatch) {
  const Literal x = Array<int32_t>({2, 3, 2}, Counting<int32_t>(12));
  const Literal index = Array<int32_t>({2, 2}, {2, 0, 1, 1});
  EXPECT_THAT(RunOne<int32_t>(R"(
      func.func @main(%x: tensor<2x3x2xi32>, %i: tensor<2x2xi32>) -> tensor<2x2x2xi32> {
        %r = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64}
            : (tensor<2x3x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
        return %r : tensor<2x2x2xi32>
      })",
                              {&x, &index}),
              ElementsAre(4, 5, 0, 1, 8, 9, 8, 9));
  EXPECT_THAT(
      RunOne<int32_t>(R"(
      func.func @main(%x: tensor<2x3x2xi32>, %i: tensor<2x2xi32>) -> tensor<2x3x2x2xi32> {
        %r = "stablehlo.torch_index_select"(%x, %i) {dim = 2 : i64, batch_dims = 0 : i64}
            : (tensor<2x3x2xi32>, tensor<2x2xi32>) -> tensor<2x3x2x2xi32>
        return %r : tensor<2x3x2x2xi32>
      })",
                      {&x, &index}),
      ElementsAre(1, 0, 1, 1, 3, 2, 3, 3, 5, 4, 5, 5, 7, 6, 7, 7, 9, 8, 9, 9, 11, 10, 11, 11));
}

TEST(DecomposeTest, MapsMayUseOuterValuesAndLoops) {
  const Literal x = Array<int32_t>({2, 2}, {0, 1, 2, 5}), s = Scalar<int32_t>(3);
  EXPECT_THAT(RunOne<int32_t>(R"(
      func.func @main(%x: tensor<2x2xi32>, %s: tensor<i32>) -> tensor<2x2xi32> {
        %r = "stablehlo.map"(%x) ({
        ^bb0(%a: tensor<i32>):
          %m = stablehlo.multiply %a, %s : tensor<i32>
          stablehlo.return %m : tensor<i32>
        }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xi32>) -> tensor<2x2xi32>
        return %r : tensor<2x2xi32>
      })",
                              {&x, &s}),
              ElementsAre(0, 3, 6, 15));
  // a doubled a times.
  EXPECT_THAT(RunOne<int32_t>(R"(
      func.func @main(%x: tensor<2x2xi32>) -> tensor<2x2xi32> {
        %r = "stablehlo.map"(%x) ({
        ^bb0(%a: tensor<i32>):
          %zero = stablehlo.constant dense<0> : tensor<i32>
          %one = stablehlo.constant dense<1> : tensor<i32>
          %w:2 = stablehlo.while(%i = %zero, %v = %a) : tensor<i32>, tensor<i32>
            cond {
              %c = stablehlo.compare LT, %i, %a : (tensor<i32>, tensor<i32>) -> tensor<i1>
              stablehlo.return %c : tensor<i1>
            } do {
              %j = stablehlo.add %i, %one : tensor<i32>
              %d = stablehlo.add %v, %v : tensor<i32>
              stablehlo.return %j, %d : tensor<i32>, tensor<i32>
            }
          stablehlo.return %w#1 : tensor<i32>
        }) {dimensions = array<i64: 0, 1>} : (tensor<2x2xi32>) -> tensor<2x2xi32>
        return %r : tensor<2x2xi32>
      })",
                              {&x}),
              ElementsAre(0, 2, 8, 160));
}

TEST(DecomposeTest, AsyncSlicesAreSlices) {
  const Literal x = Array<int32_t>({4}, {1, 2, 3, 4});
  EXPECT_THAT(RunOne<int32_t>(R"(
      func.func @main(%x: tensor<4xi32>) -> tensor<2xi32> {
        %f = "stablehlo.async_start"(%x) ({
        ^bb0(%a: tensor<4xi32>):
          %s = stablehlo.slice %a [1:3] : (tensor<4xi32>) -> tensor<2xi32>
          stablehlo.return %s : tensor<2xi32>
        }) : (tensor<4xi32>) -> !stablehlo.future<tensor<2xi32>>
        %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
        return %r : tensor<2xi32>
      })",
                              {&x}),
              ElementsAre(2, 3));
}

// 7.5 / 2 = 3.75 as of real numbers; (7 + 1i) / (1 + 2i) = 1.8 - 2.6i, of which 1 - 2i is whole.
TEST(DecomposeTest, TheRemainderOfComplexNumbersIsWhatWholeMultiplesLeave) {
  using C = std::complex<double>;
  const Literal a = Array<C>({4}, {{7.5, 0}, {-7.5, 0}, {7, 1}, {3, 4}});
  const Literal b = Array<C>({4}, {{2, 0}, {2, 0}, {1, 2}, {10, 0}});
  EXPECT_THAT(RunOne<C>(R"(
      func.func @main(%a: tensor<4xcomplex<f64>>, %b: tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>> {
        %r = stablehlo.remainder %a, %b : tensor<4xcomplex<f64>>
        return %r : tensor<4xcomplex<f64>>
      })",
                        {&a, &b}),
              ElementsAre(C(1.5, 0), C(-1.5, 0), C(2, 1), C(3, 4)));
}

TEST(DecomposeTest, UnaryEinsumOfBooleansSaysWhetherAnyHolds) {
  const Literal x = Preds({3, 2}, {0, 0, 1, 0, 1, 1});
  EXPECT_THAT(RunOne<bool>(R"(
      func.func @main(%x: tensor<3x2xi1>) -> tensor<3xi1> {
        %r = stablehlo.unary_einsum %x, config = "ab->a" : (tensor<3x2xi1>) -> tensor<3xi1>
        return %r : tensor<3xi1>
      })",
                           {&x}),
              ElementsAre(false, true, true));
}

// 1 + 2^-24 is 1 as f32.
TEST(DecomposeTest, RegionsMayComputeWithNarrowerFloatsThanTheOperandsHave) {
  const Literal x = Array<double>({3}, {1 + 0x1p-24, 0x1p-24, 0x1p-24});
  EXPECT_THAT(RunOne<float>(R"(
      func.func @main(%x: tensor<3xf64>) -> tensor<f32> {
        %z = stablehlo.constant dense<0.0> : tensor<f64>
        %r = "stablehlo.reduce"(%x, %z) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.maximum %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) {dimensions = array<i64: 0>} : (tensor<3xf64>, tensor<f64>) -> tensor<f32>
        return %r : tensor<f32>
      })",
                            {&x}),
              ElementsAre(1));
  EXPECT_THAT(RunOne<float>(R"(
      func.func @main(%x: tensor<3xf64>) -> tensor<3xf32> {
        %z = stablehlo.constant dense<2.0> : tensor<3xf64>
        %i = stablehlo.constant dense<[[1], [1]]> : tensor<2x1xi32>
        %u = stablehlo.slice %x [0:2] : (tensor<3xf64>) -> tensor<2xf64>
        %r = "stablehlo.scatter"(%z, %i, %u) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.multiply %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
            : (tensor<3xf64>, tensor<2x1xi32>, tensor<2xf64>) -> tensor<3xf32>
        return %r : tensor<3xf32>
      })",
                            {&x}),
              ElementsAre(2, 0x1p-23f, 2));
}

// Sums of bytes that do not fit in one.
TEST(DecomposeTest, RegionsMayComputeWithWiderElementsThanTheOperandsHave) {
  const Literal x = Array<int8_t>({3, 2}, {100, 1, 100, 2, -100, 3});
  const Literal at = Array<int32_t>({2, 1}, {1, 1});
  const std::string add = R"(({
        ^bb0(%p: tensor<i32>, %q: tensor<i32>):
          %s = stablehlo.add %p, %q : tensor<i32>
          stablehlo.return %s : tensor<i32>
        }))";
  EXPECT_THAT(RunOne<int32_t>(absl::StrCat(R"(
      func.func @main(%x: tensor<3x2xi8>) -> tensor<2xi32> {
        %i = stablehlo.constant dense<100> : tensor<i8>
        %r = "stablehlo.reduce"(%x, %i) )",
                                           add, R"( {dimensions = array<i64: 0>}
            : (tensor<3x2xi8>, tensor<i8>) -> tensor<2xi32>
        return %r : tensor<2xi32>
      })"),
                              {&x}),
              ElementsAre(200, 106));
  EXPECT_THAT(RunOne<int32_t>(absl::StrCat(R"(
      func.func @main(%x: tensor<3x2xi8>) -> tensor<2x2xi32> {
        %i = stablehlo.constant dense<100> : tensor<i8>
        %r = "stablehlo.reduce_window"(%x, %i) )",
                                           add, R"( {window_dimensions = array<i64: 2, 1>}
            : (tensor<3x2xi8>, tensor<i8>) -> tensor<2x2xi32>
        return %r : tensor<2x2xi32>
      })"),
                              {&x}),
              ElementsAre(300, 103, 100, 105));
  EXPECT_THAT(RunOne<int32_t>(absl::StrCat(R"(
      func.func @main(%x: tensor<3x2xi8>, %at: tensor<2x1xi32>) -> tensor<3x2xi32> {
        %u = stablehlo.slice %x [0:2, 0:2] : (tensor<3x2xi8>) -> tensor<2x2xi8>
        %r = "stablehlo.scatter"(%x, %at, %u) )",
                                           add, R"( {scatter_dimension_numbers = #stablehlo.scatter<
            update_window_dims = [1], inserted_window_dims = [0],
            scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
            : (tensor<3x2xi8>, tensor<2x1xi32>, tensor<2x2xi8>) -> tensor<3x2xi32>
        return %r : tensor<3x2xi32>
      })"),
                              {&x, &at}),
              ElementsAre(100, 1, 300, 5, -100, 3));
  EXPECT_THAT(RunOne<int32_t>(absl::StrCat(R"(
      func.func @main(%x: tensor<3x2xi8>) -> tensor<3x2xi32> {
        %i = stablehlo.constant dense<100> : tensor<i8>
        %u = stablehlo.slice %x [0:1, 0:2] : (tensor<3x2xi8>) -> tensor<1x2xi8>
        %r = "stablehlo.select_and_scatter"(%x, %u, %i) ({
        ^bb0(%p: tensor<i8>, %q: tensor<i8>):
          %g = stablehlo.compare GT, %p, %q : (tensor<i8>, tensor<i8>) -> tensor<i1>
          stablehlo.return %g : tensor<i1>
        }, )",
                                           add.substr(1, add.size() - 2),
                                           R"() {window_dimensions = array<i64: 3, 1>}
            : (tensor<3x2xi8>, tensor<1x2xi8>, tensor<i8>) -> tensor<3x2xi32>
        return %r : tensor<3x2xi32>
      })"),
                              {&x}),
              ElementsAre(100, 100, 200, 100, 100, 101));
}

TEST(DecomposeTest, QuantizedBatchNormIsQuantizedAtTheEnd) {
  const std::string q = "tensor<4x1x!quant.uniform<i8:f32, 0.5>>";
  const std::string v = "tensor<1x!quant.uniform<i8:f32, 0.25>>";
  const Literal x = Array<int8_t>({4, 1}, {2, 4, 6, 8});
  const Literal one = Array<int8_t>({1}, {4}), three = Array<int8_t>({1}, {12});
  // (x - 3) / sqrt(1 + 3) * 1 + 1
  EXPECT_THAT(
      RunOne<int8_t>(
          absl::StrCat("func.func @main(%x: ", q, ", %one: ", v, ", %three: ", v, ") -> ", q,
                       " {\n  %r = \"stablehlo.batch_norm_inference\"(%x, %one, %one, %three, "
                       "%one) {epsilon = 3.0 : f32, feature_index = 1 : i64} : (",
                       q, ", ", v, ", ", v, ", ", v, ", ", v, ") -> ", q, "\n  return %r : ", q,
                       "\n}"),
          {&x, &one, &three}),
      ElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace pjrt::cpu
