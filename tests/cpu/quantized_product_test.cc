// SPDX-License-Identifier: Apache-2.0
//
// Products of quantized matrices and convolutions, against sums of 64-bit integers that are scaled
// in long doubles: in 80-bit ones each result here is that of exact arithmetic.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2654435761u + 12345u) {}
  uint32_t operator()() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state_ >> 33);
  }
  template <typename T>
  std::vector<T> Numbers(int64_t count, int64_t low, int64_t high) {
    std::vector<T> values(count);
    for (T& v : values) v = static_cast<T>(low + (*this)() % static_cast<uint64_t>(high - low + 1));
    return values;
  }

 private:
  uint64_t state_;
};

// One scale and zero point, or one of each for each index of a dimension.
struct Quantization {
  std::string storage = "i8";
  std::vector<double> scales = {0.5};
  std::vector<int64_t> zero_points = {0};
  int64_t axis = -1;
  int64_t low = -128, high = 127;

  std::string Text(absl::Span<const int64_t> dims) const {
    std::vector<std::string> pairs;
    for (size_t i = 0; i < scales.size(); ++i)
      pairs.push_back(absl::StrCat(Digits(scales[i]), ":", zero_points[i]));
    const std::string list = absl::StrJoin(pairs, ", ");
    const std::string element =
        axis < 0 ? absl::StrCat("!quant.uniform<", storage, ":f32, ", list, ">")
                 : absl::StrCat("!quant.uniform<", storage, ":f32:", axis, ", {", list, "}>");
    return TensorText(dims, element);
  }
  size_t At(size_t i) const { return scales.size() == 1 ? 0 : i; }

 private:
  static std::string Digits(double x) {
    char text[40];
    snprintf(text, sizeof(text), "%.17e", x);
    return text;
  }
};

// What is stored for `sum`, of channel `c`.
int64_t Stored(int64_t sum, const Quantization& a, const Quantization& b, const Quantization& r,
               size_t c) {
  const long double scaled = static_cast<long double>(sum) * a.scales[0] * b.scales[b.At(c)] /
                                 static_cast<long double>(r.scales[r.At(c)]) +
                             static_cast<long double>(r.zero_points[r.At(c)]);
  return static_cast<int64_t>(std::nearbyint(std::clamp<long double>(
      scaled, static_cast<long double>(r.low), static_cast<long double>(r.high))));
}

// [m, k] times [k, n]: by dot_general where its rhs has no zero points, as it must not.
template <typename T, typename R>
void CheckDot(int64_t m, int64_t k, int64_t n, const Quantization& a, const Quantization& b,
              const Quantization& r, const std::vector<T>& x, const std::vector<T>& y) {
  const Literal lhs = Array<T>({m, k}, x), rhs = Array<T>({k, n}, y);
  const std::string types[] = {a.Text({m, k}), b.Text({k, n}), r.Text({m, n})};
  const std::string text = absl::StrCat(
      "func.func @main(%a: ", types[0], ", %b: ", types[1], ") -> ", types[2], " {\n  %r = ",
      absl::c_all_of(b.zero_points, [](int64_t zero) { return zero == 0; })
          ? "stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
          : "stablehlo.dot %a, %b",
      " : (", types[0], ", ", types[1], ") -> ", types[2], "\n  return %r : ", types[2], "\n}");
  std::vector<R> expected;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = 0;
      for (int64_t p = 0; p < k; ++p)
        sum += (x[i * k + p] - a.zero_points[0]) * (y[p * n + j] - b.zero_points[b.At(j)]);
      expected.push_back(static_cast<R>(Stored(sum, a, b, r, j)));
    }
  }
  EXPECT_THAT(RunOne<R>(text, {&lhs, &rhs}), ElementsAreArray(expected)) << text;
}

TEST(QuantizedProductTest, SumsAreExactWhateverTheZeroPoints) {
  const struct {
    int64_t m, k, n;
  } shapes[] = {{1, 64, 9}, {7, 40, 1}, {5, 33, 6}, {17, 100, 33}, {3, 0, 8}, {64, 1, 5}};
  const int64_t zero_points[] = {0, -3, 5, -128, 127, 100};
  uint64_t seed = 1;
  for (const auto& [m, k, n] : shapes) {
    for (const int64_t za : zero_points) {
      for (const int64_t zb : zero_points) {
        Random random(seed++);
        const Quantization a = {"i8", {0.0123}, {za}}, b = {"i8", {0.0234}, {zb}};
        const auto x = random.Numbers<int8_t>(m * k, -128, 127);
        const auto y = random.Numbers<int8_t>(k * n, -128, 127);
        CheckDot<int8_t, int8_t>(m, k, n, a, b, {"i8", {0.3}, {-7}}, x, y);
        const Quantization whole = {"i32", {0.0123 * 0.0234}, {3}, -1, INT32_MIN, INT32_MAX};
        CheckDot<int8_t, int32_t>(m, k, n, a, b, whole, x, y);
      }
    }
  }
}

