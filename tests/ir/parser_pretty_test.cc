// SPDX-License-Identifier: Apache-2.0
//
// Each pretty form means what the generic form beside it says.
#include "pjrt/ir/printer.h"
#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

void ExpectSame(absl::string_view pretty, absl::string_view generic) {
  SCOPED_TRACE(pretty);
  const auto a = MustParse(InFunction(pretty));
  const auto b = MustParse(InFunction(generic));
  if (a == nullptr || b == nullptr) return;
  PrintOptions options;
  options.generic = true;
  EXPECT_TRUE(Equal(*a, *b)) << PrintModule(*a, options) << "\nis not\n"
                             << PrintModule(*b, options);
}

TEST(ParserPrettyTest, OneTypeStandsForOperandsAndResult) {
  ExpectSame("%0 = stablehlo.add %f, %g : tensor<4xf32>",
             R"(%0 = "stablehlo.add"(%f, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame("%0 = stablehlo.abs %f : tensor<4xf32>",
             R"(%0 = "stablehlo.abs"(%f) : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame("%0 = stablehlo.convert %f : tensor<4xf32>",
             R"(%0 = "stablehlo.convert"(%f) : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      "%0 = stablehlo.clamp %f, %g, %f : tensor<4xf32>",
      R"(%0 = "stablehlo.clamp"(%f, %g, %f) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)");
}

TEST(ParserPrettyTest, AFunctionTypeStandsWhereTypesDiffer) {
  ExpectSame("%0 = stablehlo.abs %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>",
             R"(%0 = "stablehlo.abs"(%c) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>)");
  ExpectSame("%0 = stablehlo.add %f, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>",
             R"(%0 = "stablehlo.add"(%f, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>)");
}

TEST(ParserPrettyTest, TheAttributeDictionaryStandsBeforeTheColon) {
  ExpectSame(
      R"(%0 = stablehlo.add %f, %g {note = "x"} : tensor<4xf32>)",
      R"(%0 = "stablehlo.add"(%f, %g) {note = "x"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)");
}

TEST(ParserPrettyTest, CompareTakesTheTypeOfComparisonOrLeavesItOut) {
  ExpectSame(
      "%0 = stablehlo.compare LT, %f, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
      R"(%0 = "stablehlo.compare"(%f, %g) {comparison_direction = #stablehlo<comparison_direction LT>}
                  : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>)");
  ExpectSame(
      "%0 = stablehlo.compare  NE, %f, %g,  TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xi1>",
      R"(%0 = "stablehlo.compare"(%f, %g) {comparison_direction = #stablehlo<comparison_direction NE>,
                  compare_type = #stablehlo<comparison_type TOTALORDER>}
                  : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>)");
}

TEST(ParserPrettyTest, Constants) {
  ExpectSame(
      "%0 = stablehlo.constant dense<1> : tensor<2xi32>",
      R"(%0 = "stablehlo.constant"() <{value = dense<1> : tensor<2xi32>}> : () -> tensor<2xi32>)");
  ExpectSame(
      "%0 = stablehlo.constant {a = 1 : i32} dense<[1, 2]> : tensor<2xi32>",
      R"(%0 = "stablehlo.constant"() {value = dense<[1, 2]> : tensor<2xi32>, a = 1 : i32} : () -> tensor<2xi32>)");
  ExpectSame(
      "%0 = stablehlo.constant() {value = dense<3> : tensor<1xi8>} : () -> "
      "tensor<1x!quant.uniform<i8:f32, 2.0>>",
      R"(%0 = "stablehlo.constant"() {value = dense<3> : tensor<1xi8>} : () -> tensor<1x!quant.uniform<i8:f32, 2.0>>)");
  ExpectSame(
      "%0 = stablehlo.constant() <{value = dense<3> : tensor<1xi8>}> {a} : () -> "
      "tensor<1x!quant.uniform<i8:f32, 2.0>>",
      R"(%0 = "stablehlo.constant"() {a, value = dense<3> : tensor<1xi8>} : () -> tensor<1x!quant.uniform<i8:f32, 2.0>>)");
}

