// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <vector>

#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

class ParserAttributeTest : public ::testing::Test {
 protected:
  Attribute Parse(absl::string_view text) {
    const absl::StatusOr<Attribute> attribute = ParseAttribute(text, &context_);
    EXPECT_TRUE(attribute.ok()) << attribute.status().message();
    return attribute.ok() ? *attribute : context_.Unit();
  }
  std::string ErrorOf(absl::string_view text) {
    const absl::StatusOr<Attribute> attribute = ParseAttribute(text, &context_);
    EXPECT_FALSE(attribute.ok()) << text << " parsed as "
                                 << (attribute.ok() ? attribute->ToString() : "");
    return attribute.ok() ? "" : std::string(attribute.status().message());
  }
  Context context_;
};

using Integers = std::vector<int64_t>;
using ::testing::HasSubstr;

TEST_F(ParserAttributeTest, NumbersWithoutATypeAreI64AndF64) {
  EXPECT_EQ(Parse("3"), context_.I64(3));
  EXPECT_EQ(Parse("-3"), context_.I64(-3));
  EXPECT_EQ(Parse("0xFF"), context_.I64(255));
  EXPECT_EQ(Parse("1.5"), context_.Float(1.5, context_.Float("f64")));
  EXPECT_EQ(Parse("-1.0E+9").AsFloat(), -1e9);
  EXPECT_EQ(Parse("1.").AsFloat(), 1.0);
}

TEST_F(ParserAttributeTest, AFloatNeedsADot) {
  EXPECT_THAT(ErrorOf("1e9"), HasSubstr("<input>:1:2"));
  EXPECT_THAT(ErrorOf("3 : f32"), HasSubstr("a number with a dot"));
  EXPECT_THAT(ErrorOf("1.0 : i32"), HasSubstr("a float type"));
}

TEST_F(ParserAttributeTest, HexadecimalNumbersOfFloatTypesAreBits) {
  EXPECT_TRUE(std::isnan(Parse("0x7FC00000 : f32").AsFloat()));
  EXPECT_EQ(Parse("0x3F800000 : f32").AsFloat(), 1.0);
  EXPECT_EQ(Parse("0x3C00 : f16").AsFloat(), 1.0);
  EXPECT_THAT(ErrorOf("0x10000 : f16"), HasSubstr("at most 16 bits"));
  EXPECT_THAT(ErrorOf("-0x3C00 : f16"), HasSubstr("[PJRT-P012]"));
}

TEST_F(ParserAttributeTest, StablehloAndChloHaveNoOtherAttributesThanTheirs) {
  EXPECT_THAT(ErrorOf("#stablehlo.nothing<3>"),
              HasSubstr("unknown attribute: expected one that the dialect stablehlo has, found "
                        "'stablehlo.nothing'"));
  EXPECT_THAT(ErrorOf("#stablehlo<nothing X>"), HasSubstr("found 'stablehlo.nothing'"));
  EXPECT_THAT(ErrorOf("#chlo<nothing>"), HasSubstr("found 'chlo.nothing'"));
  EXPECT_EQ(Parse("#other.nothing<3>").ToString(), "#other.nothing<3>");
}

TEST_F(ParserAttributeTest, ValuesAreRoundedToTheirType) {
  EXPECT_EQ(Parse("1.1 : f32").AsFloat(), static_cast<double>(1.1f));
  EXPECT_EQ(Parse("1.0e300 : f32").AsFloat(), INFINITY);
  EXPECT_EQ(Parse("257.0 : bf16").AsFloat(), 256.0);
}

