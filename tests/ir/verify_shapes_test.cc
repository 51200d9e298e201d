// SPDX-License-Identifier: Apache-2.0
//
// What the verifier accepts and refuses: ops that make, move and reshape data.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/ir/verify_test_util.h"

namespace pjrt::ir {
namespace {

TEST(VerifyShapesTest, ConstantsHaveTheTypeOfTheirValue) {
  EXPECT_EQ(Verdict("", "%0 = stablehlo.constant dense<1.0> : tensor<2xf32>"), "ok");
  EXPECT_EQ(
      Verdict(
          "",
          R"(%0 = "stablehlo.constant"() {value = dense<1> : tensor<2xi32>} : () -> tensor<3xi32>)"),
      "V006");
  EXPECT_EQ(Verdict("", R"(%0 = "stablehlo.constant"() {value = dense<1> : tensor<2xi8>}
                : () -> tensor<2x!quant.uniform<i8:f32, 2.0>>)"),
            "ok");
}

TEST(VerifyShapesTest, IotaCountsAlongADimensionThatExists) {
  EXPECT_EQ(Verdict("", "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>"), "ok");
  EXPECT_EQ(Verdict("", "%0 = stablehlo.iota dim = 2 : tensor<2x3xi32>"), "V010");
  EXPECT_EQ(Verdict("", "%0 = stablehlo.iota dim = 0 : tensor<2xi1>"), "V002");
  EXPECT_EQ(Verdict("", "%0 = stablehlo.iota dim = 0 : tensor<?xi32>"), "V002");
}

TEST(VerifyShapesTest, BroadcastInDimMapsDimensionsOneToOne) {
  const auto verdict = [](const std::string& dims, const std::string& from, const std::string& to) {
    return Verdict("%a: " + from, "%0 = stablehlo.broadcast_in_dim %a, dims = " + dims + " : (" +
                                      from + ") -> " + to);
  };
  EXPECT_EQ(verdict("[1]", "tensor<3xf32>", "tensor<2x3xf32>"), "ok");
  EXPECT_EQ(verdict("[1, 0]", "tensor<3x1xf32>", "tensor<2x3xf32>"), "ok");
  EXPECT_EQ(verdict("[]", "tensor<f32>", "tensor<0x3xf32>"), "ok");
  EXPECT_EQ(verdict("[0]", "tensor<3xf32>", "tensor<2x3xf32>"), "V011");
  EXPECT_EQ(verdict("[2]", "tensor<3xf32>", "tensor<2x3xf32>"), "V010");
  EXPECT_EQ(verdict("[0, 0]", "tensor<2x2xf32>", "tensor<2x2xf32>"), "V010");
  EXPECT_EQ(verdict("[0]", "tensor<2x2xf32>", "tensor<2x2xf32>"), "V010");
  EXPECT_EQ(verdict("[0]", "tensor<2xf32>", "tensor<?xf32>"), "V002");
  EXPECT_EQ(verdict("[0]", "tensor<2xf32>", "tensor<2xf64>"), "V008");
}

TEST(VerifyShapesTest, ConcatenateAddsSizesAlongItsDimension) {
  const auto verdict = [](int dim, const std::string& b, const std::string& out) {
    return Verdict("%a: tensor<2x3xf32>, %b: " + b,
                   absl::StrCat("%0 = stablehlo.concatenate %a, %b, dim = ", dim,
                                " : (tensor<2x3xf32>, ", b, ") -> ", out));
  };
  EXPECT_EQ(verdict(0, "tensor<1x3xf32>", "tensor<3x3xf32>"), "ok");
  EXPECT_EQ(verdict(1, "tensor<2x?xf32>", "tensor<2x?xf32>"), "ok");
  EXPECT_EQ(verdict(0, "tensor<1x3xf32>", "tensor<4x3xf32>"), "V006");
  EXPECT_EQ(verdict(0, "tensor<1x4xf32>", "tensor<3x3xf32>"), "V011");
  EXPECT_EQ(verdict(2, "tensor<1x3xf32>", "tensor<3x3xf32>"), "V010");
  EXPECT_EQ(verdict(0, "tensor<3xf32>", "tensor<3x3xf32>"), "V008");
  EXPECT_EQ(verdict(0, "tensor<1x3xf64>", "tensor<3x3xf32>"), "V008");
  EXPECT_EQ(
      Verdict("", R"(%0 = "stablehlo.concatenate"() {dimension = 0 : i64} : () -> tensor<0xf32>)"),
      "V001");
}

TEST(VerifyShapesTest, PaddingMayCropButNotBelowNothing) {
  const auto verdict = [](const std::string& low, const std::string& interior,
                          const std::string& out) {
    return Verdict("%a: tensor<4xf32>, %v: tensor<f32>",
                   "%0 = stablehlo.pad %a, %v, low = [" + low + "], high = [0], interior = [" +
                       interior + "] : (tensor<4xf32>, tensor<f32>) -> " + out);
  };
  EXPECT_EQ(verdict("1", "2", "tensor<11xf32>"), "ok");
  EXPECT_EQ(verdict("-4", "0", "tensor<0xf32>"), "ok");
  EXPECT_EQ(verdict("-5", "0", "tensor<0xf32>"), "V012");
  EXPECT_EQ(verdict("1", "-1", "tensor<1xf32>"), "V012");
  EXPECT_EQ(verdict("1, 1", "0", "tensor<5xf32>"), "V010");
  EXPECT_EQ(verdict("1", "0", "tensor<6xf32>"), "V006");
}

TEST(VerifyShapesTest, ReshapeKeepsTheNumberOfElements) {
  EXPECT_EQ(Verdict("%a: tensor<2x3xf32>",
                    "%0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6x1xf32>"),
            "ok");
  EXPECT_EQ(Verdict("%a: tensor<2x3xf32>",
                    "%0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<5xf32>"),
            "V011");
  EXPECT_EQ(Verdict("%a: tensor<2x0xf32>",
                    "%0 = stablehlo.reshape %a : (tensor<2x0xf32>) -> tensor<0xf32>"),
            "ok");
}

TEST(VerifyShapesTest, AReshapeGivesAStaticShapeOrOneBoundedDimension) {
  const auto verdict = [](const std::string& result) {
    return Verdict(
        "%a: tensor<3x?xf32, #stablehlo.bounds<?, 5>>",
        "%0 = stablehlo.reshape %a : (tensor<3x?xf32, #stablehlo.bounds<?, 5>>) -> " + result);
  };
  EXPECT_EQ(verdict("tensor<15xf32>"), "ok");
  EXPECT_EQ(verdict("tensor<?xf32, #stablehlo.bounds<15>>"), "ok");
  EXPECT_EQ(verdict("tensor<?xf32>"), "V002");
  EXPECT_EQ(verdict("tensor<?xf32, #stablehlo.bounds<-1>>"), "V002");
  EXPECT_EQ(verdict("tensor<?x?xf32, #stablehlo.bounds<3, 5>>"), "V002");
}

TEST(VerifyShapesTest, ANegativeBoundBoundsNothing) {
  const std::string type = "tensor<?x?xf32, #stablehlo.bounds<3, -1>>";
  const auto resize = [&](int dimension, const std::string& result) {
    return Verdict("%a: " + type + ", %n: tensor<i32>",
                   absl::StrCat("%0 = \"stablehlo.set_dimension_size\"(%a, %n) {dimension = ",
                                dimension, " : i64} : (", type, ", tensor<i32>) -> ", result));
  };
  EXPECT_EQ(resize(0, "tensor<?x?xf32>"), "ok");
  EXPECT_EQ(resize(1, "tensor<?x?xf32>"), "ok");
  EXPECT_EQ(resize(-1, "tensor<?x?xf32>"), "V005");
  EXPECT_EQ(resize(2, "tensor<?x?xf32>"), "V010");
  EXPECT_EQ(Verdict("%a: " + type + ", %b: tensor<3x1000xf32>",
                    "%0 = stablehlo.add %a, %b : (" + type + ", tensor<3x1000xf32>) -> " + type),
            "ok");
  EXPECT_EQ(Verdict("%a: " + type + ", %b: tensor<4x1000xf32>",
                    "%0 = stablehlo.add %a, %b : (" + type + ", tensor<4x1000xf32>) -> " + type),
            "V008");
  EXPECT_EQ(Verdict("%a: " + type + ", %b: " + type,
                    "%0 = stablehlo.concatenate %a, %b, dim = 1 : (" + type + ", " + type +
                        ") -> tensor<?x?xf32, #stablehlo.bounds<3, ?>>"),
            "ok");
}

TEST(VerifyShapesTest, TransposePermutesSizesAndBounds) {
  const auto verdict = [](const std::string& dims, const std::string& from, const std::string& to) {
    return Verdict("%a: " + from,
                   "%0 = stablehlo.transpose %a, dims = " + dims + " : (" + from + ") -> " + to);
  };
  EXPECT_EQ(verdict("[1, 2, 0]", "tensor<2x3x4xf32>", "tensor<3x4x2xf32>"), "ok");
  EXPECT_EQ(verdict("[1, 2, 0]", "tensor<2x3x4xf32>", "tensor<4x2x3xf32>"), "V006");
  EXPECT_EQ(verdict("[1, 1, 0]", "tensor<2x3x4xf32>", "tensor<3x3x2xf32>"), "V010");
  EXPECT_EQ(verdict("[1, 0]", "tensor<2x3x4xf32>", "tensor<3x2x4xf32>"), "V010");
  EXPECT_EQ(verdict("[1, 0]", "tensor<?x3xf32, #stablehlo.bounds<4, ?>>", "tensor<3x5xf32>"),
            "V006");
}

TEST(VerifyShapesTest, SlicesStayInside) {
  const auto verdict = [](const std::string& range, const std::string& out) {
    return Verdict("%a: tensor<10xf32>",
                   "%0 = stablehlo.slice %a [" + range + "] : (tensor<10xf32>) -> " + out);
  };
  EXPECT_EQ(verdict("1:10:3", "tensor<3xf32>"), "ok");
  EXPECT_EQ(verdict("4:4", "tensor<0xf32>"), "ok");
  EXPECT_EQ(verdict("0:11", "tensor<11xf32>"), "V012");
  EXPECT_EQ(verdict("5:4", "tensor<0xf32>"), "V012");
  EXPECT_EQ(verdict("1:10:3", "tensor<4xf32>"), "V006");
  EXPECT_EQ(
      Verdict("%a: tensor<10xf32>", R"(%0 = "stablehlo.slice"(%a) {start_indices = array<i64: 0>,
                limit_indices = array<i64: 4>, strides = array<i64: 0>} : (tensor<10xf32>) -> tensor<4xf32>)"),
      "V012");
}

TEST(VerifyShapesTest, DynamicSlicesHaveAStartForEachDimension) {
  const std::string args = "%a: tensor<4x5xf32>, %i: tensor<i32>, %j: tensor<i64>";
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [4, 1] : (tensor<4x5xf32>, "
                    "tensor<i32>, tensor<i32>) -> tensor<4x1xf32>"),
            "ok");
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.dynamic_slice %a, %i, %j, sizes = [4, 1] : (tensor<4x5xf32>, "
                    "tensor<i32>, tensor<i64>) -> tensor<4x1xf32>"),
            "V008");
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.dynamic_slice %a, %i, sizes = [4, 1] : (tensor<4x5xf32>, "
                    "tensor<i32>) -> tensor<4x1xf32>"),
            "V001");
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.dynamic_slice %a, %i, %i, sizes = [4, 6] : (tensor<4x5xf32>, "
                    "tensor<i32>, tensor<i32>) -> tensor<4x6xf32>"),
            "V012");
}

