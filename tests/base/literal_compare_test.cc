// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/literal_compare.h"

#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pjrt {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr float kFloatInf = std::numeric_limits<float>::infinity();
const float kFloatNan = std::numeric_limits<float>::quiet_NaN();
constexpr uint64_t kFar = std::numeric_limits<uint64_t>::max();
using Complex = std::complex<float>;

TEST(UlpDistanceTest, CountsTheStepsBetweenNumbers) {
  EXPECT_EQ(UlpDistance(1.0f, 1.0f), 0u);
  EXPECT_EQ(UlpDistance(1.0f, std::nextafter(1.0f, 2.0f)), 1u);
  EXPECT_EQ(UlpDistance(1.0f, 2.0f), uint64_t{1} << 23);
  EXPECT_EQ(UlpDistance(2.0, 1.0), uint64_t{1} << 52);
  EXPECT_EQ(UlpDistance(0.0f, std::numeric_limits<float>::denorm_min()), 1u);
  EXPECT_EQ(UlpDistance(-1.0, std::nextafter(-1.0, 0)), 1u);
}

TEST(UlpDistanceTest, ZerosAreOneNumberAndNumbersOnBothSidesAdd) {
  const float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(UlpDistance(0.0f, -0.0f), 0u);
  EXPECT_EQ(UlpDistance(least, -least), 2u);
  EXPECT_EQ(UlpDistance(-least, 3 * least), 4u);
  EXPECT_EQ(UlpDistance(std::numeric_limits<double>::max(), std::numeric_limits<double>::lowest()),
            2 * uint64_t{0x7fefffffffffffff});
}

TEST(UlpDistanceTest, WhatIsNotFiniteIsNearOnlyToItself) {
  EXPECT_EQ(UlpDistance(kFloatNan, -kFloatNan), 0u);
  EXPECT_EQ(UlpDistance(kFloatNan, 1.0f), kFar);
  EXPECT_EQ(UlpDistance(kFloatInf, kFloatInf), 0u);
  EXPECT_EQ(UlpDistance(kFloatInf, -kFloatInf), kFar);
  EXPECT_EQ(UlpDistance(kFloatInf, std::numeric_limits<float>::max()), kFar);
  EXPECT_EQ(UlpDistance(kFloatInf, kFloatNan), kFar);
}

TEST(UlpDistanceTest, SmallFloatsCountTheirOwnSteps) {
  EXPECT_EQ(UlpDistance(half(1), half(2)), 1024u);
  EXPECT_EQ(UlpDistance(bfloat16(-1), bfloat16(1)), 2u * 0x3f80);
  EXPECT_EQ(UlpDistance(half::NaN(), -half::NaN()), 0u);
  EXPECT_EQ(UlpDistance(half::Infinity(), half::Max()), kFar);
  EXPECT_EQ(UlpDistance(float8_e4m3fn(448), float8_e4m3fn(416)), 1u);
  EXPECT_EQ(UlpDistance(float8_e4m3fnuz(0), float8_e4m3fnuz::NaN()), kFar);
  EXPECT_EQ(UlpDistance(float4_e2m1fn(-6), float4_e2m1fn(6)), 14u);
  EXPECT_EQ(UlpDistance(float8_e8m0fnu(1), float8_e8m0fnu(8)), 3u);
  EXPECT_EQ(UlpDistance(float8_e8m0fnu::NaN(), float8_e8m0fnu(8)), kFar);
}

TEST(UlpDistanceTest, OfComplexNumbersTheFartherPartCounts) {
  EXPECT_EQ(UlpDistance(Complex(1, 2), Complex(1, std::nextafter(2.0f, 3.0f))), 1u);
  EXPECT_EQ(UlpDistance(Complex(kFloatNan, 1), Complex(kFloatNan, 1)), 0u);
  EXPECT_EQ(UlpDistance(Complex(1, kFloatInf), Complex(1, 1)), kFar);
}

