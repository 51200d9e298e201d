// SPDX-License-Identifier: Apache-2.0
//
// Programs of others: each one parses unless a comment in it says that it must not, prints, and
// parses again to the same module.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "pjrt/ir/printer.h"
#include "tests/ir/parser_test_util.h"
#include "tests/support/shared_dir.h"

namespace pjrt::ir {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> ProgramsIn(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (auto it = fs::recursive_directory_iterator(folder, error);
       !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (it->path().extension() == ".mlir") files.push_back(it->path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void CheckFolder(absl::string_view name) {
  const std::optional<std::string> shared = testing::SharedDir();
  if (!shared) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  const std::vector<fs::path> files = ProgramsIn(fs::path(*shared) / std::string(name));
  EXPECT_FALSE(files.empty());
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)),
                           std::istreambuf_iterator<char>());
    for (const Chunk& chunk : SplitChunks(text)) {
      ParseOptions options;
      options.source_name = absl::StrCat(file.string(), " from line ", chunk.first_line);
      const auto module = ParseModule(chunk.text, options);
      if (!module.ok()) {
        EXPECT_TRUE(absl::StrContains(chunk.text, "expected-error")) << module.status().message();
        continue;
      }
      for (const bool generic : {false, true}) {
        PrintOptions print;
        print.generic = generic;
        print.locations = true;
        const auto again = ParseModule(PrintModule(**module, print), options);
        ASSERT_TRUE(again.ok()) << again.status().message();
        EXPECT_TRUE(Equal(**module, **again)) << options.source_name;
      }
    }
  }
}

TEST(ParserCorpusTest, SyntaxPrograms) { CheckFolder("corpus/syntax"); }
TEST(ParserCorpusTest, InterpreterPrograms) { CheckFolder("corpus/interpret"); }
TEST(ParserCorpusTest, MathPrograms) { CheckFolder("corpus/math"); }
TEST(ParserCorpusTest, JaxTestPrograms) { CheckFolder("corpus/testdata"); }
TEST(ParserCorpusTest, TextsOfPortableArtifacts) { CheckFolder("corpus/vhlo"); }
TEST(ParserCorpusTest, Workloads) { CheckFolder("workloads"); }

}  // namespace
}  // namespace pjrt::ir
