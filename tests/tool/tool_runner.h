// SPDX-License-Identifier: Apache-2.0
//
// Runs the pjrt command as a shell would, and makes files for it.
#ifndef PJRT_TESTS_TOOL_TOOL_RUNNER_H_
#define PJRT_TESTS_TOOL_TOOL_RUNNER_H_

#include <ostream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace pjrt::testing {

struct ToolResult {
  int exit_code = -1;  // 1000 + the signal's number when a signal ended it
  std::string out;
  std::string err;
};
std::ostream& operator<<(std::ostream& os, const ToolResult& result);

// Runs `pjrt ARGS...` and waits for its end.
ToolResult RunTool(const std::vector<std::string>& args, const std::string& standard_input = "");

// A test with a folder of its own, which is removed afterwards. Skipped where there is no tool.
class ToolTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  // Writes a file into the folder and returns its path. Folders in `name` are made.
  std::string Write(const std::string& name, const std::string& bytes);
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

std::string ReadWholeFile(const std::string& path);

// %0 + %1 of four floats.
extern const char kAddProgram[];

}  // namespace pjrt::testing

#endif  // PJRT_TESTS_TOOL_TOOL_RUNNER_H_