TEST(VerifyShapesTest, AnUpdateFitsIntoItsOperand) {
  const std::string args =
      "%a: tensor<4xf32>, %u: tensor<3xf32>, %w: tensor<5xf32>, %i: tensor<i32>";
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.dynamic_update_slice %a, %u, %i : (tensor<4xf32>, "
                    "tensor<3xf32>, tensor<i32>) -> tensor<4xf32>"),
            "ok");
  EXPECT_EQ(Verdict(args,
                    "%0 = stablehlo.dynamic_update_slice %a, %w, %i : (tensor<4xf32>, "
                    "tensor<5xf32>, tensor<i32>) -> tensor<4xf32>"),
            "V012");
}

TEST(VerifyShapesTest, ListsHoldIntegersOf64Bits) {
  const auto transpose = [](const std::string& list) {
    return Verdict("%a: tensor<2x3xf32>", "%0 = \"stablehlo.transpose\"(%a) {permutation = " +
                                              list + "} : (tensor<2x3xf32>) -> tensor<3x2xf32>");
  };
  EXPECT_EQ(transpose("array<i64: 1, 0>"), "ok");
  EXPECT_EQ(transpose("dense<[1, 0]> : tensor<2xi64>"), "ok");  // as older programs spell it
  EXPECT_EQ(transpose("array<i32: 1, 0>"), "V004");
  EXPECT_EQ(transpose("dense<[1, 0]> : tensor<2xi32>"), "V004");
  EXPECT_EQ(transpose("array<f32: 1.0, 0.0>"), "V004");
}

