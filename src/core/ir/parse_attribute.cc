// SPDX-License-Identifier: Apache-2.0
//
// Attributes, but for those with files of their own: dense constants, locations, and StableHLO's
// enums and structs.
#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/core/ir/element.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {

bool Parser::ParseAttribute(Attribute* attribute) {
  switch (tok_.kind) {
    case TokenKind::kInteger:
    case TokenKind::kFloat:
    case TokenKind::kMinus:
      return ParseNumberAttribute(attribute);
    case TokenKind::kBareId:
      return ParseWordAttribute(attribute);
    case TokenKind::kHashId:
      return ParseHashAttribute(attribute);
    case TokenKind::kLSquare:
      return ParseArrayAttribute(attribute);
    case TokenKind::kLBrace:
      return ParseDictAttribute(attribute);
    case TokenKind::kAtId:
      return ParseSymbolAttribute(attribute);
    case TokenKind::kBangId:
    case TokenKind::kLParen:
      return ParseTypeAttribute(attribute);
    case TokenKind::kString: {
      const char* const begin = tok_.begin;
      const char* const end = tok_.end;
      std::string bytes;
      if (!ParseStringToken(&bytes)) return false;
      *attribute = context_->String(bytes);
      if (!Accept(TokenKind::kColon)) return true;
      Type type;  // a string of another dialect's type: kept as it is
      if (!ParseType(&type)) return false;
      if (!type.Is(TypeKind::kNone)) {
        *attribute = context_->Opaque(absl::StrCat(
            absl::string_view(begin, static_cast<size_t>(end - begin)), " : ", type.ToString()));
      }
      return true;
    }
    default:
      return Unexpected("an attribute");
  }
}

bool Parser::ParseTypeAttribute(Attribute* attribute) {
  Type type;
  if (!ParseType(&type)) return false;
  *attribute = context_->TypeAttr(type);
  return true;
}

bool Parser::ParseWordAttribute(Attribute* attribute) {
  const absl::string_view word = tok_.text();
  switch (word[0]) {
    case 't':
    case 'f':
      if (word == "true" || word == "false") {
        *attribute = context_->Bool(word == "true");
        Next();
        return true;
      }
      break;
    case 'u':
      if (word == "unit") {
        *attribute = context_->Unit();
        Next();
        return true;
      }
      break;
    case 'd':
      if (word == "dense") return ParseDense(attribute);
      if (word == "dense_resource") return ParseDenseResource(attribute);
      if (word == "distinct") return ParseOpaqueKeyword(attribute);
      break;
    case 'l':
      if (word == "loc") return ParseLocation(attribute);
      break;
    case 'a':
      if (word == "array") return ParseDenseArray(attribute);
      if (word == "affine_map" || word == "affine_set") return ParseOpaqueKeyword(attribute);
      break;
    case 's':
      if (word == "sparse" || word == "strided") return ParseOpaqueKeyword(attribute);
      break;
    default:
      break;
  }
  return ParseTypeAttribute(attribute);
}

// affine_map<...>, strided<...>, sparse<...> : type, distinct[0]<...>: kept as text.
bool Parser::ParseOpaqueKeyword(Attribute* attribute) {
  const char* const begin = tok_.begin;
  const char* p = lexer_.SkipBlanks(tok_.end);
  const bool typed = IsWord("sparse");
  if (IsWord("distinct")) {
    if (p == lexer_.end() || *p != '[') return Next(), Unexpected("'['");
    p = SkipBalanced(p);
    if (p == nullptr) return false;
    p = lexer_.SkipBlanks(p);
  }
  if (p == lexer_.end() || *p != '<') return Next(), Unexpected("'<'");
  const char* end = SkipBalanced(p);
  if (end == nullptr) return false;
  lexer_.Advance(end);
  Next();
  std::string text(begin, static_cast<size_t>(end - begin));
  if (typed) {
    Type type;
    if (!Expect(TokenKind::kColon, "and the type of the constant") || !ParseType(&type))
      return false;
    absl::StrAppend(&text, " : ", type.ToString());
  }
  *attribute = context_->Opaque(text);
  return true;
}

