// SPDX-License-Identifier: Apache-2.0
//
// Fills: the same values everywhere, for every element type. The values expected here were computed
// from the definition with another program.
#include "tools/pjrt/fill.h"

#include <complex>
#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "src/core/base/error.h"

namespace pjrt::tool {
namespace {

using ::testing::ElementsAre;

Fill Uniform(uint64_t seed, double low, double high) {
  Fill fill;
  fill.kind = Fill::Kind::kUniform;
  fill.seed = seed;
  fill.low = low;
  fill.high = high;
  return fill;
}

Fill UniformInteger(uint64_t seed, int64_t low, int64_t high) {
  Fill fill = Uniform(seed, 0, 1);
  fill.integer_low = static_cast<uint64_t>(low);
  fill.integer_high = static_cast<uint64_t>(high);
  return fill;
}

Fill OfKind(Fill::Kind kind) {
  Fill fill;
  fill.kind = kind;
  return fill;
}

Literal Make(PrimitiveType type, std::vector<int64_t> dims, const Fill& fill) {
  absl::StatusOr<Literal> literal = MakeFilled(MakeShape(type, dims), fill);
  EXPECT_TRUE(literal.ok()) << literal.status();
  return literal.ok() ? *std::move(literal) : Literal();
}

TEST(FillTest, SplitMixIsThePublishedOne) {
  EXPECT_EQ(SplitMix64(0), 16294208416658607535u);
  EXPECT_EQ(SplitMix64(1), 10451216379200822465u);
}

TEST(FillTest, UniformFloatsAreRoundedToTheType) {
  const Fill fill = Uniform(7, -4, 4);
  EXPECT_THAT(Make(F64, {2}, fill).data<double>(),
              ElementsAre(1.9016447067260742, -3.1798505783081055));
  EXPECT_THAT(Make(F32, {2}, fill).data<float>(),
              ElementsAre(1.9016447067260742f, -3.1798505783081055f));
  const Literal narrow = Make(BF16, {2}, fill);
  EXPECT_EQ(narrow.Get<bfloat16>({0}).bits(), 0x3ff3);
  EXPECT_EQ(narrow.Get<bfloat16>({1}).bits(), 0xc04c);
}

TEST(FillTest, ComplexPartsAreDrawnInTurn) {
  EXPECT_THAT(Make(C128, {2}, Uniform(7, 0, 1)).data<std::complex<double>>(),
              ElementsAre(std::complex<double>(0.7377055883407593, 0.10251867771148682),
                          std::complex<double>(0.6525698304176331, 0.9890472888946533)));
}

TEST(FillTest, UniformIntegersHaveAnExclusiveUpperBound) {
  EXPECT_THAT(Make(S32, {4}, UniformInteger(3, -10, 10)).data<int32_t>(),
              ElementsAre(5, -8, -5, 6));
  EXPECT_THAT(Make(S4, {4}, UniformInteger(3, -8, 8)).data<int8_t>(), ElementsAre(3, -6, 5, 0));
  EXPECT_THAT(Make(U64, {1}, UniformInteger(3, 0, -1)).data<uint64_t>(),
              ElementsAre(5741395155545305595u));
  EXPECT_THAT(Make(PRED, {4}, UniformInteger(3, 0, 2)).data<bool>(),
              ElementsAre(true, false, true, false));
}

TEST(FillTest, IotaCountsInRowMajorOrderAndWraps) {
  EXPECT_THAT(Make(F32, {2, 2}, OfKind(Fill::Kind::kIota)).data<float>(), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Make(PRED, {3}, OfKind(Fill::Kind::kIota)).data<bool>(),
              ElementsAre(false, true, true));
  EXPECT_THAT(Make(S2, {5}, OfKind(Fill::Kind::kIota)).data<int8_t>(),
              ElementsAre(0, 1, -2, -1, 0));
  EXPECT_EQ(Make(U8, {300}, OfKind(Fill::Kind::kIota)).Get<uint8_t>({299}), 43);
}

TEST(FillTest, ZerosAndOnesAreWhatTheySay) {
  EXPECT_TRUE(Make(C128, {3}, OfKind(Fill::Kind::kZeros)).IsAllZero());
  EXPECT_EQ(
      Make(F8E4M3FN, {}, OfKind(Fill::Kind::kOnes)).GetFirstElement<float8_e4m3fn>().ToFloat(),
      1.0f);
  EXPECT_EQ(Make(C64, {}, OfKind(Fill::Kind::kOnes)).GetFirstElement<std::complex<float>>(), 1.0f);
}

TEST(FillTest, EveryArrayTypeCanBeFilled) {
  for (int i = 0; i < kPrimitiveTypeLimit; ++i) {
    const auto type = static_cast<PrimitiveType>(i);
    if (!IsArrayType(type)) continue;
    for (const Fill& fill :
         {RandomFill(type, 3), OfKind(Fill::Kind::kIota), OfKind(Fill::Kind::kOnes)}) {
      EXPECT_EQ(Make(type, {3, 2}, fill).element_count(), 6) << PrimitiveTypeName(type);
    }
  }
}

TEST(FillTest, RandomIntegersStayNearZero) {
  const Literal literal = Make(S8, {100}, RandomFill(S8, 1));
  for (const int8_t value : literal.data<int8_t>()) EXPECT_TRUE(value == -1 || value == 0);
  const Literal without_sign = Make(U8, {100}, RandomFill(U8, 1));
  for (const uint8_t value : without_sign.data<uint8_t>()) EXPECT_LE(value, 1);
}

TEST(FillTest, AnEmptyRangeOfIntegersIsRefused) {
  EXPECT_EQ(ErrorId(MakeFilled(MakeShape(S32, {2}), UniformInteger(1, 5, 5)).status()),
            "PJRT-T003");
}

}  // namespace
}  // namespace pjrt::tool
