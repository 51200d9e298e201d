// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/option_text.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"

namespace pjrt {
namespace {

absl::Status BadValue(absl::string_view value, absl::string_view expected) {
  return InvalidArgument("PJRT-R064", "given ", value, "; expected ", expected);
}

}  // namespace

void OptionWriter::AddLine(absl::string_view name, absl::string_view value) {
  absl::StrAppend(&text_, name, "=", value, "\n");
}

void OptionWriter::AddInt(absl::string_view name, int64_t value, int64_t otherwise) {
  if (value != otherwise) AddLine(name, absl::StrCat(value));
}

void OptionWriter::AddBool(absl::string_view name, bool value, bool otherwise) {
  if (value != otherwise) AddLine(name, value ? "true" : "false");
}

void OptionWriter::AddString(absl::string_view name, absl::string_view value) {
  if (!value.empty()) AddLine(name, QuotedText(value));
}

void OptionWriter::AddInts(absl::string_view name, absl::Span<const int64_t> values) {
  if (!values.empty()) AddLine(name, absl::StrJoin(values, ","));
}

absl::Status ReadOptions(
    absl::string_view text, absl::string_view kind,
    absl::FunctionRef<absl::Status(absl::string_view name, absl::string_view value)> set) {
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (number == 1) {
      if (line != kind) {
        return InvalidArgument("PJRT-R064", "line 1 isn't \"", kind, "\": \"",
                               absl::CEscape(line.substr(0, 80)), "\"");
      }
      continue;
    }
    if (line.empty()) continue;
    const size_t equals = line.find('=');
    if (equals == absl::string_view::npos) {
      return InvalidArgument("PJRT-R064", "line ", number, " has no \"=\"");
    }
    const absl::Status status = set(line.substr(0, equals), line.substr(equals + 1));
    if (!status.ok()) return WithContext(status, absl::StrCat("line ", number));
  }
  return absl::OkStatus();
}

absl::Status ReadInt(absl::string_view value, int64_t* result) {
  return absl::SimpleAtoi(value, result) ? absl::OkStatus() : BadValue(value, "an integer");
}

absl::Status ReadInt(absl::string_view value, int* result) {
  return absl::SimpleAtoi(value, result) ? absl::OkStatus() : BadValue(value, "an integer");
}

absl::Status ReadBool(absl::string_view value, bool* result) {
  *result = value == "true";
  return value == "true" || value == "false" ? absl::OkStatus() : BadValue(value, "true or false");
}

absl::Status ReadString(absl::string_view value, std::string* result) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"' ||
      !absl::CUnescape(value.substr(1, value.size() - 2), result)) {
    return BadValue(value, "a text in quotes");
  }
  return absl::OkStatus();
}

absl::Status ReadInts(absl::string_view value, std::vector<int64_t>* result) {
  result->clear();
  for (const absl::string_view item : absl::StrSplit(value, ',')) {
    PJRT_RETURN_IF_ERROR(ReadInt(item, &result->emplace_back()));
  }
  return absl::OkStatus();
}

std::string QuotedText(absl::string_view text) {
  return absl::StrCat("\"", absl::CHexEscape(text), "\"");
}

std::string OptionValueText(const OptionValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return absl::StrCat("s:", QuotedText(*text));
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "b:true" : "b:false";
  if (const auto* number = std::get_if<int64_t>(&value)) return absl::StrCat("i:", *number);
  return fmt::format("d:{}", std::get<double>(value));
}

absl::StatusOr<OptionValue> ParseOptionValue(absl::string_view text) {
  const absl::string_view rest = text.substr(std::min<size_t>(2, text.size()));
  if (absl::StartsWith(text, "s:")) {
    std::string value;
    PJRT_RETURN_IF_ERROR(ReadString(rest, &value));
    return OptionValue(std::move(value));
  }
  if (absl::StartsWith(text, "b:")) {
    bool value;
    PJRT_RETURN_IF_ERROR(ReadBool(rest, &value));
    return OptionValue(value);
  }
  if (absl::StartsWith(text, "i:")) {
    int64_t value;
    PJRT_RETURN_IF_ERROR(ReadInt(rest, &value));
    return OptionValue(value);
  }
  double value;
  if (absl::StartsWith(text, "d:") && absl::SimpleAtod(rest, &value)) return OptionValue(value);
  return BadValue(text, "s:, b:, i: or d: and a value");
}

}  // namespace pjrt
