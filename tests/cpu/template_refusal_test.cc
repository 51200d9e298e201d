// SPDX-License-Identifier: Apache-2.0
//
// Programs with dynamic shapes that no sizes, or few, make a program of that the CPU device runs:
// what can't run for any is refused when it is compiled, and what runs for some is not.
#include "absl/strings/match.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;

// An op on %y that no device knows, and one that all do.
constexpr char kUnknown[] = "stablehlo.custom_call @nobody_knows_me(%y)";
constexpr char kKnown[] = "stablehlo.custom_call @Sharding(%y)";

// Each has a place $0 for the op, and is to be refused at once if and only if that is unknown.
struct RefusalCase {
  const char* what;
  const char* text;
};
const RefusalCase kRefusalCases[] = {
    {"more than 600 rows, in eights", R"(
      func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %600 = stablehlo.constant dense<600> : tensor<i32>
        %8 = stablehlo.constant dense<8> : tensor<i32>
        %0 = stablehlo.constant dense<0> : tensor<i32>
        %many = stablehlo.compare GT, %n, %600 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%many, %n) {error_message = "too few: {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
        %rest = stablehlo.remainder %n, %8 : tensor<i32>
        %even = stablehlo.compare EQ, %rest, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%even, %n) {error_message = "not in eights: {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
        %y = stablehlo.negate %x : tensor<?xf32>
        %r = $0 : (tensor<?xf32>) -> tensor<?xf32>
        return %r : tensor<?xf32>
      })"},
    {"one size twice another, each in two arguments", R"(
      func.func @main(%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>, %d: tensor<?xf32>) -> tensor<?xf32> {
        %na = stablehlo.get_dimension_size %a, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %nb = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %nc = stablehlo.get_dimension_size %c, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %nd = stablehlo.get_dimension_size %d, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %wide = stablehlo.convert %na : (tensor<i32>) -> tensor<i64>
        %wide_b = stablehlo.convert %nb : (tensor<i32>) -> tensor<i64>
        %ab = stablehlo.compare EQ, %wide, %wide_b : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%ab) {error_message = "a b", has_side_effect = true} : (tensor<i1>) -> ()
        %cd = stablehlo.compare EQ, %nc, %nd : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%cd) {error_message = "c d", has_side_effect = true} : (tensor<i1>) -> ()
        %two = stablehlo.constant dense<2> : tensor<i32>
        %twice = stablehlo.multiply %na, %two : tensor<i32>
        %ac = stablehlo.compare EQ, %twice, %nc : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%ac) {error_message = "a c", has_side_effect = true} : (tensor<i1>) -> ()
        %ab2 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        %cd2 = stablehlo.add %c, %d : tensor<?xf32>
        %y = stablehlo.add %ab2, %cd2 : tensor<?xf32>
        %r = $0 : (tensor<?xf32>) -> tensor<?xf32>
        return %r : tensor<?xf32>
      })"},
    {"the sizes that a constant has", R"(
      func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        %c = stablehlo.constant dense<1.0> : tensor<7xf32>
        %y = stablehlo.add %x, %c : (tensor<?xf32>, tensor<7xf32>) -> tensor<?xf32>
        %r = $0 : (tensor<?xf32>) -> tensor<?xf32>
        return %r : tensor<?xf32>
      })"},
    {"a shape of so many elements as there are", R"(
      func.func @main(%x: tensor<35xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
        %y = stablehlo.dynamic_reshape %x, %shape : (tensor<35xf32>, tensor<2xi64>) -> tensor<?x?xf32>
        %r = $0 : (tensor<?x?xf32>) -> tensor<?x?xf32>
        return %r : tensor<?x?xf32>
      })"},
    {"slices that fit, of dimensions that are dropped", R"(
      func.func @main(%x: tensor<?x3xf32>, %i: tensor<?x1xi64>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {
        %y = "stablehlo.dynamic_gather"(%x, %i, %sizes) {dimension_numbers = #stablehlo.gather<
            offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}
            : (tensor<?x3xf32>, tensor<?x1xi64>, tensor<2xi64>) -> tensor<?x?xf32>
        %r = $0 : (tensor<?x?xf32>) -> tensor<?x?xf32>
        return %r : tensor<?x?xf32>
      })"},
    {"more than a size within its bound", R"(
      func.func @main(%x: tensor<?xf32, #stablehlo.bounds<15>>) -> tensor<?xf32> {
        %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32, #stablehlo.bounds<15>>) -> tensor<i32>
        %13 = stablehlo.constant dense<13> : tensor<i32>
        %ok = stablehlo.compare GT, %n, %13 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "too few: {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
        %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
        %y = stablehlo.dynamic_reshape %x, %n1 : (tensor<?xf32, #stablehlo.bounds<15>>, tensor<1xi32>) -> tensor<?xf32>
        %r = $0 : (tensor<?xf32>) -> tensor<?xf32>
        return %r : tensor<?xf32>
      })"},
    {"products, quotients and maxima of sizes", R"(
      func.func @main(%x: tensor<?x?xf32>) -> tensor<?xf32> {
        %m = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
        %n = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
        %3 = stablehlo.constant dense<3> : tensor<i32>
        %third = stablehlo.divide %m, %3 : tensor<i32>
        %back = stablehlo.multiply %third, %3 : tensor<i32>
        %thirds = stablehlo.compare EQ, %back, %m : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%thirds) {error_message = "in threes", has_side_effect = true} : (tensor<i1>) -> ()
        %most = stablehlo.maximum %m, %n : tensor<i32>
        %square = stablehlo.multiply %n, %n : tensor<i32>
        %wider = stablehlo.compare GT, %m, %square : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%wider) {error_message = "wide", has_side_effect = true} : (tensor<i1>) -> ()
        %all = stablehlo.multiply %most, %n : tensor<i32>
        %all1 = stablehlo.reshape %all : (tensor<i32>) -> tensor<1xi32>
        %y = stablehlo.dynamic_reshape %x, %all1 : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
        %r = $0 : (tensor<?xf32>) -> tensor<?xf32>
        return %r : tensor<?xf32>
      })"},
    {"a size that an argument gives, cut from so many", R"(
      func.func @main(%x: tensor<100xf32>, %n: tensor<i32>) -> tensor<?xf32> {
        %40 = stablehlo.constant dense<40> : tensor<i32>
        %ok = stablehlo.compare GT, %n, %40 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%ok, %n) {error_message = "too few: {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
        %s = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<100xf32>, tensor<i32>) -> tensor<?xf32, #stablehlo.bounds<100>>
        %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
        %y = stablehlo.dynamic_reshape %s, %n1 : (tensor<?xf32, #stablehlo.bounds<100>>, tensor<1xi32>) -> tensor<?xf32>
        %r = $0 : (tensor<?xf32>) -> tensor<?xf32>
        return %r : tensor<?xf32>
      })"},
    {"so many of the largest as there are", R"(
      func.func @main(%k: tensor<i32>, %x: tensor<1x4xf32>) -> tensor<1x?xf32> {
        %3 = stablehlo.constant dense<3> : tensor<i32>
        %4 = stablehlo.constant dense<4> : tensor<i32>
        %some = stablehlo.compare GE, %k, %3 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%some) {error_message = "few", has_side_effect = true} : (tensor<i1>) -> ()
        %less = stablehlo.compare LT, %k, %4 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%less) {error_message = "many", has_side_effect = true} : (tensor<i1>) -> ()
        %y, %i = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) {api_version = 2 : i32}
            : (tensor<1x4xf32>, tensor<i32>) -> (tensor<1x?xf32>, tensor<1x?xi32>)
        %r = $0 : (tensor<1x?xf32>) -> tensor<1x?xf32>
        return %r : tensor<1x?xf32>
      })"},
    {"no fewer than the lowest number, a constant that nothing may be added to", R"(
      func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
        %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
        %n = stablehlo.convert %size : (tensor<i32>) -> tensor<i64>
        %600 = stablehlo.constant dense<600> : tensor<i64>
        %low = stablehlo.constant dense<-9223372036854775808> : tensor<i64>
        %least = stablehlo.maximum %600, %low : tensor<i64>
        %many = stablehlo.compare GT, %n, %least : (tensor<i64>, tensor<i64>) -> tensor<i1>
        stablehlo.custom_call @shape_assertion(%many) {error_message = "too few", has_side_effect = true} : (tensor<i1>) -> ()
        %y = stablehlo.negate %x : tensor<?xf32>
        %r = $0 : (tensor<?xf32>) -> tensor<?xf32>
        return %r : tensor<?xf32>
      })"},
};

