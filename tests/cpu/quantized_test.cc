// SPDX-License-Identifier: Apache-2.0
//
// Quantized types on the CPU device, against the specification's formulas for one number.
// Arguments and results are stored integers.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

constexpr float kF32Inf = std::numeric_limits<float>::infinity();
constexpr float kF32Nan = std::numeric_limits<float>::quiet_NaN();

// One scale and zero point of i8:f32.
struct Quant {
  float scale;
  int zero_point;
  int low = -128;
  int high = 127;

  std::string Text() const {
    const std::string range =
        low == -128 && high == 127 ? "" : absl::StrCat("<", low, ":", high, ">");
    return absl::StrCat("!quant.uniform<i8", range, ":f32, ", Exactly(scale), ":", zero_point, ">");
  }
  static std::string Exactly(double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.17e", value);
    return text;
  }
  float Value(int stored) const { return static_cast<float>(stored - zero_point) * scale; }
  int8_t Store(float x) const {
    if (std::isnan(x)) return static_cast<int8_t>(std::clamp(0, low, high));
    const float y = x / scale + static_cast<float>(zero_point);
    return static_cast<int8_t>(
        std::nearbyint(std::clamp(y, static_cast<float>(low), static_cast<float>(high))));
  }
};

// func @main of one op, which names its arguments %a, %b, ...
std::string Program(const std::vector<std::string>& arguments, absl::string_view op,
                    absl::string_view result) {
  std::string text = "func.func @main(";
  for (size_t i = 0; i < arguments.size(); ++i) {
    absl::StrAppend(&text, i > 0 ? ", %" : "%", std::string(1, static_cast<char>('a' + i)), ": ",
                    arguments[i]);
  }
  return absl::StrCat(text, ") -> ", result, " {\n  %r = ", op, "\n  return %r : ", result,
                      "\n}\n");
}

std::vector<int8_t> AllBytes() { return Counting<int8_t>(256, -128); }

// Each byte with a sample of others.
void BytePairs(std::vector<int8_t>* a, std::vector<int8_t>* b) {
  for (int x = -128; x < 128; ++x) {
    for (int y : {-128, -127, -64, -5, -4, -1, 0, 1, 3, 17, 64, 126, 127}) {
      a->push_back(static_cast<int8_t>(x));
      b->push_back(static_cast<int8_t>(y));
    }
  }
}

// --- uniform_quantize, uniform_dequantize ---

TEST(QuantizedTest, QuantizingRoundsToEvenAfterTheZeroPointAndSaturates) {
  for (const int zero_point : {-128, -3, 0, 1, 127}) {
    const Quant q = {0.5f, zero_point};
    const std::vector<float> x = {0,          -0.0f,    0.25f,   -0.25f, 0.75f,  -0.75f, 1.25f,
                                  0.2499999f, 63.5f,    63.4f,   64.f,   -64.5f, 200.f,  -200.f,
                                  kF32Inf,    -kF32Inf, kF32Nan, 1e30f,  -1e30f, 1e-40f};
    const Literal argument = Array<float>({20}, x);
    std::vector<int8_t> expected;
    for (float value : x) expected.push_back(q.Store(value));
    const std::string type = TensorText({20}, q.Text());
    EXPECT_THAT(
        RunOne<int8_t>(Program({"tensor<20xf32>"},
                               "stablehlo.uniform_quantize %a : (tensor<20xf32>) -> " + type, type),
                       {&argument}),
        ElementsAreArray(expected))
        << zero_point;
  }
}

TEST(QuantizedTest, EveryByteSurvivesDequantizingAndQuantizing) {
  for (const Quant& q :
       {Quant{0.1f, 0}, Quant{0.0039218f, -128}, Quant{3e-20f, 127}, Quant{7e9f, 5}}) {
    const std::string type = TensorText({256}, q.Text());
    const Literal argument = Array<int8_t>({256}, AllBytes());
    std::vector<float> expected;
    for (int8_t stored : AllBytes()) expected.push_back(q.Value(stored));
    EXPECT_THAT(RunOne<float>(Program({type},
                                      absl::StrCat("stablehlo.uniform_dequantize %a : (", type,
                                                   ") -> tensor<256xf32>"),
                                      "tensor<256xf32>"),
                              {&argument}),
                ElementsAreArray(expected));
    const Literal values = Array<float>({256}, expected);
    EXPECT_THAT(RunOne<int8_t>(
                    Program({"tensor<256xf32>"},
                            "stablehlo.uniform_quantize %a : (tensor<256xf32>) -> " + type, type),
                    {&values}),
                ElementsAreArray(AllBytes()));
  }
}

