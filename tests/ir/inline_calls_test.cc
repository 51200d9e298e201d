// SPDX-License-Identifier: Apache-2.0
//
// InlineCalls, and what it refuses.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

void Inline(Module* module) { EXPECT_TRUE(InlineCalls(module).ok()); }

TEST(InlineCallsTest, AFunctionCalledOnceAndOneCalledTwiceLeaveTheirBodies) {
  ExpectBecomes(Inline,
                R"(func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
           %0:2 = func.call @once(%b, %a) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
           %1 = func.call @twice(%0#1) : (tensor<4xf32>) -> tensor<4xf32>
           %2 = func.call @twice(%1) : (tensor<4xf32>) -> tensor<4xf32>
           %3 = stablehlo.subtract %2, %0#0 : tensor<4xf32>
           return %3 : tensor<4xf32>
         }
         func.func private @once(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
           %0 = stablehlo.divide %x, %y : tensor<4xf32>
           return %y, %0 : tensor<4xf32>, tensor<4xf32>
         }
         func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = stablehlo.negate %x : tensor<4xf32>
           return %0 : tensor<4xf32>
         })",
                R"(func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
           %0 = stablehlo.divide %b, %a : tensor<4xf32>
           %1 = stablehlo.negate %0 : tensor<4xf32>
           %2 = stablehlo.negate %1 : tensor<4xf32>
           %3 = stablehlo.subtract %2, %a : tensor<4xf32>
           return %3 : tensor<4xf32>
         })");
}

TEST(InlineCallsTest, CallsInsideOfWhatIsMovedAndOfWhatIsCopiedGoAsWell) {
  ExpectBecomes(Inline,
                R"(func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
           %0 = func.call @twice(%a) : (tensor<4xf32>) -> tensor<4xf32>
           %1 = func.call @twice(%0) : (tensor<4xf32>) -> tensor<4xf32>
           %2 = func.call @shared(%1) : (tensor<4xf32>) -> tensor<4xf32>
           return %2 : tensor<4xf32>
         }
         func.func private @shared(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = func.call @inner(%x) : (tensor<4xf32>) -> tensor<4xf32>
           return %0 : tensor<4xf32>
         }
         func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = func.call @once(%x) : (tensor<4xf32>) -> tensor<4xf32>
           %1 = stablehlo.negate %0 : tensor<4xf32>
           return %1 : tensor<4xf32>
         }
         func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = stablehlo.tanh %x : tensor<4xf32>
           return %0 : tensor<4xf32>
         }
         func.func private @once(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = stablehlo.abs %x : tensor<4xf32>
           %1 = func.call @shared(%0) : (tensor<4xf32>) -> tensor<4xf32>
           return %1 : tensor<4xf32>
         })",
                R"(func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
           %0 = stablehlo.abs %a : tensor<4xf32>
           %1 = stablehlo.tanh %0 : tensor<4xf32>
           %2 = stablehlo.negate %1 : tensor<4xf32>
           %3 = stablehlo.abs %2 : tensor<4xf32>
           %4 = stablehlo.tanh %3 : tensor<4xf32>
           %5 = stablehlo.negate %4 : tensor<4xf32>
           %6 = stablehlo.tanh %5 : tensor<4xf32>
           return %6 : tensor<4xf32>
         })");
}

// @main calls @f0, that @f1 and so on to @f<levels>; `body` is the body of one, $0 its callee.
std::string Chain(int levels, absl::string_view body) {
  constexpr absl::string_view kType = "(%a: tensor<f32>, %p: tensor<i1>) -> tensor<f32>";
  std::string text =
      absl::StrCat("func.func @main", kType,
                   " {\n%r = func.call @f0(%a, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>\n"
                   "return %r : tensor<f32>\n}\n");
  for (int i = 0; i < levels; ++i) {
    absl::StrAppend(&text, "func.func private @f", i, kType, " {\n",
                    absl::Substitute(body, absl::StrCat("func.call @f", i + 1)),
                    "\nreturn %r : tensor<f32>\n}\n");
  }
  absl::StrAppend(&text, "func.func private @f", levels, kType,
                  " {\n%r = stablehlo.negate %a : tensor<f32>\nreturn %r : tensor<f32>\n}\n");
  return text;
}

constexpr absl::string_view kInABranch = R"(%r = "stablehlo.if"(%p) ({
  %1 = $0(%a, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>
  stablehlo.return %1 : tensor<f32>
}, {
  stablehlo.return %a : tensor<f32>
}) : (tensor<i1>) -> tensor<f32>)";

TEST(InlineCallsTest, AChainOfTenThousandCallsIsOneOp) {
  const std::unique_ptr<Module> module =
      MustParse(Chain(10000, "%r = $0(%a, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>"));
  ASSERT_TRUE(InlineCalls(module.get()).ok());
  EXPECT_TRUE(module->EntryFunction().body()->front()->Is(OpCode::kNegate));
}

TEST(InlineCallsTest, CallsThatDoubleAtEachLevelAreRefusedBeforeTimeIsSpentOnThem) {
  const std::unique_ptr<Module> module =
      MustParse(Chain(100,
                      "%1 = $0(%a, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>\n"
                      "%r = $0(%1, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>"));
  const absl::Status status = InlineCalls(module.get());
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(absl::StrContains(status.message(), "[PJRT-I012]")) << status;
}

TEST(InlineCallsTest, BranchesThatNestThroughCallsAreRefusedBeyondFiveHundred) {
  const std::unique_ptr<Module> fits = MustParse(Chain(500, kInABranch));
  EXPECT_TRUE(InlineCalls(fits.get()).ok());
  for (const int levels : {501, 3000}) {
    const std::unique_ptr<Module> module = MustParse(Chain(levels, kInABranch));
    const absl::Status status = InlineCalls(module.get());
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_TRUE(absl::StrContains(status.message(), "[PJRT-I013]")) << status;
    EXPECT_TRUE(absl::StrContains(status.message(), absl::StrCat(levels))) << status;
  }
}

}  // namespace
}  // namespace pjrt::ir
