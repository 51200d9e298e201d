// SPDX-License-Identifier: Apache-2.0
//
// SimplifyRanges.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "tests/ir/pass_test_util.h"

namespace pjrt::ir {
namespace {

// What the body of a loop whose counter %i goes from START by STEP while COMPARE LIMIT makes of an
// expression RESULT, an i1. %k, %n and %x are anything.
constexpr char kCountingLoop[] = R"(
func.func @main(%k: tensor<i32>, %x: tensor<i32>) -> tensor<i1> {
  %start = stablehlo.constant dense<START> : tensor<i32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %0:2 = stablehlo.while(%i = %start, %p = %false) : tensor<i32>, tensor<i1> cond {
    %limit = stablehlo.constant dense<LIMIT> : tensor<i32>
    %go = stablehlo.compare COMPARE, %i, BOUND : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %go : tensor<i1>
  } do {
    %step = stablehlo.constant dense<STEP> : tensor<i32>
    %0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.constant dense<1> : tensor<i32>
    %7 = stablehlo.constant dense<7> : tensor<i32>
    %9 = stablehlo.constant dense<9> : tensor<i32>
    %next = stablehlo.add %i, %step : tensor<i32>
    LINES
    stablehlo.return %next, %r : tensor<i32>, tensor<i1>
  }
  return %0#1 : tensor<i1>
})";

struct Counter {
  absl::string_view start = "0", step = "1", compare = "LT", limit = "10", bound = "%limit";
};

// "true" or "false" when the pass decides %r, else "?".
std::string DecidedIn(const std::string& text) {
  const std::string after = After(
      [](Module* module) {
        SimplifyRanges(module);
        RemoveDeadOps(module);
        FoldConstants(module);
        MergeEqualOps(module);
      },
      text);
  if (absl::StrContains(after, "dense<true>")) return "true";
  return absl::StrContains(after.substr(after.find("do {")), ", SIGNED") ||
                 absl::StrContains(after.substr(after.find("do {")), "compare")
             ? "?"
             : "false";
}

std::string Decided(const Counter& counter, absl::string_view lines) {
  const std::string text = absl::StrReplaceAll(kCountingLoop, {{"START", counter.start},
                                                               {"STEP", counter.step},
                                                               {"COMPARE", counter.compare},
                                                               {"LIMIT", counter.limit},
                                                               {"BOUND", counter.bound},
                                                               {"LINES", lines}});
  return DecidedIn(text);
}

std::string Compared(const Counter& counter, absl::string_view compare, absl::string_view a,
                     absl::string_view b) {
  return Decided(counter, absl::StrReplaceAll(
                              "%r = stablehlo.compare OP, A, B : (tensor<i32>, tensor<i32>) -> "
                              "tensor<i1>",
                              {{"OP", compare}, {"A", a}, {"B", b}}));
}

TEST(SimplifyRangesTest, CountersAreWithinTheirLoop) {
  EXPECT_EQ(Compared({}, "LT", "%i", "%0"), "false");
  EXPECT_EQ(Compared({}, "GE", "%i", "%0"), "true");
  EXPECT_EQ(Compared({}, "LE", "%i", "%9"), "true");
  EXPECT_EQ(Compared({}, "LT", "%i", "%9"), "?");
  EXPECT_EQ(Compared({}, "GT", "%next", "%0"), "true");
  EXPECT_EQ(Compared({"9", "-1", "GE", "0"}, "GE", "%i", "%0"), "true");
  EXPECT_EQ(Compared({"9", "-1", "GE", "0"}, "GE", "%next", "%0"), "?");
  EXPECT_EQ(Compared({"9", "-3", "GT", "0"}, "EQ", "%i", "%1"), "false");  // 9, 6, 3
  EXPECT_EQ(Compared({"9", "-3", "GT", "0"}, "EQ", "%i", "%9"), "?");
  EXPECT_EQ(Compared({"12", "1", "LT", "10"}, "EQ", "%i", "%0"), "false");
}

TEST(SimplifyRangesTest, CountersKeepToTheSideOfTheirStart) {
  // From any of 7 numbers, though %start alone is known to the loop.
  const auto from = [](const Counter& counter, absl::string_view compare, absl::string_view a,
                       absl::string_view b, absl::string_view start) {
    const std::string text = absl::StrReplaceAll(
        kCountingLoop,
        {{"while(%i = %start", "while(%i = %from"},
         {"%false = ",
          absl::StrCat("%mask = stablehlo.constant dense<7> : tensor<i32>\n",
                       "  %from = stablehlo.", start, " : tensor<i32>\n", "  %false = ")},
         {"START", "0"},
         {"STEP", counter.step},
         {"COMPARE", counter.compare},
         {"LIMIT", counter.limit},
         {"BOUND", counter.bound},
         {"LINES", absl::StrCat("%r = stablehlo.compare ", compare, ", ", a, ", ", b,
                                " : (tensor<i32>, tensor<i32>) -> tensor<i1>")}});
    return DecidedIn(text);
  };
  const Counter down = {"", "-1", "GE", "0"};
  EXPECT_EQ(from(down, "GE", "%i", "%0", "and %k, %mask"), "true");
  EXPECT_EQ(from(down, "LE", "%i", "%7", "and %k, %mask"), "true");
  EXPECT_EQ(from(down, "LT", "%i", "%7", "and %k, %mask"), "?");
  EXPECT_EQ(from(down, "GE", "%next", "%0", "and %k, %mask"), "?");
  EXPECT_EQ(from({"", "1", "LT", "10"}, "GE", "%i", "%0", "and %k, %mask"), "true");
  EXPECT_EQ(from({"", "3", "LT", "10"}, "LE", "%i", "%9", "and %k, %mask"), "true");
  // Any start: what the condition lets through is all that is known.
  EXPECT_EQ(from({"", "1", "LT", "10"}, "LE", "%i", "%9", "add %k, %mask"), "true");
  EXPECT_EQ(from({"", "1", "LT", "10"}, "GE", "%i", "%0", "add %k, %mask"), "?");
  EXPECT_EQ(from({"", "1", "GE", "0"}, "GE", "%i", "%0", "add %k, %mask"), "true");
  EXPECT_EQ(from({"", "1", "EQ", "9"}, "EQ", "%i", "%9", "add %k, %mask"), "true");
  // It may wrap around, and then go on.
  EXPECT_EQ(from({"", "1", "GE", "-9"}, "GE", "%i", "%0", "and %k, %mask"), "?");
  EXPECT_EQ(from({"", "1", "NE", "9"}, "GE", "%i", "%0", "and %k, %mask"), "?");
}

TEST(SimplifyRangesTest, ALimitThatIsNotKnownBoundsNothingFromBelow) {
  const Counter any = {"0", "1", "LT", "10", "%k"};
  EXPECT_EQ(Compared(any, "GE", "%i", "%0"), "true");
  EXPECT_EQ(Compared(any, "LE", "%i", "%9"), "?");
  // May wrap around, to anything.
  const Counter wraps = {"0", "1", "LE", "10", "%k"};
  EXPECT_EQ(Compared(wraps, "GE", "%i", "%0"), "?");
  const Counter two = {"0", "2", "LT", "10", "%k"};
  EXPECT_EQ(Compared(two, "GE", "%i", "%0"), "?");
  EXPECT_EQ(Compared({"0", "1", "NE", "10", "%k"}, "GE", "%i", "%0"), "?");
  EXPECT_EQ(Compared({"0", "1", "GT", "10", "%k"}, "GE", "%i", "%0"), "?");
}

TEST(SimplifyRangesTest, ArithmeticCarriesRangesOn) {
  const auto of = [](absl::string_view op) {
    return absl::StrReplaceAll(R"(%a = stablehlo.OP : tensor<i32>
      %r = stablehlo.compare LT, %a, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>)",
                               {{"OP", op}});
  };
  EXPECT_EQ(Decided({}, of("add %i, %7")), "false");
  EXPECT_EQ(Decided({}, of("subtract %i, %7")), "?");
  EXPECT_EQ(Decided({}, of("subtract %9, %i")), "false");
  EXPECT_EQ(Decided({}, of("multiply %i, %i")), "false");
  EXPECT_EQ(Decided({}, of("multiply %x, %x")), "?");  // wraps
  EXPECT_EQ(Decided({}, of("divide %i, %7")), "false");
  EXPECT_EQ(Decided({}, of("divide %x, %7")), "?");
  EXPECT_EQ(Decided({}, of("divide %i, %i")), "?");  // 0 / 0 is -1
  EXPECT_EQ(Decided({}, of("remainder %i, %7")), "false");
  EXPECT_EQ(Decided({}, of("remainder %x, %7")), "?");
  EXPECT_EQ(Decided({}, of("and %x, %7")), "false");
  EXPECT_EQ(Decided({}, of("shift_right_arithmetic %i, %x")), "false");
  EXPECT_EQ(Decided({}, of("shift_right_arithmetic %x, %7")), "?");
  EXPECT_EQ(Decided({}, of("shift_right_logical %i, %7")), "false");
  EXPECT_EQ(Decided({}, of("shift_right_logical %x, %0")), "?");
  EXPECT_EQ(Decided({}, of("maximum %x, %0")), "false");
  EXPECT_EQ(Decided({}, of("minimum %x, %0")), "?");
  EXPECT_EQ(Decided({}, of("abs %x")), "?");  // of the least number
  EXPECT_EQ(Decided({}, of("sign %x")), "?");
  EXPECT_EQ(Decided({}, of("clamp %0, %x, %7")), "false");
}