TEST(VerifyShapesTest, ReverseNamesEachDimensionOnce) {
  EXPECT_EQ(
      Verdict("%a: tensor<2x3xf32>", "%0 = stablehlo.reverse %a, dims = [1, 0] : tensor<2x3xf32>"),
      "ok");
  EXPECT_EQ(
      Verdict("%a: tensor<2x3xf32>", "%0 = stablehlo.reverse %a, dims = [1, 1] : tensor<2x3xf32>"),
      "V010");
  EXPECT_EQ(
      Verdict("%a: tensor<2x3xf32>", "%0 = stablehlo.reverse %a, dims = [2] : tensor<2x3xf32>"),
      "V010");
}

TEST(VerifyShapesTest, AShapeGivenByAConstantAgreesWithTheResult) {
  EXPECT_EQ(Verdict("", R"(%s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
                %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<2x?xi32>)"),
            "ok");
  EXPECT_EQ(Verdict("", R"(%s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
                %0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<2xi64>) -> tensor<2x4xi32>)"),
            "V006");
  EXPECT_EQ(Verdict("%a: tensor<7xf32>", R"(%s = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
                %0 = stablehlo.dynamic_reshape %a, %s : (tensor<7xf32>, tensor<2xi64>) -> tensor<?x?xf32>)"),
            "V011");
}

