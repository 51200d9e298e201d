// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <complex>
#include <vector>

#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

using ::testing::HasSubstr;

class ParserDenseTest : public ::testing::Test {
 protected:
  Attribute Parse(absl::string_view text) {
    const absl::StatusOr<Attribute> attribute = ParseAttribute(text, &context_);
    EXPECT_TRUE(attribute.ok()) << attribute.status().message();
    return attribute.ok() ? *attribute : context_.Unit();
  }
  std::string ErrorOf(absl::string_view text) {
    const absl::StatusOr<Attribute> attribute = ParseAttribute(text, &context_);
    EXPECT_FALSE(attribute.ok()) << text << " parsed";
    return attribute.ok() ? "" : std::string(attribute.status().message());
  }
  template <typename T>
  std::vector<T> Values(absl::string_view text) {
    const Attribute attribute = Parse(text);
    const absl::Span<const char> bytes = attribute.raw_data();
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
  Context context_;
};

TEST_F(ParserDenseTest, OneElementIsASplat) {
  const Attribute splat = Parse("dense<1.5> : tensor<2x3xf32>");
  EXPECT_TRUE(splat.IsSplat());
  EXPECT_EQ(splat.type(), context_.Tensor({2, 3}, context_.Float("f32")));
  EXPECT_EQ(Values<float>("dense<1.5> : tensor<2x3xf32>"), std::vector<float>{1.5f});
  EXPECT_EQ(Values<float>("dense<1.5> : tensor<f32>"), std::vector<float>{1.5f});
  EXPECT_EQ(Values<float>("dense<1.5> : tensor<99999999999x99999999999x99xf32>"),
            std::vector<float>{1.5f});
}

TEST_F(ParserDenseTest, ListsFollowTheDimensions) {
  EXPECT_EQ(Values<int32_t>("dense<[[1, -2, 0x10], [4, 5, 6]]> : tensor<2x3xi32>"),
            (std::vector<int32_t>{1, -2, 16, 4, 5, 6}));
  EXPECT_EQ(Values<int32_t>("dense<[ [ 1 ] , // one\n [ 2 ] ]> : tensor<2x1xi32>"),
            (std::vector<int32_t>{1, 2}));
  EXPECT_THAT(ErrorOf("dense<[1, 2]> : tensor<3xi32>"),
              HasSubstr("3 items for dimension 0, found 2"));
  EXPECT_THAT(ErrorOf("dense<[1, 2, 3, 4]> : tensor<3xi32>"),
              HasSubstr("3 items for dimension 0, found more"));
  EXPECT_THAT(ErrorOf("dense<[[1], [2, 3]]> : tensor<2x1xi32>"),
              HasSubstr("1 items for dimension 1"));
  EXPECT_THAT(ErrorOf("dense<[1, 2]> : tensor<2x1xi32>"), HasSubstr("'[' at level 2 of 2"));
  EXPECT_THAT(ErrorOf("dense<[[1, 2]]> : tensor<2xi32>"), HasSubstr("nested deeper"));
  EXPECT_THAT(ErrorOf("dense<[1]> : tensor<i32>"), HasSubstr("nested deeper"));
  EXPECT_THAT(ErrorOf("dense<[1, 2> : tensor<2xi32>"), HasSubstr("',' or ']'"));
  EXPECT_THAT(ErrorOf("dense<1, 2> : tensor<2xi32>"), HasSubstr("'>' behind the elements"));
}

TEST_F(ParserDenseTest, NothingStandsForTensorsWithoutElements) {
  for (const char* text :
       {"dense<> : tensor<0xf32>", "dense<> : tensor<2x0xf32>", "dense<[]> : tensor<0xf32>",
        "dense<[[], []]> : tensor<2x0xf32>", "dense<1.0> : tensor<0xf32>"}) {
    EXPECT_EQ(Parse(text).raw_data().size(), 0u) << text;
  }
  EXPECT_THAT(ErrorOf("dense<> : tensor<1xf32>"), HasSubstr("a constant has no elements"));
  EXPECT_THAT(ErrorOf("dense<[]> : tensor<1xf32>"), HasSubstr("1 items for dimension 0, found 0"));
}

TEST_F(ParserDenseTest, BooleansAreWordsOrNumbers) {
  EXPECT_EQ(Values<uint8_t>("dense<[true, false, 1, 0]> : tensor<4xi1>"),
            (std::vector<uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(Values<int16_t>("dense<[true, false]> : tensor<2xi16>"), (std::vector<int16_t>{1, 0}));
  EXPECT_THAT(ErrorOf("dense<truth> : tensor<i1>"), HasSubstr("an integer, found 'truth'"));
}

TEST_F(ParserDenseTest, IntegersFitTheirType) {
  EXPECT_EQ(Values<int8_t>("dense<[255, -128, 127]> : tensor<3xi8>"),
            (std::vector<int8_t>{-1, -128, 127}));
  EXPECT_EQ(Values<int8_t>("dense<[7, -8, 15]> : tensor<3xi4>"), (std::vector<int8_t>{7, -8, -1}));
  EXPECT_EQ(Values<uint8_t>("dense<[7, 15]> : tensor<2xui4>"), (std::vector<uint8_t>{7, 15}));
  EXPECT_EQ(Values<uint64_t>("dense<[18446744073709551615, 0]> : tensor<2xui64>"),
            (std::vector<uint64_t>{UINT64_MAX, 0}));
  EXPECT_EQ(Values<int64_t>("dense<[1, 0]> : tensor<2xindex>"), (std::vector<int64_t>{1, 0}));
  EXPECT_THAT(ErrorOf("dense<256> : tensor<i8>"), HasSubstr("[PJRT-P012] <input>:1:7"));
  EXPECT_THAT(ErrorOf("dense<[0, -1]> : tensor<2xui8>"), HasSubstr("[PJRT-P012] <input>:1:11"));
  EXPECT_THAT(ErrorOf("dense<1.0> : tensor<i32>"), HasSubstr("is no integer"));
}

TEST_F(ParserDenseTest, FloatsNeedADotOrAreBits) {
  EXPECT_EQ(Values<float>("dense<[1.0, -2.5e-3, 0x7F800000, 3.]> : tensor<4xf32>"),
            (std::vector<float>{1.0f, -2.5e-3f, INFINITY, 3.0f}));
  EXPECT_EQ(Values<uint32_t>("dense<[0x7FC00001, 0x00000001]> : tensor<2xf32>"),
            (std::vector<uint32_t>{0x7FC00001, 1}));
  EXPECT_EQ(Values<uint8_t>("dense<[0x7F, 1.0]> : tensor<2xf8E4M3FN>"),
            (std::vector<uint8_t>{0x7F, 0x38}));
  EXPECT_THAT(ErrorOf("dense<3> : tensor<2xf32>"), HasSubstr("a number with a dot"));
  EXPECT_THAT(ErrorOf("dense<-0x7F800000> : tensor<f32>"), HasSubstr("a sign of its own"));
  EXPECT_THAT(ErrorOf("dense<0x17F800000> : tensor<f32>"), HasSubstr("at most 32 bits"));
  EXPECT_THAT(ErrorOf("dense<1.0e> : tensor<f32>"), HasSubstr("malformed element"));
}

TEST_F(ParserDenseTest, DecimalsAreReadAsDoublesAndRoundedOnceMore) {
  // Halfway between two floats to double precision, a little above it in decimal: the double drops
  // the difference.
  EXPECT_EQ(Values<float>("dense<1.000000059604644775390625000000001> : tensor<f32>"),
            std::vector<float>{1.0f});
  EXPECT_EQ(Values<double>("dense<0.1> : tensor<f64>"), std::vector<double>{0.1});
  EXPECT_EQ(Values<float>("dense<1.0e40> : tensor<f32>"), std::vector<float>{INFINITY});
  EXPECT_EQ(Values<double>("dense<-1.0e400> : tensor<f64>"), std::vector<double>{-INFINITY});
  EXPECT_EQ(Values<uint16_t>("dense<65520.0> : tensor<f16>"), std::vector<uint16_t>{0x7C00});
  EXPECT_EQ(Values<uint16_t>("dense<1.00390625> : tensor<bf16>"), std::vector<uint16_t>{0x3F80});
}

TEST_F(ParserDenseTest, ComplexNumbersArePairs) {
  using C = std::complex<float>;
  EXPECT_EQ(Values<C>("dense<[(1.0, -2.0), (0x7F800000,0.5)]> : tensor<2xcomplex<f32>>"),
            (std::vector<C>{{1, -2}, {INFINITY, 0.5}}));
  EXPECT_TRUE(Parse("dense<(1.0, 2.0)> : tensor<3xcomplex<f64>>").IsSplat());
  EXPECT_THAT(ErrorOf("dense<1.0> : tensor<complex<f32>>"),
              HasSubstr("malformed complex number: expected '('"));
  EXPECT_THAT(ErrorOf("dense<(1.0)> : tensor<complex<f32>>"), HasSubstr("expected ','"));
}

TEST_F(ParserDenseTest, BytesAreLittleEndian) {
  EXPECT_EQ(Values<float>(R"(dense<"0x0000803F00000040"> : tensor<2xf32>)"),
            (std::vector<float>{1.0f, 2.0f}));
  EXPECT_EQ(Values<int8_t>(R"(dense<"0x0001020F"> : tensor<4xi4>)"),
            (std::vector<int8_t>{0, 1, 2, -1}));
  EXPECT_EQ(Values<std::complex<float>>(R"(dense<"0x0000803F00000040"> : tensor<1xcomplex<f32>>)"),
            (std::vector<std::complex<float>>{{1.0f, 2.0f}}));
}

TEST_F(ParserDenseTest, BytesOfOneElementAreASplat) {
  const Attribute splat = Parse(R"(dense<"0x0000803F"> : tensor<4xf32>)");
  EXPECT_TRUE(splat.IsSplat());
  EXPECT_EQ(splat, Parse("dense<1.0> : tensor<4xf32>"));
}

TEST_F(ParserDenseTest, BooleansArePackedFromTheLowestBit) {
  EXPECT_EQ(Values<uint8_t>(R"(dense<"0x05"> : tensor<4xi1>)"), (std::vector<uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(Values<uint8_t>(R"(dense<"0x0102"> : tensor<10xi1>)"),
            (std::vector<uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(Parse(R"(dense<"0xFF"> : tensor<100xi1>)"), Parse("dense<true> : tensor<100xi1>"));
  EXPECT_THAT(ErrorOf(R"(dense<"0x0100"> : tensor<4xi1>)"),
              HasSubstr("1 bytes of packed bits or 4 bytes for tensor<4xi1>, found 2 bytes"));
}

TEST_F(ParserDenseTest, BooleansMayHaveAByteEach) {
  EXPECT_EQ(Values<uint8_t>(R"(dense<"0x01000001FF"> : tensor<5xi1>)"),
            (std::vector<uint8_t>{1, 0, 0, 1, 1}));
  EXPECT_EQ(Parse(R"(dense<"0x000100010000000100"> : tensor<9xi1>)"),
            Parse("dense<[false, true, false, true, false, false, false, true, false]> : "
                  "tensor<9xi1>"));
  EXPECT_EQ(Values<uint8_t>(R"(dense<"0x01"> : tensor<1xi1>)"), (std::vector<uint8_t>{1}));
  EXPECT_EQ(Parse(R"(dense<"0x01"> : tensor<100xi1>)"), Parse("dense<true> : tensor<100xi1>"));
}

TEST_F(ParserDenseTest, BytesFitTheType) {
  EXPECT_THAT(ErrorOf(R"(dense<"0x0000803F00"> : tensor<4xf32>)"),
              HasSubstr("4 elements of 4 bytes for tensor<4xf32>, found 5 bytes"));
  EXPECT_THAT(ErrorOf(R"(dense<"0x0000803F0"> : tensor<4xf32>)"), HasSubstr("an even number"));
  EXPECT_THAT(ErrorOf(R"(dense<"0x0000XX3F"> : tensor<4xf32>)"),
              HasSubstr("<input>:1:14: malformed bytes"));
  EXPECT_THAT(ErrorOf(R"(dense<"zero"> : tensor<4xf32>)"), HasSubstr("0x and an even number"));
}

TEST_F(ParserDenseTest, AMillionBytesAreReadAtOnce) {
  std::string text = "dense<\"0x";
  for (int i = 0; i < 1 << 18; ++i)
    absl::StrAppend(&text, absl::Hex(i % 256, absl::kZeroPad2), "000000");
  absl::StrAppend(&text, "\"> : tensor<", 1 << 18, "xi32>");
  const std::vector<int32_t> values = Values<int32_t>(text);
  ASSERT_EQ(values.size(), size_t{1} << 18);
  EXPECT_EQ(values[1000], 1000 % 256);
}

TEST_F(ParserDenseTest, StringsOfOtherDialects) {
  const Attribute list = Parse(R"(dense<["a", "b>c"]> : tensor<2x!foo.str>)");
  ASSERT_EQ(list.string_elements().size(), 2u);
  EXPECT_EQ(list.string_elements()[1].AsString(), "b>c");
  EXPECT_TRUE(Parse(R"(dense<"one"> : tensor<2x!foo.str>)").IsSplat());
  EXPECT_THAT(ErrorOf(R"(dense<["a"]> : tensor<2x!foo.str>)"), HasSubstr("2 items"));
}

TEST_F(ParserDenseTest, TheTypeIsAStaticTensorOfNumbers) {
  EXPECT_THAT(ErrorOf("dense<1> : tensor<?xi32>"), HasSubstr("static dimensions"));
  EXPECT_THAT(ErrorOf("dense<1> : i32"), HasSubstr("a tensor type"));
  EXPECT_THAT(ErrorOf("dense<1.0> : tensor<2xf80>"), HasSubstr("no constants of this type"));
  EXPECT_THAT(ErrorOf("dense<1.0>"), HasSubstr("':' and the type of the constant"));
  EXPECT_THAT(ErrorOf("dense<[1.0, 2.0"), HasSubstr("[PJRT-P008]"));
}

TEST_F(ParserDenseTest, QuantizedConstantsHoldStoredValues) {
  EXPECT_EQ(Values<int8_t>("dense<[1, -2]> : tensor<2x!quant.uniform<i8:f32, 0.5>>"),
            (std::vector<int8_t>{1, -2}));
}

TEST(ParserResourceTest, DataComesFromTheEndOfTheText) {
  const auto module = MustParse(R"(
      func.func @main() {
        %0 = stablehlo.constant dense_resource<one> : tensor<2xf32>
        %1 = stablehlo.constant dense_resource<"a key"> : tensor<2xi1>
        %2 = stablehlo.constant dense_resource<packed> : tensor<10xi1>
        return
      }
      {-#
        dialect_resources: {
          builtin: {
            one: "0x040000000000803F00000040",
            "a key": "0x010000000100",
            packed: "0x010000000102"
          }
        },
        external_resources: { mlir_reproducer: { verify_each: true, pipeline: "x" } }
      #-})");
  ASSERT_NE(module, nullptr);
  const Op* op = FirstOp(*module);
  float floats[2];
  ASSERT_EQ(op->attr("value").raw_data().size(), sizeof(floats));
  std::memcpy(floats, op->attr("value").raw_data().data(), sizeof(floats));
  EXPECT_EQ(floats[1], 2.0f);
  op = op->next();
  EXPECT_EQ(op->attr("value").raw_data(), (std::vector<char>{1, 0}));
  op = op->next();
  EXPECT_EQ(op->attr("value").raw_data(), (std::vector<char>{1, 0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(ParserResourceTest, AConstantWithoutDataKeepsItsText) {
  const auto module = MustParse(
      "func.func @main() {\n%0 = stablehlo.constant dense_resource<__elided__> : "
      "tensor<4xf32>\nreturn\n}");
  ASSERT_NE(module, nullptr);
  const Op* op = FirstOp(*module);
  EXPECT_TRUE(op->attr("value").Is(AttrKind::kOpaque));
  EXPECT_EQ(op->attr("value").text(), "dense_resource<__elided__> : tensor<4xf32>");
  EXPECT_EQ(op->result_type().ToString(), "tensor<4xf32>");
}

TEST(ParserResourceTest, MalformedResourcesAreErrors) {
  const auto text = [](absl::string_view blob) {
    return absl::StrCat(
        "\"a.b\"() {v = dense_resource<k> : tensor<1xf32>} : () -> ()\n{-# dialect_resources: { "
        "builtin: { k: ",
        blob, " } } #-}");
  };
  ExpectErrorAt(text("\"0x04\""), "P017", 2, 40, "the first eight tell the alignment");
  ExpectErrorAt(text("\"0x040000000000\""), "P013", 2, 40, "1 elements of 4 bytes");
  ExpectErrorAt(text("["), "P001", 2, 40, "the value of a resource");
  ExpectErrorAt("{-# dialect_resources: { builtin: {", "P001", 1, 36,
                "the key of a resource, found the end of the text");
}

TEST(ParserResourceTest, ConstantsHaveALimit) {
  ParseOptions options;
  options.max_constant_bytes = 16;
  EXPECT_TRUE(
      ParseModule("\"a.b\"() {v = dense<[1, 2, 3, 4]> : tensor<4xi32>} : () -> ()", options).ok());
  EXPECT_THAT(
      ParseErrorOf("\"a.b\"() {v = dense<[1, 2, 3, 4, 5]> : tensor<5xi32>} : () -> ()", options),
      HasSubstr("[PJRT-P018]"));
  EXPECT_TRUE(
      ParseModule("\"a.b\"() {v = dense<1> : tensor<4000000000xi32>} : () -> ()", options).ok());
}

}  // namespace
}  // namespace pjrt::ir
