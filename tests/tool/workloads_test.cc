// SPDX-License-Identifier: Apache-2.0
//
// Programs made with JAX, measured by the tool: their outputs must be right.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/shared_dir.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

class WorkloadsTest : public ToolTest, public ::testing::WithParamInterface<const char*> {};

TEST_P(WorkloadsTest, OutputsAreRight) {
  const std::optional<std::string> shared = SharedDir();
  if (!shared.has_value()) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  const std::string folder = *shared + "/workloads/" + GetParam();
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " does not exist";
  const ToolResult result = RunTool({"bench", "--seconds", "0", folder});
  EXPECT_EQ(result.exit_code, 0) << result;
  const auto line = nlohmann::json::parse(result.out, nullptr, /*allow_exceptions=*/false);
  ASSERT_TRUE(line.is_object()) << result;
  EXPECT_EQ(line["name"], GetParam());
  EXPECT_EQ(line["ok"], true) << result;
}

INSTANTIATE_TEST_SUITE_P(All, WorkloadsTest,
                         ::testing::Values("axpy_1", "axpy_1k", "axpy_64k", "axpy_1m", "axpy_16m",
                                           "tiny_scalar_add", "tiny_matmul_8", "tiny_mlp_32_64_10",
                                           "mlp_forward_784_512_512_10_b128", "gelu_1m",
                                           "gelu_erf_1m", "chain30_1m", "transcendental_chain_256k",
                                           "c64_chain_64k", "f16_chain_256k", "f64_chain_256x512",
                                           "matmul_256", "matmul_512", "matmul_1024",
                                           "matmul_nt_384x256x512", "matmul_tn_384x256x512",
                                           "matmul_skinny_32x1024_1024x1024",
                                           "matmul_batched_16x128", "matvec_1x1024_1024x4096"),
                         [](const ::testing::TestParamInfo<const char*>& workload) {
                           return std::string(workload.param);
                         });

// Programs that the device can't run yet are refused when they are compiled. Nothing is run
// wrongly.
TEST_F(ToolTest, EachWorkloadIsRightOrRefused) {
  const std::optional<std::string> shared = SharedDir();
  if (!shared.has_value()) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  std::vector<std::string> args = {"bench", "--seconds", "0", "--devices", "2"};
  for (const auto& entry : std::filesystem::directory_iterator(*shared + "/workloads")) {
    if (entry.is_directory()) args.push_back(entry.path().string());
  }
  const ToolResult result = RunTool(args);
  EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 3) << result.exit_code << result.err;
  size_t lines = 0;
  for (absl::string_view text : absl::StrSplit(result.out, '\n', absl::SkipEmpty())) {
    ++lines;
    const auto line =
        nlohmann::json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(line.is_object()) << text;
    if (line["ok"] == true) continue;
    EXPECT_EQ(line.value("error", "").substr(0, 7), "[PJRT-C") << text;
  }
  EXPECT_EQ(lines + 5, args.size());
}

}  // namespace
}  // namespace pjrt::testing
