// SPDX-License-Identifier: Apache-2.0
//
// f(broadcast(a), broadcast(b)) becomes broadcast(f(a, b)), which computes each element once; and
// reshape and transpose go behind elementwise ops likewise, where they meet others of their kind to
// vanish with, and no longer stand between elementwise ops that could run as one loop.
#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/effects.h"
#include "src/core/passes/emitter.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

bool IsShapeOp(const Op* op) {
  return op != nullptr && (op->Is(OpCode::kBroadcastInDim) || op->Is(OpCode::kReshape) ||
                           op->Is(OpCode::kTranspose));
}

bool IsSplat(const Value* value) {
  const Op* constant = MadeBy(value, OpCode::kConstant);
  return constant != nullptr && constant->attr("value").IsSplat();
}

// True when both do the same to the places of elements.
bool SameMove(const Op& a, const Op& b) {
  if (a.opcode() != b.opcode() || a.operand_type(0).dims() != b.operand_type(0).dims())
    return false;
  const absl::string_view list =
      a.Is(OpCode::kBroadcastInDim) ? "broadcast_dimensions" : "permutation";
  return a.Is(OpCode::kReshape) || a.IntsAttr(list) == b.IntsAttr(list);
}

// The shape op that all operands go through, but for constants of one value and the scalars that
// select and clamp take for all elements; null where there is none, or another.
const Op* CommonMove(const Op& op) {
  const Op* move = nullptr;
  for (const Use& use : op.operand_uses()) {
    const Value* operand = use.value();
    if (operand->type().rank() == 0 && op.result_type().rank() != 0) continue;
    if (IsSplat(operand)) continue;
    const Op* maker = operand->defining_op();
    if (!IsShapeOp(maker)) return nullptr;
    if (move != nullptr && !SameMove(*move, *maker)) return nullptr;
    move = maker;
  }
  return move;
}

// Whether all users of a shape op's result are elementwise ops that it can go behind.
bool AllSink(const Value* moved) {
  for (const Use* use = moved->first_use(); use != nullptr; use = use->next()) {
    if (!ComputesByElement(*use->owner()) || CommonMove(*use->owner()) == nullptr) return false;
  }
  return true;
}

// Moving a reshape or a transpose pays when something is behind it to fuse with; a broadcast always
// does, unless it broadcasts nothing.
bool Pays(const Op& op, const Op& move) {
  if (move.Is(OpCode::kBroadcastInDim))
    return move.operand_type(0).element_count() < move.result_type().element_count();
  for (const Use& use : op.operand_uses()) {
    const Op* maker = use.value()->defining_op();
    if (maker == nullptr || !IsShapeOp(maker)) continue;
    // Somebody else wants the moved operand anyway, unless all of them do without it.
    if (!use.value()->HasOneUse() && !AllSink(use.value())) return false;
  }
  const Op* source = move.operand(0)->defining_op();
  return source != nullptr && ComputesByElement(*source);
}

void Sink(Module* module, Op* op) {
  const Op* move = CommonMove(*op);
  if (move == nullptr || !Pays(*op, *move)) return;
  Emitter emit(module, op);
  const absl::Span<const int64_t> dims = move->operand_type(0).dims();
  absl::InlinedVector<Value*, 4> operands;
  for (const Use& use : op->operand_uses()) {
    Value* operand = use.value();
    if (operand->type().rank() == 0 && op->result_type().rank() != 0) {
      operands.push_back(operand);
    } else if (IsSplat(operand)) {
      const Type type = WithDims(emit.context(), operand->type(), dims);
      const Attribute value =
          emit.context().Dense(type, operand->defining_op()->attr("value").raw_data());
      operands.push_back(emit.Make1("stablehlo.constant", {}, type, {{"value", value}}).value());
    } else {
      operands.push_back(operand->defining_op()->operand(0));
    }
  }
  const Type small = WithDims(emit.context(), op->result_type(), dims);
  Value* computed = emit.Make(op->name(), operands, {small}, op->attributes())->result();
  Op* moved = emit.Make(move->name(), {computed}, {op->result_type()}, move->attributes());
  op->result()->ReplaceAllUsesWith(moved->result());
  op->Erase();
}

// A reshape or a transpose that another has been moved to becomes one with it, or vanishes.
void Meet(Module* module, Op* op) {
  if (!IsShapeOp(op->operand(0)->defining_op()) || !op->result_type().HasStaticShape() ||
      !op->operand_type(0).HasStaticShape())
    return;
  Emitter emit(module, op);
  const Replacement value =
      op->Is(OpCode::kReshape) ? SimplifyReshape(*op, emit) : SimplifyTranspose(*op, emit);
  if (value.empty()) return;
  // Two reshapes may have become one that changes nothing.
  const Op* one = MadeBy(value[0], OpCode::kReshape);
  const bool vanishes = one != nullptr && one->operand_type(0) == op->result_type();
  op->result()->ReplaceAllUsesWith(vanishes ? one->operand(0) : value[0]);
  op->Erase();
}

}  // namespace

// In program order, so that a shape op goes behind a whole chain in one walk.
void SinkShapeOps(Module* module) {
  module->Walk([&](Op* op) {
    if (ComputesByElement(*op)) {
      Sink(module, op);
    } else if (op->Is(OpCode::kReshape) || op->Is(OpCode::kTranspose)) {
      Meet(module, op);
    }
  });
}

}  // namespace pjrt::ir
