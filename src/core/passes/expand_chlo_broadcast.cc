// SPDX-License-Identifier: Apache-2.0
//
// Ops that broadcast by themselves: broadcast_in_dim of the operands, then the plain op.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pjrt/ir/op_set.h"
#include "src/core/passes/expand_chlo.h"

namespace pjrt::ir {
namespace {

// The plain op's name; those that StableHLO has not are CHLO's.
std::string PlainName(const Op& op) {
  const absl::string_view base = absl::StripPrefix(op.name(), "chlo.broadcast_");
  const std::string name = absl::StrCat("stablehlo.", base);
  return LookupOp(name) == OpCode::kUnknown ? absl::StrCat("chlo.", base) : name;
}

bool CanBroadcast(Type type) {
  if (!type.IsTensor() || !type.HasStaticShape()) return false;
  const Type element = type.element_type();
  return !element.Is(TypeKind::kQuantized) || element.quantized().IsPerTensor();
}

// `dims` says to which dimension of the result each of the operand belongs.
Value* BroadcastTo(Emitter& emit, Value* value, absl::Span<const int64_t> shape,
                   absl::Span<const int64_t> dims) {
  if (value->type().dims() == shape) return value;
  return emit
      .Make1("stablehlo.broadcast_in_dim", {emit(value)},
             WithDims(emit.context(), value->type(), shape),
             {{"broadcast_dimensions", emit.context().I64Array(dims)}})
      .value();
}

// Arithmetic that StableHLO has no booleans for, as that of integers with one bit: true is 1,
// numbers wrap, division by 0 gives -1 and leaves the dividend over. Null for other ops.
Op* OnBooleans(Emitter& emit, const Op& op, Value* a, Value* b) {
  const Term x = emit(a), y = emit(b);
  switch (op.opcode()) {
    case OpCode::kChloBroadcastSubtract:
      return (x ^ y).value()->defining_op();
    case OpCode::kChloBroadcastDivide:
    case OpCode::kChloBroadcastPower:
      return (x | Not(y)).value()->defining_op();
    case OpCode::kChloBroadcastRemainder:
      return (x & Not(y)).value()->defining_op();
    default:
      return nullptr;
  }
}

}  // namespace

Op* ExpandBroadcast(Emitter& emit, Op* op) {
  if (!CanBroadcast(op->result_type())) return nullptr;
  const absl::Span<const int64_t> shape = op->result_type().dims();
  const int64_t rank = static_cast<int64_t>(shape.size());
  const DimList given = op->IntsAttr("broadcast_dimensions");
  std::vector<Value*> operands;
  for (size_t i = 0; i < op->num_operands(); ++i) {
    Value* operand = op->operand(i);
    if (!CanBroadcast(operand->type())) return nullptr;
    const int64_t own = operand->type().rank();
    DimList dims;
    for (int64_t d = 0; d < own; ++d) dims.push_back(rank - own + d);
    if (own < rank && op->HasAttr("broadcast_dimensions")) dims = given;
    operands.push_back(BroadcastTo(emit, operand, shape, dims));
  }
  std::vector<NamedAttribute> attributes;
  for (const NamedAttribute& attr : op->attributes()) {
    if (attr.name == "broadcast_dimensions") continue;
    const absl::string_view kind =
        attr.value.Is(AttrKind::kEnum) ? attr.value.name() : absl::string_view();
    // comparison_direction and comparison_type have the same values in both dialects.
    const bool chlo = absl::StartsWith(kind, "chlo.");
    attributes.push_back(
        {attr.name,
         chlo ? emit.context().Enum(absl::StrCat("stablehlo.", absl::StripPrefix(kind, "chlo.")),
                                    attr.value.enum_value())
              : attr.value});
  }
  Op* plain = op->result_type().primitive_type() == PRED && operands.size() == 2
                  ? OnBooleans(emit, *op, operands[0], operands[1])
                  : nullptr;
  if (plain == nullptr)
    plain = emit.Make(PlainName(*op), operands, {op->result_type()}, attributes);
  op->result()->ReplaceAllUsesWith(plain->result());
  return plain;
}

}  // namespace pjrt::ir
