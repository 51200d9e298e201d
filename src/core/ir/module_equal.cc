// SPDX-License-Identifier: Apache-2.0
//
// Equality of modules: both are walked side by side.
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {
namespace {

bool SameAttributes(absl::Span<const NamedAttribute> a, absl::Span<const NamedAttribute> b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || !Equal(a[i].value, b[i].value)) return false;
  }
  return true;
}

class Comparison {
 public:
  bool Blocks(const Block* a, const Block* b) {
    work_.push_back({a, b});
    while (!work_.empty()) {
      const auto [x, y] = work_.back();
      work_.pop_back();
      if (!OneBlock(x, y)) return false;
    }
    return true;
  }

 private:
  bool OneBlock(const Block* a, const Block* b) {
    if (a->num_arguments() != b->num_arguments()) return false;
    for (size_t i = 0; i < a->num_arguments(); ++i) {
      if (!Values(a->argument(i), b->argument(i))) return false;
    }
    const Op* x = a->front();
    const Op* y = b->front();
    for (; x != nullptr && y != nullptr; x = x->next(), y = y->next()) {
      if (!Ops(x, y)) return false;
    }
    return x == y;  // both at their end
  }

  bool Ops(const Op* a, const Op* b) {
    if (a->name() != b->name() || a->num_operands() != b->num_operands() ||
        a->num_results() != b->num_results() || a->num_regions() != b->num_regions() ||
        !SameAttributes(a->attributes(), b->attributes())) {
      return false;
    }
    for (size_t i = 0; i < a->num_operands(); ++i) {
      if (!Values(a->operand(i), b->operand(i))) return false;
    }
    for (size_t i = 0; i < a->num_results(); ++i) {
      if (!Values(a->result(i), b->result(i))) return false;
    }
    for (size_t i = 0; i < a->num_regions(); ++i) {
      const Block* x = a->region(i)->block();
      const Block* y = b->region(i)->block();
      for (; x != nullptr && y != nullptr; x = x->next(), y = y->next()) work_.push_back({x, y});
      if (x != y) return false;
    }
    return true;
  }

  // Each value of one module has one partner in the other, wherever it is met first.
  bool Values(const Value* a, const Value* b) {
    if (a == nullptr || b == nullptr) return a == b;
    const auto [it, is_new] = partners_.try_emplace(a, b);
    return is_new ? Equal(a->type(), b->type()) : it->second == b;
  }

  std::vector<std::pair<const Block*, const Block*>> work_;
  absl::flat_hash_map<const Value*, const Value*> partners_;
};

}  // namespace

bool Equal(const Module& a, const Module& b) {
  return a.name() == b.name() && SameAttributes(a.attributes(), b.attributes()) &&
         Comparison().Blocks(a.body(), b.body());
}

}  // namespace pjrt::ir
