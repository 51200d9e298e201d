// SPDX-License-Identifier: Apache-2.0
//
// Hand-written pieces of pretty syntax, those with regions.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "src/core/ir/asm_printer.h"
#include "src/core/ir/reducer.h"

namespace pjrt::ir {
namespace {

bool TypesMatch(absl::Span<Value* const> arguments, const Op& op, size_t first_operand) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i]->type() != op.operand_type(first_operand + i)) return false;
  }
  return true;
}

// The op that a reduction's body consists of, when it is nothing but that op on the two arguments,
// on scalars of the operand's element type; null otherwise.
const Op* LoneReducer(const Op& reduce) {
  const Block& body = *reduce.region()->block();
  const Op* const op = ReducerOp(body);
  if (reduce.num_operands() != 2 || op == nullptr || op->operand(0) != body.argument(0) ||
      !op->attributes().empty() || op->num_regions() != 0) {
    return nullptr;
  }
  const Op& last = *body.terminator();
  if (!last.Is(OpCode::kReturn) || !last.attributes().empty() || last.num_results() != 0) {
    return nullptr;
  }
  const Type scalar = op->result_type();
  if (!reduce.operand_type(0).IsTensor() || !scalar.IsTensor() || scalar.rank() != 0 ||
      scalar.encoding() || scalar.element_type() != reduce.operand_type(0).element_type() ||
      body.argument(0)->type() != scalar || body.argument(1)->type() != scalar) {
    return nullptr;
  }
  return op;
}

// The size of the first of two variadic lists that make up `total`: half of it, or what an
// attribute array<i32: n, m> says when the lists differ in length. False for an attribute that says
// anything else.
bool FirstSegment(Attribute sizes, size_t total, size_t* first) {
  if (!sizes) {
    *first = total / 2;
    return total % 2 == 0;
  }
  if (!sizes.Is(AttrKind::kDenseArray) || sizes.type().primitive_type() != S32 ||
      sizes.ints().size() != 2)
    return false;
  const int64_t n = sizes.ints()[0];
  const int64_t m = sizes.ints()[1];
  if (n < 0 || m < 0 || n == m || static_cast<uint64_t>(n) + static_cast<uint64_t>(m) != total)
    return false;
  *first = static_cast<size_t>(n);
  return true;
}

}  // namespace

//   stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [0] : (T, U) -> V
//   stablehlo.reduce(%x init: %i), (%y init: %j) across dimensions = [1] : (T, U, V, W) -> (X, Y)
//   reducer(%arg0: A, %arg1: A) (%arg2: B, %arg3: B)  {
//     ...
//   }
// Each pair behind `reducer` is an accumulator and an element.
bool AsmPrinter::PrintReduce(const Op& op) {
  const Attribute dimensions = op.attr("dimensions");
  const size_t n = op.num_operands() / 2;
  if (n == 0 || op.num_operands() != 2 * n || op.num_regions() != 1 ||
      op.region()->num_blocks() != 1 || !IsI64Array(dimensions)) {
    return false;
  }
  const Block& body = *op.region()->block();
  if (body.num_arguments() != 2 * n || body.empty()) return false;
  for (size_t i = 0; i < n; ++i) {
    Print(i == 0 ? "(" : ", (");
    PrintValue(op.operand(i));
    Print(" init: ");
    PrintValue(op.operand(n + i));
    Print(")");
  }
  const Op* reducer = LoneReducer(op);
  if (reducer != nullptr) absl::StrAppend(out_, " applies ", reducer->name());
  Print(" across dimensions = ");
  AppendInts(dimensions.ints(), out_);
  PrintAttrDict(op, {"dimensions"});
  Print(" : ");
  PrintFunctional(op);
  if (reducer != nullptr) return true;
  const Scope scope(this, *op.region());
  Print("\n");
  Indent();
  Print("reducer");
  for (size_t i = 0; i < n; ++i) {
    Print(i == 0 ? "(" : " (");
    PrintArgument(body.argument(i));
    Print(", ");
    PrintArgument(body.argument(n + i));
    Print(")");
  }
  Print(" ");
  PrintRegion(*op.region(), /*bare=*/true);
  return true;
}

//   stablehlo.while(%arg0 = %0, %arg1 = %1) : T, U attributes {...}
//   cond {
//     ...
//   } do {
//     ...
//   }
bool AsmPrinter::PrintWhile(const Op& op) {
  if (op.num_regions() != 2 || op.num_results() != op.num_operands()) return false;
  for (size_t i = 0; i < 2; ++i) {
    const Region& region = *op.region(i);
    if (region.num_blocks() != 1 || region.block()->num_arguments() != op.num_operands() ||
        region.block()->empty() || !TypesMatch(region.block()->arguments(), op, 0)) {
      return false;
    }
  }
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (op.result_type(i) != op.operand_type(i)) return false;
  }
  {
    const Scope scope(this, *op.region(0));
    const Block& condition = *op.region(0)->block();
    Print("(");
    for (size_t i = 0; i < op.num_operands(); ++i) {
      if (i > 0) Print(", ");
      PrintValue(condition.argument(i));
      Print(" = ");
      PrintValue(op.operand(i));
    }
    Print(")");
    if (op.num_operands() > 0) Print(" : ");
    PrintOperandTypes(op);
    PrintAttrDict(op, {}, "attributes");
    Print("\n");
    Indent();
    Print("cond ");
    PrintRegion(*op.region(0), /*bare=*/true);
  }
  // The arguments of both regions get the same names: both count on from here.
  const Scope scope(this, *op.region(1));
  Print(" do ");
  PrintRegion(*op.region(1), /*bare=*/true);
  return true;
}

