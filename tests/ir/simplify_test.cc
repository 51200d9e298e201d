// SPDX-License-Identifier: Apache-2.0
//
// Simplify: what it makes simpler, and what it must leave because a bit would change.
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

// A function of %x (and %y) of `type` that returns %r of `result`, which `ops` define.
std::string Program(absl::string_view type, absl::string_view result, absl::string_view ops) {
  return absl::StrCat("func.func @main(%x: tensor<", type, ">, %y: tensor<", type, ">) -> tensor<",
                      result, "> {\n", ops, "\n return %r : tensor<", result, ">\n}");
}

// `ops` amount to `simple`.
void ExpectSimple(absl::string_view type, absl::string_view result, absl::string_view ops,
                  absl::string_view simple) {
  SCOPED_TRACE(ops);
  ExpectBecomes(SimplifyAndClean, Program(type, result, ops), Program(type, result, simple));
}
void ExpectUnchanged(absl::string_view type, absl::string_view result, absl::string_view ops) {
  ExpectSimple(type, result, ops, ops);
}
// `ops` give %x itself.
void ExpectIdentity(absl::string_view type, absl::string_view ops) {
  SCOPED_TRACE(ops);
  ExpectBecomes(SimplifyAndClean, Program(type, type, ops),
                absl::StrCat("func.func @main(%x: tensor<", type, ">, %y: tensor<", type,
                             ">) -> tensor<", type, "> { return %x : tensor<", type, "> }"));
}

std::string WithConstant(absl::string_view op, absl::string_view type, absl::string_view value,
                         bool constant_first = false) {
  return absl::StrCat(" %c = stablehlo.constant dense<", value, "> : tensor<", type,
                      ">\n %r = stablehlo.", op, constant_first ? " %c, %x" : " %x, %c",
                      " : tensor<", type, ">");
}

TEST(SimplifyTest, NeutralElementsGo) {
  for (const char* type : {"4xf32", "bf16", "2xf64", "4xi32", "3xui8"}) {
    const bool is_float = std::string(type).find('f') != std::string::npos;
    const char* one = is_float ? "1.0" : "1";
    ExpectIdentity(type, WithConstant("multiply", type, one));
    ExpectIdentity(type, WithConstant("multiply", type, one, true));
    ExpectIdentity(type, WithConstant("divide", type, one));
    ExpectIdentity(type, WithConstant("power", type, one));
    ExpectIdentity(type, WithConstant("subtract", type, is_float ? "0.0" : "0"));
    ExpectIdentity(type, WithConstant("add", type, is_float ? "-0.0" : "0"));
  }
  ExpectIdentity("4xf32", WithConstant("maximum", "4xf32", "0xFF800000"));  // -inf
  ExpectIdentity("4xf32", WithConstant("minimum", "4xf32", "0x7F800000", true));
  ExpectIdentity("2xf64", WithConstant("maximum", "2xf64", "0xFFF0000000000000", true));
  ExpectIdentity("bf16", WithConstant("minimum", "bf16", "0x7F80"));
  ExpectUnchanged("4xf32", "4xf32", WithConstant("maximum", "4xf32", "0x7F800000"));
  ExpectUnchanged("4xf32", "4xf32", WithConstant("minimum", "4xf32", "0x7FC00000"));  // NaN
  ExpectIdentity("4xi32", WithConstant("and", "4xi32", "-1"));
  ExpectIdentity("4xi1", WithConstant("and", "4xi1", "true"));
  ExpectIdentity("4xi1", WithConstant("or", "4xi1", "false", true));
  ExpectIdentity("4xui16", WithConstant("xor", "4xui16", "0"));
  ExpectIdentity("4xui16", WithConstant("shift_left", "4xui16", "0"));
}

