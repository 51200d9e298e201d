// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/module.h"

#include <algorithm>
#include <new>

#include "absl/container/inlined_vector.h"
#include "pjrt/ir/op_set.h"
#include "src/core/ir/storage.h"
#include "src/core/ir/walk.h"

namespace pjrt::ir {

static_assert(alignof(Op) == 8 && alignof(Use) == 8 && alignof(Value) == 8 &&
                  alignof(Region) == 8 && alignof(NamedAttribute) == 8,
              "an op and its parts share one allocation, one after the other");

absl::Span<const NamedAttribute> WithEntry(Context* context,
                                           absl::Span<const NamedAttribute> entries,
                                           absl::string_view name, Attribute value) {
  EntryList changed(entries.begin(), entries.end());
  changed.push_back({context->Intern(name), value});
  SortEntries(&changed);
  return context->CopySpan(absl::MakeConstSpan(changed));
}

absl::Span<const NamedAttribute> WithoutEntry(Context* context,
                                              absl::Span<const NamedAttribute> entries,
                                              absl::string_view name) {
  EntryList changed(entries.begin(), entries.end());
  changed.erase(std::remove_if(changed.begin(), changed.end(),
                               [name](const NamedAttribute& entry) { return entry.name == name; }),
                changed.end());
  return changed.size() == entries.size() ? entries
                                          : context->CopySpan(absl::MakeConstSpan(changed));
}

// --- Function ---

namespace {

Attribute DictAt(Attribute list, size_t i) {
  if (!list.Is(AttrKind::kArray) || i >= list.elements().size()) return {};
  const Attribute dict = list.elements()[i];
  return dict.Is(AttrKind::kDict) && !dict.entries().empty() ? dict : Attribute();
}

}  // namespace

Attribute Function::arg_attrs(size_t i) const { return DictAt(op_->attr("arg_attrs"), i); }
Attribute Function::result_attrs(size_t i) const { return DictAt(op_->attr("res_attrs"), i); }

Attribute Function::ArgAttr(size_t i, absl::string_view name) const {
  const Attribute dict = arg_attrs(i);
  return dict ? dict.Get(name) : Attribute();
}

Attribute Function::ResultAttr(size_t i, absl::string_view name) const {
  const Attribute dict = result_attrs(i);
  return dict ? dict.Get(name) : Attribute();
}

// --- Module ---

Module::Module() {
  top_.first_ = &body_;
  body_.parent_ = &top_;
  body_.module_ = this;
}

Module::~Module() = default;

Attribute Module::attr(absl::string_view name) const { return FindByName(attributes_, name); }

void Module::SetAttr(absl::string_view name, Attribute value) {
  attributes_ = WithEntry(&context_, attributes_, name, value);
}

Function Module::FindFunction(absl::string_view name) const {
  for (Op* op : body_) {
    if (op->Is(OpCode::kFuncFunc) && op->StringAttr("sym_name") == name) return Function(op);
  }
  return Function();
}

Function Module::EntryFunction() const {
  if (Function main = FindFunction("main")) return main;
  Function entry;
  bool several = false;
  for (Op* op : body_) {
    if (!op->Is(OpCode::kFuncFunc)) continue;
    const Function function(op);
    if (entry && function.IsPrivate() && !entry.IsPrivate()) continue;
    several = entry && function.IsPrivate() == entry.IsPrivate();
    entry = function;
  }
  return several ? Function() : entry;
}

Op* Module::Append(Block* block, const OpState& state, Op* before) {
  EntryList attributes(state.attributes.begin(), state.attributes.end());
  SortEntries(&attributes);

  // The op and all that belongs to it lie side by side.
  const size_t operands = state.operands.size();
  const size_t results = state.result_types.size();
  const size_t bytes = sizeof(Op) + sizeof(Use) * operands + sizeof(Value) * results +
                       sizeof(Region) * state.num_regions +
                       sizeof(NamedAttribute) * attributes.size();
  char* memory = static_cast<char*>(context_.Allocate(bytes, alignof(Op)));
  const auto take = [&memory](size_t size) {
    char* piece = memory;
    memory += size;
    return piece;
  };
  Op* op = new (take(sizeof(Op))) Op();
  op->opcode_ = LookupOp(state.name);
  op->name_ =
      op->opcode_ == OpCode::kUnknown ? context_.Intern(state.name) : GetOpInfo(op->opcode_).name;
  op->location_ = state.location;
  op->module_ = this;

  op->results_ = reinterpret_cast<Value*>(take(sizeof(Value) * results));
  op->num_results_ = static_cast<uint32_t>(results);
  for (size_t i = 0; i < results; ++i) {
    Value* value = new (op->results_ + i) Value();
    value->type_ = state.result_types[i];
    value->op_ = op;
    value->index_ = static_cast<unsigned>(i);
  }

  op->operands_ = reinterpret_cast<Use*>(take(sizeof(Use) * operands));
  op->num_operands_ = static_cast<uint32_t>(operands);
  for (size_t i = 0; i < operands; ++i) {
    Use* use = new (op->operands_ + i) Use();
    use->owner_ = op;
    use->Link(state.operands[i]);
  }

  op->regions_ = reinterpret_cast<Region*>(take(sizeof(Region) * state.num_regions));
  op->num_regions_ = static_cast<uint32_t>(state.num_regions);
  for (size_t i = 0; i < state.num_regions; ++i) (new (op->regions_ + i) Region())->parent_ = op;

  auto* entries =
      reinterpret_cast<NamedAttribute*>(take(sizeof(NamedAttribute) * attributes.size()));
  for (size_t i = 0; i < attributes.size(); ++i) {
    new (entries + i) NamedAttribute{context_.Intern(attributes[i].name), attributes[i].value};
  }
  op->attributes_ = absl::MakeConstSpan(entries, attributes.size());

  op->Link(block, before);
  return op;
}

Function Module::AddFunction(absl::string_view name, Type function_type, bool is_private) {
  absl::InlinedVector<NamedAttribute, 3> attributes = {
      {"function_type", context_.TypeAttr(function_type)}, {"sym_name", context_.String(name)}};
  if (is_private) attributes.push_back({"sym_visibility", context_.String("private")});
  OpState state;
  state.name = "func.func";
  state.attributes = attributes;
  state.num_regions = 1;
  Op* op = Append(&body_, state);
  Block* block = op->region()->AddBlock();
  for (Type input : function_type.inputs()) block->AddArgument(input);
  return Function(op);
}

void Module::Walk(absl::FunctionRef<void(Op*)> fn) const {
  WalkBlock(const_cast<Block*>(&body_), fn);
}

size_t Module::op_count() const {
  size_t count = 0;
  Walk([&count](Op*) { ++count; });
  return count;
}

}  // namespace pjrt::ir
