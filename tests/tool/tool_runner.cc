// SPDX-License-Identifier: Apache-2.0
#include "tests/tool/tool_runner.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/shared_dir.h"

namespace pjrt::testing {

const char kAddProgram[] = R"(
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %b : tensor<4xf32>
  return %0 : tensor<4xf32>
}
)";

namespace {

std::string MakeTemporaryFolder() {
  std::string pattern = ::testing::TempDir() + "pjrt_tool_XXXXXX";
  return mkdtemp(pattern.data()) != nullptr ? pattern : std::string();
}

}  // namespace

std::ostream& operator<<(std::ostream& os, const ToolResult& result) {
  return os << "exit code " << result.exit_code << "\nstdout: " << result.out
            << "\nstderr: " << result.err;
}

std::string ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

ToolResult RunTool(const std::vector<std::string>& args, const std::string& standard_input) {
  const std::string folder = MakeTemporaryFolder();
  const std::string in = folder + "/in", out = folder + "/out", err = folder + "/err";
  std::ofstream(in, std::ios::binary) << standard_input;
  const std::string tool = ToolPath().value_or("");
  std::vector<char*> argv = {const_cast<char*>("pjrt")};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);

  const pid_t child = fork();
  if (child == 0) {
    const int files[] = {open(in.c_str(), O_RDONLY),
                         open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600),
                         open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600)};
    for (int i = 0; i < 3; ++i) dup2(files[i], i);
    execv(tool.c_str(), argv.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ToolResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  result.out = ReadWholeFile(out);
  result.err = ReadWholeFile(err);
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  return result;
}

void ToolTest::SetUp() {
  if (!ToolPath().has_value()) GTEST_SKIP() << "PJRT_TOOL is not set";
  folder_ = MakeTemporaryFolder();
  ASSERT_FALSE(folder_.empty());
}

void ToolTest::TearDown() {
  std::error_code error;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
}

std::string ToolTest::Write(const std::string& name, const std::string& bytes) {
  const std::string path = Path(name);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace pjrt::testing
