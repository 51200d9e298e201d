// SPDX-License-Identifier: Apache-2.0
//
// ExpandChlo: which ops are left, with which types. Values are tested on the CPU device.
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "pjrt/ir/passes.h"
#include "pjrt/ir/printer.h"
#include "pjrt/ir/verifier.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

// The expanded module as text, verified.
std::string Expanded(absl::string_view text) {
  const std::unique_ptr<Module> module = MustParse(text);
  if (module == nullptr) return "";
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module);
  EXPECT_TRUE(ExpandChlo(module.get()).ok());
  EXPECT_TRUE(VerifyModule(*module).ok()) << VerifyModule(*module) << "\n" << PrintModule(*module);
  return PrintModule(*module);
}

std::string UnaryProgram(absl::string_view op, absl::string_view from, absl::string_view to) {
  return absl::StrCat("func.func @main(%x: ", from, ") -> ", to, " {\n  %y = chlo.", op,
                      " %x : ", from, " -> ", to, "\n  return %y : ", to, "\n}\n");
}

void ExpectNoneLeft(const std::string& program) {
  const std::string text = Expanded(program);
  EXPECT_FALSE(text.empty());
  EXPECT_FALSE(absl::StrContains(text, "chlo.")) << program << "becomes\n" << text;
}

TEST(ExpandChloTest, NoFunctionOfOneFloatIsLeft) {
  for (const char* op :
       {"acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e", "conj", "cosh", "digamma",
        "erf", "erf_inv", "erfc", "lgamma", "sinh", "square", "tan"}) {
    for (const char* type : {"f64", "f32", "f16", "bf16", "f8E5M2"}) {
      const std::string tensor = absl::StrCat("tensor<2x3x", type, ">");
      ExpectNoneLeft(UnaryProgram(op, tensor, tensor));
    }
  }
}

TEST(ExpandChloTest, NoFunctionOfOneComplexNumberIsLeftThatHasAnExpansion) {
  for (const char* op : {"acos", "acosh", "asin", "asinh", "atan", "atanh", "_asin_acos_kernel",
                         "conj", "cosh", "sinh", "square", "tan"}) {
    for (const char* type : {"tensor<4xcomplex<f32>>", "tensor<complex<f64>>"}) {
      ExpectNoneLeft(UnaryProgram(op, type, type));
    }
  }
}

TEST(ExpandChloTest, TestsOfInfinityBecomeComparisons) {
  for (const char* op : {"is_inf", "is_pos_inf", "is_neg_inf"}) {
    ExpectNoneLeft(UnaryProgram(op, "tensor<4xbf16>", "tensor<4xi1>"));
  }
}

TEST(ExpandChloTest, FunctionsOfTwoNumbersExpandForEachTypeThatTheyTake) {
  for (const char* op : {"next_after", "polygamma", "zeta"}) {
    for (const char* type : {"f64", "f32", "f16", "bf16"}) {
      const std::string t = absl::StrCat("tensor<3x", type, ">");
      ExpectNoneLeft(absl::StrCat("func.func @main(%x: ", t, ", %y: ", t, ") -> ", t,
                                  " {\n  %z = chlo.", op, " %x, %y : ", t, ", ", t, " -> ", t,
                                  "\n  return %z : ", t, "\n}\n"));
    }
  }
  for (const char* type : {"i4", "ui4", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"}) {
    const std::string t = absl::StrCat("tensor<3x", type, ">");
    ExpectNoneLeft(absl::StrCat("func.func @main(%x: ", t, ", %y: ", t, ") -> ", t,
                                " {\n  %z = chlo.mulhi %x, %y : ", t, ", ", t, " -> ", t,
                                "\n  return %z : ", t, "\n}\n"));
  }
}

TEST(ExpandChloTest, BroadcastingPutsTheDimensionsWhereTheyAreSaidToBe) {
  const std::string text = Expanded(R"(
func.func @main(%a: tensor<2x3xf32>, %b: tensor<2xf32>) -> tensor<2x3xf32> {
  %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 0>}
      : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
})");
  EXPECT_TRUE(absl::StrContains(text, "broadcast_in_dim %arg1, dims = [0]")) << text;
  EXPECT_TRUE(absl::StrContains(text, "stablehlo.add %arg0, ")) << text;
  EXPECT_FALSE(absl::StrContains(text, "chlo.broadcast")) << text;
}