TEST(SimplifyTest, AReductionOfOneElementEachIsTheOperationOnIt) {
  const auto reduce = [](const char* op, const char* from, const char* to, const char* init) {
    return absl::StrCat(
        " %c = stablehlo.constant dense<", init, ">\n %r = stablehlo.reduce(%x init: %c)",
        " applies stablehlo.", op, " across dimensions = [1] : (tensor<", from, ">, tensor<",
        std::string(to).substr(std::string(to).rfind('x') + 1), ">) -> tensor<", to, ">");
  };
  ExpectSimple("4x1xi1", "4xi1", reduce("and", "4x1xi1", "4xi1", "true> : tensor<i1"),
               "%r = stablehlo.reshape %x : (tensor<4x1xi1>) -> tensor<4xi1>");
  ExpectSimple("4x1xf32", "4xf32", reduce("add", "4x1xf32", "4xf32", "2.0> : tensor<f32"),
               R"(%c = stablehlo.constant dense<2.0> : tensor<4xf32>
                  %e = stablehlo.reshape %x : (tensor<4x1xf32>) -> tensor<4xf32>
                  %r = stablehlo.add %c, %e : tensor<4xf32>)");
  ExpectUnchanged("4x2xi1", "4xi1", reduce("and", "4x2xi1", "4xi1", "true> : tensor<i1"));
  // A body may name its arguments in any order.
  ExpectSimple("4x1xi32", "4xi32", R"(%c = stablehlo.constant dense<2> : tensor<i32>
                  %r = "stablehlo.reduce"(%x, %c) ({
                  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
                    %s = stablehlo.add %b, %a : tensor<i32>
                    stablehlo.return %s : tensor<i32>
                  }) {dimensions = array<i64: 1>} : (tensor<4x1xi32>, tensor<i32>) -> tensor<4xi32>)",
               R"(%c = stablehlo.constant dense<2> : tensor<4xi32>
                  %e = stablehlo.reshape %x : (tensor<4x1xi32>) -> tensor<4xi32>
                  %r = stablehlo.add %c, %e : tensor<4xi32>)");
}

TEST(SimplifyTest, AFloatPlusZeroStaysBecauseOfMinusZero) {
  ExpectUnchanged("4xf32", "4xf32", WithConstant("add", "4xf32", "0.0"));
  ExpectUnchanged("4xf32", "4xf32", WithConstant("subtract", "4xf32", "-0.0"));
  ExpectUnchanged("4xf32", "4xf32", WithConstant("multiply", "4xf32", "0.0"));
  ExpectUnchanged("4xf32", "4xf32", " %r = stablehlo.subtract %x, %x : tensor<4xf32>");
}

TEST(SimplifyTest, IntegersThatCancelAreZero) {
  const char* zero = " %r = stablehlo.constant dense<0> : tensor<4xi32>";
  ExpectSimple("4xi32", "4xi32", " %r = stablehlo.subtract %x, %x : tensor<4xi32>", zero);
  ExpectSimple("4xi32", "4xi32", " %r = stablehlo.xor %x, %x : tensor<4xi32>", zero);
  ExpectSimple("4xi32", "4xi32", WithConstant("multiply", "4xi32", "0"), zero);
  ExpectSimple("4xi32", "4xi32", WithConstant("and", "4xi32", "0", true), zero);
}

TEST(SimplifyTest, UnsignedDivisionByAPowerOfTwoIsAShiftAndItsRemainderAMask) {
  ExpectSimple("4xui32", "4xui32", WithConstant("divide", "4xui32", "8"),
               WithConstant("shift_right_logical", "4xui32", "3"));
  ExpectSimple("4xui32", "4xui32", WithConstant("remainder", "4xui32", "8"),
               WithConstant("and", "4xui32", "7"));
  ExpectSimple("4xui64", "4xui64", WithConstant("remainder", "4xui64", "9223372036854775808"),
               WithConstant("and", "4xui64", "9223372036854775807"));
  ExpectUnchanged("4xi32", "4xi32", WithConstant("divide", "4xi32", "8"));
  ExpectUnchanged("4xui32", "4xui32", WithConstant("divide", "4xui32", "6"));
  ExpectUnchanged("4xui32", "4xui32", WithConstant("divide", "4xui32", "0"));
}