TEST(QuantizedTest, ARangeOfItsOwnHoldsForNanAsWell) {
  const std::string type = "tensor<5x!quant.uniform<i8<3:100>:f32, 1.0:3>>";
  const Literal argument = Array<float>({5}, {kF32Nan, -kF32Inf, 0, 50, kF32Inf});
  EXPECT_THAT(
      RunOne<int8_t>(Program({"tensor<5xf32>"},
                             "stablehlo.uniform_quantize %a : (tensor<5xf32>) -> " + type, type),
                     {&argument}),
      ElementsAre(3, 3, 3, 53, 100));
}

// Quantizes and dequantizes with a storage type, zero points at both ends of its range.
template <typename Stored>
void CheckStorage(const std::string& name, PrimitiveType storage, int64_t low, int64_t high) {
  for (const int64_t zero_point : {low, int64_t{0}, high}) {
    const std::string type =
        absl::StrCat("tensor<6x!quant.uniform<", name, ":f64, 0.25:", zero_point, ">>");
    const Literal x = Array<double>({6}, {0, 0.25, -0.5, 0.4, 1e300, -1e300});
    const auto stored = [&](double value) {
      return std::nearbyint(std::clamp(value / 0.25 + static_cast<double>(zero_point),
                                       static_cast<double>(low), static_cast<double>(high)));
    };
    std::vector<double> integers, values;
    for (double value : x.data<double>()) {
      integers.push_back(stored(value));
      values.push_back((integers.back() - static_cast<double>(zero_point)) * 0.25);
    }
    const std::string text = absl::StrReplaceAll(R"(
        func.func @main(%a: tensor<6xf64>) -> ($q, tensor<6xf64>) {
          %q = stablehlo.uniform_quantize %a : (tensor<6xf64>) -> $q
          %v = stablehlo.uniform_dequantize %q : ($q) -> tensor<6xf64>
          return %q, %v : $q, tensor<6xf64>
        })",
                                                 {{"$q", type}});
    const auto results = RunAll(text, {&x});
    ASSERT_EQ(results.size(), 2u) << name;
    EXPECT_EQ(results[0]->shape().element_type(), storage);
    std::vector<double> got;
    for (Stored s : results[0]->data<Stored>())
      got.push_back(static_cast<double>(static_cast<int64_t>(s)));
    EXPECT_THAT(got, ElementsAreArray(integers)) << name << " " << zero_point;
    EXPECT_THAT(Elements<double>(*results[1]), ElementsAreArray(values))
        << name << " " << zero_point;
  }
}

TEST(QuantizedTest, EveryStorageTypeSaturatesAtItsEnds) {
  CheckStorage<int8_t>("i2", S2, -2, 1);
  CheckStorage<uint8_t>("u2", U2, 0, 3);
  CheckStorage<int8_t>("i4", S4, -8, 7);
  CheckStorage<uint8_t>("u4", U4, 0, 15);
  CheckStorage<int8_t>("i8", S8, -128, 127);
  CheckStorage<uint8_t>("u8", U8, 0, 255);
  CheckStorage<int16_t>("i16", S16, -32768, 32767);
  CheckStorage<uint16_t>("u16", U16, 0, 65535);
  CheckStorage<int32_t>("i32", S32, std::numeric_limits<int32_t>::min(),
                        std::numeric_limits<int32_t>::max());
  CheckStorage<uint32_t>("u32", U32, 0, std::numeric_limits<uint32_t>::max());
}

TEST(QuantizedTest, SixteenBitFloatsRoundEachStep) {
  const std::string type = "tensor<4x!quant.uniform<i8:bf16, 1.0e-1:7>>";
  const Literal stored = Array<int8_t>({4}, {-128, 0, 8, 127});
  const auto values = RunOne<bfloat16>(
      Program({type},
              absl::StrCat("stablehlo.uniform_dequantize %a : (", type, ") -> tensor<4xbf16>"),
              "tensor<4xbf16>"),
      {&stored});
  ASSERT_EQ(values.size(), 4u);
  const float scale = static_cast<float>(bfloat16(0.1f));
  const int differences[] = {-135, -7, 1, 120};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(static_cast<float>(values[i]),
              static_cast<float>(bfloat16(static_cast<float>(differences[i]) * scale)));
  }
}

