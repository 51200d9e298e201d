// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/parser.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "src/core/base/error.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {
namespace {

// However deep the caller allows, the stack must hold it.
constexpr int kDeepestAllowed = 500;

// How much of a source line a message shows, and of a token.
constexpr size_t kWindow = 120;
constexpr size_t kLongestQuote = 60;

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Characters that would disturb the columns of a message.
char Printable(char c) {
  const unsigned char u = static_cast<unsigned char>(c);
  if (u < 0x20 || u == 0x7f) return ' ';
  return u < 0x80 ? c : '?';
}

}  // namespace

Parser::Parser(absl::string_view text, const ParseOptions& options, Context* context)
    : text_(text),
      max_depth_(std::clamp(options.max_depth, 1, kDeepestAllowed)),
      options_(options),
      context_(context),
      lexer_(text),
      i64_(context->Integer(64)),
      i32_(context->Integer(32)) {}

// --- Tokens and errors ---

bool Parser::Expect(TokenKind kind, absl::string_view purpose) {
  if (Accept(kind)) return true;
  if (purpose.empty()) return Unexpected(TokenKindName(kind));
  return Unexpected(absl::StrCat(TokenKindName(kind), " ", purpose));
}

bool Parser::ExpectWord(absl::string_view word, absl::string_view purpose) {
  if (AcceptWord(word)) return true;
  return Unexpected(absl::StrCat("'", word, "'", purpose.empty() ? "" : " ", purpose));
}

std::string Parser::Quoted(const char* begin, const char* end) {
  const size_t size = static_cast<size_t>(end - begin);
  std::string quoted = "'";
  for (const char* p = begin; p != begin + std::min(size, kLongestQuote); ++p)
    quoted += Printable(*p);
  quoted += size > kLongestQuote ? "...'" : "'";
  return quoted;
}

std::string Parser::FoundToken() const {
  return Is(TokenKind::kEof) ? "the end of the text" : Quoted(tok_.begin, tok_.end);
}

bool Parser::Unexpected(absl::string_view expected) {
  if (Is(TokenKind::kError)) {
    return Fail(ParseError::kLexical, tok_.begin, lexer_.error(), expected, FoundToken());
  }
  const char* const behind = lexer_.behind();
  const bool first = behind != nullptr && lexer_.SkipBlanks(behind) == tok_.begin &&
                     std::find(behind, tok_.begin, '\n') != tok_.begin;
  const char* const at = first && behind != lexer_.begin() ? behind : tok_.begin;
  return Fail(ParseError::kSyntax, at, "unexpected token", expected, FoundToken());
}

bool Parser::Fail(ParseError error, const char* at, absl::string_view message,
                  absl::string_view expected, absl::string_view found) {
  if (!error_.empty()) return false;
  std::string text(message);
  if (!expected.empty()) absl::StrAppend(&text, ": expected ", expected);
  if (!found.empty()) absl::StrAppend(&text, expected.empty() ? ": found " : ", found ", found);
  Record(absl::StrFormat("PJRT-P%03d", static_cast<int>(error)), at, text);
  return false;
}

bool Parser::Keeps(const char* at, absl::string_view op, const absl::Status& status) {
  if (status.ok()) return true;
  const absl::string_view id = ErrorId(status);
  absl::string_view message = status.message();
  message.remove_prefix(std::min(message.size(), id.size() + 3));  // "[id] "
  Record(id, at, op.empty() ? std::string(message) : absl::StrCat("'", op, "' op: ", message));
  return false;
}

void Parser::Record(absl::string_view id, const char* at, absl::string_view message) {
  if (!error_.empty()) return;
  const char* const begin = text_.data();
  const char* const end = begin + text_.size();
  if (at == end) {
    while (at != begin && IsBlank(at[-1])) --at;  // show the last line that has something in it
  }
  const char* line_start = at;
  while (line_start != begin && line_start[-1] != '\n') --line_start;
  const char* line_end = at;
  while (line_end != end && *line_end != '\n') ++line_end;
  const auto line = 1 + std::count(begin, line_start, '\n');
  const size_t column = static_cast<size_t>(at - line_start);

  // A long line is cut to a window around the place.
  const size_t width = static_cast<size_t>(line_end - line_start);
  size_t from = 0, to = width;
  if (width > kWindow) {
    from = column > kWindow / 2 ? column - kWindow / 2 : 0;
    to = std::min(width, from + kWindow);
  }
  std::string source = from > 0 ? "..." : "";
  const size_t caret = source.size() + column - from;
  for (size_t i = from; i < to; ++i) source += Printable(line_start[i]);
  if (to < width) source += "...";
  while (!source.empty() && source.back() == ' ') source.pop_back();

  error_ = absl::StrCat("[", id, "] ", options_.source_name, ":", line, ":", column + 1, ": ",
                        message, "\n", source, "\n", std::string(caret, ' '), "^");
}

