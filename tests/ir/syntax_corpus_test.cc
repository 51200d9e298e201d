// SPDX-License-Identifier: Apache-2.0
//
// The verifier tests of StableHLO: each `// -----` chunk with an `expected-error` comment must be
// refused, on the line that the comment names, and each other chunk accepted.
#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/verifier.h"
#include "tests/support/shared_dir.h"

namespace pjrt::ir {
namespace {

constexpr const char* kFiles[] = {"ops_chlo",
                                  "ops_stablehlo",
                                  "ops_stablehlo_roundtrip",
                                  "print_reduce",
                                  "print_stablehlo",
                                  "print_while",
                                  "verify_bounds",
                                  "verify_convolution",
                                  "verify_reduce",
                                  "verify_select_and_scatter",
                                  "verify_while"};

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The lines, counted from 1, that the `expected-error` comments of a chunk name: `@+1`, `@-1`,
// `@below`, `@above` or the comment's own.
std::vector<size_t> ExpectedLines(absl::string_view chunk) {
  std::vector<size_t> out;
  size_t line = 0;
  for (absl::string_view text : absl::StrSplit(chunk, '\n')) {
    ++line;
    const size_t at = text.find("expected-error");
    if (at == absl::string_view::npos) continue;
    absl::string_view rest = text.substr(at + 14);
    while (!rest.empty() && rest[0] != '{' && rest[0] != '@') rest.remove_prefix(1);
    while (!rest.empty() && rest[0] == '@') rest.remove_prefix(1);
    int offset = 0;
    if (absl::StartsWith(rest, "below")) {
      offset = 1;
    } else if (absl::StartsWith(rest, "above")) {
      offset = -1;
    } else if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
      size_t digits = 1;
      while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') ++digits;
      EXPECT_TRUE(absl::SimpleAtoi(
          rest.substr(rest[0] == '+' ? 1 : 0, digits - (rest[0] == '+' ? 1 : 0)), &offset));
    }
    out.push_back(static_cast<size_t>(static_cast<int>(line) + offset));
  }
  return out;
}

absl::Status ParseAndVerify(absl::string_view text) {
  ParseOptions options;
  options.source_name = "chunk";
  absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text, options);
  if (!module.ok()) return module.status();
  return VerifyModule(**module);
}

// The line in "chunk:12:3"; 0 when there is none.
size_t ErrorLine(const absl::Status& status) {
  const absl::string_view message = status.message();
  const size_t at = message.find("chunk:");
  if (at == absl::string_view::npos) return 0;
  size_t line = 0;
  for (size_t i = at + 6; i < message.size() && message[i] >= '0' && message[i] <= '9'; ++i) {
    line = line * 10 + static_cast<size_t>(message[i] - '0');
  }
  return line;
}

TEST(SyntaxCorpusTest, ChunksAreAcceptedAndRefusedAsTheirCommentsSay) {
  const std::optional<std::string> shared = testing::SharedDir();
  if (!shared) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  size_t refused = 0, exact = 0;
  for (const char* name : kFiles) {
    const std::string text = Read(absl::StrCat(*shared, "/corpus/syntax/", name, ".mlir"));
    ASSERT_FALSE(text.empty()) << name;
    for (const Chunk& chunk : SplitChunks(text)) {
      const std::vector<size_t> expected = ExpectedLines(chunk.text);
      const absl::Status status = ParseAndVerify(chunk.text);
      const std::string where = absl::StrCat(name, ".mlir, chunk at line ", chunk.first_line);
      if (expected.empty()) {
        EXPECT_TRUE(status.ok()) << where << ": " << status;
        continue;
      }
      EXPECT_FALSE(status.ok()) << where << " has an error at its line " << expected[0];
      if (status.ok()) continue;
      ++refused;
      const size_t line = ErrorLine(status);
      if (std::find(expected.begin(), expected.end(), line) != expected.end()) {
        ++exact;
      } else if (::testing::FLAGS_gtest_print_time) {
        std::printf("not on the line: %s: line %zu, expected %zu: %s\n", where.c_str(), line,
                    expected[0], std::string(status.message()).c_str());
      }
    }
  }
  RecordProperty("refused", static_cast<int>(refused));
  RecordProperty("exact", static_cast<int>(exact));
  EXPECT_GE(refused, 540u);
  EXPECT_GT(exact * 100, refused * 99) << exact << " of " << refused << " on the exact line";
}

}  // namespace
}  // namespace pjrt::ir
