// SPDX-License-Identifier: Apache-2.0
//
// SinkConcatenations: when pieces are computed before they are put together.
#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

void SinkConcatenationsAndClean(Module* module) {
  SinkConcatenations(module);
  RemoveDeadOps(module);
}

TEST(SinkConcatenationsTest, AChainIsComputedPieceByPiece) {
  ExpectBecomes(SinkConcatenationsAndClean, R"(
func.func @main(%a: tensor<32x40xf32>, %b: tensor<32x60xf32>, %x: tensor<32x100xf32>, %s: tensor<f32>) -> tensor<32x100xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<32x40xf32>, tensor<32x60xf32>) -> tensor<32x100xf32>
  %1 = stablehlo.sine %x : tensor<32x100xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<32x100xf32>
  %c = stablehlo.constant dense<2.0> : tensor<32x100xf32>
  %3 = stablehlo.clamp %s, %2, %c : (tensor<f32>, tensor<32x100xf32>, tensor<32x100xf32>) -> tensor<32x100xf32>
  return %3 : tensor<32x100xf32>
})",
                R"(
func.func @main(%a: tensor<32x40xf32>, %b: tensor<32x60xf32>, %x: tensor<32x100xf32>, %s: tensor<f32>) -> tensor<32x100xf32> {
  %0 = stablehlo.slice %x [0:32, 0:40] : (tensor<32x100xf32>) -> tensor<32x40xf32>
  %1 = stablehlo.sine %0 : tensor<32x40xf32>
  %2 = stablehlo.multiply %a, %1 : tensor<32x40xf32>
  %3 = stablehlo.slice %x [0:32, 40:100] : (tensor<32x100xf32>) -> tensor<32x60xf32>
  %4 = stablehlo.sine %3 : tensor<32x60xf32>
  %5 = stablehlo.multiply %b, %4 : tensor<32x60xf32>
  %c = stablehlo.constant dense<2.0> : tensor<32x40xf32>
  %6 = stablehlo.clamp %s, %2, %c : (tensor<f32>, tensor<32x40xf32>, tensor<32x40xf32>) -> tensor<32x40xf32>
  %c_0 = stablehlo.constant dense<2.0> : tensor<32x60xf32>
  %7 = stablehlo.clamp %s, %5, %c_0 : (tensor<f32>, tensor<32x60xf32>, tensor<32x60xf32>) -> tensor<32x60xf32>
  %8 = stablehlo.concatenate %6, %7, dim = 1 : (tensor<32x40xf32>, tensor<32x60xf32>) -> tensor<32x100xf32>
  return %8 : tensor<32x100xf32>
})");
}

TEST(SinkConcatenationsTest, ConcatenationsOfOtherPiecesAreCutWhereEitherIs) {
  ExpectBecomes(SinkConcatenationsAndClean, R"(
func.func @main(%a: tensor<40x100xf32>, %b: tensor<60x100xf32>) -> tensor<100x100xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<40x100xf32>, tensor<60x100xf32>) -> tensor<100x100xf32>
  %1 = stablehlo.concatenate %b, %a, dim = 0 : (tensor<60x100xf32>, tensor<40x100xf32>) -> tensor<100x100xf32>
  %2 = stablehlo.add %0, %1 : tensor<100x100xf32>
  return %2 : tensor<100x100xf32>
})",
                R"(
func.func @main(%a: tensor<40x100xf32>, %b: tensor<60x100xf32>) -> tensor<100x100xf32> {
  %0 = stablehlo.slice %b [0:40, 0:100] : (tensor<60x100xf32>) -> tensor<40x100xf32>
  %1 = stablehlo.add %a, %0 : tensor<40x100xf32>
  %2 = stablehlo.slice %b [0:20, 0:100] : (tensor<60x100xf32>) -> tensor<20x100xf32>
  %3 = stablehlo.slice %b [40:60, 0:100] : (tensor<60x100xf32>) -> tensor<20x100xf32>
  %4 = stablehlo.add %2, %3 : tensor<20x100xf32>
  %5 = stablehlo.slice %b [20:60, 0:100] : (tensor<60x100xf32>) -> tensor<40x100xf32>
  %6 = stablehlo.add %5, %a : tensor<40x100xf32>
  %7 = stablehlo.concatenate %1, %4, %6, dim = 0 : (tensor<40x100xf32>, tensor<20x100xf32>, tensor<40x100xf32>) -> tensor<100x100xf32>
  return %7 : tensor<100x100xf32>
})");
}