TEST(ParserPrettyTest, IotaHasA64BitDimension) {
  ExpectSame("%0 = stablehlo.iota dim = 0 : tensor<4xi32>",
             R"(%0 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>)");
  ExpectSame(
      "%0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi64>) -> tensor<?xi32>",
      R"(%0 = "stablehlo.dynamic_iota"(%shape) {iota_dimension = 0 : i64} : (tensor<1xi64>) -> tensor<?xi32>)");
}

TEST(ParserPrettyTest, ListsOfDimensionsBecomeArrays) {
  ExpectSame(
      "%0 = stablehlo.broadcast_in_dim %f, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>",
      R"(%0 = "stablehlo.broadcast_in_dim"(%f) {broadcast_dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<2x4xf32>)");
  ExpectSame(
      "%0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x4xf32>",
      R"(%0 = "stablehlo.broadcast_in_dim"(%s) {broadcast_dimensions = array<i64>} : (tensor<f32>) -> tensor<2x4xf32>)");
  ExpectSame(
      "%0 = stablehlo.broadcast %f, sizes = [2] : (tensor<4xf32>) -> tensor<2x4xf32>",
      R"(%0 = "stablehlo.broadcast"(%f) {broadcast_sizes = array<i64: 2>} : (tensor<4xf32>) -> tensor<2x4xf32>)");
  ExpectSame(
      "%0 = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>",
      R"(%0 = "stablehlo.transpose"(%m) {permutation = array<i64: 1, 0>} : (tensor<2x4xf32>) -> tensor<4x2xf32>)");
  ExpectSame(
      "%0 = stablehlo.reverse %f, dims = [0] : tensor<4xf32>",
      R"(%0 = "stablehlo.reverse"(%f) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      "%0 = stablehlo.pad %f, %s, low = [-1], high = [2], interior = [0] : (tensor<4xf32>, "
      "tensor<f32>) -> tensor<5xf32>",
      R"(%0 = "stablehlo.pad"(%f, %s) {edge_padding_low = array<i64: -1>, edge_padding_high = array<i64: 2>,
                  interior_padding = array<i64: 0>} : (tensor<4xf32>, tensor<f32>) -> tensor<5xf32>)");
  ExpectSame(
      "%0 = stablehlo.concatenate %f, %g, %f, dim = 0 : (tensor<4xf32>, tensor<4xf32>, "
      "tensor<4xf32>) -> tensor<12xf32>",
      R"(%0 = "stablehlo.concatenate"(%f, %g, %f) {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<12xf32>)");
  ExpectSame(
      "%0 = stablehlo.fft %c, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> "
      "tensor<4xcomplex<f32>>",
      R"(%0 = "stablehlo.fft"(%c) {fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 4>}
                  : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>)");
}

TEST(ParserPrettyTest, SliceHasStrideOneUnlessItSaysOtherwise) {
  ExpectSame(
      "%0 = stablehlo.slice %m [0:2, 1:4:3] : (tensor<2x4xf32>) -> tensor<2x1xf32>",
      R"(%0 = "stablehlo.slice"(%m) {start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 4>,
                  strides = array<i64: 1, 3>} : (tensor<2x4xf32>) -> tensor<2x1xf32>)");
  ExpectSame(
      "%0 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>",
      R"(%0 = "stablehlo.slice"(%s) {start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>}
                  : (tensor<f32>) -> tensor<f32>)");
  ExpectSame(
      "%0 = stablehlo.dynamic_slice %f, %x, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> "
      "tensor<2xf32>",
      R"(%0 = "stablehlo.dynamic_slice"(%f, %x) {slice_sizes = array<i64: 2>} : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>)");
}

