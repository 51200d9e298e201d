// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/base/literal.h"
#include "tests/base/base_test_util.h"

namespace pjrt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename To>
std::vector<To> Converted(const Literal& from, PrimitiveType type) {
  const absl::StatusOr<Literal> result = from.Convert(type);
  EXPECT_TRUE(result.ok()) << result.status();
  if (!result.ok()) return {};
  EXPECT_EQ(result->shape().element_type(), type);
  const absl::Span<const To> data = result->data<To>();
  return std::vector<To>(data.begin(), data.end());
}

TEST(LiteralConvertTest, FloatsGoToIntegersTowardZeroSaturatingAndNanToZero) {
  const Literal from =
      CreateR1<double>({1.9, -1.9, 127.9, 128, -128.9, -129, 1e30, -kInf, kNan, -0.0});
  EXPECT_THAT(Converted<int8_t>(from, S8),
              ElementsAre(1, -1, 127, 127, -128, -128, 127, -128, 0, 0));
  EXPECT_THAT(Converted<uint8_t>(from, U8), ElementsAre(1, 0, 127, 128, 0, 0, 255, 0, 0, 0));
  EXPECT_THAT(Converted<int8_t>(from, S4), ElementsAre(1, -1, 7, 7, -8, -8, 7, -8, 0, 0));
  EXPECT_THAT(Converted<uint8_t>(from, U2), ElementsAre(1, 0, 3, 3, 0, 0, 3, 0, 0, 0));
  EXPECT_THAT(Converted<int8_t>(from, S1), ElementsAre(0, -1, 0, 0, -1, -1, 0, -1, 0, 0));
  EXPECT_THAT(Converted<uint8_t>(from, U1), ElementsAre(1, 0, 1, 1, 0, 0, 1, 0, 0, 0));
}

TEST(LiteralConvertTest, WideIntegersSaturateAtTheirExactEnds) {
  const double two63 = 9223372036854775808.0;
  const Literal from =
      CreateR1<double>({two63, std::nextafter(two63, 0), -two63, std::nextafter(-two63, -kInf),
                        2 * two63, std::nextafter(2 * two63, 0)});
  const int64_t max = std::numeric_limits<int64_t>::max();
  const int64_t min = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(Converted<int64_t>(from, S64),
              ElementsAre(max, 9223372036854774784, min, min, max, max));
  EXPECT_THAT(Converted<uint64_t>(from, U64),
              ElementsAre(9223372036854775808u, 9223372036854774784u, 0u, 0u, 18446744073709551615u,
                          18446744073709549568u));
  const Literal from32 =
      CreateR1<float>({2147483648.0f, 2147483520.0f, -2147483648.0f, 4294967296.0f});
  EXPECT_THAT(Converted<int32_t>(from32, S32),
              ElementsAre(2147483647, 2147483520, -2147483648, 2147483647));
  EXPECT_THAT(Converted<uint32_t>(from32, U32),
              ElementsAre(2147483648u, 2147483520u, 0u, 4294967295u));
}

TEST(LiteralConvertTest, IntegersWrapToNarrowerOnes) {
  const Literal from = CreateR1<int32_t>({300, -1, 128, -129, 8, 65536});
  EXPECT_THAT(Converted<int8_t>(from, S8), ElementsAre(44, -1, -128, 127, 8, 0));
  EXPECT_THAT(Converted<uint8_t>(from, U8), ElementsAre(44, 255, 128, 127, 8, 0));
  EXPECT_THAT(Converted<int8_t>(from, S4), ElementsAre(-4, -1, 0, -1, -8, 0));
  EXPECT_THAT(Converted<uint8_t>(from, U4), ElementsAre(12, 15, 0, 15, 8, 0));
  EXPECT_THAT(Converted<uint64_t>(CreateR1<int32_t>({-1}), U64), ElementsAre(~uint64_t{0}));
  EXPECT_THAT(Converted<int64_t>(CreateR1<uint64_t>({~uint64_t{0}}), S64), ElementsAre(-1));
}

TEST(LiteralConvertTest, ToPredIsNotZero) {
  EXPECT_THAT(Converted<bool>(CreateR1<double>({0, -0.0, 0.1, kNan, -kInf}), PRED),
              ElementsAre(false, false, true, true, true));
  EXPECT_THAT(Converted<bool>(CreateR1<int64_t>({0, int64_t{1} << 40, -1}), PRED),
              ElementsAre(false, true, true));
  using C = std::complex<float>;
  EXPECT_THAT(Converted<bool>(CreateR1<C>({C(0, 0), C(0, 1), C(1, 0)}), PRED),
              ElementsAre(false, true, true));
}

