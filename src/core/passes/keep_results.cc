// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/keep_results.h"

#include "absl/container/inlined_vector.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {

void ReturnOnly(Module* module, Op* op, absl::Span<const size_t> kept) {
  // The first region of a while returns whether it goes on.
  for (size_t r = op->Is(OpCode::kWhile) ? 1 : 0; r < op->num_regions(); ++r) {
    Op* const old = op->region(r)->block()->terminator();
    absl::InlinedVector<Value*, 8> values;
    for (const size_t i : kept) values.push_back(old->operand(i));
    Emitter(module, old).Make(old->name(), values, {}, old->attributes());
    old->Erase();
  }
}

Op* KeepResults(Module* module, Op* op, absl::Span<const size_t> kept) {
  const bool picks_operands = op->Is(OpCode::kWhile) || op->Is(OpCode::kOptimizationBarrier);
  absl::InlinedVector<Value*, 8> operands;
  absl::InlinedVector<Type, 8> types;
  for (const size_t i : kept) {
    if (picks_operands) operands.push_back(op->operand(i));
    types.push_back(op->result_type(i));
  }
  if (!picks_operands) {
    for (const Use& use : op->operand_uses()) operands.push_back(use.value());
  }
  Op* const made =
      Emitter(module, op).Make(op->name(), operands, types, op->attributes(), op->num_regions());
  for (size_t r = 0; r < op->num_regions(); ++r) {
    Block *from = op->region(r)->block(), *to = made->region(r)->AddBlock();
    if (from->num_arguments() > 0) {
      for (const size_t i : kept) {
        from->argument(i)->ReplaceAllUsesWith(
            to->AddArgument(from->argument(i)->type(), from->argument(i)->location()));
      }
    }
    MoveOps(module, from, to);
  }
  for (size_t k = 0; k < kept.size(); ++k) op->result(kept[k])->ReplaceAllUsesWith(made->result(k));
  op->Erase();
  return made;
}

}  // namespace pjrt::ir
