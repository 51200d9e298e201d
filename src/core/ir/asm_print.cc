// SPDX-License-Identifier: Apache-2.0
//
// The pretty syntax of an op, as its row of the op table gives it.
#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "src/core/ir/asm_printer.h"

namespace pjrt::ir {
namespace {

// How many operands or results a row allows for.
bool CountFits(absl::Span<const OperandSpec> specs, size_t count) {
  size_t least = 0;
  bool any_number = false;
  bool optional = false;
  for (const OperandSpec& spec : specs) {
    if (spec.arity == Arity::kOne) ++least;
    any_number = any_number || spec.arity == Arity::kVariadic;
    optional = optional || spec.arity == Arity::kOptional;
  }
  return count >= least && (any_number || optional || count == least);
}

bool IsIntegerOf(Attribute attr, AttrType type) {
  if (!attr.Is(AttrKind::kInteger)) return false;
  const Type t = attr.type();
  if (!t.Is(TypeKind::kInteger)) return false;
  const bool is_unsigned = type == AttrType::kUI32 || type == AttrType::kUI64;
  const int width = type == AttrType::kI32 || type == AttrType::kUI32 ? 32 : 64;
  return t.bit_width() == width &&
         t.signedness() == (is_unsigned ? Signedness::kUnsigned : Signedness::kSignless);
}

bool IsEnumOf(Attribute attr, absl::string_view name) {
  if (!attr.Is(AttrKind::kEnum) || attr.name() != name) return false;
  const absl::Span<const absl::string_view> values = EnumValues(name);
  return std::find(values.begin(), values.end(), attr.enum_value()) != values.end();
}

bool IsWord(absl::string_view text) {
  return absl::ascii_isalpha(static_cast<unsigned char>(text[0]));
}

}  // namespace

void AsmPrinter::PrintAttrDict(const Op& op, const Said& said, absl::string_view keyword) {
  absl::InlinedVector<NamedAttribute, 8> rest;
  for (const NamedAttribute& a : op.attributes()) {
    if (std::find(said.begin(), said.end(), a.name) == said.end()) rest.push_back(a);
  }
  if (rest.empty()) return;
  absl::StrAppend(out_, " ", keyword, keyword.empty() ? "" : " ");
  AppendDict(rest, text_options_, out_);
}

bool AsmPrinter::PrintPretty(const Op& op) {
  const OpInfo& info = GetOpInfo(op.opcode());
  if (info.format.empty()) return false;
  absl::string_view name = op.name();
  // Ops of a function's own body leave the dialect out.
  if (absl::StartsWith(name, "func.") && op.parent() != nullptr &&
      op.parent()->Is(OpCode::kFuncFunc)) {
    absl::ConsumePrefix(&name, "func.");
  }
  if (op.Is(OpCode::kModule)) name = "module";
  Print(name);
  for (const Use& use : op.operand_uses()) {
    if (use.value() == nullptr) return false;
  }
  return PrintFormat(op, info);
}

bool AsmPrinter::PrintFormat(const Op& op, const OpInfo& info) {
  const absl::Span<const AsmElement> format = AsmFormat(op.opcode());
  if (!CountFits(info.operands, op.num_operands()) || !CountFits(info.results, op.num_results()))
    return false;

  // The dictionary leaves out what is said behind it, too.
  Said said;
  bool writes_regions = false;
  bool has_dict = false;
  for (size_t i = 0; i < format.size(); ++i) {
    const AsmElement& e = format[i];
    if (e.kind == AsmKind::kAttr && e.spec != nullptr) said.push_back(e.text);
    if (e.kind == AsmKind::kAttrDict || e.kind == AsmKind::kAttrDictAttributes) has_dict = true;
    if (e.kind == AsmKind::kPiece) {
      if (e.piece == AsmPiece::kExponentMantissa) {
        said.push_back("exponent_bits");
        said.push_back("mantissa_bits");
      } else if (format.size() == 1) {
        writes_regions = has_dict = true;  // the piece is all there is
      }
    }
  }
  if (op.num_regions() > 0 && !writes_regions) return false;
  const auto is_said = [&said](const NamedAttribute& a) {
    return std::find(said.begin(), said.end(), a.name) != said.end();
  };
  if (!has_dict && !std::all_of(op.attributes().begin(), op.attributes().end(), is_said))
    return false;

  for (size_t i = 0; i < format.size(); ++i) {
    const AsmElement& e = format[i];
    switch (e.kind) {
      case AsmKind::kLiteral:
        PrintLiteral(op, format, i);
        break;
      case AsmKind::kGroupBegin:
        if (e.spec == nullptr || !op.HasAttr(e.spec->name)) i = static_cast<size_t>(e.group_end);
        break;
      case AsmKind::kGroupEnd:
        break;
      default:
        if (!PrintElement(op, e, said)) return false;
    }
  }
  return true;
}

void AsmPrinter::PrintLiteral(const Op& op, absl::Span<const AsmElement> format, size_t i) {
  const absl::string_view text = format[i].text;
  const bool behind_word =
      i > 0 && format[i - 1].kind == AsmKind::kLiteral && IsWord(format[i - 1].text);
  // Punctuation clings to what is in front of it; sdy writes key=value.
  const bool clings = text == "," || text == "(" || text == ")" || text == "[" || text == "]" ||
                      (text == "=" && behind_word && absl::StartsWith(op.name(), "sdy."));
  if (!clings) Print(" ");
  Print(text);
}

// Each element brings the blank in front of it along, unless it prints nothing or follows an
// opening bracket.
bool AsmPrinter::PrintElement(const Op& op, const AsmElement& e, const Said& said) {
  const char last = out_->back();
  const bool tight =
      last == '(' || last == '[' || (last == '=' && (*out_)[out_->size() - 2] != ' ');
  const size_t start = out_->size();
  if (!tight) Print(" ");
  const size_t after_blank = out_->size();
  bool ok = true;
  switch (e.kind) {
    case AsmKind::kAllOperands:
      PrintOperands(op);
      break;
    case AsmKind::kOperand:
      ok = PrintNamedOperand(op, e);
      break;
    case AsmKind::kAttr: {
      const Attribute attr = op.attr(e.text);
      ok = attr && e.spec != nullptr && PrintAttr(*e.spec, e.attr, attr);
      break;
    }
    case AsmKind::kAttrDict:
    case AsmKind::kAttrDictAttributes:
      out_->resize(start);
      PrintAttrDict(op, said, e.kind == AsmKind::kAttrDict ? "" : "attributes");
      return true;
    case AsmKind::kType:
      ok = PrintOneType(op);
      break;
    case AsmKind::kFunctional:
      PrintFunctional(op);
      break;
    case AsmKind::kArrow:
      ok = PrintArrow(op);
      break;
    case AsmKind::kResult:
      ok = op.num_results() == 1;
      if (ok) PrintType(op.result_type());
      break;
    case AsmKind::kOperandTypes:
      ok = PrintOperandTypeList(op);
      break;
    case AsmKind::kPiece:
      if (!PiecePrintsBlank(e.piece)) out_->resize(start);
      return PrintPiece(op, e.piece);
    default:
      break;
  }
  if (out_->size() == after_blank) out_->resize(start);
  return ok;
}

// Of several variadic operands only those can be named whose place does not depend on the others.
bool AsmPrinter::PrintNamedOperand(const Op& op, const AsmElement& e) {
  const absl::Span<const OperandSpec> specs = GetOpInfo(op.opcode()).operands;
  if (e.operand < 0) return false;
  const size_t at = static_cast<size_t>(e.operand);
  const auto is_one = [](const OperandSpec& spec) { return spec.arity == Arity::kOne; };
  if (!std::all_of(specs.begin(), specs.begin() + e.operand, is_one)) return false;
  if (is_one(specs[at])) {
    PrintOperands(op, at, at + 1);
    return true;
  }
  if (!std::all_of(specs.begin() + e.operand + 1, specs.end(), is_one)) return false;
  PrintOperands(op, at, op.num_operands() - (specs.size() - at - 1));
  return true;
}

bool AsmPrinter::PrintAttr(const AttrSpec& spec, AsmAttr how, Attribute attr) {
  switch (how) {
    case AsmAttr::kInts: {
      const bool bools = spec.type == AttrType::kBoolArray;
      if (bools ? !IsBoolArray(attr) : !IsI64Array(attr)) return false;
      if (bools) {
        AppendBools(attr.ints(), out_);
      } else {
        AppendInts(attr.ints(), out_);
      }
      return true;
    }
    case AsmAttr::kInt:
      if (!IsIntegerOf(attr, spec.type)) return false;
      AppendInt(attr.type(), attr.AsInt(), out_);
      return true;
    case AsmAttr::kFloat:
      if (!attr.Is(AttrKind::kFloat) ||
          attr.type().primitive_type() != (spec.type == AttrType::kF32 ? F32 : F64)) {
        return false;
      }
      AppendFloat(attr.type(), attr.AsFloat(), out_);
      return true;
    case AsmAttr::kBool:
      if (!attr.Is(AttrKind::kBool)) return false;
      Print(attr.AsBool() ? "true" : "false");
      return true;
    case AsmAttr::kEnum:
      if (!IsEnumOf(attr, spec.detail)) return false;
      Print(attr.enum_value());
      return true;
    case AsmAttr::kEnums:
      return PrintEnums(attr, spec.detail);
    case AsmAttr::kString:
      if (!attr.Is(AttrKind::kString)) return false;
      AppendQuoted(attr.AsString(), out_);
      return true;
    case AsmAttr::kSymbol:
      if (!attr.Is(spec.type == AttrType::kString ? AttrKind::kString : AttrKind::kSymbol))
        return false;
      AppendSymbol(attr.AsString(), out_);
      return true;
    case AsmAttr::kElements:
      if (!attr.Is(AttrKind::kDenseElements)) return false;
      PrintAttribute(attr);
      return true;
    case AsmAttr::kBalanced:
      return PrintBalanced(spec, attr);
  }
  return false;
}

bool AsmPrinter::PrintEnums(Attribute attr, absl::string_view enum_name) {
  if (!attr.Is(AttrKind::kArray)) return false;
  Print("[");
  for (size_t i = 0; i < attr.elements().size(); ++i) {
    if (!IsEnumOf(attr.elements()[i], enum_name)) return false;
    absl::StrAppend(out_, i > 0 ? ", " : "", attr.elements()[i].enum_value());
  }
  Print("]");
  return true;
}

bool AsmPrinter::PrintBalanced(const AttrSpec& spec, Attribute attr) {
  if (!attr.Is(AttrKind::kOpaque)) return false;
  absl::string_view text = attr.text();
  // #sdy.sharding<...>
  if (!absl::ConsumePrefix(&text, "#")) return false;
  if (absl::StartsWith(text, absl::StrCat(spec.detail, "<"))) {
    Print(text.substr(spec.detail.size()));
    return true;
  }
  // #sdy<axis_ref_list {...}>
  const size_t dot = spec.detail.find('.');
  if (dot == absl::string_view::npos) return false;
  const std::string prefix =
      absl::StrCat(spec.detail.substr(0, dot), "<", spec.detail.substr(dot + 1), " ");
  if (!absl::ConsumePrefix(&text, prefix) || !absl::ConsumeSuffix(&text, ">")) return false;
  if (!absl::StartsWith(text, "[") && !absl::StartsWith(text, "{")) return false;
  Print(text);
  return true;
}

bool AsmPrinter::PrintOneType(const Op& op) {
  const OpInfo& info = GetOpInfo(op.opcode());
  const Type type = op.num_results() > 0    ? op.result_type()
                    : op.num_operands() > 0 ? op.operand_type(0)
                                            : Type();
  bool same = type && op.num_results() == info.results.size();
  for (size_t i = 0; i < op.num_operands(); ++i) same = same && op.operand_type(i) == type;
  for (size_t i = 0; i < op.num_results(); ++i) same = same && op.result_type(i) == type;
  if (same) {
    PrintType(type);
  } else {
    PrintFunctional(op);
  }
  return true;
}

bool AsmPrinter::PrintArrow(const Op& op) {
  if (op.num_operands() == 0) return false;
  PrintOperandTypes(op);
  Print(" -> ");
  PrintResultTypes(op);
  return true;
}

bool AsmPrinter::PrintOperandTypeList(const Op& op) {
  if (op.num_operands() == 0) return false;
  if (op.num_results() > 0 && op.num_results() != op.num_operands()) return false;
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (op.result_type(i) != op.operand_type(i)) return false;
  }
  PrintOperandTypes(op);
  return true;
}

