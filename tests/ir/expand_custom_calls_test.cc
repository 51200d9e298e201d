// SPDX-License-Identifier: Apache-2.0

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

void Expand(Module* module) { EXPECT_TRUE(ExpandCustomCalls(module).ok()); }

void ExpectExpands(absl::string_view text, absl::string_view expected) {
  ExpectBecomes(Expand, text, expected);
}

// A program as it is.
void ExpectStays(absl::string_view text) { ExpectBecomes(Expand, text, text); }

TEST(ExpandCustomCalls, AnnotationsAreTheirOperands) {
  for (const char* target :
       {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape", "xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier",
        "local_xla.sdy.FuncResultSharding", "annotate_device_placement", "LayoutConstraint",
        "InspectSharding", "MoveToDevice", "MoveToHost", "PinToDevice", "PinToDeviceSram",
        "mark_tensor"}) {
    ExpectExpands(
        absl::StrCat(
            R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @")",
            target,
            R"("(%x) {has_side_effect = true, mhlo.sharding = "{manual}"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})"),
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  return %x : tensor<4xf32>\n}");
  }
}

TEST(ExpandCustomCalls, AnnotationsThatChangeShapesStay) {
  ExpectStays(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) : (tensor<4xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
})");
}

TEST(ExpandCustomCalls, ManyOperandsPassThroughAManualRegion) {
  ExpectExpands(R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<i32>) -> (tensor<i32>, tensor<4xf32>) {
  %0:2 = stablehlo.custom_call @xla.sdy.GlobalToLocalShape(%x, %y) : (tensor<4xf32>, tensor<i32>) -> (tensor<4xf32>, tensor<i32>)
  stablehlo.custom_call @xla.sdy.ShardingGroup(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return %0#1, %0#0 : tensor<i32>, tensor<4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<i32>) -> (tensor<i32>, tensor<4xf32>) {
  return %y, %x : tensor<i32>, tensor<4xf32>
})");
}

TEST(ExpandCustomCalls, AnnotationsOfShardyAreTheirOperands) {
  ExpectExpands(R"(
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %x <@mesh, [{"x"}]> : tensor<4xf32>
  sdy.sharding_group %0 group_id = 3 : tensor<4xf32>
  return %0 : tensor<4xf32>
})",
                R"(
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
})");
}

TEST(ExpandCustomCalls, ConstantTensorsOfArithAreConstants) {
  ExpectExpands(R"(
func.func @main() -> (tensor<2xf32>, tensor<i32>) {
  %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = arith.constant dense<3> : tensor<i32>
  return %0, %1 : tensor<2xf32>, tensor<i32>
})",
                R"(
func.func @main() -> (tensor<2xf32>, tensor<i32>) {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<3> : tensor<i32>
  return %0, %1 : tensor<2xf32>, tensor<i32>
})");
  ExpectStays(R"(
func.func @main() {
  %0 = arith.constant 3 : index
  return
})");
}

TEST(ExpandCustomCalls, ManualComputationsOnOneDeviceAreTheirBodies) {
  constexpr char kExpected[] = R"(
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
})";
  ExpectExpands(R"(
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<4xf32>) {
    %1 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<4xf32>
    %2 = stablehlo.negate %1 : tensor<4xf32>
    sdy.return %2 : tensor<4xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})",
                kExpected);
  constexpr char kOnTwo[] = R"(
sdy.mesh @mesh = <["x"=2]>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<2xf32>) {
    sdy.return %a : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})";
  ExpectStays(kOnTwo);
}

TEST(ExpandCustomCalls, AManualComputationInAFunctionBecomesItsCall) {
  ExpectExpands(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @local_xla.sdy.ManualComputation(%x) {called_computations = [@body]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @body(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
})");
}

TEST(ExpandCustomCalls, OpsOfMhloBecomeOpsOfTheSameName) {
  ExpectExpands(R"(
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.custom_call @mhlo.tan(%0) {mhlo.attributes = {}} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = mhlo.erf %1 : tensor<4xf32>
  %3 = mhlo.tan %2 : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %1 = stablehlo.tan %0 : tensor<4xf32>
  %2 = chlo.erf %1 : tensor<4xf32> -> tensor<4xf32>
  %3 = stablehlo.tan %2 : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
})");
}