// --- Scales along axes and blocks ---

TEST(QuantizedTest, EachIndexOfAnAxisHasItsOwnScale) {
  const std::vector<int64_t> dims = {2, 3, 4};
  for (int64_t axis = 0; axis < 3; ++axis) {
    std::vector<Quant> quants;
    std::string list;
    for (int64_t i = 0; i < dims[axis]; ++i) {
      quants.push_back({0.125f * static_cast<float>(i + 1), static_cast<int>(3 - 2 * i)});
      absl::StrAppend(&list, i > 0 ? ", " : "", Quant::Exactly(quants.back().scale), ":",
                      quants.back().zero_point);
    }
    const std::string type =
        TensorText(dims, absl::StrCat("!quant.uniform<i8:f32:", axis, ", {", list, "}>"));
    std::vector<float> x;
    std::vector<int8_t> integers;
    std::vector<float> values;
    for (int i = 0; i < 24; ++i) {
      const int64_t at[] = {i / 12, i / 4 % 3, i % 4};
      const Quant& q = quants[static_cast<size_t>(at[axis])];
      x.push_back(static_cast<float>(i) * 1.7f - 20);
      integers.push_back(q.Store(x.back()));
      values.push_back(q.Value(integers.back()));
    }
    const Literal argument = Array<float>(dims, x);
    const auto results = RunAll(absl::StrReplaceAll(R"(
        func.func @main(%a: tensor<2x3x4xf32>) -> ($q, tensor<2x3x4xf32>) {
          %q = stablehlo.uniform_quantize %a : (tensor<2x3x4xf32>) -> $q
          %v = stablehlo.uniform_dequantize %q : ($q) -> tensor<2x3x4xf32>
          return %q, %v : $q, tensor<2x3x4xf32>
        })",
                                                    {{"$q", type}}),
                                {&argument});
    ASSERT_EQ(results.size(), 2u);
    EXPECT_THAT(Elements<int8_t>(*results[0]), ElementsAreArray(integers)) << axis;
    EXPECT_THAT(Elements<float>(*results[1]), ElementsAreArray(values)) << axis;
  }
}

TEST(QuantizedTest, EachBlockHasItsOwnScale) {
  const std::string type =
      "tensor<4x6x!quant.uniform<i8:f32:{0:2, 1:3}, {{1.0:1, 2.0:2}, {4.0:-3, 8.0}}>>";
  const Quant quants[2][2] = {{{1, 1}, {2, 2}}, {{4, -3}, {8, 0}}};
  std::vector<float> x;
  std::vector<int8_t> integers;
  for (int i = 0; i < 24; ++i) {
    x.push_back(static_cast<float>(i * i) - 50.3f);
    integers.push_back(quants[i / 6 / 2][i % 6 / 3].Store(x.back()));
  }
  const Literal argument = Array<float>({4, 6}, x);
  EXPECT_THAT(
      RunOne<int8_t>(Program({"tensor<4x6xf32>"},
                             "stablehlo.uniform_quantize %a : (tensor<4x6xf32>) -> " + type, type),
                     {&argument}),
      ElementsAreArray(integers));
}

TEST(QuantizedTest, ChangingTheQuantizationGoesThroughTheNumber) {
  const Quant from = {0.1f, -30}, to = {0.37f, 11};
  const std::string a = TensorText({256}, from.Text()), b = TensorText({256}, to.Text());
  const Literal argument = Array<int8_t>({256}, AllBytes());
  std::vector<int8_t> expected;
  for (int8_t stored : AllBytes()) expected.push_back(to.Store(from.Value(stored)));
  EXPECT_THAT(RunOne<int8_t>(
                  Program({a}, absl::StrCat("stablehlo.uniform_quantize %a : (", a, ") -> ", b), b),
                  {&argument}),
              ElementsAreArray(expected));
}

// --- Arithmetic ---

using Function1 = std::function<float(float)>;
using Function2 = std::function<float(float, float)>;

