// SPDX-License-Identifier: Apache-2.0
#include "pjrt/base/primitive_type.h"

#include <set>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "src/core/base/type_dispatch.h"

namespace pjrt {
namespace {

using testing::HasSubstr;

std::vector<PrimitiveType> ArrayTypes() {
  return {PRED,       S1,        S2,     S4,     S8,       S16,        S32,           S64,
          U1,         U2,        U4,     U8,     U16,      U32,        U64,           F4E2M1FN,
          F6E2M3FN,   F6E3M2FN,  F8E3M4, F8E4M3, F8E4M3FN, F8E4M3FNUZ, F8E4M3B11FNUZ, F8E5M2,
          F8E5M2FNUZ, F8E8M0FNU, BF16,   F16,    F32,      F64,        C64,           C128};
}

TEST(PrimitiveTypeTest, BothSpellingsNameTheSameType) {
  EXPECT_EQ(F32, PrimitiveType::F32);
  EXPECT_EQ(INVALID, PRIMITIVE_TYPE_INVALID);
}

TEST(PrimitiveTypeTest, NumbersAreThoseOfSerializedPrograms) {
  EXPECT_EQ(int{PRED}, 1);
  EXPECT_EQ(int{S32}, 4);
  EXPECT_EQ(int{F32}, 11);
  EXPECT_EQ(int{C64}, 15);
  EXPECT_EQ(int{F8E4M3FN}, 20);
  EXPECT_EQ(int{F6E2M3FN}, 36);
}

TEST(PrimitiveTypeTest, EveryArrayTypeHasANameOfItsOwnThatParsesBack) {
  std::set<absl::string_view> names;
  for (const PrimitiveType type : ArrayTypes()) {
    const absl::string_view name = PrimitiveTypeName(type);
    EXPECT_TRUE(names.insert(name).second) << name;
    ASSERT_TRUE(ParsePrimitiveType(name).ok()) << name;
    EXPECT_EQ(*ParsePrimitiveType(name), type);
  }
  EXPECT_EQ(names.size(), 32u);
  for (const PrimitiveType type : {TUPLE, OPAQUE_TYPE, TOKEN}) {
    EXPECT_EQ(*ParsePrimitiveType(PrimitiveTypeName(type)), type);
  }
}

TEST(PrimitiveTypeTest, StableHloNamesParseBackWhereThereIsOne) {
  for (const PrimitiveType type : ArrayTypes()) {
    const absl::string_view name = StableHloTypeName(type);
    if (name.empty()) {
      EXPECT_EQ(type, S1);
      continue;
    }
    EXPECT_EQ(*ParseStableHloType(name), type) << name;
  }
  EXPECT_EQ(StableHloTypeName(PRED), "i1");
  EXPECT_EQ(StableHloTypeName(S32), "i32");
  EXPECT_EQ(StableHloTypeName(U8), "ui8");
  EXPECT_EQ(StableHloTypeName(C64), "complex<f32>");
  EXPECT_EQ(StableHloTypeName(F8E4M3FN), "f8E4M3FN");
  EXPECT_EQ(StableHloTypeName(TOKEN), "!stablehlo.token");
}

TEST(PrimitiveTypeTest, UnknownNamesAreRefusedWithTheNameGiven) {
  for (const char* name : {"", "float", "F32", "invalid", "f32 ", "i32"}) {
    const auto type = ParsePrimitiveType(name);
    ASSERT_FALSE(type.ok()) << name;
    EXPECT_THAT(std::string(type.status().message()), HasSubstr("[PJRT-B001]"));
    EXPECT_THAT(std::string(type.status().message()), HasSubstr(name));
  }
  for (const char* name : {"", "s32", "pred", "complex<f16>", "tuple"}) {
    EXPECT_FALSE(ParseStableHloType(name).ok()) << name;
  }
}

TEST(PrimitiveTypeTest, LongOrBinaryNamesAreQuotedSafely) {
  const auto type = ParsePrimitiveType(std::string(100000, 'x') + "\x01");
  EXPECT_LT(type.status().message().size(), 300u);
}

TEST(PrimitiveTypeTest, WidthsAreThoseOfTheValueAndOfItsUnpackedStorage) {
  EXPECT_EQ(BitWidth(PRED), 8);
  EXPECT_EQ(BitWidth(S1), 1);
  EXPECT_EQ(BitWidth(U4), 4);
  EXPECT_EQ(BitWidth(F6E3M2FN), 6);
  EXPECT_EQ(BitWidth(F8E8M0FNU), 8);
  EXPECT_EQ(BitWidth(BF16), 16);
  EXPECT_EQ(BitWidth(C128), 128);
  EXPECT_EQ(BitWidth(TOKEN), 0);
  EXPECT_EQ(ByteWidth(PRED), 1);
  EXPECT_EQ(ByteWidth(S1), 1);
  EXPECT_EQ(ByteWidth(F6E3M2FN), 1);
  EXPECT_EQ(ByteWidth(F16), 2);
  EXPECT_EQ(ByteWidth(C128), 16);
  EXPECT_EQ(ByteWidth(TUPLE), 0);
}

TEST(PrimitiveTypeTest, EachArrayTypeIsOfOneKind) {
  for (const PrimitiveType type : ArrayTypes()) {
    EXPECT_TRUE(IsArrayType(type));
    const int kinds = (type == PRED) + IsSignedInteger(type) + IsUnsignedInteger(type) +
                      IsFloating(type) + IsComplex(type);
    EXPECT_EQ(kinds, 1) << PrimitiveTypeName(type);
    EXPECT_EQ(IsInteger(type), IsSignedInteger(type) || IsUnsignedInteger(type));
    EXPECT_EQ(IsSubByte(type), BitWidth(type) < 8);
  }
  for (const PrimitiveType type :
       {INVALID, TUPLE, OPAQUE_TYPE, TOKEN, static_cast<PrimitiveType>(34),
        static_cast<PrimitiveType>(255)}) {
    EXPECT_FALSE(IsArrayType(type));
    EXPECT_FALSE(IsFloating(type));
    EXPECT_FALSE(IsSubByte(type));
  }
}

TEST(PrimitiveTypeTest, ComplexTypesHaveAComponent) {
  EXPECT_EQ(ComplexComponent(C64), F32);
  EXPECT_EQ(ComplexComponent(C128), F64);
  EXPECT_EQ(ComplexComponent(S8), S8);
}

TEST(PrimitiveTypeTest, NativeTypesHaveTheStorageSizeAndMapBack) {
  for (const PrimitiveType type : ArrayTypes()) {
    VisitArrayType(type, [&](auto t) {
      using T = typename NativeTypeOf<t()>::type;
      EXPECT_EQ(t(), type);
      EXPECT_EQ(static_cast<int>(sizeof(T)), ByteWidth(type));
      EXPECT_TRUE(IsStorageTypeOf<T>(type));
      if (!IsInteger(type) || !IsSubByte(type)) {
        EXPECT_EQ(PrimitiveTypeOf<T>(), type);
      }
    });
  }
}

TEST(PrimitiveTypeTest, StorageTypesAreNotInterchangeable) {
  EXPECT_TRUE(IsStorageTypeOf<int8_t>(S4));
  EXPECT_TRUE(IsStorageTypeOf<uint8_t>(U2));
  EXPECT_FALSE(IsStorageTypeOf<uint8_t>(S4));
  EXPECT_FALSE(IsStorageTypeOf<uint8_t>(F8E4M3FN));
  EXPECT_FALSE(IsStorageTypeOf<uint8_t>(PRED));
  EXPECT_FALSE(IsStorageTypeOf<int32_t>(F32));
  EXPECT_FALSE(IsStorageTypeOf<char*>(INVALID));
}

TEST(PrimitiveTypeTest, BothLongTypesCountAsTheIntegerOfTheirWidth) {
  EXPECT_EQ(PrimitiveTypeOf<long long>(), S64);           // NOLINT(runtime/int)
  EXPECT_EQ(PrimitiveTypeOf<unsigned long long>(), U64);  // NOLINT(runtime/int)
  EXPECT_EQ(PrimitiveTypeOf<const float>(), F32);
  EXPECT_EQ(PrimitiveTypeOf<char*>(), INVALID);
}

TEST(PrimitiveTypeTest, VisitingWhatIsNoArrayTypeCallsNothing) {
  int calls = 0;
  EXPECT_EQ(VisitArrayType(TOKEN, [&](auto) { return ++calls; }), 0);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace pjrt
