// SPDX-License-Identifier: Apache-2.0
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

// Tuples that nothing uses any more are gone.
void Flatten(Module* module) {
  FlattenTuples(module);
  RemoveDeadOps(module);
}

TEST(FlattenTuplesTest, ArgumentsAndResultsOfFunctionsAreParts) {
  ExpectBecomes(Flatten, R"(
func.func @main(%t: tuple<tensor<f32>, tuple<tensor<i1>, tensor<2xi8>>>, %x: tensor<f64>)
    -> tuple<tensor<2xi8>, tensor<f64>> {
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>, tuple<tensor<i1>, tensor<2xi8>>>) -> tuple<tensor<i1>, tensor<2xi8>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<i1>, tensor<2xi8>>) -> tensor<2xi8>
  %2 = stablehlo.tuple %1, %x : tuple<tensor<2xi8>, tensor<f64>>
  return %2 : tuple<tensor<2xi8>, tensor<f64>>
})",
                R"(
func.func @main(%a: tensor<f32>, %b: tensor<i1>, %c: tensor<2xi8>, %x: tensor<f64>)
    -> (tensor<2xi8>, tensor<f64>) {
  return %c, %x : tensor<2xi8>, tensor<f64>
})");
}

TEST(FlattenTuplesTest, LoopsCarryPartsAndBranchesReturnThem) {
  ExpectBecomes(Flatten, R"(
func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %t = stablehlo.tuple %x, %p : tuple<tensor<f32>, tensor<i1>>
  %w = "stablehlo.while"(%t) ({
  ^bb0(%a: tuple<tensor<f32>, tensor<i1>>):
    %c = stablehlo.get_tuple_element %a[1] : (tuple<tensor<f32>, tensor<i1>>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%a: tuple<tensor<f32>, tensor<i1>>):
    %i = "stablehlo.if"(%p) ({
      stablehlo.return %a : tuple<tensor<f32>, tensor<i1>>
    }, {
      stablehlo.return %t : tuple<tensor<f32>, tensor<i1>>
    }) : (tensor<i1>) -> tuple<tensor<f32>, tensor<i1>>
    stablehlo.return %i : tuple<tensor<f32>, tensor<i1>>
  }) : (tuple<tensor<f32>, tensor<i1>>) -> tuple<tensor<f32>, tensor<i1>>
  %0 = stablehlo.get_tuple_element %w[0] : (tuple<tensor<f32>, tensor<i1>>) -> tensor<f32>
  return %0 : tensor<f32>
})",
                R"(
func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %w:2 = "stablehlo.while"(%x, %p) ({
  ^bb0(%a: tensor<f32>, %b: tensor<i1>):
    stablehlo.return %b : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<i1>):
    %i:2 = "stablehlo.if"(%p) ({
      stablehlo.return %a, %b : tensor<f32>, tensor<i1>
    }, {
      stablehlo.return %x, %p : tensor<f32>, tensor<i1>
    }) : (tensor<i1>) -> (tensor<f32>, tensor<i1>)
    stablehlo.return %i#0, %i#1 : tensor<f32>, tensor<i1>
  }) : (tensor<f32>, tensor<i1>) -> (tensor<f32>, tensor<i1>)
  return %w#0 : tensor<f32>
})");
}

TEST(FlattenTuplesTest, CustomCallsKeepTheirTuples) {
  ExpectBecomes(Flatten, R"(
func.func @main(%t: tuple<tensor<f32>, tensor<i1>>) -> tuple<tensor<f32>> {
  %0 = stablehlo.custom_call @f(%t) {has_side_effect = true} : (tuple<tensor<f32>, tensor<i1>>) -> tuple<tensor<f32>>
  return %0 : tuple<tensor<f32>>
})",
                R"(
func.func @main(%a: tensor<f32>, %b: tensor<i1>) -> tensor<f32> {
  %t = stablehlo.tuple %a, %b : tuple<tensor<f32>, tensor<i1>>
  %0 = stablehlo.custom_call @f(%t) {has_side_effect = true} : (tuple<tensor<f32>, tensor<i1>>) -> tuple<tensor<f32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<f32>>) -> tensor<f32>
  return %1 : tensor<f32>
})");
}

TEST(FlattenTuplesTest, AnEmptyTupleIsNothing) {
  ExpectBecomes(Flatten, R"(
func.func @main(%t: tuple<>, %x: tensor<f32>) -> (tuple<>, tensor<f32>) {
  return %t, %x : tuple<>, tensor<f32>
})",
                R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
})");
}

}  // namespace
}  // namespace pjrt::ir
