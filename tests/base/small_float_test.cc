// SPDX-License-Identifier: Apache-2.0
//
// Every format is tested over all its bit patterns, against a model in double that knows nothing of
// bit tricks: the list of all numbers of the format, sorted.
#include "pjrt/base/small_float.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/base/base_test_util.h"

namespace pjrt {
namespace {

enum class Overflow { kToInfinity, kToNan, kToLargest };

// A format as the literature gives it.
struct Format {
  std::string name;
  int exponent_bits;
  int mantissa_bits;
  int bias;
  Overflow overflow;
  double largest;
  double smallest;
  std::vector<unsigned> nans;  // empty for IEEE's, which follow from the exponent
};

template <typename T>
Format FormatOf();
template <>
Format FormatOf<half>() {
  return {"half", 5, 10, 15, Overflow::kToInfinity, 65504, std::ldexp(1, -24), {}};
}
template <>
Format FormatOf<bfloat16>() {
  return {"bf16", 8, 7, 127, Overflow::kToInfinity, std::ldexp(255, 120), std::ldexp(1, -133), {}};
}
template <>
Format FormatOf<float8_e5m2>() {
  return {"e5m2", 5, 2, 15, Overflow::kToInfinity, 57344, std::ldexp(1, -16), {}};
}
template <>
Format FormatOf<float8_e4m3>() {
  return {"e4m3", 4, 3, 7, Overflow::kToInfinity, 240, std::ldexp(1, -9), {}};
}
template <>
Format FormatOf<float8_e3m4>() {
  return {"e3m4", 3, 4, 3, Overflow::kToInfinity, 15.5, std::ldexp(1, -6), {}};
}
template <>
Format FormatOf<float8_e4m3fn>() {
  return {"e4m3fn", 4, 3, 7, Overflow::kToNan, 448, std::ldexp(1, -9), {0x7f, 0xff}};
}
template <>
Format FormatOf<float8_e4m3fnuz>() {
  return {"e4m3fnuz", 4, 3, 8, Overflow::kToNan, 240, std::ldexp(1, -10), {0x80}};
}
template <>
Format FormatOf<float8_e5m2fnuz>() {
  return {"e5m2fnuz", 5, 2, 16, Overflow::kToNan, 57344, std::ldexp(1, -17), {0x80}};
}
template <>
Format FormatOf<float8_e4m3b11fnuz>() {
  return {"e4m3b11fnuz", 4, 3, 11, Overflow::kToNan, 30, std::ldexp(1, -13), {0x80}};
}
template <>
Format FormatOf<float6_e2m3fn>() {
  return {"e2m3fn", 2, 3, 1, Overflow::kToLargest, 7.5, 0.125, {}};
}
template <>
Format FormatOf<float6_e3m2fn>() {
  return {"e3m2fn", 3, 2, 3, Overflow::kToLargest, 28, 0.0625, {}};
}
template <>
Format FormatOf<float4_e2m1fn>() {
  return {"e2m1fn", 2, 1, 1, Overflow::kToLargest, 6, 0.5, {}};
}

int Bits(const Format& f) { return 1 + f.exponent_bits + f.mantissa_bits; }

// The value of a bit pattern by the definition of the format.
double ValueOf(const Format& f, unsigned pattern) {
  if (std::find(f.nans.begin(), f.nans.end(), pattern) != f.nans.end()) return kNan;
  const unsigned mantissa = pattern & ((1u << f.mantissa_bits) - 1);
  const unsigned exponent = (pattern >> f.mantissa_bits) & ((1u << f.exponent_bits) - 1);
  const double sign = pattern >> (Bits(f) - 1) ? -1 : 1;
  if (f.overflow == Overflow::kToInfinity && exponent == (1u << f.exponent_bits) - 1) {
    return mantissa == 0 ? sign * kInf : kNan;
  }
  const double fraction = std::ldexp(mantissa, -f.mantissa_bits);
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - f.bias);
  return sign * std::ldexp(1 + fraction, static_cast<int>(exponent) - f.bias);
}

bool Same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

template <typename T>
class SmallFloatTest : public testing::Test {
 protected:
  using Storage = typename T::Storage;

  // Non-negative finite values, ascending; the position of each is its bit pattern.
  std::vector<double> Magnitudes() const {
    std::vector<double> values;
    for (unsigned pattern = 0; pattern < 1u << (Bits(format_) - 1); ++pattern) {
      const double value = ValueOf(format_, pattern);
      if (std::isfinite(value)) values.push_back(value);
    }
    return values;
  }

