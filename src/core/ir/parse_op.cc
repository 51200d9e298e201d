// SPDX-License-Identifier: Apache-2.0
//
// Ops in the generic form, their operands, results and regions.
#include <algorithm>
#include <limits>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/asm_parse.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {
namespace {

// Regions of StableHLO have one block; a text with more than this means no good.
constexpr int kMostBlocks = 1000;

// Names that ops may have, so that every op can be printed.
bool IsOpName(absl::string_view name) {
  for (char c : name) {
    if (!IsSuffixChar(c)) return false;
  }
  return !name.empty();
}

}  // namespace

// --- Operands and results ---

bool Parser::ParseOperand(ParsedOperand* operand) {
  if (!Is(TokenKind::kPercentId)) return Unexpected("a value such as %0");
  const Token token = tok_;
  operand->at = token.begin;
  const ValueScopes::Binding* binding = values_.Find(token.name());
  if (binding == nullptr) {
    return Fail(ParseError::kUndefinedValue, token.begin, "undefined value",
                "a value defined before this place, in this region or around it",
                Quoted(token.text()));
  }
  Next();
  operand->value = binding->first;
  if (!Is(TokenKind::kHashId) || tok_.begin != token.end) return true;
  // %0#1
  uint64_t index = 0;
  for (char c : tok_.name()) {
    if (c < '0' || c > '9') return Unexpected("the number of a result such as #1");
    index = std::min<uint64_t>(index * 10 + static_cast<uint64_t>(c - '0'),
                               std::numeric_limits<uint32_t>::max());
  }
  if (index >= binding->count) {
    return Fail(ParseError::kUndefinedValue, token.begin, "no such result",
                absl::StrCat("at most #", binding->count - 1, " of ", Quoted(token.text())),
                Quoted(token.begin, tok_.end));
  }
  if (index != 0)
    operand->value = binding->first->defining_op()->result(binding->first->index() + index);
  Next();
  return true;
}

bool Parser::ParseOperandList(ParsedOperands* operands) {
  if (!Is(TokenKind::kPercentId)) return true;
  do {
    operands->emplace_back();
    if (!ParseOperand(&operands->back())) return false;
  } while (Accept(TokenKind::kComma));
  return true;
}

bool Parser::CheckOperandTypes(const ParsedOp& op, absl::Span<const Type> types, const char* at) {
  if (types.size() != op.operands.size()) {
    return Fail(ParseError::kTypeMismatch, at, "the types do not match the operands",
                absl::StrCat(op.operands.size(), " types of operands"), absl::StrCat(types.size()));
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (op.operands[i].value->type() == types[i]) continue;
    return Fail(ParseError::kTypeMismatch, op.operands[i].at,
                absl::StrCat("operand ", i, " of ", op.name, " has another type than it says"),
                types[i].ToString(), op.operands[i].value->type().ToString());
  }
  return true;
}

bool Parser::ParseResultNames(ResultNames* names) {
  do {
    if (!Is(TokenKind::kPercentId)) return Unexpected("a value such as %0");
    const Token token = tok_;
    uint64_t count = 1;
    Next();
    if (Accept(TokenKind::kColon)) {
      Integer integer;
      const char* const at = tok_.begin;
      if (!ParseInteger(&integer, "the number of results")) return false;
      count = integer.magnitude;
      if (integer.negative || count < 1 || count > std::numeric_limits<int32_t>::max()) {
        return Fail(ParseError::kOp, at, "impossible number of results", "at least 1",
                    Quoted(at, tok_.begin));
      }
    }
    names->names.push_back({token.name(), static_cast<uint32_t>(count), token.begin});
    names->count += count;
  } while (Accept(TokenKind::kComma));
  return Expect(TokenKind::kEqual, "and the op that gives the values");
}

bool Parser::Define(absl::string_view name, const char* at, Value* first, uint32_t count) {
  if (values_.Define(name, first, count)) return true;
  return Fail(ParseError::kRedefinedValue, at, "a value is defined twice",
              "a name that is not in use here", Quoted(absl::StrCat("%", name)));
}

bool Parser::DefineResults(const ParsedOp& op, Op* made) {
  size_t first = 0;
  for (const ResultNames::Name& name : op.results->names) {
    if (!Define(name.name, name.at, made->result(first), name.count)) return false;
    first += name.count;
  }
  return true;
}

// --- Ops ---

