// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/walk.h"

#include "absl/container/inlined_vector.h"

namespace pjrt::ir {
namespace {

// A block that is being visited: the op to come next, and the blocks to come after this one.
struct OpenBlock {
  Op* next;
  Block* block;
};

// The block after `block`: in its region, or in a later region of the same op. Null at the end.
Block* NextBlock(const Block* block) {
  if (block->next() != nullptr) return block->next();
  const Region* region = block->parent();
  const Op* op = region->parent();
  if (op == nullptr) return nullptr;
  const size_t index = static_cast<size_t>(region - op->region(0));
  for (size_t i = index + 1; i < op->num_regions(); ++i) {
    if (!op->region(i)->empty()) return op->region(i)->block();
  }
  return nullptr;
}

Block* FirstBlock(const Op* op) {
  for (size_t i = 0; i < op->num_regions(); ++i) {
    if (!op->region(i)->empty()) return op->region(i)->block();
  }
  return nullptr;
}

// Visits `start` and, when `siblings` says so, the blocks that follow it.
void Walk(Block* start, bool siblings, absl::FunctionRef<void(Op*)> fn) {
  absl::InlinedVector<OpenBlock, 16> open;
  open.push_back({start->front(), start});
  while (!open.empty()) {
    Op* op = open.back().next;
    if (op == nullptr) {
      Block* next = siblings || open.size() > 1 ? NextBlock(open.back().block) : nullptr;
      if (next != nullptr) {
        open.back() = {next->front(), next};
      } else {
        open.pop_back();
      }
      continue;
    }
    open.back().next = op->next();
    fn(op);
    if (op->IsErased()) continue;
    if (Block* inner = FirstBlock(op)) open.push_back({inner->front(), inner});
  }
}

}  // namespace

void WalkFrom(Op* root, absl::FunctionRef<void(Op*)> fn) {
  fn(root);
  if (Block* inner = FirstBlock(root)) Walk(inner, /*siblings=*/true, fn);
}

void WalkBlock(Block* block, absl::FunctionRef<void(Op*)> fn) {
  Walk(block, /*siblings=*/false, fn);
}

}  // namespace pjrt::ir
