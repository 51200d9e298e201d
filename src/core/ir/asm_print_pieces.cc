// SPDX-License-Identifier: Apache-2.0
//
// Hand-written pieces of pretty syntax, those without regions.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "src/core/ir/asm_printer.h"
#include "src/core/ir/element.h"

namespace pjrt::ir {
namespace {

// dense<...> : tensor<Nx2xi64>, N > 0, and its values.
bool GetPairs(Attribute attr, absl::InlinedVector<int64_t, 12>* values) {
  if (!attr.Is(AttrKind::kDenseElements)) return false;
  const Type type = attr.type();
  if (!type.IsTensor() || type.primitive_type() != S64 || !type.HasStaticShape() ||
      type.rank() != 2 || type.dim(0) == 0 || type.dim(1) != 2 || type.encoding()) {
    return false;
  }
  const size_t count = static_cast<size_t>(type.element_count());
  const absl::Span<const char> bytes = attr.raw_data();
  if (!attr.IsSplat() && bytes.size() != count * 8) return false;
  if (count > 1024) return false;  // no window has so many dimensions
  for (size_t i = 0; i < count; ++i) {
    values->push_back(DecodeInt(type.element_type(), bytes.data() + (attr.IsSplat() ? 0 : i * 8)));
  }
  return true;
}

}  // namespace

//   stablehlo.constant {attr = 1 : i32} dense<1> : tensor<2xi32>
//   stablehlo.constant() <{value = dense<1> : tensor<2xi8>}> {attr = 1 : i32} : () ->
//   tensor<2x!quant.uniform<...>>
bool AsmPrinter::PrintConstant(const Op& op) {
  const Attribute value = op.attr("value");
  if (op.num_operands() > 0 || op.num_results() != 1 || op.num_regions() > 0 ||
      !value.Is(AttrKind::kDenseElements)) {
    return false;
  }
  if (value.type() == op.result_type()) {
    PrintAttrDict(op, {"value"});
    Print(" ");
    PrintAttribute(value);
    return true;
  }
  if (!op.Is(OpCode::kConstant)) return false;
  Print("() <{value = ");
  PrintAttribute(value);
  Print("}>");
  PrintAttrDict(op, {"value"});
  Print(" : ");
  PrintFunctional(op);
  return true;
}

//   stablehlo.slice %x [0:2, 1:8:3] : (T) -> U
bool AsmPrinter::PrintSlice(const Op& op) {
  const Attribute start = op.attr("start_indices");
  const Attribute limit = op.attr("limit_indices");
  const Attribute strides = op.attr("strides");
  if (op.num_operands() != 1 || op.num_regions() > 0 || !IsI64Array(start) || !IsI64Array(limit) ||
      !IsI64Array(strides) || start.ints().size() != limit.ints().size() ||
      start.ints().size() != strides.ints().size()) {
    return false;
  }
  Print(" ");
  PrintOperands(op);
  Print(" [");
  for (size_t i = 0; i < start.ints().size(); ++i) {
    absl::StrAppend(out_, i > 0 ? ", " : "", start.ints()[i], ":", limit.ints()[i]);
    if (strides.ints()[i] != 1) absl::StrAppend(out_, ":", strides.ints()[i]);
  }
  Print("]");
  PrintAttrDict(op, {"start_indices", "limit_indices", "strides"});
  Print(" : ");
  PrintFunctional(op);
  return true;
}

//   stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1],
//   precision = [DEFAULT, HIGH],
//       algorithm = <...> : (T, U) -> V
bool AsmPrinter::PrintDotGeneral(const Op& op) {
  const Attribute numbers = op.attr("dot_dimension_numbers");
  if (op.num_operands() != 2 || op.num_results() != 1 || op.num_regions() > 0 ||
      !numbers.Is(AttrKind::kStruct) || numbers.name() != "stablehlo.dot" ||
      numbers.entries().size() != 4) {
    return false;
  }
  const auto list = [numbers](absl::string_view name) { return numbers.Get(name); };
  const Attribute lhs_batch = list("lhs_batching_dimensions");
  const Attribute rhs_batch = list("rhs_batching_dimensions");
  const Attribute lhs_contract = list("lhs_contracting_dimensions");
  const Attribute rhs_contract = list("rhs_contracting_dimensions");
  for (Attribute a : {lhs_batch, rhs_batch, lhs_contract, rhs_contract}) {
    if (!IsI64Array(a)) return false;
  }
  Print(" ");
  PrintOperands(op);
  if (!lhs_batch.ints().empty() || !rhs_batch.ints().empty()) {
    Print(", batching_dims = ");
    AppendInts(lhs_batch.ints(), out_);
    Print(" x ");
    AppendInts(rhs_batch.ints(), out_);
  }
  Print(", contracting_dims = ");
  AppendInts(lhs_contract.ints(), out_);
  Print(" x ");
  AppendInts(rhs_contract.ints(), out_);
  if (const Attribute precision = op.attr("precision_config")) {
    Print(", precision = ");
    if (!PrintEnums(precision, "stablehlo.precision")) return false;
  }
  if (const Attribute algorithm = op.attr("algorithm")) {
    if (!algorithm.Is(AttrKind::kStruct) || algorithm.name() != "stablehlo.dot_algorithm")
      return false;
    Print(", algorithm = ");
    AppendStructBody(algorithm, text_options_, out_);
  }
  PrintAttrDict(op, {"dot_dimension_numbers", "precision_config", "algorithm"});
  Print(" : ");
  PrintFunctional(op);
  return true;
}

//   stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride =
//   [1], pad = [[0, 0]],
//       lhs_dilate = [1], rhs_dilate = [1], reverse = [false]} {batch_group_count = 1 : i64, ...} :
//       (T, U) -> V
bool AsmPrinter::PrintConvolution(const Op& op) {
  const Attribute numbers = op.attr("dimension_numbers");
  if (op.num_operands() != 2 || op.num_results() != 1 || op.num_regions() > 0 ||
      !numbers.Is(AttrKind::kStruct) || numbers.name() != "stablehlo.conv") {
    return false;
  }
  Print("(");
  PrintOperands(op);
  Print(") dim_numbers = ");
  if (!AppendConvDimensions(numbers, out_)) return false;
  Print(", window = {");
  bool is_first = true;
  const auto key = [this, &is_first](absl::string_view name) {
    absl::StrAppend(out_, is_first ? "" : ", ", name, " = ");
    is_first = false;
  };
  const auto print_list = [&](absl::string_view name, absl::string_view word) {
    const Attribute attr = op.attr(name);
    if (!attr) return true;
    if (!IsI64Array(attr)) return false;
    key(word);
    AppendInts(attr.ints(), out_);
    return true;
  };
  if (!print_list("window_strides", "stride")) return false;
  if (const Attribute padding = op.attr("padding")) {
    absl::InlinedVector<int64_t, 12> pairs;
    if (!GetPairs(padding, &pairs)) return false;
    key("pad");
    for (size_t i = 0; i < pairs.size(); i += 2) {
      absl::StrAppend(out_, i == 0 ? "[[" : ", [", pairs[i], ", ", pairs[i + 1], "]");
    }
    Print("]");
  }
  if (!print_list("lhs_dilation", "lhs_dilate") || !print_list("rhs_dilation", "rhs_dilate"))
    return false;
  if (const Attribute reversal = op.attr("window_reversal")) {
    if (!IsBoolArray(reversal)) return false;
    key("reverse");
    AppendBools(reversal.ints(), out_);
  }
  Print("}");
  PrintAttrDict(op, {"dimension_numbers", "window_strides", "padding", "lhs_dilation",
                     "rhs_dilation", "window_reversal"});
  Print(" : ");
  PrintFunctional(op);
  return true;
}

//   stablehlo.custom_call @target(%a, %b) {...} : (T, U) -> V
bool AsmPrinter::PrintCustomCall(const Op& op) {
  const Attribute target = op.attr("call_target_name");
  if (op.num_regions() > 0 || !target.Is(AttrKind::kString) || target.AsString().empty() ||
      absl::StrContains(target.AsString(), "::@")) {
    return false;
  }
  Print(" ");
  AppendSymbol(target.AsString(), out_);
  Print("(");
  PrintOperands(op);
  Print(")");
  PrintAttrDict(op, {"call_target_name"});
  Print(" : ");
  PrintFunctional(op);
  return true;
}

//   stablehlo.return %a, %b : T, U
bool AsmPrinter::PrintReturn(const Op& op) {
  if (op.num_results() > 0 || op.num_regions() > 0 || !op.attributes().empty()) return false;
  // Without operands, what stands on the next line would be read as one.
  if (op.num_operands() == 0) return op.next() == nullptr;
  Print(" ");
  PrintOperands(op);
  Print(" : ");
  PrintOperandTypes(op);
  return true;
}

//   stablehlo.optimization_barrier %a, %b : T, U
//   stablehlo.optimization_barrier()
bool AsmPrinter::PrintBarrier(const Op& op) {
  if (op.num_operands() != op.num_results()) return false;
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (op.operand_type(i) != op.result_type(i)) return false;
  }
  if (op.num_operands() == 0) {
    Print("()");
    return true;
  }
  Print(" ");
  PrintOperands(op);
  Print(" : ");
  PrintOperandTypes(op);
  return true;
}