bool Parser::ParseOps(Block* block, TokenKind end) {
  for (;;) {
    switch (tok_.kind) {
      case TokenKind::kPercentId:
      case TokenKind::kString:
      case TokenKind::kBareId:
        if (!ParseOp(block)) return false;
        continue;
      case TokenKind::kCaretId:
        if (end != TokenKind::kEof) return true;
        break;
      case TokenKind::kHashId:
      case TokenKind::kBangId:
        if (end != TokenKind::kEof) break;
        if (!ParseAliasDefinition()) return false;
        continue;
      case TokenKind::kMetaBegin:
        if (end != TokenKind::kEof) break;
        if (!ParseResourceSection()) return false;
        continue;
      default:
        if (Is(end)) return true;
        break;
    }
    return Unexpected(end == TokenKind::kEof ? "an op, an alias or the end of the text"
                                             : "an op or '}'");
  }
}

bool Parser::ParseOp(Block* block) {
  ResultNames names;
  ParsedOp op;
  op.results = &names;
  if (Is(TokenKind::kPercentId) && !ParseResultNames(&names)) return false;
  op.at = tok_.begin;
  op.line = lexer_.line();
  op.column = static_cast<uint32_t>(tok_.begin - lexer_.line_start() + 1);
  if (Is(TokenKind::kString)) return ParseGenericOp(&op, block);
  if (Is(TokenKind::kBareId)) return ParseCustomOp(&op, block);
  return Unexpected("the name of an op");
}

// "dialect.op"(%a, %b) <{properties}> ({regions}) {attributes} : (T, U) -> V
bool Parser::ParseGenericOp(ParsedOp* op, Block* block) {
  op->name = tok_.text().substr(1, tok_.text().size() - 2);
  if (!IsOpName(op->name)) {
    return Fail(ParseError::kUnknownOp, op->at, "malformed name of an op",
                "a name such as \"dialect.op\"", FoundToken());
  }
  op->info = &GetOpInfo(LookupOp(op->name));
  Next();
  if (!Expect(TokenKind::kLParen, "and the operands") || !ParseOperandList(&op->operands) ||
      !Expect(TokenKind::kRParen, "to close the operands")) {
    return false;
  }
  if (Is(TokenKind::kLSquare)) {
    return Fail(ParseError::kUnsupported, tok_.begin, "branches between blocks are not supported",
                "an op without successors", FoundToken());
  }
  if (Accept(TokenKind::kLess)) {
    if (!Is(TokenKind::kLBrace)) return Unexpected("'{' and the properties");
    if (!ParseAttrDict(&op->attributes) || !Expect(TokenKind::kGreater, "to close the properties"))
      return false;
  }
  if (Is(TokenKind::kLParen)) {
    if (!ParseList(TokenKind::kLParen, TokenKind::kRParen, "the regions", [&] {
          op->regions.emplace_back();
          return SkipRegion(&op->regions.back());
        })) {
      return false;
    }
  }
  if (!ParseOptionalAttrDict(&op->attributes) || !Expect(TokenKind::kColon, "and the types"))
    return false;
  const char* const types_at = tok_.begin;
  ParsedTypes types;
  if (!Is(TokenKind::kLParen)) return Unexpected("'(' and the types of the operands");
  return ParseSignature(&types, &op->result_types) && CheckOperandTypes(*op, types, types_at) &&
         FinishOp(op, block);
}

void Parser::ResolveOpName(ParsedOp* op) {
  const absl::string_view word = tok_.text();
  op->name = word;
  OpCode code = LookupOp(word);
  if (code == OpCode::kUnknown && !absl::StrContains(word, '.')) {
    code = LookupOp(absl::StrCat("func.", word));
    if (code == OpCode::kUnknown) code = LookupOp(absl::StrCat("builtin.", word));
  }
  op->info = &GetOpInfo(code);
  if (code != OpCode::kUnknown) op->name = op->info->name;
}

bool Parser::ParseCustomOp(ParsedOp* op, Block* block) {
  ResolveOpName(op);
  if (op->info->code == OpCode::kUnknown) {
    if (ParseForeignOp(op)) return FinishOp(op, block);
    return Fail(ParseError::kUnknownOp, op->at, "unknown op",
                "an op with a pretty form, or the generic form \"op\"(...)", Quoted(op->name));
  }
  const absl::Span<const AsmElement> format = AsmFormat(op->info->code);
  if (format.empty()) {
    return Fail(ParseError::kUnknownOp, op->at, "this op has no pretty form",
                absl::StrCat("the generic form \"", op->name, "\"(...)"), Quoted(op->name));
  }
  Next();
  if (op->info->code == OpCode::kModule) return ParseModuleOp(op, block);
  if (op->info->code == OpCode::kFuncFunc) return ParseFuncOp(op, block);
  return AsmParser(this, op, block).Parse(format);
}

