// SPDX-License-Identifier: Apache-2.0
//
// MergeEqualOps: which ops count as the same, and which never do.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

// MergeEqualOps must drop the ops on lines that end in "// is %other", and nothing else.
void ExpectMerges(absl::string_view text) {
  std::string expected;
  std::vector<std::pair<std::string, std::string>> merged;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> halves = absl::StrSplit(line, "// is ");
    if (halves.size() == 1) {
      absl::StrAppend(&expected, line, "\n");
    } else {
      const absl::string_view name = absl::StripLeadingAsciiWhitespace(line);
      merged.emplace_back(name.substr(0, name.find(' ')), halves[1]);
    }
  }
  ExpectBecomes(MergeEqualOps, text, absl::StrReplaceAll(expected, merged));
}

TEST(MergeEqualOpsTest, EqualOpsOnEqualOperandsAreComputedOnce) {
  ExpectMerges(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %x : tensor<4xf32>
  %1 = stablehlo.negate %x : tensor<4xf32>  // is %0
  %2 = stablehlo.multiply %0, %x : tensor<4xf32>
  %3 = stablehlo.multiply %1, %x : tensor<4xf32>  // is %2
  %4 = stablehlo.add %2, %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
})");
}

TEST(MergeEqualOpsTest, AttributesAndResultTypesTellOpsApart) {
  ExpectMerges(R"(
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2x2x1xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.reshape %x : (tensor<2x2xf32>) -> tensor<4xf32>
  %3 = stablehlo.reshape %x : (tensor<2x2xf32>) -> tensor<2x2x1xf32>
  return %0, %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<4xf32>, tensor<2x2x1xf32>
})");
}

TEST(MergeEqualOpsTest, RegionsAreComparedOpByOp) {
  ExpectMerges(R"(
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>  // is %0
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
})");
}

TEST(MergeEqualOpsTest, ABranchUsesWhatWasComputedAroundItButNotWhatAnotherBranchComputed) {
  ExpectMerges(R"(
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.negate %x : tensor<f32>
  %1 = "stablehlo.if"(%p) ({
    %2 = stablehlo.negate %x : tensor<f32>  // is %0
    stablehlo.return %2 : tensor<f32>
  }, {
    %3 = stablehlo.sine %x : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %4 = stablehlo.sine %x : tensor<f32>
  return %1, %4 : tensor<f32>, tensor<f32>
})");
}

TEST(MergeEqualOpsTest, BranchesAreComparedOnceTheirOwnOpsAreMerged) {
  ExpectBecomes(MergeEqualOps, R"(
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({
    %3 = stablehlo.sine %x : tensor<f32>
    %4 = stablehlo.add %3, %3 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %1 = "stablehlo.if"(%p) ({
    %3 = stablehlo.sine %x : tensor<f32>
    %4 = stablehlo.sine %x : tensor<f32>
    %5 = stablehlo.add %3, %4 : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %2 = "stablehlo.if"(%p) ({
    %3 = stablehlo.sine %0 : tensor<f32>
    %4 = stablehlo.add %3, %3 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0, %1, %2 : tensor<f32>, tensor<f32>, tensor<f32>
})",
                R"(
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({
    %3 = stablehlo.sine %x : tensor<f32>
    %4 = stablehlo.add %3, %3 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  %2 = "stablehlo.if"(%p) ({
    %3 = stablehlo.sine %0 : tensor<f32>
    %4 = stablehlo.add %3, %3 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }, {
    stablehlo.return %x : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  return %0, %0, %2 : tensor<f32>, tensor<f32>, tensor<f32>
})");
}

TEST(MergeEqualOpsTest, ReducersStayProgramsOfTheirOwn) {
  ExpectMerges(R"(
func.func @main(%x: tensor<4xf32>) -> tensor<f32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %d = stablehlo.constant dense<1.0> : tensor<f32>
    %e = stablehlo.multiply %a, %b : tensor<f32>
    %f = stablehlo.add %e, %d : tensor<f32>
    stablehlo.return %f : tensor<f32>
  }
  return %0 : tensor<f32>
})");
}

TEST(MergeEqualOpsTest, EffectsAreNeverMerged) {
  ExpectMerges(R"(
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<4xf32>) {
  %s = stablehlo.constant dense<4> : tensor<1xi64>
  %0 = stablehlo.custom_call @f(%a) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.custom_call @f(%a) {has_side_effect = true} : (tensor<f32>) -> tensor<f32>
  %2 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %3 = stablehlo.rng %a, %b, %s, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %4 = stablehlo.add %0, %1 : tensor<f32>
  return %4, %2, %3 : tensor<f32>, tensor<4xf32>, tensor<4xf32>
})");
}

}  // namespace
}  // namespace pjrt::ir
