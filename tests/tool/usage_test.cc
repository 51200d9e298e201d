// SPDX-License-Identifier: Apache-2.0
//
// Help, versions, bad options: what the command line itself answers.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

using ::testing::HasSubstr;

class UsageTest : public ToolTest {};

TEST_F(UsageTest, HelpNamesEachCommand) {
  const ToolResult result = RunTool({"--help"});
  EXPECT_EQ(result.exit_code, 0) << result;
  for (const char* command : {"run", "check", "verify", "convert", "bench", "info"}) {
    EXPECT_THAT(result.out, HasSubstr(std::string("\n  ") + command + " "));
  }
  EXPECT_THAT(result.out, HasSubstr("Exit status"));
}

TEST_F(UsageTest, EachCommandHasHelp) {
  for (const char* command : {"run", "check", "verify", "convert", "bench", "info"}) {
    const ToolResult result = RunTool({command, "--help"});
    EXPECT_EQ(result.exit_code, 0) << command << result;
    EXPECT_THAT(result.out, HasSubstr("--help")) << command;
    EXPECT_EQ(result.err, "") << command;
  }
}

TEST_F(UsageTest, VersionIsPrinted) {
  const ToolResult result = RunTool({"--version"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("pjrt "));
}

TEST_F(UsageTest, BadUsageIsOneMessageAndExitCodeTwo) {
  const std::string program = Write("add.mlir", kAddProgram);
  const std::vector<std::vector<std::string>> lines = {
      {},
      {"frobnicate"},
      {"run"},
      {"run", program, "--no-such-option"},
      {"run", program, "--threads", "-1"},
      {"run", program, "--threads", "many"},
      {"run", program, "--devices", "0"},
      {"bench"},
      {"bench", "--seconds", "x", "."},
      {"convert", program},
      {"convert", "--to", "prose", program},
      {"check"},
      {"verify"},
      {"info", "extra"},
  };
  for (const std::vector<std::string>& line : lines) {
    const ToolResult result = RunTool(line);
    EXPECT_EQ(result.exit_code, 2) << ::testing::PrintToString(line) << result;
    EXPECT_EQ(result.out, "") << ::testing::PrintToString(line);
    EXPECT_NE(result.err, "") << ::testing::PrintToString(line);
  }
}

TEST_F(UsageTest, AnUnknownCommandIsNamed) {
  const ToolResult result = RunTool({"frobnicate", "--threads", "2"});
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_EQ(result.err, "pjrt: there is no command 'frobnicate'; pjrt --help lists them\n");
}

TEST_F(UsageTest, UnknownPlatformsAndKernelLevelsAreRefused) {
  ToolResult result = RunTool({"info", "--device", "abacus"});
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_THAT(result.err, HasSubstr("'abacus'"));
  result = RunTool({"info", "--isa", "mmx"});
  EXPECT_EQ(result.exit_code, 2) << result;
  EXPECT_THAT(result.err, HasSubstr("mmx"));
}

TEST_F(UsageTest, InfoSaysWhatComputes) {
  const ToolResult result = RunTool({"info", "--threads", "1", "--devices", "2"});
  EXPECT_EQ(result.exit_code, 0) << result;
  for (const char* key : {"pjrt:", "StableHLO read:", "StableHLO written:", "CPU:", "kernel_level:",
                          "threads:", "CpuDevice(id=1)", "plugins:"}) {
    EXPECT_THAT(result.out, HasSubstr(key));
  }
}

TEST_F(UsageTest, TheKernelLevelCanBeForced) {
#if defined(__x86_64__)
  const ToolResult result = RunTool({"info", "--isa", "baseline"});
  EXPECT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(result.out, ::testing::ContainsRegex("kernel_level: +baseline"));
#else
  GTEST_SKIP() << "the name of the level is that of x86-64";
#endif
}

}  // namespace
}  // namespace pjrt::testing
