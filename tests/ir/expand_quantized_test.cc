// SPDX-License-Identifier: Apache-2.0
//
// ExpandQuantized: which ops are left, with which types. Values are tested on the CPU device.
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

void ExpectQuantizedBecomes(absl::string_view text, absl::string_view expected) {
  ExpectBecomes(ExpandQuantized, text, expected);
}

// The expanded program, which has no quantized type left.
std::string WithoutQuantized(absl::string_view text) {
  std::string after = After(ExpandQuantized, text);
  EXPECT_FALSE(absl::StrContains(after, "quant.")) << text << "\nbecomes\n" << after;
  EXPECT_FALSE(absl::StrContains(after, "uniform_")) << after;
  return after;
}

TEST(ExpandQuantizedTest, QuantizingDividesAddsClampsRoundsAndConverts) {
  ExpectQuantizedBecomes(
      R"(func.func @main(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>> {
           %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
           return %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
         })",
      R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xi8> {
           %s = stablehlo.constant dense<0.5> : tensor<4xf32>
           %0 = stablehlo.divide %x, %s : tensor<4xf32>
           %z = stablehlo.constant dense<3.0> : tensor<4xf32>
           %1 = stablehlo.add %0, %z : tensor<4xf32>
           %low = stablehlo.constant dense<-128.0> : tensor<f32>
           %high = stablehlo.constant dense<127.0> : tensor<f32>
           %2 = stablehlo.clamp %low, %1, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
           %3 = stablehlo.round_nearest_even %2 : tensor<4xf32>
           %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xi8>
           return %4 : tensor<4xi8>
         })");
}

TEST(ExpandQuantizedTest, DequantizingBroadcastsTheScalesOfAnAxis) {
  ExpectQuantizedBecomes(
      R"(func.func @main(%x: tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<3x2xf32> {
           %0 = stablehlo.uniform_dequantize %x : (tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25}>>) -> tensor<3x2xf32>
           return %0 : tensor<3x2xf32>
         })",
      R"(func.func @main(%x: tensor<3x2xi8>) -> tensor<3x2xf32> {
           %0 = stablehlo.convert %x : (tensor<3x2xi8>) -> tensor<3x2xf32>
           %c = stablehlo.constant dense<[0.5, 0.25]> : tensor<2xf32>
           %s = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
           %1 = stablehlo.multiply %0, %s : tensor<3x2xf32>
           return %1 : tensor<3x2xf32>
         })");
}

TEST(ExpandQuantizedTest, BlocksMakeTwoDimensionsOfOne) {
  ExpectQuantizedBecomes(
      R"(func.func @main(%x: tensor<4x3x!quant.uniform<i8:f32:{0:2}, {{0.5}, {0.25}}>>) -> tensor<4x3xf32> {
           %0 = stablehlo.uniform_dequantize %x : (tensor<4x3x!quant.uniform<i8:f32:{0:2}, {{0.5}, {0.25}}>>) -> tensor<4x3xf32>
           return %0 : tensor<4x3xf32>
         })",
      R"(func.func @main(%x: tensor<4x3xi8>) -> tensor<4x3xf32> {
           %0 = stablehlo.reshape %x : (tensor<4x3xi8>) -> tensor<2x2x3xi8>
           %1 = stablehlo.convert %0 : (tensor<2x2x3xi8>) -> tensor<2x2x3xf32>
           %c = stablehlo.constant dense<[0.5, 0.25]> : tensor<2xf32>
           %s = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<2xf32>) -> tensor<2x2x3xf32>
           %2 = stablehlo.multiply %1, %s : tensor<2x2x3xf32>
           %3 = stablehlo.reshape %2 : (tensor<2x2x3xf32>) -> tensor<4x3xf32>
           return %3 : tensor<4x3xf32>
         })");
}

