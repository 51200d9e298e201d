// SPDX-License-Identifier: Apache-2.0
//
// Calls that select the largest elements.
#include <vector>

#include "src/core/passes/expand_chlo.h"
#include "src/core/passes/expand_custom_calls.h"

namespace pjrt::ir {
namespace {

bool IsStaticArray(Type type) {
  return type.IsTensor() && type.HasStaticShape() && IsArrayType(type.primitive_type());
}

// Whether the results are a part of x along `dimension`: x's sizes but for a smaller one there, and
// the second of s32.
bool SelectsFrom(const Op& op, int64_t dimension) {
  if (op.num_results() != 2 || !IsStaticArray(op.operand_type(0))) return false;
  const Type x = op.operand_type(0), values = op.result_type(0), indices = op.result_type(1);
  if (!IsStaticArray(values) || !IsStaticArray(indices) || values.dims() != indices.dims() ||
      values.element_type() != x.element_type() || indices.primitive_type() != S32 ||
      values.rank() != x.rank() || dimension < 0 || dimension >= x.rank())
    return false;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (d == dimension ? values.dim(d) > x.dim(d) : values.dim(d) != x.dim(d)) return false;
  }
  return true;
}

}  // namespace

// The first of the sorted elements are the top ones exactly, and so approximately.
bool ExpandApproxTopK(Module* module, Op* op) {
  if (op->num_operands() < 4) return false;
  const int64_t dimension = CallAttr(*op, "reduction_dim") ? CallAttr(*op, "reduction_dim").AsInt()
                                                           : op->operand_type(0).rank() - 1;
  if (!SelectsFrom(*op, dimension) || !IsStaticArray(op->operand_type(1)) ||
      op->operand_type(1).dims() != op->operand_type(0).dims() ||
      op->operand_type(1).primitive_type() != S32)
    return false;
  Emitter emit(module, op);
  Context& context = emit.context();
  const Type x = op->operand_type(0), index = op->operand_type(1);
  const Type value_scalar = WithDims(context, x, {}), index_scalar = WithDims(context, index, {});
  Op* sort =
      emit.Make("stablehlo.sort", {op->operand(0), op->operand(1)}, {x, index},
                {{"dimension", context.I64(dimension)}, {"is_stable", context.Bool(true)}}, 1);
  if (!CopyComputation(*op, sort, {value_scalar, value_scalar, index_scalar, index_scalar},
                       {context.Tensor({}, PRED)})) {
    sort->Erase();
    return false;
  }
  std::vector<Value*> heads;
  for (size_t i = 0; i < 2; ++i)
    heads.push_back(Head(emit(sort->result(i)), op->result_type(i).dims()).value());
  Replace(op, heads);
  return true;
}

bool ExpandTopKCall(Module* module, Op* op) {
  const Attribute k = CallAttr(*op, "k");
  if (op->num_operands() == 0 || !SelectsFrom(*op, op->operand_type(0).rank() - 1)) return false;
  if (k.Is(AttrKind::kInteger) && k.AsInt() != op->result_type().dims().back()) return false;
  ExpandTopKOp(module, op);
  return true;
}

void ExpandTopKOp(Module* module, Op* op) {
  if (!SelectsFrom(*op, op->operand_type(0).rank() - 1)) return;
  Emitter emit(module, op);
  const Attribute largest = CallAttr(*op, "largest");
  if (largest && !largest.AsBool()) {
    ExpandTopK(emit, op, /*largest=*/false);
    op->Erase();
    return;
  }
  Op* made = emit.Make("chlo.top_k", {op->operand(0)}, {op->result_type(0), op->result_type(1)},
                       {{"k", emit.context().I64(op->result_type().dims().back())}});
  if (KeepIfValid(made)) Replace(op, {made->result(0), made->result(1)});
}

}  // namespace pjrt::ir