TEST(ParserPrettyTest, DotGeneral) {
  ExpectSame(
      "%0 = stablehlo.dot_general %m, %n, contracting_dims = [1] x [0] : (tensor<2x4xf32>, "
      "tensor<4x3xf32>) -> tensor<2x3xf32>",
      R"(%0 = "stablehlo.dot_general"(%m, %n) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1],
                  rhs_contracting_dimensions = [0]>} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>)");
  ExpectSame(
      "%0 = stablehlo.dot_general %m, %m, batching_dims = [0] x [0], contracting_dims = [1] x [1], "
      "precision = [DEFAULT, HIGH], "
      "algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, "
      "lhs_component_count = 1, "
      "rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = "
      "false> "
      "{note} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2xf32>",
      R"(%0 = "stablehlo.dot_general"(%m, %m) {dot_dimension_numbers = #stablehlo<dot<
                  lhs_batching_dimensions = [0], rhs_batching_dimensions = [0],
                  lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>>,
                  precision_config = [#stablehlo<precision DEFAULT>, #stablehlo.precision<HIGH>],
                  algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32,
                    accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1,
                    num_primitive_operations = 3, allow_imprecise_accumulation = false>, note}
                  : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2xf32>)");
  ExpectSame(
      "%0 = stablehlo.dot %m, %n, precision = [] : (tensor<2x4xf32>, tensor<4x3xf32>) -> "
      "tensor<2x3xf32>",
      R"(%0 = "stablehlo.dot"(%m, %n) {precision_config = []} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>)");
}

TEST(ParserPrettyTest, Convolution) {
  ExpectSame(
      "%0 = stablehlo.convolution(%img, %ker) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, "
      "f], "
      "window = {stride = [2, 1], pad = [[0, 1], [-1, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, "
      "2], reverse = [false, true]} "
      "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
      ": (tensor<1x8x8x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x3x7x5xf32>",
      R"(%0 = "stablehlo.convolution"(%img, %ker) <{dimension_numbers = #stablehlo.conv<raw input_batch_dimension = 0,
                  input_feature_dimension = 3, input_spatial_dimensions = [1, 2], kernel_input_feature_dimension = 2,
                  kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], output_batch_dimension = 0,
                  output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>,
                  window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [-1, 2]]> : tensor<2x2xi64>,
                  lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 2>,
                  window_reversal = array<i1: false, true>, batch_group_count = 1 : i64, feature_group_count = 1 : i64}>
                  : (tensor<1x8x8x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x3x7x5xf32>)");
}

TEST(ParserPrettyTest, AConvolutionsWindowMayBeEmptyAndItsReversalNumbers) {
  const auto module =
      MustParse(InFunction("%0 = stablehlo.convolution(%img, %ker) dim_numbers = [b, 0, 1, f] x "
                           "[0, 1, i, o] -> [f, 1, 0, b], window = {} "
                           "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
                           "(tensor<1x8x8x2xf32>, tensor<3x3x2x5xf32>) -> tensor<5x6x6x1xf32>\n"
                           "%1 = stablehlo.convolution(%img, %ker) dim_numbers = [b, 0, 1, f]x[0, "
                           "1, i, o]->[b, 0, 1, f], window = {reverse = [0, 1]} "
                           "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} : "
                           "(tensor<1x8x8x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x6x6x5xf32>"));
  ASSERT_NE(module, nullptr);
  const Op* first = FirstOp(*module);
  EXPECT_FALSE(first->HasAttr("window_strides"));
  EXPECT_EQ(first->attr("dimension_numbers").Get("output_batch_dimension").AsInt(), 3);
  EXPECT_EQ(first->attr("dimension_numbers").Get("output_spatial_dimensions").ints(),
            (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(first->next()->attr("window_reversal").ints(), (std::vector<int64_t>{0, 1}));
}

TEST(ParserPrettyTest, ReduceInShort) {
  ExpectSame(
      "%0 = stablehlo.reduce(%m init: %s) applies stablehlo.add across dimensions = [1] : "
      "(tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>",
      R"(%0 = "stablehlo.reduce"(%m, %s) ({
                ^bb0(%a: tensor<f32>, %d: tensor<f32>):
                  %1 = "stablehlo.add"(%a, %d) : (tensor<f32>, tensor<f32>) -> tensor<f32>
                  "stablehlo.return"(%1) : (tensor<f32>) -> ()
                }) {dimensions = array<i64: 1>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>)");
}

TEST(ParserPrettyTest, ReduceWithABodyPairsAccumulatorsAndElements) {
  ExpectSame(
      R"(%0:2 = stablehlo.reduce(%f init: %s), (%i init: %x) across dimensions = [0] {note} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
                 reducer(%a: tensor<f32> loc("a"), %d: tensor<f32>) (%e: tensor<i32>, %h: tensor<i32>) {
                   stablehlo.return %d, %e : tensor<f32>, tensor<i32>
                 })",
      R"(%0:2 = "stablehlo.reduce"(%f, %i, %s, %x) ({
                 ^bb0(%a: tensor<f32>, %e: tensor<i32>, %d: tensor<f32>, %h: tensor<i32>):
                   "stablehlo.return"(%d, %e) : (tensor<f32>, tensor<i32>) -> ()
                 }) {dimensions = array<i64: 0>, note} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>))");
}

