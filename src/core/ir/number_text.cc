// SPDX-License-Identifier: Apache-2.0
//
// Numbers, strings and names as text.
#include <cmath>
#include <cstddef>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "fmt/format.h"
#include "src/core/ir/element.h"
#include "src/core/ir/text.h"

namespace pjrt::ir {
namespace {

constexpr char kHexDigits[] = "0123456789ABCDEF";

// A decimal of fmt's with the dot that the syntax demands.
void AppendWithDot(absl::string_view decimal, std::string* out) {
  const size_t exponent = decimal.find('e');
  const absl::string_view digits = decimal.substr(0, exponent);
  absl::StrAppend(out, digits);
  if (digits.find('.') == absl::string_view::npos) out->append(".0");
  if (exponent != absl::string_view::npos) absl::StrAppend(out, decimal.substr(exponent));
}

absl::string_view View(const fmt::memory_buffer& buffer) { return {buffer.data(), buffer.size()}; }

// True when the decimal reads back as the element at `bytes`.
bool ReadsBack(absl::string_view decimal, Type type, const char* bytes, double* value) {
  char again[8];
  if (!absl::SimpleAtod(decimal, value)) return false;
  EncodeFloat(type, *value, again);
  return std::memcmp(again, bytes, ElementByteWidth(type)) == 0;
}

// The shortest decimal of a finite element; false when none reads back.
bool AppendDecimal(Type type, const char* bytes, std::string* out) {
  const double value = DecodeFloat(type, bytes);
  double read;
  fmt::memory_buffer buffer;
  const size_t width = ElementByteWidth(type);
  if (width <= 2) {
    // Few digits are enough: try one more each time.
    for (int digits = 0; digits < 10; ++digits) {
      buffer.clear();
      fmt::format_to(fmt::appender(buffer), "{:.{}e}", value, digits);
      if (!ReadsBack(View(buffer), type, bytes, &read)) continue;
      buffer.clear();
      fmt::format_to(fmt::appender(buffer), "{}", read);
      AppendWithDot(View(buffer), out);
      return true;
    }
    return false;
  }
  if (width == 4) {
    fmt::format_to(fmt::appender(buffer), "{}", static_cast<float>(value));
    if (ReadsBack(View(buffer), type, bytes, &read)) {
      AppendWithDot(View(buffer), out);
      return true;
    }
    buffer.clear();
  }
  fmt::format_to(fmt::appender(buffer), "{}", value);
  if (!ReadsBack(View(buffer), type, bytes, &read)) return false;
  AppendWithDot(View(buffer), out);
  return true;
}

bool IsIdentifier(absl::string_view s) {
  if (s.empty() || !(absl::ascii_isalpha(static_cast<unsigned char>(s[0])) || s[0] == '_'))
    return false;
  for (char c : s) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '$' && c != '.')
      return false;
  }
  return true;
}

}  // namespace

void AppendFloatBits(Type type, const char* bytes, std::string* out) {
  if (std::isfinite(DecodeFloat(type, bytes)) && AppendDecimal(type, bytes, out)) return;
  out->append("0x");
  for (size_t i = ElementByteWidth(type); i-- > 0;) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    out->push_back(kHexDigits[byte >> 4]);
    out->push_back(kHexDigits[byte & 15]);
  }
}

void AppendFloat(Type type, double value, std::string* out) {
  if (IsCodedFloat(type)) {
    char bytes[8];
    EncodeFloat(type, value, bytes);
    AppendFloatBits(type, bytes, out);
    return;
  }
  fmt::memory_buffer buffer;
  fmt::format_to(fmt::appender(buffer), "{}", value);
  AppendWithDot(View(buffer), out);
}

void AppendInt(Type type, int64_t value, std::string* out) {
  if (type.Is(TypeKind::kInteger) && type.signedness() == Signedness::kUnsigned) {
    absl::StrAppend(out, static_cast<uint64_t>(value));
  } else if (type.Is(TypeKind::kInteger) && type.bit_width() == 1 &&
             type.signedness() == Signedness::kSignless) {
    out->append(value != 0 ? "true" : "false");
  } else {
    absl::StrAppend(out, value);
  }
}

void AppendInts(absl::Span<const int64_t> values, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < values.size(); ++i) absl::StrAppend(out, i == 0 ? "" : ", ", values[i]);
  out->push_back(']');
}

void AppendBools(absl::Span<const int64_t> values, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < values.size(); ++i) {
    absl::StrAppend(out, i == 0 ? "" : ", ", values[i] != 0 ? "true" : "false");
  }
  out->push_back(']');
}

void AppendQuoted(absl::string_view bytes, std::string* out) {
  out->push_back('"');
  for (char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      out->append("\\\\");
    } else if (c == '"' || !absl::ascii_isprint(byte)) {
      out->push_back('\\');
      out->push_back(kHexDigits[byte >> 4]);
      out->push_back(kHexDigits[byte & 15]);
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void AppendKey(absl::string_view name, std::string* out) {
  if (IsIdentifier(name)) {
    absl::StrAppend(out, name);
  } else {
    AppendQuoted(name, out);
  }
}

void AppendSymbol(absl::string_view name, std::string* out) {
  while (true) {
    const size_t end = name.find("::@");
    out->push_back('@');
    AppendKey(name.substr(0, end), out);
    if (end == absl::string_view::npos) return;
    out->append("::");
    name.remove_prefix(end + 3);
  }
}

}  // namespace pjrt::ir
