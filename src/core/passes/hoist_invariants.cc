// SPDX-License-Identifier: Apache-2.0
//
// Takes out of loops what is the same each time around: values that a loop carries without changing
// them, ops on nothing but such values, and all but one of the counters that are always equal.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/effects.h"
#include "src/core/passes/keep_results.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

// Results may be larger by so many bytes than what they are made of: keeping them costs nothing to
// speak of.
constexpr int64_t kSmallBytes = 4096;

int64_t Bytes(Type type) {
  if (!type.IsTensor() || !type.HasStaticShape()) return 0;
  return type.element_count() *
         (type.primitive_type() == PrimitiveType::INVALID ? 8 : ByteWidth(type.primitive_type()));
}

// True when an op, other than a loop, is the same each time around in `block` where its operands
// are: it is pure, and its regions use nothing of the block.
bool DependsOnOperandsAlone(const Op& op, const Block* block) {
  if (op.Is(OpCode::kCustomCall) || op.Is(OpCode::kWhile) || !IsPure(op)) return false;
  for (size_t r = 0; r < op.num_regions(); ++r) {
    if (op.region(r)->block() == nullptr) continue;
    for (const Op* inner : *op.region(r)->block()) {
      for (const Use& use : inner->operand_uses()) {
        if (use.value()->block() == block) return false;
      }
    }
  }
  return true;
}

class Hoister {
 public:
  // Inner loops first: what leaves them may go on to leave the loop around.
  void Run(Block* body) {
    std::vector<Op*> loops;
    std::vector<Block*> blocks = {body};
    while (!blocks.empty()) {
      Block* block = blocks.back();
      blocks.pop_back();
      for (Op* op : *block) {
        if (op->Is(OpCode::kWhile)) loops.push_back(op);
        for (size_t r = 0; r < op->num_regions(); ++r) {
          if (Block* inner = op->region(r)->block()) blocks.push_back(inner);
        }
      }
    }
    while (!loops.empty()) {
      Op* loop = loops.back();
      loops.pop_back();
      ForwardUnchanged(loop);
      MergeCounters(loop);
      for (size_t r = 0; r < 2; ++r) HoistFrom(loop->region(r)->block(), loop);
    }
  }

 private:
  // Lets everyone use the operand in place of a carried value that never changes.
  void ForwardUnchanged(Op* loop) {
    Block *condition = loop->region(0)->block(), *body = loop->region(1)->block();
    const Op* next = body->terminator();
    for (size_t i = 0; i < loop->num_operands(); ++i) {
      if (next->operand(i) != body->argument(i)) continue;
      condition->argument(i)->ReplaceAllUsesWith(loop->operand(i));
      loop->result(i)->ReplaceAllUsesWith(loop->operand(i));
      // All uses but the terminator's, which keeps the loop well-formed.
      for (const Use *use = body->argument(i)->first_use(), *after; use != nullptr; use = after) {
        after = use->next();
        if (use->owner() != next) use->owner()->set_operand(use->operand_index(), loop->operand(i));
      }
    }
  }

  // Lets everyone use the first of counters that begin and go on alike, and leaves the others
  // unchanged: exporters count the iterations for the condition and once more for the body.
  void MergeCounters(Op* loop) {
    Block *condition = loop->region(0)->block(), *body = loop->region(1)->block();
    Op* const next = body->terminator();
    // What is added to a carried value each time around, if that comes from outside, or null.
    const auto step_of = [&](size_t i) -> const Value* {
      const Op* add = MadeBy(next->operand(i), OpCode::kAdd);
      return add != nullptr && add->operand(0) == body->argument(i) &&
                     (add->operand(1)->block() != body ||
                      MadeBy(add->operand(1), OpCode::kConstant) != nullptr)
                 ? add->operand(1)
                 : nullptr;
    };
    std::vector<size_t> counters;  // no two of them alike
    for (size_t i = 0; i < loop->num_operands(); ++i) {
      const Value* const step = step_of(i);
      if (step == nullptr) continue;
      const auto first = std::find_if(counters.begin(), counters.end(), [&](size_t k) {
        return loop->operand_type(k) == loop->operand_type(i) &&
               AreEqual(loop->operand(k), loop->operand(i)) && AreEqual(step_of(k), step);
      });
      if (first == counters.end()) {
        counters.push_back(i);
        continue;
      }
      condition->argument(i)->ReplaceAllUsesWith(condition->argument(*first));
      body->argument(i)->ReplaceAllUsesWith(body->argument(*first));
      loop->result(i)->ReplaceAllUsesWith(loop->result(*first));
      next->set_operand(i, body->argument(i));
    }
  }

  // Ops in program order, so that one that is used by another has left before. A value in memory
  // for the whole loop should not be larger than those that it saves reading: what is larger, as
  // broadcasts are, leaves with the one op that uses it and whose result is not.
  void HoistFrom(Block* block, Op* loop) {
    absl::flat_hash_map<const Op*, int64_t> waiting;  // to the bytes that make them
    for (Op* op : *block) {
      if (!DependsOnOperandsAlone(*op, block)) continue;
      int64_t in = 0, out = 0;
      bool invariant = true;
      for (const Use& use : op->operand_uses()) {
        const auto made = waiting.find(use.value()->defining_op());
        invariant &= use.value()->block() != block || made != waiting.end();
        in += made != waiting.end() ? made->second : Bytes(use.value()->type());
      }
      if (!invariant) continue;
      for (size_t i = 0; i < op->num_results(); ++i) out += Bytes(op->result_type(i));
      if (op->Is(OpCode::kConstant) || out <= in + kSmallBytes) {
        MoveWithOperands(op, loop, waiting);
      } else if (op->num_results() == 1 && op->result()->HasOneUse()) {
        waiting.emplace(op, in);
      }
    }
  }

  // Moves an op before the loop, behind those of `waiting` that it is made of.
  void MoveWithOperands(Op* op, Op* loop, const absl::flat_hash_map<const Op*, int64_t>& waiting) {
    std::vector<Op*> moved = {op};
    for (size_t i = 0; i < moved.size(); ++i) {
      for (const Use& use : moved[i]->operand_uses()) {
        Op* const made = use.value()->defining_op();
        if (waiting.contains(made)) moved.push_back(made);
      }
    }
    std::for_each(moved.rbegin(), moved.rend(), [&](Op* each) { each->MoveBefore(loop); });
  }
};

// Rebuilds a loop without the carried values that never change and that nothing asks it for.
void DropUnchanged(Module* module, Op* loop) {
  Block* body = loop->region(1)->block();
  const Op* next = body->terminator();
  std::vector<size_t> kept;
  for (size_t i = 0; i < loop->num_operands(); ++i) {
    const Value* in = body->argument(i);
    const bool unchanged = next->operand(i) == in && in->HasOneUse();
    if (!unchanged || loop->result(i)->has_uses() ||
        loop->region(0)->block()->argument(i)->has_uses()) {
      kept.push_back(i);
    }
  }
  if (kept.size() == loop->num_operands() || kept.empty()) return;
  ReturnOnly(module, loop, kept);
  KeepResults(module, loop, kept);
}

}  // namespace

void HoistLoopInvariants(Module* module) {
  std::vector<Op*> loops;
  for (Op* op : *module->body()) {
    if (!op->Is(OpCode::kFuncFunc)) continue;
    if (Block* body = op->region()->block()) Hoister().Run(body);
  }
  module->Walk([&](Op* op) {
    if (op->Is(OpCode::kWhile)) loops.push_back(op);
  });
  for (Op* loop : loops) DropUnchanged(module, loop);
}

}  // namespace pjrt::ir
