// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/printer.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "src/core/ir/asm_printer.h"
#include "src/core/ir/walk.h"

namespace pjrt::ir {

AsmPrinter::AsmPrinter(const PrintOptions& options, std::string* out)
    : options_(options), text_options_{options.elide_constants_above}, out_(out) {}

// --- Names of values ---

void AsmPrinter::NumberOp(const Op& op) {
  if (op.num_results() > 0) numbers_[&op] = values_++;
}

void AsmPrinter::NumberArgument(const Value* argument) { numbers_[argument] = arguments_++; }

void AsmPrinter::NumberBlocks(const Block* first) {
  for (const Block* block = first; block != nullptr; block = block->next()) {
    for (const Value* argument : block->arguments()) NumberArgument(argument);
    for (const Op* op : *block) NumberOp(*op);
  }
}

void AsmPrinter::PrintValue(const Value* value) {
  if (value == nullptr) {
    Print("<null>");
    return;
  }
  const Op* op = value->defining_op();
  const auto it = op != nullptr ? numbers_.find(op) : numbers_.find(value);
  if (it == numbers_.end()) {
    Print("%unknown");  // of no region around this op: the program is malformed
  } else if (op == nullptr) {
    absl::StrAppend(out_, "%arg", it->second);
  } else {
    absl::StrAppend(out_, "%", it->second);
    if (op->num_results() > 1) absl::StrAppend(out_, "#", value->index());
  }
}

// --- Parts of ops ---

void AsmPrinter::PrintOperands(const Op& op, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i) {
    if (i > begin) Print(", ");
    PrintValue(op.operand(i));
  }
}

void AsmPrinter::PrintOperandTypes(const Op& op) {
  for (size_t i = 0; i < op.num_operands(); ++i) {
    if (i > 0) Print(", ");
    PrintType(op.operand(i) != nullptr ? op.operand_type(i) : Type());
  }
}

void AsmPrinter::PrintResultTypes(const Op& op) {
  absl::InlinedVector<Type, 4> types;
  for (size_t i = 0; i < op.num_results(); ++i) types.push_back(op.result_type(i));
  AppendTypesBehindArrow(types, out_);
}

void AsmPrinter::PrintFunctional(const Op& op) {
  Print("(");
  PrintOperandTypes(op);
  Print(") -> ");
  PrintResultTypes(op);
}

void AsmPrinter::PrintLocation(Attribute location) {
  if (!options_.locations || !location) return;
  Print(" ");
  PrintAttribute(location);
}

// --- Blocks and regions ---

void AsmPrinter::PrintArgument(const Value* argument) {
  PrintValue(argument);
  Print(": ");
  PrintType(argument->type());
  PrintLocation(argument->location());
}

void AsmPrinter::PrintBlockLabel(const Block& block, size_t number) {
  Indent();
  absl::StrAppend(out_, "^bb", number);
  for (size_t i = 0; i < block.num_arguments(); ++i) {
    Print(i == 0 ? "(" : ", ");
    PrintArgument(block.argument(i));
  }
  Print(block.num_arguments() > 0 ? "):\n" : ":\n");
}

void AsmPrinter::PrintOps(const Block& block) {
  ++depth_;
  for (const Op* op : block) {
    Indent();
    PrintOp(*op);
    Print("\n");
  }
  --depth_;
}

void AsmPrinter::PrintRegion(const Region& region, bool bare) {
  if (region.empty()) {
    Print("{\n");
    Indent();
    Print("}");
    return;
  }
  Print("{\n");
  size_t number = 0;
  for (const Block* block = region.block(); block != nullptr; block = block->next(), ++number) {
    const bool first = number == 0;
    if (first ? !bare && (block->num_arguments() > 0 || block->empty()) : true)
      PrintBlockLabel(*block, number);
    PrintOps(*block);
  }
  Indent();
  Print("}");
}

// --- Ops ---

void AsmPrinter::PrintOp(const Op& op) {
  if (op.num_results() > 0) {
    absl::StrAppend(out_, "%", numbers_[&op]);
    if (op.num_results() > 1) absl::StrAppend(out_, ":", op.num_results());
    Print(" = ");
  }
  const size_t start = out_->size();
  if (options_.generic || !PrintPretty(op)) {
    out_->resize(start);
    PrintGeneric(op);
  }
  PrintLocation(op.location().attr);
}

void AsmPrinter::PrintGeneric(const Op& op) {
  AppendQuoted(op.name(), out_);
  Print("(");
  PrintOperands(op);
  Print(")");

  // What the op set knows of are properties; what it does not know is an attribute like any other.
  absl::InlinedVector<NamedAttribute, 8> inherent, others;
  const absl::Span<const AttrSpec> specs = GetOpInfo(op.opcode()).attributes;
  for (const NamedAttribute& a : op.attributes()) {
    const bool known = std::any_of(specs.begin(), specs.end(),
                                   [&a](const AttrSpec& s) { return s.name == a.name; });
    (known ? inherent : others).push_back(a);
  }
  if (!inherent.empty()) {
    Print(" <");
    AppendDict(inherent, text_options_, out_);
    Print(">");
  }
  for (size_t i = 0; i < op.num_regions(); ++i) {
    Print(i == 0 ? " (" : ", ");
    const Scope scope(this, *op.region(i));
    PrintRegion(*op.region(i), /*bare=*/false);
  }
  if (op.num_regions() > 0) Print(")");
  if (!others.empty()) {
    Print(" ");
    AppendDict(others, text_options_, out_);
  }
  Print(" : ");
  PrintFunctional(op);
}

void AsmPrinter::PrintLoneOp(const Op& op) {
  WalkFrom(const_cast<Op*>(&op), [this, &op](Op* inner) {
    for (const Use& use : inner->operand_uses()) {
      const Value* value = use.value();
      if (value == nullptr) continue;
      const Op* definition = value->defining_op();
      // Inside of `op` means: below it on the way up.
      const Op* around = definition != nullptr ? definition : value->argument_of()->parent_op();
      while (around != nullptr && around != &op) around = around->parent();
      if (around == &op) continue;
      if (definition == nullptr) {
        if (!numbers_.contains(value)) NumberArgument(value);
      } else if (!numbers_.contains(definition)) {
        NumberOp(*definition);
      }
    }
  });
  NumberOp(op);
  PrintOp(op);
}

std::string PrintModule(const Module& module, const PrintOptions& options) {
  std::string text;
  AsmPrinter(options, &text).PrintModule(module);
  return text;
}

std::string PrintOp(const Op& op, const PrintOptions& options) {
  std::string text;
  AsmPrinter(options, &text).PrintLoneOp(op);
  return text;
}

}  // namespace pjrt::ir
