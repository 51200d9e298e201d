// SPDX-License-Identifier: Apache-2.0
//
// RemoveDeadOps.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

TEST(RemoveDeadOpsTest, ALoopThatNothingUsesGoesHoweverOftenItRuns) {
  ExpectBecomes(RemoveDeadOps, R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<8xf32>
  %f = stablehlo.constant dense<false> : tensor<i1>
  %r = stablehlo.while(%s = %one) : tensor<8xf32> cond {
    %c = stablehlo.compare GT, %s, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %p = stablehlo.reduce(%c init: %f) applies stablehlo.or across dimensions = [0] : (tensor<8xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %t = stablehlo.multiply %s, %x : tensor<8xf32>
    stablehlo.return %t : tensor<8xf32>
  }
  %dead = stablehlo.sine %r : tensor<8xf32>
  %o = stablehlo.add %x, %one : tensor<8xf32>
  return %o : tensor<8xf32>
})",
                R"(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<8xf32>
  %o = stablehlo.add %x, %one : tensor<8xf32>
  return %o : tensor<8xf32>
})");
}

// %a is a result, %d makes the next %a, and %n ends the loop. %b and %c make each other.
TEST(RemoveDeadOpsTest, WhatALoopCarriesForItselfAloneGoes) {
  ExpectBecomes(RemoveDeadOps, R"(
func.func @main(%x: tensor<4xf32>, %m: tensor<i32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %start = stablehlo.cosine %x : tensor<4xf32>
  %0:5 = stablehlo.while(%b = %start, %a = %x, %c = %x, %n = %m, %d = %x) : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<4xf32> cond {
    %p = stablehlo.compare NE, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %q = stablehlo.sine %b : tensor<4xf32>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.sine %c : tensor<4xf32>
    %2 = stablehlo.add %b, %a : tensor<4xf32>
    %3 = stablehlo.subtract %n, %one : tensor<i32>
    %4 = stablehlo.negate %d : tensor<4xf32>
    stablehlo.return %1, %d, %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<4xf32>
  }
  %5 = stablehlo.add %0#0, %0#2 : tensor<4xf32>
  return %0#1 : tensor<4xf32>
})",
                R"(
func.func @main(%x: tensor<4xf32>, %m: tensor<i32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:3 = stablehlo.while(%a = %x, %n = %m, %d = %x) : tensor<4xf32>, tensor<i32>, tensor<4xf32> cond {
    %p = stablehlo.compare NE, %n, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %3 = stablehlo.subtract %n, %one : tensor<i32>
    %4 = stablehlo.negate %d : tensor<4xf32>
    stablehlo.return %d, %3, %4 : tensor<4xf32>, tensor<i32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
})");
}

// The inner loop takes %b from the outer one as a value to begin with and reads %a from outside;
// what it makes of %b is carried on for %b alone.
TEST(RemoveDeadOpsTest, LoopsInLoopsLoseWhatTheOuterOneDoesNotNeed) {
  ExpectBecomes(RemoveDeadOps, R"(
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0:2 = stablehlo.while(%a = %x, %b = %x) : tensor<f32>, tensor<f32> cond {
    %p = stablehlo.compare LT, %a, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%c = %b, %d = %y) : tensor<f32>, tensor<f32> cond {
      %q = stablehlo.compare LT, %d, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %q : tensor<i1>
    } do {
      %2 = stablehlo.sine %c : tensor<f32>
      %3 = stablehlo.add %d, %a : tensor<f32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<f32>
    }
    stablehlo.return %1#1, %1#0 : tensor<f32>, tensor<f32>
  }
  return %0#0 : tensor<f32>
})",
                R"(
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%a = %x) : tensor<f32> cond {
    %p = stablehlo.compare LT, %a, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.while(%d = %y) : tensor<f32> cond {
      %q = stablehlo.compare LT, %d, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %q : tensor<i1>
    } do {
      %3 = stablehlo.add %d, %a : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }
    stablehlo.return %1 : tensor<f32>
  }
  return %0 : tensor<f32>
})");
}

