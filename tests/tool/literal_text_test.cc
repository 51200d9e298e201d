// SPDX-License-Identifier: Apache-2.0
//
// Arrays written on the command line.
#include "tools/pjrt/literal_text.h"

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "src/core/base/error.h"

namespace pjrt::tool {
namespace {

std::string Parsed(absl::string_view text, PrimitiveType type, std::vector<int64_t> dims) {
  const absl::StatusOr<Literal> literal = ParseLiteralText(text, MakeShape(type, dims));
  return literal.ok() ? literal->ToString() : std::string(literal.status().message());
}

std::string IdOf(absl::string_view text, PrimitiveType type, std::vector<int64_t> dims) {
  return std::string(ErrorId(ParseLiteralText(text, MakeShape(type, dims)).status()));
}

TEST(LiteralTextTest, ScalarsAndNestedLists) {
  EXPECT_EQ(Parsed("3.5", F32, {}), "f32[] 3.5");
  EXPECT_EQ(Parsed(" -1e3 ", F64, {}), "f64[] -1000");
  EXPECT_EQ(Parsed("[[1,2],[3,4]]", S32, {2, 2}), "s32[2,2] {{1, 2}, {3, 4}}");
  EXPECT_EQ(Parsed("[ [1 ,2 ] ,\n[3, 4]]", S32, {2, 2}), "s32[2,2] {{1, 2}, {3, 4}}");
}

TEST(LiteralTextTest, EmptyLists) {
  EXPECT_EQ(IdOf("[]", F32, {0}), "");
  EXPECT_EQ(IdOf("[[],[]]", F32, {2, 0}), "");
  EXPECT_EQ(IdOf("[]", F32, {0, 3}), "PJRT-T005");
  EXPECT_EQ(IdOf("[[],[1]]", F32, {2, 1}), "PJRT-T004");
}

TEST(LiteralTextTest, EachTypeTakesItsOwnValues) {
  EXPECT_EQ(Parsed("[true,false,1,0]", PRED, {4}), "pred[4] {true, false, true, false}");
  EXPECT_EQ(IdOf("2", PRED, {}), "PJRT-T005");
  EXPECT_EQ(Parsed("[-8,7]", S4, {2}), "s4[2] {-8, 7}");
  EXPECT_EQ(IdOf("8", S4, {}), "PJRT-T005");
  EXPECT_EQ(Parsed("18446744073709551615", U64, {}), "u64[] 18446744073709551615");
  EXPECT_EQ(IdOf("18446744073709551616", U64, {}), "PJRT-T005");
  EXPECT_EQ(IdOf("-1", U8, {}), "PJRT-T005");
  EXPECT_EQ(Parsed("-9223372036854775808", S64, {}), "s64[] -9223372036854775808");
  EXPECT_EQ(IdOf("1.0", S32, {}), "PJRT-T005");
  EXPECT_EQ(IdOf("one", F32, {}), "PJRT-T005");
}

TEST(LiteralTextTest, FloatsMayBeNotFinite) {
  EXPECT_EQ(Parsed("[inf,-inf,nan]", F32, {3}), "f32[3] {inf, -inf, nan}");
  EXPECT_EQ(Parsed("1.5", F8E4M3FN, {}), "f8e4m3fn[] 1.5");
}

TEST(LiteralTextTest, ComplexNumbersAreInParentheses) {
  EXPECT_EQ(Parsed("[(1,-2),( 0.5 , 3 ),4]", C64, {3}), "c64[3] {(1, -2), (0.5, 3), (4, 0)}");
  EXPECT_EQ(IdOf("(1)", C64, {}), "PJRT-T005");
  EXPECT_EQ(IdOf("(1,2", C64, {}), "PJRT-T004");
  EXPECT_EQ(IdOf("(1,2)", F32, {}), "PJRT-T005");
}

TEST(LiteralTextTest, MalformedTextIsRefused) {
  for (const char* text : {"", " ", "[", "]", ",", "[1", "[1,", "[1,]", "[,]", "1 2", "[1][2]",
                           "[[1,2],[3]]", "[[1],2]", "[1,[2]]", "[1]]", "()[", "[[]"}) {
    EXPECT_EQ(IdOf(text, F32, {2}), "PJRT-T004") << text;
  }
  EXPECT_EQ(IdOf(std::string(100000, '['), F32, {2}), "PJRT-T004");
  EXPECT_EQ(IdOf("[1,2,3]", F32, {2}), "PJRT-T005");
}

}  // namespace
}  // namespace pjrt::tool
