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
#include "tools/pjrt/case_report.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/expected_errors.h"
#include "tools/pjrt/program_file.h"

namespace pjrt::tool {
namespace {

void VerifyChunk(const VerifyOptions& options, absl::string_view name, const ir::Chunk& chunk,
                 const absl::StatusOr<std::unique_ptr<ir::Module>>& module,
                 const std::string& label, CaseReport* report) {
  const absl::Status status = module.ok() ? ir::VerifyModule(**module) : module.status();
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

}  // namespace

int Verify(const VerifyOptions& options) {
  CaseReport report(options.quiet);
  int unreadable = kOk;
  for (const std::string& path : options.files) {
    const absl::StatusOr<ProgramFile> program = ReadProgram(path);
    if (!program.ok()) {
      unreadable = Report(program.status());
      continue;
    }
    const std::vector<ir::Chunk> chunks = ir::SplitChunks(program->bytes);
    const auto modules = ParseChunks(*program);
    for (size_t i = 0; i < chunks.size(); ++i) {
      VerifyChunk(options, program->name, chunks[i], modules[i], absl::StrCat(path, "#", i),
                  &report);
    }
  }
  const int result = report.Finish();
  return unreadable != kOk ? unreadable : result;
}

}  // namespace pjrt::tool