// A loop whose results nothing uses: %a is what the call in the branch is given, %b makes %a, %i
// says which branch it is. Nothing needs %c.
TEST(RemoveDeadOpsTest, EffectsInLoopsKeepWhatTheyAreGiven) {
  ExpectBecomes(RemoveDeadOps, R"(
func.func @main(%x: tensor<f32>, %i0: tensor<i1>) {
  %0:4 = stablehlo.while(%a = %x, %b = %x, %c = %x, %i = %i0) : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i1> cond {
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = "stablehlo.if"(%i) ({
      stablehlo.custom_call @tell(%a) {has_side_effect = true} : (tensor<f32>) -> ()
      stablehlo.return %c : tensor<f32>
    }, {
      stablehlo.return %a : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    %2 = stablehlo.sine %b : tensor<f32>
    %3 = stablehlo.not %i : tensor<i1>
    stablehlo.return %b, %2, %1, %3 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<i1>
  }
  return
})",
                R"(
func.func @main(%x: tensor<f32>, %i0: tensor<i1>) {
  %0:3 = stablehlo.while(%a = %x, %b = %x, %i = %i0) : tensor<f32>, tensor<f32>, tensor<i1> cond {
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    "stablehlo.if"(%i) ({
      stablehlo.custom_call @tell(%a) {has_side_effect = true} : (tensor<f32>) -> ()
      stablehlo.return
    }, {
      stablehlo.return
    }) : (tensor<i1>) -> ()
    %2 = stablehlo.sine %b : tensor<f32>
    %3 = stablehlo.not %i : tensor<i1>
    stablehlo.return %b, %2, %3 : tensor<f32>, tensor<f32>, tensor<i1>
  }
  return
})");
}

TEST(RemoveDeadOpsTest, AConditionWithAnEffectKeepsItsLoop) {
  ExpectBecomes(RemoveDeadOps, R"(
func.func @main(%x: tensor<f32>) {
  %0 = stablehlo.while(%a = %x) : tensor<f32> cond {
    %p = stablehlo.custom_call @ask() {has_side_effect = true} : () -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.sine %a : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }
  return
})",
                R"(
func.func @main(%x: tensor<f32>) {
  stablehlo.while() cond {
    %p = stablehlo.custom_call @ask() {has_side_effect = true} : () -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return
})");
}

TEST(RemoveDeadOpsTest, TokensThatOrderEffectsStay) {
  const std::string text = After(RemoveDeadOps, R"(
func.func @main(%x: tensor<f32>, %t: !stablehlo.token) {
  %0:3 = stablehlo.while(%a = %t, %b = %t, %c = %x) : !stablehlo.token, !stablehlo.token, tensor<f32> cond {
    %p = stablehlo.compare LT, %x, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = "stablehlo.outfeed"(%c, %b) {outfeed_config = ""} : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
    stablehlo.return %a, %1, %c : !stablehlo.token, !stablehlo.token, tensor<f32>
  }
  return
})");
  EXPECT_TRUE(absl::StrContains(text, ") : !stablehlo.token, tensor<f32>\n")) << text;
}

// $0 is the name of a branch, $1 what it takes.
constexpr char kBranches[] = R"(
func.func @main(%x: tensor<f32>, %p: tensor<$1>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  %1:3 = "stablehlo.$0"(%p) ({
    %2 = stablehlo.cosine %0 : tensor<f32>
    stablehlo.return %2, %x, %2 : tensor<f32>, tensor<f32>, tensor<f32>
  }, {
    %2 = stablehlo.tanh %x : tensor<f32>
    stablehlo.return %x, %2, %0 : tensor<f32>, tensor<f32>, tensor<f32>
  }) : (tensor<$1>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return %1#1 : tensor<f32>
})";
constexpr char kShortBranches[] = R"(
func.func @main(%x: tensor<f32>, %p: tensor<$1>) -> tensor<f32> {
  %1 = "stablehlo.$0"(%p) ({
    stablehlo.return %x : tensor<f32>
  }, {
    %2 = stablehlo.tanh %x : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<$1>) -> tensor<f32>
  return %1 : tensor<f32>
})";

TEST(RemoveDeadOpsTest, BranchesGiveOnlyWhatIsUsed) {
  ExpectBecomes(RemoveDeadOps, absl::Substitute(kBranches, "if", "i1"),
                absl::Substitute(kShortBranches, "if", "i1"));
  ExpectBecomes(RemoveDeadOps, absl::Substitute(kBranches, "case", "i32"),
                absl::Substitute(kShortBranches, "case", "i32"));
}

TEST(RemoveDeadOpsTest, BranchesThatGiveAndDoNothingGo) {
  ExpectBecomes(RemoveDeadOps, R"(
func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  "stablehlo.if"(%p) ({
    %0 = stablehlo.sine %x : tensor<f32>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return %x : tensor<f32>
})",
                R"(
func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  return %x : tensor<f32>
})");
}

