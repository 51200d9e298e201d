// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

TEST(IsolateRegionsTest, AScalarThatAReducerUsesIsReducedWithTheRest) {
  ExpectBecomes(IsolateRegions, R"(
func.func @main(%a: tensor<3x4xf32>, %i: tensor<f32>, %s: tensor<f32>) -> tensor<3xf32> {
  %0 = "stablehlo.reduce"(%a, %i) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %m = stablehlo.multiply %y, %s : tensor<f32>
    %z = stablehlo.add %x, %m : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
})",
                R"(
func.func @main(%a: tensor<3x4xf32>, %i: tensor<f32>, %s: tensor<f32>) -> tensor<3xf32> {
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
  %0:2 = "stablehlo.reduce"(%a, %b, %i, %s) ({
  ^bb0(%x: tensor<f32>, %c: tensor<f32>, %y: tensor<f32>, %d: tensor<f32>):
    %m = stablehlo.multiply %y, %c : tensor<f32>
    %z = stablehlo.add %x, %m : tensor<f32>
    stablehlo.return %z, %c : tensor<f32>, tensor<f32>
  }) {dimensions = array<i64: 1>} : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
  return %0#0 : tensor<3xf32>
})");
}

TEST(IsolateRegionsTest, MapAndSortTakeOperandsBehindTheirOwn) {
  ExpectBecomes(IsolateRegions, R"(
func.func @main(%a: tensor<4xf32>, %s: tensor<i32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %s : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>) -> tensor<4xi32>
  %1 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %k = stablehlo.convert %s : (tensor<i32>) -> tensor<f32>
    %m = stablehlo.multiply %y, %k : tensor<f32>
    %p = stablehlo.compare LT, %x, %m : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xi32>, tensor<4xf32>
})",
                R"(
func.func @main(%a: tensor<4xf32>, %s: tensor<i32>) -> (tensor<4xi32>, tensor<4xf32>) {
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %0 = "stablehlo.map"(%a, %b) ({
  ^bb0(%x: tensor<f32>, %c: tensor<i32>):
    stablehlo.return %c : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi32>
  %d = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i32>) -> tensor<4xi32>
  %1:2 = "stablehlo.sort"(%a, %d) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %c: tensor<i32>, %e: tensor<i32>):
    %k = stablehlo.convert %c : (tensor<i32>) -> tensor<f32>
    %m = stablehlo.multiply %y, %k : tensor<f32>
    %p = stablehlo.compare LT, %x, %m : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %0, %1#0 : tensor<4xi32>, tensor<4xf32>
})");
}

TEST(IsolateRegionsTest, ConstantsMoveInWithTheirUsers) {
  ExpectBecomes(IsolateRegions, R"(
func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {
  %t = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<i32>):
    %1 = stablehlo.dynamic_slice %t, %x, sizes = [1] : (tensor<2xi32>, tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
})",
                R"(
func.func @main(%a: tensor<4xi32>) -> tensor<4xi32> {
  %t = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<i32>):
    %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %1 = stablehlo.dynamic_slice %c, %x, sizes = [1] : (tensor<2xi32>, tensor<i32>) -> tensor<1xi32>
    %2 = stablehlo.reshape %1 : (tensor<1xi32>) -> tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) {dimensions = array<i64: 0>} : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
})");
}

TEST(IsolateRegionsTest, ScattersTakeAnArrayAndAnUpdate) {
  ExpectBecomes(IsolateRegions, R"(
func.func @main(%a: tensor<5xi8>, %i: tensor<2x1xi32>, %u: tensor<2xi8>, %s: tensor<i8>) -> tensor<5xi8> {
  %0 = "stablehlo.scatter"(%a, %i, %u) ({
  ^bb0(%x: tensor<i8>, %y: tensor<i8>):
    %z = stablehlo.add %y, %s : tensor<i8>
    stablehlo.return %z : tensor<i8>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<5xi8>, tensor<2x1xi32>, tensor<2xi8>) -> tensor<5xi8>
  return %0 : tensor<5xi8>
})",
                R"(
func.func @main(%a: tensor<5xi8>, %i: tensor<2x1xi32>, %u: tensor<2xi8>, %s: tensor<i8>) -> tensor<5xi8> {
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i8>) -> tensor<5xi8>
  %c = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<i8>) -> tensor<2xi8>
  %0:2 = "stablehlo.scatter"(%a, %b, %i, %u, %c) ({
  ^bb0(%x: tensor<i8>, %d: tensor<i8>, %y: tensor<i8>, %e: tensor<i8>):
    %z = stablehlo.add %y, %d : tensor<i8>
    stablehlo.return %z, %d : tensor<i8>, tensor<i8>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<5xi8>, tensor<5xi8>, tensor<2x1xi32>, tensor<2xi8>, tensor<2xi8>) -> (tensor<5xi8>, tensor<5xi8>)
  return %0#0 : tensor<5xi8>
})");
}

}  // namespace
}  // namespace pjrt::ir
