// SPDX-License-Identifier: Apache-2.0
//
// ScatterSlice, as SimplifyRanges calls it, and SimplifyGather.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

void Slices(Module* module) {
  SimplifyRanges(module);
  RemoveDeadOps(module);
}

// x[AT] = y by the scatter's body BODY. %i is below 8, %k anything.
std::string AtOne(absl::string_view at, absl::string_view body) {
  return absl::StrReplaceAll(R"(
func.func @main(%x: tensor<8xf32>, %k: tensor<i32>, %y: tensor<f32>) -> tensor<8xf32> {
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %i = stablehlo.and %k, %seven : tensor<i32>
  %0 = stablehlo.reshape AT : (tensor<i32>) -> tensor<1xi32>
  %1 = "stablehlo.scatter"(%x, %0, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    BODY
  }) : (tensor<8xf32>, tensor<1xi32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
})",
                             {{"AT", at}, {"BODY", body}});
}

constexpr char kReplace[] = "stablehlo.return %b : tensor<f32>";

TEST(ScatterSliceTest, ReplacingAnElementWithinBoundsUpdatesASlice) {
  ExpectBecomes(Slices, AtOne("%i", kReplace), R"(
func.func @main(%x: tensor<8xf32>, %k: tensor<i32>, %y: tensor<f32>) -> tensor<8xf32> {
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %i = stablehlo.and %k, %seven : tensor<i32>
  %0 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
  %2 = stablehlo.reshape %y : (tensor<f32>) -> tensor<1xf32>
  %3 = stablehlo.dynamic_update_slice %x, %2, %1 : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
})");
}

TEST(ScatterSliceTest, OtherBodiesComputeWithTheOldElement) {
  ExpectBecomes(Slices, AtOne("%i", R"(%c = stablehlo.subtract %b, %a : tensor<f32>
    stablehlo.return %c : tensor<f32>)"),
                R"(
func.func @main(%x: tensor<8xf32>, %k: tensor<i32>, %y: tensor<f32>) -> tensor<8xf32> {
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %i = stablehlo.and %k, %seven : tensor<i32>
  %0 = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
  %2 = stablehlo.dynamic_slice %x, %1, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
  %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
  %4 = stablehlo.subtract %y, %3 : tensor<f32>
  %5 = stablehlo.reshape %4 : (tensor<f32>) -> tensor<1xf32>
  %6 = stablehlo.dynamic_update_slice %x, %5, %1 : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
  return %6 : tensor<8xf32>
})");
}

TEST(ScatterSliceTest, AnIndexThatMayBeOutOfBoundsStaysAScatter) {
  EXPECT_TRUE(absl::StrContains(After(Slices, AtOne("%k", kReplace)), "scatter"));
  const std::string shorter =
      absl::StrReplaceAll(AtOne("%i", kReplace), {{"tensor<8xf32>", "tensor<7xf32>"}});
  EXPECT_TRUE(absl::StrContains(After(Slices, shorter), "scatter"));
}

// x[2, m, j..j+2] = y of rows of 2 x 1 x 3, for the one vector (j, m) of indices; %m is below 4.
std::string Window(absl::string_view j, absl::string_view body) {
  return absl::StrReplaceAll(R"(
func.func @main(%x: tensor<2x4x10xf32>, %k: tensor<i32>, %y: tensor<1x2x3xf32>) -> tensor<2x4x10xf32> {
  %three = stablehlo.constant dense<3> : tensor<i32>
  %seven = stablehlo.constant dense<7> : tensor<i32>
  %nine = stablehlo.constant dense<9> : tensor<i32>
  %m = stablehlo.and %k, %three : tensor<i32>
  %seventh = stablehlo.and %k, %seven : tensor<i32>
  %ninth = stablehlo.and %k, %nine : tensor<i32>
  %0 = stablehlo.reshape J : (tensor<i32>) -> tensor<1x1xi32>
  %1 = stablehlo.reshape %m : (tensor<i32>) -> tensor<1x1xi32>
  %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x2xi32>
  %3 = "stablehlo.scatter"(%x, %2, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], inserted_window_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    BODY
  }) : (tensor<2x4x10xf32>, tensor<1x2xi32>, tensor<1x2x3xf32>) -> tensor<2x4x10xf32>
  return %3 : tensor<2x4x10xf32>
})",
                             {{"J", j}, {"BODY", body}});
}

