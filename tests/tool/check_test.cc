// SPDX-License-Identifier: Apache-2.0
//
// pjrt check: programs that test themselves.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class CheckTest : public ToolTest {
 protected:
  // A function with 1.0 and `other` as %a and %b, tensor<2xf32>, and `body`.
  std::string Function(const std::string& other, const std::string& body) {
    return absl::StrCat(
        "func.func @test() {\n  %a = stablehlo.constant dense<1.0> : tensor<2xf32>\n",
        "  %b = stablehlo.constant dense<", other, "> : tensor<2xf32>\n", body, "\n  return\n}\n");
  }
  void ExpectPass(const std::string& program) {
    const ToolResult result = RunTool({"check", "-"}, program);
    EXPECT_EQ(result.exit_code, 0) << program << result;
    EXPECT_THAT(result.out, EndsWith("1 passed, 0 failed, 0 skipped\n")) << program;
  }
  void ExpectFail(const std::string& program, const std::string& reason) {
    const ToolResult result = RunTool({"check", "-"}, program);
    EXPECT_EQ(result.exit_code, 1) << program << result;
    EXPECT_THAT(result.out, StartsWith("FAIL - @test: ")) << program;
    EXPECT_THAT(result.out, HasSubstr(reason)) << program;
    EXPECT_THAT(result.out, EndsWith("0 passed, 1 failed, 0 skipped\n")) << program;
  }
};

TEST_F(CheckTest, ExactChecks) {
  ExpectPass(Function("1.0", "check.expect_eq %a, %b : tensor<2xf32>"));
  ExpectFail(Function("1.00001", "check.expect_eq %a, %b : tensor<2xf32>"), "expect_eq at line 4");
  ExpectPass(Function("0.0", "check.expect_eq_const %b, dense<-0.0> : tensor<2xf32>"));
  ExpectFail(Function("0x7FC00000", "check.expect_eq_const %b, dense<0x7FC00000> : tensor<2xf32>"),
             "2 of 2");
  ExpectFail(Function("1.0", "check.expect_eq_const %a, dense<[1.0, 2.0]> : tensor<2xf32>"),
             "1 of 2");
}

TEST_F(CheckTest, ProbesKeepValuesAndPrintsShowThem) {
  const std::string probe =
      "%p = interpreter.probe %a, probe_id = \"x\" : tensor<2xf32>\n"
      "interpreter.print %p : tensor<2xf32>\n"
      "check.expect_serialized_eq %b, probe_id = \"x\" : tensor<2xf32>";
  ExpectPass(Function("1.0", probe));
  ExpectFail(Function("2.0", probe), "expect_serialized_eq at line 6");
  ExpectFail(Function("1.0", "check.expect_serialized_eq %b, probe_id = \"y\" : tensor<2xf32>"),
             "[PJRT-T016]");
  EXPECT_THAT(RunTool({"check", "-"}, Function("1.0", probe)).err, HasSubstr("tensor<2xf32> "));
}