// A function of one op.
std::string QuantizedProgram(absl::string_view signature, absl::string_view op,
                             absl::string_view result) {
  return absl::StrCat("func.func @main(", signature, ") -> ", result, " {\n  %r = ", op,
                      "\n  return %r : ", result, "\n}\n");
}

TEST(ExpandQuantizedTest, OpsOfOneOperandComputeInFloats) {
  const std::string q = "tensor<2x3x!quant.uniform<i8:f32, 0.1:-5>>";
  for (const char* op : {"cbrt", "ceil", "cosine", "exponential", "exponential_minus_one", "floor",
                         "log", "log_plus_one", "logistic", "round_nearest_afz",
                         "round_nearest_even", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh"}) {
    const std::string text = WithoutQuantized(
        QuantizedProgram("%x: " + q, absl::StrCat("stablehlo.", op, " %x : ", q), q));
    EXPECT_TRUE(absl::StrContains(text, absl::StrCat(op, " %"))) << text;
    EXPECT_TRUE(absl::StrContains(text, "tensor<2x3xf32>")) << text;
  }
}

TEST(ExpandQuantizedTest, OpsOfTwoOperandsComputeInFloatsWhereQuantizationsDiffer) {
  const std::string a = "tensor<4x!quant.uniform<i8:f32, 0.1:-5>>";
  const std::string b = "tensor<4x!quant.uniform<i8:f32, 0.25>>";
  for (const char* op : {"add", "atan2", "divide", "maximum", "minimum", "multiply", "power",
                         "remainder", "subtract"}) {
    const std::string text = WithoutQuantized(
        QuantizedProgram("%x: " + a + ", %y: " + b,
                         absl::StrCat("stablehlo.", op, " %x, %y : (", a, ", ", b, ") -> ", a), a));
    EXPECT_TRUE(absl::StrContains(text, "tensor<4xf32>")) << text;
  }
}

TEST(ExpandQuantizedTest, SumsOfOneQuantizationAreSumsOfIntegers) {
  const std::string q = "tensor<4x!quant.uniform<i8:f32, 0.1:-5>>";
  for (const char* op : {"add", "maximum", "minimum", "subtract"}) {
    const std::string text = WithoutQuantized(QuantizedProgram(
        "%x: " + q + ", %y: " + q, absl::StrCat("stablehlo.", op, " %x, %y : ", q), q));
    EXPECT_FALSE(absl::StrContains(text, "f32")) << text;
  }
  for (const char* op : {"abs", "negate"}) {
    const std::string text = WithoutQuantized(
        QuantizedProgram("%x: " + q, absl::StrCat("stablehlo.", op, " %x : ", q), q));
    EXPECT_FALSE(absl::StrContains(text, "f32")) << text;
  }
}

TEST(ExpandQuantizedTest, IntegersAreNotUsedWhereFloatsWouldRound) {
  for (const char* element : {"i32:f32, 0.1", "i8:bf16, 0.1", "i8:f16, 0.1", "i8:f32, 1.0e-40"}) {
    const std::string q = absl::StrCat("tensor<4x!quant.uniform<", element, ">>");
    const std::string text = WithoutQuantized(
        QuantizedProgram("%x: " + q + ", %y: " + q, absl::StrCat("stablehlo.add %x, %y : ", q), q));
    EXPECT_TRUE(absl::StrContains(text, "divide")) << text;
  }
}

TEST(ExpandQuantizedTest, ComparisonsOfOneQuantizationCompareIntegers) {
  const std::string q = "tensor<4x!quant.uniform<i8:f32, 0.1:-5>>";
  ExpectQuantizedBecomes(QuantizedProgram("%x: " + q + ", %y: " + q,
                                          absl::StrCat("stablehlo.compare LT, %x, %y, FLOAT : (", q,
                                                       ", ", q, ") -> tensor<4xi1>"),
                                          "tensor<4xi1>"),
                         R"(func.func @main(%x: tensor<4xi8>, %y: tensor<4xi8>) -> tensor<4xi1> {
           %0 = stablehlo.compare LT, %x, %y : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi1>
           return %0 : tensor<4xi1>
         })");
}