TEST(CompareTest, EqualLiteralsAreEqualByEveryRule) {
  const Literal a = CreateR2<float>({{1, 2}, {3, kFloatInf}});
  for (const CompareReport& report : {CompareExact(a, a), CompareClose(a, a, 0, 0),
                                      CompareAlmostEqual(a, a, 0), CompareUlps(a, a, 0)}) {
    EXPECT_TRUE(report.ok);
    EXPECT_EQ(report.elements, 4);
    EXPECT_EQ(report.mismatches, 0);
    EXPECT_EQ(report.ToString(), "equal");
    EXPECT_TRUE(report.ToStatus().ok());
  }
}

TEST(CompareTest, ShapesMustAgreeButLayoutsNeedNot) {
  const Literal a = CreateR2<float>({{1, 2, 3}, {4, 5, 6}});
  EXPECT_TRUE(CompareExact(*a.Relayout(Layout({0, 1})), a).ok);
  for (const Literal* other : {new Literal(CreateR0(1.0f)), new Literal(*a.Convert(F64)),
                               new Literal(*a.Reshape({3, 2}))}) {
    const CompareReport report = CompareClose(a, *other, 100, 0);
    EXPECT_FALSE(report.ok);
    EXPECT_THAT(report.shape_mismatch, HasSubstr("got shape f32[2,3], want "));
    EXPECT_THAT(std::string(report.ToStatus().message()), HasSubstr("[PJRT-B012] got shape"));
    delete other;
  }
}

TEST(CompareTest, ReportsTheFirstMismatchAndTheLargestErrors) {
  const Literal got = CreateR2<float>({{1, 2}, {3.5, 8}});
  const Literal want = CreateR2<float>({{1, 2}, {3, 4}});
  const CompareReport report = CompareExact(got, want);
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(report.mismatches, 2);
  EXPECT_THAT(report.first_mismatch_index, ElementsAre(1, 0));
  EXPECT_EQ(report.first_got, "3.5");
  EXPECT_EQ(report.first_want, "3");
  EXPECT_EQ(report.max_absolute_error, 4.0);
  EXPECT_EQ(report.max_relative_error, 1.0);
  EXPECT_EQ(report.ToString(),
            "2 of 4 elements differ; first at [1,0]: got 3.5, want 3; largest error 4, relative 1");
}

TEST(CompareTest, FirstMismatchIsInLogicalOrderWhateverTheLayout) {
  Literal got = *Literal::Make(MakeShapeWithLayout(S32, {50, 60}, {0, 1}));
  const Literal want = *Literal::Make(MakeShape(S32, {50, 60}));
  got.Set<int32_t>({49, 0}, 1);
  got.Set<int32_t>({20, 59}, 2);
  const CompareReport report = CompareExact(got, want);
  EXPECT_EQ(report.mismatches, 2);
  EXPECT_THAT(report.first_mismatch_index, ElementsAre(20, 59));
  EXPECT_EQ(report.first_got, "2");
}

TEST(CompareTest, ErrorsAreKnownAlsoWhenAllIsWell) {
  const CompareReport report =
      CompareClose(CreateR1<float>({1.5, 100}), CreateR1<float>({1, 101}), 1, 0);
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.max_absolute_error, 1.0);
  EXPECT_EQ(report.max_relative_error, 0.5);
  EXPECT_EQ(report.max_error_ratio, 1.0);
}

TEST(CompareExactTest, FloatsCompareAsIeeeNumbers) {
  EXPECT_TRUE(CompareExact(CreateR0(0.0f), CreateR0(-0.0f)).ok);
  EXPECT_FALSE(CompareExact(CreateR0(kFloatNan), CreateR0(kFloatNan)).ok);
  EXPECT_TRUE(CompareExact(CreateR0(kFloatInf), CreateR0(kFloatInf)).ok);
  EXPECT_FALSE(CompareExact(CreateR0(Complex(1, 2)), CreateR0(Complex(1, 3))).ok);
}