  // What a magnitude beyond the largest becomes.
  double Beyond() const {
    switch (format_.overflow) {
      case Overflow::kToInfinity:
        return kInf;
      case Overflow::kToNan:
        return kNan;
      case Overflow::kToLargest:
        break;
    }
    return format_.largest;
  }

  // The number next to `x` by search in the list; of two equally near the one with the even
  // pattern.
  double Nearest(const std::vector<double>& magnitudes, double x) const {
    const double m = std::abs(x);
    double result = 0;
    const auto above = std::lower_bound(magnitudes.begin(), magnitudes.end(), m);
    if (above == magnitudes.end()) {
      const double last = magnitudes.back();
      const double step = last - magnitudes[magnitudes.size() - 2];
      // What would follow the largest counts as a number, with an even pattern when the largest is
      // odd.
      const double halfway = last + step / 2;
      const bool last_is_even = (magnitudes.size() - 1) % 2 == 0;
      result = m < halfway || (m == halfway && last_is_even) ? last : Beyond();
    } else if (*above == m) {
      result = m;
    } else {
      const auto below = above - 1;
      const double down = m - *below;
      const double up = *above - m;
      const bool below_is_even = (below - magnitudes.begin()) % 2 == 0;
      result = down < up || (down == up && below_is_even) ? *below : *above;
    }
    if (result == 0 && T(-0.0f).bits() == 0) return 0;
    return std::signbit(x) ? -result : result;
  }

  void ExpectNearest(const std::vector<double>& magnitudes, double x) const {
    for (const double signed_x : {x, -x}) {
      const double want = Nearest(magnitudes, signed_x);
      EXPECT_TRUE(Same(T(signed_x).ToDouble(), want))
          << format_.name << ": " << signed_x << " became " << T(signed_x).ToDouble() << ", not "
          << want;
      const float narrow = static_cast<float>(signed_x);
      if (static_cast<double>(narrow) == signed_x) {
        EXPECT_TRUE(Same(T(narrow).ToDouble(), want)) << format_.name << ": float " << narrow;
      }
    }
  }