TEST(VerifyShapesTest, ShapeOperandsHaveAValueForEachDimension) {
  EXPECT_EQ(Verdict("%s: tensor<3xi64>",
                    "%0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<3xi64>) -> tensor<?x?xi32>"),
            "V011");
  EXPECT_EQ(
      Verdict("%s: tensor<1x2xi64>",
              "%0 = stablehlo.dynamic_iota %s, dim = 0 : (tensor<1x2xi64>) -> tensor<?x?xi32>"),
      "V002");
}

TEST(VerifyShapesTest, SetDimensionSizeBoundsTheDimension) {
  const auto verdict = [](const std::string& out) {
    return Verdict(
        "%a: tensor<4xf32>, %n: tensor<i32>",
        "%0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<4xf32>, tensor<i32>) -> " +
            out);
  };
  EXPECT_EQ(verdict("tensor<?xf32, #stablehlo.bounds<4>>"), "ok");
  EXPECT_EQ(verdict("tensor<5xf32>"), "V006");
  EXPECT_EQ(Verdict("%a: tensor<4xf32>, %n: tensor<i64>",
                    "%0 = stablehlo.set_dimension_size %a, %n, dim = 0 : (tensor<4xf32>, "
                    "tensor<i64>) -> tensor<?xf32, #stablehlo.bounds<4>>"),
            "V002");
}