TEST(SimplifyTest, DivisionByAPowerOfTwoIsAProductWhereItsReciprocalIsExact) {
  const auto becomes = [](const char* type, const char* divisor, const char* factor) {
    ExpectSimple(type, type, WithConstant("divide", type, divisor),
                 WithConstant("multiply", type, factor));
  };
  becomes("4xf32", "-8.0", "-0.125");
  becomes("4xf32", "0.25", "4.0");
  becomes("f16", "32.0", "0.03125");
  becomes("4xbf16", "0.5", "2.0");
  becomes("2xf64", "1024.0", "0.0009765625");
  becomes("4xf32", "0x00800000", "0x7E800000");  // the least and the largest such number
  becomes("4xf32", "0x7E800000", "0x00800000");
  for (const char* other : {"3.0", "0.0", "0x7F000000", "0x00400000", "0x7F800000", "0x7FC00000"})
    ExpectUnchanged("4xf32", "4xf32", WithConstant("divide", "4xf32", other));
  ExpectUnchanged("4xf32", "4xf32", WithConstant("divide", "4xf32", "8.0", true));
}

TEST(SimplifyTest, SquaresAreProducts) {
  ExpectSimple("4xf32", "4xf32", WithConstant("power", "4xf32", "2.0"),
               " %r = stablehlo.multiply %x, %x : tensor<4xf32>");
  ExpectUnchanged("4xf32", "4xf32", WithConstant("power", "4xf32", "3.0"));
}

TEST(SimplifyTest, InvolutionsUndoThemselvesAndIdempotentOpsNeedOnlyOneRun) {
  ExpectIdentity("4xf32",
                 " %0 = stablehlo.negate %x : tensor<4xf32>\n %r = stablehlo.negate %0 : "
                 "tensor<4xf32>");
  ExpectIdentity("4xi1",
                 " %0 = stablehlo.not %x : tensor<4xi1>\n %r = stablehlo.not %0 : tensor<4xi1>");
  ExpectSimple("4xf32", "4xf32",
               " %0 = stablehlo.floor %x : tensor<4xf32>\n %r = stablehlo.floor %0 : tensor<4xf32>",
               " %r = stablehlo.floor %x : tensor<4xf32>");
  ExpectIdentity("4xf32", " %r = stablehlo.maximum %x, %x : tensor<4xf32>");
}

// The type has no sign, so that the first negative is NaN already.
TEST(SimplifyTest, TwoNegationsOfF8E8M0FnuUndoNothing) {
  ExpectUnchanged("4xf8E8M0FNU", "4xf8E8M0FNU",
                  " %0 = stablehlo.negate %x : tensor<4xf8E8M0FNU>\n"
                  " %r = stablehlo.negate %0 : tensor<4xf8E8M0FNU>");
}

TEST(SimplifyTest, AnIntegerComparedWithItselfIsKnownAFloatIsNot) {
  ExpectSimple("4xi32", "4xi1",
               " %r = stablehlo.compare GE, %x, %x : (tensor<4xi32>, tensor<4xi32>) -> "
               "tensor<4xi1>",
               " %r = stablehlo.constant dense<true> : tensor<4xi1>");
  ExpectSimple("4xi32", "4xi1",
               " %r = stablehlo.compare NE, %x, %x : (tensor<4xi32>, tensor<4xi32>) -> "
               "tensor<4xi1>",
               " %r = stablehlo.constant dense<false> : tensor<4xi1>");
  ExpectUnchanged("4xf32", "4xi1",
                  " %r = stablehlo.compare EQ, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> "
                  "tensor<4xi1>");
}

