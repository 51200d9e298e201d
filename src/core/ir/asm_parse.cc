// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/asm_parse.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "src/core/ir/element.h"
#include "src/core/ir/row_checks.h"

namespace pjrt::ir {

bool AsmParser::Parse(absl::Span<const AsmElement> format) {
  for (size_t i = 0; i < format.size(); ++i) {
    const AsmElement& element = format[i];
    if (element.kind == AsmKind::kGroupBegin) {
      const auto end = static_cast<size_t>(element.group_end);
      size_t literals = 0;
      i = GroupIsNext(format.subspan(i + 1, end - i - 1), &literals) ? i + literals : end;
    } else if (!ParseElement(element)) {
      return false;
    }
  }
  return made_ || p_.FinishOp(&op_, block_);
}

bool AsmParser::ParseElement(const AsmElement& element) {
  switch (element.kind) {
    case AsmKind::kLiteral:
      return ParseLiteral(element.text);
    case AsmKind::kAllOperands:
      return ParseOperands();
    case AsmKind::kOperand:
      return element.variadic ? ParseOperands() : ParseOperands(1);
    case AsmKind::kAttr:
      return ParseAttr(element);
    case AsmKind::kAttrDict:
      return ParseOptionalAttrDict();
    case AsmKind::kAttrDictAttributes:
      if (!p_.AcceptWord("attributes")) return true;
      if (!p_.Is(TokenKind::kLBrace)) return p_.Unexpected("'{' and the attributes");
      return p_.ParseAttrDict(&op_.attributes);
    case AsmKind::kType:
    case AsmKind::kFunctional:
      return ParseFunctional();
    case AsmKind::kArrow:
      return ParseArrow();
    case AsmKind::kResult: {
      op_.result_types.emplace_back();
      return p_.ParseType(&op_.result_types.back());
    }
    case AsmKind::kOperandTypes:
      return ParseOperandTypes(!op_.info->results.empty());
    case AsmKind::kPiece:
      return ParsePiece(element.piece);
    case AsmKind::kGroupBegin:
    case AsmKind::kGroupEnd:
      return true;
  }
  return true;
}

bool AsmParser::ParseOptionalAttrDict() {
  if (!p_.Is(TokenKind::kLBrace)) return true;
  const char* const at = p_.tok_.begin;
  const size_t first = op_.attributes.size();
  if (!p_.ParseAttrDict(&op_.attributes)) return false;
  for (size_t i = first; i < op_.attributes.size(); ++i) {
    const NamedAttribute& entry = op_.attributes[i];
    for (const AttrSpec& spec : op_.info->attributes) {
      if (spec.name == entry.name && !p_.Keeps(at, op_.name, CheckAttribute(spec, entry.value)))
        return false;
    }
  }
  return true;
}

bool AsmParser::ParseLiteral(absl::string_view text) {
  if (p_.tok_.text() == text && !p_.Is(TokenKind::kEof)) {
    p_.Next();
    return true;
  }
  return p_.Unexpected(absl::StrCat("'", text, "'"));
}

bool AsmParser::GroupIsNext(absl::Span<const AsmElement> group, size_t* literals) {
  const Token token = p_.tok_;
  const Lexer::Position position = p_.lexer_.position();
  *literals = 0;
  while (*literals < group.size() && group[*literals].kind == AsmKind::kLiteral) {
    if (p_.tok_.text() != group[*literals].text || p_.Is(TokenKind::kEof)) {
      p_.lexer_.set_position(position);
      p_.tok_ = token;
      return false;
    }
    p_.Next();
    ++*literals;
  }
  return true;
}

// --- Operands ---

bool AsmParser::ParseOperands() {
  if (!p_.Is(TokenKind::kPercentId)) return true;
  for (;;) {
    op_.operands.emplace_back();
    if (!p_.ParseOperand(&op_.operands.back())) return false;
    if (!p_.Is(TokenKind::kComma)) return true;
    const Token comma = p_.tok_;
    const Lexer::Position position = p_.lexer_.position();
    p_.Next();
    if (p_.Is(TokenKind::kPercentId)) continue;
    p_.lexer_.set_position(position);
    p_.tok_ = comma;
    return true;
  }
}

bool AsmParser::ParseOperands(size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (i > 0 && !p_.Expect(TokenKind::kComma, "and the next operand")) return false;
    op_.operands.emplace_back();
    if (!p_.ParseOperand(&op_.operands.back())) return false;
  }
  return true;
}

// --- Attributes ---

