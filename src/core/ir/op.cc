// SPDX-License-Identifier: Apache-2.0
//
// Values, ops, blocks and regions: the lists that tie them together.
#include <algorithm>
#include <vector>

#include "pjrt/ir/module.h"
#include "pjrt/ir/op_set.h"
#include "src/core/ir/storage.h"
#include "src/core/ir/walk.h"

namespace pjrt::ir {

// --- Use and Value ---

void Use::Link(Value* value) {
  value_ = value;
  if (value == nullptr) return;
  next_ = value->first_use_;
  prev_ = &value->first_use_;
  if (next_ != nullptr) next_->prev_ = &next_;
  value->first_use_ = this;
}

void Use::Unlink() {
  if (value_ == nullptr) return;
  *prev_ = next_;
  if (next_ != nullptr) next_->prev_ = prev_;
  value_ = nullptr;
  next_ = nullptr;
  prev_ = nullptr;
}

Block* Value::block() const { return op_ != nullptr ? op_->block() : block_; }

void Value::ReplaceAllUsesWith(Value* other) {
  if (other == this) return;
  while (first_use_ != nullptr) {
    Use* use = first_use_;
    use->Unlink();
    use->Link(other);
  }
}

// --- Op ---

void Op::set_operand(size_t i, Value* value) {
  operands_[i].Unlink();
  operands_[i].Link(value);
}

bool Op::HasResultUses() const {
  return std::any_of(results_, results_ + num_results_,
                     [](const Value& v) { return v.has_uses(); });
}

Attribute Op::attr(absl::string_view name) const { return FindByName(attributes_, name); }

int64_t Op::IntAttr(absl::string_view name, int64_t otherwise) const {
  const Attribute a = attr(name);
  return a.Is(AttrKind::kInteger) || a.Is(AttrKind::kBool) ? a.AsInt() : otherwise;
}

bool Op::BoolAttr(absl::string_view name, bool otherwise) const {
  const Attribute a = attr(name);
  return a ? a.AsBool() : otherwise;
}

absl::string_view Op::StringAttr(absl::string_view name, absl::string_view otherwise) const {
  const Attribute a = attr(name);
  return a.Is(AttrKind::kString) || a.Is(AttrKind::kSymbol) ? a.AsString() : otherwise;
}

absl::InlinedVector<int64_t, 6> Op::IntsAttr(absl::string_view name) const {
  absl::InlinedVector<int64_t, 6> values;
  GetIntList(attr(name), &values);
  return values;
}

void Op::SetAttr(absl::string_view name, Attribute value) {
  attributes_ = WithEntry(&module_->context_, attributes_, name, value);
}

void Op::RemoveAttr(absl::string_view name) {
  attributes_ = WithoutEntry(&module_->context_, attributes_, name);
}

Region* Op::region(size_t i) const { return &regions_[i]; }

Op* Op::parent() const { return block_ != nullptr ? block_->parent_op() : nullptr; }

bool Op::IsTerminator() const { return GetOpInfo(opcode_).Has(kTerminator); }

void Op::Link(Block* block, Op* before) {
  block_ = block;
  next_ = before;
  prev_ = before != nullptr ? before->prev_ : block->last_;
  (prev_ != nullptr ? prev_->next_ : block->first_) = this;
  (before != nullptr ? before->prev_ : block->last_) = this;
}

void Op::Unlink() {
  (prev_ != nullptr ? prev_->next_ : block_->first_) = next_;
  (next_ != nullptr ? next_->prev_ : block_->last_) = prev_;
  block_ = nullptr;
  next_ = nullptr;
  prev_ = nullptr;
}

void Op::MoveBefore(Op* other) {
  if (other == this) return;
  Unlink();
  Link(other->block_, other);
}

void Op::Erase() {
  std::vector<Op*> all;
  WalkFrom(this, [&all](Op* op) { all.push_back(op); });
  for (Op* op : all) {
    for (size_t i = 0; i < op->num_operands_; ++i) op->operands_[i].Unlink();
  }
  // From the inside out: what is nested is gone as well.
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    (*it)->Unlink();
    for (size_t i = 0; i < (*it)->num_regions_; ++i) (*it)->regions_[i].first_ = nullptr;
  }
}

// --- Block ---

Value* Block::AddArgument(Type type, Attribute location) {
  Context& context = module_->context_;
  if (num_arguments_ == argument_capacity_) {
    argument_capacity_ = argument_capacity_ == 0 ? 2 : argument_capacity_ * 2;
    auto** grown = static_cast<Value**>(
        context.Allocate(sizeof(Value*) * argument_capacity_, alignof(Value*)));
    std::copy(arguments_, arguments_ + num_arguments_, grown);
    arguments_ = grown;
  }
  Value* value = context.New<Value>();
  value->type_ = type;
  value->block_ = this;
  value->index_ = num_arguments_;
  value->location_ = location;
  arguments_[num_arguments_++] = value;
  return value;
}

void Block::EraseArgument(size_t i) {
  std::copy(arguments_ + i + 1, arguments_ + num_arguments_, arguments_ + i);
  --num_arguments_;
  for (; i < num_arguments_; ++i) arguments_[i]->index_ = static_cast<unsigned>(i);
}

Op* Block::parent_op() const { return parent_ != nullptr ? parent_->parent() : nullptr; }

// --- Region ---

Block* Region::AddBlock() {
  Module* module = parent_->module();
  Block* block = module->context_.New<Block>();
  block->parent_ = this;
  block->module_ = module;
  Block** end = &first_;
  while (*end != nullptr) end = &(*end)->next_;
  *end = block;
  return block;
}

size_t Region::num_blocks() const {
  size_t count = 0;
  for (const Block* b = first_; b != nullptr; b = b->next_) ++count;
  return count;
}

Block* Region::block(size_t i) const {
  Block* b = first_;
  for (; i > 0 && b != nullptr; --i) b = b->next_;
  return b;
}

}  // namespace pjrt::ir
