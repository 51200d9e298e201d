// SPDX-License-Identifier: Apache-2.0
//
// Types. Dimension lists (`4x?xf32`) are read character by character, since the tokens of MLIR do
// not fit them: in `0x4xf32` stands no hexadecimal number, and `x4xf32` is no name.
#include <cstdint>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Reads digits from `p` on; false when the number has more than 63 bits.
bool ReadDecimal(const char** p, const char* end, int64_t* value) {
  uint64_t v = 0;
  bool fits = true;
  for (; *p != end && IsDigit(**p); ++*p) {
    const uint64_t digit = static_cast<uint64_t>(**p - '0');
    if (v > (static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - digit) / 10) fits = false;
    if (fits) v = v * 10 + digit;
  }
  *value = static_cast<int64_t>(v);
  return fits;
}

// i32, si8, ui64.
bool ReadIntegerTypeName(absl::string_view name, Signedness* signedness, int* width) {
  *signedness = Signedness::kSignless;
  if (name[0] == 's') *signedness = Signedness::kSigned;
  if (name[0] == 'u') *signedness = Signedness::kUnsigned;
  if (*signedness != Signedness::kSignless) name.remove_prefix(1);
  if (name.size() < 2 || name.size() > 9 || name[0] != 'i') return false;
  *width = 0;
  for (char c : name.substr(1)) {
    if (!IsDigit(c)) return false;
    *width = *width * 10 + (c - '0');
  }
  return true;
}

}  // namespace

bool Parser::ParseType(Type* type) {
  switch (tok_.kind) {
    case TokenKind::kBareId:
      return ParseNamedType(type);
    case TokenKind::kLParen:
      return ParseFunctionType(type);
    case TokenKind::kBangId:
      return ParseBangType(type);
    default:
      return Unexpected("a type");
  }
}

bool Parser::ParseNamedType(Type* type) {
  const absl::string_view name = tok_.text();
  if (name == "tensor") return ParseTensor(type);
  Signedness signedness;
  int width;
  if (ReadIntegerTypeName(name, &signedness, &width)) {
    if (width < 1 || width > 64) {
      return Fail(ParseError::kType, tok_.begin, "unsupported integer type", "a width from 1 to 64",
                  Quoted(name));
    }
    *type = context_->Integer(width, signedness);
    Next();
    return true;
  }
  if (name == "index" || name == "none") {
    *type = name == "index" ? context_->Index() : context_->None();
    Next();
    return true;
  }
  if (name == "memref") return ParseShaped(TypeKind::kMemRef, type);
  if (name == "vector") return ParseShaped(TypeKind::kVector, type);
  if (name == "complex") {
    Level level(this);
    if (!level.ok()) return false;
    Next();
    Type part;
    if (!Expect(TokenKind::kLess)) return false;
    const char* at = tok_.begin;
    if (!ParseType(&part)) return false;
    if (!part.Is(TypeKind::kFloat) && !part.Is(TypeKind::kInteger)) {
      return Fail(ParseError::kType, at, "malformed complex type",
                  "a float or integer type for the parts", Quoted(part.ToString()));
    }
    *type = context_->Complex(part);
    return Expect(TokenKind::kGreater, "to close the complex type");
  }
  if (name == "tuple") {
    Level level(this);
    if (!level.ok()) return false;
    Next();
    ParsedTypes elements;
    if (!ParseTypeList(TokenKind::kLess, TokenKind::kGreater, &elements)) return false;
    *type = context_->Tuple(elements);
    return true;
  }
  if (const Type f = context_->Float(name)) {
    *type = f;
    Next();
    return true;
  }
  return Unexpected("a type");
}

bool Parser::ParseTypeList(TokenKind open, TokenKind close, ParsedTypes* types) {
  return ParseList(open, close, "a list of types", [&] {
    Type type;
    if (!ParseType(&type)) return false;
    types->push_back(type);
    return true;
  });
}

bool Parser::ParseResultTypes(ParsedTypes* results) {
  if (Is(TokenKind::kLParen)) return ParseTypeList(TokenKind::kLParen, TokenKind::kRParen, results);
  Type type;
  if (!ParseType(&type)) return false;
  results->push_back(type);
  return true;
}

bool Parser::ParseSignature(ParsedTypes* inputs, ParsedTypes* results) {
  return ParseTypeList(TokenKind::kLParen, TokenKind::kRParen, inputs) &&
         Expect(TokenKind::kArrow, "and the types of the results") && ParseResultTypes(results);
}

