// SPDX-License-Identifier: Apache-2.0
//
// DecomposeOps: what takes the place of an op. Values are tested on the CPU device.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

void ExpectDecomposes(absl::string_view text, absl::string_view expected) {
  ExpectBecomes(DecomposeOps, text, expected);
}

TEST(DecomposeOpsTest, BroadcastNamesTheDimensionsOfItsOperand) {
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<2x3xf32>) -> tensor<4x5x2x3xf32> {
           %0 = stablehlo.broadcast %x, sizes = [4, 5] : (tensor<2x3xf32>) -> tensor<4x5x2x3xf32>
           return %0 : tensor<4x5x2x3xf32>
         })",
      R"(func.func @main(%x: tensor<2x3xf32>) -> tensor<4x5x2x3xf32> {
           %0 = stablehlo.broadcast_in_dim %x, dims = [2, 3] : (tensor<2x3xf32>) -> tensor<4x5x2x3xf32>
           return %0 : tensor<4x5x2x3xf32>
         })");
}

TEST(DecomposeOpsTest, OperandsOfARegionOnOtherFloatsAreRounded) {
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<3xf64>, %z: tensor<f64>) -> tensor<f32> {
           %0 = stablehlo.reduce(%x init: %z) across dimensions = [0] : (tensor<3xf64>, tensor<f64>) -> tensor<f32>
             reducer(%a: tensor<f32>, %b: tensor<bf16>) {
               stablehlo.return %a : tensor<f32>
             }
           return %0 : tensor<f32>
         })",
      R"(func.func @main(%x: tensor<3xf64>, %z: tensor<f64>) -> tensor<f32> {
           %1 = stablehlo.convert %z : (tensor<f64>) -> tensor<f32>
           %2 = stablehlo.convert %x : (tensor<3xf64>) -> tensor<3xbf16>
           %0 = stablehlo.reduce(%2 init: %1) across dimensions = [0] : (tensor<3xbf16>, tensor<f32>) -> tensor<f32>
             reducer(%a: tensor<f32>, %b: tensor<bf16>) {
               stablehlo.return %a : tensor<f32>
             }
           return %0 : tensor<f32>
         })");
}

// What is selected must not depend on how the result is rounded.
TEST(DecomposeOpsTest, ASelectAndScatterIsLeftAloneWhereItsElementsWouldBeRounded) {
  const auto program = [](absl::string_view operand, absl::string_view result) {
    return absl::StrCat(R"(
      func.func @main(%x: tensor<4x)",
                        operand, R"(>, %s: tensor<2x)", operand,
                        R"(>, %z: tensor<f64>) -> tensor<4x)", result, R"(> {
        %0 = "stablehlo.select_and_scatter"(%x, %s, %z) ({
        ^bb0(%a: tensor<)",
                        operand, R"(>, %b: tensor<)", operand, R"(>):
          %c = stablehlo.compare GE, %a, %b : (tensor<)",
                        operand, ">, tensor<", operand, R"(>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
        }, {
        ^bb0(%a: tensor<)",
                        result, R"(>, %b: tensor<)", result, R"(>):
          %c = stablehlo.add %a, %b : tensor<)",
                        result, R"(>
          stablehlo.return %c : tensor<)",
                        result, R"(>
        }) {window_dimensions = array<i64: 2>, window_strides = array<i64: 2>} : (tensor<4x)",
                        operand, ">, tensor<2x", operand, ">, tensor<f64>) -> tensor<4x", result,
                        R"(>
        return %0 : tensor<4x)",
                        result, R"(>
      })");
  };
  const std::string narrow = program("f64", "f32");
  ExpectDecomposes(narrow, narrow);
  const std::unique_ptr<Module> wide = MustParse(program("bf16", "f32"));
  DecomposeOps(wide.get());
  EXPECT_TRUE(VerifyModule(*wide).ok());
  wide->Walk([](Op* op) {
    if (!op->Is(OpCode::kSelectAndScatter)) return;
    for (const size_t i : {0, 1, 2}) EXPECT_EQ(op->operand_type(i).primitive_type(), F32);
  });
}

TEST(DecomposeOpsTest, DotContractsTheLastDimensionWithTheFirst) {
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
           %0 = stablehlo.dot %x, %y, precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
           return %0 : tensor<2xf32>
         })",
      R"(func.func @main(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2xf32> {
           %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
           return %0 : tensor<2xf32>
         })");
}