TEST(QuantizedProductTest, UnsignedBytesAndNarrowRangesAreStored) {
  for (const int64_t za : {0, 128, 255, 13}) {
    for (const int64_t zb : {0, 128, 200}) {
      Random random(static_cast<uint64_t>(za * 256 + zb));
      const Quantization a = {"u8", {0.25}, {za}}, b = {"u8", {0.01}, {zb}};
      CheckDot<uint8_t, uint8_t>(9, 50, 12, a, b, {"u8", {1.7}, {99}, -1, 0, 255},
                                 random.Numbers<uint8_t>(450, 0, 255),
                                 random.Numbers<uint8_t>(600, 0, 255));
    }
  }
  Random random(7);
  CheckDot<int8_t, int8_t>(4, 30, 6, {"i8<-127:127>", {0.1}, {1}}, {"i8", {0.1}, {0}},
                           {"i8<-100:90>", {0.02}, {2}, -1, -100, 90},
                           random.Numbers<int8_t>(120, -127, 127),
                           random.Numbers<int8_t>(180, -128, 127));
}

TEST(QuantizedProductTest, ScalesOfAnAxisAreThoseOfItsColumn) {
  const int64_t m = 6, k = 70, n = 9;
  Quantization b, r;
  b.scales.clear(), b.zero_points.clear(), r.scales.clear(), r.zero_points.clear();
  for (int64_t j = 0; j < n; ++j) {
    b.scales.push_back(0.01 + 0.003 * static_cast<double>(j));
    b.zero_points.push_back(j * 11 - 40);
    r.scales.push_back(0.5 + 0.1 * static_cast<double>(j));
    r.zero_points.push_back(3 - j);
  }
  b.axis = r.axis = 1;
  for (const int64_t za : {0, -128, 21}) {
    Random random(static_cast<uint64_t>(za + 1000));
    const Quantization a = {"i8", {0.07}, {za}};
    const auto x = random.Numbers<int8_t>(m * k, -128, 127);
    const auto y = random.Numbers<int8_t>(k * n, -128, 127);
    CheckDot<int8_t, int8_t>(m, k, n, a, b, r, x, y);
    CheckDot<int8_t, int8_t>(m, k, n, a, b, {"i8", {2.5}, {-4}}, x, y);
    Quantization symmetric = b;
    std::fill(symmetric.zero_points.begin(), symmetric.zero_points.end(), 0);
    CheckDot<int8_t, int8_t>(m, k, n, a, symmetric, r, x, y);
  }
}

TEST(QuantizedProductTest, SumsThatFloatsCannotHoldAreExact) {
  const int64_t k = 2200;  // 127 * 127 * 2200 > 2^25
  Random random(3);
  const auto x = random.Numbers<int8_t>(2 * k, 120, 127),
             y = random.Numbers<int8_t>(k * 3, 120, 127);
  const Quantization unit = {"i8", {0.0123}, {0}};
  const Quantization sums = {"i32", {0.0123 * 0.0123}, {1}, -1, INT32_MIN, INT32_MAX};
  CheckDot<int8_t, int32_t>(2, k, 3, unit, unit, sums, x, y);
  // Sums beyond 32 bits, which the result clamps or scales down.
  const int64_t long_k = 40000;
  const std::vector<int8_t> low(static_cast<size_t>(2 * long_k), -128);
  const Quantization shifted = {"i8", {0.0123}, {127}};
  CheckDot<int8_t, int32_t>(2, long_k, 2, shifted, shifted, sums, low, low);
  CheckDot<int8_t, int8_t>(2, long_k, 2, shifted, shifted, {"i8", {4321.0}, {5}}, low, low);
}

TEST(QuantizedProductTest, FactorsOf16BitsMakeSumsOfUpTo53) {
  Random random(4);
  const auto x = random.Numbers<int16_t>(5 * 300, -32768, 32767);
  const auto y = random.Numbers<int16_t>(300 * 4, -32768, 32767);
  const Quantization a = {"i16", {1e-3}, {-500}}, b = {"i16", {1e-3}, {0}};
  CheckDot<int16_t, int16_t>(5, 300, 4, a, b, {"i16", {0.7}, {17}, -1, -32768, 32767}, x, y);
  CheckDot<int16_t, int32_t>(5, 300, 4, a, b, {"i32", {1e-5}, {0}, -1, INT32_MIN, INT32_MAX}, x, y);
}

