// SPDX-License-Identifier: Apache-2.0
//
// Every program of the shared corpus parses, and prints to text that parses to an equal program: in
// the pretty and in the generic form, with locations, and after a clone.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/printer.h"
#include "tests/support/shared_dir.h"

namespace pjrt::ir {
namespace {

namespace fs = std::filesystem;

// What went wrong with a program; empty when nothing did.
std::string RoundTrip(const Module& module, const PrintOptions& options) {
  const std::string text = PrintModule(module, options);
  const absl::StatusOr<std::unique_ptr<Module>> again = ParseModule(text);
  if (!again.ok())
    return absl::StrCat("the printed text does not parse: ", again.status().ToString());
  if (!Equal(module, **again))
    return absl::StrCat("the printed text is another program:\n", text.substr(0, 4000));
  // The printer has one spelling for a program.
  if (PrintModule(**again, options) != text) return "printing again gives another text";
  return "";
}

std::string CheckProgram(absl::string_view text, const std::string& name) {
  ParseOptions options;
  options.source_name = name;
  const absl::StatusOr<std::unique_ptr<Module>> module = ParseModule(text, options);
  if (!module.ok()) return module.status().ToString();
  PrintOptions pretty;
  if (std::string wrong = RoundTrip(**module, pretty); !wrong.empty()) return wrong;
  PrintOptions generic;
  generic.generic = true;
  if (std::string wrong = RoundTrip(**module, generic); !wrong.empty())
    return absl::StrCat("generic: ", wrong);
  PrintOptions located;
  located.locations = true;
  if (std::string wrong = RoundTrip(**module, located); !wrong.empty()) {
    return absl::StrCat("with locations: ", wrong);
  }
  const std::unique_ptr<Module> clone = (*module)->Clone();
  if (!Equal(**module, *clone)) return "its clone is another program";
  if (PrintModule(*clone, pretty) != PrintModule(**module, pretty))
    return "its clone prints differently";
  return "";
}

class RoundTripTest : public ::testing::TestWithParam<const char*> {};

TEST_P(RoundTripTest, EveryProgramPrintsToTextThatParsesToTheSameProgram) {
  const std::optional<std::string> shared = pjrt::testing::SharedDir();
  if (!shared) GTEST_SKIP() << "PJRT_SHARED_DIR is not set";
  const fs::path folder = fs::path(*shared) / "corpus" / GetParam();
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".mlir") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  ASSERT_FALSE(files.empty()) << folder;
  int programs = 0;
  for (const fs::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(stream)),
                           std::istreambuf_iterator<char>());
    for (const Chunk& chunk : SplitChunks(text)) {
      // A verifier or the parser must refuse some; those are other tests' business.
      if (absl::StrContains(chunk.text, "expected-error")) continue;
      ++programs;
      const std::string wrong = CheckProgram(chunk.text, file.filename().string());
      EXPECT_EQ(wrong, "") << file << ", the part from line " << chunk.first_line;
    }
  }
  EXPECT_GT(programs, 0);
}

INSTANTIATE_TEST_SUITE_P(Corpus, RoundTripTest,
                         ::testing::Values("interpret", "math", "syntax", "testdata", "vhlo"),
                         [](const ::testing::TestParamInfo<const char*>& param) {
                           return std::string(param.param);
                         });

}  // namespace
}  // namespace pjrt::ir
