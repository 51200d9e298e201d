// SPDX-License-Identifier: Apache-2.0
//
// convert between every two element types, against Literal::Convert, which is tested on its own.
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

std::vector<PrimitiveType> ArrayTypes() {
  std::vector<PrimitiveType> types;
  for (int i = 1; i < kPrimitiveTypeLimit; ++i) {
    const PrimitiveType type = static_cast<PrimitiveType>(i);
    if (IsArrayType(type) && GetPrimitiveTypeInfo(type).stablehlo_name[0] != '\0')
      types.push_back(type);
  }
  return types;
}

std::string Name(PrimitiveType type) {
  return std::string(GetPrimitiveTypeInfo(type).stablehlo_name);
}

// Values that every kind of type has something to say about, in the given type.
Literal Values(PrimitiveType type) {
  if (IsInteger(type) && BitWidth(type) > 16) {
    // Halfway cases of narrow floats, a little above and below them, at several magnitudes.
    std::vector<int64_t> values;
    for (int shift = 0; shift < BitWidth(type) - 10; ++shift) {
      for (int64_t v : {257, 385, 383, 511}) {
        for (int64_t d : {-1, 0, 1}) {
          values.push_back((v << shift) + d);
          if (IsSignedInteger(type)) values.push_back(-(v << shift) + d);
        }
      }
    }
    values.insert(values.end(),
                  {0, 1, -1, 127, 128, -128, -129, 255, 256, 65504, 65520, INT32_MAX, INT32_MIN});
    return *Array<int64_t>({static_cast<int64_t>(values.size())}, values).Convert(type);
  }
  std::vector<double> values = {0,
                                -0.0,
                                0.25,
                                0.5,
                                0.75,
                                1,
                                -1,
                                1.5,
                                2.5,
                                -2.5,
                                3.5,
                                6,
                                7,
                                7.5,
                                8,
                                -8,
                                -9,
                                15,
                                16,
                                28,
                                100,
                                127,
                                128,
                                200,
                                240,
                                255,
                                256,
                                448,
                                464,
                                -129,
                                -1000,
                                30000,
                                57344,
                                65504,
                                65520,
                                1e5,
                                1e10,
                                -1e10,
                                3e38,
                                1e-3,
                                1e-6,
                                1e-8,
                                1e-40,
                                std::numeric_limits<double>::infinity(),
                                -std::numeric_limits<double>::infinity(),
                                std::numeric_limits<double>::quiet_NaN()};
  if (type == F64 || type == C128) {
    // Just beside halfway: rounding to f32 on the way would be seen.
    for (double v : {1.0 + 1.0 / 256, 1.0 + 3.0 / 256, 1 + 1.0 / 2048, 257.0, 1.0625, 1.1875}) {
      for (double d : {-1e-12, 0.0, 1e-12}) values.push_back(v + d);
    }
    // The same where f32 is denormal, and where it ends.
    for (double v : {0x1p-134, 0x1.8p-133, 0x1.4p-132, 0x1.01p-126, 0x1.3cp-128, 0x1.8p-127,
                     0x1p-150, 0x1.fffffep127, 0x1.ffp127, 0x1p128}) {
      for (double d : {1 - 0x1p-40, 1.0, 1 + 0x1p-40}) {
        values.push_back(v * d);
        values.push_back(-v * d);
      }
    }
    values.insert(values.end(), {5e-324, -5e-324, 1e-310, 1e308});
  }
  return *Array<double>({static_cast<int64_t>(values.size())}, values).Convert(type);
}

class ConvertTest : public ::testing::TestWithParam<PrimitiveType> {};

TEST_P(ConvertTest, ToEveryType) {
  const PrimitiveType from = GetParam();
  const Literal values = Values(from);
  const int64_t n = values.element_count();
  for (PrimitiveType to : ArrayTypes()) {
    const std::string in = TensorText({n}, Name(from)), out = TensorText({n}, Name(to));
    const auto results = RunAll(absl::StrCat("func.func @main(%x: ", in, ") -> ", out,
                                             " {\n  %0 = stablehlo.convert %x : (", in, ") -> ",
                                             out, "\n  return %0 : ", out, "\n}"),
                                {&values});
    ASSERT_EQ(results.size(), 1u) << Name(from) << " to " << Name(to);
    const Literal expected = *values.Convert(to);
    for (int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(results[0]->GetAsString({i}), expected.GetAsString({i}))
          << Name(from) << " " << values.GetAsString({i}) << " to " << Name(to);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, ConvertTest, ::testing::ValuesIn(ArrayTypes()),
                         [](const auto& test) {
                           return std::string(GetPrimitiveTypeInfo(test.param).name);
                         });

// A round trip through a type must not be optimised away.
TEST(ConvertTest, ThereAndBackLosesWhatTheNarrowTypeLacks) {
  const Literal x = Array<float>({4}, {1.00390625f, 3.14159f, 1e6f, -0.1f});
  const std::vector<float> result = RunOne<float>(R"(
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>
      %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
      return %1 : tensor<4xf32>
    })",
                                                  {&x});
  ASSERT_EQ(result.size(), 4u);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(result[i], static_cast<float>(bfloat16(x.data<float>()[i])));
}

