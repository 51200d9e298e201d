// SPDX-License-Identifier: Apache-2.0
//
// pjrt verify: accepted and rejected programs, chunk by chunk.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tool/tool_runner.h"
#include "tools/pjrt/expected_errors.h"

namespace pjrt::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGood[] = R"(func.func @good(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.negate %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}
)";
constexpr char kBad[] = R"(func.func @bad(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{whatever the reference says}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
)";
constexpr char kBadElsewhere[] = R"(func.func @bad(%a: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@-1 {{whatever the reference says}}
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
)";

TEST(ExpectedErrorsTest, CommentsNameLines) {
  using tool::ExpectedErrorLines;
  EXPECT_THAT(ExpectedErrorLines("a\nb\n", 1), IsEmpty());
  EXPECT_THAT(ExpectedErrorLines("// expected-error {{x}}", 7), ElementsAre(7));
  EXPECT_THAT(ExpectedErrorLines("// expected-error@+1 {{x}}", 7), ElementsAre(8));
  EXPECT_THAT(ExpectedErrorLines("// expected-error@+12{{x}}", 7), ElementsAre(19));
  EXPECT_THAT(ExpectedErrorLines("// expected-error @below {{x}}", 7), ElementsAre(8));
  EXPECT_THAT(ExpectedErrorLines("\n// expected-error-re@above {{x}}", 7), ElementsAre(7));
  EXPECT_THAT(ExpectedErrorLines("// expected-error@-2 {{x}}", 7), ElementsAre(5));
  EXPECT_THAT(ExpectedErrorLines("// expected-error@-9 {{x}}", 7), ElementsAre(0));
  EXPECT_THAT(ExpectedErrorLines("expected-error@+1 {{x}} expected-error {{y}}", 1),
              ElementsAre(2, 1));
}

TEST(ExpectedErrorsTest, MessagesNameLines) {
  EXPECT_EQ(tool::LineOfMessage("[PJRT-V001] a/b.mlir:12:3: text", "a/b.mlir"), 12u);
  EXPECT_EQ(tool::LineOfMessage("[PJRT-V001] in @main: text", "a/b.mlir"), 0u);
  EXPECT_EQ(tool::LineOfMessage("a/b.mlir:x", "a/b.mlir"), 0u);
}

class VerifyTest : public ToolTest {};

TEST_F(VerifyTest, EachChunkIsALine) {
  const std::string file = Write("f.mlir", absl::StrCat(kGood, "// -----\n", kBad));
  const ToolResult result = RunTool({"verify", file});
  EXPECT_EQ(result.exit_code, 1) << result;
  EXPECT_THAT(result.out, HasSubstr(absl::StrCat("PASS ", file, "#0\nFAIL ", file, "#1: ")));
  EXPECT_THAT(result.out, HasSubstr("\n1 passed, 1 failed, 0 skipped\n"));
}

TEST_F(VerifyTest, ExpectedErrorsAreFoundOnTheirLine) {
  const std::string file =
      Write("f.mlir", absl::StrCat(kGood, "// -----\n", kBad, "// -----\n", kBadElsewhere));
  const ToolResult result = RunTool({"verify", "--expect-diagnostics", file});
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_EQ(result.out,
            absl::StrCat("PASS ", file, "#0\nPASS ", file, "#1 REJECTED LINE-EXACT\nPASS ", file,
                         "#2 REJECTED\n3 passed, 0 failed, 0 skipped\n"));
}

TEST_F(VerifyTest, AnExpectedErrorThatDoesNotComeIsAFailure) {
  const std::string file = Write("f.mlir", absl::StrCat("// expected-error {{x}}\n", kGood));
  const ToolResult result = RunTool({"verify", "--expect-diagnostics", file});
  EXPECT_EQ(result.exit_code, 1) << result;
  EXPECT_THAT(result.out, HasSubstr(absl::StrCat("FAIL ", file, "#0: accepted")));
  EXPECT_EQ(RunTool({"verify", file}).exit_code, 0) << "without the option it is a comment";
}

TEST_F(VerifyTest, QuietLeavesOutWhatPasses) {
  const std::string file = Write("f.mlir", kGood);
  EXPECT_EQ(RunTool({"verify", "--quiet", file}).out, "1 passed, 0 failed, 0 skipped\n");
}

TEST_F(VerifyTest, AFileThatCannotBeReadDoesNotStopTheOthers) {
  const std::string file = Write("f.mlir", kGood);
  const ToolResult result = RunTool({"verify", Path("missing"), file});
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_THAT(result.err, HasSubstr("missing"));
  EXPECT_THAT(result.out, HasSubstr("1 passed, 0 failed, 0 skipped"));
}

}  // namespace
}  // namespace pjrt::testing