TEST(TemplateRefusalTest, WhatRunsForNoSizesIsRefusedHoweverFewTheProgramTakes) {
  for (const RefusalCase& one : kRefusalCases) {
    SCOPED_TRACE(one.what);
    const absl::Status status =
        CompileText(OneThreadClient(), absl::Substitute(one.text, kUnknown)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "nobody_knows_me")) << status;
    EXPECT_TRUE(CompileText(OneThreadClient(), absl::Substitute(one.text, kKnown)).ok());
  }
}

TEST(TemplateRefusalTest, TheSizesOfARefusalAreNamed) {
  const absl::Status status =
      CompileText(OneThreadClient(), absl::Substitute(kRefusalCases[2].text, kUnknown)).status();
  EXPECT_TRUE(absl::StrContains(status.message(), "(when 7 are put for what is unknown)"))
      << status;
}

TEST(TemplateRefusalTest, ALoopThatChangesShapesIsRefusedBehindAssertions) {
  const absl::Status status = CompileText(OneThreadClient(), R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?xf32>) -> tensor<i32>
      %50 = stablehlo.constant dense<50> : tensor<i32>
      %ok = stablehlo.compare GE, %n, %50 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.custom_call @shape_assertion(%ok) {error_message = "few", has_side_effect = true} : (tensor<i1>) -> ()
      %r = stablehlo.while(%v = %x) : tensor<?xf32>
      cond {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %s = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
        %c = stablehlo.compare LT, %s, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %twice = stablehlo.concatenate %v, %v, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        stablehlo.return %twice : tensor<?xf32>
      }
      return %r : tensor<?xf32>
    })")
                                  .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "stablehlo.while")) << status;
}