TEST(VerifyShapesTest, WhatIsMovedKeepsItsQuantization) {
  struct Case {
    const char *arguments, *op, *result;
  };
  // $T is a quantized type, $R the one that has to be the same.
  const Case cases[] = {
      {"%a: tensor<4x$T>", "stablehlo.reshape %a : (tensor<4x$T>) -> ", "tensor<2x2x$R>"},
      {"%a: tensor<4x3x$T>", "stablehlo.transpose %a, dims = [1, 0] : (tensor<4x3x$T>) -> ",
       "tensor<3x4x$R>"},
      {"%a: tensor<4x$T>", "stablehlo.broadcast_in_dim %a, dims = [0] : (tensor<4x$T>) -> ",
       "tensor<4x2x$R>"},
      {"%a: tensor<4x$T>", "stablehlo.broadcast %a, sizes = [2] : (tensor<4x$T>) -> ",
       "tensor<2x4x$R>"},
      {"%a: tensor<4x$T>", "stablehlo.slice %a [0:2] : (tensor<4x$T>) -> ", "tensor<2x$R>"},
      {"%a: tensor<4x$T>",
       "stablehlo.concatenate %a, %a, dim = 0 : (tensor<4x$T>, tensor<4x$T>) -> ", "tensor<8x$R>"},
      {"%a: tensor<4x$T>", "stablehlo.reverse %a, dims = [0] : (tensor<4x$T>) -> ", "tensor<4x$R>"},
      {"%a: tensor<4x$T>, %v: tensor<$R>",
       "stablehlo.pad %a, %v, low = [1], high = [1], interior = [0] : (tensor<4x$T>, tensor<$R>) "
       "-> ",
       "tensor<6x$T>"},
      {"%a: tensor<4x$T>, %i: tensor<i32>",
       "stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<4x$T>, tensor<i32>) -> ",
       "tensor<2x$R>"},
      {"%a: tensor<4x$T>, %u: tensor<2x$R>, %i: tensor<i32>",
       "stablehlo.dynamic_update_slice %a, %u, %i : (tensor<4x$T>, tensor<2x$R>, tensor<i32>) -> ",
       "tensor<4x$T>"},
      {"%a: tensor<4x$T>, %i: tensor<3x1xi32>",
       "\"stablehlo.gather\"(%a, %i) {dimension_numbers = #stablehlo.gather<"
       "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
       "slice_sizes = array<i64: 1>} : (tensor<4x$T>, tensor<3x1xi32>) -> ",
       "tensor<3x$R>"},
      {"%a: tensor<4x$T>, %n: tensor<2xi32>",
       "stablehlo.dynamic_reshape %a, %n : (tensor<4x$T>, tensor<2xi32>) -> ", "tensor<2x2x$R>"},
      {"%a: tensor<4x$T>, %n: tensor<1xi32>",
       "stablehlo.real_dynamic_slice %a, %n, %n, %n : (tensor<4x$T>, tensor<1xi32>, tensor<1xi32>, "
       "tensor<1xi32>) -> ",
       "tensor<?x$R>"},
      {"%a: tensor<4x$T>", "\"stablehlo.optimization_barrier\"(%a) : (tensor<4x$T>) -> ",
       "tensor<4x$R>"},
  };
  const std::string q = "!quant.uniform<i8:f32, 0.5:3>";
  for (const Case& c : cases) {
    const auto verdict = [&](absl::string_view other) {
      const auto of_types = [&](absl::string_view text) {
        return absl::StrReplaceAll(text, {{"$T", q}, {"$R", other}});
      };
      return Verdict(of_types(c.arguments), of_types(absl::StrCat("%0 = ", c.op, c.result)));
    };
    EXPECT_EQ(verdict(q), "ok") << c.op;
    EXPECT_EQ(verdict("!quant.uniform<i8:f32, 0.25:3>"), "V009") << c.op;
    EXPECT_EQ(verdict("!quant.uniform<i8:f32, 0.5:2>"), "V009") << c.op;
  }
}

TEST(VerifyShapesTest, QuantizedTypesAreCheckedWhereTheyAreUsed) {
  const auto verdict = [](const std::string& element) {
    const std::string type = "tensor<2x3x!quant.uniform<" + element + ">>";
    return Verdict("%a: " + type,
                   "%0 = stablehlo.uniform_dequantize %a : (" + type + ") -> tensor<2x3xf32>");
  };
  EXPECT_EQ(verdict("i8:f32, 0.5:127"), "ok");
  EXPECT_EQ(verdict("i8:f32, 0.5:128"), "V009");
  EXPECT_EQ(verdict("u8:f32, 0.5:-1"), "V009");
  EXPECT_EQ(verdict("i8:f32:0, {0.5:1, 0.5:-129}"), "V009");
  EXPECT_EQ(verdict("i8:f32:2, {0.5, 0.5}"), "V009");
  const auto module = ParseModule(
      "func.func @f(%a: tensor<2x!quant.uniform<i4:f32, 0.5:8>>) {\n"
      "  %0 = stablehlo.abs %a : tensor<2x!quant.uniform<i4:f32, 0.5:8>>\n  return\n}");
  ASSERT_TRUE(module.ok());
  EXPECT_NE(VerifyModule(**module).message().find(":2:8: 'stablehlo.abs' op: zero points"),
            absl::string_view::npos);
}

