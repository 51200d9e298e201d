// SPDX-License-Identifier: Apache-2.0
//
// What the verifier accepts and refuses: elementwise ops.
#include <string>

#include "gtest/gtest.h"
#include "tests/ir/verify_test_util.h"

namespace pjrt::ir {
namespace {

constexpr char kTwoVectors[] = "%a: tensor<2xf32>, %b: tensor<2xf32>";

TEST(VerifyElementwiseTest, OperandsOfOneTypeAreFine) {
  EXPECT_EQ(Verdict(kTwoVectors, "%0 = stablehlo.add %a, %b : tensor<2xf32>"), "ok");
  EXPECT_EQ(Verdict("%a: tensor<i1>", "%0 = stablehlo.add %a, %a : tensor<i1>"), "ok");
  EXPECT_EQ(Verdict("%a: tensor<2xui4>", "%0 = stablehlo.power %a, %a : tensor<2xui4>"), "ok");
}

TEST(VerifyElementwiseTest, OperandsOfDifferentShapesAreRefused) {
  EXPECT_EQ(
      Verdict("%a: tensor<2xf32>, %b: tensor<3xf32>",
              R"(%0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>)"),
      "V008");
}

TEST(VerifyElementwiseTest, OperandsOfDifferentElementTypesAreRefused) {
  EXPECT_EQ(
      Verdict(
          "%a: tensor<2xf32>, %b: tensor<2xi32>",
          R"(%0 = "stablehlo.multiply"(%a, %b) : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>)"),
      "V008");
}

TEST(VerifyElementwiseTest, ADynamicSizeAgreesWithAnyWithinItsBound) {
  EXPECT_EQ(
      Verdict("%a: tensor<2xf32>, %b: tensor<?xf32>",
              R"(%0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<?xf32>) -> tensor<2xf32>)"),
      "ok");
  const std::string args = "%a: tensor<5xf32>, %b: tensor<?xf32, #stablehlo.bounds<4>>";
  EXPECT_EQ(Verdict(args, R"(%0 = "stablehlo.add"(%a, %b)
                : (tensor<5xf32>, tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<5xf32>)"),
            "V008");
}

TEST(VerifyElementwiseTest, AResultOfAnotherTypeIsRefused) {
  EXPECT_EQ(
      Verdict(kTwoVectors,
              R"(%0 = "stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf64>)"),
      "V006");
  EXPECT_EQ(Verdict("%a: tensor<2xcomplex<f32>>",
                    "%0 = stablehlo.abs %a : (tensor<2xcomplex<f32>>) -> tensor<2xf32>"),
            "ok");
  EXPECT_EQ(Verdict("%a: tensor<2xcomplex<f32>>",
                    "%0 = stablehlo.abs %a : (tensor<2xcomplex<f32>>) -> tensor<2xf64>"),
            "V006");
}

TEST(VerifyElementwiseTest, ElementTypesThatAnOpDoesNotTakeAreRefused) {
  EXPECT_EQ(Verdict("%a: tensor<2xf32>", "%0 = stablehlo.popcnt %a : tensor<2xf32>"), "V002");
  EXPECT_EQ(Verdict("%a: tensor<2xui8>", "%0 = stablehlo.abs %a : tensor<2xui8>"), "V002");
  EXPECT_EQ(Verdict("%a: tensor<2xi32>", "%0 = stablehlo.tanh %a : tensor<2xi32>"), "V002");
  EXPECT_EQ(Verdict("%a: tensor<2xi3>", "%0 = stablehlo.add %a, %a : tensor<2xi3>"), "V002");
  EXPECT_EQ(
      Verdict("%a: tensor<2xcomplex<f32>>", "%0 = stablehlo.floor %a : tensor<2xcomplex<f32>>"),
      "V002");
  EXPECT_EQ(Verdict("%a: tensor<*xf32>", "%0 = stablehlo.abs %a : tensor<*xf32>"), "V002");
}

TEST(VerifyElementwiseTest, TheNumberOfOperandsMustFit) {
  EXPECT_EQ(
      Verdict(kTwoVectors,
              R"(%0 = "stablehlo.abs"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>)"),
      "V001");
  EXPECT_EQ(
      Verdict(kTwoVectors, R"("stablehlo.add"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> ())"),
      "V001");
}

TEST(VerifyElementwiseTest, CompareGivesI1OfTheOperandsShape) {
  EXPECT_EQ(
      Verdict(kTwoVectors,
              "%0 = stablehlo.compare LT, %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>"),
      "ok");
  EXPECT_EQ(
      Verdict(kTwoVectors,
              "%0 = stablehlo.compare LT, %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi8>"),
      "V002");
  EXPECT_EQ(
      Verdict(kTwoVectors,
              "%0 = stablehlo.compare LT, %a, %b : (tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>"),
      "V006");
}

TEST(VerifyElementwiseTest, ACompareTypeSuitsTheElementType) {
  const std::string floats = "(tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>";
  EXPECT_EQ(Verdict(kTwoVectors, "%0 = stablehlo.compare LT, %a, %b, TOTALORDER : " + floats),
            "ok");
  EXPECT_EQ(Verdict(kTwoVectors, "%0 = stablehlo.compare LT, %a, %b, SIGNED : " + floats), "V005");
  EXPECT_EQ(
      Verdict(
          "%a: tensor<i1>",
          "%0 = stablehlo.compare EQ, %a, %a, UNSIGNED : (tensor<i1>, tensor<i1>) -> tensor<i1>"),
      "ok");
}

TEST(VerifyElementwiseTest, AnAttributeThatIsMissingOrOfTheWrongKindIsRefused) {
  EXPECT_EQ(
      Verdict(
          kTwoVectors,
          R"(%0 = "stablehlo.compare"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>)"),
      "V003");
  EXPECT_EQ(Verdict(kTwoVectors, R"(%0 = "stablehlo.compare"(%a, %b) {comparison_direction = "LT"}
                : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>)"),
            "V004");
}

TEST(VerifyElementwiseTest, SelectTakesAScalarOrFullPredicate) {
  const std::string args = "%p: tensor<i1>, %q: tensor<2xi1>, %r: tensor<3xi1>, %a: tensor<2xf32>";
  EXPECT_EQ(Verdict(args, "%0 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<2xf32>"), "ok");
  EXPECT_EQ(Verdict(args, "%0 = stablehlo.select %q, %a, %a : tensor<2xi1>, tensor<2xf32>"), "ok");
  EXPECT_EQ(Verdict(args, "%0 = stablehlo.select %r, %a, %a : tensor<3xi1>, tensor<2xf32>"),
            "V008");
}

TEST(VerifyElementwiseTest, ClampTakesScalarOrFullLimits) {
  const std::string args = "%s: tensor<f32>, %a: tensor<2xf32>, %b: tensor<3xf32>, %i: tensor<i32>";
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<2xf32>, tensor<f32>) "
                    "-> tensor<2xf32>"),
            "ok");
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.clamp %b, %a, %s : (tensor<3xf32>, tensor<2xf32>, tensor<f32>) "
                    "-> tensor<2xf32>"),
            "V008");
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.clamp %s, %a, %i : (tensor<f32>, tensor<2xf32>, tensor<i32>) "
                    "-> tensor<2xf32>"),
            "V008");
}

