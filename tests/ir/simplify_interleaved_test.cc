// SPDX-License-Identifier: Apache-2.0
//
// Simplify on arrays that take turns along a dimension, as exporters write it.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

// Two arrays of E and O rows of 5 numbers, put together in N rows; %a is spread from place A on.
std::string Spread(int even, int odd, int first) {
  return absl::StrReplaceAll(
      R"(
  func.func @main(%x: tensor<Ex5xi32>, %y: tensor<Ox5xi32>) -> tensor<Nx5xi32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %a = stablehlo.pad %x, %zero, low = [A, 0], high = [1, 0], interior = [1, 0] : (tensor<Ex5xi32>, tensor<i32>) -> tensor<Nx5xi32>
    %b = stablehlo.pad %y, %zero, low = [1, 0], high = [H, 0], interior = [1, 0] : (tensor<Ox5xi32>, tensor<i32>) -> tensor<Nx5xi32>
    %r = stablehlo.add %a, %b : tensor<Nx5xi32>
    return %r : tensor<Nx5xi32>
  })",
      {{"E", absl::StrCat(even)},
       {"O", absl::StrCat(odd)},
       {"N", absl::StrCat(even + odd)},
       {"A", absl::StrCat(first)},
       {"high = [1", absl::StrCat("high = [", even == odd ? 1 - first : 0)},
       {"H", even == odd ? "0" : "1"}});
}

TEST(SimplifyInterleavedTest, ArraysThatTakeTurnsAreStackedInPairs) {
  ExpectBecomes(SimplifyAndClean, Spread(3, 3, 0), R"(
  func.func @main(%x: tensor<3x5xi32>, %y: tensor<3x5xi32>) -> tensor<6x5xi32> {
    %a = stablehlo.reshape %x : (tensor<3x5xi32>) -> tensor<3x1x5xi32>
    %b = stablehlo.reshape %y : (tensor<3x5xi32>) -> tensor<3x1x5xi32>
    %c = stablehlo.concatenate %a, %b, dim = 1 : (tensor<3x1x5xi32>, tensor<3x1x5xi32>) -> tensor<3x2x5xi32>
    %r = stablehlo.reshape %c : (tensor<3x2x5xi32>) -> tensor<6x5xi32>
    return %r : tensor<6x5xi32>
  })");
}

TEST(SimplifyInterleavedTest, TheShorterOneOfTwoGetsOneMore) {
  ExpectBecomes(SimplifyAndClean, Spread(3, 2, 0), R"(
  func.func @main(%x: tensor<3x5xi32>, %y: tensor<2x5xi32>) -> tensor<5x5xi32> {
    %a = stablehlo.reshape %x : (tensor<3x5xi32>) -> tensor<3x1x5xi32>
    %zero = stablehlo.constant dense<0> : tensor<1x5xi32>
    %more = stablehlo.concatenate %y, %zero, dim = 0 : (tensor<2x5xi32>, tensor<1x5xi32>) -> tensor<3x5xi32>
    %b = stablehlo.reshape %more : (tensor<3x5xi32>) -> tensor<3x1x5xi32>
    %c = stablehlo.concatenate %a, %b, dim = 1 : (tensor<3x1x5xi32>, tensor<3x1x5xi32>) -> tensor<3x2x5xi32>
    %r = stablehlo.reshape %c : (tensor<3x2x5xi32>) -> tensor<6x5xi32>
    %s = stablehlo.slice %r [0:5, 0:5] : (tensor<6x5xi32>) -> tensor<5x5xi32>
    return %s : tensor<5x5xi32>
  })");
}

// -0 + 0 is 0: the sum with the padding is a sum.
TEST(SimplifyInterleavedTest, FloatsAreAddedToThePaddingPieceByPiece) {
  ExpectBecomes(SimplifyAndClean, R"(
  func.func @main(%x: tensor<1xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>) -> tensor<8xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %xy = stablehlo.concatenate %x, %y, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
    %b = stablehlo.pad %z, %two, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %a = stablehlo.pad %xy, %zero, low = [0], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %r = stablehlo.add %b, %a : tensor<8xf32>
    return %r : tensor<8xf32>
  })",
                R"(
  func.func @main(%x: tensor<1xf32>, %y: tensor<3xf32>, %z: tensor<4xf32>) -> tensor<8xf32> {
    %two1 = stablehlo.constant dense<2.0> : tensor<1xf32>
    %0 = stablehlo.add %two1, %x : tensor<1xf32>
    %two3 = stablehlo.constant dense<2.0> : tensor<3xf32>
    %1 = stablehlo.add %two3, %y : tensor<3xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
    %3 = stablehlo.reshape %2 : (tensor<4xf32>) -> tensor<4x1xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
    %4 = stablehlo.add %z, %zero : tensor<4xf32>
    %5 = stablehlo.reshape %4 : (tensor<4xf32>) -> tensor<4x1xf32>
    %6 = stablehlo.concatenate %3, %5, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<4x2xf32>) -> tensor<8xf32>
    return %7 : tensor<8xf32>
  })");
}

TEST(SimplifyInterleavedTest, PredicatesTakeTurnsByOr) {
  const std::string simple = After(SimplifyAndClean, R"(
  func.func @main(%x: tensor<4xi1>, %y: tensor<4xi1>) -> tensor<8xi1> {
    %no = stablehlo.constant dense<false> : tensor<i1>
    %a = stablehlo.pad %x, %no, low = [0], high = [1], interior = [1] : (tensor<4xi1>, tensor<i1>) -> tensor<8xi1>
    %b = stablehlo.pad %y, %no, low = [1], high = [0], interior = [1] : (tensor<4xi1>, tensor<i1>) -> tensor<8xi1>
    %r = stablehlo.or %a, %b : tensor<8xi1>
    return %r : tensor<8xi1>
  })");
  EXPECT_EQ(simple.find("stablehlo.pad"), std::string::npos) << simple;
  EXPECT_EQ(simple.find("stablehlo.or"), std::string::npos) << simple;
}

// Both spread to the same places, and one that is used elsewhere, too.
TEST(SimplifyInterleavedTest, OtherPaddingStays) {
  for (const std::string& text :
       {Spread(3, 3, 1), absl::StrReplaceAll(Spread(3, 3, 0), {{"return %r", "return %a"}})}) {
    const std::unique_ptr<Module> module = MustParse(text);
    ASSERT_NE(module, nullptr);
    const std::string before = PrintModule(*module);
    EXPECT_EQ(After(Simplify, text), before);
  }
}

}  // namespace
}  // namespace pjrt::ir
