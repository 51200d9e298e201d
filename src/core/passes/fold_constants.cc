// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "absl/container/inlined_vector.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/fold.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {

namespace {

// Replaces an op of one result by a constant of the result's type and erases it.
void ReplaceByConstant(Op* op, Attribute value) {
  const Type type = op->result_type();
  const Term constant =
      Emitter(op->module(), op).Make1("stablehlo.constant", {}, type, {{"value", value}});
  op->result()->ReplaceAllUsesWith(constant.value());
  op->Erase();
}

}  // namespace

bool FoldOp(Op* op, int64_t max_elements) {
  if (op->Is(OpCode::kConstant) || !CanEvaluate(*op)) return false;
  absl::InlinedVector<Attribute, 4> operands;
  const bool takes_values = !op->Is(OpCode::kGetDimensionSize);
  for (const Use& use : op->operand_uses()) {
    const Op* const source = use.value()->defining_op();
    const bool is_constant = source != nullptr && source->Is(OpCode::kConstant);
    if (takes_values && !is_constant) return false;
    operands.push_back(is_constant ? source->attr("value") : Attribute());
  }
  const Attribute value = EvaluateOp(*op, operands, max_elements);
  if (!value) return false;
  ReplaceByConstant(op, value);
  return true;
}

Op* InlineBranch(Op* op) {
  if (!op->Is(OpCode::kIf) && !op->Is(OpCode::kCase)) return nullptr;
  Op* const before = op->prev();
  Emitter emit(op->module(), op);
  const Replacement values = op->Is(OpCode::kIf) ? SimplifyIf(*op, emit) : SimplifyCase(*op, emit);
  if (values.empty()) return nullptr;
  Block* const block = op->block();
  for (size_t i = 0; i < values.size(); ++i) op->result(i)->ReplaceAllUsesWith(values[i]);
  op->Erase();
  return before != nullptr ? before->next() : block->front();
}

void FoldConstants(Module* module, int64_t max_elements) {
  std::vector<Block*> blocks;
  const auto add_regions = [&](const Op& op) {
    for (size_t r = 0; r < op.num_regions(); ++r) {
      if (Block* block = op.region(r)->block()) blocks.push_back(block);
    }
  };
  for (Op* op : *module->body()) add_regions(*op);
  while (!blocks.empty()) {
    Block* const block = blocks.back();
    blocks.pop_back();
    for (Op *op = block->front(), *next; op != nullptr; op = next) {
      next = op->next();
      if (FoldOp(op, max_elements)) continue;
      if (Op* const first = InlineBranch(op)) {
        next = first;
        continue;
      }
      add_regions(*op);
    }
  }
}

}  // namespace pjrt::ir