// Probes see 1, 2 and 3 as "x", and matrices full of them as "y".
std::string LoopWithProbes(absl::string_view checks) {
  return absl::StrCat(R"(
func.func @test() {
  %zero = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %three = stablehlo.constant dense<3> : tensor<i64>
  %twos = stablehlo.constant dense<2.0> : tensor<2x3xf32>
  %r = stablehlo.while(%i = %zero) : tensor<i64>
  cond {
    %c = stablehlo.compare LT, %i, %three : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i64>
    %p = interpreter.probe %n, probe_id = "x" : tensor<i64>
    %f = stablehlo.convert %p : (tensor<i64>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %q = interpreter.probe %b, probe_id = "y" : tensor<2x3xf32>
    stablehlo.return %p : tensor<i64>
  }
  check.expect_eq %r, %three : tensor<i64>
)",
                      checks, "\n  return\n}");
}

TEST_F(CheckTest, AProbeInALoopKeepsAValueEachTime) {
  ExpectPass(LoopWithProbes(R"(
  check.expect_serialized_eq %three, probe_id = "x", iter = 2 : tensor<i64>
  check.expect_serialized_eq %twos, probe_id = "y", iter = 1 : tensor<2x3xf32>
  check.expect_serialized_eq %one, probe_id = "x", iter = 0 : tensor<i64>)"));
  ExpectPass(LoopWithProbes(""));
  ExpectFail(LoopWithProbes(
                 "check.expect_serialized_eq %twos, probe_id = \"y\", iter = 2 : tensor<2x3xf32>"),
             "6 of 6");
  // What has been kept holds values of three times only.
  ExpectFail(
      LoopWithProbes("check.expect_serialized_eq %zero, probe_id = \"x\", iter = 3 : tensor<i64>"),
      "[PJRT-T016]");
}

TEST_F(CheckTest, AGridOfOneProgramIsACall) {
  const std::string grid = R"(
func.func @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %x, %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func @test() {
  %a = stablehlo.constant dense<1.0> : tensor<2xf32>
  %r = "interpreter.run_parallel"(%a) {programs = [[@inner]]} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<2.0> : tensor<2xf32>
  return
})";
  ExpectPass(grid);
}

TEST_F(CheckTest, ChecksWithinATolerance) {
  ExpectPass(Function("1.00005", "check.expect_almost_eq %a, %b : tensor<2xf32>"));
  ExpectFail(Function("1.0005", "check.expect_almost_eq %a, %b : tensor<2xf32>"), "almost_eq");
  ExpectPass(Function("1.05", "check.expect_almost_eq %a, %b, tolerance = 0.1 : tensor<2xf32>"));
  ExpectPass(
      Function("0x7FC00000", "check.expect_almost_eq_const %b, dense<0x7FC00000> : tensor<2xf32>"));
}

TEST_F(CheckTest, ToleranceOnQuantizedValuesIsThatOfTheirNumbers) {
  // Stored 1 and 2, with a scale of 1e-5: exact comparison tells them apart, 1e-4 does not.
  const std::string quantized = "tensor<1x!quant.uniform<i8:f32, 1.0e-5>>";
  const auto program = [&](const std::string& check) {
    std::string text = "func.func @test() {\n";
    for (const char* value : {"1", "2"}) {
      absl::StrAppend(&text, "  %", value[0] == '1' ? "a" : "b",
                      " = stablehlo.constant() <{value = dense<", value,
                      "> : tensor<1xi8>}> : () -> ", quantized, "\n");
    }
    return absl::StrCat(text, "  check.", check, " %a, %b : ", quantized, "\n  return\n}\n");
  };
  ExpectPass(program("expect_almost_eq"));
  ExpectFail(program("expect_eq"), "1 of 1");
}

TEST_F(CheckTest, ChecksWithinUlps) {
  // 1 + 2^-23 is one step from 1, 1 + 3 * 2^-23 three.
  const std::string types = " : tensor<2xf32>, tensor<2xf32>";
  ExpectPass(Function("0x3F800001",
                      absl::StrCat("check.expect_close %a, %b, max_ulp_difference = 1", types)));
  ExpectFail(Function("0x3F800003",
                      absl::StrCat("check.expect_close %a, %b, max_ulp_difference = 2", types)),
             "expect_close");
}

TEST_F(CheckTest, CustomCallsHaveTheirOwnTolerances) {
  const auto call = [](const std::string& target) {
    return absl::StrCat("stablehlo.custom_call @", target,
                        "(%a, %b) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()");
  };
  ExpectPass(Function("1.0", call("check.expect_eq")));
  ExpectFail(Function("2.0", call("check.expect_eq")), "expect_eq");
  ExpectPass(Function("1.0005", call("check.expect_almost_eq")));
  ExpectFail(Function("1.005", call("check.expect_almost_eq")), "expect_almost_eq");
  ExpectPass(Function("0x3F800003", call("check.expect_close")));
  ExpectFail(Function("0x3F800004", call("check.expect_close")), "expect_close");
}

TEST_F(CheckTest, TheResultOfCheckEqIsTrue) {
  const std::string eq =
      "%c = stablehlo.custom_call @check.eq(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> "
      "tensor<i1>\n"
      "check.expect_eq_const %c, dense<true> : tensor<i1>";
  ExpectPass(Function("1.00005", eq));
  ExpectFail(Function("1.5", eq), "check.eq");
}

TEST_F(CheckTest, EveryPublicFunctionWithoutArgumentsRuns) {
  const ToolResult result = RunTool({"check", "-"}, R"(
func.func @main() {
  %0 = call @value() : () -> tensor<i32>
  check.expect_eq_const %0, dense<7> : tensor<i32>
  return
}
func.func private @value() -> tensor<i32> {
  %0 = stablehlo.constant dense<7> : tensor<i32>
  return %0 : tensor<i32>
}
func.func @second() -> tensor<i32> {
  %0 = call @value() : () -> tensor<i32>
  check.expect_eq_const %0, dense<8> : tensor<i32>
  return %0 : tensor<i32>
}
func.func @takes(%a: tensor<i32>) { return }

// -----

func.func @third() { return }
)");
  EXPECT_EQ(result.exit_code, 1) << result;
  EXPECT_THAT(result.out, StartsWith("PASS - @main\nFAIL - @second: "));
  EXPECT_THAT(result.out, EndsWith("\nPASS - @third\n2 passed, 1 failed, 0 skipped\n"));
}

TEST_F(CheckTest, ChecksInFunctionsThatAreCalledCount) {
  const ToolResult result = RunTool({"check", "-"}, R"(
func.func @main() {
  %0 = stablehlo.constant dense<7> : tensor<i32>
  call @verdict(%0) : (tensor<i32>) -> ()
  return
}
func.func private @verdict(%a: tensor<i32>) {
  check.expect_eq_const %a, dense<8> : tensor<i32>
  return
}
)");
  EXPECT_EQ(result.exit_code, 1) << result;
  EXPECT_THAT(result.out, HasSubstr("FAIL - @main: "));
}

TEST_F(CheckTest, ChecksInsideOfRegionsAreRunByTheDevice) {
  for (const char* want : {"3", "4"}) {
    const ToolResult result = RunTool({"check", "-"}, absl::StrCat(R"(
func.func @main() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  %1 = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %2 = stablehlo.constant dense<0> : tensor<i32>
  "stablehlo.if"(%0) ({
    %3 = "stablehlo.reduce"(%1, %2) ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %f = stablehlo.convert %b : (tensor<i32>) -> tensor<f32>
      check.expect_almost_eq_const %f, dense<1.5> : tensor<f32>, tolerance = 0.75
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) {dimensions = array<i64: 0>} : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
    check.expect_eq_const %3, dense<)",
                                                                   want, R"(> : tensor<i32>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
})"));
    const bool right = std::string(want) == "3";
    EXPECT_EQ(result.exit_code, right ? 0 : 1) << result;
    EXPECT_THAT(result.out, StartsWith(right ? "PASS - @main" : "FAIL - @main: ")) << result;
  }
}

TEST_F(CheckTest, WhatIsNotSupportedIsSkippedWithTheReason) {
  ToolResult result = RunTool({"check", "-"}, R"(
func.func @main() {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  "stablehlo.if"(%0) ({
    interpreter.print %0 : tensor<i1>
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
})");
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(result.out,
              StartsWith("SKIP - @main: [PJRT-T014] interpreter.print inside of a region"));
  EXPECT_THAT(result.out, EndsWith("0 passed, 0 failed, 1 skipped\n"));
  result = RunTool({"check", "-"}, "func.func @main(%a: tensor<i32>) { return }");
  EXPECT_THAT(result.out, StartsWith("SKIP - @main: "));
  EXPECT_EQ(result.exit_code, 0) << result;
}

TEST_F(CheckTest, AProgramThatIsWrongIsAFailure) {
  ToolResult result = RunTool({"check", "-"}, "this is no program");
  EXPECT_EQ(result.exit_code, 1) << result;
  EXPECT_THAT(result.out, StartsWith("FAIL - @?: "));
  result = RunTool({"check", "-"}, "func.func @f() {\n  %0 = stablehlo.add : tensor<i32>\n}");
  EXPECT_EQ(result.exit_code, 1) << result;
}

TEST_F(CheckTest, AFileThatIsMissingIsBadInput) {
  const ToolResult result = RunTool({"check", Path("missing")});
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_THAT(result.err, HasSubstr("missing"));
}

}  // namespace
}  // namespace pjrt::testing
