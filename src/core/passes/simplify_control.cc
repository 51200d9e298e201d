// SPDX-License-Identifier: Apache-2.0
//
// Control flow that is decided by a constant.
#include <cstdint>
#include <optional>

#include "src/core/passes/simplify.h"
#include "src/core/passes/trip_count.h"

namespace pjrt::ir {
namespace {

// Puts the ops of a region, whose arguments nothing uses, before `op`, and gives what the region
// returns.
Replacement Unwrap(const Region& region, Op* op) {
  Block* block = region.block();
  Replacement values;
  for (Op* inner : *block) {
    if (inner == block->terminator()) {
      for (const Use& use : inner->operand_uses()) values.push_back(use.value());
    } else {
      inner->MoveBefore(op);
    }
  }
  return values;
}

Replacement Branch(const Op& op, size_t branch) {
  // An op without results has nothing to be replaced.
  if (op.num_results() == 0) return {};
  return Unwrap(*op.region(branch), const_cast<Op*>(&op));
}

}  // namespace

Replacement SimplifyIf(const Op& op, Emitter&) {
  const std::optional<int64_t> pred = ScalarInt(op.operand(0));
  return pred.has_value() ? Branch(op, *pred != 0 ? 0 : 1) : Replacement();
}

// An index out of range takes the last branch.
Replacement SimplifyCase(const Op& op, Emitter&) {
  const size_t last = op.num_regions() - 1;
  if (last == 0) return Branch(op, 0);
  const std::optional<int64_t> index = ScalarInt(op.operand(0));
  if (!index.has_value()) return {};
  return Branch(
      op, *index < 0 || *index > static_cast<int64_t>(last) ? last : static_cast<size_t>(*index));
}

// A loop that never begins leaves its operands as they are; one that runs once is its body.
Replacement SimplifyWhile(const Op& op, Emitter&) {
  const Op* end = op.region(0)->block()->terminator();
  const std::optional<int64_t> goes_on = ScalarInt(end->operand(0));
  const std::optional<int64_t> count = goes_on == 0          ? std::optional<int64_t>(0)
                                       : goes_on.has_value() ? std::nullopt
                                                             : TripCount(op);
  if (!count.has_value() || *count > 1 || op.num_results() == 0) return {};
  Replacement values;
  for (const Use& use : op.operand_uses()) values.push_back(use.value());
  if (*count == 0) return values;
  Block* body = op.region(1)->block();
  for (size_t i = 0; i < values.size(); ++i) body->argument(i)->ReplaceAllUsesWith(values[i]);
  return Unwrap(*op.region(1), const_cast<Op*>(&op));
}

}  // namespace pjrt::ir
