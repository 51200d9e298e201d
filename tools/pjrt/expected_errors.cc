// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/expected_errors.h"

#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace pjrt::tool {
namespace {

absl::string_view LeadingDigits(absl::string_view text) {
  size_t count = 0;
  while (count < text.size() && absl::ascii_isdigit(text[count])) ++count;
  return text.substr(0, count);
}

// What stands behind "expected-error": "-re", blanks, "@+1", blanks, a count, "{{message}}".
int64_t LineOffset(absl::string_view rest) {
  absl::ConsumePrefix(&rest, "-re");
  rest = absl::StripLeadingAsciiWhitespace(rest);
  if (!absl::ConsumePrefix(&rest, "@")) return 0;
  if (absl::StartsWith(rest, "below")) return 1;
  if (absl::StartsWith(rest, "above")) return -1;
  const bool is_above = absl::StartsWith(rest, "-");
  if (!is_above && !absl::StartsWith(rest, "+")) return 0;
  int64_t offset;
  if (!absl::SimpleAtoi(LeadingDigits(rest.substr(1)), &offset)) return 0;
  return is_above ? -offset : offset;
}

}  // namespace

std::vector<size_t> ExpectedErrorLines(absl::string_view text, size_t first_line) {
  constexpr absl::string_view kMark = "expected-error";
  std::vector<size_t> lines;
  int64_t line = static_cast<int64_t>(first_line);
  for (absl::string_view rest : absl::StrSplit(text, '\n')) {
    for (size_t at; (at = rest.find(kMark)) != absl::string_view::npos;) {
      rest.remove_prefix(at + kMark.size());
      const int64_t named = line + LineOffset(rest);
      lines.push_back(named > 0 ? static_cast<size_t>(named) : 0);
    }
    ++line;
  }
  return lines;
}

size_t LineOfMessage(absl::string_view message, absl::string_view name) {
  const std::string mark = absl::StrCat(name, ":");
  const size_t at = message.find(mark);
  size_t line;
  if (at == absl::string_view::npos ||
      !absl::SimpleAtoi(LeadingDigits(message.substr(at + mark.size())), &line)) {
    return 0;
  }
  return line;
}

}  // namespace pjrt::tool