TEST(DecomposeOpsTest, AProductThatSumsNothingIsAMultiplication) {
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<2x1xf32>, %y: tensor<3xf32>) -> tensor<2x1x3xf32> {
           %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x1x3xf32>
           return %0 : tensor<2x1x3xf32>
         })",
      R"(func.func @main(%x: tensor<2x1xf32>, %y: tensor<3xf32>) -> tensor<2x1x3xf32> {
           %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<2x1xf32>) -> tensor<2x1x3xf32>
           %1 = stablehlo.broadcast_in_dim %y, dims = [2] : (tensor<3xf32>) -> tensor<2x1x3xf32>
           %2 = stablehlo.multiply %0, %1 : tensor<2x1x3xf32>
           %3 = stablehlo.constant dense<0.0> : tensor<2x1x3xf32>
           %4 = stablehlo.add %2, %3 : tensor<2x1x3xf32>
           return %4 : tensor<2x1x3xf32>
         })");
  // The batch is the second dimension of one operand, and one element is contracted.
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<3x1x3xi32>, %y: tensor<3x512x1xi32>) -> tensor<3x3x512xi32> {
           %0 = stablehlo.dot_general %x, %y, batching_dims = [2] x [0], contracting_dims = [1] x [2] : (tensor<3x1x3xi32>, tensor<3x512x1xi32>) -> tensor<3x3x512xi32>
           return %0 : tensor<3x3x512xi32>
         })",
      R"(func.func @main(%x: tensor<3x1x3xi32>, %y: tensor<3x512x1xi32>) -> tensor<3x3x512xi32> {
           %0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<3x1x3xi32>) -> tensor<3x3x1xi32>
           %1 = stablehlo.reshape %0 : (tensor<3x3x1xi32>) -> tensor<3x3xi32>
           %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x3xi32>) -> tensor<3x3x512xi32>
           %3 = stablehlo.reshape %y : (tensor<3x512x1xi32>) -> tensor<3x512xi32>
           %4 = stablehlo.broadcast_in_dim %3, dims = [0, 2] : (tensor<3x512xi32>) -> tensor<3x3x512xi32>
           %5 = stablehlo.multiply %2, %4 : tensor<3x3x512xi32>
           return %5 : tensor<3x3x512xi32>
         })");
  // Factors of narrower types become the product's first, where that loses nothing.
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<2xi8>, %y: tensor<3xui8>) -> tensor<2x3xi32> {
           %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<2xi8>, tensor<3xui8>) -> tensor<2x3xi32>
           return %0 : tensor<2x3xi32>
         })",
      R"(func.func @main(%x: tensor<2xi8>, %y: tensor<3xui8>) -> tensor<2x3xi32> {
           %0 = stablehlo.convert %x : (tensor<2xi8>) -> tensor<2xi32>
           %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<2xi32>) -> tensor<2x3xi32>
           %2 = stablehlo.convert %y : (tensor<3xui8>) -> tensor<3xi32>
           %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<3xi32>) -> tensor<2x3xi32>
           %4 = stablehlo.multiply %1, %3 : tensor<2x3xi32>
           return %4 : tensor<2x3xi32>
         })");
  const absl::string_view rounded =
      R"(func.func @main(%x: tensor<2xf32>, %y: tensor<3xf32>) -> tensor<2x3xbf16> {
           %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xbf16>
           return %0 : tensor<2x3xbf16>
         })";
  ExpectDecomposes(rounded, rounded);
  // Many short rows are better made as matrices.
  const absl::string_view rows =
      R"(func.func @main(%x: tensor<100xf32>, %y: tensor<3xf32>) -> tensor<100x3xf32> {
           %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<100xf32>, tensor<3xf32>) -> tensor<100x3xf32>
           return %0 : tensor<100x3xf32>
         })";
  ExpectDecomposes(rows, rows);
}

TEST(DecomposeOpsTest, CreateTokenIsAfterAllOfNothing) {
  ExpectDecomposes(
      R"(func.func @main() -> !stablehlo.token {
           %0 = stablehlo.create_token : !stablehlo.token
           return %0 : !stablehlo.token
         })",
      R"(func.func @main() -> !stablehlo.token {
           %0 = stablehlo.after_all : !stablehlo.token
           return %0 : !stablehlo.token
         })");
}

