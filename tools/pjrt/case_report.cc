// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/case_report.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "tools/pjrt/command.h"

namespace pjrt::tool {
namespace {

void PrintLine(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  // Whoever reads a pipe sees each case when it is done, also when a later one ends the process.
  std::fflush(stdout);
}

absl::string_view FirstLineOf(absl::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

void CaseReport::Pass(absl::string_view name) {
  ++passed_;
  if (!quiet_) PrintLine(absl::StrCat("PASS ", name));
}

void CaseReport::Fail(absl::string_view name, absl::string_view reason) {
  ++failed_;
  PrintLine(absl::StrCat("FAIL ", name, ": ", FirstLineOf(reason)));
}

void CaseReport::Skip(absl::string_view name, absl::string_view reason) {
  ++skipped_;
  if (!quiet_) PrintLine(absl::StrCat("SKIP ", name, ": ", FirstLineOf(reason)));
}

int CaseReport::Finish() const {
  PrintLine(absl::StrCat(passed_, " passed, ", failed_, " failed, ", skipped_, " skipped"));
  return failed_ == 0 ? kOk : kFailed;
}

}  // namespace pjrt::tool