bool Parser::ParseNumberAttribute(Attribute* attribute) {
  const char* const at = tok_.begin;
  const bool negative = Accept(TokenKind::kMinus);
  if (Is(TokenKind::kFloat)) {
    double value;
    if (!ParseDouble(&value, "a number")) return false;
    if (negative) value = -value;
    Type type = context_->Float("f64");
    if (Accept(TokenKind::kColon)) {
      const char* const type_at = tok_.begin;
      if (!ParseType(&type)) return false;
      if (!type.Is(TypeKind::kFloat)) {
        return Fail(ParseError::kNumber, type_at, "a floating-point number has another type",
                    "a float type", Quoted(type.ToString()));
      }
      if (IsCodedFloat(type)) {
        char bytes[8];
        EncodeFloat(type, value, bytes);
        value = DecodeFloat(type, bytes);
      }
    }
    *attribute = context_->Float(value, type);
    return true;
  }
  Integer integer;
  if (!Is(TokenKind::kInteger)) return Unexpected("a number");
  if (!ReadInteger(tok_, &integer)) return false;
  integer.negative = negative;
  integer.at = at;
  Next();
  Type type = i64_;
  const char* type_at = tok_.begin;
  if (Accept(TokenKind::kColon)) {
    type_at = tok_.begin;
    if (!ParseType(&type)) return false;
  }
  if (type.Is(TypeKind::kFloat)) {
    if (!integer.hex) {
      return Fail(ParseError::kNumber, at, "an integer has a float type",
                  "a number with a dot, or hexadecimal bits", Quoted(at, tok_.begin));
    }
    double value;
    if (!FloatFromBits(integer, type, &value)) return false;
    *attribute = context_->Float(value, type);
    return true;
  }
  if (!type.Is(TypeKind::kInteger) && !type.Is(TypeKind::kIndex)) {
    return Fail(ParseError::kNumber, type_at, "an integer has another type",
                "an integer, index or float type", Quoted(type.ToString()));
  }
  int64_t value;
  if (!IntegerFits(integer, type, &value)) return false;
  *attribute = type == context_->I1() ? context_->Bool(value != 0) : context_->Int(value, type);
  return true;
}

bool Parser::ParseArrayAttribute(Attribute* attribute) {
  Level level(this);
  if (!level.ok()) return false;
  absl::InlinedVector<Attribute, 4> elements;
  if (!ParseList(TokenKind::kLSquare, TokenKind::kRSquare, "an array", [&] {
        elements.emplace_back();
        return ParseAttribute(&elements.back());
      })) {
    return false;
  }
  *attribute = context_->Array(elements);
  return true;
}

bool Parser::ParseDictAttribute(Attribute* attribute) {
  ParsedAttributes entries;
  if (!ParseAttrDict(&entries)) return false;
  *attribute = context_->Dict(entries);
  return true;
}

bool Parser::ParseAttrDict(ParsedAttributes* entries) {
  Level level(this);
  if (!level.ok()) return false;
  constexpr size_t kFew = 16;
  absl::flat_hash_set<absl::string_view> keys;  // once there are more than a few
  return ParseList(TokenKind::kLBrace, TokenKind::kRBrace, "an attribute dictionary", [&] {
    const Token key = tok_;
    absl::string_view name = key.text();
    if (Is(TokenKind::kString)) {
      std::string bytes;
      if (!Unescape(key.text(), &bytes)) return false;
      name = context_->Intern(bytes);
    } else if (!Is(TokenKind::kBareId)) {
      return Unexpected("the name of an attribute");
    }
    if (name.empty()) return Unexpected("a name that is not empty");
    bool known = false;
    if (entries->size() < kFew) {
      known = std::any_of(entries->begin(), entries->end(),
                          [&](const auto& e) { return e.name == name; });
    } else {
      if (keys.empty()) {
        for (const NamedAttribute& e : *entries) keys.insert(e.name);
      }
      known = !keys.insert(name).second;
    }
    if (known) {
      return Fail(ParseError::kDuplicateKey, key.begin, "an attribute is given twice",
                  "each name once", Quoted(key.text()));
    }
    Next();
    Attribute value;
    if (!Accept(TokenKind::kEqual)) {
      value = context_->Unit();
    } else if (!ParseAttribute(&value)) {
      return false;
    }
    entries->push_back({name, value});
    return true;
  });
}

// array<i64: 1, 2>, array<f32: 1.0>, array<i1: true>, array<i64>.
bool Parser::ParseDenseArray(Attribute* attribute) {
  Next();
  Type type;
  if (!Expect(TokenKind::kLess)) return false;
  const char* const type_at = tok_.begin;
  if (!ParseType(&type)) return false;
  const bool is_float = type.Is(TypeKind::kFloat) && IsCodedFloat(type);
  if (!is_float && !type.Is(TypeKind::kInteger)) {
    return Fail(ParseError::kType, type_at, "malformed array",
                "an integer or float type for its elements", Quoted(type.ToString()));
  }
  absl::InlinedVector<int64_t, 6> ints;
  absl::InlinedVector<double, 1> floats;
  if (Accept(TokenKind::kColon)) {
    do {
      const char* const at = tok_.begin;
      const bool negative = Accept(TokenKind::kMinus);
      Integer integer;
      if (Is(TokenKind::kInteger)) {
        if (!ReadInteger(tok_, &integer)) return false;
        integer.negative = negative;
        integer.at = at;
      }
      if (is_float) {
        double value;
        if (Is(TokenKind::kInteger)) {
          if (!integer.hex) return Unexpected("a number with a dot, or hexadecimal bits");
          if (!FloatFromBits(integer, type, &value)) return false;
          Next();
        } else {
          if (!Is(TokenKind::kFloat)) return Unexpected("a number with a dot, or hexadecimal bits");
          if (!ParseDouble(&value, "a number")) return false;
          if (negative) value = -value;
          char bytes[8];
          EncodeFloat(type, value, bytes);
          value = DecodeFloat(type, bytes);
        }
        floats.push_back(value);
        continue;
      }
      int64_t value;
      if (!negative && (IsWord("true") || IsWord("false"))) {
        value = IsWord("true") ? 1 : 0;
      } else if (!Is(TokenKind::kInteger)) {
        return Unexpected("an integer");
      } else if (!IntegerFits(integer, type, &value)) {
        return false;
      }
      ints.push_back(value);
      Next();
    } while (Accept(TokenKind::kComma));
  }
  if (!Expect(TokenKind::kGreater, "to close the array")) return false;
  *attribute =
      is_float ? context_->DenseFloatArray(type, floats) : context_->DenseArray(type, ints);
  return true;
}