TEST(SimplifyTest, SelectionsByConstantsAndOfEqualsAreDecided) {
  ExpectIdentity("4xf32",
                 " %p = stablehlo.constant dense<true> : tensor<i1>\n %r = stablehlo.select %p, "
                 "%x, %y : tensor<i1>, tensor<4xf32>");
  ExpectIdentity("4xf32",
                 " %p = stablehlo.constant dense<false> : tensor<4xi1>\n %r = stablehlo.select %p, "
                 "%y, %x : tensor<4xi1>, tensor<4xf32>");
  ExpectIdentity("4xi1", " %r = stablehlo.select %y, %x, %x : tensor<4xi1>, tensor<4xi1>");
}

TEST(SimplifyTest, SelectionsBetweenBooleansAreLogic) {
  const auto select = [](const char* operands) {
    return absl::StrCat(" %t = stablehlo.constant dense<true> : tensor<4xi1>\n",
                        " %f = stablehlo.constant dense<false> : tensor<4xi1>\n",
                        " %r = stablehlo.select ", operands, " : tensor<4xi1>, tensor<4xi1>");
  };
  ExpectIdentity("4xi1", select("%x, %t, %f"));
  ExpectSimple("4xi1", "4xi1", select("%x, %t, %y"), " %r = stablehlo.or %x, %y : tensor<4xi1>");
  ExpectSimple("4xi1", "4xi1", select("%x, %y, %f"), " %r = stablehlo.and %x, %y : tensor<4xi1>");
  // One predicate for all elements stays one.
  const std::string scalar =
      " %p = stablehlo.constant dense<true> : tensor<4xi1>\n"
      " %q = stablehlo.reshape %x : (tensor<1xi1>) -> tensor<i1>\n"
      " %b = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<1xi1>) -> tensor<4xi1>\n"
      " %r = stablehlo.select %q, %p, %b : tensor<i1>, tensor<4xi1>";
  ExpectUnchanged("1xi1", "4xi1", scalar);
}

std::string Convert(absl::string_view from, absl::string_view over, absl::string_view to) {
  return absl::StrCat(" %0 = stablehlo.convert %x : (tensor<", from, ">) -> tensor<", over,
                      ">\n %r = stablehlo.convert %0 : (tensor<", over, ">) -> tensor<", to, ">");
}
std::string Convert(absl::string_view from, absl::string_view to) {
  return absl::StrCat(" %r = stablehlo.convert %x : (tensor<", from, ">) -> tensor<", to, ">");
}

TEST(SimplifyTest, ConversionsThroughAWiderTypeGoStraight) {
  for (const auto& [from, over] :
       {std::pair("4xbf16", "4xf32"), std::pair("4xf16", "4xf64"), std::pair("4xi8", "4xi32"),
        std::pair("4xui8", "4xi16"), std::pair("4xi1", "4xf32"), std::pair("4xi16", "4xf32"),
        std::pair("4xi32", "4xf64")}) {
    ExpectIdentity(from, Convert(from, over, from));
  }
  ExpectSimple("4xf16", "4xf64", Convert("4xf16", "4xf32", "4xf64"), Convert("4xf16", "4xf64"));
  ExpectSimple("4xi8", "4xf32", Convert("4xi8", "4xi32", "4xf32"), Convert("4xi8", "4xf32"));
  ExpectSimple("4xf32", "4xbf16", Convert("4xf32", "4xf64", "4xbf16"), Convert("4xf32", "4xbf16"));
}

TEST(SimplifyTest, ConversionsThatLoseStay) {
  for (const auto& [from, over] :
       {std::pair("4xf32", "4xbf16"), std::pair("4xi32", "4xf32"), std::pair("4xi32", "4xui32"),
        std::pair("4xi64", "4xf64"), std::pair("4xf16", "4xbf16"), std::pair("4xf32", "4xi32"),
        std::pair("4xi8", "4xui32")}) {
    ExpectUnchanged(from, from, Convert(from, over, from));
  }
  ExpectUnchanged("4xi32", "4xi8", Convert("4xi32", "4xf64", "4xi8"));
}