TEST(TemplateRefusalTest, ShapesFromComputedDataAreRefusedWhereverTheyCount) {
  // %f is computed; %n is as many as it says.
  constexpr char kFrom[] = R"(
    func.func @main(%x: tensor<?xf32>, %c: tensor<6x6xf32>) -> tensor<?x?xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %f = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
      %n = stablehlo.convert %f : (tensor<f32>) -> tensor<i32>
      %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
      %n2 = stablehlo.concatenate %n1, %n1, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
      %ones = stablehlo.constant dense<1> : tensor<2xi32>
      %r = $0
      return %r : tensor<?x?xf32>
    })";
  for (const char* op : {
           "stablehlo.dynamic_broadcast_in_dim %f, %n2, dims = [] : (tensor<f32>, tensor<2xi32>) "
           "-> tensor<?x?xf32>",
           "stablehlo.dynamic_reshape %c, %n2 : (tensor<6x6xf32>, tensor<2xi32>) -> "
           "tensor<?x?xf32>",
           "stablehlo.dynamic_iota %n2, dim = 0 : (tensor<2xi32>) -> tensor<?x?xf32>",
           "stablehlo.dynamic_pad %c, %f, %n2, %n2, %n2 : (tensor<6x6xf32>, tensor<f32>, "
           "tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>",
           "stablehlo.real_dynamic_slice %c, %ones, %n2, %ones : (tensor<6x6xf32>, tensor<2xi32>, "
           "tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>",
           "stablehlo.set_dimension_size %c, %n, dim = 0 : (tensor<6x6xf32>, tensor<i32>) -> "
           "tensor<?x?xf32>",
       }) {
    const absl::Status status =
        CompileText(OneThreadClient(), absl::Substitute(kFrom, op)).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << op << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "[PJRT-I032]")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), "depends on data in an argument")) << status;
  }
}

TEST(TemplateRefusalTest, BranchesWhoseShapesAgreeForSomeSizesRunForThose) {
  const auto executable = CompileText(OneThreadClient(), R"(
    func.func @main(%p: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %r = "stablehlo.if"(%p) ({
        %a = stablehlo.concatenate %x, %x, dim = 0 : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        stablehlo.return %a : tensor<?xf32>
      }, {
        stablehlo.return %y : tensor<?xf32>
      }) : (tensor<i1>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    })");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal yes = Preds({}, {1});
  const Literal x = Array<float>({1}, {5}), y = Array<float>({2}, {1, 2});
  EXPECT_THAT(*RunLoadedOne<float>(OneThreadClient(), **executable, {&yes, &x, &y}),
              ElementsAre(5, 5));
  EXPECT_EQ(RunLoadedOne<float>(OneThreadClient(), **executable, {&yes, &y, &y}).status().code(),
            absl::StatusCode::kUnimplemented);
}

TEST(TemplateRefusalTest, ProgramsThatNoSizesSatisfyAreLeftToTheirAssertions) {
  const auto executable = CompileText(OneThreadClient(), R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %no = stablehlo.constant dense<false> : tensor<i1>
      stablehlo.custom_call @shape_assertion(%no) {error_message = "never", has_side_effect = true} : (tensor<i1>) -> ()
      return %x : tensor<?xf32>
    })");
  ASSERT_TRUE(executable.ok()) << executable.status();
  const Literal x = Array<float>({1}, {5});
  const absl::Status status = RunLoadedOne<float>(OneThreadClient(), **executable, {&x}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "never")) << status;
}

}  // namespace
}  // namespace pjrt::cpu
