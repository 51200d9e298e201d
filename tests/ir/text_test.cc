// SPDX-License-Identifier: Apache-2.0
//
// Numbers, strings and attributes as text.
#include "src/core/ir/text.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/casts.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "pjrt/base/small_float.h"
#include "pjrt/ir/context.h"

namespace pjrt::ir {
namespace {

std::string FloatText(Type type, double value) {
  std::string text;
  AppendFloat(type, value, &text);
  return text;
}

template <typename T>
std::string BitsText(Type type, T bits) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &bits, sizeof(T));  // tests run on little-endian machines
  std::string text;
  AppendFloatBits(type, bytes, &text);
  return text;
}

// What a reader makes of a decimal for a type of at most 16 bits: a double, rounded once.
template <typename T>
void ExpectAllBitsReadBack(absl::string_view name) {
  Context c;
  const Type type = c.Float(name);
  for (uint32_t i = 0; i < (1u << T::kBits); ++i) {
    const auto bits = static_cast<typename T::Storage>(i);
    const T value = T::FromBits(bits);
    const std::string text = BitsText(type, bits);
    if (value.IsFinite()) {
      ASSERT_NE(text.find('.'), std::string::npos) << text;
      ASSERT_EQ(T(std::strtod(text.c_str(), nullptr)).bits(), bits) << name << " " << text;
    } else {
      ASSERT_EQ(text.substr(0, 2), "0x");
      ASSERT_EQ(text.size(), 2 + 2 * sizeof(bits));
      ASSERT_EQ(std::strtoul(text.c_str(), nullptr, 16), i);
    }
  }
}

TEST(FloatTextTest, EveryNumberOfTheSmallTypesReadsBack) {
  ExpectAllBitsReadBack<half>("f16");
  ExpectAllBitsReadBack<bfloat16>("bf16");
  ExpectAllBitsReadBack<float8_e5m2>("f8E5M2");
  ExpectAllBitsReadBack<float8_e4m3>("f8E4M3");
  ExpectAllBitsReadBack<float8_e3m4>("f8E3M4");
  ExpectAllBitsReadBack<float8_e4m3fn>("f8E4M3FN");
  ExpectAllBitsReadBack<float8_e4m3fnuz>("f8E4M3FNUZ");
  ExpectAllBitsReadBack<float8_e5m2fnuz>("f8E5M2FNUZ");
  ExpectAllBitsReadBack<float8_e4m3b11fnuz>("f8E4M3B11FNUZ");
  ExpectAllBitsReadBack<float8_e8m0fnu>("f8E8M0FNU");
  ExpectAllBitsReadBack<float6_e2m3fn>("f6E2M3FN");
  ExpectAllBitsReadBack<float6_e3m2fn>("f6E3M2FN");
  ExpectAllBitsReadBack<float4_e2m1fn>("f4E2M1FN");
}

TEST(FloatTextTest, F32AndF64ReadBack) {
  Context c;
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const uint64_t bits = random();
    const auto low = static_cast<uint32_t>(bits);
    if (std::isfinite(absl::bit_cast<float>(low))) {
      const std::string text = BitsText(c.Float("f32"), low);
      const auto read = static_cast<float>(std::strtod(text.c_str(), nullptr));
      ASSERT_EQ(absl::bit_cast<uint32_t>(read), low) << text;
    }
    if (std::isfinite(absl::bit_cast<double>(bits))) {
      const std::string text = BitsText(c.Float("f64"), bits);
      ASSERT_EQ(absl::bit_cast<uint64_t>(std::strtod(text.c_str(), nullptr)), bits) << text;
    }
  }
}