//   builtin.unrealized_conversion_cast %a, %b : T, U to V
bool AsmPrinter::PrintCast(const Op& op) {
  if (op.num_operands() > 0) {
    Print(" ");
    PrintOperands(op);
    Print(" : ");
    PrintOperandTypes(op);
  }
  Print(" to ");
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (i > 0) Print(", ");
    PrintType(op.result_type(i));
  }
  return op.num_results() > 0;
}

//   e5m10
bool AsmPrinter::PrintExponentMantissa(const Op& op) {
  const Attribute exponent = op.attr("exponent_bits");
  const Attribute mantissa = op.attr("mantissa_bits");
  for (Attribute a : {exponent, mantissa}) {
    if (!a.Is(AttrKind::kInteger) || a.type().primitive_type() != S32 || a.AsInt() < 0)
      return false;
  }
  absl::StrAppend(out_, "e", exponent.AsInt(), "m", mantissa.AsInt());
  return true;
}

//   tensor<i1>, T    when everything but the predicate has one type
bool AsmPrinter::PrintSelectType(const Op& op) {
  if (op.num_operands() != 3 || op.num_results() != 1) return false;
  if (op.operand_type(1) != op.result_type() || op.operand_type(2) != op.result_type()) {
    PrintFunctional(op);
    return true;
  }
  PrintType(op.operand_type(0));
  Print(", ");
  PrintType(op.result_type());
  return true;
}

//   R    when the operands are tensors of R's parts
bool AsmPrinter::PrintComplexType(const Op& op) {
  if (op.num_operands() != 2 || op.num_results() != 1) return false;
  const Type result = op.result_type();
  const Type operand = op.operand_type(0);
  if (operand == op.operand_type(1) && operand.IsTensor() && result.IsTensor() &&
      result.element_type().Is(TypeKind::kComplex) &&
      result.element_type().element_type() == operand.element_type() &&
      result.dims() == operand.dims() && result.bounds().empty() && operand.bounds().empty() &&
      !result.encoding() && !operand.encoding()) {
    PrintType(result);
  } else {
    PrintFunctional(op);
  }
  return true;
}

//   R    when its elements are the operands' types
bool AsmPrinter::PrintTupleType(const Op& op) {
  if (op.num_results() != 1) return false;
  const Type result = op.result_type();
  bool same = result.Is(TypeKind::kTuple) && result.elements().size() == op.num_operands();
  for (size_t i = 0; same && i < op.num_operands(); ++i)
    same = result.elements()[i] == op.operand_type(i);
  if (same) {
    PrintType(result);
  } else {
    PrintFunctional(op);
  }
  return true;
}

}  // namespace pjrt::ir
