// SPDX-License-Identifier: Apache-2.0
//
// Structured attributes as C++ values.
#include "pjrt/ir/op_attributes.h"

#include <limits>

#include "gtest/gtest.h"
#include "pjrt/ir/context.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/parser.h"

namespace pjrt::ir {
namespace {

Attribute Parsed(Context* context, absl::string_view text) {
  const absl::StatusOr<Attribute> attr = ParseAttribute(text, context);
  EXPECT_TRUE(attr.ok()) << attr.status();
  return attr.ok() ? *attr : Attribute();
}

TEST(OpAttributesTest, StructsReadTheirFieldsAndDefaultTheRest) {
  Context c;
  const auto gather = GatherDimensionNumbers::From(Parsed(
      &c, "#stablehlo.gather<offset_dims = [1, 2], start_index_map = [0], index_vector_dim = 3>"));
  ASSERT_TRUE(gather.has_value());
  EXPECT_EQ(gather->offset_dims, (DimList{1, 2}));
  EXPECT_TRUE(gather->collapsed_slice_dims.empty());
  EXPECT_EQ(gather->start_index_map, (DimList{0}));
  EXPECT_EQ(gather->index_vector_dim, 3);
}

TEST(OpAttributesTest, WhatIsWrittenIsReadBack) {
  Context c;
  DotDimensionNumbers dot;
  dot.lhs_batching_dimensions = {0};
  dot.rhs_batching_dimensions = {1};
  dot.lhs_contracting_dimensions = {2, 3};
  dot.rhs_contracting_dimensions = {4, 5};
  const auto dot_back = DotDimensionNumbers::From(dot.ToAttr(c));
  ASSERT_TRUE(dot_back.has_value());
  EXPECT_EQ(dot_back->rhs_contracting_dimensions, dot.rhs_contracting_dimensions);
  EXPECT_EQ(dot_back->lhs_batching_dimensions, dot.lhs_batching_dimensions);

  ChannelHandle channel;
  channel.handle = 7;
  channel.type = 1;
  const auto channel_back = ChannelHandle::From(channel.ToAttr(c));
  ASSERT_TRUE(channel_back.has_value());
  EXPECT_EQ(channel_back->handle, 7);
  EXPECT_EQ(channel_back->type, 1);

  ResultAccuracy accuracy;
  accuracy.rtol = 0.5;
  accuracy.ulps = 2;
  accuracy.mode = ResultAccuracyMode::kTolerance;
  const auto accuracy_back = ResultAccuracy::From(accuracy.ToAttr(c));
  ASSERT_TRUE(accuracy_back.has_value());
  EXPECT_EQ(accuracy_back->rtol, 0.5);
  EXPECT_EQ(accuracy_back->mode, ResultAccuracyMode::kTolerance);

  DotAlgorithm algorithm;
  algorithm.lhs_precision_type = algorithm.rhs_precision_type = c.Float("bf16");
  algorithm.accumulation_type = c.Float("f32");
  algorithm.num_primitive_operations = 6;
  const auto algorithm_back = DotAlgorithm::From(algorithm.ToAttr(c));
  ASSERT_TRUE(algorithm_back.has_value());
  EXPECT_EQ(algorithm_back->lhs_precision_type, c.Float("bf16"));
  EXPECT_EQ(algorithm_back->num_primitive_operations, 6);
}

TEST(OpAttributesTest, ConvolutionNumbersFollowTheLetters) {
  Context c;
  const auto conv = ConvDimensionNumbers::From(
      Parsed(&c, "#stablehlo.conv<[f, 1, b, 0]x[1, o, 0, i]->[0, b, f, 1]>"));
  ASSERT_TRUE(conv.has_value());
  EXPECT_EQ(conv->input_batch_dimension, 2);
  EXPECT_EQ(conv->input_feature_dimension, 0);
  EXPECT_EQ(conv->input_spatial_dimensions, (DimList{3, 1}));
  EXPECT_EQ(conv->kernel_input_feature_dimension, 3);
  EXPECT_EQ(conv->kernel_output_feature_dimension, 1);
  EXPECT_EQ(conv->kernel_spatial_dimensions, (DimList{2, 0}));
  EXPECT_EQ(conv->output_batch_dimension, 1);
  EXPECT_EQ(conv->output_feature_dimension, 2);
  EXPECT_EQ(conv->output_spatial_dimensions, (DimList{0, 3}));
}

TEST(OpAttributesTest, OtherAttributesGiveNothing) {
  Context c;
  EXPECT_FALSE(GatherDimensionNumbers::From(Attribute()).has_value());
  EXPECT_FALSE(GatherDimensionNumbers::From(DotDimensionNumbers().ToAttr(c)).has_value());
  EXPECT_FALSE(ChannelHandle::From(c.I64(3)).has_value());
  EXPECT_FALSE(EnumFrom<FftType>(c.String("FFT")).has_value());
  EXPECT_FALSE(EnumFrom<FftType>(EnumToAttr(c, Precision::kHigh)).has_value());
}

TEST(OpAttributesTest, EnumsAreNumberedAsInTheTable) {
  Context c;
  EXPECT_EQ(EnumFrom<ComparisonDirection>(c.Enum("stablehlo.comparison_direction", "LT")),
            ComparisonDirection::kLt);
  EXPECT_EQ(EnumFrom<ComparisonDirection>(c.Enum("chlo.comparison_direction", "NE")),
            ComparisonDirection::kNe);
  EXPECT_EQ(EnumFrom<RngDistribution>(c.Enum("stablehlo.rng_distribution", "NORMAL")),
            RngDistribution::kNormal);
  EXPECT_EQ(EnumToAttr(c, Transpose::kAdjoint).enum_value(), "ADJOINT");
  EXPECT_EQ(EnumToAttr(c, RngDistribution::kUniform).enum_value(), "UNIFORM");
  EXPECT_EQ(EnumToAttr(c, ComparisonType::kTotalOrder).enum_value(), "TOTALORDER");
  EXPECT_EQ(EnumToAttr(c, RngAlgorithm::kPhilox).enum_value(), "PHILOX");
}

TEST(OpAttributesTest, ComparisonsFollowTheElementType) {
  Context c;
  EXPECT_EQ(DefaultComparisonType(c.Float("bf16")), ComparisonType::kFloat);
  EXPECT_EQ(DefaultComparisonType(c.Complex(c.Float("f32"))), ComparisonType::kFloat);
  EXPECT_EQ(DefaultComparisonType(c.Integer(32)), ComparisonType::kSigned);
  EXPECT_EQ(DefaultComparisonType(c.Integer(8, Signedness::kUnsigned)), ComparisonType::kUnsigned);
  EXPECT_EQ(DefaultComparisonType(c.I1()), ComparisonType::kUnsigned);
}

TEST(OpAttributesTest, OnePrecisionStandsForBothOperands) {
  Context c;
  const Attribute high = EnumToAttr(c, Precision::kHigh), best = EnumToAttr(c, Precision::kHighest);
  EXPECT_EQ(OperandPrecision::From(Attribute()).lhs, Precision::kDefault);
  EXPECT_EQ(OperandPrecision::From(c.Array({high})).rhs, Precision::kHigh);
  EXPECT_EQ(OperandPrecision::From(c.Array({high, best})).rhs, Precision::kHighest);
  EXPECT_EQ(OperandPrecision::From(c.Array({})).rhs, Precision::kDefault);
}

TEST(OpAttributesTest, AWindowCountsItsPlaces) {
  WindowDimension d;
  d.size = 3;
  EXPECT_EQ(d.OutputSize(10), 8);
  d.stride = 3;
  EXPECT_EQ(d.OutputSize(10), 3);
  d.padding_low = 2;
  EXPECT_EQ(d.OutputSize(10), 4);
  d.window_dilation = 2;
  EXPECT_EQ(d.DilatedSize(), 5);
  EXPECT_EQ(d.OutputSize(10), 3);
  d.base_dilation = 3;
  EXPECT_EQ(d.PaddedSize(10), 30);
  EXPECT_EQ(d.OutputSize(10), 9);
  EXPECT_EQ(d.OutputSize(kDynamic), kDynamic);
}

TEST(OpAttributesTest, AWindowThatDoesNotFitHasNoPlace) {
  WindowDimension d;
  d.size = 3;
  EXPECT_EQ(d.OutputSize(2), 0);
  EXPECT_EQ(d.OutputSize(0), 0);
  d.padding_low = -5;
  EXPECT_EQ(d.OutputSize(4), 0);
  d.padding_low = 3;
  EXPECT_EQ(d.OutputSize(0), 1);  // nothing but padding
}

TEST(OpAttributesTest, HostileWindowsSaturate) {
  WindowDimension d;
  d.size = std::numeric_limits<int64_t>::max();
  d.window_dilation = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(d.OutputSize(4), 0);
  d.size = 1;
  d.base_dilation = std::numeric_limits<int64_t>::max();
  d.padding_high = std::numeric_limits<int64_t>::max();
  EXPECT_GT(d.OutputSize(4), 0);
}

TEST(OpAttributesTest, WindowsOfOpsFillInWhatIsNotSaid) {
  const auto module = ParseModule(R"(
    func.func @f(%x: tensor<1x9x3xf32>, %k: tensor<4x3x5xf32>, %z: tensor<f32>) {
      %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {stride = [2], pad = [[1, 2]], reverse = [true]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x9x3xf32>, tensor<4x3x5xf32>) -> tensor<1x5x5xf32>
      %1 = "stablehlo.reduce_window"(%x, %z) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {window_dimensions = array<i64: 1, 3, 1>, base_dilations = array<i64: 1, 2, 1>}
        : (tensor<1x9x3xf32>, tensor<f32>) -> tensor<1x15x3xf32>
      return
    })");
  ASSERT_TRUE(module.ok()) << module.status();
  const Block* body = (*module)->EntryFunction().body();
  const Op* convolution = body->front();
  const std::optional<WindowAttrs> a = WindowAttrs::From(*convolution);
  ASSERT_TRUE(a.has_value());
  ASSERT_EQ(a->dimensions.size(), 1u);
  EXPECT_EQ(a->dimensions[0].size, 4);
  EXPECT_EQ(a->dimensions[0].stride, 2);
  EXPECT_EQ(a->dimensions[0].padding_low, 1);
  EXPECT_EQ(a->dimensions[0].padding_high, 2);
  EXPECT_EQ(a->dimensions[0].base_dilation, 1);
  EXPECT_TRUE(a->dimensions[0].reversal);
  const std::optional<WindowAttrs> b = WindowAttrs::From(*convolution->next());
  ASSERT_TRUE(b.has_value());
  EXPECT_EQ(b->dimensions[1].size, 3);
  EXPECT_EQ(b->dimensions[1].base_dilation, 2);
  EXPECT_EQ(b->dimensions[1].padding_low, 0);
  EXPECT_EQ(b->dimensions[2].stride, 1);
  EXPECT_FALSE(WindowAttrs::From(*body->back()).has_value());
}

TEST(OpAttributesTest, MatricesExpandSplats) {
  Context c;
  DimList values;
  int64_t rows = 0, columns = 0;
  EXPECT_TRUE(GetIntMatrix(Parsed(&c, "dense<[[0, 1], [2, -3]]> : tensor<2x2xi64>"), &values, &rows,
                           &columns));
  EXPECT_EQ(values, (DimList{0, 1, 2, -3}));
  EXPECT_TRUE(GetIntMatrix(Parsed(&c, "dense<7> : tensor<1x3xi64>"), &values, &rows, &columns));
  EXPECT_EQ(values, (DimList{7, 7, 7}));
  EXPECT_EQ(rows, 1);
  EXPECT_EQ(columns, 3);
  EXPECT_FALSE(GetIntMatrix(Parsed(&c, "dense<7> : tensor<3xi64>"), &values, &rows, &columns));
  EXPECT_FALSE(
      GetIntMatrix(Parsed(&c, "dense<0> : tensor<1000000x1000000xi64>"), &values, &rows, &columns));
}

TEST(OpAttributesTest, StructsHaveRulesOfTheirOwn) {
  Context c;
  ResultAccuracy accuracy;
  accuracy.ulps = 1;
  EXPECT_FALSE(CheckStruct(accuracy.ToAttr(c)).ok());
  accuracy.mode = ResultAccuracyMode::kTolerance;
  EXPECT_TRUE(CheckStruct(accuracy.ToAttr(c)).ok());
  EXPECT_TRUE(CheckStruct(DotDimensionNumbers().ToAttr(c)).ok());
  EXPECT_FALSE(CheckStruct(DotAlgorithm().ToAttr(c)).ok());
}

}  // namespace
}  // namespace pjrt::ir