TEST_F(ParserAttributeTest, IntegersFitTheirType) {
  EXPECT_EQ(Parse("255 : i8").AsInt(), -1);
  EXPECT_EQ(Parse("-128 : i8").AsInt(), -128);
  EXPECT_EQ(Parse("255 : ui8").AsInt(), 255);
  EXPECT_EQ(Parse("127 : si8").AsInt(), 127);
  EXPECT_EQ(Parse("18446744073709551615 : ui64").AsInt(), -1);
  EXPECT_EQ(Parse("18446744073709551615").AsInt(), -1);
  EXPECT_EQ(Parse("5 : index").type(), context_.Index());
  EXPECT_THAT(ErrorOf("256 : i8"), HasSubstr("-128 to 255 for i8"));
  EXPECT_THAT(ErrorOf("-129 : i8"), HasSubstr("[PJRT-P012]"));
  EXPECT_THAT(ErrorOf("-1 : ui8"), HasSubstr("0 to 255 for ui8"));
  EXPECT_THAT(ErrorOf("128 : si8"), HasSubstr("-128 to 127 for si8"));
  EXPECT_THAT(ErrorOf("18446744073709551616"), HasSubstr("at most 64 bits"));
  EXPECT_THAT(ErrorOf("3 : tensor<f32>"), HasSubstr("an integer, index or float type"));
}

TEST_F(ParserAttributeTest, BooleansAreIntegersOfOneBit) {
  EXPECT_EQ(Parse("true"), context_.Bool(true));
  EXPECT_EQ(Parse("1 : i1"), context_.Bool(true));
  EXPECT_EQ(Parse("0 : i1"), context_.Bool(false));
}

TEST_F(ParserAttributeTest, StringsHaveEscapes) {
  EXPECT_EQ(Parse(R"("a\"b\\c\n\t\22\0A")").AsString(), "a\"b\\c\n\t\"\n");
  EXPECT_EQ(Parse(R"("\08\00\ff")").AsString(), absl::string_view("\x08\0\xff", 3));
  EXPECT_THAT(ErrorOf(R"("\q")"), HasSubstr("unknown escape"));
  EXPECT_THAT(ErrorOf("\"open"), HasSubstr("closing quote"));
  EXPECT_THAT(ErrorOf("\"two\nlines\""), HasSubstr("closing quote"));
}

TEST_F(ParserAttributeTest, SymbolsMayBeQuotedAndNested) {
  EXPECT_EQ(Parse("@main").AsString(), "main");
  EXPECT_EQ(Parse("@SyncTensorsGraph.27").AsString(), "SyncTensorsGraph.27");
  EXPECT_EQ(Parse(R"(@"a b\22")").AsString(), "a b\"");
  EXPECT_EQ(Parse("@a::@b"), context_.Symbol("a::@b"));
}

TEST_F(ParserAttributeTest, ListsAndDictionariesNest) {
  const Attribute list = Parse("[1, [], \"x\", tensor<2xf32>, @f]");
  EXPECT_EQ(list.elements().size(), 5u);
  EXPECT_EQ(list.elements()[3].AsType(), context_.Tensor({2}, context_.Float("f32")));
  const Attribute dict = Parse(R"({b = 1 : i32, a, "c d" = {x = unit}, mhlo.sharding = ""})");
  EXPECT_EQ(dict.Get("b").AsInt(), 1);
  EXPECT_TRUE(dict.Get("a").Is(AttrKind::kUnit));
  EXPECT_TRUE(dict.Get("c d").Get("x").Is(AttrKind::kUnit));
  EXPECT_EQ(dict, Parse(R"({mhlo.sharding = "", "c d" = {x}, "a", b = 1 : i32})"));
}

TEST_F(ParserAttributeTest, AKeyStandsOnce) {
  EXPECT_THAT(ErrorOf("{a = 1, a = 2}"), HasSubstr("[PJRT-P015] <input>:1:9"));
  std::string many = "{";
  for (int i = 0; i < 40; ++i) absl::StrAppend(&many, "k", i, " = ", i, ", ");
  EXPECT_THAT(ErrorOf(many + "\"k33\" = 0}"), HasSubstr("[PJRT-P015]"));
  EXPECT_EQ(Parse(many + "k40}").entries().size(), 41u);
}