TEST(CompareExactTest, WideIntegersKeepEveryBit) {
  const int64_t big = (int64_t{1} << 60) + 1;
  EXPECT_FALSE(CompareExact(CreateR0(big), CreateR0(big - 1)).ok);
  EXPECT_FALSE(CompareClose(CreateR0(big), CreateR0(big - 1), 10, 10).ok);
  EXPECT_FALSE(CompareUlps(CreateR0(~uint64_t{0}), CreateR0(~uint64_t{0} - 1), 10).ok);
  EXPECT_TRUE(CompareUlps(CreateR0(big), CreateR0(big), 10, 5).ok);
  EXPECT_FALSE(CompareAlmostEqual(CreateR0(true), CreateR0(false), 10).ok);
}

TEST(CompareCloseTest, ToleranceIsAbsolutePlusRelativeToWhatIsWanted) {
  const auto close = [](double got, double want, double atol, double rtol) {
    return CompareClose(CreateR0(got), CreateR0(want), atol, rtol).ok;
  };
  EXPECT_TRUE(close(110, 100, 0, 0.1));
  EXPECT_FALSE(close(100, 110, 0, 0.09));
  EXPECT_TRUE(close(1.5, 1, 0.5, 0));
  EXPECT_FALSE(close(1.5000001, 1, 0.5, 0));
  EXPECT_TRUE(close(-12, -10, 1, 0.1));
  EXPECT_FALSE(close(-12.1, -10, 1, 0.1));
  EXPECT_TRUE(close(0, 0, 0, 0));
}

TEST(CompareCloseTest, NanMatchesNanAndInfinitiesMatchBySign) {
  const auto close = [](float got, float want) {
    return CompareClose(CreateR0(got), CreateR0(want), 1e30, 1).ok;
  };
  EXPECT_TRUE(close(kFloatNan, -kFloatNan));
  EXPECT_TRUE(close(kFloatInf, kFloatInf));
  EXPECT_FALSE(close(kFloatInf, -kFloatInf));
  EXPECT_FALSE(close(kFloatNan, 1));
  EXPECT_FALSE(close(1, kFloatNan));
  EXPECT_FALSE(close(kFloatInf, 1));
  EXPECT_FALSE(close(1, kFloatInf));
}

TEST(CompareCloseTest, RatioSaysHowNearTheLimitIs) {
  EXPECT_DOUBLE_EQ(CompareClose(CreateR0(1.25), CreateR0(1.0), 0.5, 0).max_error_ratio, 0.5);
  EXPECT_DOUBLE_EQ(CompareClose(CreateR0(3.0), CreateR0(1.0), 0.5, 0).max_error_ratio, 4.0);
  EXPECT_EQ(CompareClose(CreateR0(1.0), CreateR0(1.0), 0, 0).max_error_ratio, 0.0);
  EXPECT_EQ(CompareClose(CreateR0(1.5), CreateR0(1.0), 0, 0).max_error_ratio, kFloatInf);
  EXPECT_EQ(CompareClose(CreateR0(kFloatNan), CreateR0(1.0f), 1, 1).max_error_ratio, kFloatInf);
  EXPECT_EQ(CompareClose(CreateR0(int8_t{1}), CreateR0(int8_t{2}), 1, 1).max_error_ratio,
            kFloatInf);
}

TEST(CompareCloseTest, BothPartsOfComplexNumbersCount) {
  EXPECT_TRUE(
      CompareClose(CreateR0(Complex(1, kFloatNan)), CreateR0(Complex(1.1f, kFloatNan)), 0.2, 0).ok);
  EXPECT_FALSE(CompareClose(CreateR0(Complex(1, 2)), CreateR0(Complex(1.1f, 3)), 0.2, 0).ok);
}

TEST(CompareAlmostEqualTest, ToleranceIsAbsoluteOnly) {
  EXPECT_TRUE(CompareAlmostEqual(CreateR0(1e6), CreateR0(1e6 + 0.00009)).ok);
  EXPECT_FALSE(CompareAlmostEqual(CreateR0(1e6), CreateR0(1e6 + 0.0002)).ok);
  EXPECT_TRUE(CompareAlmostEqual(CreateR0(1.0), CreateR0(1.4), 0.5).ok);
  EXPECT_TRUE(CompareAlmostEqual(CreateR0(kFloatNan), CreateR0(kFloatNan)).ok);
  EXPECT_TRUE(CompareAlmostEqual(CreateR0(kFloatInf), CreateR0(kFloatInf)).ok);
  EXPECT_FALSE(CompareAlmostEqual(CreateR0(kFloatInf), CreateR0(1.0f), 1e300).ok);
}

