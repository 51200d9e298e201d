// SPDX-License-Identifier: Apache-2.0
//
// loc(...). Locations of real programs are chains of calls, hundreds deep and made of aliases, so
// nothing here recurses with their depth. A location is kept as text with its aliases spelled out;
// where that would grow beyond kLongest, what is left of it becomes `unknown`.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {
namespace {

constexpr size_t kLongest = 1000;

// Levels of nesting that have to be left for an alias to be read before its turn.
constexpr int kRoomForAliases = 10;

// What a location that is open waits for.
enum class Waits : uint8_t {
  kName,    // the ) of "name"(child)
  kFused,   // , or ] of fused[...]
  kCallee,  // `at` of callsite(callee at caller)
  kCaller,  // the ) of the same
};

}  // namespace

// Behind the file name: `:line:column`, with a range `to :column` or `to line:column`.
bool Parser::ParseFileLocation(std::string* text) {
  const auto number = [&](absl::string_view what) {
    if (!Is(TokenKind::kInteger)) return Unexpected(what);
    absl::StrAppend(text, tok_.text());
    Next();
    return true;
  };
  *text += ":";
  Next();
  if (!number("a line number")) return false;
  *text += ":";
  if (!Expect(TokenKind::kColon, "and a column") || !number("a column")) return false;
  if (!AcceptWord("to")) return true;
  *text += " to ";
  if (Is(TokenKind::kInteger) && !number("a line number")) return false;
  *text += ":";
  return Expect(TokenKind::kColon, "and a column") && number("a column");
}

bool Parser::ParseLocation(Attribute* location) {
  Next();
  if (!Expect(TokenKind::kLParen, "behind 'loc'")) return false;
  std::string text = "loc(";
  std::vector<Waits> open;
  // A location that `unknown` stands for: what it holds goes to `unused`. It ends when as many are
  // open as when it began.
  bool muted = false;
  size_t muted_level = 0;
  std::string unused;
  for (;;) {
    // A location begins here.
    if (!muted && text.size() > kLongest && !open.empty()) {
      text += "unknown";
      muted = true;
      muted_level = open.size();
    }
    std::string* out = muted ? &unused : &text;
    unused.clear();
    bool opened = false;
    if (AcceptWord("unknown")) {
      *out += "unknown";
    } else if (Is(TokenKind::kString)) {
      absl::StrAppend(out, tok_.text());
      if (!Unescape(tok_.text(), &scratch_)) return false;
      Next();
      if (Is(TokenKind::kColon)) {
        if (!ParseFileLocation(out)) return false;
      } else if (Accept(TokenKind::kLParen)) {
        *out += "(";
        open.push_back(Waits::kName);
        opened = true;
      }
    } else if (AcceptWord("callsite")) {
      if (!Expect(TokenKind::kLParen)) return false;
      *out += "callsite(";
      open.push_back(Waits::kCallee);
      opened = true;
    } else if (AcceptWord("fused")) {
      *out += "fused";
      if (Is(TokenKind::kLess)) {
        const char* const begin = tok_.begin;
        const char* const end = SkipBalanced(begin);
        if (end == nullptr) return false;
        // What an alias in there means is lost with the alias.
        const absl::string_view metadata(begin, static_cast<size_t>(end - begin));
        if (metadata.size() <= kLongest && !absl::StrContains(metadata, '#'))
          absl::StrAppend(out, metadata);
        lexer_.Advance(end);
        Next();
      }
      if (!Expect(TokenKind::kLSquare)) return false;
      *out += "[";
      open.push_back(Waits::kFused);
      opened = true;
      if (Is(TokenKind::kRSquare)) return Unexpected("a location");
    } else if (Is(TokenKind::kHashId)) {
      absl::string_view value;
      std::string own;
      if (absl::StrContains(tok_.name(), '.') || (tok_.end != lexer_.end() && *tok_.end == '<')) {
        Attribute other;  // a location of another dialect
        if (!ParseAttribute(&other)) return false;
        own = other.ToString();
        value = own;
      } else if (!aliases_.contains(tok_.text()) && !DefineLocations()) {
        return false;
      } else if (!aliases_.contains(tok_.text()) && depth_ + kRoomForAliases > max_depth_) {
        value = "unknown";  // a chain in the order that no printer writes
        Next();
      } else {
        const Alias* alias;
        if (!FindAlias(&alias)) return false;
        if (!alias->attribute.Is(AttrKind::kLocation)) {
          return Fail(ParseError::kAlias, tok_.begin, "an alias is no location", "a location",
                      FoundToken());
        }
        Next();
        if (open.empty() && Accept(TokenKind::kRParen)) {
          *location = alias->attribute;
          return true;
        }
        value = alias->attribute.text();
        value = value.substr(4, value.size() - 5);  // without loc( and )
      }
      absl::StrAppend(out, text.size() + value.size() > kLongest ? "unknown" : value);
    } else {
      return Unexpected("a location: a string, 'unknown', 'callsite', 'fused' or an alias");
    }
    if (opened) continue;
    // A location ends here, and perhaps those around it.
    for (;;) {
      if (muted && open.size() == muted_level) muted = false;
      if (open.empty()) {
        if (!Expect(TokenKind::kRParen, "to close the location")) return false;
        *location = context_->Location(text + ")");
        return true;
      }
      out = muted ? &unused : &text;
      Waits& waits = open.back();
      if (waits == Waits::kCallee) {
        if (!ExpectWord("at", "and the caller")) return false;
        *out += " at ";
        waits = Waits::kCaller;
        break;
      }
      if (waits == Waits::kFused) {
        if (Accept(TokenKind::kComma)) {
          *out += ", ";
          break;
        }
        if (!Expect(TokenKind::kRSquare, "to close the location")) return false;
        *out += "]";
      } else {
        if (!Expect(TokenKind::kRParen, "to close the location")) return false;
        *out += ")";
      }
      open.pop_back();
    }
  }
}

}  // namespace pjrt::ir
