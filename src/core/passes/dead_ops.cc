// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"

namespace pjrt::ir {
namespace {

bool MayRemove(const Op& op) {
  if (op.IsTerminator() || op.HasResultUses()) return false;
  if (op.Is(OpCode::kFuncFunc) || op.Is(OpCode::kModule) || op.Is(OpCode::kUnknown)) return false;
  if (op.num_results() == 0) return false;
  if (op.Is(OpCode::kCustomCall)) return !op.BoolAttr("has_side_effect");
  if (GetOpInfo(op.opcode()).Has(kSideEffect)) return false;
  // A region may hold an op with effects.
  for (size_t r = 0; r < op.num_regions(); ++r) {
    const Block* block = op.region(r)->block();
    if (block == nullptr) continue;
    for (const Op* inner : *block) {
      if (inner->IsTerminator()) continue;
      if (inner->Is(OpCode::kUnknown) || inner->num_regions() > 0 || inner->num_results() == 0)
        return false;
      if (inner->Is(OpCode::kCustomCall) ? inner->BoolAttr("has_side_effect")
                                         : GetOpInfo(inner->opcode()).Has(kSideEffect))
        return false;
    }
  }
  return true;
}

}  // namespace

// Backwards through each block, so that one pass suffices: what an op uses stands before it.
void RemoveDeadOps(Module* module) {
  std::vector<Block*> blocks;
  for (Op* op : *module->body()) {
    for (size_t r = 0; r < op->num_regions(); ++r) {
      if (Block* block = op->region(r)->block()) blocks.push_back(block);
    }
  }
  while (!blocks.empty()) {
    Block* block = blocks.back();
    blocks.pop_back();
    for (Op *op = block->back(), *previous; op != nullptr; op = previous) {
      previous = op->prev();
      if (MayRemove(*op)) {
        op->Erase();
        continue;
      }
      for (size_t r = 0; r < op->num_regions(); ++r) {
        if (Block* inner = op->region(r)->block()) blocks.push_back(inner);
      }
    }
  }
}

}  // namespace pjrt::ir
