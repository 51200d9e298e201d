// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/lexer.h"

#include <array>
#include <cstring>

namespace pjrt::ir {
namespace {

// What a character may be part of, as bits.
constexpr uint8_t kBlank = 1;
constexpr uint8_t kDigit = 2;
constexpr uint8_t kBareStart = 4;  // [A-Za-z_]
constexpr uint8_t kBare = 8;       // [A-Za-z0-9_$.]
constexpr uint8_t kSuffix = 16;    // [A-Za-z0-9_$.-]

constexpr std::array<uint8_t, 256> MakeCharTable() {
  std::array<uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) {
    uint8_t bits = 0;
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') bits |= kBlank;
    if (digit) bits |= kDigit;
    if (letter || c == '_') bits |= kBareStart;
    if (letter || digit || c == '_' || c == '$' || c == '.') bits |= kBare | kSuffix;
    if (c == '-') bits |= kSuffix;
    table[static_cast<size_t>(c)] = bits;
  }
  return table;
}
constexpr std::array<uint8_t, 256> kChars = MakeCharTable();

inline bool Has(char c, uint8_t bit) { return (kChars[static_cast<unsigned char>(c)] & bit) != 0; }

}  // namespace

absl::string_view TokenKindName(TokenKind kind) {
  switch (kind) {
    case TokenKind::kEof:
      return "the end of the text";
    case TokenKind::kError:
      return "an unreadable character";
    case TokenKind::kBareId:
      return "a name";
    case TokenKind::kPercentId:
      return "a value such as %0";
    case TokenKind::kCaretId:
      return "a block label such as ^bb0";
    case TokenKind::kAtId:
      return "a symbol such as @main";
    case TokenKind::kHashId:
      return "an attribute such as #name";
    case TokenKind::kBangId:
      return "a type such as !name";
    case TokenKind::kInteger:
      return "an integer";
    case TokenKind::kFloat:
      return "a floating-point number";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kArrow:
      return "'->'";
    case TokenKind::kColonColon:
      return "'::'";
    case TokenKind::kEllipsis:
      return "'...'";
    case TokenKind::kMetaBegin:
      return "'{-#'";
    case TokenKind::kMetaEnd:
      return "'#-}'";
    case TokenKind::kColon:
      return "':'";
    case TokenKind::kComma:
      return "','";
    case TokenKind::kEqual:
      return "'='";
    case TokenKind::kLess:
      return "'<'";
    case TokenKind::kGreater:
      return "'>'";
    case TokenKind::kLBrace:
      return "'{'";
    case TokenKind::kRBrace:
      return "'}'";
    case TokenKind::kLParen:
      return "'('";
    case TokenKind::kRParen:
      return "')'";
    case TokenKind::kLSquare:
      return "'['";
    case TokenKind::kRSquare:
      return "']'";
    case TokenKind::kPlus:
      return "'+'";
    case TokenKind::kMinus:
      return "'-'";
    case TokenKind::kStar:
      return "'*'";
    case TokenKind::kSlash:
      return "'/'";
    case TokenKind::kQuestion:
      return "'?'";
    case TokenKind::kBar:
      return "'|'";
  }
  return "";
}

bool IsSuffixChar(char c) { return Has(c, kSuffix); }
bool IsBareChar(char c) { return Has(c, kBare); }

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Token Lexer::Fail(const char* begin, absl::string_view why) {
  error_ = why;
  if (at_ == begin && at_ != end_) ++at_;
  return Make(TokenKind::kError, begin);
}

