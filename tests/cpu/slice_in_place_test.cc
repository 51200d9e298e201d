// SPDX-License-Identifier: Apache-2.0
//
// Dynamic slices in loops: read where they are in arrays that the loop does not change, copied from
// others.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"
#include "tests/cpu/plan_test_util.h"

namespace pjrt::cpu {
namespace {

// How many steps of the program, those of its loops included, have a description that holds `what`.
int CountSteps(absl::string_view text, absl::string_view what) {
  int count = 0;
  CompilePlan(text, [&](const Plan& plan) {
    std::function<void(const Steps&)> visit = [&](const Steps& steps) {
      for (const std::unique_ptr<Step>& step : steps) {
        count += absl::StrContains(step->Describe(), what);
        for (const Steps* nested : step->nested()) visit(*nested);
      }
    };
    visit(plan.steps);
  });
  return count;
}

// Eleven times, with BODY, which makes %next of %v, the number %i of the iteration and %w.
std::string Loop(absl::string_view body) {
  return absl::StrReplaceAll(R"(
    func.func @main(%w: tensor<11x16x20xf32>, %x: tensor<16x20xf32>) -> tensor<16x20xf32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %eleven = stablehlo.constant dense<11> : tensor<i32>
      %o:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<16x20xf32>
      cond {
        %go = stablehlo.compare LT, %i, %eleven : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        BODY
        %j = stablehlo.add %i, %one : tensor<i32>
        stablehlo.return %j, %next : tensor<i32>, tensor<16x20xf32>
      }
      return %o#1 : tensor<16x20xf32>
    })",
                             {{"BODY", body}});
}

constexpr char kSlice[] = R"(
        %s = stablehlo.dynamic_slice %w, %i, %zero, %zero, sizes = [1, 16, 20] : (tensor<11x16x20xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x20xf32>
        %layer = stablehlo.reshape %s : (tensor<1x16x20xf32>) -> tensor<16x20xf32>)";

TEST(SliceInPlaceTest, LayersThatALoopOnlyReadsAreNotCopied) {
  const std::string text =
      Loop(absl::StrCat(kSlice, "\n%next = stablehlo.add %v, %layer : tensor<16x20xf32>"));
  EXPECT_EQ(CountSteps(text, "in place"), 1);
  EXPECT_EQ(CountSteps(text, "dynamic_slice 1280 bytes"), 0);
  const std::vector<float> w = Counting<float>(11 * 320), x = Counting<float>(320);
  std::vector<float> expected = x;
  for (int i = 0; i < 11; ++i) {
    for (int k = 0; k < 320; ++k) expected[k] += w[320 * i + k];
  }
  const Literal a = Array<float>({11, 16, 20}, w), b = Array<float>({16, 20}, x);
  EXPECT_EQ(RunOne<float>(text, {&a, &b}), expected);
}

// Whoever is given a slice finds it as aligned as any array, and without gaps.
TEST(SliceInPlaceTest, SlicesThatBeginAnywhereOrHaveGapsAreCopied) {
  const std::string text =
      Loop(absl::StrCat(kSlice, "\n%next = stablehlo.add %v, %layer : tensor<16x20xf32>"));
  EXPECT_EQ(
      CountSteps(absl::StrReplaceAll(text, {{"16x20", "16x21"}, {"16, 20", "16, 21"}}), "in place"),
      1);
  EXPECT_EQ(
      CountSteps(absl::StrReplaceAll(text, {{"16x20", "15x21"}, {"16, 20", "15, 21"}}), "in place"),
      0);
  EXPECT_EQ(CountSteps(absl::StrReplaceAll(text, {{"%w: tensor<11x16x20", "%w: tensor<11x16x32"},
                                                  {"(tensor<11x16x20", "(tensor<11x16x32"}}),
                       "in place"),
            0);
}

// What a loop makes of a slice may be the slice itself.
TEST(SliceInPlaceTest, ASliceMayBeCarried) {
  const std::string text = Loop(absl::StrCat(
      kSlice, "\n%next = stablehlo.reshape %layer : (tensor<16x20xf32>) -> tensor<16x20xf32>"));
  const std::vector<float> w = Counting<float>(11 * 320);
  const Literal a = Array<float>({11, 16, 20}, w), b = Array<float>({16, 20}, Counting<float>(320));
  EXPECT_EQ(RunOne<float>(text, {&a, &b}), std::vector<float>(w.end() - 320, w.end()));
}

// Starts beyond the end are moved back, in place as well.
TEST(SliceInPlaceTest, StartsAreClamped) {
  const std::string text = Loop(absl::StrReplaceAll(
      absl::StrCat("%far = stablehlo.multiply %i, %eleven : tensor<i32>", kSlice,
                   "\n%next = stablehlo.add %v, %layer : tensor<16x20xf32>"),
      {{"%w, %i", "%w, %far"}}));
  EXPECT_EQ(CountSteps(text, "in place"), 1);
  const std::vector<float> w = Counting<float>(11 * 320), x = Counting<float>(320);
  std::vector<float> expected = x;
  for (int i = 0; i < 11; ++i) {
    for (int k = 0; k < 320; ++k) expected[k] += w[320 * (i == 0 ? 0 : 10) + k];
  }
  const Literal a = Array<float>({11, 16, 20}, w), b = Array<float>({16, 20}, x);
  EXPECT_EQ(RunOne<float>(text, {&a, &b}), expected);
}

// Rows are exchanged one after the other: what was read must not change with its array.
TEST(SliceInPlaceTest, SlicesOfWhatTheLoopChangesAreCopied) {
  constexpr char kText[] = R"(
    func.func @main(%x: tensor<4x300xi32>) -> tensor<4x300xi32> {
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %three = stablehlo.constant dense<3> : tensor<i32>
      %o:2 = stablehlo.while(%i = %zero, %v = %x) : tensor<i32>, tensor<4x300xi32>
      cond {
        %go = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %go : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %a = stablehlo.dynamic_slice %v, %i, %zero, sizes = [1, 300] : (tensor<4x300xi32>, tensor<i32>, tensor<i32>) -> tensor<1x300xi32>
        %b = stablehlo.dynamic_slice %v, %j, %zero, sizes = [1, 300] : (tensor<4x300xi32>, tensor<i32>, tensor<i32>) -> tensor<1x300xi32>
        %w = stablehlo.dynamic_update_slice %v, %b, %i, %zero : (tensor<4x300xi32>, tensor<1x300xi32>, tensor<i32>, tensor<i32>) -> tensor<4x300xi32>
        %u = stablehlo.dynamic_update_slice %w, %a, %j, %zero : (tensor<4x300xi32>, tensor<1x300xi32>, tensor<i32>, tensor<i32>) -> tensor<4x300xi32>
        stablehlo.return %j, %u : tensor<i32>, tensor<4x300xi32>
      }
      return %o#1 : tensor<4x300xi32>
    })";
  EXPECT_EQ(CountSteps(kText, "in place"), 0);
  const std::vector<int32_t> x = Counting<int32_t>(1200);
  std::vector<int32_t> expected(x.begin() + 300, x.end());
  expected.insert(expected.end(), x.begin(), x.begin() + 300);
  const Literal a = Array<int32_t>({4, 300}, x);
  EXPECT_EQ(RunOne<int32_t>(kText, {&a}), expected);
}

}  // namespace
}  // namespace pjrt::cpu
