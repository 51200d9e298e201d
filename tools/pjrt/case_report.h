// SPDX-License-Identifier: Apache-2.0
//
// The output of commands that test many cases: a line a case, and a last one with the counts.
#ifndef PJRT_TOOLS_PJRT_CASE_REPORT_H_
#define PJRT_TOOLS_PJRT_CASE_REPORT_H_

#include <string>

#include "absl/strings/string_view.h"

namespace pjrt::tool {

//   PASS case
//   FAIL case: reason
//   SKIP case: reason
//   1 passed, 1 failed, 1 skipped
class CaseReport {
 public:
  // With `quiet`, only failures and the last line are printed.
  explicit CaseReport(bool quiet) : quiet_(quiet) {}

  void Pass(absl::string_view name);
  // Of a reason, the first line is printed.
  void Fail(absl::string_view name, absl::string_view reason);
  void Skip(absl::string_view name, absl::string_view reason);

  // Prints the last line. kFailed when a case failed, else kOk.
  int Finish() const;

 private:
  bool quiet_;
  int passed_ = 0, failed_ = 0, skipped_ = 0;
};

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_CASE_REPORT_H_