TEST(SinkConcatenationsTest, AllUsersOrNoneDoWithout) {
  ExpectBecomes(SinkConcatenationsAndClean, R"(
func.func @main(%a: tensor<40x100xf32>) -> (tensor<80x100xi1>, tensor<80x100xf32>) {
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<40x100xf32>, tensor<40x100xf32>) -> tensor<80x100xf32>
  %1 = stablehlo.compare LT, %0, %0 : (tensor<80x100xf32>, tensor<80x100xf32>) -> tensor<80x100xi1>
  %2 = stablehlo.negate %0 : tensor<80x100xf32>
  return %1, %2 : tensor<80x100xi1>, tensor<80x100xf32>
})",
                R"(
func.func @main(%a: tensor<40x100xf32>) -> (tensor<80x100xi1>, tensor<80x100xf32>) {
  %0 = stablehlo.compare LT, %a, %a : (tensor<40x100xf32>, tensor<40x100xf32>) -> tensor<40x100xi1>
  %1 = stablehlo.compare LT, %a, %a : (tensor<40x100xf32>, tensor<40x100xf32>) -> tensor<40x100xi1>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<40x100xi1>, tensor<40x100xi1>) -> tensor<80x100xi1>
  %3 = stablehlo.negate %a : tensor<40x100xf32>
  %4 = stablehlo.negate %a : tensor<40x100xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 0 : (tensor<40x100xf32>, tensor<40x100xf32>) -> tensor<80x100xf32>
  return %2, %5 : tensor<80x100xi1>, tensor<80x100xf32>
})");
  const char* text = R"(
func.func @main(%a: tensor<40x100xf32>) -> (tensor<80x100xf32>, tensor<100x80xf32>) {
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<40x100xf32>, tensor<40x100xf32>) -> tensor<80x100xf32>
  %1 = stablehlo.negate %0 : tensor<80x100xf32>
  %2 = stablehlo.transpose %0, dims = [1, 0] : (tensor<80x100xf32>) -> tensor<100x80xf32>
  return %1, %2 : tensor<80x100xf32>, tensor<100x80xf32>
})";
  ExpectBecomes(SinkConcatenationsAndClean, text, text);
}

TEST(SinkConcatenationsTest, WhatOneLoopComputesForOthersTooIsNotCut) {
  const char* text = R"(
func.func @main(%a: tensor<40x100xf32>, %x: tensor<80x100xf32>) -> (tensor<80x100xf32>, tensor<80x100xf32>) {
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<40x100xf32>, tensor<40x100xf32>) -> tensor<80x100xf32>
  %1 = stablehlo.sine %x : tensor<80x100xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<80x100xf32>
  %3 = stablehlo.add %1, %x : tensor<80x100xf32>
  return %2, %3 : tensor<80x100xf32>, tensor<80x100xf32>
})";
  ExpectBecomes(SinkConcatenationsAndClean, text, text);
}

TEST(SinkConcatenationsTest, SmallOnesAndNarrowPiecesStay) {
  for (const char* text : {R"(
func.func @main(%a: tensor<10x100xf32>) -> tensor<20x100xf32> {
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<10x100xf32>, tensor<10x100xf32>) -> tensor<20x100xf32>
  %1 = stablehlo.negate %0 : tensor<20x100xf32>
  return %1 : tensor<20x100xf32>
})",
                           R"(
func.func @main(%a: tensor<1000x4xf32>) -> tensor<1000x8xf32> {
  %0 = stablehlo.concatenate %a, %a, dim = 1 : (tensor<1000x4xf32>, tensor<1000x4xf32>) -> tensor<1000x8xf32>
  %1 = stablehlo.negate %0 : tensor<1000x8xf32>
  return %1 : tensor<1000x8xf32>
})"})
    ExpectBecomes(SinkConcatenationsAndClean, text, text);
}

