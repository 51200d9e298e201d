// SPDX-License-Identifier: Apache-2.0
//
// HoistLoopInvariants, and what Simplify does with loops whose trip count is known.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

TEST(HoistLoopInvariantsTest, OpsOnOuterValuesAndUnchangedCarriesLeaveTheLoop) {
  ExpectBecomes(HoistLoopInvariants, R"(
func.func @main(%x: tensor<f32>, %w: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %n = stablehlo.constant dense<10.0> : tensor<f32>
  %0:2 = stablehlo.while(%a = %x, %b = %w) : tensor<f32>, tensor<f32> cond {
    %p = stablehlo.compare LT, %a, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.sine %b : tensor<f32>
    %2 = stablehlo.multiply %1, %w : tensor<f32>
    %3 = stablehlo.add %a, %2 : tensor<f32>
    stablehlo.return %3, %b : tensor<f32>, tensor<f32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
})",
                R"(
func.func @main(%x: tensor<f32>, %w: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %n = stablehlo.constant dense<10.0> : tensor<f32>
  %1 = stablehlo.sine %w : tensor<f32>
  %2 = stablehlo.multiply %1, %w : tensor<f32>
  %0 = stablehlo.while(%a = %x) : tensor<f32> cond {
    %p = stablehlo.compare LT, %a, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %3 = stablehlo.add %a, %2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  return %0, %w : tensor<f32>, tensor<f32>
})");
}

TEST(HoistLoopInvariantsTest, CountersThatAreAlwaysEqualAreOne) {
  const auto hoist_and_merge = [](Module* module) {
    HoistLoopInvariants(module);
    MergeEqualOps(module);
    RemoveDeadOps(module);
  };
  ExpectBecomes(hoist_and_merge, R"(
func.func @main(%x: tensor<8xf32>, %s: tensor<i32>) -> (tensor<8xf32>, tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %begin = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<8> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %k = %begin, %a = %x, %j = %begin) : tensor<i32>, tensor<i32>, tensor<8xf32>, tensor<i32> cond {
    %p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %a, %k, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
    %2 = stablehlo.dynamic_update_slice %a, %1, %j : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
    %3 = stablehlo.add %k, %one : tensor<i32>
    %4 = stablehlo.add %i, %one : tensor<i32>
    %5 = stablehlo.add %j, %s : tensor<i32>
    stablehlo.return %4, %3, %2, %5 : tensor<i32>, tensor<i32>, tensor<8xf32>, tensor<i32>
  }
  return %0#2, %0#1, %0#3 : tensor<8xf32>, tensor<i32>, tensor<i32>
})",
                R"(
func.func @main(%x: tensor<8xf32>, %s: tensor<i32>) -> (tensor<8xf32>, tensor<i32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<8> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %x, %j = %zero) : tensor<i32>, tensor<8xf32>, tensor<i32> cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %a, %i, sizes = [1] : (tensor<8xf32>, tensor<i32>) -> tensor<1xf32>
    %2 = stablehlo.dynamic_update_slice %a, %1, %j : (tensor<8xf32>, tensor<1xf32>, tensor<i32>) -> tensor<8xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    %5 = stablehlo.add %j, %s : tensor<i32>
    stablehlo.return %3, %2, %5 : tensor<i32>, tensor<8xf32>, tensor<i32>
  }
  return %0#1, %0#0, %0#2 : tensor<8xf32>, tensor<i32>, tensor<i32>
})");
}

