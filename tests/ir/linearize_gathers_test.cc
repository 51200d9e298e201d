// SPDX-License-Identifier: Apache-2.0
//
// LinearizeGathers: which gathers become gathers from a list, and their arithmetic.
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

TEST(LinearizeGathersTest, IndicesOfTwoDimsAreMovedInsideAndAdded) {
  ExpectBecomes(LinearizeGathers, R"(
func.func @main(%x: tensor<5x7xf32>, %i: tensor<4x3xi32>, %j: tensor<4x3xi32>) -> tensor<4x3xf32> {
  %0 = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
  %1 = stablehlo.reshape %j : (tensor<4x3xi32>) -> tensor<4x3x1xi32>
  %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<4x3x1xi32>, tensor<4x3x1xi32>) -> tensor<4x3x2xi32>
  %3 = "stablehlo.gather"(%x, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x7xf32>, tensor<4x3x2xi32>) -> tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
})",
                R"(
func.func @main(%x: tensor<5x7xf32>, %i: tensor<4x3xi32>, %j: tensor<4x3xi32>) -> tensor<4x3xf32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.constant dense<4> : tensor<i32>
  %2 = stablehlo.clamp %0, %i, %1 : (tensor<i32>, tensor<4x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  %3 = stablehlo.constant dense<7> : tensor<4x3xi32>
  %4 = stablehlo.multiply %2, %3 : tensor<4x3xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %5 = stablehlo.constant dense<6> : tensor<i32>
  %6 = stablehlo.clamp %zero, %j, %5 : (tensor<i32>, tensor<4x3xi32>, tensor<i32>) -> tensor<4x3xi32>
  %7 = stablehlo.add %4, %6 : tensor<4x3xi32>
  %8 = stablehlo.reshape %x : (tensor<5x7xf32>) -> tensor<35xf32>
  %9 = "stablehlo.gather"(%8, %7) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<35xf32>, tensor<4x3xi32>) -> tensor<4x3xf32>
  return %9 : tensor<4x3xf32>
})");
}

// The index of a byte cannot reach beyond 127, and is converted once it is inside. A broadcast goes
// on without the dim of the vectors.
TEST(LinearizeGathersTest, BatchesCountInStridesAndIndicesKeepTheirTypeUntilTheyAreInside) {
  ExpectBecomes(LinearizeGathers, R"(
func.func @main(%x: tensor<3x200xf32>, %i: tensor<4xi8>) -> tensor<3x4xf32> {
  %0 = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<4xi8>) -> tensor<3x4x1xi8>
  %1 = "stablehlo.gather"(%x, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<3x200xf32>, tensor<3x4x1xi8>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
})",
                R"(
func.func @main(%x: tensor<3x200xf32>, %i: tensor<4xi8>) -> tensor<3x4xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<600xi32>
  %1 = stablehlo.slice %0 [0:600:200] : (tensor<600xi32>) -> tensor<3xi32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<3xi32>) -> tensor<3x4xi32>
  %3 = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<4xi8>) -> tensor<3x4xi8>
  %4 = stablehlo.constant dense<0> : tensor<i8>
  %5 = stablehlo.constant dense<127> : tensor<i8>
  %6 = stablehlo.clamp %4, %3, %5 : (tensor<i8>, tensor<3x4xi8>, tensor<i8>) -> tensor<3x4xi8>
  %7 = stablehlo.convert %6 : (tensor<3x4xi8>) -> tensor<3x4xi32>
  %8 = stablehlo.add %2, %7 : tensor<3x4xi32>
  %9 = stablehlo.reshape %x : (tensor<3x200xf32>) -> tensor<600xf32>
  %10 = "stablehlo.gather"(%9, %8) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<600xf32>, tensor<3x4xi32>) -> tensor<3x4xf32>
  return %10 : tensor<3x4xf32>
})");
}

TEST(LinearizeGathersTest, AListLosesTheDimOfItsIndexVectorsOnly) {
  ExpectBecomes(LinearizeGathers, R"(
func.func @main(%x: tensor<9xf32>, %i: tensor<4x1xui64>) -> tensor<4x1xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<9xf32>, tensor<4x1xui64>) -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
})",
                R"(
func.func @main(%x: tensor<9xf32>, %i: tensor<4x1xui64>) -> tensor<4x1xf32> {
  %0 = stablehlo.reshape %i : (tensor<4x1xui64>) -> tensor<4xui64>
  %1 = "stablehlo.gather"(%x, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<9xf32>, tensor<4xui64>) -> tensor<4xf32>
  %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
  return %2 : tensor<4x1xf32>
})");
}

