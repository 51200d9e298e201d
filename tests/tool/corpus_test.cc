// SPDX-License-Identifier: Apache-2.0
//
// The programs of the StableHLO project that test themselves, and its verifier's tests.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "tests/support/shared_dir.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

// Files whose expected values the reference interpreter misses as well, and which its own tests
// leave out: a product of 8 complex numbers, transforms of lengths up to 17 to 3 ULP, a sine of a
// huge argument, the order of NaNs of either sign.
const char* const kMissedByTheReference[] = {
    "cumprod_complex64_8_9.mlir", "fft_complex128_14_15_",    "fft_complex64_14_15_",
    "fft_float32_14_15_",         "fft_float64_14_15_",       "sin_complex64_20_20.mlir",
    "sort_float32_5.mlir",        "top_k_float32_5_chlo.mlir"};

class CorpusTest : public ToolTest {
 protected:
  void SetUp() override {
    ToolTest::SetUp();
    if (!SharedDir().has_value()) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  }

  // Runs the command on each .mlir file of the folder and returns its lines.
  std::vector<std::string> RunOnFolder(std::vector<std::string> args, const std::string& folder) {
    const size_t first = args.size();
    const std::string path = *SharedDir() + "/corpus/" + folder;
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      if (entry.path().extension() == ".mlir") args.push_back(entry.path().string());
    }
    std::sort(args.begin() + static_cast<std::ptrdiff_t>(first), args.end());
    const ToolResult result = RunTool(args);
    EXPECT_LE(result.exit_code, 1) << result.err;
    // What interpreter.print prints goes there, too.
    EXPECT_FALSE(absl::StrContains(result.err, "pjrt: ")) << result.err;
    return absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  }

  // No program fails but those above; at least `passed` pass.
  void ExpectNoFailures(const std::string& folder, size_t passed) {
    size_t count = 0;
    for (const std::string& line : RunOnFolder({"check"}, folder)) {
      if (absl::StartsWith(line, "PASS ")) ++count;
      if (!absl::StartsWith(line, "FAIL ")) continue;
      const bool is_known =
          std::any_of(std::begin(kMissedByTheReference), std::end(kMissedByTheReference),
                      [&](const char* name) { return absl::StrContains(line, name); });
      EXPECT_TRUE(is_known) << line;
    }
    EXPECT_GE(count, passed) << folder;
  }
};

TEST_F(CorpusTest, OpsOfTheInterpreter) { ExpectNoFailures("interpret", 400); }
TEST_F(CorpusTest, OpsOfChlo) { ExpectNoFailures("interpret/chlo", 0); }
TEST_F(CorpusTest, MathematicalFunctions) { ExpectNoFailures("math", 6); }
TEST_F(CorpusTest, ProgramsOfJax) { ExpectNoFailures("testdata", 840); }
TEST_F(CorpusTest, QuantizedPrograms) { ExpectNoFailures("testdata/quantized", 104); }

TEST_F(CorpusTest, NineOfTenRejectionsAreOnTheExactLine) {
  size_t rejected = 0, exact = 0;
  for (const std::string& line : RunOnFolder({"verify", "--expect-diagnostics"}, "syntax")) {
    if (!absl::StrContains(line, " REJECTED")) continue;
    ++rejected;
    if (absl::EndsWith(line, " LINE-EXACT")) ++exact;
  }
  EXPECT_GE(rejected, 500u);
  EXPECT_GE(exact * 10, rejected * 9) << exact << " of " << rejected;
}

}  // namespace
}  // namespace pjrt::testing