TEST(QuantizedTest, FunctionsOfOneNumberQuantizeTheirResult) {
  const std::pair<const char*, Function1> cases[] = {
      {"abs", [](float x) { return std::fabs(x); }},
      {"ceil", [](float x) { return std::ceil(x); }},
      {"floor", [](float x) { return std::floor(x); }},
      {"negate", [](float x) { return -x; }},
      {"round_nearest_afz", [](float x) { return std::round(x); }},
      {"round_nearest_even", [](float x) { return std::nearbyint(x); }},
      {"sign", [](float x) { return x > 0   ? 1.f
                                    : x < 0 ? -1.f
                                            : x; }},
      {"sqrt", [](float x) { return std::sqrt(x); }},
  };
  const Quant in = {0.1f, 5}, out = {0.07f, -9};
  const Literal argument = Array<int8_t>({256}, AllBytes());
  for (const auto& [op, function] : cases) {
    for (const Quant& to : {in, out}) {
      const std::string a = TensorText({256}, in.Text()), r = TensorText({256}, to.Text());
      std::vector<int8_t> expected;
      for (int8_t stored : AllBytes()) expected.push_back(to.Store(function(in.Value(stored))));
      EXPECT_THAT(
          RunOne<int8_t>(Program({a}, absl::StrCat("stablehlo.", op, " %a : (", a, ") -> ", r), r),
                         {&argument}),
          ElementsAreArray(expected))
          << op;
    }
  }
}

TEST(QuantizedTest, FunctionsOfTwoNumbersQuantizeTheirResult) {
  const std::pair<const char*, Function2> cases[] = {
      {"add", [](float x, float y) { return x + y; }},
      {"subtract", [](float x, float y) { return x - y; }},
      {"multiply", [](float x, float y) { return x * y; }},
      {"divide", [](float x, float y) { return x / y; }},
      {"maximum", [](float x, float y) { return std::max(x, y); }},
      {"minimum", [](float x, float y) { return std::min(x, y); }},
      {"remainder", [](float x, float y) { return std::fmod(x, y); }},
  };
  std::vector<int8_t> x, y;
  BytePairs(&x, &y);
  const int64_t n = static_cast<int64_t>(x.size());
  const Literal a = Array<int8_t>({n}, x), b = Array<int8_t>({n}, y);
  const Quant one = {0.0039f, -128}, other = {0.11f, 4}, narrow = {0.25f, 2, -100, 90};
  const Quant settings[][3] = {
      {other, other, other}, {one, other, one}, {one, one, other}, {narrow, narrow, narrow}};
  for (const auto& [op, function] : cases) {
    for (const auto& [p, q, r] : settings) {
      const std::string ta = TensorText({n}, p.Text()), tb = TensorText({n}, q.Text()),
                        tr = TensorText({n}, r.Text());
      std::vector<int8_t> expected;
      for (size_t i = 0; i < x.size(); ++i)
        expected.push_back(r.Store(function(p.Value(x[i]), q.Value(y[i]))));
      EXPECT_THAT(
          RunOne<int8_t>(
              Program({ta, tb},
                      absl::StrCat("stablehlo.", op, " %a, %b : (", ta, ", ", tb, ") -> ", tr), tr),
              {&a, &b}),
          ElementsAreArray(expected))
          << op << " " << tr;
    }
  }
}

TEST(QuantizedTest, ComparisonsCompareNumbers) {
  std::vector<int8_t> x, y;
  BytePairs(&x, &y);
  const int64_t n = static_cast<int64_t>(x.size());
  const Literal a = Array<int8_t>({n}, x), b = Array<int8_t>({n}, y);
  const Quant p = {0.1f, -5}, q = {0.2f, 7};
  for (const Quant& right : {p, q}) {
    const std::string ta = TensorText({n}, p.Text()), tb = TensorText({n}, right.Text()),
                      tr = TensorText({n}, "i1");
    const auto results = RunAll(
        Program({ta, tb},
                absl::StrCat("stablehlo.compare LT, %a, %b : (", ta, ", ", tb, ") -> ", tr), tr),
        {&a, &b});
    ASSERT_EQ(results.size(), 1u);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_EQ(results[0]->data<bool>()[i], p.Value(x[i]) < right.Value(y[i])) << i;
  }
}

}  // namespace
}  // namespace pjrt::cpu