bool Parser::ParseFunctionType(Type* type) {
  Level level(this);
  if (!level.ok()) return false;
  ParsedTypes inputs, results;
  if (!ParseSignature(&inputs, &results)) return false;
  *type = context_->Function(inputs, results);
  return true;
}

bool Parser::ParseBangType(Type* type) {
  const Token token = tok_;
  const absl::string_view name = token.name();
  const char* const after = token.end;
  const bool has_body = after != lexer_.end() && *after == '<';
  if (!absl::StrContains(name, '.') && !has_body) {
    const Alias* alias;
    if (!UseAlias(&alias)) return false;
    *type = alias->type;
    return true;
  }
  if (name == "stablehlo.token" && !has_body) {
    *type = context_->Token();
    Next();
    return true;
  }
  Level level(this);
  if (!level.ok()) return false;
  if (name == "stablehlo.future" && has_body) {
    Next();
    return ParseFuture(type);
  }
  if (name == "quant.uniform" && has_body) return ParseQuantized(type);
  if (absl::StartsWith(name, "stablehlo.") || name == "stablehlo" ||
      absl::StartsWith(name, "chlo.")) {
    return Fail(ParseError::kType, token.begin, "unknown type",
                "!stablehlo.token or !stablehlo.future<...>", Quoted(token.text()));
  }
  const char* end = after;
  if (has_body) {
    end = SkipBalanced(after);
    if (end == nullptr) return false;
  }
  *type =
      context_->OpaqueType(absl::string_view(token.begin, static_cast<size_t>(end - token.begin)));
  lexer_.Advance(end);
  Next();
  return true;
}

// <tensor<2xf32>, !stablehlo.token>, from the `<` on.
bool Parser::ParseFuture(Type* type) {
  const char* const begin = tok_.begin;
  ParsedTypes elements;
  const auto unfit = [&](const char* at, std::string found) {
    return Fail(ParseError::kType, at, "malformed future",
                "types of values: ranked tensors, tokens, memrefs", found);
  };
  if (!ParseList(TokenKind::kLess, TokenKind::kGreater, "a list of types", [&] {
        const char* const at = tok_.begin;
        Type element;
        if (!ParseType(&element)) return false;
        elements.push_back(element);
        return element.IsTensor() || element.Is(TypeKind::kToken) ||
               element.Is(TypeKind::kMemRef) || element.Is(TypeKind::kOpaque) ||
               unfit(at, Quoted(element.ToString()));
      })) {
    return false;
  }
  if (elements.empty()) return unfit(begin, "none");
  *type = context_->Future(elements);
  return true;
}

// Most types of a program are `tensor<dims x element>` on few different shapes: those are looked up
// by their text.
bool Parser::ParseTensor(Type* type) {
  const char* const open = tok_.end;
  if (open == lexer_.end() || *open != '<') {
    Next();
    return Unexpected("'<' behind 'tensor'");
  }
  const char* p = open + 1;
  while (p != lexer_.end() && (IsBareChar(*p) || *p == '?')) ++p;
  if (p == lexer_.end() || *p != '>') return ParseTensorBody(type);
  const absl::string_view body(open + 1, static_cast<size_t>(p - open - 1));
  if (const auto it = tensor_types_.find(body); it != tensor_types_.end()) {
    *type = it->second;
    lexer_.MoveTo(p + 1);
    Next();
    return true;
  }
  if (!ParseTensorBody(type)) return false;
  tensor_types_.emplace(body, *type);
  return true;
}

bool Parser::ParseTensorBody(Type* type) {
  Level level(this);
  if (!level.ok()) return false;
  const char* const at = tok_.begin;
  Next();
  if (!Is(TokenKind::kLess)) return Unexpected("'<'");
  Int64List dims;
  bool unranked = false;
  if (!ParseDims(&dims, &unranked)) return false;
  Type element;
  const char* const element_at = tok_.begin;
  if (!ParseType(&element)) return false;
  if (!element.IsElementType() && !element.Is(TypeKind::kOpaque) && !element.Is(TypeKind::kNone) &&
      !element.Is(TypeKind::kVector)) {
    return Fail(ParseError::kType, element_at, "malformed tensor type", "an element type",
                Quoted(element.ToString()));
  }
  Int64List bounds;
  Attribute encoding;
  if (Accept(TokenKind::kComma) && !ParseTensorEncoding(dims, at, &bounds, &encoding)) return false;
  if (!Expect(TokenKind::kGreater, "to close the tensor type")) return false;
  if (unranked && (encoding || !bounds.empty())) {
    return Fail(ParseError::kType, at, "malformed tensor type", "no encoding of an unranked tensor",
                "");
  }
  *type = unranked ? context_->UnrankedTensor(element)
                   : context_->Tensor(dims, element, bounds, encoding);
  return true;
}