Token Lexer::Next() {
  behind_ = at_;
  for (;;) {
    // Blanks and comments.
    for (; at_ != end_ && Has(*at_, kBlank); ++at_) {
      if (*at_ == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      }
    }
    const char* begin = at_;
    if (at_ == end_) return Make(TokenKind::kEof, begin);
    const char c = *at_++;
    const auto followed_by = [this](char next) { return at_ != end_ && *at_ == next; };
    switch (c) {
      case ',':
        return Make(TokenKind::kComma, begin);
      case '=':
        return Make(TokenKind::kEqual, begin);
      case '<':
        return Make(TokenKind::kLess, begin);
      case '>':
        return Make(TokenKind::kGreater, begin);
      case '}':
        return Make(TokenKind::kRBrace, begin);
      case '(':
        return Make(TokenKind::kLParen, begin);
      case ')':
        return Make(TokenKind::kRParen, begin);
      case '[':
        return Make(TokenKind::kLSquare, begin);
      case ']':
        return Make(TokenKind::kRSquare, begin);
      case '+':
        return Make(TokenKind::kPlus, begin);
      case '*':
        return Make(TokenKind::kStar, begin);
      case '?':
        return Make(TokenKind::kQuestion, begin);
      case '|':
        return Make(TokenKind::kBar, begin);
      case ':':
        if (followed_by(':')) return ++at_, Make(TokenKind::kColonColon, begin);
        return Make(TokenKind::kColon, begin);
      case '-':
        if (followed_by('>')) return ++at_, Make(TokenKind::kArrow, begin);
        return Make(TokenKind::kMinus, begin);
      case '{':
        if (end_ - at_ >= 2 && at_[0] == '-' && at_[1] == '#') {
          return at_ += 2, Make(TokenKind::kMetaBegin, begin);
        }
        return Make(TokenKind::kLBrace, begin);
      case '.':
        if (end_ - at_ >= 2 && at_[0] == '.' && at_[1] == '.') {
          return at_ += 2, Make(TokenKind::kEllipsis, begin);
        }
        return Fail(begin, "a '.' stands alone");
      case '/':
        if (followed_by('/')) {
          const void* newline = std::memchr(at_, '\n', static_cast<size_t>(end_ - at_));
          at_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
          continue;
        }
        return Make(TokenKind::kSlash, begin);
      case '"':
        return LexString(begin);
      case '%':
        return LexPrefixed(TokenKind::kPercentId, begin);
      case '^':
        return LexPrefixed(TokenKind::kCaretId, begin);
      case '!':
        return LexPrefixed(TokenKind::kBangId, begin);
      case '@':
        return LexAt(begin);
      case '#':
        if (end_ - at_ >= 2 && at_[0] == '-' && at_[1] == '}') {
          return at_ += 2, Make(TokenKind::kMetaEnd, begin);
        }
        return LexPrefixed(TokenKind::kHashId, begin);
      default:
        break;
    }
    if (Has(c, kDigit)) return LexNumber(begin);
    if (Has(c, kBareStart)) {
      while (at_ != end_ && Has(*at_, kBare)) ++at_;
      return Make(TokenKind::kBareId, begin);
    }
    at_ = begin;
    return Fail(begin, c == '\0' ? "a zero byte" : "a character that begins nothing");
  }
}

Token Lexer::LexNumber(const char* begin) {
  if (*begin == '0' && at_ != end_ && *at_ == 'x' && end_ - at_ >= 2 && HexValue(at_[1]) >= 0) {
    ++at_;
    while (at_ != end_ && HexValue(*at_) >= 0) ++at_;
    return Make(TokenKind::kInteger, begin);
  }
  while (at_ != end_ && Has(*at_, kDigit)) ++at_;
  if (at_ == end_ || *at_ != '.') return Make(TokenKind::kInteger, begin);
  ++at_;
  while (at_ != end_ && Has(*at_, kDigit)) ++at_;
  if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
    const char* p = at_ + 1;
    if (p != end_ && (*p == '+' || *p == '-')) ++p;
    if (p != end_ && Has(*p, kDigit)) {
      while (p != end_ && Has(*p, kDigit)) ++p;
      at_ = p;
    }
  }
  return Make(TokenKind::kFloat, begin);
}

const char* Lexer::SkipString(const char* p) const {
  for (++p; p != end_; ++p) {
    if (*p == '"') return p + 1;
    if (*p == '\n') return nullptr;
    if (*p == '\\' && (++p == end_ || *p == '\n')) return nullptr;
  }
  return nullptr;
}

Token Lexer::LexString(const char* begin) {
  const char* after = SkipString(begin);
  if (after == nullptr) return Fail(begin, "a string without its closing quote on the same line");
  at_ = after;
  return Make(TokenKind::kString, begin);
}

Token Lexer::LexPrefixed(TokenKind kind, const char* begin) {
  if (at_ != end_ && Has(*at_, kDigit)) {
    while (at_ != end_ && Has(*at_, kDigit)) ++at_;
    return Make(kind, begin);
  }
  // `->` never belongs to a name, though '-' may.
  while (at_ != end_ && Has(*at_, kSuffix) && !(*at_ == '-' && end_ - at_ >= 2 && at_[1] == '>'))
    ++at_;
  if (at_ == begin + 1) return Fail(begin, "a name is missing");
  return Make(kind, begin);
}

Token Lexer::LexAt(const char* begin) {
  if (at_ != end_ && *at_ == '"') {
    const char* after = SkipString(at_);
    if (after == nullptr) return Fail(begin, "a string without its closing quote on the same line");
    at_ = after;
    return Make(TokenKind::kAtId, begin);
  }
  if (at_ == end_ || !Has(*at_, kBareStart)) return Fail(begin, "a name is missing");
  while (at_ != end_ && Has(*at_, kBare)) ++at_;
  return Make(TokenKind::kAtId, begin);
}

void Lexer::Advance(const char* at) {
  while (at_ != at) {
    const void* newline = std::memchr(at_, '\n', static_cast<size_t>(at - at_));
    if (newline == nullptr) break;
    at_ = static_cast<const char*>(newline) + 1;
    line_start_ = at_;
    ++line_;
  }
  at_ = at;
}

const char* Lexer::SkipBlanks(const char* p) const {
  for (;;) {
    while (p != end_ && Has(*p, kBlank)) ++p;
    if (end_ - p < 2 || p[0] != '/' || p[1] != '/') return p;
    const void* newline = std::memchr(p, '\n', static_cast<size_t>(end_ - p));
    p = newline == nullptr ? end_ : static_cast<const char*>(newline);
  }
}

}  // namespace pjrt::ir