TEST(HoistLoopInvariantsTest, WhatLeavesAnInnerLoopLeavesTheOuterOneToo) {
  const std::string text = After(HoistLoopInvariants, R"(
func.func @main(%x: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  %n = stablehlo.constant dense<10.0> : tensor<f32>
  %0 = stablehlo.while(%a = %x) : tensor<f32> cond {
    %p = stablehlo.compare LT, %a, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.while(%b = %a) : tensor<f32> cond {
      %q = stablehlo.compare LT, %b, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %q : tensor<i1>
    } do {
      %2 = stablehlo.sine %w : tensor<f32>
      %3 = stablehlo.add %b, %2 : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
})");
  EXPECT_LT(text.find("stablehlo.sine"), text.find("stablehlo.while")) << text;
}

TEST(HoistLoopInvariantsTest, WhatWouldOnlyTakeMemoryAndWhatHasEffectsStays) {
  const std::string text = After(HoistLoopInvariants, R"(
func.func @main(%x: tensor<1000x1000xf32>, %w: tensor<f32>) -> tensor<1000x1000xf32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%a = %x) : tensor<1000x1000xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.iota dim = 0 : tensor<1000x1000xf32>
    %2 = stablehlo.broadcast_in_dim %w, dims = [] : (tensor<f32>) -> tensor<1000x1000xf32>
    %3 = stablehlo.add %1, %2 : tensor<1000x1000xf32>
    %4 = stablehlo.custom_call @tell(%w) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
    stablehlo.return %3 : tensor<1000x1000xf32>
  }
  return %0 : tensor<1000x1000xf32>
})");
  EXPECT_LT(text.find("stablehlo.while"), text.find("stablehlo.iota")) << text;
  EXPECT_LT(text.find("stablehlo.while"), text.find("stablehlo.broadcast_in_dim")) << text;
  EXPECT_LT(text.find("stablehlo.while"), text.find("stablehlo.custom_call")) << text;
}

TEST(HoistLoopInvariantsTest, ReductionsAndWhatIsMadeOfTheirBroadcastsLeave) {
  const std::string text = After(HoistLoopInvariants, R"(
func.func @main(%x: tensor<200x200xf32>, %v: tensor<200xf32>) -> tensor<200xf32> {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.while(%a = %v) : tensor<200xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<200x200xf32>, tensor<f32>) -> tensor<200xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<200xf32>) -> tensor<200x200xf32>
    %3 = stablehlo.divide %x, %2 : tensor<200x200xf32>
    %4 = stablehlo.dot_general %3, %a, contracting_dims = [1] x [0] : (tensor<200x200xf32>, tensor<200xf32>) -> tensor<200xf32>
    stablehlo.return %4 : tensor<200xf32>
  }
  return %0 : tensor<200xf32>
})");
  const size_t loop = text.find("stablehlo.while");
  EXPECT_LT(text.find("stablehlo.reduce"), text.find("stablehlo.broadcast_in_dim")) << text;
  EXPECT_LT(text.find("stablehlo.broadcast_in_dim"), text.find("stablehlo.divide")) << text;
  EXPECT_LT(text.find("stablehlo.divide"), loop) << text;
  EXPECT_LT(loop, text.find("stablehlo.dot_general")) << text;
}

// Of a broadcast that two ops use, neither leaves with it.
TEST(HoistLoopInvariantsTest, RegionsThatUseTheLoopsValuesAndSharedBroadcastsStay) {
  const std::string text = After(HoistLoopInvariants, R"(
func.func @main(%x: tensor<100x100xf32>, %w: tensor<f32>) -> (tensor<f32>, tensor<100x100xf32>) {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %0:2 = stablehlo.while(%a = %w, %b = %x) : tensor<f32>, tensor<100x100xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.broadcast_in_dim %w, dims = [] : (tensor<f32>) -> tensor<100x100xf32>
    %2 = stablehlo.reduce(%x init: %w) across dimensions = [0, 1] : (tensor<100x100xf32>, tensor<f32>) -> tensor<f32>
     reducer(%c: tensor<f32>, %d: tensor<f32>) {
      %5 = stablehlo.add %c, %d : tensor<f32>
      %6 = stablehlo.maximum %5, %a : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }
    %3 = stablehlo.divide %x, %1 : tensor<100x100xf32>
    %4 = stablehlo.add %b, %1 : tensor<100x100xf32>
    %7 = stablehlo.multiply %3, %4 : tensor<100x100xf32>
    stablehlo.return %2, %7 : tensor<f32>, tensor<100x100xf32>
  }
  return %0#0, %0#1 : tensor<f32>, tensor<100x100xf32>
})");
  const size_t loop = text.find("stablehlo.while");
  EXPECT_LT(loop, text.find("stablehlo.reduce")) << text;
  EXPECT_LT(loop, text.find("stablehlo.broadcast_in_dim")) << text;
  EXPECT_LT(loop, text.find("stablehlo.divide")) << text;
}