TEST(ParserPrettyTest, WhileSharesItsNamesBetweenBothRegions) {
  ExpectSame(
      R"(%0:2 = stablehlo.while(%a = %x, %d = %s) : tensor<i32>, tensor<f32> attributes {note}
                 cond {
                   stablehlo.return %p : tensor<i1>
                 } do {
                   stablehlo.return %a, %d : tensor<i32>, tensor<f32>
                 })",
      R"(%0:2 = "stablehlo.while"(%x, %s) ({
                 ^bb0(%a: tensor<i32>, %d: tensor<f32>):
                   "stablehlo.return"(%p) : (tensor<i1>) -> ()
                 }, {
                 ^bb0(%a: tensor<i32>, %d: tensor<f32>):
                   "stablehlo.return"(%a, %d) : (tensor<i32>, tensor<f32>) -> ()
                 }) {note} : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>))");
  ExpectSame(
      R"(stablehlo.while() cond { stablehlo.return %p : tensor<i1> } do { stablehlo.return })",
      R"("stablehlo.while"() ({ "stablehlo.return"(%p) : (tensor<i1>) -> () }, { "stablehlo.return"() : () -> () }) : () -> ())");
}

TEST(ParserPrettyTest, TypesThatFollowFromOthersAreLeftOut) {
  ExpectSame(
      "%0 = stablehlo.select %b, %f, %g : tensor<4xi1>, tensor<4xf32>",
      R"(%0 = "stablehlo.select"(%b, %f, %g) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      "%0 = stablehlo.select %p, %f, %dyn : (tensor<i1>, tensor<4xf32>, tensor<?xf32>) -> "
      "tensor<4xf32>",
      R"(%0 = "stablehlo.select"(%p, %f, %dyn) : (tensor<i1>, tensor<4xf32>, tensor<?xf32>) -> tensor<4xf32>)");
  ExpectSame(
      "%0 = stablehlo.complex %f, %g : tensor<4xcomplex<f32>>",
      R"(%0 = "stablehlo.complex"(%f, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>)");
  ExpectSame(
      "%0 = stablehlo.complex %f, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xcomplex<f32>>",
      R"(%0 = "stablehlo.complex"(%f, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xcomplex<f32>>)");
  ExpectSame(
      "%0 = stablehlo.tuple %f, %x {note} : tuple<tensor<4xf32>, tensor<i32>>",
      R"(%0 = "stablehlo.tuple"(%f, %x) {note} : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>)");
  ExpectSame("%0 = stablehlo.tuple  : tuple<>", R"(%0 = "stablehlo.tuple"() : () -> tuple<>)");
  ExpectSame("%0 = stablehlo.partition_id : tensor<ui32>",
             R"(%0 = "stablehlo.partition_id"() : () -> tensor<ui32>)");
  ExpectSame("%0 = stablehlo.create_token : !stablehlo.token",
             R"(%0 = "stablehlo.create_token"() : () -> !stablehlo.token)");
  ExpectSame(
      "%0 = stablehlo.after_all %token, %token : !stablehlo.token",
      R"(%0 = "stablehlo.after_all"(%token, %token) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token)");
  ExpectSame("%0 = stablehlo.after_all  : !stablehlo.token",
             R"(%0 = "stablehlo.after_all"() : () -> !stablehlo.token)");
}