TEST(CompareUlpsTest, DistanceMustLieBetweenTheBounds) {
  const Literal one = CreateR0(1.0f);
  const Literal two_steps = CreateR0(1.0f + 2 * std::numeric_limits<float>::epsilon());
  EXPECT_TRUE(CompareUlps(one, two_steps, 2).ok);
  EXPECT_FALSE(CompareUlps(one, two_steps, 1).ok);
  EXPECT_FALSE(CompareUlps(one, one, 3, 1).ok);
  EXPECT_TRUE(CompareUlps(one, two_steps, 3, 1).ok);
  EXPECT_EQ(CompareUlps(one, two_steps, 1).max_ulps, 2u);
  EXPECT_THAT(CompareUlps(one, two_steps, 1).ToString(), HasSubstr(", 2 ulp"));
}

TEST(CompareUlpsTest, EveryFloatTypeIsCompared) {
  for (int i = 1; i < kPrimitiveTypeLimit; ++i) {
    const auto type = static_cast<PrimitiveType>(i);
    if (!IsFloating(type) && !IsComplex(type)) continue;
    const Literal one = CreateScalar(type, 1);
    const Literal two = CreateScalar(type, 2);
    EXPECT_TRUE(CompareUlps(one, one, 0).ok) << PrimitiveTypeName(type);
    const CompareReport report = CompareUlps(one, two, 0);
    EXPECT_FALSE(report.ok) << PrimitiveTypeName(type);
    EXPECT_GE(report.max_ulps, 1u) << PrimitiveTypeName(type);
  }
}

TEST(CompareUlpsTest, NanAgainstANumberIsInfinitelyFar) {
  const CompareReport report = CompareUlps(CreateR0(kFloatNan), CreateR0(1.0f), kFar - 1);
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.ToString(), HasSubstr("some not finite"));
  EXPECT_TRUE(CompareUlps(CreateR0(kFloatNan), CreateR0(-kFloatNan), 0).ok);
}

TEST(CompareTest, TuplesSayWhichElementDiffers) {
  const auto make = [](float last) {
    std::vector<Literal> inner;
    inner.push_back(CreateToken());
    inner.push_back(CreateR1<float>({1, last}));
    std::vector<Literal> outer;
    outer.push_back(CreateR0(int32_t{3}));
    outer.push_back(Literal::MakeTuple(std::move(inner)));
    return Literal::MakeTuple(std::move(outer));
  };
  EXPECT_TRUE(CompareExact(make(2), make(2)).ok);
  const CompareReport report = CompareExact(make(2), make(5));
  EXPECT_EQ(report.elements, 3);
  EXPECT_THAT(report.first_mismatch_part, ElementsAre(1, 1));
  EXPECT_THAT(report.ToString(), HasSubstr("first at [1] of tuple element {1,1}: got 2, want 5"));
}

TEST(CompareTest, LongArraysAreComparedWhole) {
  Literal got = *Literal::Make(MakeShape(F32, {5000}));
  const Literal want = *got.Clone();
  got.SetLinear<float>(4999, 1);
  EXPECT_THAT(CompareExact(got, want).first_mismatch_index, ElementsAre(4999));
  EXPECT_THAT(CompareUlps(got, want, 3).first_mismatch_index, ElementsAre(4999));
}

TEST(CompareTest, EmptyArraysAreEqual) {
  const Literal empty = *Literal::Make(MakeShape(F32, {0, 3}));
  EXPECT_TRUE(CompareExact(empty, empty).ok);
  EXPECT_TRUE(CompareUlps(Literal(), Literal(), 0).ok);
}

}  // namespace
}  // namespace pjrt