TEST(VerifyElementwiseTest, ComplexIsMadeOfF32OrF64) {
  EXPECT_EQ(Verdict("%a: tensor<2xf64>", "%0 = stablehlo.complex %a, %a : tensor<2xcomplex<f64>>"),
            "ok");
  EXPECT_EQ(
      Verdict(
          "%a: tensor<2xf16>",
          R"(%0 = "stablehlo.complex"(%a, %a) : (tensor<2xf16>, tensor<2xf16>) -> tensor<2xcomplex<f32>>)"),
      "V002");
}

TEST(VerifyElementwiseTest, ReducePrecisionHasPositiveExponentBits) {
  EXPECT_EQ(Verdict("%a: tensor<2xf32>",
                    "%0 = stablehlo.reduce_precision %a, format = e5m0 : tensor<2xf32>"),
            "ok");
  EXPECT_EQ(Verdict("%a: tensor<2xf32>", R"(%0 = "stablehlo.reduce_precision"(%a)
                {exponent_bits = 0 : i32, mantissa_bits = 3 : i32} : (tensor<2xf32>) -> tensor<2xf32>)"),
            "V005");
  EXPECT_EQ(Verdict("%a: tensor<2xf32>", R"(%0 = "stablehlo.reduce_precision"(%a)
                {exponent_bits = 3 : i64, mantissa_bits = 3 : i32} : (tensor<2xf32>) -> tensor<2xf32>)"),
            "V004");
}