TEST(ParserPrettyTest, OptimizationBarrierListsItsTypes) {
  ExpectSame(
      "%0:2 = stablehlo.optimization_barrier %f, %x : tensor<4xf32>, tensor<i32>",
      R"(%0:2 = "stablehlo.optimization_barrier"(%f, %x) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>))");
  ExpectSame(
      "%0 = stablehlo.optimization_barrier {note} %f : tensor<4xf32>",
      R"(%0 = "stablehlo.optimization_barrier"(%f) {note} : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame("stablehlo.optimization_barrier()",
             R"("stablehlo.optimization_barrier"() : () -> ())");
}

TEST(ParserPrettyTest, SmallAttributesStandInTheSyntax) {
  ExpectSame(
      "%t = stablehlo.tuple %f, %x : tuple<tensor<4xf32>, tensor<i32>>\n"
      "%0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>",
      R"(%t = "stablehlo.tuple"(%f, %x) : (tensor<4xf32>, tensor<i32>) -> tuple<tensor<4xf32>, tensor<i32>>
                %0 = "stablehlo.get_tuple_element"(%t) {index = 1 : i32} : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>)");
  ExpectSame(
      "%0 = stablehlo.get_dimension_size %dyn, dim = 0 : (tensor<?xf32>) -> tensor<i32>",
      R"(%0 = "stablehlo.get_dimension_size"(%dyn) {dimension = 0 : i64} : (tensor<?xf32>) -> tensor<i32>)");
  ExpectSame(
      "%0 = stablehlo.set_dimension_size %dyn, %x, dim = 0 : (tensor<?xf32>, tensor<i32>) -> "
      "tensor<?xf32>",
      R"(%0 = "stablehlo.set_dimension_size"(%dyn, %x) {dimension = 0 : i64} : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32>)");
  ExpectSame(
      "%0 = stablehlo.reduce_precision %f, format = e5m10 : tensor<4xf32>",
      R"(%0 = "stablehlo.reduce_precision"(%f) {exponent_bits = 5 : i32, mantissa_bits = 10 : i32} : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      "%0 = stablehlo.cholesky %m, lower = true : tensor<2x4xf32>",
      R"(%0 = "stablehlo.cholesky"(%m) {lower = true} : (tensor<2x4xf32>) -> tensor<2x4xf32>)");
  ExpectSame("%0 = stablehlo.cholesky %m : tensor<2x4xf32>",
             R"(%0 = "stablehlo.cholesky"(%m) : (tensor<2x4xf32>) -> tensor<2x4xf32>)");
  ExpectSame(
      "%0 = stablehlo.rng %s, %s, %shape, distribution = NORMAL : (tensor<f32>, tensor<f32>, "
      "tensor<1xi64>) -> tensor<4xf32>",
      R"(%0 = "stablehlo.rng"(%s, %s, %shape) {rng_distribution = #stablehlo<rng_distribution NORMAL>}
                  : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>)");
  ExpectSame(
      "%0, %1 = stablehlo.rng_bit_generator %i, algorithm = PHILOX : (tensor<4xi32>) -> "
      "(tensor<4xi32>, tensor<2xui32>)",
      R"(%0, %1 = "stablehlo.rng_bit_generator"(%i) {rng_algorithm = #stablehlo<rng_algorithm PHILOX>}
                  : (tensor<4xi32>) -> (tensor<4xi32>, tensor<2xui32>))");
  ExpectSame(
      R"(%0 = stablehlo.einsum %m, %n, config = "ab,bc->ac" : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>)",
      R"(%0 = "stablehlo.einsum"(%m, %n) {einsum_config = "ab,bc->ac"} : (tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>)");
}