TEST(ExpandCustomCalls, OpsOfMhloThatDoNotFitStay) {
  ExpectStays(R"(
func.func @main(%x: tensor<4xi32>) -> (tensor<4xi32>, tensor<4xi32>) {
  %0 = stablehlo.custom_call @mhlo.erf(%x) {mhlo.attributes = {}} : (tensor<4xi32>) -> tensor<4xi32>
  %1 = stablehlo.custom_call @mhlo.nothing(%x) {mhlo.attributes = {}} : (tensor<4xi32>) -> tensor<4xi32>
  return %0, %1 : tensor<4xi32>, tensor<4xi32>
})");
}

TEST(ExpandCustomCalls, RaggedProductsBecomeOpsWithTheirNumbers) {
  ExpectExpands(R"(
func.func @main(%x: tensor<4x3xf32>, %y: tensor<2x3x5xf32>, %s: tensor<2xi32>) -> tensor<4x5xf32> {
  %0 = stablehlo.custom_call @chlo.ragged_dot(%x, %y, %s) {mhlo.attributes = {precision_config = ["DEFAULT", "HIGHEST"], ragged_dot_dimension_numbers = [dense<> : tensor<0xi64>, dense<> : tensor<0xi64>, dense<1> : tensor<1xi64>, dense<1> : tensor<1xi64>, dense<0> : tensor<1xi64>, dense<0> : tensor<1xi64>]}} : (tensor<4x3xf32>, tensor<2x3x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
})",
                R"(
func.func @main(%x: tensor<4x3xf32>, %y: tensor<2x3x5xf32>, %s: tensor<2xi32>) -> tensor<4x5xf32> {
  %0 = "chlo.ragged_dot"(%x, %y, %s) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGHEST>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x3xf32>, tensor<2x3x5xf32>, tensor<2xi32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
})");
}

TEST(ExpandCustomCalls, SelectionsBecomeTopK) {
  ExpectExpands(R"(
func.func @main(%x: tensor<3x8xf32>, %k: tensor<i32>) -> (tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x2xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 4 : i64, largest = true}} : (tensor<3x8xf32>) -> (tensor<3x4xf32>, tensor<3x4xi32>)
  %1:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) {api_version = 2 : i32} : (tensor<3x8xf32>, tensor<i32>) -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1, %1#1 : tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x2xi32>
})",
                R"(
func.func @main(%x: tensor<3x8xf32>, %k: tensor<i32>) -> (tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x2xi32>) {
  %0, %1 = chlo.top_k(%x, k = 4) : tensor<3x8xf32> -> (tensor<3x4xf32>, tensor<3x4xi32>)
  %2, %3 = chlo.top_k(%x, k = 2) : tensor<3x8xf32> -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0, %1, %3 : tensor<3x4xf32>, tensor<3x4xi32>, tensor<3x2xi32>
})");
}

TEST(ExpandCustomCalls, ApproximateSelectionsAreExact) {
  ExpectExpands(R"(
func.func @main(%x: tensor<8x3xf32>, %i: tensor<8x3xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {called_computations = [@gt], mhlo.backend_config = {aggregate_to_topk = true, is_fallback = true, recall_target = 0.9 : f32, reduction_dim = 0 : i64, reduction_input_size_override = -1 : i64, top_k = 2 : i64}} : (tensor<8x3xf32>, tensor<8x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}
func.func private @gt(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
})",
                R"(
func.func @main(%x: tensor<8x3xf32>, %i: tensor<8x3xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %s: tensor<i32>):
    %3 = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<8x3xf32>, tensor<8x3xi32>) -> (tensor<8x3xf32>, tensor<8x3xi32>)
  %1 = stablehlo.slice %0#0 [0:2, 0:3] : (tensor<8x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.slice %0#1 [0:2, 0:3] : (tensor<8x3xi32>) -> tensor<2x3xi32>
  return %1, %2 : tensor<2x3xf32>, tensor<2x3xi32>
}
func.func private @gt(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
})");
}