TEST_F(ParserAttributeTest, DenseArrays) {
  EXPECT_EQ(Parse("array<i64: 1, -2>").ints(), Integers({1, -2}));
  EXPECT_EQ(Parse("array<i64>").ints(), Integers({}));
  EXPECT_EQ(Parse("array<i1: true, false>").ints(), Integers({1, 0}));
  EXPECT_EQ(Parse("array<i8: 255>").ints(), Integers({-1}));
  EXPECT_EQ(Parse("array<f32: 1.0, 0x7F800000, -2.5>").floats(),
            (std::vector<double>{1.0, INFINITY, -2.5}));
  EXPECT_THAT(ErrorOf("array<i64: 1,>"), HasSubstr("an integer"));
  EXPECT_THAT(ErrorOf("array<f32: 1>"), HasSubstr("a number with a dot"));
  EXPECT_THAT(ErrorOf("array<tensor<2xf32>: 1>"), HasSubstr("malformed array"));
  EXPECT_THAT(ErrorOf("array<i8: 300>"), HasSubstr("-128 to 255"));
}

TEST_F(ParserAttributeTest, EnumsHaveTwoSpellings) {
  const Attribute high = Parse("#stablehlo<precision HIGH>");
  EXPECT_TRUE(high.Is(AttrKind::kEnum));
  EXPECT_EQ(high.name(), "stablehlo.precision");
  EXPECT_EQ(high.enum_value(), "HIGH");
  EXPECT_EQ(Parse("#stablehlo.precision<HIGH>"), high);
  EXPECT_EQ(Parse("#chlo<precision HIGH>").name(), "chlo.precision");
  EXPECT_THAT(ErrorOf("#stablehlo<precision LOW>"),
              HasSubstr("one of DEFAULT, HIGH, HIGHEST, found 'LOW'"));
}

TEST_F(ParserAttributeTest, StructsHaveTwoSpellingsAndAllTheirFields) {
  const Attribute gather = Parse("#stablehlo.gather<start_index_map = [0], offset_dims = [1, 2]>");
  EXPECT_TRUE(gather.Is(AttrKind::kStruct));
  EXPECT_EQ(gather.name(), "stablehlo.gather");
  EXPECT_EQ(gather.entries().size(), 6u);
  EXPECT_EQ(gather.Get("offset_dims").ints(), Integers({1, 2}));
  EXPECT_EQ(gather.Get("collapsed_slice_dims").ints(), Integers({}));
  EXPECT_EQ(gather.Get("index_vector_dim").AsInt(), 0);
  EXPECT_EQ(Parse("#stablehlo<gather<offset_dims = [1, 2], start_index_map = [0]>>"), gather);
  EXPECT_EQ(
      Parse(
          "#stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 0,>"),
      gather);
  EXPECT_EQ(Parse("#stablehlo.channel_handle<handle = 1, type = 2>").Get("type").AsInt(), 2);
  EXPECT_EQ(
      Parse("#chlo.ragged_dot<lhs_ragged_dimensions = [1]>").Get("lhs_ragged_dimensions").ints(),
      Integers({1}));
}

TEST_F(ParserAttributeTest, FieldsAreKnownAndGivenOnce) {
  EXPECT_THAT(ErrorOf("#stablehlo.dot<foo = [0]>"),
              HasSubstr("[PJRT-P014] <input>:1:16: unknown field"));
  EXPECT_THAT(ErrorOf("#stablehlo.gather<index_vector_dim = 0, index_vector_dim = 0>"),
              HasSubstr("[PJRT-P015]"));
  EXPECT_THAT(ErrorOf("#stablehlo.gather<offset_dims = 0>"), HasSubstr("a list of integers"));
  EXPECT_THAT(ErrorOf("#stablehlo.dot_algorithm<lhs_precision_type = f32>"),
              HasSubstr("expected 'rhs_precision_type'"));
}