TEST(ParserPrettyTest, CustomCallNamesItsTargetAsASymbol) {
  ExpectSame(
      "%0:2 = stablehlo.custom_call @my.target$1(%f, %x) {api_version = 4 : i32, "
      "mhlo.backend_config = {n = 1 : ui8}} "
      ": (tensor<4xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)",
      R"(%0:2 = "stablehlo.custom_call"(%f, %x) {call_target_name = "my.target$1", api_version = 4 : i32,
                  mhlo.backend_config = {n = 1 : ui8}} : (tensor<4xf32>, tensor<i32>) -> (tensor<f32>, tensor<i32>))");
  ExpectSame(
      R"(stablehlo.custom_call @"any name-1"() {has_side_effect = true} : () -> ())",
      R"("stablehlo.custom_call"() {call_target_name = "any name-1", has_side_effect = true} : () -> ())");
}

TEST(ParserPrettyTest, CompositeNamesItselfAsAString) {
  ExpectSame(
      R"(%0 = stablehlo.composite "ns.op" %f, %g {composite_attributes = {k = 1 : i64}, decomposition = @impl, version = 1 : i32}
                  : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)",
      R"(%0 = "stablehlo.composite"(%f, %g) <{name = "ns.op", composite_attributes = {k = 1 : i64}, decomposition = @impl,
                  version = 1 : i32}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      R"(%0 = stablehlo.composite "ns.op" %f ({ stablehlo.return %f : tensor<4xf32> }) {decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>)",
      R"(%0 = "stablehlo.composite"(%f) <{name = "ns.op", decomposition = @impl}> ({ "stablehlo.return"(%f) : (tensor<4xf32>) -> () })
                  : (tensor<4xf32>) -> tensor<4xf32>)");
}

TEST(ParserPrettyTest, CallsAndReturnsWithAndWithoutTheDialect) {
  ExpectSame(
      "%0 = call @f(%x) {inlineable = false} : (tensor<i32>) -> tensor<i32>",
      R"(%0 = "func.call"(%x) {callee = @f, inlineable = false} : (tensor<i32>) -> tensor<i32>)");
  ExpectSame("func.call @f() : () -> ()", R"("func.call"() <{callee = @f}> : () -> ())");
  ExpectSame("func.return %x, %f : tensor<i32>, tensor<4xf32>",
             R"("func.return"(%x, %f) : (tensor<i32>, tensor<4xf32>) -> ())");
}

