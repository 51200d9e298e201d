// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"

namespace pjrt {
namespace {

Literal Counting(std::vector<int64_t> sizes) {
  Literal literal = *Literal::Make(MakeShape(S32, sizes));
  for (int64_t i = 0; i < literal.element_count(); ++i)
    literal.SetLinear<int32_t>(i, static_cast<int32_t>(i));
  return literal;
}

TEST(LiteralPrintTest, ShapeComesFirstThenNestedValues) {
  EXPECT_EQ(Counting({2, 2, 2}).ToString(), "s32[2,2,2] {{{0, 1}, {2, 3}}, {{4, 5}, {6, 7}}}");
  EXPECT_EQ(Counting({1, 1}).ToString(), "s32[1,1] {{0}}");
  EXPECT_EQ(Counting({}).ToString(), "s32[] 0");
}

TEST(LiteralPrintTest, LayoutDoesNotChangeTheText) {
  Literal literal = *Literal::Make(MakeShapeWithLayout(S32, {2, 3}, {0, 1}));
  for (int64_t i = 0; i < 6; ++i) literal.SetLinear<int32_t>(i, static_cast<int32_t>(i));
  EXPECT_EQ(literal.ToString(), "s32[2,3] {{0, 1, 2}, {3, 4, 5}}");
}

TEST(LiteralPrintTest, SpecialFloatsHaveNames) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(CreateR1<float>({inf, -inf, std::numeric_limits<float>::quiet_NaN(), -0.0f}).ToString(),
            "f32[4] {inf, -inf, nan, -0}");
}

TEST(LiteralPrintTest, FloatsAreAsShortAsTheirFormatAllows) {
  EXPECT_EQ(CreateR0(0.1f).ToString(), "f32[] 0.1");
  EXPECT_EQ(CreateR0(0.1).ToString(), "f64[] 0.1");
  EXPECT_EQ(CreateR0(0.1 + 0.2).ToString(), "f64[] 0.30000000000000004");
  EXPECT_EQ(CreateR0(half(0.1f)).ToString(), "f16[] 0.1");
  EXPECT_EQ(CreateR0(half(20)).ToString(), "f16[] 20");
  EXPECT_EQ(CreateR0(half(-65504)).ToString(), "f16[] -65500");
  EXPECT_EQ(CreateR0(bfloat16(3.14159f)).ToString(), "bf16[] 3.14");
  EXPECT_EQ(CreateR0(float8_e4m3fn(0.4375f)).ToString(), "f8e4m3fn[] 0.44");
  EXPECT_EQ(CreateR0(float4_e2m1fn(-1.5f)).ToString(), "f4e2m1fn[] -1.5");
}

TEST(LiteralPrintTest, EveryHalfReadsBackTheSame) {
  for (int bits = 0; bits < 0x7c00; ++bits) {
    const half x = half::FromBits(static_cast<uint16_t>(bits));
    double back = 0;
    ASSERT_TRUE(absl::SimpleAtod(CreateR0(x).GetAsString({}), &back));
    ASSERT_EQ(half(back).bits(), bits);
  }
}

TEST(LiteralPrintTest, BytesPrintAsNumbers) {
  EXPECT_EQ(CreateR1<int8_t>({-128, 65}).ToString(), "s8[2] {-128, 65}");
  EXPECT_EQ(CreateR1<uint8_t>({255, 65}).ToString(), "u8[2] {255, 65}");
  EXPECT_EQ(CreateR1<std::complex<float>>({{1, -2.5}}).ToString(), "c64[1] {(1, -2.5)}");
}

TEST(LiteralPrintTest, EmptyArraysPrintAsOneEmptyList) {
  EXPECT_EQ(Literal::Make(MakeShape(F32, {0}))->ToString(), "f32[0] {}");
  EXPECT_EQ(Literal::Make(MakeShape(F32, {1000000000, 0}))->ToString(), "f32[1000000000,0] {}");
}

TEST(LiteralPrintTest, LongArraysShowTheirEnds) {
  EXPECT_EQ(Counting({100}).ToString(10), "s32[100] {0, 1, 2, ..., 97, 98, 99}");
  EXPECT_EQ(Counting({100}).ToString(100).find("..."), std::string::npos);
  EXPECT_EQ(Counting({20, 4}).ToString(30),
            "s32[20,4] {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}, ..., "
            "{68, 69, 70, 71}, {72, 73, 74, 75}, {76, 77, 78, 79}}");
}

TEST(LiteralPrintTest, ManySmallDimensionsAreCutToo) {
  const std::string text = Counting(std::vector<int64_t>(16, 2)).ToString(100);
  EXPECT_LT(text.size(), 2000u);
  EXPECT_NE(text.find("..."), std::string::npos);
}

TEST(LiteralPrintTest, VeryHighRanksPrintFlat) {
  std::vector<int64_t> sizes(5000, 1);
  sizes[17] = 2;
  const std::string text = Counting(sizes).ToString();
  EXPECT_EQ(text.substr(text.find(' ')), " {0, 1}");
}

TEST(LiteralPrintTest, SingleElementsPrintAlone) {
  EXPECT_EQ(CreateR1<bool>({true}).GetAsString({0}), "true");
  EXPECT_EQ(CreateR1<int32_t>({-7}).GetAsString({0}), "-7");
  EXPECT_EQ(CreateR0(1e30f).GetAsString({}), "1e+30");
}

}  // namespace
}  // namespace pjrt
