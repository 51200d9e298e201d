// SPDX-License-Identifier: Apache-2.0
//
// Values that are computed in their place in a concatenation: no step copies them, and nothing else
// is written over.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/plan_test_util.h"

namespace pjrt::cpu {
namespace {

int CopiesIn(absl::string_view text) {
  int copies = 0;
  for (const std::string& step : StepsOf(text)) copies += absl::StartsWith(step, "copy");
  return copies;
}

TEST(PlacesTest, ComputedPiecesNeedNoCopy) {
  constexpr char kProgram[] = R"(
    func.func @main(%x: tensor<3x40xf32>, %y: tensor<3x40xf32>) -> tensor<3x80xf32> {
      %n = stablehlo.negate %y : tensor<3x40xf32>
      %s = stablehlo.add %x, %y : tensor<3x40xf32>
      %0 = stablehlo.concatenate %n, %s, dim = 1 : (tensor<3x40xf32>, tensor<3x40xf32>) -> tensor<3x80xf32>
      return %0 : tensor<3x80xf32>
    })";
  EXPECT_EQ(CopiesIn(kProgram), 0) << absl::StrJoin(StepsOf(kProgram), "\n");
  const std::vector<float> x = Counting<float>(120);
  const Literal a = Array<float>({3, 40}, x);
  std::vector<float> expected;
  for (int row = 0; row < 3; ++row) {
    for (int i = 0; i < 40; ++i) expected.push_back(-x[40 * row + i]);
    for (int i = 0; i < 40; ++i) expected.push_back(2 * x[40 * row + i]);
  }
  EXPECT_EQ(RunOne<float>(kProgram, {&a, &a}), expected);
}

TEST(PlacesTest, PiecesOfPiecesAndReshapedOnesNeedNoCopy) {
  constexpr char kProgram[] = R"(
    func.func @main(%x: tensor<4x100xi32>, %y: tensor<400xi32>) -> tensor<4x400xi32> {
      %a = stablehlo.negate %x : tensor<4x100xi32>
      %b = stablehlo.not %x : tensor<4x100xi32>
      %ab = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x100xi32>, tensor<4x100xi32>) -> tensor<4x200xi32>
      %c = stablehlo.negate %y : tensor<400xi32>
      %d = stablehlo.reshape %c : (tensor<400xi32>) -> tensor<4x100xi32>
      %e = stablehlo.multiply %x, %x : tensor<4x100xi32>
      %0 = stablehlo.concatenate %d, %ab, %e, dim = 1 : (tensor<4x100xi32>, tensor<4x200xi32>, tensor<4x100xi32>) -> tensor<4x400xi32>
      return %0 : tensor<4x400xi32>
    })";
  const std::vector<int32_t> x = Counting<int32_t>(400);
  const Literal a = Array<int32_t>({4, 100}, x), b = Array<int32_t>({400}, x);
  std::vector<int32_t> expected;
  for (int row = 0; row < 4; ++row) {
    const int32_t* const at = &x[100 * row];
    for (int i = 0; i < 100; ++i) expected.push_back(-at[i]);
    for (int i = 0; i < 100; ++i) expected.push_back(-at[i]);
    for (int i = 0; i < 100; ++i) expected.push_back(~at[i]);
    for (int i = 0; i < 100; ++i) expected.push_back(at[i] * at[i]);
  }
  EXPECT_EQ(RunOne<int32_t>(kProgram, {&a, &b}), expected);
  // Rows of the flat array do not lie at one distance in the result, so they alone are copied.
  EXPECT_EQ(CopiesIn(kProgram), 1) << absl::StrJoin(StepsOf(kProgram), "\n");
}

// As reflected edges are: parts of what is between them.
TEST(PlacesTest, SlicesReadAPieceInItsPlace) {
  constexpr char kProgram[] = R"(
    func.func @main(%x: tensor<3x40xf32>) -> (tensor<3x42xf32>, tensor<3x5xf32>) {
      %n = stablehlo.negate %x : tensor<3x40xf32>
      %s = stablehlo.slice %n [0:3, 1:3] : (tensor<3x40xf32>) -> tensor<3x2xf32>
      %r = stablehlo.reverse %s, dims = [1] : tensor<3x2xf32>
      %0 = stablehlo.concatenate %r, %n, dim = 1 : (tensor<3x2xf32>, tensor<3x40xf32>) -> tensor<3x42xf32>
      %t = stablehlo.slice %n [0:3, 35:40] : (tensor<3x40xf32>) -> tensor<3x5xf32>
      %1 = stablehlo.abs %t : tensor<3x5xf32>
      return %0, %1 : tensor<3x42xf32>, tensor<3x5xf32>
    })";
  EXPECT_EQ(CopiesIn(kProgram), 1) << absl::StrJoin(StepsOf(kProgram), "\n");
  const std::vector<float> x = Counting<float>(120);
  const Literal a = Array<float>({3, 40}, x);
  const auto results = RunAll(kProgram, {&a});
  ASSERT_EQ(results.size(), 2u);
  const std::vector<float> all = Elements<float>(*results[0]), last = Elements<float>(*results[1]);
  for (int row = 0; row < 3; ++row) {
    EXPECT_EQ(all[42 * row], -x[40 * row + 2]);
    EXPECT_EQ(all[42 * row + 1], -x[40 * row + 1]);
    for (int i = 0; i < 40; ++i) EXPECT_EQ(all[42 * row + 2 + i], -x[40 * row + i]);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(last[5 * row + i], std::abs(x[40 * row + 35 + i]));
  }
}

