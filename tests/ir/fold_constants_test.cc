// SPDX-License-Identifier: Apache-2.0
//
// FoldConstants: what ops on constants become, and what is left alone.
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/ir/passes.h"
#include "pjrt/ir/printer.h"
#include "pjrt/ir/verifier.h"
#include "tests/ir/parser_test_util.h"

namespace pjrt::ir {
namespace {

// Folds a function that returns `%r`, and says what `%r` then is: the constant's text, or the name
// of the op that is left.
std::string Folded(absl::string_view body, absl::string_view type, int64_t limit = 1024) {
  const std::unique_ptr<Module> module =
      MustParse(absl::StrCat("func.func @main(%x: tensor<2xf32>) -> ", type, " {\n", body,
                             "\n  return %r : ", type, "\n}\n"));
  if (module == nullptr) return "";
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module);
  FoldConstants(module.get(), limit);
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module) << "\n" << PrintModule(*module);
  const Op* const result = module->EntryFunction().body()->terminator()->operand(0)->defining_op();
  if (result == nullptr) return "argument";
  return result->Is(OpCode::kConstant) ? result->attr("value").ToString()
                                       : std::string(result->name());
}

// An op on two constants of a type.
std::string Binary(absl::string_view op, absl::string_view a, absl::string_view b,
                   absl::string_view type) {
  return Folded(absl::StrCat("%a = stablehlo.constant dense<", a, "> : ", type,
                             "\n%b = stablehlo.constant dense<", b, "> : ", type,
                             "\n%r = stablehlo.", op, " %a, %b : ", type),
                type);
}

std::string Unary(absl::string_view op, absl::string_view a, absl::string_view type) {
  return Folded(absl::StrCat("%a = stablehlo.constant dense<", a, "> : ", type, "\n%r = stablehlo.",
                             op, " %a : ", type),
                type);
}

TEST(FoldConstantsTest, IntegersWrapToTheirWidth) {
  EXPECT_EQ(Binary("add", "[127, 1]", "[1, 2]", "tensor<2xi8>"), "dense<[-128, 3]> : tensor<2xi8>");
  EXPECT_EQ(Binary("add", "[255, 1]", "[1, 2]", "tensor<2xui8>"), "dense<[0, 3]> : tensor<2xui8>");
  EXPECT_EQ(Binary("multiply", "[7, 3]", "[2, 2]", "tensor<2xi4>"),
            "dense<[-2, 6]> : tensor<2xi4>");
  EXPECT_EQ(Binary("subtract", "-9223372036854775808", "1", "tensor<i64>"),
            "dense<9223372036854775807> : tensor<i64>");
  EXPECT_EQ(Binary("multiply", "[65535, 2]", "[65535, 3]", "tensor<2xui16>"),
            "dense<[1, 6]> : tensor<2xui16>");
  EXPECT_EQ(Unary("negate", "-2147483648", "tensor<i32>"), "dense<-2147483648> : tensor<i32>");
  EXPECT_EQ(Unary("abs", "-128", "tensor<i8>"), "dense<-128> : tensor<i8>");
}

TEST(FoldConstantsTest, DivisionIsDefinedForEveryDivisor) {
  EXPECT_EQ(Binary("divide", "[7, -7, 5, -2147483648]", "[2, 2, 0, -1]", "tensor<4xi32>"),
            "dense<[3, -3, -1, -2147483648]> : tensor<4xi32>");
  EXPECT_EQ(Binary("remainder", "[7, -7, 5, -2147483648]", "[4, 4, 0, -1]", "tensor<4xi32>"),
            "dense<[3, -3, 5, 0]> : tensor<4xi32>");
  EXPECT_EQ(Binary("divide", "[200, 5]", "[7, 0]", "tensor<2xui8>"),
            "dense<[28, 255]> : tensor<2xui8>");
  EXPECT_EQ(Binary("power", "[2, -1, 3, 1]", "[10, -3, -1, -5]", "tensor<4xi32>"),
            "dense<[1024, -1, 0, 1]> : tensor<4xi32>");
}

TEST(FoldConstantsTest, ShiftsOfTheWidthAndMoreLeaveNothingButSigns) {
  EXPECT_EQ(Binary("shift_left", "[1, 1, 3, -1]", "[7, 8, 1, -1]", "tensor<4xi8>"),
            "dense<[-128, 0, 6, 0]> : tensor<4xi8>");
  EXPECT_EQ(Binary("shift_right_logical", "[-1, -1, 16]", "[4, 9, 2]", "tensor<3xi8>"),
            "dense<[15, 0, 4]> : tensor<3xi8>");
  EXPECT_EQ(Binary("shift_right_arithmetic", "[-16, -1, 16]", "[2, 9, 77]", "tensor<3xi8>"),
            "dense<[-4, -1, 0]> : tensor<3xi8>");
  EXPECT_EQ(Binary("shift_right_arithmetic", "[200, 100]", "[2, 2]", "tensor<2xui8>"),
            "dense<[242, 25]> : tensor<2xui8>");
}