//   stablehlo.composite "ns.op" %a, %b ({ ... }) {decomposition = @f, ...} : (T, U) -> V
bool AsmPrinter::PrintComposite(const Op& op) {
  const Attribute name = op.attr("name");
  if (!name.Is(AttrKind::kString)) return false;
  Print(" ");
  AppendQuoted(name.AsString(), out_);
  if (op.num_operands() > 0) Print(" ");
  PrintOperands(op);
  for (size_t i = 0; i < op.num_regions(); ++i) {
    Print(i == 0 ? " (" : ", ");
    const Scope scope(this, *op.region(i));
    PrintRegion(*op.region(i), /*bare=*/false);
  }
  if (op.num_regions() > 0) Print(")");
  PrintAttrDict(op, {"name"});
  Print(" : ");
  PrintFunctional(op);
  return true;
}

//   chlo.scan(%x) inits (%c) dimension = 0 attributes {...} {
//   ^bb0(%arg0: A, %arg1: B):
//     ...
//   } : (T, U) -> (V, W)
bool AsmPrinter::PrintScan(const Op& op) {
  const Attribute dimension = op.attr("dimension");
  size_t inputs = 0;
  size_t outputs = 0;
  if (op.num_regions() != 1 || !dimension.Is(AttrKind::kInteger) ||
      dimension.type().primitive_type() != S64 ||
      !FirstSegment(op.attr("operandSegmentSizes"), op.num_operands(), &inputs) ||
      !FirstSegment(op.attr("resultSegmentSizes"), op.num_results(), &outputs) ||
      op.num_results() - outputs != op.num_operands() - inputs) {
    return false;
  }
  Print("(");
  PrintOperands(op, 0, inputs);
  Print(") inits (");
  PrintOperands(op, inputs, op.num_operands());
  absl::StrAppend(out_, ") dimension = ", dimension.AsInt());
  PrintAttrDict(op, {"dimension", "operandSegmentSizes", "resultSegmentSizes"}, "attributes");
  Print(" ");
  const Scope scope(this, *op.region());
  PrintRegion(*op.region(), /*bare=*/false);
  Print(" : ");
  PrintFunctional(op);
  return true;
}

namespace {

// The list behind an equals sign for an attribute `#sdy.sharding_per_value<[...]>`; empty for
// anything else.
absl::string_view ShardingList(Attribute attr) {
  if (!attr.Is(AttrKind::kOpaque)) return {};
  absl::string_view text = attr.text();
  if (!absl::ConsumePrefix(&text, "#sdy.sharding_per_value<") || !absl::ConsumeSuffix(&text, ">"))
    return {};
  return absl::StartsWith(text, "[") && absl::EndsWith(text, "]") ? text : absl::string_view();
}

}  // namespace

// ` (%arg0: A, %arg1: B) {...} : (T, U) -> V`
void AsmPrinter::PrintComputation(const Op& op) {
  const Scope scope(this, *op.region());
  const Block& body = *op.region()->block();
  Print(" (");
  for (size_t i = 0; i < body.num_arguments(); ++i) {
    if (i > 0) Print(", ");
    PrintArgument(body.argument(i));
  }
  Print(") ");
  PrintRegion(*op.region(), /*bare=*/true);
  Print(" : ");
  PrintFunctional(op);
}

//   sdy.manual_computation(%a) in_shardings=[<...>] out_shardings=[<...>] manual_axes={"x"} (%arg0:
//   A) {...} : (T) -> U
bool AsmPrinter::PrintManualComputation(const Op& op) {
  const absl::string_view in = ShardingList(op.attr("in_shardings"));
  const absl::string_view out = ShardingList(op.attr("out_shardings"));
  const Attribute axes_attr = op.attr("manual_axes");
  absl::string_view axes = axes_attr.Is(AttrKind::kOpaque) ? axes_attr.text() : absl::string_view();
  if (in.empty() || out.empty() || !absl::ConsumePrefix(&axes, "#sdy<manual_axes ") ||
      !absl::ConsumeSuffix(&axes, ">") || !absl::StartsWith(axes, "{") ||
      op.attributes().size() != 3 || op.num_regions() != 1 || op.region()->num_blocks() != 1 ||
      op.region()->block()->empty()) {
    return false;
  }
  Print("(");
  PrintOperands(op);
  absl::StrAppend(out_, ") in_shardings=", in, " out_shardings=", out, " manual_axes=", axes);
  PrintComputation(op);
  return true;
}

//   sdy.named_computation<"name">(%a) in_shardings=[<...>] out_shardings=[<...>] (%arg0: A) {...} :
//   (T) -> U
bool AsmPrinter::PrintNamedComputation(const Op& op) {
  const Attribute name = op.attr("name");
  const Attribute in = op.attr("in_shardings");
  const Attribute out = op.attr("out_shardings");
  const size_t said = 1u + (in ? 1 : 0) + (out ? 1 : 0);
  if (!name.Is(AttrKind::kString) || (in && ShardingList(in).empty()) ||
      (out && ShardingList(out).empty()) || op.attributes().size() != said ||
      op.num_regions() != 1 || op.region()->num_blocks() != 1 || op.region()->block()->empty()) {
    return false;
  }
  Print("<");
  AppendQuoted(name.AsString(), out_);
  Print(">(");
  PrintOperands(op);
  Print(")");
  if (in) absl::StrAppend(out_, " in_shardings=", ShardingList(in));
  if (out) absl::StrAppend(out_, " out_shardings=", ShardingList(out));
  PrintComputation(op);
  return true;
}

}  // namespace pjrt::ir