TEST(PlacesTest, WhatIsUsedElsewhereIsCopied) {
  constexpr char kProgram[] = R"(
    func.func @main(%x: tensor<2x40xf32>) -> (tensor<2x160xf32>, tensor<2x40xf32>) {
      %n = stablehlo.negate %x : tensor<2x40xf32>
      %m = stablehlo.abs %n : tensor<2x40xf32>
      %0 = stablehlo.concatenate %n, %m, %m, %x, dim = 1 : (tensor<2x40xf32>, tensor<2x40xf32>, tensor<2x40xf32>, tensor<2x40xf32>) -> tensor<2x160xf32>
      return %0, %n : tensor<2x160xf32>, tensor<2x40xf32>
    })";
  EXPECT_EQ(CopiesIn(kProgram), 4) << absl::StrJoin(StepsOf(kProgram), "\n");
  const std::vector<float> x = Counting<float>(80);
  const Literal a = Array<float>({2, 40}, x);
  const auto results = RunAll(kProgram, {&a});
  ASSERT_EQ(results.size(), 2u);
  const std::vector<float> all = Elements<float>(*results[0]);
  for (int i = 0; i < 80; ++i) {
    const float* const row = &all[i / 40 * 160];
    EXPECT_EQ(row[i % 40], -x[i]);
    EXPECT_EQ(row[i % 40 + 40], x[i]);
    EXPECT_EQ(row[i % 40 + 80], x[i]);
    EXPECT_EQ(row[i % 40 + 120], x[i]);
    EXPECT_EQ(Elements<float>(*results[1])[i], -x[i]);
  }
}

// Each iteration puts together what the next one reads, while it reads the one before.
TEST(PlacesTest, ALoopMayCarryWhatItPutsTogether) {
  const Literal x = Array<int32_t>({4}, {1, 2, 3, 4});
  EXPECT_EQ(RunOne<int32_t>(R"(
    func.func @main(%x: tensor<4xi32>) -> tensor<4xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %o:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4xi32>
      cond {
        %go = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %low = stablehlo.slice %v [0:2] : (tensor<4xi32>) -> tensor<2xi32>
        %high = stablehlo.slice %v [2:4] : (tensor<4xi32>) -> tensor<2xi32>
        %sum = stablehlo.add %low, %high : tensor<2xi32>
        %difference = stablehlo.subtract %high, %low : tensor<2xi32>
        %both = stablehlo.concatenate %sum, %difference, dim = 0 : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %both : tensor<i32>, tensor<4xi32>
      }
      return %o#1 : tensor<4xi32>
    })",
                            {&x}),
            (std::vector<int32_t>{4, 4, -8, -12}));
}

// A number of its own beside ever longer arrays: their memory would be needed from the beginning.
TEST(PlacesTest, SmallPiecesOfLargeArraysAreCopied) {
  constexpr char kProgram[] = R"(
    func.func @main(%x: tensor<1xf32>, %y: tensor<100xf32>) -> tensor<101xf32> {
      %a = stablehlo.negate %x : tensor<1xf32>
      %b = stablehlo.negate %y : tensor<100xf32>
      %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1xf32>, tensor<100xf32>) -> tensor<101xf32>
      return %0 : tensor<101xf32>
    })";
  EXPECT_EQ(CopiesIn(kProgram), 1) << absl::StrJoin(StepsOf(kProgram), "\n");
}

// Deep chains must not use up the stack, nor long ones the time.
TEST(PlacesTest, ChainsOfConcatenationsCompile) {
  std::string text =
      "func.func @main(%x: tensor<1xf32>) -> tensor<3001xf32> {\n"
      "%c0 = stablehlo.negate %x : tensor<1xf32>\n";
  for (int i = 1; i <= 3000; ++i) {
    absl::StrAppend(&text, "%n", i, " = stablehlo.add %x, %x : tensor<1xf32>\n%c", i,
                    " = stablehlo.concatenate %c", i - 1, ", %n", i, ", dim = 0 : (tensor<", i,
                    "xf32>, tensor<1xf32>) -> tensor<", i + 1, "xf32>\n");
  }
  absl::StrAppend(&text, "return %c3000 : tensor<3001xf32>\n}");
  const Literal x = Array<float>({1}, {1.5f});
  std::vector<float> expected(3001, 3.0f);
  expected[0] = -1.5f;
  EXPECT_EQ(RunOne<float>(text, {&x}), expected);
}

}  // namespace
}  // namespace pjrt::cpu