TEST(LiteralConvertTest, FromPredIsZeroOrOne) {
  const Literal from = CreateR1<bool>({true, false});
  EXPECT_THAT(Converted<float>(from, F32), ElementsAre(1, 0));
  EXPECT_THAT(Converted<int64_t>(from, S64), ElementsAre(1, 0));
  EXPECT_THAT(Converted<half>(from, F16), ElementsAre(half(1), half(0)));
}

TEST(LiteralConvertTest, IntegersRoundOnceToFloats) {
  // Just above the middle between two floats, too close for a double to see.
  const int64_t near_middle = (int64_t{1} << 62) + (int64_t{1} << 38) + 1;
  EXPECT_THAT(Converted<float>(CreateR1<int64_t>({near_middle}), F32), ElementsAre(0x1.000002p62f));
  EXPECT_THAT(Converted<float>(CreateR1<int64_t>({near_middle - 1}), F32), ElementsAre(0x1p62f));
  EXPECT_THAT(Converted<float>(CreateR1<uint64_t>({~uint64_t{0}}), F32), ElementsAre(0x1p64f));
  EXPECT_THAT(Converted<half>(CreateR1<int32_t>({65519, 65520, -70000}), F16),
              ElementsAre(half(65504), half::Infinity(), -half::Infinity()));
}

TEST(LiteralConvertTest, FloatsRoundOnceToNarrowerFloats) {
  // A double just above the middle of two halves; by way of float it would be the middle itself.
  const double above = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_THAT(Converted<half>(CreateR1<double>({above, 1 + 0x1p-11}), F16),
              ElementsAre(half(1 + 0x1p-10), half(1)));
  EXPECT_THAT(Converted<float>(CreateR1<double>({1e300, 1 + 0x1p-24}), F32),
              ElementsAre(std::numeric_limits<float>::infinity(), 1.0f));
  EXPECT_THAT(Converted<double>(CreateR1<half>({half(0x1p-24f)}), F64), ElementsAre(0x1p-24));
  EXPECT_THAT(
      Converted<float8_e4m3fn>(CreateR1<bfloat16>({bfloat16(448), bfloat16(-0.5f)}), F8E4M3FN),
      ElementsAre(float8_e4m3fn(448), float8_e4m3fn(-0.5f)));
}

TEST(LiteralConvertTest, ComplexNumbersLoseAndGainAnImaginaryPart) {
  using C64Type = std::complex<float>;
  using C128Type = std::complex<double>;
  const Literal from = CreateR1<C64Type>({C64Type(1.5, 2), C64Type(-3, 0)});
  EXPECT_THAT(Converted<float>(from, F32), ElementsAre(1.5, -3));
  EXPECT_THAT(Converted<int32_t>(from, S32), ElementsAre(1, -3));
  EXPECT_THAT(Converted<C128Type>(from, C128), ElementsAre(C128Type(1.5, 2), C128Type(-3, 0)));
  EXPECT_THAT(Converted<C64Type>(CreateR1<int8_t>({-4}), C64), ElementsAre(C64Type(-4, 0)));
}

TEST(LiteralConvertTest, LayoutAndSizesStay) {
  Literal from = *Literal::Make(MakeShapeWithLayout(F32, {2, 3}, {0, 1}));
  from.Set<float>({1, 2}, 7);
  const absl::StatusOr<Literal> to = from.Convert(S16);
  ASSERT_TRUE(to.ok());
  EXPECT_EQ(to->shape().ToString(), "s16[2,3]{0,1}");
  EXPECT_EQ(to->Get<int16_t>({1, 2}), 7);
}

TEST(LiteralConvertTest, LongArraysConvertWhole) {
  Literal from = *Literal::Make(MakeShape(S32, {100003}));
  for (int64_t i = 0; i < 100003; ++i) from.SetLinear<int32_t>(i, static_cast<int32_t>(i));
  const absl::StatusOr<Literal> to = from.Convert(F64);
  ASSERT_TRUE(to.ok());
  for (int64_t i = 0; i < 100003; ++i) ASSERT_EQ(to->GetLinear<double>(i), static_cast<double>(i));
  EXPECT_EQ(*to->Convert(S32), from);
}