TEST(ExpandCustomCalls, ASelectionWithoutItsComparatorStays) {
  ExpectStays(R"(
func.func @main(%x: tensor<8xf32>, %i: tensor<8xi32>, %a: tensor<f32>, %b: tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%x, %i, %a, %b) {mhlo.backend_config = {reduction_dim = 0 : i64}} : (tensor<8xf32>, tensor<8xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xi32>
})");
}

TEST(ExpandCustomCalls, AComposedCallBecomesAComposite) {
  ExpectExpands(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @stablehlo.composite(%x) {called_computations = [@impl], composite.backend_config = {attributes = {a = 1 : i64}, name = "odml.foo"}} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @impl(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "odml.foo" %x {composite_attributes = {a = 1 : i64}, decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @impl(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
})");
}

TEST(ExpandCustomCalls, CompositesNamedAfterOpsOfChloBecomeThose) {
  ExpectExpands(R"(
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xi32>, tensor<8xf32>) {
  %0 = stablehlo.composite "chlo.erf" %x {decomposition = @same, version = 1 : i32} : (tensor<8xf32>) -> tensor<8xf32>
  %1:2 = stablehlo.composite "chlo.top_k" %x {composite_attributes = {k = 2 : i64}, decomposition = @two, version = 1 : i32} : (tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>)
  %2 = stablehlo.composite "my.erf" %x {decomposition = @same} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1#1, %2 : tensor<8xf32>, tensor<2xi32>, tensor<8xf32>
}
func.func private @same(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @two(%x: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0, %1 = chlo.top_k(%x, k = 2) : tensor<8xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return %0, %1 : tensor<2xf32>, tensor<2xi32>
})",
                R"(
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xi32>, tensor<8xf32>) {
  %0 = chlo.erf %x : tensor<8xf32> -> tensor<8xf32>
  %1, %3 = chlo.top_k(%x, k = 2) : tensor<8xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %2 = stablehlo.composite "my.erf" %x {decomposition = @same} : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %3, %2 : tensor<8xf32>, tensor<2xi32>, tensor<8xf32>
}
func.func private @same(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @two(%x: tensor<8xf32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0, %1 = chlo.top_k(%x, k = 2) : tensor<8xf32> -> (tensor<2xf32>, tensor<2xi32>)
  return %0, %1 : tensor<2xf32>, tensor<2xi32>
})");
}

TEST(ExpandCustomCalls, ResultsInATupleBecomeResultsOfTheirOwn) {
  ExpectExpands(R"(
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %0 = stablehlo.custom_call @f(%x) {xla_shape = "f32[4], s32[]"} : (tensor<4xf32>) -> tuple<tensor<4xf32>, tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<i32>
  %2 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
  return %2, %1 : tensor<4xf32>, tensor<i32>
})",
                R"(
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<i32>
})");
}

TEST(ExpandCustomCalls, NestedTuplesAreTakenApartAndPutTogether) {
  ExpectExpands(R"(
func.func @main(%x: tuple<tensor<f32>, tuple<tensor<i32>>>) -> tuple<tensor<f32>, tuple<tensor<i32>>> {
  %0 = stablehlo.custom_call @f(%x) : (tuple<tensor<f32>, tuple<tensor<i32>>>) -> tuple<tensor<f32>, tuple<tensor<i32>>>
  return %0 : tuple<tensor<f32>, tuple<tensor<i32>>>
})",
                R"(
func.func @main(%x: tuple<tensor<f32>, tuple<tensor<i32>>>) -> tuple<tensor<f32>, tuple<tensor<i32>>> {
  %0 = stablehlo.get_tuple_element %x[0] : (tuple<tensor<f32>, tuple<tensor<i32>>>) -> tensor<f32>
  %1 = stablehlo.get_tuple_element %x[1] : (tuple<tensor<f32>, tuple<tensor<i32>>>) -> tuple<tensor<i32>>
  %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<i32>>) -> tensor<i32>
  %3:2 = stablehlo.custom_call @f(%0, %2) : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  %4 = stablehlo.tuple %3#1 : tuple<tensor<i32>>
  %5 = stablehlo.tuple %3#0, %4 : tuple<tensor<f32>, tuple<tensor<i32>>>
  return %5 : tuple<tensor<f32>, tuple<tensor<i32>>>
})");
}