TEST(ExpandChloTest, BroadcastZetaIsExpandedTwice) {
  ExpectNoneLeft(R"(
func.func @main(%a: tensor<f32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = chlo.broadcast_zeta %a, %b : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})");
}

TEST(ExpandChloTest, BroadcastCompareSelectAndComplexExpand) {
  ExpectNoneLeft(R"(
func.func @main(%a: tensor<3x1xf32>, %b: tensor<4xf32>) -> (tensor<3x4xf32>, tensor<3x4xcomplex<f32>>) {
  %0 = "chlo.broadcast_compare"(%a, %b) {comparison_direction = #chlo<comparison_direction LT>}
      : (tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xi1>
  %3 = chlo.broadcast_compare %a, %b {comparison_direction = #chlo<comparison_direction GE>}
      : (tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xi1>
  %4 = stablehlo.xor %0, %3 : tensor<3x4xi1>
  %1 = chlo.broadcast_select %4, %a, %b
      : (tensor<3x4xi1>, tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %2 = chlo.broadcast_complex %a, %b : (tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xcomplex<f32>>
  return %1, %2 : tensor<3x4xf32>, tensor<3x4xcomplex<f32>>
})");
}

TEST(ExpandChloTest, ConstantsBecomeStableHlo) {
  ExpectNoneLeft(R"(
func.func @main(%a: tensor<3xf32>) -> (tensor<3xf32>, tensor<2xi32>) {
  %0 = "chlo.constant_like"(%a) {value = 1.5 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  %1 = chlo.constant dense<[1, 2]> : tensor<2xi32>
  return %0, %1 : tensor<3xf32>, tensor<2xi32>
})");
  ExpectBecomes([](Module* module) { EXPECT_TRUE(ExpandChlo(module).ok()); }, R"(
func.func @main(%a: tensor<3xf64>) -> tensor<3xcomplex<f64>> {
  %0 = "chlo.constant_like"(%a) {value = #complex.number<:f64 1.5, -2.0>} : (tensor<3xf64>) -> tensor<3xcomplex<f64>>
  return %0 : tensor<3xcomplex<f64>>
})",
                R"(
func.func @main(%a: tensor<3xf64>) -> tensor<3xcomplex<f64>> {
  %0 = stablehlo.constant dense<1.5> : tensor<3xf64>
  %1 = stablehlo.constant dense<-2.0> : tensor<3xf64>
  %2 = stablehlo.complex %0, %1 : tensor<3xcomplex<f64>>
  return %2 : tensor<3xcomplex<f64>>
})");
}

TEST(ExpandChloTest, OpsInsideOfRegionsExpandToo) {
  ExpectNoneLeft(R"(
func.func @main(%x: tensor<4xf32>, %c: tensor<f32>) -> tensor<f32> {
  %0:2 = chlo.scan(%x) inits(%c) dimension=0 {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = chlo.erf %a : tensor<f32> -> tensor<f32>
    %2 = stablehlo.add %1, %b : tensor<f32>
    stablehlo.return %2, %2 : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return %0#1 : tensor<f32>
})");
}

TEST(ExpandChloTest, TopKOfEachKindOfElementExpands) {
  for (const char* type : {"f32", "f16", "i8", "ui32", "i64", "i1"}) {
    ExpectNoneLeft(absl::StrCat(
        "func.func @main(%x: tensor<5x4x", type, ">) -> (tensor<5x2x", type,
        ">, tensor<5x2xi32>) {\n  %v, %i = chlo.top_k(%x, k = 2) : tensor<5x4x", type,
        "> -> (tensor<5x2x", type, ">, tensor<5x2xi32>)\n  return %v, %i : tensor<5x2x", type,
        ">, tensor<5x2xi32>\n}\n"));
  }
}

TEST(ExpandChloTest, DynamicShapesStayAsTheyAre) {
  const std::string text = Expanded(UnaryProgram("erf", "tensor<?xf32>", "tensor<?xf32>"));
  EXPECT_TRUE(absl::StrContains(text, "chlo.erf")) << text;
}

}  // namespace
}  // namespace pjrt::ir
