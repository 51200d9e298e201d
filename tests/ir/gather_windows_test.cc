// SPDX-License-Identifier: Apache-2.0
//
// GatherWindows, as SimplifyRanges calls it.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

void Windows(Module* module) {
  SimplifyRanges(module);
  RemoveDeadOps(module);
}

// Twenty places each, x[INDEX of i and j], of a list of SIZE.
std::string Frames(absl::string_view index, int size) {
  return absl::StrReplaceAll(R"(
func.func @main(%x: tensor<SIZExf32>, %k: tensor<3xi32>) -> tensor<3x20xf32> {
  %rows = stablehlo.iota dim = 0 : tensor<3xi32>
  %ten = stablehlo.constant dense<10> : tensor<3x20xi32>
  %i = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<3xi32>) -> tensor<3x20xi32>
  %j = stablehlo.iota dim = 1 : tensor<3x20xi32>
  %any = stablehlo.broadcast_in_dim %k, dims = [0] : (tensor<3xi32>) -> tensor<3x20xi32>
  %tens = stablehlo.multiply %i, %ten : tensor<3x20xi32>
  %at = INDEX : tensor<3x20xi32>
  %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1>}> : (tensor<SIZExf32>, tensor<3x20xi32>) -> tensor<3x20xf32>
  return %0 : tensor<3x20xf32>
})",
                             {{"INDEX", index}, {"SIZE", absl::StrCat(size)}});
}

bool BecomesWindows(const std::string& text) {
  return After(Windows, text).find("slice_sizes = array<i64: 20>") != std::string::npos;
}

TEST(GatherWindowsTest, OverlappingFramesAreWindowsAtTheirFirstPlaces) {
  ExpectBecomes(Windows, Frames("stablehlo.add %tens, %j", 40), R"(
func.func @main(%x: tensor<40xf32>, %k: tensor<3xi32>) -> tensor<3x20xf32> {
  %rows = stablehlo.iota dim = 0 : tensor<3xi32>
  %i = stablehlo.broadcast_in_dim %rows, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
  %ten = stablehlo.constant dense<10> : tensor<3x1xi32>
  %tens = stablehlo.multiply %i, %ten : tensor<3x1xi32>
  %j = stablehlo.constant dense<0> : tensor<3x1xi32>
  %at = stablehlo.add %tens, %j : tensor<3x1xi32>
  %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 20>}> : (tensor<40xf32>, tensor<3x1xi32>) -> tensor<3x20xf32>
  return %0 : tensor<3x20xf32>
})");
}

TEST(GatherWindowsTest, PlacesThatCountDownAreWindowsOfTheReversedArray) {
  const std::string after = After(Windows, Frames("stablehlo.subtract %ten, %j", 40));
  EXPECT_EQ(after.find("stablehlo.reverse"), std::string::npos) << "place -9 is not within bounds";
  const std::string shifted =
      absl::StrReplaceAll(Frames("stablehlo.subtract %ten, %j", 40), {{"dense<10>", "dense<19>"}});
  EXPECT_NE(After(Windows, shifted).find("stablehlo.reverse"), std::string::npos);
}

TEST(GatherWindowsTest, OnlyPlacesThatAreSurelyWithinBoundsAndCountByOne) {
  EXPECT_TRUE(BecomesWindows(Frames("stablehlo.add %j, %tens", 40)));
  EXPECT_FALSE(BecomesWindows(Frames("stablehlo.add %j, %tens", 39)));
  EXPECT_FALSE(BecomesWindows(Frames("stablehlo.add %j, %any", 40)));
  EXPECT_FALSE(BecomesWindows(Frames("stablehlo.add %j, %j", 40)));
  EXPECT_FALSE(BecomesWindows(Frames("stablehlo.multiply %j, %i", 40)));
  EXPECT_FALSE(BecomesWindows(Frames("stablehlo.add %i, %ten", 40)));
}

// The last dim of an array of two, with indices that have a dim for their one component.
TEST(GatherWindowsTest, AnArraysOtherDimsStayInTheWindow) {
  ExpectBecomes(Windows, R"(
func.func @main(%x: tensor<2x30xf32>) -> tensor<2x16xf32> {
  %j = stablehlo.iota dim = 0 : tensor<16x1xi32>
  %0 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 1>}> : (tensor<2x30xf32>, tensor<16x1xi32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
})",
                R"(
func.func @main(%x: tensor<2x30xf32>) -> tensor<2x16xf32> {
  %j = stablehlo.constant dense<0> : tensor<1x1xi32>
  %1 = stablehlo.reshape %j : (tensor<1x1xi32>) -> tensor<1xi32>
  %0 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = false, slice_sizes = array<i64: 2, 16>}> : (tensor<2x30xf32>, tensor<1xi32>) -> tensor<2x16xf32>
  return %0 : tensor<2x16xf32>
})");
}

}  // namespace
}  // namespace pjrt::ir
