// SPDX-License-Identifier: Apache-2.0
//
// Modules and functions in the pretty form.
#include "absl/strings/str_cat.h"
#include "src/core/ir/asm_printer.h"

namespace pjrt::ir {
namespace {

// Whether `list` (of arg_attrs or res_attrs) can be written with the arguments or results: absent,
// or a dictionary for each of them that are not all empty.
bool FitsAttrList(Attribute list, size_t count) {
  if (!list) return true;
  if (!list.Is(AttrKind::kArray) || list.elements().size() != count) return false;
  bool any = false;
  for (Attribute dict : list.elements()) {
    if (!dict.Is(AttrKind::kDict)) return false;
    any = any || !dict.entries().empty();
  }
  return any;
}

bool ArgumentsMatch(const Block& block, absl::Span<const Type> types) {
  if (block.num_arguments() != types.size()) return false;
  for (size_t i = 0; i < types.size(); ++i) {
    if (block.argument(i)->type() != types[i]) return false;
  }
  return true;
}

}  // namespace

void AsmPrinter::PrintModule(const Module& module) {
  Print("module");
  if (!module.name().empty()) {
    Print(" ");
    AppendSymbol(module.name(), out_);
  }
  if (!module.attributes().empty()) {
    Print(" attributes ");
    AppendDict(module.attributes(), text_options_, out_);
  }
  Print(" {\n");
  NumberBlocks(module.body());
  PrintOps(*module.body());
  Print("}\n");
}

bool AsmPrinter::PrintNestedModule(const Op& op) {
  const Attribute name = op.attr("sym_name");
  const Region& body = *op.region();
  if (op.num_operands() > 0 || op.num_results() > 0 || op.num_regions() != 1 ||
      (name && !name.Is(AttrKind::kString)) || body.num_blocks() != 1 ||
      body.block()->num_arguments() > 0) {
    return false;
  }
  Said said;
  if (name) {
    Print(" ");
    AppendSymbol(name.AsString(), out_);
    said.push_back("sym_name");
  }
  PrintAttrDict(op, said, "attributes");
  Print(" ");
  const Scope scope(this, body);
  PrintRegion(body, /*bare=*/true);
  return true;
}

bool AsmPrinter::PrintFunc(const Op& op) {
  const Attribute name = op.attr("sym_name");
  const Attribute visibility = op.attr("sym_visibility");
  const Type type = op.attr("function_type") ? op.attr("function_type").AsType() : Type();
  if (op.num_operands() > 0 || op.num_results() > 0 || op.num_regions() != 1 ||
      !name.Is(AttrKind::kString) || !type.Is(TypeKind::kFunction) ||
      !FitsAttrList(op.attr("arg_attrs"), type.inputs().size()) ||
      !FitsAttrList(op.attr("res_attrs"), type.results().size())) {
    return false;
  }
  if (visibility) {
    const absl::string_view word = visibility.AsString();
    if (word != "public" && word != "private" && word != "nested") return false;
    absl::StrAppend(out_, " ", word);
  }
  const Region& body = *op.region();
  const Block* entry = body.block();
  // A body without anything in it would read as no body at all.
  if (entry != nullptr && (!ArgumentsMatch(*entry, type.inputs()) || entry->empty())) return false;

  const Function function(const_cast<Op*>(&op));
  const Scope scope(this, body);
  Print(" ");
  AppendSymbol(name.AsString(), out_);
  Print("(");
  for (size_t i = 0; i < type.inputs().size(); ++i) {
    if (i > 0) Print(", ");
    if (entry != nullptr) {
      PrintValue(entry->argument(i));
      Print(": ");
    }
    PrintType(type.inputs()[i]);
    if (const Attribute attrs = function.arg_attrs(i)) {
      Print(" ");
      PrintAttribute(attrs);
    }
    if (entry != nullptr) PrintLocation(entry->argument(i)->location());
  }
  Print(")");
  const absl::Span<const Type> results = type.results();
  if (!results.empty()) {
    Print(" -> ");
    // One result that has attributes needs the parentheses, too.
    const bool parentheses =
        results.size() > 1 || op.HasAttr("res_attrs") || results[0].Is(TypeKind::kFunction);
    if (parentheses) Print("(");
    for (size_t i = 0; i < results.size(); ++i) {
      if (i > 0) Print(", ");
      PrintType(results[i]);
      if (const Attribute attrs = function.result_attrs(i)) {
        Print(" ");
        PrintAttribute(attrs);
      }
    }
    if (parentheses) Print(")");
  }
  PrintAttrDict(op, {"sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"},
                "attributes");
  if (entry != nullptr) {
    Print(" ");
    PrintRegion(body, /*bare=*/true);
  }
  return true;
}

}  // namespace pjrt::ir