bool AsmParser::Add(const char* at, absl::string_view name, Attribute value) {
  for (const NamedAttribute& entry : op_.attributes) {
    if (entry.name != name) continue;
    return p_.Fail(ParseError::kDuplicateKey, at, "an attribute is given twice",
                   "each attribute once", Parser::Quoted(name));
  }
  op_.attributes.push_back({name, value});
  return true;
}

bool AsmParser::ParseAttr(const AsmElement& element) {
  const char* const at = p_.tok_.begin;
  const absl::string_view name = element.text;
  const AttrSpec& spec = *element.spec;
  Context& context = *p_.context_;
  Attribute value;
  switch (element.attr) {
    case AsmAttr::kInts:
      return ParseIntsAttr(name, spec.type);
    case AsmAttr::kInt:
      return ParseIntAttr(spec);
    case AsmAttr::kFloat: {
      const Type type = context.Float(spec.type == AttrType::kF32 ? "f32" : "f64");
      double number;
      char bytes[8];
      if (!p_.ParseDouble(&number, "a number such as 0.1")) return false;
      EncodeFloat(type, number, bytes);
      return Add(at, name, context.Float(DecodeFloat(type, bytes), type));
    }
    case AsmAttr::kBool:
      if (!p_.IsWord("true") && !p_.IsWord("false")) return p_.Unexpected("'true' or 'false'");
      return p_.ParseAttribute(&value) && Add(at, name, value);
    case AsmAttr::kEnum:
      return ParseEnumAttr(spec.detail, &value) && Add(at, name, value);
    case AsmAttr::kEnums:
      return ParseEnumsAttr(name, spec.detail);
    case AsmAttr::kString: {
      std::string bytes;
      return p_.ParseStringToken(&bytes) && Add(at, name, context.String(bytes));
    }
    case AsmAttr::kSymbol: {
      std::string symbol;
      if (!p_.ParseSymbol(&symbol)) return false;
      return Add(at, name,
                 spec.type == AttrType::kString ? context.String(symbol) : context.Symbol(symbol));
    }
    case AsmAttr::kElements: {
      Type type;
      return ParseElementsAttr(name, &type);
    }
    case AsmAttr::kBalanced:
      return ParseBalancedAttr(name, spec.detail, p_.tok_.kind);
  }
  return true;
}

bool AsmParser::ParseIntAttr(const AttrSpec& spec) {
  const char* const at = p_.tok_.begin;
  Type type = p_.i64_;
  if (spec.type == AttrType::kI32) type = p_.i32_;
  if (spec.type == AttrType::kUI32) type = p_.context_->Integer(32, Signedness::kUnsigned);
  if (spec.type == AttrType::kUI64) type = p_.context_->Integer(64, Signedness::kUnsigned);
  Parser::Integer integer;
  int64_t value;
  return p_.ParseInteger(&integer, "an integer") && p_.IntegerFits(integer, type, &value) &&
         Add(at, spec.name, p_.context_->Int(value, type));
}

bool AsmParser::ParseIntsAttr(absl::string_view name, AttrType type) {
  const char* const at = p_.tok_.begin;
  if (p_.IsWord("array") || p_.IsWord("dense")) {
    Attribute value;
    return p_.ParseAttribute(&value) && Add(at, name, value);
  }
  Int64List values;
  if (!p_.ParseIntList(&values, type == AttrType::kBoolArray)) return false;
  if (type != AttrType::kBoolArray) return Add(at, name, p_.context_->I64Array(values));
  for (int64_t& value : values) value = value != 0 ? 1 : 0;
  return Add(at, name, p_.context_->DenseArray(p_.context_->I1(), values));
}

bool AsmParser::ParseEnumAttr(absl::string_view enum_name, Attribute* value) {
  if (!p_.Is(TokenKind::kHashId)) return p_.ParseEnumValue(enum_name, value);
  const char* const at = p_.tok_.begin;
  if (!p_.ParseAttribute(value)) return false;
  if (value->Is(AttrKind::kEnum) && value->name() == enum_name) return true;
  return p_.Fail(ParseError::kAttribute, at, "malformed attribute",
                 absl::StrCat("a value of ", enum_name), Parser::Quoted(value->ToString()));
}