TEST(SimplifyTest, ASumNeedsNoMoreBitsThanAreKeptOfIt) {
  const auto sum = [](const char* from, const char* over, const char* to, const char* op = "add",
                      int init = 0) {
    const auto tensor = [](const char* dims, const char* type) {
      return absl::StrCat("tensor<", dims, type, ">");
    };
    return absl::StrCat(
        " %w = stablehlo.convert %x : (", tensor("4x8x", from), ") -> ", tensor("4x8x", over),
        "\n %c = stablehlo.constant dense<", init, "> : ", tensor("", over),
        "\n %s = stablehlo.reduce(%w init: %c) applies stablehlo.", op,
        " across dimensions = [1] : (", tensor("4x8x", over), ", ", tensor("", over), ") -> ",
        tensor("4x", over), "\n %r = stablehlo.convert %s : (", tensor("4x", over), ") -> ",
        tensor("4x", to));
  };
  ExpectSimple("4x8xui8", "4xui8", sum("ui8", "ui64", "ui8"),
               R"(%c = stablehlo.constant dense<0> : tensor<ui8>
                  %r = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]
                      : (tensor<4x8xui8>, tensor<ui8>) -> tensor<4xui8>)");
  ExpectSimple("4x8xi8", "4xui16", sum("i8", "i32", "ui16"),
               R"(%w = stablehlo.convert %x : (tensor<4x8xi8>) -> tensor<4x8xui16>
                  %c = stablehlo.constant dense<0> : tensor<ui16>
                  %r = stablehlo.reduce(%w init: %c) applies stablehlo.add across dimensions = [1]
                      : (tensor<4x8xui16>, tensor<ui16>) -> tensor<4xui16>)");
  ExpectUnchanged("4x8xui8", "4xui8", sum("ui8", "ui64", "ui8", "maximum"));
  ExpectUnchanged("4x8xui8", "4xui8", sum("ui8", "ui64", "ui8", "add", 3));
  ExpectUnchanged("4x8xi8", "4xui8", sum("i8", "ui32", "ui8"));
  ExpectUnchanged("4x8xui16", "4xui8", sum("ui16", "ui32", "ui8"));
  ExpectUnchanged("4x8xui8", "4xf32", sum("ui8", "ui32", "f32"));
}

TEST(SimplifyTest, PartsOfComplexNumbersAreThoseItWasMadeOf) {
  ExpectIdentity("4xf32",
                 " %0 = stablehlo.complex %x, %y : tensor<4xcomplex<f32>>\n %r = stablehlo.real %0 "
                 ": (tensor<4xcomplex<f32>>) -> tensor<4xf32>");
  ExpectIdentity("4xcomplex<f32>",
                 " %0 = stablehlo.real %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>\n"
                 " %1 = stablehlo.imag %x : (tensor<4xcomplex<f32>>) -> tensor<4xf32>\n"
                 " %r = stablehlo.complex %0, %1 : tensor<4xcomplex<f32>>");
}

TEST(SimplifyTest, ReshapesAndTransposesComposeAndVanish) {
  ExpectIdentity("2x3xf32",
                 " %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>\n"
                 " %1 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<3x2xf32>\n"
                 " %r = stablehlo.reshape %1 : (tensor<3x2xf32>) -> tensor<2x3xf32>");
  ExpectIdentity("2x3xf32",
                 " %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> "
                 "tensor<3x2xf32>\n %r = stablehlo.transpose %0, dims = [1, 0] : (tensor<3x2xf32>) "
                 "-> tensor<2x3xf32>");
  ExpectSimple("2x3x5xf32", "3x5x2xf32",
               " %0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<2x3x5xf32>) -> "
               "tensor<5x2x3xf32>\n %r = stablehlo.transpose %0, dims = [2, 0, 1] : "
               "(tensor<5x2x3xf32>) -> tensor<3x5x2xf32>",
               " %r = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<2x3x5xf32>) -> "
               "tensor<3x5x2xf32>");
}