bool AsmPrinter::PiecePrintsBlank(AsmPiece piece) {
  switch (piece) {
    case AsmPiece::kExponentMantissa:
    case AsmPiece::kSelectType:
    case AsmPiece::kComplexType:
    case AsmPiece::kTupleType:
      return true;
    default:
      return false;  // some begin with a parenthesis
  }
}

bool AsmPrinter::PrintPiece(const Op& op, AsmPiece piece) {
  switch (piece) {
    case AsmPiece::kNone:
      return false;
    case AsmPiece::kConstant:
      return PrintConstant(op);
    case AsmPiece::kSlice:
      return PrintSlice(op);
    case AsmPiece::kDotGeneral:
      return PrintDotGeneral(op);
    case AsmPiece::kConvolution:
      return PrintConvolution(op);
    case AsmPiece::kReduce:
      return PrintReduce(op);
    case AsmPiece::kWhile:
      return PrintWhile(op);
    case AsmPiece::kScan:
      return PrintScan(op);
    case AsmPiece::kCustomCall:
      return PrintCustomCall(op);
    case AsmPiece::kComposite:
      return PrintComposite(op);
    case AsmPiece::kReturn:
      return PrintReturn(op);
    case AsmPiece::kFunc:
      return PrintFunc(op);
    case AsmPiece::kModule:
      return PrintNestedModule(op);
    case AsmPiece::kManualComputation:
      return PrintManualComputation(op);
    case AsmPiece::kNamedComputation:
      return PrintNamedComputation(op);
    case AsmPiece::kExponentMantissa:
      return PrintExponentMantissa(op);
    case AsmPiece::kSelectType:
      return PrintSelectType(op);
    case AsmPiece::kComplexType:
      return PrintComplexType(op);
    case AsmPiece::kTupleType:
      return PrintTupleType(op);
    case AsmPiece::kBarrier:
      return PrintBarrier(op);
    case AsmPiece::kCast:
      return PrintCast(op);
  }
  return false;
}

}  // namespace pjrt::ir