TEST(FloatTextTest, DecimalsAreShortAndHaveADot) {
  Context c;
  const Type f32 = c.Float("f32");
  const Type f64 = c.Float("f64");
  EXPECT_EQ(FloatText(f32, 0.0), "0.0");
  EXPECT_EQ(FloatText(f32, -0.0), "-0.0");
  EXPECT_EQ(FloatText(f32, 1.0), "1.0");
  EXPECT_EQ(FloatText(f32, 0.1), "0.1");
  EXPECT_EQ(FloatText(f64, 0.1), "0.1");
  EXPECT_EQ(FloatText(f32, -2.5), "-2.5");
  EXPECT_EQ(FloatText(f32, 1e20), "1.0e+20");
  EXPECT_EQ(FloatText(f64, 1.5e300), "1.5e+300");
  EXPECT_EQ(FloatText(f32, 1e-45), "1.0e-45");
  EXPECT_EQ(FloatText(c.Float("bf16"), 3.140625), "3.14");
  EXPECT_EQ(FloatText(c.Float("f8E5M2"), 57344), "60000.0");
  EXPECT_EQ(FloatText(c.Float("tf32"), 0.1), "0.1");
}

TEST(FloatTextTest, WhatIsNoNumberIsWrittenAsItsBits) {
  Context c;
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FloatText(c.Float("f32"), infinity), "0x7F800000");
  EXPECT_EQ(FloatText(c.Float("f64"), -infinity), "0xFFF0000000000000");
  EXPECT_EQ(FloatText(c.Float("bf16"), infinity), "0x7F80");
  EXPECT_EQ(BitsText(c.Float("f32"), 0x7fc00000u), "0x7FC00000");
  EXPECT_EQ(BitsText(c.Float("f32"), 0xffa00001u), "0xFFA00001") << "payloads stay";
  EXPECT_EQ(BitsText(c.Float("f8E4M3FN"), uint8_t{0x7f}), "0x7F");
}

TEST(TextTest, StringsEscapeQuotesBackslashesAndWhatIsNotPrintable) {
  std::string text;
  AppendQuoted(absl::string_view("a\"b\\c\n\t\0\xff~", 10), &text);
  EXPECT_EQ(text, "\"a\\22b\\\\c\\0A\\09\\00\\FF~\"");
}

TEST(TextTest, SymbolsAndKeysAreQuotedWhereTheyAreNoIdentifiers) {
  const auto symbol = [](absl::string_view name) {
    std::string text;
    AppendSymbol(name, &text);
    return text;
  };
  EXPECT_EQ(symbol("main"), "@main");
  EXPECT_EQ(symbol("_a.b$1"), "@_a.b$1");
  EXPECT_EQ(symbol("my target"), "@\"my target\"");
  EXPECT_EQ(symbol("1a"), "@\"1a\"");
  EXPECT_EQ(symbol(""), "@\"\"");
  EXPECT_EQ(symbol("a::@b c::@d"), "@a::@\"b c\"::@d");
  std::string key;
  AppendKey("a b", &key);
  EXPECT_EQ(key, "\"a b\"");
}

TEST(AttributeTextTest, AttributesPrintAsTheTextHasThem) {
  Context c;
  const Type f32 = c.Float("f32");
  const std::pair<Attribute, const char*> cases[] = {
      {Attribute(), "<null>"},
      {c.Unit(), "unit"},
      {c.Bool(false), "false"},
      {c.I64(-3), "-3 : i64"},
      {c.Int(200, c.Integer(8, Signedness::kUnsigned)), "200 : ui8"},
      {c.Int(-1, c.Integer(64, Signedness::kUnsigned)), "18446744073709551615 : ui64"},
      {c.Int(4, c.Index()), "4 : index"},
      {c.Float(1.5, f32), "1.5 : f32"},
      {c.Float(1.5, c.Float("f128")), "1.5 : f128"},
      {c.String("x\ny"), "\"x\\0Ay\""},
      {c.TypeAttr(c.Function({f32}, {})), "(f32) -> ()"},
      {c.Symbol("f"), "@f"},
      {c.Array({}), "[]"},
      {c.Array({c.I64(1), c.I32(2), c.Float(0.5, c.Float("f64")), c.Float(0.5, f32)}),
       "[1, 2 : i32, 0.5, 0.5 : f32]"},
      {c.Array({c.Array({c.I64(1)}), c.Dict({{"a", c.I64(1)}})}), "[[1], {a = 1 : i64}]"},
      {c.Dict({}), "{}"},
      {c.Dict({{"b.c", c.Unit()}, {"a-b", c.Bool(true)}}), "{\"a-b\" = true, b.c}"},
      {c.I64Array({}), "array<i64>"},
      {c.I64Array({1, -2}), "array<i64: 1, -2>"},
      {c.DenseArray(c.I1(), {1, 0}), "array<i1: true, false>"},
      {c.DenseFloatArray(f32, {1.0, INFINITY}), "array<f32: 1.0, 0x7F800000>"},
      {c.Enum("stablehlo.precision", "HIGH"), "#stablehlo<precision HIGH>"},
      {c.Enum("stablehlo.result_accuracy_mode", "DEFAULT"),
       "#stablehlo.result_accuracy_mode<DEFAULT>"},
      {c.Opaque("#a.b<c>"), "#a.b<c>"},
      {c.Location("loc(\"x\")"), "loc(\"x\")"},
  };
  for (const auto& [attribute, text] : cases) EXPECT_EQ(attribute.ToString(), text);
}