TEST(VerifyElementwiseTest, ConvertKeepsTheShape) {
  EXPECT_EQ(
      Verdict("%a: tensor<2xf32>", "%0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<2xi1>"),
      "ok");
  EXPECT_EQ(
      Verdict("%a: tensor<2xf32>", "%0 = stablehlo.convert %a : (tensor<2xf32>) -> tensor<3xi1>"),
      "V008");
}

TEST(VerifyElementwiseTest, BitcastsKeepTheBits) {
  const std::string arg = "%a: tensor<2x4xi8>, %w: tensor<2xi32>, %c: tensor<2xcomplex<f32>>";
  EXPECT_EQ(Verdict(arg, "%0 = stablehlo.bitcast_convert %a : (tensor<2x4xi8>) -> tensor<2xf32>"),
            "ok");
  EXPECT_EQ(Verdict(arg, "%0 = stablehlo.bitcast_convert %w : (tensor<2xi32>) -> tensor<2x2xf16>"),
            "ok");
  EXPECT_EQ(Verdict(arg, "%0 = stablehlo.bitcast_convert %w : (tensor<2xi32>) -> tensor<2x3xf16>"),
            "V011");
  EXPECT_EQ(Verdict(arg, "%0 = stablehlo.bitcast_convert %w : (tensor<2xi32>) -> tensor<4xf16>"),
            "V008");
  EXPECT_EQ(
      Verdict(arg, "%0 = stablehlo.bitcast_convert %c : (tensor<2xcomplex<f32>>) -> tensor<2xf64>"),
      "V002");
}

TEST(VerifyElementwiseTest, QuantizedAndOtherOperandsDoNotMix) {
  const std::string q = "tensor<2x!quant.uniform<i8:f32, 2.0:15>>";
  const std::string other = "tensor<2x!quant.uniform<i8:f32, 3.0:1>>";
  EXPECT_EQ(Verdict("%a: " + q + ", %b: " + other,
                    "%0 = \"stablehlo.add\"(%a, %b) : (" + q + ", " + other + ") -> " + other),
            "ok");
  EXPECT_EQ(Verdict("%a: " + q + ", %b: tensor<2xf32>",
                    "%0 = \"stablehlo.add\"(%a, %b) : (" + q + ", tensor<2xf32>) -> " + q),
            "V009");
  // A sum is quantized by axis where one of what it adds is, and along that one's axis.
  const std::string by_axis = "tensor<2x2x!quant.uniform<i8:f32:1, {2.0, 3.0}>>";
  const std::string by_other = "tensor<2x2x!quant.uniform<i8:f32:0, {2.0, 3.0}>>";
  const std::string whole = "tensor<2x2x!quant.uniform<i8:f32, 3.0:1>>";
  const auto add = [](const std::string& lhs, const std::string& rhs, const std::string& sum) {
    return Verdict("%a: " + lhs + ", %b: " + rhs,
                   "%0 = stablehlo.add %a, %b : (" + lhs + ", " + rhs + ") -> " + sum);
  };
  EXPECT_EQ(add(by_axis, by_axis, by_axis), "ok");
  EXPECT_EQ(add(by_axis, whole, by_axis), "ok");
  EXPECT_EQ(add(whole, by_axis, by_axis), "ok");
  EXPECT_EQ(add(by_axis, whole, by_other), "V009");
  EXPECT_NE(add(by_axis, by_axis, whole), "ok");
  EXPECT_NE(add(by_axis, whole, whole), "ok");
  EXPECT_NE(add(whole, whole, by_axis), "ok");
  const auto select = [&](const std::string& on_true, const std::string& on_false) {
    return Verdict("%p: tensor<2xi1>, %a: " + on_true + ", %b: " + on_false,
                   "%0 = stablehlo.select %p, %a, %b : (tensor<2xi1>, " + on_true + ", " +
                       on_false + ") -> " + on_true);
  };
  EXPECT_EQ(select(q, q), "ok");
  EXPECT_EQ(select(q, other), "V009");
}

