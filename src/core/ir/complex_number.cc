// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/complex_number.h"

#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {
namespace {

bool ReadSigned(absl::string_view text, double* value) {
  text = absl::StripAsciiWhitespace(text);
  const bool negative = absl::ConsumePrefix(&text, "-");
  if (text.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(text[0])) ||
      !ReadDouble(text.data(), text.data() + text.size(), value)) {
    return false;
  }
  if (negative) *value = -*value;
  return true;
}

}  // namespace

std::optional<ComplexNumber> ReadComplexNumber(Attribute attr) {
  if (!attr.Is(AttrKind::kOpaque)) return std::nullopt;
  absl::string_view text = attr.text();
  if (!absl::ConsumePrefix(&text, "#complex.number<:") || !absl::ConsumeSuffix(&text, ">"))
    return std::nullopt;
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(absl::StripAsciiWhitespace(text), absl::MaxSplits(' ', 1));
  const std::vector<absl::string_view> numbers = absl::StrSplit(parts.second, ',');
  ComplexNumber number;
  number.part_type = parts.first;
  if (numbers.size() != 2 || !ReadSigned(numbers[0], &number.real) ||
      !ReadSigned(numbers[1], &number.imaginary)) {
    return std::nullopt;
  }
  return number;
}

}  // namespace pjrt::ir
