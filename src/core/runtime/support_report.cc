// SPDX-License-Identifier: Apache-2.0
#include "pjrt/support_report.h"

#include "absl/strings/str_cat.h"

namespace pjrt {
namespace {

const char* VerdictName(Support verdict) {
  switch (verdict) {
    case Support::kYes:
      return "yes";
    case Support::kMaybe:
      return "maybe";
    case Support::kNo:
      return "no";
  }
  return "unknown";
}

}  // namespace

std::string SupportReport::ToString() const {
  std::string text = VerdictName(verdict);
  for (const SupportReason& r : reasons) {
    absl::StrAppend(&text, "\n  ", VerdictName(r.verdict), ": ");
    if (!r.location.empty()) absl::StrAppend(&text, r.location, ": ");
    if (!r.op.empty()) absl::StrAppend(&text, r.op, " ");
    if (!r.types.empty()) absl::StrAppend(&text, r.types, " ");
    absl::StrAppend(&text, r.reason);
  }
  return text;
}

}  // namespace pjrt
