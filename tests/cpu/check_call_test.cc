// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::HasSubstr;

absl::Status Check(absl::string_view name, float got, float want) {
  const Literal a = Array<float>({2}, {1, got}), b = Array<float>({2}, {1, want});
  return RunProgram(OneThreadClient(),
                    absl::StrCat("func.func @main(%a: tensor<2xf32>, %b: tensor<2xf32>) {\n  "
                                 "stablehlo.custom_call @check.",
                                 name,
                                 "(%a, %b) {has_side_effect = true} : (tensor<2xf32>, "
                                 "tensor<2xf32>) -> ()\n  return\n}"),
                    {&a, &b})
      .status();
}

TEST(CheckCall, PassesWithinItsBounds) {
  EXPECT_TRUE(Check("expect_eq", 2, 2).ok());
  EXPECT_TRUE(Check("expect_almost_eq", 2, 2.0009f).ok());
  EXPECT_TRUE(Check("expect_close", 2, 2.0000005f).ok());
}

TEST(CheckCall, FailsTheExecutionWithTheFirstElementThatDiffers) {
  for (const char* name : {"expect_eq", "expect_almost_eq", "expect_close"}) {
    const absl::Status status = Check(name, 2, 2.01f);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(ErrorId(status), "PJRT-B012") << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(":2:"));
    EXPECT_THAT(std::string(status.message()), HasSubstr("2.01"));
  }
  EXPECT_FALSE(Check("expect_close", 2, std::numeric_limits<float>::infinity()).ok());
}

TEST(CheckCall, TakesItsBoundsFromTheProgram) {
  const auto run = [](const std::string& check) {
    return RunProgram(OneThreadClient(), absl::StrCat(R"(
      func.func @main() {
        %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
        %b = stablehlo.constant dense<[1.0, 2.00000048]> : tensor<2xf32>
        )",
                                                      check, "\n        return\n      }"))
        .status();
  };
  EXPECT_TRUE(run("check.expect_close %a, %b : tensor<2xf32>, tensor<2xf32>").ok());
  EXPECT_FALSE(
      run("check.expect_close %a, %b, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>").ok());
  EXPECT_TRUE(run("check.expect_almost_eq %a, %b : tensor<2xf32>").ok());
  EXPECT_FALSE(run("check.expect_almost_eq %a, %b, tolerance = 1.0e-08 : tensor<2xf32>").ok());
  EXPECT_TRUE(
      run("check.expect_almost_eq_const %a, dense<1.5> : tensor<2xf32>, tolerance = 0.5").ok());
  EXPECT_FALSE(run("check.expect_eq %a, %b : tensor<2xf32>").ok());
  EXPECT_FALSE(run("check.expect_eq_const %a, dense<1.0> : tensor<2xf32>").ok());
  EXPECT_THAT(std::string(run("check.expect_eq_const %a, dense<1.0> : tensor<3xf32>").message()),
              HasSubstr("expected two arrays of one shape"));
}

TEST(CheckCall, GivesTrueOrFails) {
  const auto run = [](const char* b) {
    return RunProgram(OneThreadClient(), absl::StrCat(R"(
      func.func @main() -> tensor<i1> {
        %a = stablehlo.constant dense<7> : tensor<3xi4>
        %b = stablehlo.constant dense<)",
                                                      b, R"(> : tensor<3xi4>
        %0 = stablehlo.custom_call @check.eq(%a, %b) : (tensor<3xi4>, tensor<3xi4>) -> tensor<i1>
        return %0 : tensor<i1>
      })"));
  };
  const auto results = run("7");
  ASSERT_TRUE(results.ok()) << results.status();
  EXPECT_TRUE((*results)[0]->data<bool>()[0]);
  EXPECT_EQ(ErrorId(run("[7, 7, -8]").status()), "PJRT-B012");
}

TEST(CheckCall, RefusesArraysOfDifferentShapes) {
  const absl::Status status = RunProgram(OneThreadClient(), R"(
        func.func @main(%a: tensor<2xf32>, %b: tensor<3xf32>) {
          stablehlo.custom_call @check.expect_eq(%a, %b) {has_side_effect = true} : (tensor<2xf32>, tensor<3xf32>) -> ()
          return
        })")
                                  .status();
  EXPECT_EQ(ErrorId(status), "PJRT-K002") << status;
}

}  // namespace
}  // namespace pjrt::cpu