TEST(LiteralConvertTest, EveryTypeConvertsToEveryOther) {
  for (int from = 1; from < kPrimitiveTypeLimit; ++from) {
    const auto from_type = static_cast<PrimitiveType>(from);
    if (!IsArrayType(from_type)) continue;
    const Literal one = CreateScalar(from_type, 1);
    // One bit of sign holds only 0 and -1.
    const double value = from_type == S1 ? -1 : 1;
    for (int to = 1; to < kPrimitiveTypeLimit; ++to) {
      const auto to_type = static_cast<PrimitiveType>(to);
      if (!IsArrayType(to_type)) continue;
      const absl::StatusOr<Literal> result = one.Convert(to_type);
      ASSERT_TRUE(result.ok());
      const std::complex<double> got = *result->GetAsComplex({});
      if (value == 1 && to_type == S1) {
        EXPECT_EQ(got, IsFloating(from_type) || IsComplex(from_type) ? 0.0 : -1.0)
            << PrimitiveTypeName(from_type);
      } else if (value == 1 || to_type == S1 || IsSignedInteger(to_type) ||
                 (IsFloating(to_type) && to_type != F8E8M0FNU) || IsComplex(to_type)) {
        EXPECT_EQ(got, value) << PrimitiveTypeName(from_type) << " to "
                              << PrimitiveTypeName(to_type);
      }
    }
  }
}

TEST(LiteralConvertTest, WhatIsNoArrayDoesNotConvert) {
  EXPECT_THAT(std::string(Literal().Convert(F32).status().message()), HasSubstr("[PJRT-B010]"));
  EXPECT_THAT(std::string(CreateR0(1.0f).Convert(TOKEN).status().message()),
              HasSubstr("[PJRT-B010]"));
  EXPECT_FALSE(CreateToken().Convert(F32).ok());
}

TEST(LiteralConvertTest, SingleElementsAreReadAsWideNumbers) {
  EXPECT_EQ(CreateR0(half(1.5f)).GetAsDouble({}), 1.5);
  EXPECT_EQ(CreateR0(int8_t{-3}).GetAsDouble({}), -3.0);
  EXPECT_EQ(CreateR0(true).GetAsInt64({}), 1);
  EXPECT_EQ(CreateR0(~uint64_t{0}).GetAsInt64({}), std::nullopt);
  EXPECT_EQ(CreateR0(1.5f).GetAsInt64({}), std::nullopt);
  EXPECT_EQ(CreateR0(std::complex<float>(1, 2)).GetAsDouble({}), std::nullopt);
  EXPECT_EQ(CreateR0(std::complex<float>(1, 2)).GetAsComplex({}), std::complex<double>(1, 2));
  EXPECT_EQ(CreateR0(int32_t{4}).GetAsComplex({}), std::complex<double>(4, 0));
}

TEST(LiteralConvertTest, ScalarsAreMadeOfAnyType) {
  EXPECT_EQ(CreateScalar(BF16, 1.5).ToString(), "bf16[] 1.5");
  EXPECT_EQ(CreateScalar(S4, 9).ToString(), "s4[] -7");
  EXPECT_EQ(CreateScalar(U64, std::numeric_limits<int64_t>::max()).ToString(),
            "u64[] 9223372036854775807");
  EXPECT_EQ(CreateScalar(PRED, 2).ToString(), "pred[] true");
  EXPECT_EQ(CreateScalar(C64, -1.0).ToString(), "c64[] (-1, 0)");
  EXPECT_EQ(CreateScalar(TOKEN, 1).ToString(), "()");
}

TEST(LiteralConvertTest, ZerosAreRecognizedInEveryType) {
  for (int i = 1; i < kPrimitiveTypeLimit; ++i) {
    const auto type = static_cast<PrimitiveType>(i);
    // F8E8M0FNU has no zero.
    if (!IsArrayType(type) || type == F8E8M0FNU) continue;
    Literal literal = *Literal::Make(MakeShape(type, {700}));
    EXPECT_TRUE(literal.IsAllZero()) << PrimitiveTypeName(type);
    static_cast<char*>(literal.untyped_data())[699 * ByteWidth(type)] = 1;
    EXPECT_FALSE(literal.IsAllZero()) << PrimitiveTypeName(type);
  }
  EXPECT_TRUE(CreateR0(-0.0f).IsAllZero());
  EXPECT_FALSE(Literal().IsAllZero());
}

}  // namespace
}  // namespace pjrt
