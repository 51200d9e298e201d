// SPDX-License-Identifier: Apache-2.0
//
// Common subexpressions. Values are numbered in program order by merging: two ops are equal when
// name, operands, attributes and result types are, and their regions op by op.
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/effects.h"

namespace pjrt::ir {
namespace {

bool SameAttributes(const Op& a, const Op& b) {
  const auto x = a.attributes(), y = b.attributes();
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].name != y[i].name || x[i].value != y[i].value) return false;
  }
  return true;
}

bool SameHead(const Op& a, const Op& b) {
  if (a.opcode() != b.opcode() || a.num_operands() != b.num_operands() ||
      a.num_results() != b.num_results() || a.num_regions() != b.num_regions()) {
    return false;
  }
  for (size_t i = 0; i < a.num_results(); ++i) {
    if (a.result_type(i) != b.result_type(i)) return false;
  }
  return SameAttributes(a, b);
}

// Regions of pure ops, which hold no regions themselves.
bool SameRegion(const Region& a, const Region& b) {
  const Block *x = a.block(), *y = b.block();
  if (x == nullptr || y == nullptr) return x == y;
  if (x->num_arguments() != y->num_arguments() || a.num_blocks() != 1 || b.num_blocks() != 1)
    return false;
  absl::flat_hash_map<const Value*, const Value*> twin;
  for (size_t i = 0; i < x->num_arguments(); ++i) {
    if (x->argument(i)->type() != y->argument(i)->type()) return false;
    twin[x->argument(i)] = y->argument(i);
  }
  const Op* q = y->front();
  for (const Op* p : *x) {
    if (q == nullptr || !SameHead(*p, *q)) return false;
    for (size_t i = 0; i < p->num_operands(); ++i) {
      const auto it = twin.find(p->operand(i));
      if ((it != twin.end() ? it->second : p->operand(i)) != q->operand(i)) return false;
    }
    for (size_t i = 0; i < p->num_results(); ++i) twin[p->result(i)] = q->result(i);
    q = q->next();
  }
  return q == nullptr;
}

struct OpHash {
  size_t operator()(const Op* op) const {
    size_t hash = HashHead(absl::HashOf(op->result_type()), *op);
    for (const Use& use : op->operand_uses()) hash = absl::HashOf(hash, use.value());
    // Of regions what they compute, and what they use from outside.
    for (size_t r = 0; r < op->num_regions(); ++r) {
      const Block* const block = op->region(r)->block();
      if (block == nullptr) continue;
      for (const Op* inner : *block) {
        hash = HashHead(hash, *inner);
        for (const Use& use : inner->operand_uses()) {
          if (use.value()->block() != block) hash = absl::HashOf(hash, use.value());
        }
      }
    }
    return hash;
  }

  static size_t HashHead(size_t hash, const Op& op) {
    hash = absl::HashOf(hash, op.opcode());
    for (const NamedAttribute& attr : op.attributes()) hash = absl::HashOf(hash, attr.value);
    return hash;
  }
};

struct OpEqual {
  bool operator()(const Op* a, const Op* b) const {
    if (!SameHead(*a, *b)) return false;
    for (size_t i = 0; i < a->num_operands(); ++i) {
      if (a->operand(i) != b->operand(i)) return false;
    }
    for (size_t r = 0; r < a->num_regions(); ++r) {
      if (!SameRegion(*a->region(r), *b->region(r))) return false;
    }
    return true;
  }
};

// A function's blocks, inner ones within outer ones. The ops that a block added are forgotten at
// its end.
class Merger {
 public:
  void Run(Block* body) {
    blocks_.push_back({body->front()});
    while (!blocks_.empty()) {
      Level& level = blocks_.back();
      if (Op* const entered = std::exchange(level.entered, nullptr)) {
        if (IsPure(*entered)) Merge(entered, &level);
        continue;
      }
      Op* const op = level.next;
      if (op == nullptr) {
        for (const Op* added : level.added) seen_.erase(added);
        blocks_.pop_back();
        continue;
      }
      level.next = op->next();
      // What is in its regions comes first, and sees what is around them. The regions of others
      // (reducers, comparators) are programs of their own and are left alone.
      level.entered = op;
      if (!GetOpInfo(op->opcode()).Has(kControlFlow)) continue;
      for (size_t r = 0; r < op->num_regions(); ++r) {
        if (Block* block = op->region(r)->block()) blocks_.push_back({block->front()});
      }
    }
  }

 private:
  struct Level {
    Op* next;
    Op* entered = nullptr;  // the op before it, until its regions are done
    std::vector<const Op*> added = {};
  };

  // Puts an equal op in the place of `op`, or remembers it.
  void Merge(Op* op, Level* level) {
    const auto [it, inserted] = seen_.insert(op);
    if (inserted) {
      level->added.push_back(op);
      return;
    }
    for (size_t i = 0; i < op->num_results(); ++i)
      op->result(i)->ReplaceAllUsesWith((*it)->result(i));
    op->Erase();
  }

  std::vector<Level> blocks_;
  absl::flat_hash_set<const Op*, OpHash, OpEqual> seen_;
};

}  // namespace

void MergeEqualOps(Module* module) {
  for (Op* op : *module->body()) {
    if (!op->Is(OpCode::kFuncFunc)) continue;
    if (Block* body = op->region()->block()) Merger().Run(body);
  }
}

}  // namespace pjrt::ir
