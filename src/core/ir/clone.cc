// SPDX-License-Identifier: Apache-2.0
//
// Copies of ops and modules.
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "pjrt/ir/module.h"
#include "src/core/ir/storage.h"

namespace pjrt::ir {

// One copying of ops into a module, with what it has met so far.
class Cloner {
 public:
  Cloner(Module* to, bool same_module) : to_(to), same_module_(same_module) {}

  // The copy of `op` alone, with empty regions. Operands that have no copy yet stay null.
  Op* CopyOp(const Op* op, Block* block, Op* before) {
    absl::InlinedVector<Value*, 8> operands;
    for (size_t i = 0; i < op->num_operands(); ++i) {
      auto it = values_.find(op->operand(i));
      operands.push_back(it == values_.end() ? nullptr : it->second);
    }
    absl::InlinedVector<Type, 4> types;
    for (size_t i = 0; i < op->num_results(); ++i) types.push_back(Imported(op->result_type(i)));
    EntryList attributes(op->attributes().begin(), op->attributes().end());
    for (NamedAttribute& a : attributes) a.value = Imported(a.value);
    OpState state;
    state.name = op->name();
    state.location = {op->location().line, op->location().column, Imported(op->location().attr)};
    state.operands = operands;
    state.result_types = types;
    state.attributes = attributes;
    state.num_regions = op->num_regions();
    Op* copy = to_->Append(block, state, before);
    for (size_t i = 0; i < op->num_results(); ++i) values_[op->result(i)] = copy->result(i);
    for (size_t i = 0; i < op->num_operands(); ++i) {
      if (operands[i] == nullptr)
        unresolved_.push_back({copy, static_cast<unsigned>(i), op->operand(i)});
    }
    return copy;
  }

  // The ops of `from` and all that is in them, appended to `to`, whose arguments exist already.
  void CopyBody(const Block* from, Block* to) {
    std::vector<std::pair<const Block*, Block*>> work = {{from, to}};
    while (!work.empty()) {
      const auto [source, target] = work.back();
      work.pop_back();
      for (const Op* op : *source) AddRegions(op, CopyOp(op, target, nullptr), &work);
    }
  }

  // Blocks and arguments of the copy's regions; what is to be copied into them is added to `work`.
  void AddRegions(const Op* op, Op* copy, std::vector<std::pair<const Block*, Block*>>* work) {
    for (size_t i = 0; i < op->num_regions(); ++i) {
      for (const Block* b = op->region(i)->block(); b != nullptr; b = b->next()) {
        Block* block = copy->region(i)->AddBlock();
        for (Value* argument : b->arguments()) {
          values_[argument] =
              block->AddArgument(Imported(argument->type()), Imported(argument->location()));
        }
        work->push_back({b, block});
      }
    }
  }

  // Sets the operands whose values were copied after their use, or come from outside.
  void Resolve(absl::FunctionRef<Value*(Value*)> map) {
    for (const Unresolved& u : unresolved_) {
      auto it = values_.find(u.value);
      Value* value = it != values_.end() ? it->second : u.value != nullptr ? map(u.value) : nullptr;
      if (value == nullptr && same_module_) value = u.value;
      u.op->set_operand(u.operand, value);
    }
  }

  Type Imported(Type type) {
    if (same_module_ || !type) return type;
    Type& known = types_[type];
    if (!known) known = to_->context().Import(type);
    return known;
  }
  Attribute Imported(Attribute attr) {
    if (same_module_ || !attr) return attr;
    Attribute& known = attributes_[attr.storage()];
    if (!known) known = to_->context().Import(attr);
    return known;
  }

 private:
  struct Unresolved {
    Op* op;
    unsigned operand;
    Value* value;
  };
  Module* to_;
  bool same_module_;
  absl::flat_hash_map<const Value*, Value*> values_;
  absl::flat_hash_map<Type, Type> types_;
  absl::flat_hash_map<const AttributeStorage*, Attribute> attributes_;
  std::vector<Unresolved> unresolved_;
};

Op* Module::CloneOp(const Op* op, Block* block, absl::FunctionRef<Value*(Value*)> map, Op* before) {
  Cloner cloner(this, op->module() == this);
  std::vector<std::pair<const Block*, Block*>> work;
  Op* copy = cloner.CopyOp(op, block, before);
  cloner.AddRegions(op, copy, &work);
  for (const auto& [source, target] : work) cloner.CopyBody(source, target);
  cloner.Resolve(map);
  return copy;
}

std::unique_ptr<Module> Module::Clone() const {
  auto copy = std::make_unique<Module>();
  Cloner cloner(copy.get(), /*same_module=*/false);
  copy->set_name(name_);
  copy->set_source_name(source_name_);
  for (const NamedAttribute& a : attributes_) copy->SetAttr(a.name, cloner.Imported(a.value));
  cloner.CopyBody(&body_, copy->body());
  cloner.Resolve([](Value*) -> Value* { return nullptr; });
  return copy;
}

}  // namespace pjrt::ir
