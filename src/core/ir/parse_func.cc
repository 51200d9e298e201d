// SPDX-License-Identifier: Apache-2.0
//
// The pretty forms of module and func.func.

#include "absl/strings/str_cat.h"
#include "src/core/ir/parser_impl.h"

namespace pjrt::ir {
namespace {

// Each one set costs a copy of those before it; real modules have a dozen.
constexpr size_t kMostModuleAttributes = 1000;

}  // namespace

// module @name attributes {...} {...}; the word itself has been passed.
bool Parser::ParseModuleOp(ParsedOp* op, Block* block) {
  if (Is(TokenKind::kAtId)) {
    if (!ParseSymbol(&scratch_)) return false;
    op->attributes.push_back({"sym_name", context_->String(scratch_)});
  }
  if (AcceptWord("attributes")) {
    if (!Is(TokenKind::kLBrace)) return Unexpected("'{' and the attributes of the module");
    if (!ParseAttrDict(&op->attributes)) return false;
  }
  if (!Expect(TokenKind::kLBrace, "and the ops of the module")) return false;
  Op* made = MakeOp(*op, block, 1, {});
  if (made == nullptr || !ParseRegion(*op, made->region(), {})) return false;
  Next();
  return FinishInline(*op, made);
}

// Reads the location behind an op that has been made already.
bool Parser::FinishInline(const ParsedOp& op, Op* made) {
  Attribute location;
  if (!ParseOptionalLocation(&location)) return false;
  if (location) made->set_location({op.line, op.column, location});
  return DefineResults(op, made);
}

// (%arg0: T {attributes} loc(...), ...); a declaration may leave the names out.
bool Parser::ParseFuncArguments(std::vector<RegionArgument>* arguments, ParsedTypes* types,
                                std::vector<Attribute>* attrs) {
  return ParseList(TokenKind::kLParen, TokenKind::kRParen, "the arguments of the function", [&] {
    const bool named = Is(TokenKind::kPercentId);
    if (!types->empty() && named == arguments->empty()) {
      return Unexpected(named ? "a type, as before" : "an argument such as %arg0, as before");
    }
    RegionArgument argument;
    if (named) {
      argument.name = tok_.name();
      argument.at = tok_.begin;
      Next();
      if (!Expect(TokenKind::kColon, "and the type of the argument")) return false;
    }
    ParsedAttributes entries;
    if (!ParseType(&argument.type) || !ParseOptionalAttrDict(&entries) ||
        !ParseOptionalLocation(&argument.location)) {
      return false;
    }
    types->push_back(argument.type);
    attrs->push_back(context_->Dict(entries));
    if (named) arguments->push_back(argument);
    return true;
  });
}

// T, or (T {attributes}, U).
bool Parser::ParseFuncResults(ParsedTypes* types, std::vector<Attribute>* attrs) {
  if (!Is(TokenKind::kLParen)) {
    types->emplace_back();
    attrs->push_back(context_->Dict({}));
    return ParseType(&types->back());
  }
  return ParseList(TokenKind::kLParen, TokenKind::kRParen, "the results of the function", [&] {
    types->emplace_back();
    ParsedAttributes entries;
    if (!ParseType(&types->back()) || !ParseOptionalAttrDict(&entries)) return false;
    attrs->push_back(context_->Dict(entries));
    return true;
  });
}

// func.func public @name(...) -> ... attributes {...} {...}; the word itself has been passed.
bool Parser::ParseFuncOp(ParsedOp* op, Block* block) {
  if (IsWord("public") || IsWord("private") || IsWord("nested")) {
    op->attributes.push_back({"sym_visibility", context_->String(tok_.text())});
    Next();
  }
  if (!Is(TokenKind::kAtId)) return Unexpected("the name of the function such as @main");
  if (!ParseSymbol(&scratch_)) return false;
  op->attributes.push_back({"sym_name", context_->String(scratch_)});
  std::vector<RegionArgument> arguments;
  ParsedTypes inputs, results;
  std::vector<Attribute> arg_attrs, result_attrs;
  if (!ParseFuncArguments(&arguments, &inputs, &arg_attrs)) return false;
  if (Accept(TokenKind::kArrow) && !ParseFuncResults(&results, &result_attrs)) return false;
  op->attributes.push_back(
      {"function_type", context_->TypeAttr(context_->Function(inputs, results))});
  const auto add_list = [&](absl::string_view name, const std::vector<Attribute>& dicts) {
    for (Attribute dict : dicts) {
      if (dict.entries().empty()) continue;
      op->attributes.push_back({name, context_->Array(dicts)});
      return;
    }
  };
  add_list("arg_attrs", arg_attrs);
  add_list("res_attrs", result_attrs);
  if (AcceptWord("attributes")) {
    if (!Is(TokenKind::kLBrace)) return Unexpected("'{' and the attributes of the function");
    if (!ParseAttrDict(&op->attributes)) return false;
  }
  const bool has_body = Accept(TokenKind::kLBrace);
  if (has_body && arguments.size() != inputs.size()) {
    return Fail(ParseError::kOp, op->at, "a function with a body has arguments without names",
                "names such as %arg0", "");
  }
  Op* made = MakeOp(*op, block, 1, {});
  if (made == nullptr) return false;
  if (has_body) {
    if (Is(TokenKind::kRBrace)) {
      return Fail(ParseError::kOp, tok_.begin, "a function has an empty body",
                  "at least its return", "");
    }
    if (!ParseRegion(*op, made->region(), arguments)) return false;
    Next();
  }
  return FinishInline(*op, made);
}

// A text with one module at its top means that module itself.
bool Parser::UnwrapModule(Module* module) {
  Op* const top = module->body()->front();
  if (top == nullptr || top != module->body()->back() || !top->Is(OpCode::kModule)) return true;
  Region* const region = top->region();
  if (region->num_blocks() > 1 || top->num_results() > 0 ||
      (!region->empty() && region->block()->num_arguments() > 0)) {
    return Fail(ParseError::kUnsupported, text_.data(), "an unusual module",
                "one block without arguments, and no results", "");
  }
  if (top->attributes().size() > kMostModuleAttributes) {
    return Fail(ParseError::kTooLarge, text_.data(), "a module has too many attributes",
                absl::StrCat("at most ", kMostModuleAttributes),
                absl::StrCat(top->attributes().size()));
  }
  for (const NamedAttribute& entry : top->attributes()) {
    if (entry.name == "sym_name" && entry.value.Is(AttrKind::kString)) {
      module->set_name(entry.value.AsString());
    } else {
      module->SetAttr(entry.name, entry.value);
    }
  }
  if (!region->empty()) {
    for (Op* op : *region->block()) op->MoveBefore(top);
  }
  top->Erase();
  return true;
}

}  // namespace pjrt::ir