TEST(ExpandQuantizedTest, ProductsAddBytesAndMendTheSums) {
  const std::string a = "tensor<8x3x!quant.uniform<i8:f32, 0.5:3>>";
  const std::string b = "tensor<3x8x!quant.uniform<i8:f32, 0.25>>";
  const std::string r = "tensor<8x8x!quant.uniform<i32:f32, 0.125>>";
  ExpectQuantizedBecomes(
      QuantizedProgram(
          "%a: " + a + ", %b: " + b,
          absl::StrCat("stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (", a, ", ", b,
                       ") -> ", r),
          r),
      R"(func.func @main(%a: tensor<8x3xi8>, %b: tensor<3x8xi8>) -> tensor<8x8xi32> {
           %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x3xi8>, tensor<3x8xi8>) -> tensor<8x8xi32>
           %1 = stablehlo.convert %b : (tensor<3x8xi8>) -> tensor<3x8xi32>
           %c = stablehlo.constant dense<0> : tensor<i32>
           %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<3x8xi32>, tensor<i32>) -> tensor<8xi32>
           %z = stablehlo.constant dense<3> : tensor<8xi32>
           %3 = stablehlo.multiply %2, %z : tensor<8xi32>
           %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<8xi32>) -> tensor<8x8xi32>
           %5 = stablehlo.subtract %0, %4 : tensor<8x8xi32>
           return %5 : tensor<8x8xi32>
         })");
}

TEST(ExpandQuantizedTest, ProductsOfBlocksAndOfFloatsMultiplyFloats) {
  const std::string a = "tensor<2x4xf32>";
  const std::string b = "tensor<4x3x!quant.uniform<i8:f32:{0:2}, {{0.5}, {0.25}}>>";
  const std::string r = "tensor<2x3xf32>";
  const std::string text = WithoutQuantized(QuantizedProgram(
      "%a: " + a + ", %b: " + b,
      absl::StrCat("stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (", a, ", ", b,
                   ") -> ", r),
      r));
  EXPECT_TRUE(absl::StrContains(text, "(tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x3xf32>"))
      << text;
}

TEST(ExpandQuantizedTest, OpsThatMoveValuesMoveStoredIntegers) {
  const std::string e = "!quant.uniform<i8:f32, 0.1:-5>";
  const std::string q = absl::StrCat("tensor<4x2x", e, ">"), q8 = absl::StrCat("tensor<8x", e, ">"),
                    t = absl::StrCat("tensor<2x4x", e, ">"), s = absl::StrCat("tensor<", e, ">");
  const std::string arguments =
      absl::StrCat("%x: ", q, ", %v: ", s, ", %i: tensor<i32>, %p: tensor<4x2xi1>");
  const std::pair<std::string, std::string> cases[] = {
      {absl::StrCat("stablehlo.reshape %x : (", q, ") -> ", q8), q8},
      {absl::StrCat("stablehlo.transpose %x, dims = [1, 0] : (", q, ") -> ", t), t},
      {absl::StrCat("stablehlo.broadcast_in_dim %v, dims = [] : (", s, ") -> ", q), q},
      {absl::StrCat("stablehlo.slice %x [0:4, 0:2] : (", q, ") -> ", q), q},
      {absl::StrCat("stablehlo.dynamic_slice %x, %i, %i, sizes = [4, 2] : (", q,
                    ", tensor<i32>, tensor<i32>) -> ", q),
       q},
      {absl::StrCat("stablehlo.dynamic_update_slice %x, %x, %i, %i : (", q, ", ", q,
                    ", tensor<i32>, tensor<i32>) -> ", q),
       q},
      {absl::StrCat("stablehlo.concatenate %x, %x, dim = 0 : (", q, ", ", q, ") -> ",
                    absl::StrReplaceAll(q, {{"4x2", "8x2"}})),
       absl::StrReplaceAll(q, {{"4x2", "8x2"}})},
      {absl::StrCat("stablehlo.pad %x, %v, low = [0, 0], high = [0, 0], interior = [0, 0] : (", q,
                    ", ", s, ") -> ", q),
       q},
      {absl::StrCat("stablehlo.reverse %x, dims = [0] : ", q), q},
      {absl::StrCat("stablehlo.select %p, %x, %x : tensor<4x2xi1>, ", q), q},
      {absl::StrCat("stablehlo.optimization_barrier %x : ", q), q},
  };
  for (const auto& [op, result] : cases) {
    const std::string text = WithoutQuantized(QuantizedProgram(arguments, op, result));
    EXPECT_FALSE(absl::StrContains(text, "f32")) << text;
  }
}