TEST(SinkConcatenationsTest, PaddingOfOneDimensionIsAConcatenation) {
  ExpectBecomes(SinkConcatenationsAndClean, R"(
func.func @main(%a: tensor<40x60xf32>, %p: tensor<f32>) -> tensor<40x100xf32> {
  %0 = stablehlo.pad %a, %p, low = [0, -10], high = [0, 50], interior = [0, 0] : (tensor<40x60xf32>, tensor<f32>) -> tensor<40x100xf32>
  %1 = stablehlo.negate %0 : tensor<40x100xf32>
  return %1 : tensor<40x100xf32>
})",
                R"(
func.func @main(%a: tensor<40x60xf32>, %p: tensor<f32>) -> tensor<40x100xf32> {
  %0 = stablehlo.slice %a [0:40, 10:60] : (tensor<40x60xf32>) -> tensor<40x50xf32>
  %1 = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<f32>) -> tensor<40x50xf32>
  %2 = stablehlo.negate %0 : tensor<40x50xf32>
  %3 = stablehlo.negate %1 : tensor<40x50xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 1 : (tensor<40x50xf32>, tensor<40x50xf32>) -> tensor<40x100xf32>
  return %4 : tensor<40x100xf32>
})");
  for (const char* text : {R"(
func.func @main(%a: tensor<40x60xf32>, %p: tensor<f32>) -> tensor<40x119xf32> {
  %0 = stablehlo.pad %a, %p, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<40x60xf32>, tensor<f32>) -> tensor<40x119xf32>
  %1 = stablehlo.negate %0 : tensor<40x119xf32>
  return %1 : tensor<40x119xf32>
})",
                           R"(
func.func @main(%a: tensor<40x60xf32>, %p: tensor<f32>) -> tensor<42x62xf32> {
  %0 = stablehlo.pad %a, %p, low = [1, 1], high = [1, 1], interior = [0, 0] : (tensor<40x60xf32>, tensor<f32>) -> tensor<42x62xf32>
  %1 = stablehlo.negate %0 : tensor<42x62xf32>
  return %1 : tensor<42x62xf32>
})"})
    ExpectBecomes(SinkConcatenationsAndClean, text, text);
}

TEST(SinkConcatenationsTest, WhatIsOnlySlicedIsNotPutTogether) {
  ExpectBecomes(SinkConcatenationsAndClean, R"(
func.func @main(%a: tensor<40x100xf32>, %b: tensor<10x100xf32>) -> tensor<40x100xf32> {
  %0 = stablehlo.concatenate %b, %a, dim = 0 : (tensor<10x100xf32>, tensor<40x100xf32>) -> tensor<50x100xf32>
  %1 = stablehlo.slice %0 [10:50, 0:100] : (tensor<50x100xf32>) -> tensor<40x100xf32>
  %2 = stablehlo.slice %0 [5:45, 0:100] : (tensor<50x100xf32>) -> tensor<40x100xf32>
  %3 = stablehlo.subtract %1, %2 : tensor<40x100xf32>
  return %3 : tensor<40x100xf32>
})",
                R"(
func.func @main(%a: tensor<40x100xf32>, %b: tensor<10x100xf32>) -> tensor<40x100xf32> {
  %0 = stablehlo.slice %b [5:10, 0:100] : (tensor<10x100xf32>) -> tensor<5x100xf32>
  %1 = stablehlo.slice %a [0:35, 0:100] : (tensor<40x100xf32>) -> tensor<35x100xf32>
  %2 = stablehlo.slice %a [0:5, 0:100] : (tensor<40x100xf32>) -> tensor<5x100xf32>
  %3 = stablehlo.subtract %2, %0 : tensor<5x100xf32>
  %4 = stablehlo.slice %a [5:40, 0:100] : (tensor<40x100xf32>) -> tensor<35x100xf32>
  %5 = stablehlo.subtract %4, %1 : tensor<35x100xf32>
  %6 = stablehlo.concatenate %3, %5, dim = 0 : (tensor<5x100xf32>, tensor<35x100xf32>) -> tensor<40x100xf32>
  return %6 : tensor<40x100xf32>
})");
  const char* text = R"(
func.func @main(%a: tensor<40x100xf32>, %b: tensor<10x100xf32>) -> (tensor<40x100xf32>, tensor<100x50xf32>) {
  %0 = stablehlo.concatenate %b, %a, dim = 0 : (tensor<10x100xf32>, tensor<40x100xf32>) -> tensor<50x100xf32>
  %1 = stablehlo.slice %0 [5:45, 0:100] : (tensor<50x100xf32>) -> tensor<40x100xf32>
  %2 = stablehlo.negate %1 : tensor<40x100xf32>
  %3 = stablehlo.transpose %0, dims = [1, 0] : (tensor<50x100xf32>) -> tensor<100x50xf32>
  return %2, %3 : tensor<40x100xf32>, tensor<100x50xf32>
})";
  ExpectBecomes(SinkConcatenationsAndClean, text, text);
}