TEST(AttributeTextTest, StructsPrintTheFieldsThatAreNotTheirDefault) {
  Context c;
  EXPECT_EQ(c.Struct("stablehlo.gather",
                     {{"offset_dims", c.I64Array({1})}, {"index_vector_dim", c.I64(1)}})
                .ToString(),
            "#stablehlo.gather<offset_dims = [1], index_vector_dim = 1>");
  EXPECT_EQ(c.Struct("stablehlo.dot", {}).ToString(), "#stablehlo.dot<>");
  EXPECT_EQ(c.Struct("stablehlo.channel_handle", {{"handle", c.I64(1)}}).ToString(),
            "#stablehlo.channel_handle<handle = 1, type = 0>");
  EXPECT_EQ(c.Struct("stablehlo.result_accuracy",
                     {{"atol", c.Float(1e-5, c.Float("f64"))},
                      {"mode", c.Enum("stablehlo.result_accuracy_mode", "TOLERANCE")}})
                .ToString(),
            "#stablehlo.result_accuracy<atol = 1.0e-05, mode = "
            "#stablehlo.result_accuracy_mode<TOLERANCE>>");
  EXPECT_EQ(c.Struct("other.thing", {{"b", c.I32(1)}, {"a", c.Unit()}}).ToString(),
            "#other.thing<a = unit, b = 1 : i32>");
}

TEST(AttributeTextTest, ConvolutionDimensionsPrintAsLists) {
  Context c;
  std::vector<NamedAttribute> fields = {
      {"input_batch_dimension", c.I64(0)},
      {"input_feature_dimension", c.I64(3)},
      {"input_spatial_dimensions", c.I64Array({1, 2})},
      {"kernel_input_feature_dimension", c.I64(2)},
      {"kernel_output_feature_dimension", c.I64(3)},
      {"kernel_spatial_dimensions", c.I64Array({1, 0})},
      {"output_batch_dimension", c.I64(1)},
      {"output_feature_dimension", c.I64(0)},
      {"output_spatial_dimensions", c.I64Array({2, 3})},
  };
  EXPECT_EQ(c.Struct("stablehlo.conv", fields).ToString(),
            "#stablehlo.conv<[b, 0, 1, f]x[1, 0, i, o]->[f, b, 0, 1]>");
  fields[0].value = c.I64(1);  // the place of spatial dimension 0
  EXPECT_TRUE(absl::StartsWith(c.Struct("stablehlo.conv", fields).ToString(),
                               "#stablehlo.conv<raw input_batch_dimension = 1, "));
}