TEST(VerifyElementwiseTest, ElementTypesThatStableHloLacksAreRefused) {
  for (const std::string element :
       {"si8", "i3", "i128", "f80", "complex<f16>", "!quant.uniform<i1:f32, 1.0>",
        "!quant.uniform<i3:f32, 1.0>", "!quant.uniform<i8:f80, 1.0>"}) {
    const std::string type = "tensor<2x" + element + ">";
    EXPECT_NE(Verdict("%a: " + type, "%0 = stablehlo.add %a, %a : " + type), "ok") << element;
  }
}

TEST(VerifyElementwiseTest, QuantizationKeepsTheExpressedType) {
  const std::string q = "tensor<2x!quant.uniform<i8:f32, 2.0:15>>";
  EXPECT_EQ(
      Verdict("%a: tensor<2xf32>", "%0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> " + q),
      "ok");
  EXPECT_EQ(
      Verdict("%a: tensor<2xf64>", "%0 = stablehlo.uniform_quantize %a : (tensor<2xf64>) -> " + q),
      "V009");
  EXPECT_EQ(
      Verdict("%a: " + q, "%0 = stablehlo.uniform_dequantize %a : (" + q + ") -> tensor<2xf32>"),
      "ok");
  EXPECT_EQ(
      Verdict("%a: " + q, "%0 = stablehlo.uniform_dequantize %a : (" + q + ") -> tensor<2xf64>"),
      "V006");
}

TEST(VerifyElementwiseTest, OnlyTolerancesOfModeToleranceCount) {
  const auto accuracy = [](const std::string& text) {
    return Verdict("%a: tensor<2xf32>",
                   "%0 = \"stablehlo.tanh\"(%a) {result_accuracy = #stablehlo.result_accuracy<" +
                       text + ">} : (tensor<2xf32>) -> tensor<2xf32>");
  };
  EXPECT_EQ(accuracy("ulps = 0, mode = #stablehlo.result_accuracy_mode<HIGHEST>"), "ok");
  EXPECT_EQ(accuracy("ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>"), "ok");
  EXPECT_NE(accuracy("ulps = 2, mode = #stablehlo.result_accuracy_mode<HIGHEST>"), "ok");
}

TEST(VerifyElementwiseTest, ChloFunctionsOfRealNumbersTakeNoComplexOnes) {
  for (const char* op : {"digamma", "erf", "erf_inv", "erfc", "lgamma"}) {
    const auto verdict = [&](const std::string& type) {
      return Verdict("%a: " + type,
                     "%0 = chlo." + std::string(op) + " %a : " + type + " -> " + type);
    };
    EXPECT_EQ(verdict("tensor<2xbf16>"), "ok") << op;
    EXPECT_EQ(verdict("tensor<2xcomplex<f32>>"), "V002") << op;
  }
  for (const char* op : {"polygamma", "zeta"}) {
    EXPECT_EQ(Verdict("%a: tensor<2xcomplex<f32>>",
                      "%0 = chlo." + std::string(op) +
                          " %a, %a : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>> -> "
                          "tensor<2xcomplex<f32>>"),
              "V002")
        << op;
  }
}

TEST(VerifyElementwiseTest, ChloOpsAreWrittenWithTheTypesOfTheirResults) {
  const std::string verdict = Verdict("%a: tensor<2xf32>", "%0 = chlo.erf %a : tensor<2xf32>");
  EXPECT_EQ(
      verdict.substr(0, verdict.find(", found")),
      "parser: [PJRT-P001] <input>:2:33: unexpected token: expected '->' and the types of the "
      "results");
}

TEST(VerifyElementwiseTest, MessagesSayWhereWhatWasGivenAndWhatWasExpected) {
  ParseOptions options;
  options.source_name = "m.mlir";
  const auto module = ParseModule(
      "func.func @f(%a: tensor<2xf32>) {\n  %0 = \"stablehlo.abs\"(%a) : (tensor<2xf32>) -> "
      "tensor<3xf32>\n  return\n}",
      options);
  ASSERT_TRUE(module.ok());
  EXPECT_EQ(VerifyModule(**module).message(),
            "[PJRT-V006] m.mlir:2:8: 'stablehlo.abs' op: result 0 is not of the type that follows "
            "from the operands; given "
            "tensor<3xf32>, expected tensor<2xf32>");
}

}  // namespace
}  // namespace pjrt::ir