TEST(QuantizedProductTest, HalvesAreRoundedToEvenAfterTheZeroPointIsAdded) {
  const std::vector<int8_t> x = {1, 3, 5, -1, -3, 2};
  const Quantization a = {"i8", {0.5}, {0}}, one = {"i8", {1.0}, {0}};
  // 1/2, 3/2, 5/2, -1/2, -3/2, 1 with an odd zero point.
  const Literal lhs = Array<int8_t>({6, 1}, x), rhs = Array<int8_t>({1, 1}, {1});
  const std::string types[] = {a.Text({6, 1}), one.Text({1, 1}),
                               Quantization{"i8", {1.0}, {1}}.Text({6, 1})};
  EXPECT_THAT(
      RunOne<int8_t>(
          absl::StrCat("func.func @main(%a: ", types[0], ", %b: ", types[1], ") -> ", types[2],
                       " {\n  %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (",
                       types[0], ", ", types[1], ") -> ", types[2], "\n  return %r : ", types[2],
                       "\n}"),
          {&lhs, &rhs}),
      ElementsAre(2, 2, 4, 0, 0, 2));
}

TEST(QuantizedProductTest, HalvesAreFoundWhereTheRatioOfScalesIsNoDouble) {
  std::vector<int8_t> x;
  for (int i = -128; i < 128; ++i) x.push_back(static_cast<int8_t>(i));
  for (const double quotient : {3.0, 5.0, 7.0, 9.0, 49.0, 127.0}) {
    for (const double scale : {0.5, 1.5, 2.5, 3.5}) {
      CheckDot<int8_t, int8_t>(256, 1, 1, {"i8", {scale}, {0}}, {"i8", {1.0}, {0}},
                               {"i8", {quotient}, {-1}}, x, {1});
      CheckDot<int8_t, int8_t>(256, 1, 1, {"i8", {scale}, {-60}}, {"i8", {1.0}, {-6}},
                               {"i8", {quotient * 8}, {3}}, x, {1});
    }
  }
}

TEST(QuantizedProductTest, ResultsSaturate) {
  const std::vector<int8_t> x = {-128, 127}, y = {127, -128};
  CheckDot<int8_t, int8_t>(2, 1, 2, {"i8", {1.0}, {3}}, {"i8", {1.0}, {-2}}, {"i8", {0.25}, {9}}, x,
                           y);
  CheckDot<int8_t, int8_t>(2, 1, 2, {"i8", {1e9}, {0}}, {"i8", {1e9}, {0}}, {"i8", {1e-9}, {9}}, x,
                           y);
  CheckDot<int8_t, int8_t>(2, 1, 2, {"i8", {1.0}, {0}}, {"i8", {1.0}, {0}}, {"i8", {1.0}, {9}}, x,
                           y);
}

TEST(QuantizedProductTest, BatchesAndTransposedOperandsKeepTheirCorrections) {
  // [k, b, m] and [n, b, k] over b and k; scales along n.
  const int64_t b = 3, m = 5, n = 6, k = 20;
  Random random(5);
  const auto x = random.Numbers<int8_t>(k * b * m, -128, 127);
  const auto y = random.Numbers<int8_t>(n * b * k, -128, 127);
  const Quantization left = {"i8", {0.1}, {-9}};
  const Quantization right = {"i8", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, {0, 0, 0, 0, 0, 0}, 0};
  const Quantization result = {"i8", {7.0}, {1}};
  const std::string types[] = {left.Text({k, b, m}), right.Text({n, b, k}), result.Text({b, m, n})};
  std::vector<int8_t> expected;
  for (int64_t e = 0; e < b; ++e) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        int64_t sum = 0;
        for (int64_t p = 0; p < k; ++p)
          sum += (x[(p * b + e) * m + i] + 9) * y[(j * b + e) * k + p];
        expected.push_back(static_cast<int8_t>(Stored(sum, left, right, result, j)));
      }
    }
  }
  const Literal lhs = Array<int8_t>({k, b, m}, x), rhs = Array<int8_t>({n, b, k}, y);
  EXPECT_THAT(
      RunOne<int8_t>(
          absl::StrCat("func.func @main(%a: ", types[0], ", %b: ", types[1], ") -> ", types[2],
                       " {\n  %r = stablehlo.dot_general %a, %b, batching_dims = "
                       "[1] x [1], contracting_dims = [0] x [2] : (",
                       types[0], ", ", types[1], ") -> ", types[2], "\n  return %r : ", types[2],
                       "\n}"),
          {&lhs, &rhs}),
      ElementsAreArray(expected));
}