TEST(ExpandCustomCalls, OperandsThatOnlyTellShapesGo) {
  ExpectExpands(R"(
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%x, %s) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>, %s: tensor<1xi32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
})");
}

TEST(ExpandCustomCalls, BuffersBecomeTensors) {
  ExpectExpands(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Pin(%x) : (tensor<4xf32>) -> memref<4xf32>
  %1 = stablehlo.custom_call @f(%0) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (memref<4xf32>) -> memref<4xf32>
  %2 = stablehlo.custom_call @Unpin(%1) : (memref<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %1 = stablehlo.custom_call @f(%x) {output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
})");
  ExpectExpands(R"(
func.func @main() -> tensor<4xf32> {
  %0 = stablehlo.custom_call @CreateBuffer() : () -> memref<4xf32>
  %1 = stablehlo.custom_call @Unpin(%0) : (memref<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
})",
                R"(
func.func @main() -> tensor<4xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
})");
}

TEST(ExpandCustomCalls, CallbacksWithoutDataAreDropped) {
  ExpectExpands(R"(
func.func @main(%x: tensor<f32>, %t: !stablehlo.token) -> (!stablehlo.token, !stablehlo.token) {
  stablehlo.custom_call @xla_ffi_partitioned_python_cpu_callback(%x) {has_side_effect = true, mhlo.backend_config = {index = 0 : ui64}} : (tensor<f32>) -> ()
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%t, %x) {has_side_effect = true} : (!stablehlo.token, tensor<f32>) -> !stablehlo.token
  %1 = stablehlo.custom_call @xla_python_cpu_callback(%x) {has_side_effect = true} : (tensor<f32>) -> !stablehlo.token
  return %0, %1 : !stablehlo.token, !stablehlo.token
})",
                R"(
func.func @main(%x: tensor<f32>, %t: !stablehlo.token) -> (!stablehlo.token, !stablehlo.token) {
  %1 = stablehlo.create_token : !stablehlo.token
  return %t, %1 : !stablehlo.token, !stablehlo.token
})");
  ExpectStays(R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.custom_call @xla_ffi_python_cpu_callback(%x) {mhlo.backend_config = {index = 0 : ui64}} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
})");
}

TEST(ExpandCustomCalls, OldTransformsBecomeFft) {
  // At 4 a vtable of 16 bytes whose only field is slot 5, axes; at 20 the table; behind it the
  // vector [0, 1]. `forward` is absent: backward.
  constexpr char kTable[] =
      "dense<[20, 0, 0, 0, 16, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 16, 0, 0, 0, 4, 0, 0, "
      "0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0]> : tensor<40xui8>";
  ExpectExpands(absl::StrCat(R"(
func.func @main(%x: tensor<3x4x6xcomplex<f32>>) -> tensor<3x4x6xcomplex<f32>> {
  %d = stablehlo.constant )",
                             kTable, R"(
  %0 = stablehlo.custom_call @ducc_fft(%d, %x) {api_version = 2 : i32} : (tensor<40xui8>, tensor<3x4x6xcomplex<f32>>) -> tensor<3x4x6xcomplex<f32>>
  return %0 : tensor<3x4x6xcomplex<f32>>
})"),
                absl::StrCat(R"(
func.func @main(%x: tensor<3x4x6xcomplex<f32>>) -> tensor<3x4x6xcomplex<f32>> {
  %d = stablehlo.constant )",
                             kTable, R"(
  %0 = stablehlo.fft %x, type = IFFT, length = [4, 6] : (tensor<3x4x6xcomplex<f32>>) -> tensor<3x4x6xcomplex<f32>>
  return %0 : tensor<3x4x6xcomplex<f32>>
})"));
}

