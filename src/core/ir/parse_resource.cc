// SPDX-License-Identifier: Apache-2.0
//
// dense_resource<key> : type, and the section at the end of the text that holds the data:
//
//   {-# dialect_resources: { builtin: { key: "0x40000000<data>" } }, external_resources: { ... }
//   #-}
//
// A blob begins with four bytes that tell the alignment of what follows.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/element.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {

bool Parser::ParseDenseResource(Attribute* attribute) {
  Type type;
  return ParseDenseResource(attribute, &type);
}

bool Parser::ParseResourceKey(absl::string_view* key) {
  *key = tok_.text();
  if (Is(TokenKind::kString)) {
    if (!Unescape(tok_.text(), &scratch_)) return false;
    *key = context_->Intern(scratch_);
  } else if (!Is(TokenKind::kBareId)) {
    return Unexpected("the key of a resource");
  }
  Next();
  return true;
}

// A resource that the text does not hold (elided ones above all) stays as text: it prints, and
// whoever needs its data fails.
bool Parser::ParseDenseResource(Attribute* attribute, Type* type) {
  Next();
  if (!Expect(TokenKind::kLess)) return false;
  const Token key = tok_;
  absl::string_view name;
  if (!ParseResourceKey(&name) || !Expect(TokenKind::kGreater, "behind the key") ||
      !Expect(TokenKind::kColon, "and the type of the constant")) {
    return false;
  }
  const char* const type_at = tok_.begin;
  if (!ParseType(type) || !CheckDenseType(type_at, *type)) return false;
  if (!resources_read_ && Index().resources() != nullptr &&
      !ParseElsewhere(Index().resources(), [&] { return ParseResourceSection(); })) {
    return false;
  }
  resources_read_ = true;
  const auto found = resources_.find(name);
  if (found == resources_.end()) {
    *attribute =
        context_->Opaque(absl::StrCat("dense_resource<", key.text(), "> : ", type->ToString()));
    return true;
  }
  return ParseResourceBlob(found->second, *type, attribute);
}

bool Parser::ParseResourceBlob(absl::string_view quoted, Type type, Attribute* attribute) {
  const char* const at = quoted.data();
  const absl::string_view hex = quoted.substr(1, quoted.size() - 2);
  if (!absl::StartsWith(hex, "0x") || hex.size() % 2 != 0 || hex.size() < 10) {
    return Fail(ParseError::kResource, at, "malformed resource",
                "0x and hexadecimal digits, of which the first eight tell the alignment",
                Quoted(hex));
  }
  if (!CountConstantBytes(at, hex.size() / 2 - 5)) return false;
  std::string bytes(hex.size() / 2 - 5, '\0');
  const char* p = hex.data() + 10;
  for (char& byte : bytes) {
    const int high = HexValue(*p++), low = HexValue(*p++);
    if ((high | low) < 0) {
      return Fail(ParseError::kResource, p - 2, "malformed resource", "hexadecimal digits",
                  Quoted(p - 2, p));
    }
    byte = static_cast<char>(high * 16 + low);
  }
  // Booleans come packed or one a byte; their number tells which.
  const Type element = type.element_type();
  if (element.Is(TypeKind::kInteger) && element.bit_width() == 1 && bytes.size() > 1 &&
      bytes.size() == static_cast<uint64_t>(type.element_count())) {
    for (char& byte : bytes) byte = byte != 0 ? 1 : 0;
    *attribute = context_->Dense(type, bytes);
    return true;
  }
  if (ElementByteWidth(element) == 0) {
    return Fail(ParseError::kElements, at, "no constants of this type",
                "a type with a known representation", Quoted(type.ToString()));
  }
  return MakeDenseFromRaw(at, bytes, type, attribute);
}

// The current token is `{-#`; passes the `#-}`.
bool Parser::ParseResourceSection() {
  Next();
  while (!Is(TokenKind::kMetaEnd)) {
    const bool dialects = IsWord("dialect_resources");
    if (!Is(TokenKind::kBareId) && !Is(TokenKind::kString))
      return Unexpected("the name of a section or '#-}'");
    Next();
    if (!Expect(TokenKind::kColon) || !ParseResourceDict(dialects ? 0 : -1)) return false;
    if (!Accept(TokenKind::kComma) && !Is(TokenKind::kMetaEnd)) return Unexpected("',' or '#-}'");
  }
  Next();
  return true;
}

// `{ key: value, ... }`, where a value is a dictionary again, a string, or a word. `level` counts
// the dictionaries of dialect resources: those on level 1 hold the blobs. It is negative elsewhere.
bool Parser::ParseResourceDict(int level) {
  Level nesting(this);
  if (!nesting.ok()) return false;
  if (!Is(TokenKind::kLBrace)) return Unexpected("'{' and the entries of the section");
  return ParseList(TokenKind::kLBrace, TokenKind::kRBrace, "the resources", [&] {
    absl::string_view name;
    if (!ParseResourceKey(&name) || !Expect(TokenKind::kColon)) return false;
    if (Is(TokenKind::kLBrace)) return ParseResourceDict(level >= 0 ? level + 1 : -1);
    if (level == 1 && Is(TokenKind::kString)) resources_[name] = tok_.text();
    if (!Is(TokenKind::kString) && !Is(TokenKind::kBareId) && !Is(TokenKind::kInteger)) {
      return Unexpected("the value of a resource");
    }
    Next();
    return true;
  });
}

}  // namespace pjrt::ir