TEST(SimplifyTest, BroadcastsComposeAndConstantsSpread) {
  ExpectIdentity("2x3xf32",
                 " %r = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x3xf32>) -> "
                 "tensor<2x3xf32>");
  ExpectUnchanged("2x2xf32", "2x2xf32",
                  " %r = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<2x2xf32>) -> "
                  "tensor<2x2xf32>");
  ExpectSimple("3xf32", "5x2x3xf32",
               " %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<3xf32>) -> "
               "tensor<2x3xf32>\n %r = stablehlo.broadcast_in_dim %0, dims = [1, 2] : "
               "(tensor<2x3xf32>) -> tensor<5x2x3xf32>",
               " %r = stablehlo.broadcast_in_dim %x, dims = [2] : (tensor<3xf32>) -> "
               "tensor<5x2x3xf32>");
  ExpectSimple("3xf32", "4x4xf32",
               " %c = stablehlo.constant dense<2.0> : tensor<f32>\n %0 = "
               "stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<2x8xf32>\n %r = "
               "stablehlo.reshape %0 : (tensor<2x8xf32>) -> tensor<4x4xf32>",
               " %r = stablehlo.constant dense<2.0> : tensor<4x4xf32>");
}

TEST(SimplifyTest, SlicesOfSlicesAreOneSlice) {
  ExpectIdentity("9xf32", " %r = stablehlo.slice %x [0:9] : (tensor<9xf32>) -> tensor<9xf32>");
  ExpectSimple("20xf32", "3xf32",
               " %0 = stablehlo.slice %x [1:20:3] : (tensor<20xf32>) -> tensor<7xf32>\n %r = "
               "stablehlo.slice %0 [1:6:2] : (tensor<7xf32>) -> tensor<3xf32>",
               " %r = stablehlo.slice %x [4:17:6] : (tensor<20xf32>) -> tensor<3xf32>");
}

TEST(SimplifyTest, APartOfWhatIsPaddedIsPaddedByLessOrCut) {
  const char* kZero = " %c = stablehlo.constant dense<0.0> : tensor<f32>\n";
  const auto pad = [&](absl::string_view name, int low, int high, int result) {
    return absl::StrCat(" ", name, " = stablehlo.pad %x, %c, low = [", low, "], high = [", high,
                        "], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<", result,
                        "xf32>");
  };
  ExpectSimple("4xf32", "4xf32",
               absl::StrCat(kZero, pad("%p", 1, 0, 5),
                            "\n %r = stablehlo.slice %p [0:4] : (tensor<5xf32>) -> tensor<4xf32>"),
               absl::StrCat(kZero, pad("%r", 1, -1, 4)));
  ExpectSimple("4xf32", "3xf32",
               absl::StrCat(kZero, pad("%p", 2, 3, 9),
                            "\n %r = stablehlo.slice %p [4:7] : (tensor<9xf32>) -> tensor<3xf32>"),
               absl::StrCat(kZero, pad("%r", -2, 1, 3)));
  ExpectUnchanged(
      "4xf32", "3xf32",
      absl::StrCat(kZero, pad("%p", 2, 0, 6),
                   "\n %r = stablehlo.slice %p [0:6:2] : (tensor<6xf32>) -> tensor<3xf32>"));
}

