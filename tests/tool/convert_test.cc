// SPDX-License-Identifier: Apache-2.0
//
// pjrt convert --to text.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "pjrt/ir/parser.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

using ::testing::HasSubstr;

class ConvertTest : public ToolTest {};

TEST_F(ConvertTest, TextReadsBackAsTheSameProgram) {
  const ToolResult result = RunTool({"convert", "--to", "text", "-"}, kAddProgram);
  EXPECT_EQ(result.exit_code, 0) << result;
  const auto before = ir::ParseModule(kAddProgram);
  const auto after = ir::ParseModule(result.out);
  ASSERT_TRUE(before.ok() && after.ok()) << result;
  EXPECT_TRUE(ir::Equal(**before, **after)) << result;
}

TEST_F(ConvertTest, TextOfTextIsTheSameText) {
  const std::string once = RunTool({"convert", "--to", "text", "-"}, kAddProgram).out;
  EXPECT_EQ(RunTool({"convert", "--to", "text", "-"}, once).out, once);
}

TEST_F(ConvertTest, OutputGoesToAFile) {
  const std::string program = Write("in.mlir", kAddProgram);
  const ToolResult result = RunTool({"convert", "--to", "text", program, "-o", Path("out.mlir")});
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(ReadWholeFile(Path("out.mlir")), RunTool({"convert", "--to", "text", program}).out);
}

TEST_F(ConvertTest, ChunksStayChunks) {
  const std::string text = std::string(kAddProgram) + "\n// -----\n" + kAddProgram;
  const ToolResult result = RunTool({"convert", "--to", "text", "-"}, text);
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(result.out, HasSubstr("\n// -----\n"));
  EXPECT_EQ(ir::SplitChunks(result.out).size(), 2u);
}

TEST_F(ConvertTest, AnErrorInALaterChunkHasTheLineOfTheFile) {
  const ToolResult result = RunTool({"convert", "--to", "text", "-"},
                                    std::string("module {}\n// -----\n\nfunc.func @f("));
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_THAT(result.err, HasSubstr("<stdin>:4:"));
}

}  // namespace
}  // namespace pjrt::testing