TEST(VerifyShapesTest, AQuantizedAxisOfSize1IsBroadcastWithItsScale) {
  const std::string one = "tensor<1x!quant.uniform<i8:f32:0, {0.5:2}>>";
  const auto broadcast = [&](const std::string& result) {
    return Verdict("%a: " + one, "%0 = stablehlo.broadcast_in_dim %a, dims = [1] : (" + one +
                                     ") -> tensor<3x2x!quant.uniform<i8:f32:1, " + result + ">>");
  };
  EXPECT_EQ(broadcast("{0.5:2, 0.5:2}"), "ok");
  EXPECT_EQ(broadcast("{0.5:2, 0.25:2}"), "V009");
  EXPECT_EQ(broadcast("{0.5:2, 0.5:1}"), "V009");
}

TEST(VerifyShapesTest, GatherDimensionsCoverTheOperand) {
  const auto verdict = [](const std::string& numbers, const std::string& sizes,
                          const std::string& out) {
    return Verdict("%a: tensor<5x6xf32>, %i: tensor<3x1xi32>",
                   "%0 = \"stablehlo.gather\"(%a, %i) {dimension_numbers = #stablehlo.gather<" +
                       numbers + ">, slice_sizes = array<i64: " + sizes +
                       ">} : (tensor<5x6xf32>, tensor<3x1xi32>) -> " + out);
  };
  const std::string rows =
      "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1";
  EXPECT_EQ(verdict(rows, "1, 6", "tensor<3x6xf32>"), "ok");
  EXPECT_EQ(verdict(rows, "1, 6", "tensor<3x5xf32>"), "V006");
  EXPECT_EQ(verdict(rows, "2, 6", "tensor<3x6xf32>"), "V012");
  EXPECT_EQ(verdict(rows, "1, 7", "tensor<3x7xf32>"), "V012");
  EXPECT_EQ(verdict(rows, "1", "tensor<3x6xf32>"), "V010");
  EXPECT_EQ(verdict("offset_dims = [1], start_index_map = [0], index_vector_dim = 1", "1, 6",
                    "tensor<3x6xf32>"),
            "V010");
  EXPECT_EQ(verdict("offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], "
                    "index_vector_dim = 1",
                    "1, 6", "tensor<3x6xf32>"),
            "V010");
  EXPECT_EQ(verdict("offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], "
                    "index_vector_dim = 1",
                    "1, 6", "tensor<3x6xf32>"),
            "V010");
  EXPECT_EQ(verdict("offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
                    "index_vector_dim = 3",
                    "1, 6", "tensor<3x6xf32>"),
            "V010");
}

TEST(VerifyShapesTest, ScatterUpdatesFitTheInput) {
  const auto verdict = [](const std::string& update, const std::string& numbers,
                          const std::string& body) {
    return Verdict("%a: tensor<5x6xf32>, %i: tensor<3x1xi32>, %u: " + update,
                   "%0 = \"stablehlo.scatter\"(%a, %i, %u) ({\n" + body +
                       "}) {scatter_dimension_numbers = #stablehlo.scatter<" + numbers +
                       ">} : (tensor<5x6xf32>, tensor<3x1xi32>, " + update +
                       ") -> tensor<5x6xf32>");
  };
  const std::string rows =
      "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
      "index_vector_dim = 1";
  const std::string add =
      "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n %s = stablehlo.add %x, %y : tensor<f32>\n "
      "stablehlo.return %s : tensor<f32>\n";
  EXPECT_EQ(verdict("tensor<3x6xf32>", rows, add), "ok");
  EXPECT_EQ(verdict("tensor<3x2xf32>", rows, add), "ok");
  EXPECT_EQ(verdict("tensor<3x7xf32>", rows, add), "V011");
  EXPECT_EQ(verdict("tensor<4x6xf32>", rows, add), "V011");
  EXPECT_EQ(verdict("tensor<3xf32>", rows, add), "V010");
  EXPECT_EQ(
      verdict("tensor<3x6xf32>",
              "update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1",
              add),
      "V010");
  EXPECT_EQ(verdict("tensor<3x6xf32>", rows,
                    "^bb0(%x: tensor<f32>):\n stablehlo.return %x : tensor<f32>\n"),
            "V013");
  EXPECT_EQ(verdict("tensor<3x6xf32>", rows,
                    "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n stablehlo.return %x, %y : "
                    "tensor<f32>, tensor<f32>\n"),
            "V014");
}

}  // namespace
}  // namespace pjrt::ir
