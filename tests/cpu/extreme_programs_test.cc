// SPDX-License-Identifier: Apache-2.0
//
// Valid programs that ask for more than there is, or whose numbers are as large as their types
// allow: a result or RESOURCE_EXHAUSTED, and the process lives.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {
namespace {

using ::testing::ElementsAre;

// A function without arguments that gives %0, made by `ops`.
std::string Program(absl::string_view ops, absl::string_view type) {
  return absl::StrCat("func.func @main() -> ", type, " {\n", ops, "\nreturn %0 : ", type, "\n}");
}

void ExpectExhausted(absl::string_view ops, absl::string_view type) {
  const auto results = RunProgram(OneThreadClient(), Program(ops, type));
  ASSERT_FALSE(results.ok()) << ops;
  EXPECT_EQ(results.status().code(), absl::StatusCode::kResourceExhausted) << results.status();
}

TEST(ExtremeProgramTest, ArraysThatNoMachineHoldsAreRefused) {
  ExpectExhausted("%0 = stablehlo.constant dense<1.0> : tensor<4000000000000xf32>",
                  "tensor<4000000000000xf32>");
  ExpectExhausted("%0 = stablehlo.iota dim = 0 : tensor<9000000000000000000xi64>",
                  "tensor<9000000000000000000xi64>");
  ExpectExhausted(R"(%c = stablehlo.constant dense<1.0> : tensor<f32>
      %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4000000x4000000xf32>)",
                  "tensor<4000000x4000000xf32>");
  ExpectExhausted(R"(%c = stablehlo.constant dense<1.0> : tensor<4xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.pad %c, %z, low = [9223372036854775800], high = [0], interior = [0]
        : (tensor<4xf32>, tensor<f32>) -> tensor<9223372036854775804xf32>)",
                  "tensor<9223372036854775804xf32>");
}

TEST(ExtremeProgramTest, ASizeOfZeroHidesNoHugeOnes) {
  ExpectExhausted("%0 = stablehlo.iota dim = 0 : tensor<0x5000000000000xi64>",
                  "tensor<0x5000000000000xi64>");
  ExpectExhausted("%0 = stablehlo.constant dense<> : tensor<4294967296x0x4294967296xbf16>",
                  "tensor<4294967296x0x4294967296xbf16>");
  EXPECT_THAT(RunOne<int64_t>(Program("%0 = stablehlo.iota dim = 0 : tensor<0x1000000000000xi64>",
                                      "tensor<0x1000000000000xi64>")),
              ElementsAre());
}

TEST(ExtremeProgramTest, AFourierTransformOfTooLongALineIsRefused) {
  ExpectExhausted(
      R"(%1 = stablehlo.constant dense<(1.0, 0.0)> : tensor<1000000000000xcomplex<f32>>
      %0 = stablehlo.fft %1, type = FFT, length = [1000000000000]
        : (tensor<1000000000000xcomplex<f32>>) -> tensor<1000000000000xcomplex<f32>>)",
      "tensor<1000000000000xcomplex<f32>>");
}

TEST(ExtremeProgramTest, WhatIsNeverMadeMayBeOfAnySizeBelowTheLimit) {
  EXPECT_THAT(RunOne<int64_t>(Program(R"(%1 = stablehlo.iota dim = 0 : tensor<4000000000000xi64>
      %0 = stablehlo.slice %1 [3999999999998:4000000000000]
        : (tensor<4000000000000xi64>) -> tensor<2xi64>)",
                                      "tensor<2xi64>")),
              ElementsAre(3999999999998, 3999999999999));
  EXPECT_THAT(RunOne<float>(Program(R"(%1 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %2 = stablehlo.broadcast_in_dim %1, dims = [1] : (tensor<2xf32>) -> tensor<1000000000000x2xf32>
      %3 = stablehlo.add %2, %2 : tensor<1000000000000x2xf32>
      %0 = stablehlo.slice %3 [5:6, 0:2] : (tensor<1000000000000x2xf32>) -> tensor<1x2xf32>)",
                                    "tensor<1x2xf32>")),
              ElementsAre(2, 4));
}

TEST(ExtremeProgramTest, PaddingThatCropsAndPadsByHugeNumbersLeavesWhatItShould) {
  EXPECT_THAT(
      RunOne<float>(Program(R"(%c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %z = stablehlo.constant dense<0.0> : tensor<f32>
      %0 = stablehlo.pad %c, %z, low = [-3000000000000000000], high = [3],
        interior = [1000000000000000000] : (tensor<4xf32>, tensor<f32>) -> tensor<7xf32>)",
                            "tensor<7xf32>")),
      ElementsAre(0, 0, 0, 4, 0, 0, 0));
  EXPECT_THAT(
      RunOne<float>(Program(R"(%c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %0 = stablehlo.slice %c [1:4:9223372036854775807] : (tensor<4xf32>) -> tensor<1xf32>)",
                            "tensor<1xf32>")),
      ElementsAre(2));
}

// Windows of an array [1, 2, 3, 4] of the given form.
std::string Windows(absl::string_view attributes, absl::string_view type) {
  return absl::StrCat(R"(%c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%c, %z) ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) {)",
                      attributes, "} : (tensor<4xf32>, tensor<f32>) -> ", type);
}