TEST(ScatterSliceTest, AWindowsPlacesAreThoseOfItsDimensions) {
  const std::string after = After(Slices, Window("%seventh", kReplace));
  EXPECT_FALSE(absl::StrContains(after, "scatter")) << after;
  // The slice is two planes, one row, three columns; it begins at plane 0, row m, column j.
  EXPECT_TRUE(absl::StrContains(after, "(tensor<1x2x3xf32>) -> tensor<2x1x3xf32>")) << after;
  EXPECT_TRUE(absl::StrContains(after, "stablehlo.dynamic_update_slice %arg0, %")) << after;
}

TEST(ScatterSliceTest, AWindowMustBeInsideToItsEnd) {
  EXPECT_TRUE(absl::StrContains(After(Slices, Window("%ninth", kReplace)), "scatter"));
}

TEST(ScatterSliceTest, WindowsThatAreComputedWithStayScatters) {
  EXPECT_TRUE(
      absl::StrContains(After(Slices, Window("%seventh", R"(%c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>)")),
                        "scatter"));
}

// Two indices in as many pieces, which are not one index each.
TEST(ScatterSliceTest, IndicesArePutTogetherFromPiecesOfAnySize) {
  const char* text = R"(
func.func @main(%x: tensor<4x8xf32>, %k: tensor<2xui2>, %e: tensor<0xui2>, %y: tensor<f32>) -> tensor<4x8xf32> {
  %i = stablehlo.convert %k : (tensor<2xui2>) -> tensor<2xi32>
  %none = stablehlo.convert %e : (tensor<0xui2>) -> tensor<0xi32>
  %at = stablehlo.concatenate PIECES, dim = 0 : (TYPES) -> tensor<2xi32>
  %1 = "stablehlo.scatter"(%x, %at, %y) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<2xi32>, tensor<f32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
})";
  for (const bool first : {true, false}) {
    const std::string program = absl::StrReplaceAll(
        text, {{"PIECES", first ? "%i, %none" : "%none, %i"},
               {"TYPES", first ? "tensor<2xi32>, tensor<0xi32>" : "tensor<0xi32>, tensor<2xi32>"}});
    EXPECT_FALSE(After(SimplifyRanges, program).empty());
  }
}

void Simplified(Module* module) {
  Simplify(module);
  RemoveDeadOps(module);
}

// Indices 1 and 0 are those of dims 0 and 2; the window has a single row of dim 1.
TEST(GatherSliceTest, OneWindowIsASlice) {
  constexpr char kText[] = R"(
func.func @main(%x: tensor<8x5x6xf32>, %i: tensor<1x2xi32>) -> tensor<2x1x3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], collapsed_slice_dims = [1], start_index_map = [2, 0], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1, 3>}> : (tensor<8x5x6xf32>, tensor<1x2xi32>) -> tensor<2x1x3xf32>
  return %0 : tensor<2x1x3xf32>
})";
  ExpectBecomes(Simplified, kText, R"(
func.func @main(%x: tensor<8x5x6xf32>, %i: tensor<1x2xi32>) -> tensor<2x1x3xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.slice %i [0:1, 0:1] : (tensor<1x2xi32>) -> tensor<1x1xi32>
  %1 = stablehlo.reshape %0 : (tensor<1x1xi32>) -> tensor<i32>
  %2 = stablehlo.slice %i [0:1, 1:2] : (tensor<1x2xi32>) -> tensor<1x1xi32>
  %3 = stablehlo.reshape %2 : (tensor<1x1xi32>) -> tensor<i32>
  %4 = stablehlo.dynamic_slice %x, %3, %c, %1, sizes = [2, 1, 3] : (tensor<8x5x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x1x3xf32>
  return %4 : tensor<2x1x3xf32>
})");
  const std::string two =
      absl::StrReplaceAll(kText, {{"1x2xi32", "4x2xi32"}, {"2x1x3xf32", "2x4x3xf32"}});
  EXPECT_TRUE(absl::StrContains(After(Simplified, two), "gather"));
}

}  // namespace
}  // namespace pjrt::ir
