// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "absl/container/inlined_vector.h"
#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/fold.h"

namespace pjrt::ir {

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

void ReplaceByConstant(Op* op, Attribute value) {
  const Type type = op->result_type();
  const NamedAttribute attribute = {"value", value};
  OpState state;
  state.name = "stablehlo.constant";
  state.location = op->location();
  state.result_types = absl::MakeConstSpan(&type, 1);
  state.attributes = absl::MakeConstSpan(&attribute, 1);
  Op* const constant = op->module()->Append(op->block(), state, op);
  op->result()->ReplaceAllUsesWith(constant->result());
  op->Erase();
}

Op* InlineBranch(Op* op) {
  if (!op->Is(OpCode::kIf) && !op->Is(OpCode::kCase)) return nullptr;
  const Op* const source = op->operand(0)->defining_op();
  if (source == nullptr || !source->Is(OpCode::kConstant)) return nullptr;
  DimList value;
  if (!GetIntList(source->attr("value"), &value) || value.size() != 1) return nullptr;
  size_t branch = value[0] != 0 ? 0 : 1;
  if (op->Is(OpCode::kCase)) {
    const int64_t last = static_cast<int64_t>(op->num_regions()) - 1;
    branch = static_cast<size_t>(value[0] < 0 || value[0] > last ? last : value[0]);
  }
  if (branch >= op->num_regions()) return nullptr;
  Block* const body = op->region(branch)->block();
  Op* const end = body == nullptr ? nullptr : body->terminator();
  if (end == nullptr || end->num_operands() != op->num_results()) return nullptr;
  Op* first = nullptr;
  for (Op* inner : *body) {
    if (inner == end) break;
    inner->MoveBefore(op);
    if (first == nullptr) first = inner;
  }
  for (size_t i = 0; i < op->num_results(); ++i) {
    op->result(i)->ReplaceAllUsesWith(end->operand(i));
  }
  if (first == nullptr) first = op->next();
  op->Erase();
  return first;
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