bool Parser::ParseDims(Int64List* dims, bool* unranked) {
  const char* const end = lexer_.end();
  const auto expect_x = [&](const char* p) {
    p = lexer_.SkipBlanks(p);
    if (p == end || *p != 'x') {
      lexer_.Advance(p);
      Next();
      return Unexpected("'x' behind a dimension");
    }
    lexer_.Advance(p + 1);
    return true;
  };
  for (;;) {
    const char* p = lexer_.SkipBlanks(lexer_.position().at);
    if (p == end) break;
    if (*p == '*' && dims->empty() && unranked != nullptr) {
      *unranked = true;
      if (!expect_x(p + 1)) return false;
      break;
    }
    int64_t size = kDynamic;
    const char* const digits = p;
    if (*p == '?') {
      ++p;
    } else if (IsDigit(*p)) {
      if (!ReadDecimal(&p, end, &size)) {
        return Fail(ParseError::kType, digits, "a dimension is too large",
                    "at most 9223372036854775807", Quoted(digits, p));
      }
    } else {
      break;
    }
    dims->push_back(size);
    if (!expect_x(p)) return false;
  }
  Next();
  return true;
}

bool Parser::ParseTensorEncoding(absl::Span<const int64_t> dims, const char* at, Int64List* bounds,
                                 Attribute* encoding) {
  const char* const encoding_at = tok_.begin;
  if (!ParseAttribute(encoding)) return false;
  // ParseHashAttribute has brought every spelling of bounds into this one.
  constexpr absl::string_view kPrefix = "#stablehlo.bounds<";
  absl::string_view text = encoding->Is(AttrKind::kOpaque) ? encoding->text() : absl::string_view();
  if (!absl::StartsWith(text, kPrefix)) return true;
  *encoding = Attribute();
  const char* const end = text.data() + text.size() - 1;
  for (const char* p = text.data() + kPrefix.size(); p != end; ++p) {
    if (*p == '?') {
      bounds->push_back(kDynamic);
    } else if (IsDigit(*p) || *p == '-') {
      const bool negative = *p == '-';
      int64_t value;
      if (negative) ++p;
      if (!ReadDecimal(&p, end, &value)) value = kDynamic;  // the one below the smallest
      bounds->push_back(negative && value != kDynamic ? -value : value);
      --p;
    }
  }
  if (bounds->size() != dims.size()) {
    return Fail(ParseError::kType, encoding_at, "bounds do not fit the tensor",
                absl::StrCat("one entry for each of ", dims.size(), " dimensions"),
                absl::StrCat(bounds->size()));
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if ((*bounds)[i] != kDynamic && dims[i] != kDynamic) {
      return Fail(ParseError::kType, at, "bounds do not fit the tensor",
                  absl::StrCat("'?' for dimension ", i, ", which is static"),
                  absl::StrCat((*bounds)[i]));
    }
  }
  return true;
}

bool Parser::ParseShaped(TypeKind kind, Type* type) {
  Level level(this);
  if (!level.ok()) return false;
  Next();
  if (!Is(TokenKind::kLess)) return Unexpected("'<'");
  Int64List dims;
  if (!ParseDims(&dims, nullptr)) return false;
  Type element;
  if (!ParseType(&element)) return false;
  Attribute encoding;
  if (kind == TypeKind::kMemRef && Is(TokenKind::kComma)) {
    Next();
    const char* const begin = tok_.begin;
    if (!ParseAttribute(&encoding)) return false;
    while (Accept(
        TokenKind::kComma)) {  // a layout and a memory space are kept together, as they are written
      Attribute more;
      if (!ParseAttribute(&more)) return false;
      encoding = context_->Opaque(absl::StripTrailingAsciiWhitespace(
          absl::string_view(begin, static_cast<size_t>(tok_.begin - begin))));
    }
  }
  if (!Expect(TokenKind::kGreater, "to close the type")) return false;
  *type = kind == TypeKind::kMemRef ? context_->MemRef(dims, element, encoding)
                                    : context_->Vector(dims, element);
  return true;
}

}  // namespace pjrt::ir