TEST(ExpandQuantizedTest, ValuesThatAreChosenFromAnotherQuantizationAreQuantizedAnew) {
  const std::string a = "tensor<2x!quant.uniform<i8:f32, 0.1:-5>>";
  const std::string b = "tensor<2x!quant.uniform<i8:f32, 0.2>>";
  const std::string text = WithoutQuantized(QuantizedProgram(
      absl::StrCat("%p: tensor<2xi1>, %x: ", a, ", %y: ", a),
      absl::StrCat("stablehlo.select %p, %x, %y : (tensor<2xi1>, ", a, ", ", a, ") -> ", b), b));
  EXPECT_TRUE(absl::StrContains(text, "select")) << text;
  EXPECT_TRUE(absl::StrContains(text, "round_nearest_even")) << text;
}

TEST(ExpandQuantizedTest, ScalesOfAnAxisMoveWithIt) {
  const std::string a = "tensor<2x3x!quant.uniform<i8:f32:0, {0.1, 0.2:3}>>";
  const std::string b = "tensor<3x2x!quant.uniform<i8:f32:1, {0.1, 0.2:3}>>";
  ExpectQuantizedBecomes(
      QuantizedProgram("%x: " + a,
                       absl::StrCat("stablehlo.transpose %x, dims = [1, 0] : (", a, ") -> ", b), b),
      R"(func.func @main(%x: tensor<2x3xi8>) -> tensor<3x2xi8> {
           %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
           return %0 : tensor<3x2xi8>
         })");
}

TEST(ExpandQuantizedTest, ConstantsKeepTheirStoredIntegers) {
  ExpectQuantizedBecomes(
      R"(func.func @main() -> tensor<2x!quant.uniform<u8:f32, 0.1:5>> {
           %0 = stablehlo.constant() <{value = dense<[1, 255]> : tensor<2xui8>}> : () -> tensor<2x!quant.uniform<u8:f32, 0.1:5>>
           return %0 : tensor<2x!quant.uniform<u8:f32, 0.1:5>>
         })",
      R"(func.func @main() -> tensor<2xui8> {
           %0 = stablehlo.constant dense<[1, 255]> : tensor<2xui8>
           return %0 : tensor<2xui8>
         })");
}

TEST(ExpandQuantizedTest, BitcastsToAndFromTheStorageTypeVanish) {
  const std::string q = "tensor<2x!quant.uniform<i8:f32, 0.1:5>>";
  ExpectQuantizedBecomes(
      QuantizedProgram("%x: tensor<2xi8>", "stablehlo.bitcast_convert %x : (tensor<2xi8>) -> " + q,
                       q),
      "func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {\n  return %x : tensor<2xi8>\n}");
}

TEST(ExpandQuantizedTest, RegionsWorkOnStoredIntegers) {
  const std::string q = "tensor<4x!quant.uniform<i8:f32, 0.1:-5>>";
  const std::string s = "tensor<!quant.uniform<i8:f32, 0.1:-5>>";
  const std::string text = WithoutQuantized(QuantizedProgram(
      "%x: " + q + ", %i: " + s,
      absl::StrCat(
          "stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [0] "
          ": (",
          q, ", ", s, ") -> ", s),
      s));
  EXPECT_FALSE(absl::StrContains(text, "f32")) << text;
  EXPECT_TRUE(absl::StrContains(text, "stablehlo.maximum")) << text;
}