TEST(SimplifyRangesTest, ShiftsDivide) {
  const Counter to_70 = {"0", "1", "LT", "70"};
  const auto is_above = [&](absl::string_view by, absl::string_view limit) {
    return Decided(to_70, absl::StrReplaceAll(R"(
      %by = stablehlo.constant dense<BY> : tensor<i32>
      %most = stablehlo.constant dense<MOST> : tensor<i32>
      %q = stablehlo.shift_right_arithmetic %i, %by : tensor<i32>
      %r = stablehlo.compare GT, %q, %most : (tensor<i32>, tensor<i32>) -> tensor<i1>)",
                                              {{"BY", by}, {"MOST", limit}}));
  };
  EXPECT_EQ(is_above("3", "8"), "false");  // 69 / 8
  EXPECT_EQ(is_above("3", "7"), "?");
  EXPECT_EQ(is_above("0", "69"), "false");
  EXPECT_EQ(is_above("40", "0"), "false");
  EXPECT_EQ(is_above("-1", "69"), "false");
}

TEST(SimplifyRangesTest, IndicesThatAreNotNegativeStayAsTheyAre) {
  // The way of i and i / 7 and i % 7, rounded down, to indices that count from the end when they
  // are negative.
  const std::string text = absl::StrReplaceAll(kCountingLoop, {{"START", "0"},
                                                               {"STEP", "1"},
                                                               {"COMPARE", "LT"},
                                                               {"LIMIT", "70"},
                                                               {"BOUND", "%limit"},
                                                               {"LINES", R"(
    %q = stablehlo.divide %i, %7 : tensor<i32>
    %sign = stablehlo.sign %i : tensor<i32>
    %other = stablehlo.compare NE, %sign, %1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %m = stablehlo.remainder %i, %7 : tensor<i32>
    %rest = stablehlo.compare NE, %m, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %both = stablehlo.and %other, %rest : tensor<i1>
    %less = stablehlo.subtract %q, %1 : tensor<i32>
    %floor = stablehlo.select %both, %less, %q : tensor<i1>, tensor<i32>
    %low = stablehlo.compare LT, %floor, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %end = stablehlo.add %floor, %9 : tensor<i32>
    %index = stablehlo.select %low, %end, %floor : tensor<i1>, tensor<i32>
    %r = stablehlo.compare EQ, %index, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>)"}});
  const std::string after = After(
      [](Module* module) {
        SimplifyRanges(module);
        RemoveDeadOps(module);
      },
      text);
  for (absl::string_view gone : {"select", "sign", "remainder", "subtract", "LT, %q"})
    EXPECT_FALSE(absl::StrContains(after.substr(after.find("do {")), gone)) << gone << "\n"
                                                                            << after;
}

TEST(SimplifyRangesTest, ElementsOfIotaAreBelowItsSize) {
  const std::string after = After(SimplifyRanges, R"(
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<4xi32>
  %p = stablehlo.compare LT, %i, %n : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %r = stablehlo.select %p, %x, %y : tensor<4xi1>, tensor<4xf32>
  return %r : tensor<4xf32>
})");
  EXPECT_FALSE(absl::StrContains(after, "select")) << after;
  EXPECT_TRUE(absl::StrContains(after, "return %arg0")) << after;
}

}  // namespace
}  // namespace pjrt::ir