TEST(ExtremeProgramTest, WindowsMayMoveByAnyNumberAndHaveHugeHolesOnlyWhereTheirArrayIsHuge) {
  EXPECT_THAT(RunOne<float>(Program(Windows("window_dimensions = array<i64: 3>, "
                                            "window_strides = array<i64: 9223372036854775807>",
                                            "tensor<1xf32>"),
                                    "tensor<1xf32>")),
              ElementsAre(6));
  ExpectExhausted(Windows("window_dimensions = array<i64: 2>, "
                          "window_strides = array<i64: 9000000000000000000>, "
                          "base_dilations = array<i64: 3000000000000000000>, "
                          "window_dilations = array<i64: 9000000000000000000>, "
                          "padding = dense<[[0, 1]]> : tensor<1x2xi64>",
                          "tensor<1xf32>"),
                  "tensor<1xf32>");
  ExpectExhausted(Windows("window_dimensions = array<i64: 2>, "
                          "window_dilations = array<i64: 9223372036854775806>, "
                          "padding = dense<[[9223372036854775803, 0]]> : tensor<1x2xi64>",
                          "tensor<1xf32>"),
                  "tensor<1xf32>");
  ExpectExhausted(Windows("window_dimensions = array<i64: 4000000000000000000>, "
                          "padding = dense<2000000000000000000> : tensor<1x2xi64>",
                          "tensor<5xf32>"),
                  "tensor<5xf32>");
}

TEST(ExtremeProgramTest, ConvolutionsSkipHolesOfAnySize) {
  EXPECT_THAT(RunOne<float>(Program(R"(%c = stablehlo.constant dense<[[[5.0], [2.0], [3.0], [4.0]]]>
        : tensor<1x4x1xf32>
      %k = stablehlo.constant dense<[[[2.0]], [[1.0]], [[1.0]]]> : tensor<3x1x1xf32>
      %0 = stablehlo.convolution(%c, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
        window = {stride = [3000000000000000000], lhs_dilate = [3000000000000000000],
                  rhs_dilate = [4000000000000000000]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x4x1xf32>, tensor<3x1x1xf32>) -> tensor<1x1x1xf32>)",
                                    "tensor<1x1x1xf32>")),
              ElementsAre(10));
}

// A case nested in a case and so on, `levels` deep by calls, with a loop around the innermost.
TEST(ExtremeProgramTest, BranchesNestedFourHundredDeepRun) {
  constexpr int kLevels = 400;
  std::string text =
      "func.func @main(%a: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {\n"
      "%r = func.call @f0(%a, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>\n"
      "return %r : tensor<f32>\n}\n";
  for (int i = 0; i < kLevels; ++i) {
    absl::StrAppend(&text, "func.func private @f", i,
                    "(%a: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {\n",
                    "%r = \"stablehlo.if\"(%p) ({\n%b = stablehlo.add %a, %a : tensor<f32>\n",
                    "%1 = func.call @f", i + 1,
                    "(%a, %p) : (tensor<f32>, tensor<i1>) -> tensor<f32>\n"
                    "%2 = stablehlo.maximum %1, %b : tensor<f32>\n"
                    "stablehlo.return %2 : tensor<f32>\n}, {\n"
                    "stablehlo.return %a : tensor<f32>\n}) : (tensor<i1>) -> tensor<f32>\n"
                    "return %r : tensor<f32>\n}\n");
  }
  absl::StrAppend(&text, "func.func private @f", kLevels,
                  "(%a: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {\n"
                  "%r = stablehlo.multiply %a, %a : tensor<f32>\nreturn %r : tensor<f32>\n}\n");
  const Literal a = Scalar<float>(7), yes = Preds({}, {1}), no = Preds({}, {0});
  EXPECT_THAT(RunOne<float>(text, {&a, &yes}), ElementsAre(49));
  EXPECT_THAT(RunOne<float>(text, {&a, &no}), ElementsAre(7));
}

// Each new value is another carried value: all are read before any is written.
TEST(ExtremeProgramTest, ALoopMayCarryThousandsOfValuesThatChangePlaces) {
  constexpr int kCount = 3000;
  std::string types, inits, rotated;
  for (int i = 0; i < kCount; ++i) {
    const char* const comma = i == 0 ? "" : ", ";
    absl::StrAppend(&inits, comma, "%v", i, " = ", i == 5 ? "%a" : "%z");
    absl::StrAppend(&types, comma, "tensor<f32>");
    absl::StrAppend(&rotated, comma, "%v", (i + kCount - 1) % kCount);
  }
  const std::string text = absl::StrCat(
      "func.func @main(%a: tensor<f32>, %n: tensor<i32>) -> tensor<f32> {\n"
      "%z = stablehlo.constant dense<0.0> : tensor<f32>\n"
      "%zero = stablehlo.constant dense<0> : tensor<i32>\n"
      "%one = stablehlo.constant dense<1> : tensor<i32>\n%r:",
      kCount + 1, " = stablehlo.while(%i = %zero, ", inits, ") : tensor<i32>, ", types,
      "\ncond {\n%p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
      "stablehlo.return %p : tensor<i1>\n} do {\n"
      "%j = stablehlo.add %i, %one : tensor<i32>\nstablehlo.return %j, ",
      rotated, " : tensor<i32>, ", types, "\n}\nreturn %r#9 : tensor<f32>\n}\n");
  // It starts in place 5 (result 6) and is to be read at result 9.
  const Literal a = Scalar<float>(7), three = Scalar<int32_t>(3), two = Scalar<int32_t>(2);
  EXPECT_THAT(RunOne<float>(text, {&a, &three}), ElementsAre(7));
  EXPECT_THAT(RunOne<float>(text, {&a, &two}), ElementsAre(0));
}

}  // namespace
}  // namespace pjrt::cpu