  const Format format_ = FormatOf<T>();
};

using Formats = testing::Types<half, bfloat16, float8_e5m2, float8_e4m3, float8_e3m4, float8_e4m3fn,
                               float8_e4m3fnuz, float8_e5m2fnuz, float8_e4m3b11fnuz, float6_e2m3fn,
                               float6_e3m2fn, float4_e2m1fn>;
TYPED_TEST_SUITE(SmallFloatTest, Formats);

TYPED_TEST(SmallFloatTest, EveryPatternHasTheValueThatItsFormatDefines) {
  for (unsigned pattern = 0; pattern < 1u << Bits(this->format_); ++pattern) {
    const auto x = TypeParam::FromBits(static_cast<typename TypeParam::Storage>(pattern));
    const double want = ValueOf(this->format_, pattern);
    EXPECT_TRUE(Same(x.ToDouble(), want)) << pattern << ": " << x.ToDouble() << " is not " << want;
    EXPECT_TRUE(Same(x.ToFloat(), want)) << pattern;
    EXPECT_EQ(x.IsNan(), std::isnan(want)) << pattern;
    EXPECT_EQ(x.IsInf(), std::isinf(want)) << pattern;
    EXPECT_EQ(x.IsFinite(), std::isfinite(want)) << pattern;
  }
}

TYPED_TEST(SmallFloatTest, EveryNumberSurvivesTheWayThroughFloatAndDouble) {
  for (unsigned pattern = 0; pattern < 1u << Bits(this->format_); ++pattern) {
    const auto x = TypeParam::FromBits(static_cast<typename TypeParam::Storage>(pattern));
    const TypeParam by_float(x.ToFloat());
    const TypeParam by_double(x.ToDouble());
    EXPECT_EQ(by_float.bits(), by_double.bits()) << pattern;
    if (x.IsNan()) {
      EXPECT_TRUE(by_float.IsNan()) << pattern;
      EXPECT_EQ(by_float.SignBit(), x.SignBit()) << pattern;
    } else {
      EXPECT_EQ(by_float.bits(), x.bits()) << pattern;
    }
  }
}

TYPED_TEST(SmallFloatTest, HalfwayCasesGoToTheEvenPatternAndTheirNeighboursToTheNearest) {
  const std::vector<double> magnitudes = this->Magnitudes();
  ASSERT_EQ(magnitudes.back(), this->format_.largest);
  ASSERT_EQ(magnitudes[1], this->format_.smallest);
  for (size_t i = 0; i + 1 < magnitudes.size(); ++i) {
    const double middle = magnitudes[i] / 2 + magnitudes[i + 1] / 2;
    this->ExpectNearest(magnitudes, middle);
    // A double this near becomes the halfway case itself when it is rounded to float first.
    this->ExpectNearest(magnitudes, std::nextafter(middle, 0));
    this->ExpectNearest(magnitudes, std::nextafter(middle, kInf));
    const float narrow = static_cast<float>(middle);
    this->ExpectNearest(magnitudes, std::nextafter(narrow, 0.0f));
    this->ExpectNearest(magnitudes, std::nextafter(narrow, std::numeric_limits<float>::infinity()));
  }
}

TYPED_TEST(SmallFloatTest, OverflowBeginsHalfAStepBeyondTheLargest) {
  const std::vector<double> magnitudes = this->Magnitudes();
  const double step = magnitudes.back() - magnitudes[magnitudes.size() - 2];
  const double edge = magnitudes.back() + step / 2;
  for (const double x :
       {edge, std::nextafter(edge, 0), std::nextafter(edge, kInf), magnitudes.back() + step,
        2 * magnitudes.back(), 1e30, 1e300, std::numeric_limits<double>::max(), kInf}) {
    this->ExpectNearest(magnitudes, x);
  }
}

TYPED_TEST(SmallFloatTest, TheSmallestNumbersUnderflowToZero) {
  const std::vector<double> magnitudes = this->Magnitudes();
  const double least = this->format_.smallest;
  for (const double x :
       {least / 2, std::nextafter(least / 2, 0), std::nextafter(least / 2, 1), least / 4, least / 3,
        1e-45, 1e-310, std::numeric_limits<double>::denorm_min(), 0.0}) {
    this->ExpectNearest(magnitudes, x);
  }
}

TYPED_TEST(SmallFloatTest, RandomNumbersRoundToTheNearest) {
  const std::vector<double> magnitudes = this->Magnitudes();
  std::mt19937_64 random(20240229);
  for (int i = 0; i < 20000; ++i) {
    const int exponent = static_cast<int>(random() % 60) - 40;
    const double x = std::ldexp(static_cast<double>(random() >> 11), exponent - 20);
    this->ExpectNearest(magnitudes, x);
    this->ExpectNearest(magnitudes, static_cast<float>(x));
  }
}

TYPED_TEST(SmallFloatTest, FloatsRoundAsTheEqualDoublesDo) {
  // Every 9973rd float, infinities and NaNs among them.
  for (uint64_t pattern = 0; pattern < uint64_t{1} << 32; pattern += 9973) {
    const float x = __builtin_bit_cast(float, static_cast<uint32_t>(pattern));
    ASSERT_EQ(TypeParam(x).bits(), TypeParam(static_cast<double>(x)).bits()) << x;
  }
}

TYPED_TEST(SmallFloatTest, IntegersRoundOnce) {
  const std::vector<double> magnitudes = this->Magnitudes();
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    const auto small = static_cast<int32_t>(random() % 200000) - 100000;
    EXPECT_TRUE(Same(TypeParam(small).ToDouble(), this->Nearest(magnitudes, small))) << small;
  }
  // 2^63 + 2^55 lies halfway between two bfloat16; one more must round up though a double does not
  // see it.
  const uint64_t halfway = (uint64_t{1} << 63) + (uint64_t{1} << 55);
  EXPECT_TRUE(
      Same(TypeParam(halfway).ToDouble(), this->Nearest(magnitudes, static_cast<double>(halfway))));
  EXPECT_TRUE(Same(TypeParam(halfway + 1).ToDouble(),
                   this->Nearest(magnitudes, std::nextafter(static_cast<double>(halfway), kInf))));
  EXPECT_TRUE(Same(TypeParam(std::numeric_limits<int64_t>::min()).ToDouble(),
                   this->Nearest(magnitudes, -std::ldexp(1, 63))));
}

TYPED_TEST(SmallFloatTest, NanBecomesWhatTheFormatHasForIt) {
  for (const double sign : {1.0, -1.0}) {
    const TypeParam from_double(std::copysign(kNan, sign));
    const TypeParam from_float(
        std::copysign(std::numeric_limits<float>::quiet_NaN(), static_cast<float>(sign)));
    EXPECT_EQ(from_double.bits(), from_float.bits());
    if (TypeParam::kHasNan) {
      EXPECT_TRUE(from_double.IsNan());
    } else {
      EXPECT_EQ(from_double.ToFloat(), 0.0f);
      EXPECT_TRUE(from_double.SignBit());
    }
  }
}