TEST(QuantizedProductTest, ScalesMayLieAlongABatch) {
  // Factors a + 1 and b; scales 0.5 * {1, 0.25} / 0.5.
  const Literal lhs = Array<int8_t>({2, 1, 2}, {1, 2, 3, 4}),
                rhs = Array<int8_t>({2, 2, 1}, {5, 6, 7, 8});
  EXPECT_THAT(RunOne<int32_t>(R"(
      func.func @main(%a: tensor<2x1x2x!quant.uniform<i8:f32, 0.5:-1>>,
                      %b: tensor<2x2x1x!quant.uniform<i8:f32:0, {1.0, 0.25}>>)
          -> tensor<2x1x1x!quant.uniform<i32:f32, 0.5:1>> {
        %r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]
            : (tensor<2x1x2x!quant.uniform<i8:f32, 0.5:-1>>,
               tensor<2x2x1x!quant.uniform<i8:f32:0, {1.0, 0.25}>>)
              -> tensor<2x1x1x!quant.uniform<i32:f32, 0.5:1>>
        return %r : tensor<2x1x1x!quant.uniform<i32:f32, 0.5:1>>
      })",
                              {&lhs, &rhs}),
              ElementsAre(2 * 5 + 3 * 6 + 1, (4 * 7 + 5 * 8) / 4 + 1));
}

TEST(QuantizedProductTest, FourBitsAndVectorsMultiplyAsWell) {
  // (7 - 3) * (-8 + 2) + (-8 - 3) * (5 + 2), a quarter of it.
  EXPECT_THAT(RunOne<int32_t>(R"(
      func.func @main() -> tensor<!quant.uniform<i32:f32, 1.0>> {
        %a = stablehlo.constant() <{value = dense<[7, -8]> : tensor<2xi4>}> : () -> tensor<2x!quant.uniform<i4:f32, 0.5:3>>
        %b = stablehlo.constant() <{value = dense<[-8, 5]> : tensor<2xi4>}> : () -> tensor<2x!quant.uniform<i4:f32, 0.5:-2>>
        %r = stablehlo.dot %a, %b : (tensor<2x!quant.uniform<i4:f32, 0.5:3>>, tensor<2x!quant.uniform<i4:f32, 0.5:-2>>) -> tensor<!quant.uniform<i32:f32, 1.0>>
        return %r : tensor<!quant.uniform<i32:f32, 1.0>>
      })"),
              ElementsAre(-25));
}

// --- Convolutions: [b, 0, 1, f] by [0, 1, i, o] ---

struct Conv {
  int64_t batch = 2, height = 7, width = 6, channels = 4, features = 6;
  int64_t window = 3;
  int64_t stride = 1, low = 1, high = 1, base_dilation = 1, window_dilation = 1;
  bool reversed = false;
  int64_t groups = 1, batch_groups = 1;

  int64_t Output(int64_t size) const {
    const int64_t base = (size - 1) * base_dilation + 1 + low + high;
    return (base - (window - 1) * window_dilation - 1) / stride + 1;
  }
};

