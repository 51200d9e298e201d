// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

class ParserTypeTest : public ::testing::Test {
 protected:
  Type Parse(absl::string_view text) {
    const absl::StatusOr<Type> type = ParseType(text, &context_);
    EXPECT_TRUE(type.ok()) << type.status().message();
    return type.ok() ? *type : Type();
  }
  std::string ErrorOf(absl::string_view text) {
    const absl::StatusOr<Type> type = ParseType(text, &context_);
    EXPECT_FALSE(type.ok()) << text << " parsed";
    return type.ok() ? "" : std::string(type.status().message());
  }
  Context context_;
};

using Dims = std::vector<int64_t>;

TEST_F(ParserTypeTest, NamesOfScalarTypes) {
  EXPECT_EQ(Parse("i32"), context_.Integer(32));
  EXPECT_EQ(Parse("si8"), context_.Integer(8, Signedness::kSigned));
  EXPECT_EQ(Parse("ui64"), context_.Integer(64, Signedness::kUnsigned));
  EXPECT_EQ(Parse("i3"), context_.Integer(3));
  EXPECT_EQ(Parse("index"), context_.Index());
  EXPECT_EQ(Parse("none"), context_.None());
  EXPECT_EQ(Parse("complex<f64>"), context_.Complex(context_.Float("f64")));
  for (const char* name : {"f16", "bf16", "f32", "f64", "tf32", "f80", "f128", "f4E2M1FN",
                           "f6E2M3FN", "f6E3M2FN", "f8E3M4", "f8E4M3", "f8E4M3FN", "f8E4M3FNUZ",
                           "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"}) {
    EXPECT_EQ(Parse(name), context_.Float(name)) << name;
  }
}

TEST_F(ParserTypeTest, IntegersHaveAtMost64Bits) {
  EXPECT_THAT(ErrorOf("i65"), ::testing::HasSubstr("[PJRT-P011]"));
  EXPECT_THAT(ErrorOf("i0"), ::testing::HasSubstr("a width from 1 to 64"));
}

TEST_F(ParserTypeTest, ADimensionListIsNoHexadecimalNumber) {
  EXPECT_EQ(Parse("tensor<0x4xf32>").dims(), Dims({0, 4}));
  EXPECT_EQ(Parse("tensor<0x0xf32>").dims(), Dims({0, 0}));
}

TEST_F(ParserTypeTest, DimensionsMayBeDynamicAndApart) {
  EXPECT_EQ(Parse("tensor<?x4x?xf32>").dims(), Dims({kDynamic, 4, kDynamic}));
  EXPECT_EQ(Parse("tensor< 2 x 3 x f32 >"), Parse("tensor<2x3xf32>"));
  EXPECT_EQ(Parse("tensor<2 // two\n x f32>"), Parse("tensor<2xf32>"));
  EXPECT_EQ(Parse("tensor<f32>").rank(), 0);
  EXPECT_EQ(Parse("tensor<9223372036854775807xi1>").dim(0), INT64_MAX);
}

TEST_F(ParserTypeTest, UnrankedTensorsVectorsAndMemrefs) {
  EXPECT_EQ(Parse("tensor<*xf32>"), context_.UnrankedTensor(context_.Float("f32")));
  EXPECT_EQ(Parse("vector<4xf32>"), context_.Vector({4}, context_.Float("f32")));
  EXPECT_EQ(Parse("memref<2x?xf32>"), context_.MemRef({2, kDynamic}, context_.Float("f32")));
  EXPECT_EQ(Parse("memref<2xf32, strided<[1]>, 1>").encoding().text(), "strided<[1]>, 1");
}

TEST_F(ParserTypeTest, TuplesFunctionsTokensFutures) {
  EXPECT_EQ(Parse("tuple<>"), context_.Tuple({}));
  EXPECT_EQ(Parse("tuple<tensor<2xf32>, tuple<i1>>").elements()[1].elements()[0], context_.I1());
  const Type function = Parse("(i32, f32) -> (f32, i32)");
  EXPECT_EQ(function.inputs().size(), 2u);
  EXPECT_EQ(function.results()[1], context_.Integer(32));
  EXPECT_EQ(Parse("() -> ()"), context_.Function({}, {}));
  EXPECT_EQ(Parse("() -> i32"), Parse("() -> (i32)"));
  EXPECT_EQ(Parse("!stablehlo.token"), context_.Token());
  EXPECT_EQ(Parse("!stablehlo.future<tensor<2xf32>, !stablehlo.token>").elements().size(), 2u);
}

