// SPDX-License-Identifier: Apache-2.0
//
// The reference's own printer tests say, in CHECK comments, how each op is to be printed. Ours
// prints the same lines.
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/printer.h"
#include "tests/support/shared_dir.h"

namespace pjrt::ir {
namespace {

// The op that a CHECK comment expects, without the names of its results; empty for comments with
// patterns, with names of results (%c, %cst) that MLIR makes up, and with locations.
std::string ExpectedOp(absl::string_view line) {
  line = absl::StripAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "//")) return "";
  line = absl::StripLeadingAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&line, "CHECK:") && !absl::ConsumePrefix(&line, "CHECK-NEXT:"))
    return "";
  line = absl::StripAsciiWhitespace(line);
  absl::ConsumePrefix(&line, "{{%.*}}");
  const size_t equals = line.find(" = stablehlo.");
  if (equals != absl::string_view::npos) line.remove_prefix(equals + 3);
  if (!absl::StartsWith(line, "stablehlo.") || !absl::StrContains(line, " : ")) return "";
  for (absl::string_view pattern : {"[[", "{{", "loc(", "%c", "0e+00"}) {
    if (absl::StrContains(line, pattern)) return "";
  }
  return std::string(line);
}

TEST(PrintFormsTest, OpsPrintAsTheReferencesTestsExpect) {
  const std::optional<std::string> shared = pjrt::testing::SharedDir();
  if (!shared) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  const std::string path = *shared + "/corpus/syntax/print_stablehlo.mlir";
  std::ifstream stream(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(stream)),
                         std::istreambuf_iterator<char>());
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  const std::string printed = PrintModule(**module);
  int ops = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::string op = ExpectedOp(line);
    if (op.empty()) continue;
    ++ops;
    EXPECT_TRUE(absl::StrContains(printed, op + "\n")) << op;
  }
  EXPECT_GE(ops, 80);
}

}  // namespace
}  // namespace pjrt::ir
