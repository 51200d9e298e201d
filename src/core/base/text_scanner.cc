// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/text_scanner.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "src/core/base/error.h"

namespace pjrt {

void TextScanner::SkipBlanks() {
  while (position_ < text_.size()) {
    if (absl::ascii_isspace(static_cast<unsigned char>(text_[position_]))) {
      ++position_;
    } else if (absl::StartsWith(text_.substr(position_), "/*")) {
      const size_t end = text_.find("*/", position_ + 2);
      if (end == absl::string_view::npos) return;
      position_ = end + 2;
    } else {
      return;
    }
  }
}

bool TextScanner::Consume(char c) {
  SkipBlanks();
  if (position_ >= text_.size() || text_[position_] != c) return false;
  ++position_;
  return true;
}

bool TextScanner::Consume(absl::string_view token) {
  SkipBlanks();
  if (!absl::StartsWith(text_.substr(position_), token)) return false;
  position_ += token.size();
  return true;
}

char TextScanner::Peek() {
  SkipBlanks();
  return position_ < text_.size() ? text_[position_] : '\0';
}

bool TextScanner::AtEnd() {
  SkipBlanks();
  return position_ >= text_.size();
}

absl::string_view TextScanner::ConsumeWord() {
  SkipBlanks();
  const size_t start = position_;
  while (position_ < text_.size() &&
         (absl::ascii_isalnum(static_cast<unsigned char>(text_[position_])) ||
          text_[position_] == '_')) {
    ++position_;
  }
  return text_.substr(start, position_ - start);
}

std::optional<int64_t> TextScanner::ConsumeInteger() {
  SkipBlanks();
  size_t end = position_;
  if (end < text_.size() && text_[end] == '-') ++end;
  while (end < text_.size() && absl::ascii_isdigit(static_cast<unsigned char>(text_[end]))) ++end;
  int64_t value = 0;
  if (!absl::SimpleAtoi(text_.substr(position_, end - position_), &value)) return std::nullopt;
  position_ = end;
  return value;
}

std::optional<absl::string_view> TextScanner::ConsumeQuoted() {
  const char quote = Peek();
  if (quote != '\'' && quote != '"') return std::nullopt;
  const size_t end = text_.find(quote, position_ + 1);
  if (end == absl::string_view::npos) return std::nullopt;
  const absl::string_view inside = text_.substr(position_ + 1, end - position_ - 1);
  if (inside.find('\\') != absl::string_view::npos) return std::nullopt;
  position_ = end + 1;
  return inside;
}

absl::Status TextScanner::Error(absl::string_view id, absl::string_view what,
                                absl::string_view expected) {
  constexpr size_t kLongest = 120;
  SkipBlanks();
  std::string found = "the end";
  if (position_ < text_.size()) {
    found = absl::StrCat("\"", absl::CHexEscape(text_.substr(position_, 1)), "\"");
  }
  return InvalidArgument(id, what, " \"", absl::CHexEscape(text_.substr(0, kLongest)),
                         text_.size() > kLongest ? "..." : "", "\", character ", position_ + 1,
                         ": expected ", expected, ", found ", found);
}

}  // namespace pjrt