TEST(RemoveDeadOpsTest, BarriersPassOnOnlyWhatIsUsed) {
  ExpectBecomes(RemoveDeadOps, R"(
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  %1:2 = stablehlo.optimization_barrier %0, %y : tensor<f32>, tensor<f32>
  return %1#1 : tensor<f32>
})",
                R"(
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %1 = stablehlo.optimization_barrier %y : tensor<f32>
  return %1 : tensor<f32>
})");
}

TEST(RemoveDeadOpsTest, LoopsOfDynamicAndQuantizedTypesKeepTheirTypes) {
  const std::string text = After(RemoveDeadOps, R"(
func.func @main(%x: tensor<?xf32>, %q: tensor<2x!quant.uniform<i8:f32, 0.5>>, %p: tensor<i1>) -> (tensor<?xf32>, tensor<2x!quant.uniform<i8:f32, 0.5>>) {
  %0:4 = stablehlo.while(%a = %x, %b = %x, %c = %q, %d = %q) : tensor<?xf32>, tensor<?xf32>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    %1 = stablehlo.sine %b : tensor<?xf32>
    %2 = stablehlo.add %c, %c : tensor<2x!quant.uniform<i8:f32, 0.5>>
    stablehlo.return %a, %1, %2, %2 : tensor<?xf32>, tensor<?xf32>, tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>
  }
  return %0#1, %0#2 : tensor<?xf32>, tensor<2x!quant.uniform<i8:f32, 0.5>>
})");
  EXPECT_TRUE(absl::StrContains(text, ") : tensor<?xf32>, tensor<2x!quant.uniform<i8:f32, 0.5>>\n"))
      << text;
}

TEST(RemoveDeadOpsTest, RebuiltLoopsKeepLocationsAndAttributes) {
  const std::unique_ptr<Module> module = MustParse(R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0:2 = "stablehlo.while"(%x, %x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32> loc("carried")):
    %p = stablehlo.compare LT, %b, %x : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b, %b : tensor<f32>, tensor<f32>
  }) {note = 7 : i32} : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>) loc("loop")
  return %0#1 : tensor<f32>
})");
  ASSERT_NE(module, nullptr);
  const Op* loop = module->EntryFunction().body()->front();
  const Location before = loop->location();
  const Attribute carried = loop->region(0)->block()->argument(1)->location();
  EXPECT_TRUE(carried);
  RemoveDeadOps(module.get());
  loop = module->EntryFunction().body()->front();
  ASSERT_EQ(loop->num_results(), 1u);
  EXPECT_EQ(loop->location().line, before.line);
  EXPECT_EQ(loop->location().attr, before.attr);
  EXPECT_EQ(loop->region(0)->block()->argument(0)->location(), carried);
  EXPECT_EQ(loop->IntAttr("note"), 7);
}

// What the innermost branch computes is passed on by all around it, and used by none.
TEST(RemoveDeadOpsTest, DeepNestsTakeOnePass) {
  std::string text = "func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {\n";
  constexpr int kDepth = 90;
  for (int i = 0; i < kDepth; ++i)
    absl::StrAppend(&text, "%v", i, ":2 = \"stablehlo.if\"(%p) ({\n");
  absl::StrAppend(&text, "%s = stablehlo.sine %x : tensor<f32>\n",
                  "stablehlo.return %x, %s : tensor<f32>, tensor<f32>\n");
  for (int i = kDepth - 1; i >= 0; --i) {
    absl::StrAppend(&text, "}, {\nstablehlo.return %x, %x : tensor<f32>, tensor<f32>\n",
                    "}) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)\n");
    absl::StrAppend(
        &text, i > 0 ? "stablehlo.return " : "return ", "%v", i, "#0",
        i > 0 ? absl::StrCat(", %v", i, "#1 : tensor<f32>, tensor<f32>\n") : " : tensor<f32>\n}");
  }
  const std::string after = After(RemoveDeadOps, text);
  EXPECT_TRUE(absl::StrContains(after, "stablehlo.if"));
  EXPECT_FALSE(absl::StrContains(after, "stablehlo.sine"));
  EXPECT_FALSE(absl::StrContains(after, ":2"));
}

}  // namespace
}  // namespace pjrt::ir