TEST_F(ParserTypeTest, AFutureIsOfValues) {
  for (const absl::string_view element :
       {"tensor<?x2xf32>", "tensor<2x!quant.uniform<i8:f32, 1.0>>", "!stablehlo.token",
        "memref<2xi32>", "!foo.bar"}) {
    EXPECT_EQ(Parse(absl::StrCat("!stablehlo.future<", element, ">")).elements()[0],
              Parse(element));
  }
  for (const absl::string_view element :
       {"", "i32", "index", "complex<f32>", "tuple<tensor<2xf32>>", "tensor<*xi32>", "() -> ()",
        "vector<2xf32>", "!stablehlo.future<tensor<2xf32>>"}) {
    EXPECT_THAT(ErrorOf(absl::StrCat("!stablehlo.future<", element, ">")),
                ::testing::HasSubstr("[PJRT-P011]"))
        << element;
  }
}

TEST_F(ParserTypeTest, BoundsHaveThreeSpellings) {
  const Type type = Parse("tensor<?x3x?xf32, #stablehlo.bounds<5, ?, ?>>");
  EXPECT_EQ(type.bounds(), Dims({5, kDynamic, kDynamic}));
  EXPECT_FALSE(type.encoding());
  EXPECT_EQ(Parse("tensor<?x3x?xf32, #stablehlo.type_extensions<bounds = [5, ?, ?]>>"), type);
  EXPECT_EQ(Parse("tensor<?x3x?xf32, #mhlo.type_extensions<bounds = [5, ?, ?]>>"), type);
  EXPECT_EQ(Parse("tensor<f32, #stablehlo.bounds<>>"), Parse("tensor<f32>"));
}

TEST_F(ParserTypeTest, BoundsAreOneForEachDynamicDimension) {
  EXPECT_THAT(ErrorOf("tensor<?x?xf32, #stablehlo.bounds<5>>"),
              ::testing::HasSubstr("one entry for each of 2 dimensions"));
  EXPECT_THAT(ErrorOf("tensor<4xf32, #stablehlo.bounds<5>>"),
              ::testing::HasSubstr("dimension 0, which is static"));
  EXPECT_THAT(ErrorOf("tensor<4xf32, #stablehlo.bounds<-1>>"),
              ::testing::HasSubstr("dimension 0, which is static"));
}

TEST_F(ParserTypeTest, ABoundMayBeNegative) {
  const Type type = Parse("tensor<?x?xf32, #stablehlo.type_extensions<bounds = [3, -1]>>");
  EXPECT_EQ(type.bounds(), Dims({3, -1}));
  EXPECT_EQ(type.ToString(), "tensor<?x?xf32, #stablehlo.bounds<3, -1>>");
  EXPECT_EQ(Parse("tensor<?x?xf32, #stablehlo.bounds<3, -1>>"), type);
  // This number stands for no bound.
  EXPECT_EQ(Parse("tensor<?x?xf32, #stablehlo.bounds<3, -9223372036854775808>>"),
            Parse("tensor<?x?xf32, #stablehlo.bounds<3, ?>>"));
  EXPECT_THAT(ErrorOf("tensor<?xf32, #stablehlo.bounds<-9223372036854775809>>"),
              ::testing::HasSubstr("[PJRT-P012]"));
}

TEST_F(ParserTypeTest, OtherEncodingsAreKept) {
  const Type type = Parse(
      "tensor<4x5xf32, #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) "
      "}>>");
  EXPECT_EQ(type.encoding().text(),
            "#sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : dense, d1 : compressed) }>");
}

TEST_F(ParserTypeTest, UnknownDialectsTypesAreKeptAsText) {
  EXPECT_EQ(Parse("!foo.bar<i32, (i32) -> i32, \"a>b\", [x]>").opaque_text().substr(0, 8),
            "!foo.bar");
  EXPECT_EQ(Parse("!foo.bar").opaque_text(), "!foo.bar");
  EXPECT_EQ(Parse("!foo<bar>").opaque_text(), "!foo<bar>");
  EXPECT_THAT(ErrorOf("!stablehlo.foobar"), ::testing::HasSubstr("unknown type"));
}

TEST_F(ParserTypeTest, QuantizedPerTensor) {
  const QuantizedParams& q = Parse("!quant.uniform<i8:f32, 2.0:15>").quantized();
  EXPECT_EQ(q.storage_type, context_.Integer(8));
  EXPECT_EQ(q.expressed_type, context_.Float("f32"));
  EXPECT_EQ(q.storage_min, -128);
  EXPECT_EQ(q.storage_max, 127);
  EXPECT_TRUE(q.IsPerTensor());
  EXPECT_EQ(q.scales[0], 2.0);
  EXPECT_EQ(q.zero_points[0], 15);
  EXPECT_EQ(Parse("!quant.uniform<i8:f32, 2.0>").quantized().zero_points[0], 0);
}