TEST(ConvertTest, BitsAreReadAsAnotherType) {
  const Literal x = Array<float>({3}, {1.0f, -0.0f, 3.5f});
  EXPECT_EQ(RunOne<uint32_t>(R"(
    func.func @main(%x: tensor<3xf32>) -> tensor<3xui32> {
      %0 = stablehlo.bitcast_convert %x : (tensor<3xf32>) -> tensor<3xui32>
      return %0 : tensor<3xui32>
    })",
                             {&x}),
            (std::vector<uint32_t>{0x3f800000, 0x80000000, 0x40600000}));
  EXPECT_EQ(RunOne<uint16_t>(R"(
    func.func @main(%x: tensor<3xf32>) -> tensor<3x2xui16> {
      %0 = stablehlo.bitcast_convert %x : (tensor<3xf32>) -> tensor<3x2xui16>
      return %0 : tensor<3x2xui16>
    })",
                             {&x}),
            (std::vector<uint16_t>{0, 0x3f80, 0, 0x8000, 0, 0x4060}));
  const Literal halves = Array<uint16_t>({2, 2}, {0, 0x3f80, 0, 0x4060});
  EXPECT_EQ(RunOne<float>(R"(
    func.func @main(%x: tensor<2x2xui16>) -> tensor<2xf32> {
      %0 = stablehlo.bitcast_convert %x : (tensor<2x2xui16>) -> tensor<2xf32>
      return %0 : tensor<2xf32>
    })",
                          {&halves}),
            (std::vector<float>{1.0f, 3.5f}));
}

TEST(ConvertTest, PredicatesAreZeroAndOneByWayOfAnyType) {
  const Literal x = Array<float>({3}, {-1, 0, 2});
  const auto results = RunAll(R"(
    func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi64>, tensor<3xi1>) {
      %z = stablehlo.constant dense<0.0> : tensor<3xf32>
      %p = stablehlo.compare GE, %x, %z : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
      %byte = stablehlo.convert %p : (tensor<3xi1>) -> tensor<3xui8>
      %0 = stablehlo.convert %byte : (tensor<3xui8>) -> tensor<3xf32>
      %sign = stablehlo.convert %p : (tensor<3xi1>) -> tensor<3xbf16>
      %1 = stablehlo.convert %sign : (tensor<3xbf16>) -> tensor<3xi64>
      %2 = stablehlo.convert %byte : (tensor<3xui8>) -> tensor<3xi1>
      return %0, %1, %2 : tensor<3xf32>, tensor<3xi64>, tensor<3xi1>
    })",
                              {&x});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(Elements<float>(*results[0]), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(Elements<int64_t>(*results[1]), (std::vector<int64_t>{0, 1, 1}));
  EXPECT_EQ(Elements<bool>(*results[2]), (std::vector<bool>{false, true, true}));
}

// Nothing is computed where types change: operands, what follows and results share the bits.
TEST(ConvertTest, TypesChangeWithinALoopWhileBitsStay) {
  constexpr int64_t kCount = 1003;
  std::vector<float> values(kCount);
  for (int64_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 17) * 0.75f - 5;
  values[7] = std::numeric_limits<float>::quiet_NaN();
  const Literal x = Array<float>({kCount}, values);
  const std::vector<std::shared_ptr<Literal>> results = RunAll(R"(
    func.func @main(%x: tensor<1003xf32>)
        -> (tensor<1003xui32>, tensor<1003xi32>, tensor<1003xf32>, tensor<1003xf32>) {
      %y = stablehlo.add %x, %x : tensor<1003xf32>
      %bits = stablehlo.bitcast_convert %y : (tensor<1003xf32>) -> tensor<1003xui32>
      %signed = stablehlo.convert %bits : (tensor<1003xui32>) -> tensor<1003xi32>
      %z = stablehlo.constant dense<0> : tensor<1003xi32>
      %least = stablehlo.minimum %signed, %z : tensor<1003xi32>
      %low = stablehlo.bitcast_convert %least : (tensor<1003xi32>) -> tensor<1003xf32>
      %sum = stablehlo.add %low, %y : tensor<1003xf32>
      return %bits, %least, %low, %sum
          : tensor<1003xui32>, tensor<1003xi32>, tensor<1003xf32>, tensor<1003xf32>
    })",
                                                               {&x});
  ASSERT_EQ(results.size(), 4u);
  for (int64_t i = 0; i < kCount; ++i) {
    const float y = values[i] + values[i];
    uint32_t bits;
    std::memcpy(&bits, &y, sizeof(bits));
    EXPECT_EQ(results[0]->data<uint32_t>()[i], bits) << i;
    EXPECT_EQ(results[1]->data<int32_t>()[i], y < 0 ? static_cast<int32_t>(bits) : 0) << i;
    EXPECT_EQ(results[2]->data<float>()[i], y < 0 ? y : 0) << i;
    if (i != 7) {
      EXPECT_EQ(results[3]->data<float>()[i], y < 0 ? y + y : y) << i;
    }
  }
}

}  // namespace
}  // namespace pjrt::cpu