// [HIGH, DEFAULT], or one for a list of one.
bool AsmParser::ParseEnumsAttr(absl::string_view name, absl::string_view enum_name) {
  const char* const at = p_.tok_.begin;
  absl::InlinedVector<Attribute, 2> values;
  const auto item = [&] {
    values.emplace_back();
    return ParseEnumAttr(enum_name, &values.back());
  };
  if (p_.Is(TokenKind::kLSquare)
          ? !p_.ParseList(TokenKind::kLSquare, TokenKind::kRSquare, "the list", item)
          : !item()) {
    return false;
  }
  return Add(at, name, p_.context_->Array(values));
}

bool AsmParser::ParseBalancedAttr(absl::string_view name, absl::string_view detail,
                                  TokenKind open) {
  const char* const at = p_.tok_.begin;
  if (!p_.Is(open) ||
      (open != TokenKind::kLess && open != TokenKind::kLSquare && open != TokenKind::kLBrace)) {
    return p_.Unexpected("a list in brackets");
  }
  const char* const end = p_.SkipBalanced(at);
  if (end == nullptr) return false;
  const absl::string_view text(at, static_cast<size_t>(end - at));
  p_.lexer_.Advance(end);
  p_.Next();
  const size_t dot = detail.find('.');
  return Add(at, name,
             p_.context_->Opaque(open == TokenKind::kLess
                                     ? absl::StrCat("#", detail, text)
                                     : absl::StrCat("#", detail.substr(0, dot), "<",
                                                    detail.substr(dot + 1), " ", text, ">")));
}

bool AsmParser::ParseElementsAttr(absl::string_view name, Type* type) {
  const char* const at = p_.tok_.begin;
  Attribute value;
  if (p_.IsWord("dense_resource")) {
    return p_.ParseDenseResource(&value, type) && Add(at, name, value);
  }
  if (!p_.IsWord("dense") && !p_.IsWord("sparse") && !p_.Is(TokenKind::kHashId)) {
    return p_.Unexpected("a constant such as dense<0> : tensor<2xi32>");
  }
  if (!p_.ParseAttribute(&value)) return false;
  *type = value.type();
  // Of constants that are kept as text, the text says the type.
  const absl::string_view text = value.Is(AttrKind::kOpaque) ? value.text() : absl::string_view();
  if (const size_t colon = text.rfind(" : "); colon != absl::string_view::npos) {
    const ParseOptions options;
    if (!Parser(text.substr(colon + 3), options, p_.context_).ParseLoneType(type).ok())
      *type = Type();
  }
  if (!*type) {
    return p_.Fail(ParseError::kElements, at, "malformed constant",
                   "one such as dense<0> : tensor<2xi32>", Parser::Quoted(value.ToString()));
  }
  return Add(at, name, value);
}

// --- Types ---

bool AsmParser::ParseTypes(ParsedTypes* types) {
  do {
    types->emplace_back();
    if (!p_.ParseType(&types->back())) return false;
  } while (p_.Accept(TokenKind::kComma));
  return true;
}

bool AsmParser::SetUniformType(Type type, const char* at) {
  for (const OperandSpec& result : op_.info->results) {
    if (result.arity != Arity::kOne) {
      return p_.Fail(ParseError::kSyntax, at, "the types of the results are missing",
                     "types such as (tensor<f32>) -> tensor<f32>", Parser::Quoted(type.ToString()));
    }
    op_.result_types.push_back(type);
  }
  const ParsedTypes types(op_.operands.size(), type);
  return p_.CheckOperandTypes(op_, types, at);
}

bool AsmParser::ParseFunctional() {
  const char* const at = p_.tok_.begin;
  if (!p_.Is(TokenKind::kLParen)) {
    Type type;
    return p_.ParseType(&type) && SetUniformType(type, at);
  }
  ParsedTypes types;
  return p_.ParseSignature(&types, &op_.result_types) && p_.CheckOperandTypes(op_, types, at);
}

bool AsmParser::ParseArrow() {
  if (p_.Is(TokenKind::kLParen)) return ParseFunctional();
  const char* const at = p_.tok_.begin;
  ParsedTypes types;
  if (!ParseTypes(&types)) return false;
  if (!p_.Accept(TokenKind::kArrow)) return p_.Unexpected("'->' and the types of the results");
  return p_.ParseResultTypes(&op_.result_types) && p_.CheckOperandTypes(op_, types, at);
}

bool AsmParser::ParseOperandTypes(bool are_results) {
  const char* const at = p_.tok_.begin;
  ParsedTypes types;
  if (!ParseTypes(&types)) return false;
  if (are_results) op_.result_types = types;
  return p_.CheckOperandTypes(op_, types, at);
}

}  // namespace pjrt::ir