// Pretty forms of ops outside of the op set that stand in programs between those of it:
// arith.constant and tensor.cast.
bool Parser::ParseForeignOp(ParsedOp* op) {
  if (op->name == "arith.constant") {
    Next();
    Attribute value;
    if (!ParseOptionalAttrDict(&op->attributes) || !ParseAttribute(&value)) return false;
    Type type = value.type();
    if (value.Is(AttrKind::kBool)) type = context_->I1();
    if (!type) {
      return Fail(ParseError::kType, op->at, "malformed constant", "an attribute with a type",
                  Quoted(value.ToString()));
    }
    op->attributes.push_back({"value", value});
    op->result_types.push_back(type);
    return true;
  }
  if (op->name == "tensor.cast") {
    Next();
    Type from, to;
    op->operands.emplace_back();
    if (!ParseOperand(&op->operands.back()) || !ParseOptionalAttrDict(&op->attributes) ||
        !Expect(TokenKind::kColon, "and the types")) {
      return false;
    }
    const char* const at = tok_.begin;
    if (!ParseType(&from) || !ExpectWord("to", "and the type of the result") || !ParseType(&to))
      return false;
    op->result_types.push_back(to);
    return CheckOperandTypes(*op, absl::MakeConstSpan(&from, 1), at);
  }
  return false;
}

// What every reader of a program relies on before the verifier has seen it.
bool Parser::CheckShapeOfOp(const ParsedOp& op, size_t num_regions) {
  const OpInfo& info = *op.info;
  if (info.code == OpCode::kUnknown) return true;
  const auto least = static_cast<size_t>(info.min_regions);
  if (num_regions < least ||
      (info.max_regions >= 0 && num_regions > static_cast<size_t>(info.max_regions))) {
    const std::string count = absl::StrCat(least, least == 1 ? " region" : " regions");
    return Fail(ParseError::kOp, op.at, absl::StrCat("wrong number of regions of ", op.name),
                info.max_regions == 0                  ? "no region"
                : info.max_regions == info.min_regions ? count
                                                       : absl::StrCat("at least ", count),
                absl::StrCat(num_regions));
  }
  if (info.code != OpCode::kFuncFunc) return true;
  bool named = false, typed = false;
  for (const NamedAttribute& a : op.attributes) {
    if (a.name == "sym_name") named = a.value.Is(AttrKind::kString);
    if (a.name == "function_type")
      typed = a.value.Is(AttrKind::kType) && a.value.AsType().Is(TypeKind::kFunction);
  }
  return (named && typed) || Fail(ParseError::kOp, op.at, "incomplete function",
                                  "sym_name, a string, and function_type, a function type", "");
}

Op* Parser::MakeOp(const ParsedOp& op, Block* block, size_t num_regions, Attribute location) {
  if (!CheckShapeOfOp(op, num_regions)) return nullptr;
  if (!op.results->names.empty() && op.results->count != op.result_types.size()) {
    Fail(ParseError::kOp, op.results->names[0].at, "the names do not match the results",
         absl::StrCat(op.result_types.size(), " results of ", op.name),
         absl::StrCat(op.results->count, " names"));
    return nullptr;
  }
  absl::InlinedVector<Value*, 4> operands;
  operands.reserve(op.operands.size());
  for (const ParsedOperand& operand : op.operands) operands.push_back(operand.value);
  OpState state;
  state.name = op.name;
  state.location = {op.line, op.column, location};
  state.operands = operands;
  state.result_types = op.result_types;
  state.attributes = op.attributes;
  state.num_regions = num_regions;
  Op* made = module_->Append(block, state);
  if (symbols_ != nullptr) {
    const absl::string_view symbol = made->StringAttr("sym_name");
    if (!symbol.empty() && !symbols_->insert(symbol).second) {
      Fail(ParseError::kDuplicateSymbol, op.at, "a symbol is defined twice",
           "each name once in a module", Quoted(absl::StrCat("@", symbol)));
      return nullptr;
    }
  }
  return made;
}

bool Parser::FinishOp(ParsedOp* op, Block* block) {
  return FinishOp(op, block, [](size_t) { return absl::Span<const RegionArgument>(); });
}

