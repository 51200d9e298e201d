// SPDX-License-Identifier: Apache-2.0
//
// pjrt inspect.

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class InspectTest : public ToolTest {};

constexpr char kCallTwice[] = R"(
func.func private @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = func.call @f(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
})";

TEST_F(InspectTest, ShowsTheProgramAfterAllPasses) {
  const ToolResult result = RunTool({"inspect", "-"}, kCallTwice);
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(result.out, AllOf(HasSubstr("stablehlo.add %0, %0"), Not(HasSubstr("call")),
                                Not(HasSubstr("chlo."))));
}

TEST_F(InspectTest, StopsAfterThePassThatIsNamed) {
  const ToolResult inlined = RunTool({"inspect", "-", "--after", "inline-calls"}, kCallTwice);
  EXPECT_EQ(inlined.exit_code, 0) << inlined;
  EXPECT_THAT(inlined.out, AllOf(Not(HasSubstr("call")), HasSubstr("chlo.square")));
  const ToolResult verified = RunTool({"inspect", "-", "--after", "verify"}, kCallTwice);
  EXPECT_EQ(verified.exit_code, 0) << verified;
  EXPECT_THAT(verified.out, HasSubstr("call @f"));
}

TEST_F(InspectTest, AnUnknownPassIsNamedWithThoseThatThereAre) {
  const ToolResult result = RunTool({"inspect", "-", "--after", "fuse-all"}, kCallTwice);
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("PJRT-T020"), HasSubstr("'fuse-all'"), HasSubstr("inline-calls")));
}

TEST_F(InspectTest, MemoryIsThatOfArgumentsResultsAndTemporaries) {
  const ToolResult result = RunTool({"inspect", "-", "--memory"}, kCallTwice);
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(result.out, HasSubstr("// bytes: arguments 16, results 16"));
}

TEST_F(InspectTest, AProgramThatBreaksARuleIsRefused) {
  const ToolResult result =
      RunTool({"inspect", "-"},
              "func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> { return %x : tensor<4xf32> }");
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_EQ(result.out, "");
}

}  // namespace
}  // namespace pjrt::testing