absl::Status Parser::TakeStatus() {
  return absl::InvalidArgumentError(error_.empty() ? "[PJRT-P001] the text could not be read"
                                                   : error_);
}

bool Parser::TooDeep() {
  return Fail(ParseError::kTooDeep, tok_.begin, "nested too deeply",
              absl::StrCat("at most ", max_depth_, " levels of regions, types and attributes"),
              "more");
}

const TextIndex& Parser::Index() {
  if (index_ == nullptr) index_ = std::make_unique<TextIndex>(text_);
  return *index_;
}

bool Parser::ParseElsewhere(const char* at, absl::FunctionRef<bool()> parse) {
  const Token token = tok_;
  const Lexer::Position position = lexer_.position();
  lexer_.MoveTo(at);
  Next();
  if (!parse()) return false;
  lexer_.set_position(position);
  tok_ = token;
  return true;
}

const char* Parser::SkipBalanced(const char* open) {
  std::string closers;
  const char* const end = lexer_.end();
  for (const char* p = open; p != end;) {
    switch (*p) {
      case '<':
        closers += '>';
        ++p;
        break;
      case '(':
        closers += ')';
        ++p;
        break;
      case '[':
        closers += ']';
        ++p;
        break;
      case '{':
        closers += '}';
        ++p;
        break;
      case '-':  // the two characters of an arrow are one
        p += end - p >= 2 && p[1] == '>' ? 2 : 1;
        break;
      case '>':
      case ')':
      case ']':
      case '}':
        if (closers.back() != *p) {
          Fail(ParseError::kUnbalanced, p, "brackets do not match",
               Quoted(closers.substr(closers.size() - 1)), Quoted(p, p + 1));
          return nullptr;
        }
        ++p;
        closers.pop_back();
        if (closers.empty()) return p;
        break;
      case '"': {
        const char* after = lexer_.SkipString(p);
        if (after == nullptr) {
          Fail(ParseError::kLexical, p, "a string does not end on its line", "'\"'", "");
          return nullptr;
        }
        p = after;
        break;
      }
      case '/':
        p = end - p >= 2 && p[1] == '/' ? lexer_.SkipBlanks(p) : p + 1;
        break;
      default:
        ++p;
    }
  }
  Fail(ParseError::kUnbalanced, open, "a bracket is never closed",
       Quoted(closers.substr(closers.size() - 1)), "the end of the text");
  return nullptr;
}

bool Parser::ParseList(TokenKind open, TokenKind close, absl::string_view what,
                       absl::FunctionRef<bool()> item) {
  if (!Expect(open)) return false;
  if (Accept(close)) return true;
  do {
    if (!item()) return false;
  } while (Accept(TokenKind::kComma));
  if (Accept(close)) return true;
  return Unexpected(absl::StrCat("',' or ", TokenKindName(close), " in ", what));
}

// --- Aliases ---

bool Parser::ParseAliasDefinition() {
  const Token name = tok_;
  Next();
  if (!Is(TokenKind::kEqual)) return Unexpected("'=' and the value of the alias");
  const char* definition = tok_.end;
  Next();
  if (absl::StrContains(name.text(), '.')) {
    return Fail(ParseError::kAlias, name.begin, "malformed alias", "a name without dots",
                Quoted(name.text()));
  }
  std::unique_ptr<Alias>& known = aliases_[name.text()];
  if (known != nullptr && known->definition != definition) {
    return Fail(ParseError::kAlias, name.begin, "alias defined twice", "each name once",
                Quoted(name.text()));
  }
  if (known == nullptr) {
    known = std::make_unique<Alias>();
    known->definition = definition;
    return DefineAlias(name.text(), known.get());
  }
  Alias again;  // a use in front of the definition has read it already
  return DefineAlias(name.text(), &again);
}

bool Parser::DefineAlias(absl::string_view name, Alias* alias) {
  const int deepest = deepest_;
  const uint64_t weight = alias_weight_;
  const char* const begin = tok_.begin;
  deepest_ = depth_;
  alias->busy = true;
  if (name[0] == '#' ? !ParseAttribute(&alias->attribute) : !ParseType(&alias->type)) return false;
  alias->busy = false;
  alias->depth = deepest_ - depth_;
  alias->weight = static_cast<uint64_t>(tok_.begin - begin) + (alias_weight_ - weight);
  deepest_ = std::max(deepest, deepest_);
  return true;
}

bool Parser::DefineForward(absl::string_view name, const char* definition) {
  Level level(this);
  if (!level.ok()) return false;
  Alias* alias = aliases_.emplace(name, std::make_unique<Alias>()).first->second.get();
  alias->definition = definition;
  return ParseElsewhere(definition, [&] { return DefineAlias(name, alias); });
}

