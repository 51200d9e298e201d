// SPDX-License-Identifier: Apache-2.0
//
// UnrollLoops.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

TEST(UnrollLoopsTest, AShortLoopBecomesItsIterations) {
  ExpectBecomes(UnrollLoops, R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%i = %c, %a = %x, %b = %y) : tensor<i32>, tensor<4xf32>, tensor<4xf32> cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LE, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %c : tensor<i32>
    %2 = stablehlo.multiply %a, %b : tensor<4xf32>
    stablehlo.return %1, %b, %2 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
  }
  return %0#2, %0#0 : tensor<4xf32>, tensor<i32>
})",
                R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %1 = stablehlo.add %c, %c : tensor<i32>
  %2 = stablehlo.multiply %x, %y : tensor<4xf32>
  %3 = stablehlo.add %1, %c : tensor<i32>
  %4 = stablehlo.multiply %y, %2 : tensor<4xf32>
  %5 = stablehlo.add %3, %c : tensor<i32>
  %6 = stablehlo.multiply %2, %4 : tensor<4xf32>
  return %6, %5 : tensor<4xf32>, tensor<i32>
})");
}

constexpr char kLoop[] = R"(
func.func @main(%x: tensor<4x4xf32>, %k: tensor<i32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<LIMIT> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<4x4xf32> cond {
    %p = stablehlo.compare LT, %i, BOUND : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.add %i, %one : tensor<i32>
    %2 = BODY : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
})";

bool IsLoopAfter(absl::string_view limit, absl::string_view bound, absl::string_view body) {
  const std::string text =
      absl::StrReplaceAll(kLoop, {{"LIMIT", limit}, {"BOUND", bound}, {"BODY", body}});
  return absl::StrContains(After(UnrollLoops, text), "stablehlo.while");
}

TEST(UnrollLoopsTest, LoopsThatAreLongOrOfUnknownLengthStay) {
  constexpr absl::string_view kAdd = "stablehlo.add %a, %a";
  EXPECT_FALSE(IsLoopAfter("8", "%n", kAdd));
  EXPECT_TRUE(IsLoopAfter("9", "%n", kAdd));
  EXPECT_TRUE(IsLoopAfter("3", "%k", kAdd));
}

TEST(UnrollLoopsTest, LoopsWithWorkOfTheirOwnStay) {
  EXPECT_TRUE(IsLoopAfter("3", "%n", "stablehlo.dot_general %a, %a, contracting_dims = [1] x [0]"));
  EXPECT_TRUE(IsLoopAfter("3", "%n", "stablehlo.custom_call @f(%a, %a) {has_side_effect = true}"));
}

TEST(UnrollLoopsTest, LoopsOfTokensStay) {
  const std::string text = After(UnrollLoops, R"(
func.func @main(%t: !stablehlo.token) -> !stablehlo.token {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %t) : tensor<i32>, !stablehlo.token cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %1, %a : tensor<i32>, !stablehlo.token
  }
  return %0#1 : !stablehlo.token
})");
  EXPECT_TRUE(absl::StrContains(text, "stablehlo.while"));
}

}  // namespace
}  // namespace pjrt::ir