// @a::@"b c", as "a::@b c".
bool Parser::ParseSymbol(std::string* name) {
  name->clear();
  for (;;) {
    if (!Is(TokenKind::kAtId)) return Unexpected("a symbol such as @main");
    const absl::string_view text = tok_.name();
    if (text[0] == '"') {
      std::string bytes;
      if (!Unescape(text, &bytes)) return false;
      *name += bytes;
    } else {
      name->append(text.data(), text.size());
    }
    Next();
    if (!Accept(TokenKind::kColonColon)) return true;
    *name += "::@";
  }
}

bool Parser::ParseSymbolAttribute(Attribute* attribute) {
  std::string name;
  if (!ParseSymbol(&name)) return false;
  *attribute = context_->Symbol(name);
  return true;
}

// #alias, #dialect.name, #dialect.name<...>, #dialect<name ...>.
bool Parser::ParseHashAttribute(Attribute* attribute) {
  const Token token = tok_;
  const absl::string_view name = token.name();
  const bool has_body = token.end != lexer_.end() && *token.end == '<';
  const size_t dot = name.find('.');
  if (dot == absl::string_view::npos && !has_body) {
    const Alias* alias;
    if (!UseAlias(&alias)) return false;
    *attribute = alias->attribute;
    return true;
  }
  Level level(this);
  if (!level.ok()) return false;
  const absl::string_view dialect = name.substr(0, dot);
  if (has_body &&
      (dialect == "stablehlo" || dialect == "chlo" || dialect == "mhlo" || dialect == "sdy")) {
    // The mnemonic stands before or behind the `<`.
    const Lexer::Position position = lexer_.position();
    absl::string_view mnemonic =
        dot == absl::string_view::npos ? absl::string_view() : name.substr(dot + 1);
    Next();
    Next();
    bool inner_body = false;
    if (mnemonic.empty() && Is(TokenKind::kBareId)) {
      mnemonic = tok_.text();
      Next();
      inner_body = Is(TokenKind::kLess);
    }
    const std::string full = absl::StrCat(dialect, ".", mnemonic);
    const auto closed = [&] {
      return !inner_body || Expect(TokenKind::kGreater, "to close the attribute");
    };
    if (mnemonic == "bounds" || mnemonic == "type_extensions") {
      if (dialect == "stablehlo" || dialect == "mhlo") {
        if (inner_body) Next();
        return ParseEncodingAttribute(attribute) && closed();
      }
    } else if (!EnumValues(full).empty()) {
      if (inner_body) Next();
      return ParseEnumBody(full, attribute) && closed();
    } else if (!StructFields(full).empty()) {
      if (inner_body) Next();
      return ParseStructBody(full, token.begin, attribute) && closed();
    }
    lexer_.set_position(position);
    tok_ = token;
    if (dialect == "stablehlo" || dialect == "chlo") {
      return Fail(ParseError::kAttribute, token.begin, "unknown attribute",
                  absl::StrCat("one that the dialect ", dialect, " has"), Quoted(full));
    }
  }
  const char* end = token.end;
  if (has_body) {
    end = SkipBalanced(end);
    if (end == nullptr) return false;
  }
  *attribute =
      context_->Opaque(absl::string_view(token.begin, static_cast<size_t>(end - token.begin)));
  lexer_.Advance(end);
  Next();
  return true;
}

// The body of #stablehlo.bounds<5, ?> or of the older ...type_extensions<bounds = [5, ?]>. The
// attribute becomes the text of the first.
bool Parser::ParseEncodingAttribute(Attribute* attribute) {
  std::string text = "#stablehlo.bounds<";
  const auto bound = [&] {
    if (text.back() != '<') text += ", ";
    if (Accept(TokenKind::kQuestion)) {
      text += "?";
      return true;
    }
    int64_t value;
    if (!ParseInt64(&value, "a bound or '?'")) return false;
    absl::StrAppend(&text, value);
    return true;
  };
  if (IsWord("bounds")) {
    Next();
    if (!Expect(TokenKind::kEqual) ||
        !ParseList(TokenKind::kLSquare, TokenKind::kRSquare, "the bounds", bound) ||
        !Expect(TokenKind::kGreater, "to close the attribute")) {
      return false;
    }
  } else if (!Accept(TokenKind::kGreater)) {
    do {
      if (!bound()) return false;
    } while (Accept(TokenKind::kComma));
    if (!Expect(TokenKind::kGreater, "to close the bounds")) return false;
  }
  *attribute = context_->Opaque(text + ">");
  return true;
}

}  // namespace pjrt::ir