TEST(SimplifyTest, DynamicSlicesAtConstantsAreClampedSlices) {
  ExpectSimple("9xf32", "4xf32",
               " %c = stablehlo.constant dense<7> : tensor<i32>\n %r = stablehlo.dynamic_slice %x, "
               "%c, sizes = [4] : (tensor<9xf32>, tensor<i32>) -> tensor<4xf32>",
               " %r = stablehlo.slice %x [5:9] : (tensor<9xf32>) -> tensor<4xf32>");
  ExpectSimple("9xf32", "4xf32",
               " %c = stablehlo.constant dense<-7> : tensor<i8>\n %r = stablehlo.dynamic_slice %x, "
               "%c, sizes = [4] : (tensor<9xf32>, tensor<i8>) -> tensor<4xf32>",
               " %r = stablehlo.slice %x [0:4] : (tensor<9xf32>) -> tensor<4xf32>");
  ExpectSimple("9xf32", "4xf32",
               " %c = stablehlo.constant dense<200> : tensor<ui8>\n %r = stablehlo.dynamic_slice "
               "%x, %c, sizes = [4] : (tensor<9xf32>, tensor<ui8>) -> tensor<4xf32>",
               " %r = stablehlo.slice %x [5:9] : (tensor<9xf32>) -> tensor<4xf32>");
}

TEST(SimplifyTest, PaddingByNothingAndConcatenatingNothingVanish) {
  ExpectIdentity("4xf32",
                 " %c = stablehlo.constant dense<0.0> : tensor<f32>\n %r = stablehlo.pad %x, %c, "
                 "low = [0], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> "
                 "tensor<4xf32>");
  ExpectUnchanged("4xf32", "4xf32",
                  " %c = stablehlo.constant dense<0.0> : tensor<f32>\n %r = stablehlo.pad %x, %c, "
                  "low = [1], high = [-1], interior = [0] : (tensor<4xf32>, tensor<f32>) -> "
                  "tensor<4xf32>");
  ExpectIdentity("4xf32",
                 " %e = stablehlo.slice %y [2:2] : (tensor<4xf32>) -> tensor<0xf32>\n %r = "
                 "stablehlo.concatenate %e, %x, dim = 0 : (tensor<0xf32>, tensor<4xf32>) -> "
                 "tensor<4xf32>");
}

TEST(SimplifyTest, ConstantConditionsChooseTheirBranch) {
  ExpectSimple("4xf32", "4xf32",
               " %p = stablehlo.constant dense<false> : tensor<i1>\n"
               " %r = \"stablehlo.if\"(%p) ({ stablehlo.return %x : tensor<4xf32> }, {\n"
               "   %1 = stablehlo.sine %y : tensor<4xf32>\n stablehlo.return %1 : tensor<4xf32> })"
               " : (tensor<i1>) -> tensor<4xf32>",
               " %r = stablehlo.sine %y : tensor<4xf32>");
  for (const char* index : {"-1", "1", "7"}) {
    ExpectSimple(
        "4xf32", "4xf32",
        absl::StrCat(" %i = stablehlo.constant dense<", index,
                     "> : tensor<i32>\n %r = \"stablehlo.case\"(%i) ({ stablehlo.return %x : "
                     "tensor<4xf32> }, {\n %1 = stablehlo.sine %y : tensor<4xf32>\n "
                     "stablehlo.return %1 : tensor<4xf32> }) : (tensor<i32>) -> tensor<4xf32>"),
        " %r = stablehlo.sine %y : tensor<4xf32>");
  }
}

TEST(SimplifyTest, ALoopThatNeverBeginsVanishes) {
  ExpectIdentity("4xf32",
                 " %r = stablehlo.while(%a = %x) : tensor<4xf32> cond {\n"
                 "   %p = stablehlo.constant dense<false> : tensor<i1>\n"
                 "   stablehlo.return %p : tensor<i1>\n } do {\n"
                 "   %1 = stablehlo.sine %a : tensor<4xf32>\n"
                 "   stablehlo.return %1 : tensor<4xf32>\n }");
}

TEST(SimplifyTest, DynamicShapesStayAsTheyAre) {
  const char* text = R"(
func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
  %0 = stablehlo.subtract %x, %x : tensor<?xi32>
  return %0 : tensor<?xi32>
})";
  ExpectBecomes(SimplifyAndClean, text, text);
}

}  // namespace
}  // namespace pjrt::ir
