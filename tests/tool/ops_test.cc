// SPDX-License-Identifier: Apache-2.0
//
// pjrt ops, and that docs/ops.md is what it prints.
#include <cstdlib>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/tool/tool_runner.h"

namespace pjrt::testing {
namespace {

using ::testing::HasSubstr;

class OpsTest : public ToolTest {};

TEST_F(OpsTest, TheDocumentSaysWhatTheDeviceRuns) {
  const char* source = std::getenv("PJRT_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "PJRT_SOURCE_DIR is not set";
  const ToolResult result = RunTool({"ops"});
  ASSERT_EQ(result.exit_code, 0) << result;
  // Lines, so that the difference can be read.
  std::string document = ReadWholeFile(std::string(source) + "/docs/ops.md");
  EXPECT_TRUE(result.out == document)
      << "docs/ops.md is out of date: write it anew with `pjrt ops > docs/ops.md`";
}

TEST_F(OpsTest, ReasonsNameTheOpTheTypeAndTheRule) {
  const ToolResult result = RunTool({"ops", "--reasons"});
  ASSERT_EQ(result.exit_code, 0) << result;
  EXPECT_THAT(result.out, HasSubstr("invalid stablehlo.and f32: [PJRT-V002]"));
  EXPECT_THAT(result.out, HasSubstr("\nrefused stablehlo."));
  EXPECT_THAT(result.out, HasSubstr(": [PJRT-C003] the CPU device cannot compile"));
}

}  // namespace
}  // namespace pjrt::testing
