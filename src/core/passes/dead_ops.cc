// SPDX-License-Identifier: Apache-2.0
//
// What is needed is found from its end: effects and what functions return need what they are
// computed from. Loops and branches are needed value by value, so that one that a loop carries for
// nobody but itself goes.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/effects.h"
#include "src/core/passes/keep_results.h"

namespace pjrt::ir {
namespace {

// `scratch` of ops and values while the pass runs.
constexpr int32_t kDead = 0;
constexpr int32_t kLive = 1;
constexpr int32_t kEntered = 2;  // an op: live, and what is in its regions has had its turn

bool IsBranch(const Op& op) { return op.Is(OpCode::kIf) || op.Is(OpCode::kCase); }

// Whether results are needed one by one.
bool HasResultsApart(const Op& op) {
  return op.Is(OpCode::kWhile) || IsBranch(op) || op.Is(OpCode::kOptimizationBarrier);
}

class DeadOpRemover {
 public:
  explicit DeadOpRemover(Module* module) : module_(module) {}

  void Run() {
    Mark();
    for (Op* op : *module_->body()) Sweep(op);
  }

 private:
  void Mark() {
    std::vector<const Op*> needed;
    module_->Walk([&](const Op* op) {
      op->scratch = kDead;
      for (size_t i = 0; i < op->num_results(); ++i) op->result(i)->scratch = kDead;
      for (size_t r = 0; r < op->num_regions(); ++r) {
        for (const Block* block = op->region(r)->block(); block != nullptr; block = block->next()) {
          for (const Value* argument : block->arguments()) argument->scratch = kDead;
        }
      }
      // Loops and branches do what their regions do.
      const bool has_effect = !op->IsTerminator() && !HasResultsApart(*op) && !ComputesOnly(*op);
      if (has_effect || op->parent() == nullptr) needed.push_back(op);
    });
    for (const Op* op : needed) {
      for (; op != nullptr && op->scratch == kDead; op = op->parent()) Need(*op);
    }
    while (!needed_values_.empty()) {
      const Value* const value = needed_values_.back();
      needed_values_.pop_back();
      if (const Op* op = value->defining_op()) {
        if (op->scratch == kDead) Need(*op);
        NeedSources(*op, value->index());
      } else if (const Op* around = value->block()->parent_op();
                 around != nullptr && around->Is(OpCode::kWhile)) {
        Need(around->result(value->index()));
      }
    }
  }

  void Need(const Value* value) {
    if (value->scratch != kDead) return;
    value->scratch = kLive;
    needed_values_.push_back(value);
  }

  void NeedOperands(const Op& op) {
    for (const Use& use : op.operand_uses()) Need(use.value());
  }

  // What an op takes to run at all, which is everything but for those whose results are needed one
  // by one.
  void Need(const Op& op) {
    op.scratch = kLive;
    if (op.Is(OpCode::kOptimizationBarrier)) return;
    if (op.Is(OpCode::kWhile)) {
      NeedOperands(*op.region(0)->block()->terminator());
      return;
    }
    NeedOperands(op);
    if (IsBranch(op)) return;
    for (size_t r = 0; r < op.num_regions(); ++r) {
      for (const Block* block = op.region(r)->block(); block != nullptr; block = block->next()) {
        if (const Op* end = block->terminator()) NeedOperands(*end);
      }
    }
  }

  // What the result `i` is made of, if that is not the same for all.
  void NeedSources(const Op& op, size_t i) {
    if (op.Is(OpCode::kWhile) || op.Is(OpCode::kOptimizationBarrier)) Need(op.operand(i));
    if (op.Is(OpCode::kWhile)) Need(op.region(1)->block()->terminator()->operand(i));
    if (!IsBranch(op)) return;
    for (size_t r = 0; r < op.num_regions(); ++r)
      Need(op.region(r)->block()->terminator()->operand(i));
  }

  // Backwards, and inner ops before those around them: then nothing uses what goes.
  void Sweep(Op* root) {
    std::vector<Op*> stack;
    PushRegions(*root, &stack);
    while (!stack.empty()) {
      Op* const op = stack.back();
      if (op == nullptr) {
        stack.pop_back();
      } else if (op->scratch == kDead && !op->IsTerminator()) {
        stack.back() = op->prev();
        op->Erase();
      } else if (op->scratch == kLive && op->num_regions() > 0) {
        op->scratch = kEntered;
        if (HasResultsApart(*op)) {
          if (const Indices kept = Kept(*op); kept.size() < op->num_results())
            ReturnOnly(module_, op, kept);
        }
        PushRegions(*op, &stack);
      } else {
        stack.back() = op->prev();
        if (!HasResultsApart(*op)) continue;
        if (const Indices kept = Kept(*op); kept.size() < op->num_results())
          KeepResults(module_, op, kept);
      }
    }
  }

  using Indices = absl::InlinedVector<size_t, 8>;

  static Indices Kept(const Op& op) {
    Indices kept;
    for (size_t i = 0; i < op.num_results(); ++i) {
      if (op.result(i)->scratch == kLive) kept.push_back(i);
    }
    return kept;
  }

  static void PushRegions(const Op& op, std::vector<Op*>* stack) {
    for (size_t r = 0; r < op.num_regions(); ++r) {
      for (const Block* block = op.region(r)->block(); block != nullptr; block = block->next())
        stack->push_back(block->back());
    }
  }

  Module* module_;
  std::vector<const Value*> needed_values_;
};

}  // namespace

void RemoveDeadOps(Module* module) { DeadOpRemover(module).Run(); }

}  // namespace pjrt::ir