TEST_F(ParserTypeTest, QuantizedStorageHasSeveralNamesAndARange) {
  EXPECT_EQ(Parse("!quant.uniform<u8:f32, 2.0>"), Parse("!quant.uniform<ui8:f32, 2.0>"));
  EXPECT_EQ(Parse("!quant.uniform<u8:f32, 2.0>").quantized().storage_max, 255);
  EXPECT_EQ(Parse("!quant.uniform<si8:f32, 2.0>"), Parse("!quant.uniform<i8:f32, 2.0>"));
  EXPECT_EQ(Parse("!quant.uniform<i8<-128:127>:f32, 2.0>"), Parse("!quant.uniform<i8:f32, 2.0>"));
  EXPECT_EQ(Parse("!quant.uniform<i8<-127:127>:f32, 2.0:-1>").quantized().storage_min, -127);
}

TEST_F(ParserTypeTest, QuantizedPerAxisAndPerBlock) {
  const QuantizedParams& axis =
      Parse("tensor<4x2x!quant.uniform<i8:f32:1, {2.0:15, 3.0:-1}>>").element_type().quantized();
  EXPECT_TRUE(axis.IsPerAxis());
  EXPECT_EQ(axis.axes[0], 1);
  EXPECT_EQ(axis.scales[1], 3.0);
  EXPECT_EQ(axis.zero_points[1], -1);
  const QuantizedParams& block =
      Parse("!quant.uniform<i8:f32:{0:1, 1:2}, {{2.0:10, 3.0:20}, {4.0:30, 5.0:40}, {6.0, 7.0}}>")
          .quantized();
  EXPECT_EQ(block.axes, Dims({0, 1}));
  EXPECT_EQ(block.block_sizes, Dims({1, 2}));
  EXPECT_EQ(block.scale_dims, Dims({3, 2}));
  EXPECT_EQ(block.scales[3], 5.0);
  EXPECT_EQ(block.zero_points, Dims({10, 20, 30, 40, 0, 0}));
}

TEST_F(ParserTypeTest, MalformedQuantizedTypesSayWhatIsWrong) {
  EXPECT_THAT(ErrorOf("!quant.uniform<f32:f32, 2.0>"),
              ::testing::HasSubstr("malformed storage type"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i33:f32, 2.0>"), ::testing::HasSubstr("1 to 32 bits"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i8:i32, 2.0>"), ::testing::HasSubstr("a float type"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i8<-129:127>:f32, 2.0>"),
              ::testing::HasSubstr("-128 to 127"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i8:f32, -2.0>"), ::testing::HasSubstr("impossible scale"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i8:f16, 1.0e6>"), ::testing::HasSubstr("impossible scale"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i8:f16, 1.0e-9>"), ::testing::HasSubstr("impossible scale"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i8:f32, 2>"), ::testing::HasSubstr("a scale such as 0.5"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i8:f32:1, {}>"), ::testing::HasSubstr("no scales"));
  EXPECT_THAT(ErrorOf("!quant.uniform<i8:f32:{0:1, 1:1}, {{1.0}, {1.0, 2.0}}>"),
              ::testing::HasSubstr("uneven"));
}

TEST_F(ParserTypeTest, MalformedTensorsSayWhatIsExpected) {
  EXPECT_THAT(ErrorOf("tensor<4>"), ::testing::HasSubstr("'x' behind a dimension"));
  EXPECT_THAT(ErrorOf("tensor<4x>"), ::testing::HasSubstr("a type"));
  EXPECT_THAT(ErrorOf("tensor<-1xf32>"), ::testing::HasSubstr("a type"));
  EXPECT_THAT(ErrorOf("tensor<99999999999999999999xf32>"),
              ::testing::HasSubstr("a dimension is too large"));
  EXPECT_THAT(ErrorOf("tensor<4xtensor<4xf32>>"), ::testing::HasSubstr("an element type"));
  EXPECT_THAT(ErrorOf("tensor<4xf32"), ::testing::HasSubstr("'>' to close the tensor type"));
  EXPECT_THAT(ErrorOf("tensor"), ::testing::HasSubstr("'<'"));
  EXPECT_THAT(ErrorOf("f33"), ::testing::HasSubstr("a type, found 'f33'"));
  EXPECT_THAT(ErrorOf("complex<index>"), ::testing::HasSubstr("for the parts"));
  EXPECT_THAT(ErrorOf("i32 i32"), ::testing::HasSubstr("the end of the type"));
}

}  // namespace
}  // namespace pjrt::ir