TEST_F(ParserAttributeTest, ResultAccuracyHasDefaults) {
  const Attribute accuracy = Parse(
      "#stablehlo.result_accuracy<atol = 1.0e-5, mode = "
      "#stablehlo.result_accuracy_mode<TOLERANCE>>");
  EXPECT_EQ(accuracy.Get("atol").AsFloat(), 1e-5);
  EXPECT_EQ(accuracy.Get("rtol").AsFloat(), 0.0);
  EXPECT_EQ(accuracy.Get("ulps").AsInt(), 0);
  EXPECT_EQ(accuracy.Get("mode").enum_value(), "TOLERANCE");
}

TEST_F(ParserAttributeTest, ConvolutionDimensionsHaveALetterAndARawForm) {
  const Attribute conv = Parse("#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0]>");
  EXPECT_EQ(conv.Get("input_batch_dimension").AsInt(), 0);
  EXPECT_EQ(conv.Get("input_feature_dimension").AsInt(), 3);
  EXPECT_EQ(conv.Get("kernel_spatial_dimensions").ints(), Integers({0, 1}));
  EXPECT_EQ(conv.Get("output_spatial_dimensions").ints(), Integers({3, 2}));
  EXPECT_EQ(conv, Parse("#stablehlo.conv<raw input_feature_dimension = 3, input_spatial_dimensions "
                        "= [1, 2], kernel_input_feature_dimension = 2, "
                        "kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], "
                        "output_feature_dimension = 1, "
                        "output_spatial_dimensions = [3, 2]>"));
  EXPECT_EQ(Parse("#stablehlo.conv<[b, f]x[i, o]->[b, f]>").Get("input_spatial_dimensions").ints(),
            Integers({}));
  EXPECT_THAT(ErrorOf("#stablehlo.conv<[c, 0, f]x[0, i, o]->[b, 0, f]>"),
              HasSubstr("unknown dimension"));
  EXPECT_THAT(ErrorOf("#stablehlo.conv<[b, 0]x[0, i, o]->[b, 0, f]>"),
              HasSubstr("a dimension is missing: expected 'f'"));
  EXPECT_THAT(ErrorOf("#stablehlo.conv<[b, b, f]x[0, i, o]->[b, 0, f]>"), HasSubstr("given twice"));
  EXPECT_THAT(ErrorOf("#stablehlo.conv<[b, 1, f]x[0, i, o]->[b, 0, f]>"),
              HasSubstr("gaps or repeat"));
}

TEST_F(ParserAttributeTest, UnknownDialectsAttributesAreKeptAsText) {
  for (const char* text :
       {R"(#sdy.sharding<@mesh, [{"x", "y":(1)2, ?}p1, {}], replicated={"z"}>)",
        "#sdy.op_sharding_rule<([i, j], [k])->([i, k]) {i=4, j=2, k=8}>", "#foo.bar", "#foo<bar>",
        "#vhlo.integer_v1<1 : i64>", "affine_map<(d0, d1) -> (d1, d0)>", "strided<[1], offset: ?>",
        "distinct[0]<42 : i32>", "sparse<[[0, 0]], [1]> : tensor<2x2xi32>"}) {
    EXPECT_TRUE(Parse(text).Is(AttrKind::kOpaque)) << text;
    EXPECT_EQ(Parse(text).text(), text);
  }
  EXPECT_EQ(Parse("#foo.bar<a // >>\n>").text(), "#foo.bar<a // >>\n>");
}

TEST_F(ParserAttributeTest, BracketsOfUnknownAttributesMatch) {
  EXPECT_THAT(
      ErrorOf("#foo.bar<(]>"),
      HasSubstr("[PJRT-P008] <input>:1:11: brackets do not match: expected ')', found ']'"));
  EXPECT_THAT(ErrorOf("#foo.bar<(a)"), HasSubstr("never closed: expected '>'"));
}

TEST_F(ParserAttributeTest, TypesAreAttributesToo) {
  EXPECT_EQ(Parse("i32").AsType(), context_.Integer(32));
  EXPECT_EQ(Parse("(i32) -> i32").AsType().inputs().size(), 1u);
  EXPECT_EQ(Parse("!stablehlo.token").AsType(), context_.Token());
}

}  // namespace
}  // namespace pjrt::ir