TEST(ParserPrettyTest, ChloOpsPutTheirTypesAroundAnArrow) {
  ExpectSame("%0 = chlo.acos %f : tensor<4xf32> -> tensor<4xf32>",
             R"(%0 = "chlo.acos"(%f) : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame("%0 = chlo.next_after %f, %g : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>",
             R"(%0 = "chlo.next_after"(%f, %g) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      "%0 = chlo.broadcast_add %f, %m {broadcast_dimensions = array<i64: 1>} : (tensor<4xf32>, "
      "tensor<2x4xf32>) -> tensor<2x4xf32>",
      R"(%0 = "chlo.broadcast_add"(%f, %m) {broadcast_dimensions = array<i64: 1>} : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>)");
  ExpectSame(
      "%0:2 = chlo.top_k(%f, k = 2, is_stable = false) : tensor<4xf32> -> (tensor<2xf32>, "
      "tensor<2xi32>)",
      R"(%0:2 = "chlo.top_k"(%f) {k = 2 : i64, is_stable = false} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>))");
  ExpectSame("%0 = chlo.constant dense<1.0> : tensor<f32>",
             R"(%0 = "chlo.constant"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>)");
}

TEST(ParserPrettyTest, ScanSaysHowItsOperandsDivideOnlyWhereTheyAreNotHalves) {
  ExpectSame(R"(%0:2 = chlo.scan(%f) inits (%s) dimension=0 attributes {is_reverse = true} {
                ^bb0(%a: tensor<f32>, %d: tensor<f32>):
                  stablehlo.return %a, %d : tensor<f32>, tensor<f32>
                } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>))",
             R"(%0:2 = "chlo.scan"(%f, %s) <{dimension = 0 : i64, is_reverse = true}> ({
                ^bb0(%a: tensor<f32>, %d: tensor<f32>):
                  "stablehlo.return"(%a, %d) : (tensor<f32>, tensor<f32>) -> ()
                }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>))");
  const auto module = MustParse(InFunction(R"(
      %0 = chlo.scan(%f) inits () dimension = 0 {
      ^bb0(%a: tensor<f32>):
        stablehlo.return %a : tensor<f32>
      } : (tensor<4xf32>) -> tensor<4xf32>)"));
  ASSERT_NE(module, nullptr);
  EXPECT_EQ(FirstOp(*module)->attr("operandSegmentSizes").ints(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(FirstOp(*module)->attr("resultSegmentSizes").ints(), (std::vector<int64_t>{1, 0}));
}

TEST(ParserPrettyTest, ChecksAndProbes) {
  ExpectSame("check.expect_eq %f, %g : tensor<4xf32>",
             R"("check.expect_eq"(%f, %g) : (tensor<4xf32>, tensor<4xf32>) -> ())");
  ExpectSame(
      "check.expect_eq_const %f, dense<1.0> : tensor<4xf32>",
      R"("check.expect_eq_const"(%f) {value = dense<1.0> : tensor<4xf32>} : (tensor<4xf32>) -> ())");
  ExpectSame(
      "check.expect_almost_eq %f, %g, tolerance = 0.1 : tensor<4xf32>",
      R"("check.expect_almost_eq"(%f, %g) {tolerance = 0.1 : f64} : (tensor<4xf32>, tensor<4xf32>) -> ())");
  ExpectSame(
      "check.expect_almost_eq_const %f, dense<1.0> : tensor<4xf32>, tolerance = 0.1",
      R"("check.expect_almost_eq_const"(%f) {value = dense<1.0> : tensor<4xf32>, tolerance = 0.1 : f64} : (tensor<4xf32>) -> ())");
  ExpectSame(
      "check.expect_almost_eq_const %f, dense<1.0> : tensor<4xf32> {tolerance = 0.1 : f64}",
      R"("check.expect_almost_eq_const"(%f) {value = dense<1.0> : tensor<4xf32>, tolerance = 0.1 : f64} : (tensor<4xf32>) -> ())");
  ExpectSame(
      "check.expect_close %f, %g, max_ulp_difference = 18446744073709551615, min_ulp_difference = "
      "0 : tensor<4xf32>, tensor<4xf32>",
      R"("check.expect_close"(%f, %g) {max_ulp_difference = 18446744073709551615 : ui64, min_ulp_difference = 0 : ui64}
                  : (tensor<4xf32>, tensor<4xf32>) -> ())");
  ExpectSame(
      R"(check.expect_serialized_eq %f, probe_id = "p", iter = 2 : tensor<4xf32>)",
      R"("check.expect_serialized_eq"(%f) {probe_id = "p", iteration = 2 : ui32} : (tensor<4xf32>) -> ())");
  ExpectSame(R"(%0 = interpreter.probe %f, probe_id = "p" : tensor<4xf32>)",
             R"(%0 = "interpreter.probe"(%f) {probe_id = "p"} : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame("interpreter.print %f : tensor<4xf32>",
             R"("interpreter.print"(%f) : (tensor<4xf32>) -> ())");
}

TEST(ParserPrettyTest, MhloOps) {
  ExpectSame(
      "%0:2 = mhlo.topk(%f, k = 2, largest = true) : tensor<4xf32> -> (tensor<2xf32>, "
      "tensor<2xi32>)",
      R"(%0:2 = "mhlo.topk"(%f) {k = 2 : i64, largest = true} : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>))");
  ExpectSame("%0 = mhlo.erf %f : tensor<4xf32>",
             R"(%0 = "mhlo.erf"(%f) : (tensor<4xf32>) -> tensor<4xf32>)");
}

TEST(ParserPrettyTest, ShardyOpsStripTheNamesOfTheirAttributes) {
  ExpectSame(
      R"(%0 = sdy.sharding_constraint %f <@mesh, [{"a"}]> : tensor<4xf32>)",
      R"(%0 = "sdy.sharding_constraint"(%f) {sharding = #sdy.sharding<@mesh, [{"a"}]>} : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      R"(%0 = sdy.propagation_barrier %f allowed_direction=NONE : tensor<4xf32>
                sdy.sharding_group %f group_id=21 : tensor<4xf32>)",
      R"(%0 = "sdy.propagation_barrier"(%f) {allowed_direction = #sdy<propagation_direction NONE>} : (tensor<4xf32>) -> tensor<4xf32>
                "sdy.sharding_group"(%f) {group_id = 21 : i64} : (tensor<4xf32>) -> ())");
  ExpectSame(
      R"(%0 = sdy.all_gather [{"x"}] %f out_sharding=<@mesh, [{}]> : tensor<4xf32>)",
      R"(%0 = "sdy.all_gather"(%f) {gathering_axes = #sdy<list_of_axis_ref_lists [{"x"}]>, out_sharding = #sdy.sharding<@mesh, [{}]>}
                  : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      R"(%0 = sdy.manual_computation(%f) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
                  sdy.return %a : tensor<2xf32>
                } : (tensor<4xf32>) -> tensor<4xf32>)",
      R"(%0 = "sdy.manual_computation"(%f) <{in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>,
                  out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, manual_axes = #sdy<manual_axes {"x"}>}> ({
                ^bb0(%a: tensor<2xf32>):
                  "sdy.return"(%a) : (tensor<2xf32>) -> ()
                }) : (tensor<4xf32>) -> tensor<4xf32>)");
  ExpectSame(
      R"(%0 = sdy.named_computation<"foo">(%f) in_shardings=[<@mesh, [{}]>] (%a: tensor<4xf32>) {
                  sdy.return %a : tensor<4xf32>
                } : (tensor<4xf32>) -> tensor<4xf32>)",
      R"(%0 = "sdy.named_computation"(%f) <{name = "foo", in_shardings = #sdy.sharding_per_value<[<@mesh, [{}]>]>}> ({
                ^bb0(%a: tensor<4xf32>):
                  "sdy.return"(%a) : (tensor<4xf32>) -> ()
                }) : (tensor<4xf32>) -> tensor<4xf32>)");
}