TYPED_TEST(SmallFloatTest, LimitsAreThoseOfTheFormat) {
  using Limits = std::numeric_limits<TypeParam>;
  EXPECT_EQ(static_cast<double>(Limits::max()), this->format_.largest);
  EXPECT_EQ(static_cast<double>(Limits::lowest()), -this->format_.largest);
  EXPECT_EQ(static_cast<double>(Limits::denorm_min()), this->format_.smallest);
  EXPECT_EQ(static_cast<double>(Limits::min()), std::ldexp(1, 1 - this->format_.bias));
  EXPECT_EQ(static_cast<double>(TypeParam(1) + Limits::epsilon()),
            1 + std::ldexp(1, -this->format_.mantissa_bits));
  EXPECT_EQ(Limits::has_infinity, this->format_.overflow == Overflow::kToInfinity);
  EXPECT_EQ(Limits::infinity().IsInf(), Limits::has_infinity);
  EXPECT_EQ(Limits::quiet_NaN().IsNan(), Limits::has_quiet_NaN);
}

TYPED_TEST(SmallFloatTest, NegationFlipsTheSignOfEveryNumber) {
  for (unsigned pattern = 0; pattern < 1u << Bits(this->format_); ++pattern) {
    const auto x = TypeParam::FromBits(static_cast<typename TypeParam::Storage>(pattern));
    const double want = x.ToDouble() == 0 && TypeParam(-0.0f).bits() == 0 ? 0 : -x.ToDouble();
    EXPECT_TRUE(Same((-x).ToDouble(), want)) << pattern;
  }
}

TYPED_TEST(SmallFloatTest, ConversionBetweenFormatsRoundsOnce) {
  for (unsigned pattern = 0; pattern < 1u << 16; pattern += 7) {
    const half x = half::FromBits(static_cast<uint16_t>(pattern));
    if (x.IsNan()) continue;
    EXPECT_EQ(TypeParam(x).bits(), TypeParam(x.ToDouble()).bits()) << pattern;
  }
}

TEST(SmallFloatArithmeticTest, ResultsAreRoundedToTheFormat) {
  EXPECT_EQ((half(1) + half(0x1p-11f)).ToFloat(), 1.0f);
  EXPECT_EQ((half(1) + half(0x1.8p-11f)).ToFloat(), 1.0f + 0x1p-10f);
  EXPECT_EQ((half(65504) + half(16)).ToFloat(), std::numeric_limits<float>::infinity());
  EXPECT_EQ((bfloat16(3) / bfloat16(7)).ToFloat(), bfloat16(3.0f / 7.0f).ToFloat());
  EXPECT_EQ((float8_e4m3fn(3) * float8_e4m3fn(5)).ToFloat(), 15.0f);
  EXPECT_EQ((float4_e2m1fn(6) + float4_e2m1fn(6)).ToFloat(), 6.0f);
  bfloat16 sum(1);
  sum += bfloat16(2);
  sum *= bfloat16(4);
  sum -= bfloat16(2);
  sum /= bfloat16(5);
  EXPECT_EQ(sum.ToFloat(), 2.0f);
}

TEST(SmallFloatArithmeticTest, ComparisonsAreThoseOfFloat) {
  EXPECT_TRUE(half(0.0f) == half(-0.0f));
  EXPECT_FALSE(half::NaN() == half::NaN());
  EXPECT_TRUE(half::NaN() != half::NaN());
  EXPECT_TRUE(bfloat16(-1) < bfloat16(1));
  EXPECT_TRUE(bfloat16(1) <= bfloat16(1));
  EXPECT_FALSE(bfloat16(1) > bfloat16::NaN());
  EXPECT_TRUE(half::Infinity() >= half::Max());
}

TEST(SmallFloatArithmeticTest, EverythingWorksAtCompileTime) {
  static_assert(half(1.0f).bits() == 0x3c00);
  static_assert(half(-2.0).bits() == 0xc000);
  static_assert(bfloat16(1.0f).bits() == 0x3f80);
  static_assert(float8_e4m3fn(464.0).bits() == 0x7e);
  static_assert(float8_e4m3fn(465.0).bits() == 0x7f);
  static_assert(float8_e5m2(61439).bits() == 0x7b);
  static_assert((half(1) + half(2)).ToFloat() == 3.0f);
  static_assert(static_cast<int>(half(-3.75f)) == -3);
  static_assert(static_cast<bool>(half(0.5f)) && !static_cast<bool>(half(-0.0f)));
  static_assert(sizeof(half) == 2 && sizeof(bfloat16) == 2 && sizeof(float4_e2m1fn) == 1);
  static_assert(std::is_trivial_v<half> && std::is_trivial_v<float8_e8m0fnu>);
}