bool Parser::DefineLocations() {
  if (locations_defined_) return true;
  locations_defined_ = true;
  for (const TextIndex::Definition& d : Index().definitions()) {
    const char* p = lexer_.SkipBlanks(d.value);
    const absl::string_view value(p, static_cast<size_t>(lexer_.end() - p));
    if (!absl::StartsWith(value, "loc") || aliases_.contains(d.name)) continue;
    if (!DefineForward(d.name, d.value)) return false;
  }
  return true;
}

bool Parser::FindAlias(const Alias** alias) {
  const absl::string_view name = tok_.text();
  if (const auto it = aliases_.find(name); it != aliases_.end()) {
    *alias = it->second.get();
  } else {
    const char* definition = Index().AliasDefinition(name);
    if (definition == nullptr) {
      return Fail(ParseError::kAlias, tok_.begin, "undefined alias",
                  absl::StrCat("a definition '", Quoted(name).substr(1, name.size()),
                               " = ...' in the text"),
                  Quoted(name));
    }
    if (!DefineForward(name, definition)) return false;
    *alias = aliases_.find(name)->second.get();
  }
  if ((*alias)->busy) {
    return Fail(ParseError::kAlias, tok_.begin, "an alias is part of its own value", "",
                Quoted(name));
  }
  return true;
}

bool Parser::UseAlias(const Alias** alias) {
  if (!FindAlias(alias)) return false;
  deepest_ = std::max(deepest_, depth_ + (*alias)->depth);
  if (depth_ + (*alias)->depth > max_depth_) return TooDeep();
  // Aliases of aliases may stand for texts of any length; what prints or hashes them would never
  // end.
  alias_weight_ += (*alias)->weight;
  const uint64_t limit = (uint64_t{1} << 26) + 64 * static_cast<uint64_t>(text_.size());
  if (alias_weight_ > limit) {
    return Fail(ParseError::kTooLarge, tok_.begin, "aliases stand for too much text",
                absl::StrCat("at most ", limit, " characters in all"), "more");
  }
  Next();
  return true;
}

// --- Entry points ---

absl::Status Parser::ParseAll(Module* module) {
  module_ = module;
  module->set_source_name(options_.source_name);
  Next();
  absl::flat_hash_set<absl::string_view> symbols;
  symbols_ = &symbols;
  if (!ParseOps(module->body(), TokenKind::kEof) || !UnwrapModule(module)) return TakeStatus();
  return absl::OkStatus();
}

absl::Status Parser::ParseLoneType(Type* type) {
  Next();
  if (!ParseType(type)) return TakeStatus();
  if (!Is(TokenKind::kEof) && !Unexpected("the end of the type")) return TakeStatus();
  return absl::OkStatus();
}

absl::Status Parser::ParseLoneAttribute(Attribute* attribute) {
  Next();
  if (!ParseAttribute(attribute)) return TakeStatus();
  if (!Is(TokenKind::kEof) && !Unexpected("the end of the attribute")) return TakeStatus();
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Module>> ParseModule(absl::string_view text,
                                                    const ParseOptions& options) {
  auto module = std::make_unique<Module>();
  absl::Status status = Parser(text, options, &module->context()).ParseAll(module.get());
  if (!status.ok()) return status;
  return module;
}

absl::StatusOr<Type> ParseType(absl::string_view text, Context* context) {
  const ParseOptions options;
  Type type;
  absl::Status status = Parser(text, options, context).ParseLoneType(&type);
  if (!status.ok()) return status;
  return type;
}

absl::StatusOr<Attribute> ParseAttribute(absl::string_view text, Context* context) {
  const ParseOptions options;
  Attribute attribute;
  absl::Status status = Parser(text, options, context).ParseLoneAttribute(&attribute);
  if (!status.ok()) return status;
  return attribute;
}

std::vector<Chunk> SplitChunks(absl::string_view text) {
  constexpr absl::string_view kMark = "// -----";
  std::vector<Chunk> chunks;
  size_t begin = 0, first_line = 1, line = 1;
  for (size_t at = 0; at < text.size(); ++line) {
    size_t end = text.find('\n', at);
    const size_t next = end == absl::string_view::npos ? text.size() : end + 1;
    if (end == absl::string_view::npos) end = text.size();
    if (absl::StripAsciiWhitespace(text.substr(at, end - at)) == kMark) {
      chunks.push_back({text.substr(begin, at - begin), first_line});
      begin = next;
      first_line = line + 1;
    }
    at = next;
  }
  chunks.push_back({text.substr(begin), first_line});
  return chunks;
}

}  // namespace pjrt::ir