void CheckConv(const Conv& c, const Quantization& a, const Quantization& b, const Quantization& r,
               uint64_t seed) {
  Random random(seed);
  const int64_t group_channels = c.channels / c.groups, out_batch = c.batch / c.batch_groups;
  const std::vector<int64_t> in_dims = {c.batch, c.height, c.width, c.channels};
  const std::vector<int64_t> kernel_dims = {c.window, c.window, group_channels, c.features};
  const int64_t oh = c.Output(c.height), ow = c.Output(c.width);
  const auto x = random.Numbers<int8_t>(c.batch * c.height * c.width * c.channels, -128, 127);
  const auto y =
      random.Numbers<int8_t>(c.window * c.window * group_channels * c.features, -128, 127);
  const auto input = [&](int64_t n, int64_t h, int64_t w, int64_t f) -> int64_t {
    if (h < 0 || w < 0 || h % c.base_dilation != 0 || w % c.base_dilation != 0) return 0;
    h /= c.base_dilation, w /= c.base_dilation;
    if (h >= c.height || w >= c.width) return 0;
    return x[((n * c.height + h) * c.width + w) * c.channels + f] - a.zero_points[0];
  };
  std::vector<int8_t> expected;
  for (int64_t n = 0; n < out_batch; ++n) {
    for (int64_t h = 0; h < oh; ++h) {
      for (int64_t w = 0; w < ow; ++w) {
        for (int64_t o = 0; o < c.features; ++o) {
          const int64_t group = o / (c.features / (c.groups * c.batch_groups));
          int64_t sum = 0;
          for (int64_t i = 0; i < c.window; ++i) {
            for (int64_t j = 0; j < c.window; ++j) {
              const int64_t ki = c.reversed ? c.window - 1 - i : i;
              const int64_t kj = c.reversed ? c.window - 1 - j : j;
              for (int64_t f = 0; f < group_channels; ++f) {
                const int64_t from = c.batch_groups > 1 ? group * out_batch + n : n;
                const int64_t channel = c.groups > 1 ? group * group_channels + f : f;
                sum += input(from, h * c.stride + i * c.window_dilation - c.low,
                             w * c.stride + j * c.window_dilation - c.low, channel) *
                       (y[((ki * c.window + kj) * group_channels + f) * c.features + o] -
                        b.zero_points[b.At(o)]);
              }
            }
          }
          expected.push_back(static_cast<int8_t>(Stored(sum, a, b, r, o)));
        }
      }
    }
  }
  const std::string types[] = {a.Text(in_dims), b.Text(kernel_dims),
                               r.Text({out_batch, oh, ow, c.features})};
  const std::string text = absl::StrCat(
      "func.func @main(%a: ", types[0], ", %b: ", types[1], ") -> ", types[2],
      " {\n  %r = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->"
      "[b, 0, 1, f], window = {stride = [",
      c.stride, ", ", c.stride, "], pad = [[", c.low, ", ", c.high, "], [", c.low, ", ", c.high,
      "]], lhs_dilate = [", c.base_dilation, ", ", c.base_dilation, "], rhs_dilate = [",
      c.window_dilation, ", ", c.window_dilation, "], reverse = [", c.reversed, ", ", c.reversed,
      "]} {batch_group_count = ", c.batch_groups, " : i64, feature_group_count = ", c.groups,
      " : i64} : (", types[0], ", ", types[1], ") -> ", types[2], "\n  return %r : ", types[2],
      "\n}");
  const Literal in = Array<int8_t>(in_dims, x), kernel = Array<int8_t>(kernel_dims, y);
  EXPECT_THAT(RunOne<int8_t>(text, {&in, &kernel}), ElementsAreArray(expected)) << text;
}

std::vector<Conv> Convs() {
  std::vector<Conv> convs(9);
  convs[1].stride = 2;
  convs[2].window_dilation = 2;
  convs[3].base_dilation = 2;
  convs[4].reversed = true, convs[4].low = 2, convs[4].high = 0;
  convs[5].groups = 2;
  convs[6].batch_groups = 2;
  convs[7].low = -1, convs[7].high = 2;
  convs[8].groups = 4, convs[8].features = 8, convs[8].low = convs[8].high = 0;
  return convs;
}

TEST(QuantizedProductTest, ConvolutionsAreExactWhateverTheZeroPoints) {
  uint64_t seed = 1;
  for (const Conv& conv : Convs()) {
    for (const auto& [za, zb] : {std::pair<int64_t, int64_t>(0, 0),
                                 {-3, 0},
                                 {127, 0},
                                 {-128, 0},
                                 {-128, -128},
                                 {-3, 5},
                                 {0, 9}}) {
      CheckConv(conv, {"i8", {0.0123}, {za}}, {"i8", {0.0234}, {zb}}, {"i8", {0.31}, {-7}}, seed++);
    }
  }
}

TEST(QuantizedProductTest, ConvolutionsTakeScalesForEachFeature) {
  uint64_t seed = 1;
  for (const Conv& conv : Convs()) {
    Quantization b, r;
    b.scales.clear(), b.zero_points.clear(), r.scales.clear(), r.zero_points.clear();
    for (int64_t o = 0; o < conv.features; ++o) {
      b.scales.push_back(0.01 + 0.002 * static_cast<double>(o));
      b.zero_points.push_back(0);
      r.scales.push_back(0.3 + 0.01 * static_cast<double>(o));
      r.zero_points.push_back(o - 2);
    }
    b.axis = r.axis = 3;
    for (const int64_t za : {0, -17}) {
      CheckConv(conv, {"i8", {0.0123}, {za}}, b, r, seed++);
      CheckConv(conv, {"i8", {0.0123}, {za}}, b, {"i8", {0.31}, {5}}, seed++);
    }
    b.zero_points[1] = 4;
    CheckConv(conv, {"i8", {0.0123}, {-17}}, b, r, seed++);
  }
}

}  // namespace
}  // namespace pjrt::cpu
