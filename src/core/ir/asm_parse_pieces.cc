// SPDX-License-Identifier: Apache-2.0
//
// Hand-written pieces of pretty syntax, those without regions.
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/asm_parse.h"

namespace pjrt::ir {

bool AsmParser::ParsePiece(AsmPiece piece) {
  switch (piece) {
    case AsmPiece::kConstant:
      return ParseConstant();
    case AsmPiece::kSlice:
      return ParseSlice();
    case AsmPiece::kDotGeneral:
      return ParseDotGeneral();
    case AsmPiece::kConvolution:
      return ParseConvolution();
    case AsmPiece::kReduce:
      return ParseReduce();
    case AsmPiece::kWhile:
      return ParseWhile();
    case AsmPiece::kScan:
      return ParseScan();
    case AsmPiece::kCustomCall:
      return ParseCustomCall();
    case AsmPiece::kComposite:
      return ParseComposite();
    case AsmPiece::kReturn:
      return ParseReturn();
    case AsmPiece::kManualComputation:
      return ParseManualComputation();
    case AsmPiece::kNamedComputation:
      return ParseNamedComputation();
    case AsmPiece::kExponentMantissa:
      return ParseExponentMantissa();
    case AsmPiece::kSelectType:
      return ParseSelectType();
    case AsmPiece::kComplexType:
      return ParseComplexType();
    case AsmPiece::kTupleType:
      return ParseTupleType();
    case AsmPiece::kBarrier:
      return ParseBarrier();
    case AsmPiece::kCast:
      return ParseCast();
    case AsmPiece::kNone:
    case AsmPiece::kFunc:  // Parser does these two itself
    case AsmPiece::kModule:
      return true;
  }
  return true;
}

//   {attr = 1 : i32} dense<1> : tensor<2xi32>
//   () <{value = dense<1> : tensor<2xi8>}> {attr = 1 : i32} : () -> tensor<2x!quant.uniform<...>>
bool AsmParser::ParseConstant() {
  if (p_.Accept(TokenKind::kLParen)) {
    if (!p_.Expect(TokenKind::kRParen, "since a constant has no operands")) return false;
    if (p_.Accept(TokenKind::kLess)) {
      if (!p_.Is(TokenKind::kLBrace)) return p_.Unexpected("'{' and the properties");
      if (!p_.ParseAttrDict(&op_.attributes) ||
          !p_.Expect(TokenKind::kGreater, "to close the properties")) {
        return false;
      }
    }
    return ParseOptionalAttrDict() && p_.Expect(TokenKind::kColon, "and the type") &&
           ParseFunctional();
  }
  Type type;
  if (!ParseOptionalAttrDict() || !ParseElementsAttr("value", &type)) return false;
  op_.result_types.push_back(type);
  return true;
}

//   %x [0:2, 1:8:3] : (T) -> U
bool AsmParser::ParseSlice() {
  if (!ParseOperands(1)) return false;
  const char* const at = p_.tok_.begin;
  Int64List starts, limits, strides;
  if (!p_.ParseList(TokenKind::kLSquare, TokenKind::kRSquare, "the ranges of the slice", [&] {
        starts.emplace_back();
        limits.emplace_back();
        strides.push_back(1);
        if (!p_.ParseInt64(&starts.back(), "a start such as in 0:2") ||
            !p_.Expect(TokenKind::kColon, "and a limit") ||
            !p_.ParseInt64(&limits.back(), "a limit")) {
          return false;
        }
        return !p_.Accept(TokenKind::kColon) || p_.ParseInt64(&strides.back(), "a stride");
      })) {
    return false;
  }
  Context& context = *p_.context_;
  return Add(at, "start_indices", context.I64Array(starts)) &&
         Add(at, "limit_indices", context.I64Array(limits)) &&
         Add(at, "strides", context.I64Array(strides)) && ParseOptionalAttrDict() &&
         p_.Expect(TokenKind::kColon, "and the types") && ParseFunctional();
}

//   %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGH, HIGH],
//   algorithm = <...> : ...
bool AsmParser::ParseDotGeneral() {
  if (!ParseOperands(2)) return false;
  const char* const at = p_.tok_.begin;
  Context& context = *p_.context_;
  Int64List lists[4];  // batching of lhs and rhs, contracting of lhs and rhs
  bool seen[2] = {false, false};
  while (p_.Accept(TokenKind::kComma)) {
    const Token key = p_.tok_;
    if (!p_.Is(TokenKind::kBareId)) return p_.Unexpected("'contracting_dims'");
    p_.Next();
    if (!p_.Expect(TokenKind::kEqual)) return false;
    if (key.text() == "batching_dims" || key.text() == "contracting_dims") {
      const int which = key.text()[0] == 'b' ? 0 : 1;
      if (seen[which]) {
        return p_.Fail(ParseError::kDuplicateKey, key.begin, "dimensions are given twice",
                       "each once", Parser::Quoted(key.text()));
      }
      seen[which] = true;
      if (!p_.ParseIntList(&lists[2 * which]) ||
          !p_.ExpectWord("x", "and the dimensions of the right operand") ||
          !p_.ParseIntList(&lists[2 * which + 1])) {
        return false;
      }
    } else if (key.text() == "precision") {
      if (!ParseEnumsAttr("precision_config", "stablehlo.precision")) return false;
    } else if (key.text() == "algorithm") {
      Attribute algorithm;
      const char* const body_at = p_.tok_.begin;
      if (p_.Is(TokenKind::kHashId)) {
        if (!p_.ParseAttribute(&algorithm)) return false;
      } else if (!p_.Expect(TokenKind::kLess) ||
                 !p_.ParseStructBody("stablehlo.dot_algorithm", body_at, &algorithm)) {
        return false;
      }
      if (!Add(key.begin, "algorithm", algorithm)) return false;
    } else {
      return p_.Fail(ParseError::kSyntax, key.begin, "unexpected token",
                     "batching_dims, contracting_dims, precision or algorithm",
                     Parser::Quoted(key.text()));
    }
  }
  const NamedAttribute fields[] = {{"lhs_batching_dimensions", context.I64Array(lists[0])},
                                   {"rhs_batching_dimensions", context.I64Array(lists[1])},
                                   {"lhs_contracting_dimensions", context.I64Array(lists[2])},
                                   {"rhs_contracting_dimensions", context.I64Array(lists[3])}};
  return Add(at, "dot_dimension_numbers", context.Struct("stablehlo.dot", fields)) &&
         ParseOptionalAttrDict() && p_.Expect(TokenKind::kColon, "and the types") &&
         ParseFunctional();
}

//   (%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {...} {...} : ...
bool AsmParser::ParseConvolution() {
  if (!p_.Expect(TokenKind::kLParen) || !ParseOperands(2) || !p_.Expect(TokenKind::kRParen))
    return false;
  const char* const at = p_.tok_.begin;
  ParsedAttributes fields;
  if (!p_.ExpectWord("dim_numbers") || !p_.Expect(TokenKind::kEqual) || !p_.ParseConvDims(&fields))
    return false;
  return Add(at, "dimension_numbers", p_.context_->Struct("stablehlo.conv", fields)) &&
         p_.Expect(TokenKind::kComma, "and the window") && p_.ExpectWord("window") &&
         p_.Expect(TokenKind::kEqual) && ParseWindow() && ParseOptionalAttrDict() &&
         p_.Expect(TokenKind::kColon, "and the types") && ParseFunctional();
}

bool AsmParser::ParseWindow() {
  return p_.ParseList(TokenKind::kLBrace, TokenKind::kRBrace, "the window", [&] {
    const Token key = p_.tok_;
    const absl::string_view word = p_.Is(TokenKind::kBareId) ? key.text() : absl::string_view();
    absl::string_view name;
    if (word == "stride") name = "window_strides";
    if (word == "pad") name = "padding";
    if (word == "lhs_dilate") name = "lhs_dilation";
    if (word == "rhs_dilate") name = "rhs_dilation";
    if (word == "reverse") name = "window_reversal";
    if (name.empty()) return p_.Unexpected("stride, pad, lhs_dilate, rhs_dilate or reverse");
    p_.Next();
    if (!p_.Expect(TokenKind::kEqual)) return false;
    if (word == "pad") return ParsePadding();
    return ParseIntsAttr(name, word == "reverse" ? AttrType::kBoolArray : AttrType::kI64Array);
  });
}

bool AsmParser::ParsePadding() {
  const char* const at = p_.tok_.begin;
  Int64List values;
  if (!p_.ParseList(TokenKind::kLSquare, TokenKind::kRSquare, "the padding", [&] {
        const char* const pair_at = p_.tok_.begin;
        const size_t before = values.size();
        if (!p_.ParseIntList(&values)) return false;
        if (values.size() - before == 2) return true;
        return p_.Fail(ParseError::kAttribute, pair_at, "malformed padding",
                       "two integers, low and high", absl::StrCat(values.size() - before));
      })) {
    return false;
  }
  const int64_t dims[] = {static_cast<int64_t>(values.size() / 2), 2};
  return Add(at, "padding", p_.context_->DenseI64(dims, values));
}

//   @target(%a, %b) {...} : (T, U) -> V
bool AsmParser::ParseCustomCall() {
  const char* const at = p_.tok_.begin;
  std::string target;
  return p_.ParseSymbol(&target) && Add(at, "call_target_name", p_.context_->String(target)) &&
         p_.Expect(TokenKind::kLParen, "and the operands") && ParseOperands() &&
         p_.Expect(TokenKind::kRParen, "to close the operands") && ParseOptionalAttrDict() &&
         p_.Expect(TokenKind::kColon, "and the types") && ParseFunctional();
}

//   {...} %a, %b : T, U
bool AsmParser::ParseReturn() {
  if (!ParseOptionalAttrDict() || !p_.ParseOperandList(&op_.operands)) return false;
  if (op_.operands.empty()) return true;
  return ParseOptionalAttrDict() && p_.Expect(TokenKind::kColon, "and the types") &&
         ParseOperandTypes(false);
}

//   e5m10
bool AsmParser::ParseExponentMantissa() {
  const char* const at = p_.tok_.begin;
  const absl::string_view word = p_.Is(TokenKind::kBareId) ? p_.tok_.text() : absl::string_view();
  const size_t m = word.find('m');
  int32_t exponent, mantissa;
  if (m == absl::string_view::npos || word[0] != 'e' ||
      !absl::SimpleAtoi(word.substr(1, m - 1), &exponent) ||
      !absl::SimpleAtoi(word.substr(m + 1), &mantissa)) {
    return p_.Unexpected("a format such as e5m10");
  }
  p_.Next();
  return Add(at, "exponent_bits", p_.context_->I32(exponent)) &&
         Add(at, "mantissa_bits", p_.context_->I32(mantissa));
}

//   Tpred, T when both values and the result are T, else (Ts) -> R
bool AsmParser::ParseSelectType() {
  if (p_.Is(TokenKind::kLParen)) return ParseFunctional();
  const char* const at = p_.tok_.begin;
  Type pred, type;
  if (!p_.ParseType(&pred)) return false;
  if (!p_.Accept(TokenKind::kComma)) {
    return p_.Fail(ParseError::kTypeMismatch, at, "the type of the values is missing",
                   "two types, of the predicate and of the values",
                   Parser::Quoted(pred.ToString()));
  }
  if (!p_.ParseType(&type)) return false;
  op_.result_types.push_back(type);
  const Type types[] = {pred, type, type};
  return p_.CheckOperandTypes(op_, types, at);
}

//   R, whose parts are the elements of the operands, else (Ts) -> R
bool AsmParser::ParseComplexType() {
  if (p_.Is(TokenKind::kLParen)) return ParseFunctional();
  const char* const at = p_.tok_.begin;
  Type type;
  if (!p_.ParseType(&type)) return false;
  if (!type.IsTensor() || !type.element_type().Is(TypeKind::kComplex)) {
    return p_.Fail(ParseError::kTypeMismatch, at, "malformed result of stablehlo.complex",
                   "a tensor of complex numbers", Parser::Quoted(type.ToString()));
  }
  op_.result_types.push_back(type);
  const Type part = p_.context_->Tensor(type.dims(), type.element_type().element_type(),
                                        type.bounds(), type.encoding());
  const ParsedTypes types(2, part);
  return p_.CheckOperandTypes(op_, types, at);
}

//   tuple<T, U>, else (Ts) -> R
bool AsmParser::ParseTupleType() {
  if (p_.Is(TokenKind::kLParen)) return ParseFunctional();
  const char* const at = p_.tok_.begin;
  Type type;
  if (!p_.ParseType(&type)) return false;
  op_.result_types.push_back(type);
  return p_.CheckOperandTypes(op_, type.elements(), at);
}

//   %a, %b : T, U  or ()
bool AsmParser::ParseBarrier() {
  if (p_.Accept(TokenKind::kLParen))
    return p_.Expect(TokenKind::kRParen, "since there are no operands");
  if (!p_.Is(TokenKind::kPercentId)) return p_.Unexpected("a value such as %0 or '()'");
  return p_.ParseOperandList(&op_.operands) && ParseOptionalAttrDict() &&
         p_.Expect(TokenKind::kColon, "and the types") && ParseOperandTypes(true);
}

//   %a, %b : T, U to V, W
bool AsmParser::ParseCast() {
  if (!p_.ParseOperandList(&op_.operands)) return false;
  if (!op_.operands.empty() &&
      (!p_.Expect(TokenKind::kColon, "and the types") || !ParseOperandTypes(false))) {
    return false;
  }
  return !p_.AcceptWord("to") || ParseTypes(&op_.result_types);
}

}  // namespace pjrt::ir