TEST(FoldConstantsTest, BitsAndBooleans) {
  EXPECT_EQ(Binary("and", "[true, true]", "[true, false]", "tensor<2xi1>"),
            "dense<[true, false]> : tensor<2xi1>");
  EXPECT_EQ(Binary("add", "[true, true]", "[true, false]", "tensor<2xi1>"),
            "dense<true> : tensor<2xi1>");
  EXPECT_EQ(Unary("not", "[true, false]", "tensor<2xi1>"), "dense<[false, true]> : tensor<2xi1>");
  EXPECT_EQ(Unary("not", "[0, 5]", "tensor<2xui4>"), "dense<[15, 10]> : tensor<2xui4>");
  EXPECT_EQ(Unary("popcnt", "[-1, 5]", "tensor<2xi16>"), "dense<[16, 2]> : tensor<2xi16>");
  EXPECT_EQ(Unary("count_leading_zeros", "[0, 1, -1]", "tensor<3xi16>"),
            "dense<[16, 15, 0]> : tensor<3xi16>");
  EXPECT_EQ(Unary("sign", "[-7, 0, 9]", "tensor<3xi32>"), "dense<[-1, 0, 1]> : tensor<3xi32>");
}

TEST(FoldConstantsTest, FloatsRoundOnceInTheirType) {
  EXPECT_EQ(Binary("add", "[1.0, 0.1]", "[2.0, 0.2]", "tensor<2xf32>"),
            "dense<[3.0, 0.3]> : tensor<2xf32>");
  EXPECT_EQ(Binary("add", "256.0", "1.0", "tensor<bf16>"), "dense<256.0> : tensor<bf16>");
  EXPECT_EQ(Binary("divide", "1.0", "0.0", "tensor<f64>"),
            "dense<0x7FF0000000000000> : tensor<f64>");
  EXPECT_EQ(Binary("maximum", "0.0", "-0.0", "tensor<f32>"), "dense<0.0> : tensor<f32>");
  EXPECT_EQ(Binary("minimum", "0.0", "-0.0", "tensor<f32>"), "dense<-0.0> : tensor<f32>");
  EXPECT_EQ(Unary("round_nearest_even", "[0.5, 1.5, -2.5]", "tensor<3xf32>"),
            "dense<[0.0, 2.0, -2.0]> : tensor<3xf32>");
  EXPECT_EQ(Unary("floor", "-0.5", "tensor<f32>"), "dense<-1.0> : tensor<f32>");
}

TEST(FoldConstantsTest, NanResultsAreLeftToTheDevice) {
  EXPECT_EQ(Binary("divide", "0.0", "0.0", "tensor<f32>"), "stablehlo.divide");
  EXPECT_EQ(Binary("maximum", "0x7FC00000", "1.0", "tensor<f32>"), "stablehlo.maximum");
  EXPECT_EQ(Unary("exponential", "1.0", "tensor<f32>"), "stablehlo.exponential");
}

TEST(FoldConstantsTest, ComparisonsSelectsAndConversions) {
  EXPECT_EQ(Folded(R"(
    %a = stablehlo.constant dense<[1, -1]> : tensor<2xi32>
    %b = stablehlo.constant dense<[0, 0]> : tensor<2xi32>
    %r = stablehlo.compare GT, %a, %b, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>)",
                   "tensor<2xi1>"),
            "dense<[true, false]> : tensor<2xi1>");
  EXPECT_EQ(Folded(R"(
    %a = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %r = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>)",
                   "tensor<i1>"),
            "dense<true> : tensor<i1>");
  EXPECT_EQ(Folded(R"(
    %p = stablehlo.constant dense<false> : tensor<i1>
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
    %b = stablehlo.constant dense<[3, 4]> : tensor<2xi64>
    %r = stablehlo.select %p, %a, %b : tensor<i1>, tensor<2xi64>)",
                   "tensor<2xi64>"),
            "dense<[3, 4]> : tensor<2xi64>");
  EXPECT_EQ(Folded(R"(
    %a = stablehlo.constant dense<[3.9, -3.9, 1.0e20]> : tensor<3xf64>
    %r = stablehlo.convert %a : (tensor<3xf64>) -> tensor<3xi32>)",
                   "tensor<3xi32>"),
            "dense<[3, -3, 2147483647]> : tensor<3xi32>");
  EXPECT_EQ(Folded(R"(
    %lo = stablehlo.constant dense<2> : tensor<i32>
    %a = stablehlo.constant dense<[1, 5, 9]> : tensor<3xi32>
    %hi = stablehlo.constant dense<6> : tensor<i32>
    %r = stablehlo.clamp %lo, %a, %hi : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>)",
                   "tensor<3xi32>"),
            "dense<[2, 5, 6]> : tensor<3xi32>");
}