TEST(ParserPrettyTest, AMeshIsASymbol) {
  const auto module =
      MustParse(R"(sdy.mesh @mesh = <["x"=2, "y"=4], device_ids=[1, 0]> {note = "n"})");
  ASSERT_NE(module, nullptr);
  const Op* mesh = module->body()->front();
  EXPECT_EQ(mesh->StringAttr("sym_name"), "mesh");
  EXPECT_EQ(mesh->attr("mesh").text(), R"(#sdy.mesh<["x"=2, "y"=4], device_ids=[1, 0]>)");
  EXPECT_EQ(mesh->StringAttr("note"), "n");
}

TEST(ParserPrettyTest, CastsAndTheFewOpsOfOtherDialects) {
  ExpectSame("%0 = builtin.unrealized_conversion_cast %f : tensor<4xf32> to !foo.bar",
             R"(%0 = "builtin.unrealized_conversion_cast"(%f) : (tensor<4xf32>) -> !foo.bar)");
  ExpectSame(
      "%0 = arith.constant dense<1> : tensor<i32>\n%1 = arith.constant 3 : i32\n%2 = tensor.cast "
      "%f : tensor<4xf32> to tensor<?xf32>",
      R"(%0 = "arith.constant"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
                %1 = "arith.constant"() {value = 3 : i32} : () -> i32
                %2 = "tensor.cast"(%f) : (tensor<4xf32>) -> tensor<?xf32>)");
}

TEST(ParserPrettyTest, OlderSpellingsOfListsStayAsTheyAre) {
  const auto module = MustParse(InFunction(
      R"(%0 = "stablehlo.transpose"(%m) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<2x4xf32>) -> tensor<4x2xf32>)"));
  ASSERT_NE(module, nullptr);
  EXPECT_TRUE(FirstOp(*module)->attr("permutation").Is(AttrKind::kDenseElements));
  EXPECT_EQ(FirstOp(*module)->IntsAttr("permutation"), (absl::InlinedVector<int64_t, 6>{1, 0}));
}

}  // namespace
}  // namespace pjrt::ir
