// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/custom_calls/json_config.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace pjrt::cpu {
namespace {

using custom_call::Attribute;
using custom_call::Dict;

// Objects in lists in objects; more is refused.
constexpr int kDeepestJson = 100;

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code >> 6));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | code >> 12));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xF0 | code >> 18));
    out->push_back(static_cast<char>(0x80 | (code >> 12 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

class JsonReader {
 public:
  explicit JsonReader(absl::string_view text) : rest_(text) {}

  bool ReadDocument(Dict* dict) {
    return Take("{") && ReadObject(dict, 0) && (SkipBlanks(), rest_.empty());
  }

 private:
  void SkipBlanks() { rest_ = absl::StripLeadingAsciiWhitespace(rest_); }
  bool Take(absl::string_view token) {
    SkipBlanks();
    return absl::ConsumePrefix(&rest_, token);
  }

  // Behind the brace.
  bool ReadObject(Dict* dict, int depth) {
    if (Take("}")) return true;
    do {
      std::string name;
      if (!Take("\"") || !ReadString(&name) || !Take(":")) return false;
      if (Take("null")) continue;
      Attribute value;
      if (!ReadValue(&value, depth + 1)) return false;
      dict->Set(name, std::move(value));
    } while (Take(","));
    return Take("}");
  }

  // Behind the bracket.
  bool ReadList(Attribute* out, int depth) {
    std::vector<Attribute> any;
    std::vector<int64_t> ints;
    std::vector<double> floats;
    if (!Take("]")) {
      do {
        if (!ReadValue(&any.emplace_back(), depth + 1)) return false;
        if (const int64_t* number = any.back().As<int64_t>()) ints.push_back(*number);
        if (const double* number = any.back().As<double>()) floats.push_back(*number);
      } while (Take(","));
      if (!Take("]")) return false;
    }
    if (!any.empty() && ints.size() == any.size()) {
      *out = Attribute(std::move(ints));
    } else if (!any.empty() && floats.size() == any.size()) {
      *out = Attribute(std::move(floats));
    } else {
      *out = Attribute(std::move(any));
    }
    return true;
  }

  bool ReadValue(Attribute* out, int depth) {
    if (depth > kDeepestJson) return false;
    if (Take("{")) {
      Dict dict;
      if (!ReadObject(&dict, depth)) return false;
      *out = Attribute(std::move(dict));
      return true;
    }
    if (Take("[")) return ReadList(out, depth);
    if (Take("\"")) {
      std::string text;
      if (!ReadString(&text)) return false;
      *out = Attribute(std::move(text));
      return true;
    }
    if (Take("true")) return *out = Attribute(true), true;
    if (Take("false")) return *out = Attribute(false), true;
    return ReadNumber(out);
  }

  bool ReadNumber(Attribute* out) {
    SkipBlanks();
    size_t length = 0;
    bool is_integer = true;
    for (; length < rest_.size(); ++length) {
      const char c = rest_[length];
      if (absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c == '-' && length == 0)) continue;
      if (c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-') break;
      is_integer = false;
    }
    const absl::string_view text = rest_.substr(0, length);
    rest_.remove_prefix(length);
    int64_t integer;
    if (is_integer && absl::SimpleAtoi(text, &integer)) return *out = Attribute(integer), true;
    double real;
    if (text.empty() || !absl::SimpleAtod(text, &real)) return false;
    *out = Attribute(real);
    return true;
  }

  bool ReadHex(uint32_t* code) {
    if (rest_.size() < 4) return false;
    *code = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = absl::ascii_tolower(static_cast<unsigned char>(rest_[static_cast<size_t>(i)]));
      if (!absl::ascii_isxdigit(static_cast<unsigned char>(c))) return false;
      *code = *code * 16 + static_cast<uint32_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    rest_.remove_prefix(4);
    return true;
  }

  // Behind the quote.
  bool ReadString(std::string* out) {
    while (!rest_.empty()) {
      const char c = rest_[0];
      rest_.remove_prefix(1);
      if (c == '"') return true;
      if (c != '\\') {
        out->push_back(c);
        continue;
      }
      if (rest_.empty()) return false;
      const char escape = rest_[0];
      rest_.remove_prefix(1);
      static constexpr absl::string_view kNames = "\"\\/bfnrt", kValues = "\"\\/\b\f\n\r\t";
      if (const size_t at = kNames.find(escape); at != absl::string_view::npos) {
        out->push_back(kValues[at]);
        continue;
      }
      uint32_t code, low;
      if (escape != 'u' || !ReadHex(&code)) return false;
      if (code >= 0xD800 && code < 0xDC00) {
        if (!absl::ConsumePrefix(&rest_, "\\u") || !ReadHex(&low) || low < 0xDC00 || low > 0xDFFF)
          return false;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      }
      AppendUtf8(code, out);
    }
    return false;
  }

  absl::string_view rest_;
};

}  // namespace

std::optional<Dict> ParseJsonConfig(absl::string_view text) {
  Dict dict;
  if (!JsonReader(text).ReadDocument(&dict)) return std::nullopt;
  return dict;
}

}  // namespace pjrt::cpu
