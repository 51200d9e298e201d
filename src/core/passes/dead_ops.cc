// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "pjrt/ir/passes.h"
#include "src/core/passes/effects.h"

namespace pjrt::ir {

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
      if (!op->HasResultUses() && IsPure(*op)) {
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
