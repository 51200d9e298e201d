// SPDX-License-Identifier: Apache-2.0
//
// Hand-written pieces of pretty syntax, those with regions.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/asm_parse.h"

namespace pjrt::ir {

// --- reduce ---

//   (%x init: %i) applies stablehlo.add across dimensions = [0] {...} : (T, U) -> V
//   (%x init: %i), (%y init: %j) across dimensions = [0] {...} : (...) -> (...) reducer(%a: A, %b:
//   A) (%c: B, %d: B) {...}
bool AsmParser::ParseReduce() {
  ParsedOperands inits;
  do {
    if (!p_.Expect(TokenKind::kLParen, "and an operand with its initial value") ||
        !ParseOperands(1) || !p_.ExpectWord("init") || !p_.Expect(TokenKind::kColon)) {
      return false;
    }
    inits.emplace_back();
    if (!p_.ParseOperand(&inits.back()) || !p_.Expect(TokenKind::kRParen)) return false;
  } while (p_.Accept(TokenKind::kComma));
  const size_t n = inits.size();
  op_.operands.insert(op_.operands.end(), inits.begin(), inits.end());

  absl::string_view reducer;
  const char* const reducer_at = p_.tok_.begin;
  if (p_.AcceptWord("applies") && !ParseReducerName(&reducer)) return false;
  if (!p_.ExpectWord("across") || !p_.ExpectWord("dimensions") || !p_.Expect(TokenKind::kEqual) ||
      !ParseIntsAttr("dimensions", AttrType::kI64Array) || !ParseOptionalAttrDict() ||
      !p_.Expect(TokenKind::kColon, "and the types")) {
    return false;
  }
  const char* const types_at = p_.tok_.begin;
  ParsedTypes types;
  if (!p_.ParseSignature(&types, &op_.result_types) || !p_.CheckOperandTypes(op_, types, types_at))
    return false;
  absl::InlinedVector<RegionArgument, 4> arguments;
  if (reducer.empty()) {
    arguments.resize(2 * n);
    if (!ParseReducerArguments(&arguments) || !p_.Expect(TokenKind::kLBrace, "and the reducer"))
      return false;
  }
  Op* made = p_.MakeOp(op_, block_, 1, {});
  if (made == nullptr) return false;
  if (!reducer.empty()) {
    if (!BuildReducer(reducer, reducer_at, made)) return false;
  } else {
    if (!p_.ParseRegion(op_, made->region(), arguments)) return false;
    p_.Next();
  }
  made_ = true;
  return p_.FinishInline(op_, made);
}

// Pairs of an accumulator and an element; the block has all accumulators first.
bool AsmParser::ParseReducerArguments(absl::InlinedVector<RegionArgument, 4>* arguments) {
  if (!p_.ExpectWord("reducer", "and the arguments of the reducer")) return false;
  const size_t n = arguments->size() / 2;
  for (size_t i = 0; i < n; ++i) {
    if (!p_.Expect(TokenKind::kLParen, "and an accumulator with its element") ||
        !p_.ParseRegionArgument(&(*arguments)[i]) || !p_.Expect(TokenKind::kComma) ||
        !p_.ParseRegionArgument(&(*arguments)[n + i]) || !p_.Expect(TokenKind::kRParen)) {
      return false;
    }
  }
  return true;
}

bool AsmParser::ParseReducerName(absl::string_view* name) {
  const absl::string_view word = p_.Is(TokenKind::kBareId) ? p_.tok_.text() : absl::string_view();
  const OpInfo& info = GetOpInfo(LookupOp(word));
  if (!absl::StartsWith(word, "stablehlo.") || !info.Has(kCommutative) ||
      info.operands.size() != 2) {
    return p_.Fail(ParseError::kOp, p_.tok_.begin, "an op that no reduction applies",
                   "a commutative op of two operands such as stablehlo.add", p_.FoundToken());
  }
  if (op_.operands.size() != 2) {
    return p_.Fail(ParseError::kOp, p_.tok_.begin, "the short form has several operands", "one",
                   absl::StrCat(op_.operands.size() / 2));
  }
  *name = info.name;
  p_.Next();
  return true;
}

bool AsmParser::BuildReducer(absl::string_view name, const char* at, Op* reduce) {
  const Type element = reduce->operand_type(0).element_type();
  if (!element) {
    return p_.Fail(ParseError::kTypeMismatch, at, "the operand of a reduction is no tensor",
                   "a tensor", Parser::Quoted(reduce->operand_type(0).ToString()));
  }
  const Type scalar = p_.context_->Tensor({}, element);
  Block* body = reduce->region()->AddBlock();
  Value* const operands[] = {body->AddArgument(scalar), body->AddArgument(scalar)};
  OpState state;
  state.name = name;
  state.location = reduce->location();
  state.operands = operands;
  state.result_types = absl::MakeConstSpan(&scalar, 1);
  Value* const result = p_.module_->Append(body, state)->result();
  OpState end;
  end.name = "stablehlo.return";
  end.location = reduce->location();
  end.operands = absl::MakeConstSpan(&result, 1);
  p_.module_->Append(body, end);
  return true;
}

// --- while, scan, composite ---

//   (%arg0 = %0, %arg1 = %1) : T, U attributes {...} cond {...} do {...}
bool AsmParser::ParseWhile() {
  absl::InlinedVector<RegionArgument, 8> arguments;
  if (!p_.ParseList(TokenKind::kLParen, TokenKind::kRParen, "the values of the loop", [&] {
        if (!p_.Is(TokenKind::kPercentId)) return p_.Unexpected("an argument such as %iterArg");
        arguments.push_back({p_.tok_.name(), p_.tok_.begin, Type(), Attribute()});
        p_.Next();
        if (!p_.Expect(TokenKind::kEqual, "and the initial value")) return false;
        op_.operands.emplace_back();
        return p_.ParseOperand(&op_.operands.back());
      })) {
    return false;
  }
  if (!arguments.empty() &&
      (!p_.Expect(TokenKind::kColon, "and the types") || !ParseOperandTypes(true)))
    return false;
  for (size_t i = 0; i < arguments.size(); ++i) arguments[i].type = op_.result_types[i];
  if (p_.AcceptWord("attributes")) {
    if (!p_.Is(TokenKind::kLBrace)) return p_.Unexpected("'{' and the attributes");
    if (!p_.ParseAttrDict(&op_.attributes)) return false;
  }
  Op* made = p_.MakeOp(op_, block_, 2, {});
  if (made == nullptr) return false;
  for (size_t i = 0; i < 2; ++i) {
    if (!p_.ExpectWord(i == 0 ? "cond" : "do", "and a region") || !p_.Expect(TokenKind::kLBrace) ||
        !p_.ParseRegion(op_, made->region(i), arguments)) {
      return false;
    }
    p_.Next();
  }
  made_ = true;
  return p_.FinishInline(op_, made);
}

//   (%x) inits (%c) dimension = 0 attributes {...} {...} : (T, U) -> (V, W)
bool AsmParser::ParseScan() {
  Context& context = *p_.context_;
  if (!p_.Expect(TokenKind::kLParen, "and the inputs") || !ParseOperands() ||
      !p_.Expect(TokenKind::kRParen)) {
    return false;
  }
  const size_t inputs = op_.operands.size();
  if (!p_.ExpectWord("inits") || !p_.Expect(TokenKind::kLParen) || !ParseOperands() ||
      !p_.Expect(TokenKind::kRParen)) {
    return false;
  }
  const size_t inits = op_.operands.size() - inputs;
  const char* const at = p_.tok_.begin;
  int64_t dimension;
  if (!p_.ExpectWord("dimension") || !p_.Expect(TokenKind::kEqual) ||
      !p_.ParseInt64(&dimension, "a dimension") || !Add(at, "dimension", context.I64(dimension))) {
    return false;
  }
  if (p_.AcceptWord("attributes")) {
    if (!p_.Is(TokenKind::kLBrace)) return p_.Unexpected("'{' and the attributes");
    if (!p_.ParseAttrDict(&op_.attributes)) return false;
  }
  op_.regions.emplace_back();
  if (!p_.SkipRegion(&op_.regions.back()) || !p_.Expect(TokenKind::kColon, "and the types") ||
      !ParseFunctional()) {
    return false;
  }
  // How the lists divide is said only where they are not halves.
  const size_t results = op_.result_types.size();
  const auto add_segments = [&](absl::string_view name, size_t first, size_t second) {
    if (first == second) return true;
    const int64_t sizes[] = {static_cast<int64_t>(first), static_cast<int64_t>(second)};
    return Add(at, name, context.DenseArray(p_.i32_, sizes));
  };
  if (results < inits) {
    return p_.Fail(ParseError::kOp, op_.at, "the results do not match the initial values",
                   absl::StrCat("at least ", inits, " results"), absl::StrCat(results));
  }
  return add_segments("operandSegmentSizes", inputs, inits) &&
         add_segments("resultSegmentSizes", results - inits, inits);
}

//   "ns.op" %a, %b ({...}, {...}) {...} : (T, U) -> V
bool AsmParser::ParseComposite() {
  const char* const at = p_.tok_.begin;
  std::string name;
  if (!p_.ParseStringToken(&name) || !Add(at, "name", p_.context_->String(name)) ||
      !ParseOperands())
    return false;
  if (p_.Is(TokenKind::kLParen) &&
      !p_.ParseList(TokenKind::kLParen, TokenKind::kRParen, "the regions", [&] {
        op_.regions.emplace_back();
        return p_.SkipRegion(&op_.regions.back());
      })) {
    return false;
  }
  return ParseOptionalAttrDict() && p_.Expect(TokenKind::kColon, "and the types") &&
         ParseFunctional();
}

// --- sdy ---

bool AsmParser::ParseShardings(absl::string_view name) {
  if (!p_.ExpectWord(name) || !p_.Expect(TokenKind::kEqual)) return false;
  if (!p_.Is(TokenKind::kLSquare)) return p_.Unexpected("'[' and the shardings");
  const char* const at = p_.tok_.begin;
  const char* const end = p_.SkipBalanced(at);
  if (end == nullptr) return false;
  p_.lexer_.Advance(end);
  p_.Next();
  return Add(
      at, name,
      p_.context_->Opaque(absl::StrCat("#sdy.sharding_per_value<",
                                       absl::string_view(at, static_cast<size_t>(end - at)), ">")));
}

//   (%a) in_shardings=[<...>] out_shardings=[<...>] manual_axes={"x"} (%arg0: A) {...} : (T) -> U
bool AsmParser::ParseManualComputation() {
  return p_.Expect(TokenKind::kLParen, "and the operands") && ParseOperands() &&
         p_.Expect(TokenKind::kRParen) && ParseShardings("in_shardings") &&
         ParseShardings("out_shardings") && p_.ExpectWord("manual_axes") &&
         p_.Expect(TokenKind::kEqual) &&
         ParseBalancedAttr("manual_axes", "sdy.manual_axes", TokenKind::kLBrace) &&
         ParseComputation();
}

//   <"name">(%a) in_shardings=[<...>] out_shardings=[<...>] (%arg0: A) {...} : (T) -> U
bool AsmParser::ParseNamedComputation() {
  if (!p_.Expect(TokenKind::kLess)) return false;
  const char* const at = p_.tok_.begin;
  std::string name;
  if (!p_.ParseStringToken(&name) || !Add(at, "name", p_.context_->String(name)) ||
      !p_.Expect(TokenKind::kGreater) || !p_.Expect(TokenKind::kLParen, "and the operands") ||
      !ParseOperands() || !p_.Expect(TokenKind::kRParen)) {
    return false;
  }
  if (p_.IsWord("in_shardings") && !ParseShardings("in_shardings")) return false;
  if (p_.IsWord("out_shardings") && !ParseShardings("out_shardings")) return false;
  return ParseComputation();
}

bool AsmParser::ParseComputation() {
  absl::InlinedVector<RegionArgument, 4> arguments;
  if (!p_.ParseList(TokenKind::kLParen, TokenKind::kRParen, "the arguments of the body", [&] {
        arguments.emplace_back();
        return p_.ParseRegionArgument(&arguments.back());
      })) {
    return false;
  }
  op_.regions.emplace_back();
  if (!p_.SkipRegion(&op_.regions.back()) || !ParseOptionalAttrDict() ||
      !p_.Expect(TokenKind::kColon, "and the types") || !ParseFunctional()) {
    return false;
  }
  made_ = true;
  return p_.FinishOp(&op_, block_,
                     [&](size_t) { return absl::Span<const RegionArgument>(arguments); });
}

}  // namespace pjrt::ir