TEST(FoldConstantsTest, ElementsMove) {
  const std::string matrix =
      "%a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>\n";
  EXPECT_EQ(Folded(matrix + "%r = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xi32>) -> "
                            "tensor<3x2xi32>",
                   "tensor<3x2xi32>"),
            "dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>");
  EXPECT_EQ(
      Folded(matrix + "%r = stablehlo.reverse %a, dims = [1] : tensor<2x3xi32>", "tensor<2x3xi32>"),
      "dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>");
  EXPECT_EQ(Folded(matrix + "%r = stablehlo.slice %a [0:2, 0:3:2] : (tensor<2x3xi32>) -> "
                            "tensor<2x2xi32>",
                   "tensor<2x2xi32>"),
            "dense<[[1, 3], [4, 6]]> : tensor<2x2xi32>");
  EXPECT_EQ(Folded(matrix + "%r = stablehlo.reshape %a : (tensor<2x3xi32>) -> tensor<6xi32>",
                   "tensor<6xi32>"),
            "dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>");
  EXPECT_EQ(Folded(matrix + "%r = stablehlo.concatenate %a, %a, dim = 1 : (tensor<2x3xi32>, "
                            "tensor<2x3xi32>) -> tensor<2x6xi32>",
                   "tensor<2x6xi32>"),
            "dense<[[1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]> : tensor<2x6xi32>");
  EXPECT_EQ(Folded(matrix + R"(
    %i = stablehlo.constant dense<9> : tensor<i32>
    %j = stablehlo.constant dense<-3> : tensor<i32>
    %r = stablehlo.dynamic_slice %a, %i, %j, sizes = [1, 2]
        : (tensor<2x3xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>)",
                   "tensor<1x2xi32>"),
            "dense<[[4, 5]]> : tensor<1x2xi32>");
  EXPECT_EQ(Folded(R"(
    %a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
    %z = stablehlo.constant dense<0> : tensor<i32>
    %r = stablehlo.pad %a, %z, low = [-1], high = [2], interior = [1]
        : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>)",
                   "tensor<6xi32>"),
            "dense<[0, 2, 0, 3, 0, 0]> : tensor<6xi32>");
  EXPECT_EQ(Folded(R"(
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %r = stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<2xi32>) -> tensor<2x2xi32>)",
                   "tensor<2x2xi32>"),
            "dense<[[1, 1], [2, 2]]> : tensor<2x2xi32>");
  EXPECT_EQ(Folded("%r = stablehlo.iota dim = 1 : tensor<2x3xf16>", "tensor<2x3xf16>"),
            "dense<[[0.0, 1.0, 2.0], [0.0, 1.0, "
            "2.0]]> : tensor<2x3xf16>");
}

TEST(FoldConstantsTest, GatherClampsItsStarts) {
  EXPECT_EQ(Folded(R"(
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %i = stablehlo.constant dense<[[1], [7]]> : tensor<2x1xi64>
    %r = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [0],
        collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
        slice_sizes = array<i64: 2, 1>} : (tensor<2x3xi32>, tensor<2x1xi64>) -> tensor<2x2xi32>)",
                   "tensor<2x2xi32>"),
            "dense<[[2, 3], [5, 6]]> : tensor<2x2xi32>");
}

TEST(FoldConstantsTest, IntegersReduce) {
  EXPECT_EQ(Folded(R"(
    %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %r = stablehlo.reduce(%a init: %one) applies stablehlo.multiply across dimensions = [1]
        : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32>)",
                   "tensor<2xi32>"),
            "dense<[6, 120]> : tensor<2xi32>");
}

TEST(FoldConstantsTest, SizesOfStaticDimensionsAreConstants) {
  EXPECT_EQ(Folded("%r = stablehlo.get_dimension_size %x, dim = 0 : (tensor<2xf32>) -> tensor<i32>",
                   "tensor<i32>"),
            "dense<2> : tensor<i32>");
}

TEST(FoldConstantsTest, OnlySplatsMayPassTheLimit) {
  EXPECT_EQ(Folded(R"(
    %a = stablehlo.constant dense<2> : tensor<100000xi32>
    %r = stablehlo.add %a, %a : tensor<100000xi32>)",
                   "tensor<100000xi32>"),
            "dense<4> : tensor<100000xi32>");
  EXPECT_EQ(Folded("%r = stablehlo.iota dim = 0 : tensor<5xi32>", "tensor<5xi32>", 4),
            "stablehlo.iota");
  EXPECT_EQ(Folded("%r = stablehlo.iota dim = 0 : tensor<0xi32>", "tensor<0xi32>"),
            "dense<> : tensor<0xi32>");
}

TEST(FoldConstantsTest, AConstantChoiceLeavesItsBranch) {
  const std::string branches = R"(
    %r = "stablehlo.case"(%i) ({
      %a = stablehlo.constant dense<1> : tensor<i32>
      stablehlo.return %a : tensor<i32>
    }, {
      %b = stablehlo.constant dense<2> : tensor<i32>
      %c = stablehlo.add %b, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>)";
  EXPECT_EQ(Folded("%i = stablehlo.constant dense<0> : tensor<i32>" + branches, "tensor<i32>"),
            "dense<1> : tensor<i32>");
  // Indices out of range choose the last branch.
  EXPECT_EQ(Folded("%i = stablehlo.constant dense<-1> : tensor<i32>" + branches, "tensor<i32>"),
            "dense<4> : tensor<i32>");
}

}  // namespace
}  // namespace pjrt::ir