TEST(DecomposeOpsTest, CrossReplicaSumIsAnAllReduce) {
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
           return %0 : tensor<4xf32>
         })",
      R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = "stablehlo.all_reduce"(%x) ({
           ^bb0(%a: tensor<f32>, %b: tensor<f32>):
             %1 = stablehlo.add %a, %b : tensor<f32>
             stablehlo.return %1 : tensor<f32>
           }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
           return %0 : tensor<4xf32>
         })");
}

TEST(DecomposeOpsTest, AsyncOpsRunWhereTheyStart) {
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
           %0 = "stablehlo.async_start"(%x) ({
           ^bb0(%a: tensor<8xf32>):
             %1 = stablehlo.slice %a [0:4] : (tensor<8xf32>) -> tensor<4xf32>
             stablehlo.return %1 : tensor<4xf32>
           }) : (tensor<8xf32>) -> !stablehlo.future<tensor<4xf32>>
           %2 = stablehlo.negate %x : tensor<8xf32>
           %3 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
           return %3 : tensor<4xf32>
         })",
      R"(func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
           %0 = stablehlo.slice %x [0:4] : (tensor<8xf32>) -> tensor<4xf32>
           %1 = stablehlo.negate %x : tensor<8xf32>
           return %0 : tensor<4xf32>
         })");
}

TEST(DecomposeOpsTest, MapsOfScalarOperationsAreOperationsOnArrays) {
  ExpectDecomposes(
      R"(func.func @main(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<2x3xi1> {
           %0 = "stablehlo.map"(%x) ({
           ^bb0(%a: tensor<f32>):
             %1 = stablehlo.multiply %a, %s : tensor<f32>
             %2 = stablehlo.constant dense<2.0> : tensor<f32>
             %3 = stablehlo.compare LT, %1, %2 : (tensor<f32>, tensor<f32>) -> tensor<i1>
             stablehlo.return %3 : tensor<i1>
           }) {dimensions = array<i64: 0, 1>} : (tensor<2x3xf32>) -> tensor<2x3xi1>
           return %0 : tensor<2x3xi1>
         })",
      R"(func.func @main(%x: tensor<2x3xf32>, %s: tensor<f32>) -> tensor<2x3xi1> {
           %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
           %1 = stablehlo.multiply %x, %0 : tensor<2x3xf32>
           %2 = stablehlo.constant dense<2.0> : tensor<f32>
           %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
           %4 = stablehlo.compare LT, %1, %3 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
           return %4 : tensor<2x3xi1>
         })");
}

TEST(DecomposeOpsTest, NarrowFloatsAreNormalizedInF32) {
  const std::string text = After(DecomposeOps, R"(
      func.func @main(%x: tensor<4x2xbf16>, %s: tensor<2xbf16>, %o: tensor<2xbf16>)
          -> (tensor<4x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) {
        %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) {epsilon = 0.001 : f32, feature_index = 1 : i64}
            : (tensor<4x2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> (tensor<4x2xbf16>, tensor<2xbf16>, tensor<2xbf16>)
        return %0#0, %0#1, %0#2 : tensor<4x2xbf16>, tensor<2xbf16>, tensor<2xbf16>
      })");
  EXPECT_TRUE(absl::StrContains(text, "tensor<4x2xf32>")) << text;
  EXPECT_FALSE(absl::StrContains(text, "batch_norm")) << text;
  EXPECT_FALSE(absl::StrContains(text, "divide %0 : tensor<4x2xbf16>")) << text;
}

TEST(DecomposeOpsTest, WhatHasNoDecompositionStays) {
  for (const char* config : {"ab,bc->aa", "ab,bc->ad", "ab,bc->a...", "ab,bc"}) {
    const std::string op = absl::StrCat("stablehlo.einsum %x, %y, config = \"", config, "\"");
    const std::string program = absl::StrCat(
        "func.func @main(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> {",
        "\n  %0 = ", op, " : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>",
        "\n  return %0 : tensor<2x2xf32>\n}");
    const std::unique_ptr<Module> module = MustParse(program);
    ASSERT_NE(module, nullptr);
    DecomposeOps(module.get());
    EXPECT_TRUE(absl::StrContains(PrintModule(*module), "stablehlo.einsum")) << config;
  }
}

}  // namespace
}  // namespace pjrt::ir