// A picture of one channel, which a dim was added for.
TEST(LinearizeGathersTest, DimsThatWereAddedAreNotInTheWay) {
  ExpectBecomes(LinearizeGathers, R"(
func.func @main(%x: tensor<5x7xf32>, %i: tensor<4x1xi32>) -> tensor<4x1xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<5x7xf32>) -> tensor<5x7x1xf32>
  %1 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<5x7x1xf32>, tensor<4x1xi32>) -> tensor<4x1xf32>
  return %1 : tensor<4x1xf32>
})",
                R"(
func.func @main(%x: tensor<5x7xf32>, %i: tensor<4x1xi32>) -> tensor<4x1xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<5x7xf32>) -> tensor<5x7x1xf32>
  %1 = stablehlo.reshape %i : (tensor<4x1xi32>) -> tensor<4xi32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %2 = stablehlo.clamp %zero, %1, %six : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  %3 = stablehlo.reshape %0 : (tensor<5x7x1xf32>) -> tensor<35xf32>
  %4 = "stablehlo.gather"(%3, %2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<35xf32>, tensor<4xi32>) -> tensor<4xf32>
  %5 = stablehlo.reshape %4 : (tensor<4xf32>) -> tensor<4x1xf32>
  return %5 : tensor<4x1xf32>
})");
}

// Rows; vectors of indices that were never apart; an array that would have to be copied; a single
// element.
TEST(LinearizeGathersTest, OthersStay) {
  const char* text = R"(
func.func @main(%x: tensor<5x7xf32>, %i: tensor<4x1xi32>, %ij: tensor<4x2xi32>, %one: tensor<1x2xi32>) -> (tensor<4x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 7>}> : (tensor<5x7xf32>, tensor<4x1xi32>) -> tensor<4x7xf32>
  %1 = "stablehlo.gather"(%x, %ij) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %2 = stablehlo.transpose %x, dims = [1, 0] : (tensor<5x7xf32>) -> tensor<7x5xf32>
  %3 = stablehlo.concatenate %i, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %4 = "stablehlo.gather"(%2, %3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<7x5xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %5 = "stablehlo.gather"(%x, %one) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x7xf32>, tensor<1x2xi32>) -> tensor<1xf32>
  return %0, %1, %4, %5 : tensor<4x7xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>
})";
  ExpectBecomes(LinearizeGathers, text, text);
}

// The index of one dim serves two gathers, and is not negative: nothing is left to decide.
TEST(LinearizeGathersTest, ShapeOpsOfIndicesSinkBehindTheirChecks) {
  ExpectBecomes(
      [](Module* module) {
        LinearizeGathers(module);
        SinkShapeOps(module);
        RemoveDeadOps(module);
      },
      R"(
func.func @main(%x: tensor<6xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi1>) {
  %n = stablehlo.constant dense<6> : tensor<4xi32>
  %0 = stablehlo.add %i, %n : tensor<4xi32>
  %1 = stablehlo.reshape %0 : (tensor<4xi32>) -> tensor<4x1xi32>
  %z = stablehlo.constant dense<0> : tensor<4x1xi32>
  %l = stablehlo.constant dense<5> : tensor<4x1xi32>
  %2 = stablehlo.compare GE, %1, %z : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
  %3 = stablehlo.compare LE, %1, %l : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
  %4 = stablehlo.and %2, %3 : tensor<4x1xi1>
  %5 = stablehlo.reshape %4 : (tensor<4x1xi1>) -> tensor<4xi1>
  %6 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %6, %5 : tensor<4xf32>, tensor<4xi1>
})",
      R"(
func.func @main(%x: tensor<6xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi1>) {
  %n = stablehlo.constant dense<6> : tensor<4xi32>
  %0 = stablehlo.add %i, %n : tensor<4xi32>
  %z = stablehlo.constant dense<0> : tensor<4xi32>
  %2 = stablehlo.compare GE, %0, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %l = stablehlo.constant dense<5> : tensor<4xi32>
  %3 = stablehlo.compare LE, %0, %l : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %4 = stablehlo.and %2, %3 : tensor<4xi1>
  %6 = "stablehlo.gather"(%x, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<6xf32>, tensor<4xi32>) -> tensor<4xf32>
  return %6, %4 : tensor<4xf32>, tensor<4xi1>
})");
}

}  // namespace
}  // namespace pjrt::ir