TEST(SmallFloatArithmeticTest, IeeeNansKeepTheirLeadingPayloadAndBecomeQuiet) {
  EXPECT_EQ(half(__builtin_bit_cast(float, 0x7f802000u)).bits(), 0x7e01);
  EXPECT_EQ(half(__builtin_bit_cast(float, 0xff800001u)).bits(), 0xfe00);
  EXPECT_EQ(bfloat16(__builtin_bit_cast(float, 0x7f810000u)).bits(), 0x7fc1);
  EXPECT_EQ(__builtin_bit_cast(uint32_t, half::FromBits(0x7c01).ToFloat()), 0x7fc02000u);
}

TEST(SmallFloatArithmeticTest, BitsAboveANarrowFormatAreIgnored) {
  EXPECT_EQ(float4_e2m1fn::FromBits(0xf7).ToFloat(), 6.0f);
  EXPECT_EQ(float4_e2m1fn::FromBits(0xf7).bits(), 0x07);
  EXPECT_EQ(float6_e3m2fn::FromBits(0xdf).ToFloat(), 28.0f);
}

TEST(ScaleFloatTest, EveryPatternIsAPowerOfTwo) {
  for (int pattern = 0; pattern < 255; ++pattern) {
    const auto x = float8_e8m0fnu::FromBits(static_cast<uint8_t>(pattern));
    EXPECT_EQ(x.ToDouble(), std::ldexp(1, pattern - 127));
    EXPECT_EQ(x.ToFloat(), std::ldexp(1.0f, pattern - 127));
    EXPECT_EQ(float8_e8m0fnu(x.ToDouble()).bits(), pattern);
    EXPECT_EQ(float8_e8m0fnu(x.ToFloat()).bits(), pattern);
  }
  EXPECT_TRUE(std::isnan(float8_e8m0fnu::FromBits(0xff).ToFloat()));
  EXPECT_TRUE(std::isnan(float8_e8m0fnu::FromBits(0xff).ToDouble()));
}

TEST(ScaleFloatTest, RoundsToTheNearestPowerHalfwayCasesUp) {
  for (int pattern = 0; pattern < 254; ++pattern) {
    const double low = std::ldexp(1, pattern - 127);
    EXPECT_EQ(float8_e8m0fnu(1.5 * low).bits(), pattern + 1);
    EXPECT_EQ(float8_e8m0fnu(std::nextafter(1.5 * low, 0)).bits(), pattern);
    EXPECT_EQ(float8_e8m0fnu(static_cast<float>(1.25 * low)).bits(), pattern);
    EXPECT_EQ(float8_e8m0fnu(static_cast<float>(1.75 * low)).bits(), pattern + 1);
  }
}

TEST(ScaleFloatTest, WhatItCannotHoldBecomesNanAndZeroTheSmallest) {
  for (const double x : {-1.0, -1e-300, kNan, kInf, -kInf, std::ldexp(1.5, 127), 1e300}) {
    EXPECT_TRUE(float8_e8m0fnu(x).IsNan()) << x;
  }
  for (const double x :
       {0.0, -0.0, 1e-300, std::ldexp(1, -128), std::numeric_limits<double>::denorm_min()}) {
    EXPECT_EQ(float8_e8m0fnu(x).bits(), 0) << x;
  }
  EXPECT_EQ(float8_e8m0fnu(6).bits(), 130);
  EXPECT_TRUE(float8_e8m0fnu(-3).IsNan());
}

TEST(ScaleFloatTest, ArithmeticStaysInTheFormat) {
  EXPECT_EQ((float8_e8m0fnu(4) * float8_e8m0fnu(8)).ToFloat(), 32.0f);
  EXPECT_EQ((float8_e8m0fnu(4) / float8_e8m0fnu(8)).ToFloat(), 0.5f);
  EXPECT_EQ((float8_e8m0fnu(4) + float8_e8m0fnu(4)).ToFloat(), 8.0f);
  EXPECT_TRUE((-float8_e8m0fnu(4)).IsNan());
  EXPECT_TRUE(float8_e8m0fnu(2) < float8_e8m0fnu(4));
  EXPECT_FALSE(float8_e8m0fnu::NaN() == float8_e8m0fnu::NaN());
}

}  // namespace
}  // namespace pjrt
