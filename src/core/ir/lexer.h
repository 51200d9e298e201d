// SPDX-License-Identifier: Apache-2.0
//
// Cuts MLIR text into tokens. A token is a slice of the text; nothing is copied.
#ifndef PJRT_CORE_IR_LEXER_H_
#define PJRT_CORE_IR_LEXER_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace pjrt::ir {

enum class TokenKind : uint8_t {
  kEof,
  kError,      // no token begins here; Lexer::error() says why
  kBareId,     // stablehlo.add
  kPercentId,  // %arg0, %3
  kCaretId,    // ^bb0
  kAtId,       // @main, @"any name"
  kHashId,     // #loc, #stablehlo.gather, and the #1 of %0#1
  kBangId,     // !quant.uniform
  kInteger,    // 12, 0xFF
  kFloat,      // 1.5e-3
  kString,     // "...", with its quotes
  kArrow,      // ->
  kColonColon,
  kEllipsis,
  kMetaBegin,  // {-#
  kMetaEnd,    // #-}
  // Single characters.
  kColon,
  kComma,
  kEqual,
  kLess,
  kGreater,
  kLBrace,
  kRBrace,
  kLParen,
  kRParen,
  kLSquare,
  kRSquare,
  kPlus,
  kMinus,
  kStar,
  kSlash,
  kQuestion,
  kBar,
};

// How an error message names a kind of token: "','", "an identifier".
absl::string_view TokenKindName(TokenKind kind);

struct Token {
  TokenKind kind = TokenKind::kEof;
  const char* begin = nullptr;
  const char* end = nullptr;

  bool Is(TokenKind k) const { return kind == k; }
  absl::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
  // Without the character in front: the name of %name, #name, !name, ^name.
  absl::string_view name() const { return {begin + 1, static_cast<size_t>(end - begin - 1)}; }
};

// The characters of identifiers behind % ^ # !: [A-Za-z0-9$._-].
bool IsSuffixChar(char c);
// The characters of bare identifiers: [A-Za-z0-9_$.].
bool IsBareChar(char c);
// The value of a hexadecimal digit, -1 for other characters.
int HexValue(char c);

class Lexer {
 public:
  // `text` must outlive the lexer. Nothing behind its end is read.
  explicit Lexer(absl::string_view text)
      : begin_(text.data()), end_(text.data() + text.size()), at_(begin_), line_start_(begin_) {}

  // The next token, blanks and comments skipped.
  Token Next();

  // The place behind the token last returned, with what is needed to go back to it.
  struct Position {
    const char* at;
    const char* line_start;
    uint32_t line;
  };
  Position position() const { return {at_, line_start_, line_}; }
  void set_position(const Position& p) {
    at_ = p.at;
    line_start_ = p.line_start;
    line_ = p.line;
  }
  // Goes to `at`, which is not before position().at; counts the lines between.
  void Advance(const char* at);
  // Goes to `at` on the same line.
  void MoveTo(const char* at) { at_ = at; }

  // The line (from 1) of the token last returned, and where that line begins.
  uint32_t line() const { return line_; }
  const char* line_start() const { return line_start_; }

  // Where the blanks and comments before the token last read begin.
  const char* behind() const { return behind_; }

  const char* begin() const { return begin_; }
  const char* end() const { return end_; }

  // The first character at or behind `p` that is neither blank nor in a comment. Does not count
  // lines.
  const char* SkipBlanks(const char* p) const;
  // `p` stands on a quote: the character behind the closing quote, null when the line ends first.
  const char* SkipString(const char* p) const;

  // Why the last token was kError.
  absl::string_view error() const { return error_; }

 private:
  Token Make(TokenKind kind, const char* begin) const { return {kind, begin, at_}; }
  Token Fail(const char* begin, absl::string_view why);
  Token LexNumber(const char* begin);
  Token LexString(const char* begin);
  Token LexPrefixed(TokenKind kind, const char* begin);
  Token LexAt(const char* begin);

  const char* begin_;
  const char* end_;
  const char* at_;
  const char* behind_ = nullptr;
  const char* line_start_;
  uint32_t line_ = 1;
  absl::string_view error_;
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_LEXER_H_
