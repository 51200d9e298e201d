// SPDX-License-Identifier: Apache-2.0
//
// pjrt verify: parses and verifies programs.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/verifier.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/case_report.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/expected_errors.h"
#include "tools/pjrt/program_file.h"

namespace pjrt::tool {
namespace {

struct VerifyOptions {
  std::vector<std::string> files;
  bool expect_diagnostics = false;
  bool quiet = false;
};

absl::Status ParseAndVerify(absl::string_view name, const ir::Chunk& chunk) {
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<ir::Module> module,
                        ParseProgram(name, chunk.text, chunk.first_line));
  return ir::VerifyModule(*module);
}

void VerifyChunk(const VerifyOptions& options, absl::string_view name, const ir::Chunk& chunk,
                 const std::string& label, CaseReport* report) {
  const absl::Status status = ParseAndVerify(name, chunk);
  if (status.code() == absl::StatusCode::kUnimplemented) {
    report->Skip(label, status.message());
    return;
  }
  std::vector<size_t> expected;
  if (options.expect_diagnostics) expected = ExpectedErrorLines(chunk.text, chunk.first_line);
  if (expected.empty()) {
    status.ok() ? report->Pass(label) : report->Fail(label, status.message());
  } else if (status.ok()) {
    report->Fail(label, absl::StrCat("accepted; an error is expected on line ", expected[0]));
  } else {
    const size_t line = LineOfMessage(status.message(), name);
    const bool exact = std::find(expected.begin(), expected.end(), line) != expected.end();
    report->Pass(absl::StrCat(label, " REJECTED", exact ? " LINE-EXACT" : ""));
  }
}

int Verify(const VerifyOptions& options) {
  CaseReport report(options.quiet);
  int unreadable = kOk;
  for (const std::string& path : options.files) {
    const absl::StatusOr<ProgramFile> program = ReadProgram(path);
    if (!program.ok()) {
      unreadable = Report(program.status());
      continue;
    }
    int index = 0;
    for (const ir::Chunk& chunk : ir::SplitChunks(program->bytes)) {
      VerifyChunk(options, program->name, chunk, absl::StrCat(path, "#", index++), &report);
    }
  }
  const int result = report.Finish();
  return unreadable != kOk ? unreadable : result;
}

}  // namespace

void AddVerifyCommand(CLI::App* app, Action* action) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = app->add_subcommand("verify", "Parse and verify programs");
  command->add_option("files", options->files, "PROGRAM...; chunks between `// -----` lines count")
      ->required()
      ->type_name("FILE");
  command->add_flag("--expect-diagnostics", options->expect_diagnostics,
                    "Chunks with expected-error comments must be rejected, the others accepted");
  command->add_flag("--quiet", options->quiet, "Print only failures and the last line");
  command->callback([options, action] { *action = [options] { return Verify(*options); }; });
}

}  // namespace pjrt::tool