TEST(ExpandQuantizedTest, InputsOfAReductionTakeTheQuantizationOfItsBody) {
  const std::string text = WithoutQuantized(R"(
      func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.1:-5>>,
                      %i: tensor<!quant.uniform<i32:f32, 0.1>>) -> tensor<!quant.uniform<i32:f32, 0.1>> {
        %r = stablehlo.reduce(%x init: %i) across dimensions = [0]
          : (tensor<4x!quant.uniform<i8:f32, 0.1:-5>>, tensor<!quant.uniform<i32:f32, 0.1>>)
            -> tensor<!quant.uniform<i32:f32, 0.1>>
          reducer(%a: tensor<!quant.uniform<i32:f32, 0.1>>, %b: tensor<!quant.uniform<i32:f32, 0.1>>) {
          %c = stablehlo.add %a, %b : tensor<!quant.uniform<i32:f32, 0.1>>
          stablehlo.return %c : tensor<!quant.uniform<i32:f32, 0.1>>
        }
        return %r : tensor<!quant.uniform<i32:f32, 0.1>>
      })");
  EXPECT_TRUE(absl::StrContains(text, "tensor<4xi32>")) << text;
}

TEST(ExpandQuantizedTest, ASelectionTakesTheQuantizationOfItsSums) {
  const std::string text = WithoutQuantized(absl::StrReplaceAll(
      R"(
      func.func @main(%x: tensor<4x$n>, %y: tensor<2x$n>, %i: tensor<$w>) -> tensor<4x$w> {
        %r = "stablehlo.select_and_scatter"(%x, %y, %i) ({
        ^bb0(%a: tensor<$n>, %b: tensor<$n>):
          %c = stablehlo.compare GE, %a, %b : (tensor<$n>, tensor<$n>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }, {
        ^bb0(%a: tensor<$w>, %b: tensor<$w>):
          %c = stablehlo.add %a, %b : tensor<$w>
          stablehlo.return %c : tensor<$w>
        }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}
            : (tensor<4x$n>, tensor<2x$n>, tensor<$w>) -> tensor<4x$w>
        return %r : tensor<4x$w>
      })",
      {{"$n", "!quant.uniform<i8:f32, 0.5:3>"}, {"$w", "!quant.uniform<i16:f32, 0.5:3>"}}));
  EXPECT_TRUE(absl::StrContains(text, "(tensor<4xi16>, tensor<2xi16>, tensor<i16>)")) << text;
}

TEST(ExpandQuantizedTest, LoopsCarryStoredIntegers) {
  const std::string q = "tensor<4x!quant.uniform<i8:f32:0, {0.1, 0.2, 0.3, 0.4}>>";
  WithoutQuantized(absl::StrReplaceAll(R"(
      func.func @main(%x: $q, %n: tensor<i32>) -> $q {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %r:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, $q
          cond {
            %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %c : tensor<i1>
          } do {
            %j = stablehlo.add %i, %one : tensor<i32>
            %w = stablehlo.add %v, %v : $q
            stablehlo.return %j, %w : tensor<i32>, $q
          }
        return %r#1 : $q
      })",
                                       {{"$q", q}}));
}

TEST(ExpandQuantizedTest, DynamicShapesStayAsTheyAre) {
  const std::string q = "tensor<?x!quant.uniform<i8:f32, 0.1:-5>>";
  const std::string program = QuantizedProgram("%x: " + q, "stablehlo.negate %x : " + q, q);
  ExpectQuantizedBecomes(program, program);
}

}  // namespace
}  // namespace pjrt::ir
