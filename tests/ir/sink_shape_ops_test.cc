// SPDX-License-Identifier: Apache-2.0
//
// SinkShapeOps: when shape ops go behind elementwise ones.
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

void SinkShapesAndClean(Module* module) {
  SinkShapeOps(module);
  RemoveDeadOps(module);
}

TEST(SinkShapeOpsTest, AChainOnBroadcastsIsComputedBeforeBroadcasting) {
  ExpectBecomes(SinkShapesAndClean, R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<3x4xf32>
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<3x4xf32>
  %3 = stablehlo.multiply %2, %c : tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  %c = stablehlo.constant dense<2.0> : tensor<4xf32>
  %1 = stablehlo.multiply %0, %c : tensor<4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
})");
}

TEST(SinkShapeOpsTest, BroadcastsOfOtherDimensionsStay) {
  const char* text = R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
})";
  ExpectBecomes(SinkShapesAndClean, text, text);
}

TEST(SinkShapeOpsTest, ElementTypesAndScalarOperandsAreKept) {
  ExpectBecomes(SinkShapesAndClean, R"(
func.func @main(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<3x4xi1> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<4xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.select %p, %0, %1 : tensor<i1>, tensor<3x4xf32>
  %3 = stablehlo.compare LT, %2, %1 : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xi1>
  return %3 : tensor<3x4xi1>
})",
                R"(
func.func @main(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<3x4xi1> {
  %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<4xf32>
  %1 = stablehlo.compare LT, %0, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<4xi1>) -> tensor<3x4xi1>
  return %2 : tensor<3x4xi1>
})");
}

TEST(SinkShapeOpsTest, AReshapeBetweenElementwiseOpsGoesBehindThem) {
  ExpectBecomes(SinkShapesAndClean, R"(
func.func @main(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  %0 = stablehlo.sine %x : tensor<3x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x4xf32>) -> tensor<12xf32>
  %2 = stablehlo.negate %1 : tensor<12xf32>
  return %2 : tensor<12xf32>
})",
                R"(
func.func @main(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  %0 = stablehlo.sine %x : tensor<3x4xf32>
  %1 = stablehlo.negate %0 : tensor<3x4xf32>
  %2 = stablehlo.reshape %1 : (tensor<3x4xf32>) -> tensor<12xf32>
  return %2 : tensor<12xf32>
})");
}

TEST(SinkShapeOpsTest, ATransposeWithNothingBehindItStays) {
  const char* text = R"(
func.func @main(%x: tensor<3x4xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %1 = stablehlo.negate %0 : tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
})";
  ExpectBecomes(SinkShapesAndClean, text, text);
}

}  // namespace
}  // namespace pjrt::ir