bool Parser::FinishOp(ParsedOp* op, Block* block,
                      absl::FunctionRef<absl::Span<const RegionArgument>(size_t)> arguments) {
  Attribute location;
  if (!ParseOptionalLocation(&location)) return false;
  Op* made = MakeOp(*op, block, op->regions.size(), location);
  if (made == nullptr) return false;
  if (!op->regions.empty()) {
    const Token token = tok_;
    const Lexer::Position position = lexer_.position();
    for (size_t i = 0; i < op->regions.size(); ++i) {
      lexer_.set_position(op->regions[i].body);
      Next();
      if (!ParseRegion(*op, made->region(i), arguments(i))) return false;
      if (tok_.begin != op->regions[i].close) {
        return Fail(ParseError::kUnbalanced, tok_.begin, "brackets do not match",
                    "a region that ends elsewhere", "");
      }
    }
    lexer_.set_position(position);
    tok_ = token;
  }
  return DefineResults(*op, made);
}

// --- Regions ---

bool Parser::SkipRegion(PendingRegion* region) {
  if (!Is(TokenKind::kLBrace)) return Unexpected("'{' and a region");
  const Lexer::Position* close = Index().ClosingBrace(tok_.begin);
  if (close == nullptr) {
    return Fail(ParseError::kUnbalanced, tok_.begin, "a region is never closed", "'}'",
                "the end of the text");
  }
  region->body = lexer_.position();
  region->close = close->at;
  lexer_.set_position(*close);
  Next();
  Next();
  return true;
}

bool Parser::ParseRegion(const ParsedOp& op, Region* region,
                         absl::Span<const RegionArgument> arguments) {
  Level level(this);
  if (!level.ok()) return false;
  const ValueScopes::Region scope(&values_, op.info->Has(kIsolated));
  absl::flat_hash_set<absl::string_view>* const outer_symbols = symbols_;
  absl::flat_hash_set<absl::string_view> symbols;
  symbols_ = op.info->code == OpCode::kModule ? &symbols : nullptr;
  if (!ParseRegionBody(region, arguments)) return false;
  symbols_ = outer_symbols;
  return true;
}

bool Parser::ParseRegionBody(Region* region, absl::Span<const RegionArgument> arguments) {
  if (!arguments.empty() || !Is(TokenKind::kCaretId)) {
    if (arguments.empty() && Is(TokenKind::kRBrace)) return true;
    Block* block = region->AddBlock();
    for (const RegionArgument& argument : arguments) {
      Value* value = block->AddArgument(argument.type, argument.location);
      if (!Define(argument.name, argument.at, value, 1)) return false;
    }
    if (!ParseOps(block, TokenKind::kRBrace)) return false;
  }
  absl::flat_hash_set<absl::string_view> labels;
  int blocks = 0;
  while (Is(TokenKind::kCaretId)) {
    if (!labels.insert(tok_.text()).second) {
      return Fail(ParseError::kRedefinedValue, tok_.begin, "a block is defined twice",
                  "each label once in a region", FoundToken());
    }
    if (++blocks > kMostBlocks) {
      return Fail(ParseError::kUnsupported, tok_.begin, "too many blocks in a region",
                  absl::StrCat("at most ", kMostBlocks), "more");
    }
    Block* block = region->AddBlock();
    if (!ParseBlockLabel(block) || !ParseOps(block, TokenKind::kRBrace)) return false;
  }
  return Is(TokenKind::kRBrace) || Unexpected("'}' to close the region");
}

// ^bb0(%a: T, %b: U):
bool Parser::ParseBlockLabel(Block* block) {
  Next();
  if (Is(TokenKind::kLParen)) {
    if (!ParseList(TokenKind::kLParen, TokenKind::kRParen, "the arguments of the block", [&] {
          RegionArgument argument;
          return ParseRegionArgument(&argument) &&
                 Define(argument.name, argument.at,
                        block->AddArgument(argument.type, argument.location), 1);
        })) {
      return false;
    }
  }
  return Expect(TokenKind::kColon, "behind the label of the block");
}

// %a: T loc(...)
bool Parser::ParseRegionArgument(RegionArgument* argument) {
  if (!Is(TokenKind::kPercentId)) return Unexpected("an argument such as %arg0");
  argument->name = tok_.name();
  argument->at = tok_.begin;
  Next();
  return Expect(TokenKind::kColon, "and the type of the argument") && ParseType(&argument->type) &&
         ParseOptionalLocation(&argument->location);
}

}  // namespace pjrt::ir