TEST(SinkConcatenationsTest, PiecesOfAConcatenationAreTakenFromThoseOfAnother) {
  ExpectBecomes(SinkConcatenationsAndClean, R"(
func.func @main(%a: tensor<5x100xf32>, %b: tensor<95x100xf32>) -> tensor<100x100xf32> {
  %0 = stablehlo.concatenate %b, %a, dim = 0 : (tensor<95x100xf32>, tensor<5x100xf32>) -> tensor<100x100xf32>
  %1 = stablehlo.slice %0 [0:100, 60:100] : (tensor<100x100xf32>) -> tensor<100x40xf32>
  %2 = stablehlo.slice %0 [0:100, 0:60] : (tensor<100x100xf32>) -> tensor<100x60xf32>
  %3 = stablehlo.concatenate %1, %2, dim = 1 : (tensor<100x40xf32>, tensor<100x60xf32>) -> tensor<100x100xf32>
  return %3 : tensor<100x100xf32>
})",
                R"(
func.func @main(%a: tensor<5x100xf32>, %b: tensor<95x100xf32>) -> tensor<100x100xf32> {
  %0 = stablehlo.slice %b [0:95, 60:100] : (tensor<95x100xf32>) -> tensor<95x40xf32>
  %1 = stablehlo.slice %a [0:5, 60:100] : (tensor<5x100xf32>) -> tensor<5x40xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<95x40xf32>, tensor<5x40xf32>) -> tensor<100x40xf32>
  %3 = stablehlo.slice %b [0:95, 0:60] : (tensor<95x100xf32>) -> tensor<95x60xf32>
  %4 = stablehlo.slice %a [0:5, 0:60] : (tensor<5x100xf32>) -> tensor<5x60xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 0 : (tensor<95x60xf32>, tensor<5x60xf32>) -> tensor<100x60xf32>
  %6 = stablehlo.concatenate %2, %5, dim = 1 : (tensor<100x40xf32>, tensor<100x60xf32>) -> tensor<100x100xf32>
  return %6 : tensor<100x100xf32>
})");
}

// Each op behind it is written once for each piece.
TEST(SinkConcatenationsTest, LongChainsGetAConcatenationInTheirMiddle) {
  std::string text = R"(
func.func @main(%a: tensor<40x100xf32>) -> tensor<80x100xf32> {
  %0 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<40x100xf32>, tensor<40x100xf32>) -> tensor<80x100xf32>
)";
  for (int i = 1; i <= 1000; ++i) {
    text += "  %" + std::to_string(i) + " = stablehlo.sine %" + std::to_string(i - 1) +
            " : tensor<80x100xf32>\n";
  }
  const std::string after =
      After(SinkConcatenationsAndClean, text + "return %1000 : tensor<80x100xf32>\n}");
  const auto count = [&](absl::string_view type) {
    const std::vector<absl::string_view> lines = absl::StrSplit(after, '\n');
    return std::count_if(lines.begin(), lines.end(), [&](absl::string_view line) {
      return absl::StrContains(line, "sine") && absl::EndsWith(line, type);
    });
  };
  EXPECT_EQ(count("tensor<40x100xf32>"), 2 * 64);
  EXPECT_EQ(count("tensor<80x100xf32>"), 1000 - 64);
}

// Who else reads it is not counted anew for each of them: that would take as long as all pairs.
TEST(SinkConcatenationsTest, AValueThatManyReadIsNotCut) {
  std::string text = R"(
func.func @main(%a: tensor<40x100xf32>, %x: tensor<80x100xf32>) -> tensor<80x100xf32> {
  %s = stablehlo.sine %x : tensor<80x100xf32>
  %0 = stablehlo.cosine %x : tensor<80x100xf32>
)";
  for (int i = 1; i <= 20000; ++i) {
    const std::string n = std::to_string(i);
    text += "  %c" + n +
            " = stablehlo.concatenate %a, %a, dim = 0 : (tensor<40x100xf32>, tensor<40x100xf32>) "
            "-> tensor<80x100xf32>\n  %m" +
            n + " = stablehlo.multiply %c" + n + ", %s : tensor<80x100xf32>\n  %" + n +
            " = stablehlo.add %" + std::to_string(i - 1) + ", %m" + n + " : tensor<80x100xf32>\n";
  }
  const std::string after =
      After(SinkConcatenationsAndClean, text + "return %20000 : tensor<80x100xf32>\n}");
  EXPECT_FALSE(absl::StrContains(after, "stablehlo.slice"));
}

}  // namespace
}  // namespace pjrt::ir