TEST(DenseTextTest, ConstantsPrintAsNestedLists) {
  Context c;
  const std::pair<Attribute, const char*> cases[] = {
      {c.DenseI64({2, 3}, {1, 2, 3, 4, 5, 6}), "dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>"},
      {c.DenseI64({2, 1, 2}, {1, 2, 3, 4}), "dense<[[[1, 2]], [[3, 4]]]> : tensor<2x1x2xi64>"},
      {c.DenseI64({3}, {7, 7, 7}), "dense<7> : tensor<3xi64>"},
      {c.DenseI64({}, {7}), "dense<7> : tensor<i64>"},
      {c.DenseI64({2, 0}, {}), "dense<> : tensor<2x0xi64>"},
      {c.Dense(c.Tensor({2}, PRED), {1, 0}), "dense<[true, false]> : tensor<2xi1>"},
      {c.Dense(c.Tensor({2}, S4), {-1, 7}), "dense<[-1, 7]> : tensor<2xi4>"},
      {c.Dense(c.Tensor({2}, U8), {-1, 7}), "dense<[255, 7]> : tensor<2xui8>"},
      {c.DenseSplat(c.Tensor({2}, C64), 1.5), "dense<(1.5, 0.0)> : tensor<2xcomplex<f32>>"},
      {c.DenseSplat(c.Tensor({2}, F32), -INFINITY), "dense<0xFF800000> : tensor<2xf32>"},
      {c.DenseStrings(c.Tensor({2}, c.OpaqueType("!tf.string")), {c.String("a"), c.String("b")}),
       "dense<[\"a\", \"b\"]> : tensor<2x!tf.string>"},
      {c.DenseStrings(c.Tensor({2}, c.OpaqueType("!tf.string")), {c.String("a")}),
       "dense<\"a\"> : tensor<2x!tf.string>"},
      {c.Dense(c.Tensor({3}, S8), {}), "dense_resource<__elided__> : tensor<3xi8>"},
  };
  for (const auto& [attribute, text] : cases) EXPECT_EQ(attribute.ToString(), text);
}

TEST(DenseTextTest, LargeConstantsPrintAsHexadecimalBytes) {
  Context c;
  std::vector<char> bytes(101, 0);
  bytes[0] = 1;
  bytes[2] = 1;
  const std::string listed = c.Dense(c.Tensor({101}, PRED), bytes).ToString();
  EXPECT_TRUE(absl::StartsWith(listed, "dense<[true, false, true, "))
      << "readers differ in how they pack booleans: " << listed;
  bytes[1] = -1;
  const std::string i4 = c.Dense(c.Tensor({101}, S4), bytes).ToString();
  EXPECT_TRUE(absl::StartsWith(i4, "dense<\"0x010F0100"))
      << "the bits above the type's are 0: " << i4;
  bytes.resize(202, 0);
  const std::string i16 = c.Dense(c.Tensor({101}, S16), bytes).ToString();
  EXPECT_TRUE(absl::StartsWith(i16, "dense<\"0x01FF0100")) << i16;
  EXPECT_EQ(i16.size(), std::string("dense<\"0x\"> : tensor<101xi16>").size() + 404);
}

TEST(DenseTextTest, ConstantsAboveALimitLoseTheirData) {
  Context c;
  const auto text = [](Attribute attribute, int64_t limit) {
    std::string out;
    AppendAttribute(attribute, TextOptions{limit}, &out);
    return out;
  };
  const Attribute two = c.DenseI64({2}, {1, 2});
  EXPECT_EQ(text(two, 2), "dense<[1, 2]> : tensor<2xi64>");
  EXPECT_EQ(text(two, 1), "dense_resource<__elided__> : tensor<2xi64>");
  EXPECT_EQ(text(two, -1), "dense<[1, 2]> : tensor<2xi64>");
  EXPECT_EQ(text(c.DenseSplatInt(c.Tensor({9}, S64), 3), 1), "dense<3> : tensor<9xi64>")
      << "a splat is short";
  EXPECT_EQ(text(c.Dict({{"a", c.Array({two})}}), 0),
            "{a = [dense_resource<__elided__> : tensor<2xi64>]}");
}

}  // namespace
}  // namespace pjrt::ir