// A loop that counts from `start`, compares by `direction` with `limit` and adds `step`.
std::string Counting(absl::string_view type, absl::string_view start, absl::string_view direction,
                     absl::string_view limit, absl::string_view step) {
  return absl::StrCat(R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %s = stablehlo.constant dense<)",
                      start, "> : tensor<", type, R"(>
  %0:2 = stablehlo.while(%i = %s, %a = %x) : tensor<)",
                      type, R"(>, tensor<f32> cond {
    %l = stablehlo.constant dense<)",
                      limit, "> : tensor<", type, R"(>
    %p = stablehlo.compare )",
                      direction, ", %i, %l : (tensor<", type, ">, tensor<", type,
                      R"(>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %d = stablehlo.constant dense<)",
                      step, "> : tensor<", type, R"(>
    %n = stablehlo.add %i, %d : tensor<)",
                      type, R"(>
    %1 = stablehlo.sine %a : tensor<f32>
    stablehlo.return %n, %1 : tensor<)",
                      type, R"(>, tensor<f32>
  }
  return %0#1 : tensor<f32>
})");
}

// How often the body runs: 0, 1, or 2 for "more, or not known".
int Runs(absl::string_view type, absl::string_view start, absl::string_view direction,
         absl::string_view limit, absl::string_view step) {
  const std::string text = After(
      [](Module* module) {
        Simplify(module);
        RemoveDeadOps(module);
      },
      Counting(type, start, direction, limit, step));
  if (absl::StrContains(text, "while")) return 2;
  return absl::StrContains(text, "sine") ? 1 : 0;
}

TEST(TripCountTest, LoopsThatRunAtMostOnceAreNoLoops) {
  EXPECT_EQ(Runs("i32", "0", "LT", "0", "1"), 0);
  EXPECT_EQ(Runs("i32", "0", "LT", "1", "1"), 1);
  EXPECT_EQ(Runs("i32", "0", "LT", "5", "5"), 1);
  EXPECT_EQ(Runs("i32", "0", "LT", "6", "5"), 2);
  EXPECT_EQ(Runs("i32", "0", "LE", "0", "1"), 1);
  EXPECT_EQ(Runs("i32", "1", "LE", "0", "1"), 0);
  EXPECT_EQ(Runs("i64", "3", "GT", "2", "-1"), 1);
  EXPECT_EQ(Runs("i64", "3", "GT", "3", "-1"), 0);
  EXPECT_EQ(Runs("i64", "3", "GE", "3", "-1"), 1);
  EXPECT_EQ(Runs("ui32", "3", "NE", "4", "1"), 1);
  EXPECT_EQ(Runs("ui32", "4", "NE", "4", "1"), 0);
}

TEST(TripCountTest, LoopsThatWrapAroundOrNeverEndAreNotCounted) {
  EXPECT_EQ(Runs("i8", "127", "LE", "127", "1"), 2);    // 127 + 1 is -128
  EXPECT_EQ(Runs("i8", "100", "LT", "101", "100"), 2);  // 200 is -56
  EXPECT_EQ(Runs("i32", "0", "LT", "1", "0"), 2);
  EXPECT_EQ(Runs("i32", "0", "LT", "1", "-1"), 2);
  EXPECT_EQ(Runs("i32", "0", "NE", "1", "2"), 2);
  EXPECT_EQ(Runs("i32", "0", "EQ", "0", "1"), 2);
}

}  // namespace
}  // namespace pjrt::ir