TEST(ExpandCustomCalls, ATransformWithABrokenDescriptorStays) {
  ExpectStays(R"(
func.func @main(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  %d = stablehlo.constant dense<255> : tensor<9xui8>
  %0 = stablehlo.custom_call @ducc_fft(%d, %x) : (tensor<9xui8>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %0 : tensor<4xcomplex<f32>>
})");
}

TEST(ExpandCustomCalls, DynamicOpsOfKnownShapesBecomeStatic) {
  ExpectExpands(R"(
func.func @main(%key: tensor<2xui64>, %s: tensor<1xi32>, %x: tensor<4x6xf32>, %i: tensor<f32>) -> (tensor<5xui32>, tensor<2x5xf32>) {
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%key, %s) {api_version = 2 : i32, rng_algorithm = #stablehlo<rng_algorithm DEFAULT>} : (tensor<2xui64>, tensor<1xi32>) -> (tensor<2xui64>, tensor<5xui32>)
  %w = stablehlo.constant dense<2> : tensor<2xi32>
  %st = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %d = stablehlo.constant dense<1> : tensor<2xi32>
  %p = stablehlo.constant dense<0> : tensor<2x2xi32>
  %1 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %i, %w, %st, %d, %d, %p) {api_version = 2 : i32, called_computations = [@add]} : (tensor<4x6xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<2x5xf32>
  return %0#1, %1 : tensor<5xui32>, tensor<2x5xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
})",
                R"(
func.func @main(%key: tensor<2xui64>, %s: tensor<1xi32>, %x: tensor<4x6xf32>, %i: tensor<f32>) -> (tensor<5xui32>, tensor<2x5xf32>) {
  %0, %9 = stablehlo.rng_bit_generator %key, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
  %w = stablehlo.constant dense<2> : tensor<2xi32>
  %st = stablehlo.constant dense<[2, 1]> : tensor<2xi32>
  %d = stablehlo.constant dense<1> : tensor<2xi32>
  %p = stablehlo.constant dense<0> : tensor<2x2xi32>
  %1 = "stablehlo.reduce_window"(%x, %i) <{base_dilations = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x5xf32>
  return %9, %1 : tensor<5xui32>, tensor<2x5xf32>
}
func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
})");
}

TEST(ExpandCustomCalls, AssertionsThatHoldGoAndOthersStay) {
  ExpectExpands(R"(
func.func @main() {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %f = stablehlo.constant dense<false> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%t) {has_side_effect = true} : (tensor<i1>) -> ()
  stablehlo.custom_call @shape_assertion(%f) {has_side_effect = true} : (tensor<i1>) -> ()
  return
})",
                R"(
func.func @main() {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %f = stablehlo.constant dense<false> : tensor<i1>
  stablehlo.custom_call @shape_assertion(%f) {has_side_effect = true} : (tensor<i1>) -> ()
  return
})");
}

TEST(ExpandCustomCalls, WhatTheBackendClaimsStays) {
  constexpr char kText[] = R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.composite "my.op" %0 {decomposition = @g, version = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %2 = chlo.erf %1 : tensor<4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
func.func private @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  return %0 : tensor<4xf32>
})";
  PassOptions options;
  options.claims = [](const Op& op) {
    return op.StringAttr("call_target_name") == "Sharding" || op.Is(OpCode::kChloErf) ||
           (op.StringAttr("name") == "my.op" && op.IntAttr("version") == 2);
  };
  ExpectBecomes(
      [&](Module* module) { EXPECT_TRUE(RunPasses(module, StandardPasses(), options).ok()); },
      kText, kText);
}

}  // namespace
}  // namespace pjrt::ir
