// SPDX-License-Identifier: Apache-2.0
//
// A tuple is its parts: arguments, results, carried values and what branches return are taken
// apart.
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {
namespace {

using Leaves = absl::InlinedVector<Value*, 4>;

// The types of a tuple's parts, those of tuples in it included; of anything else the type itself.
void AppendLeaves(Type type, std::vector<Type>* leaves) {
  if (!type.Is(TypeKind::kTuple)) {
    leaves->push_back(type);
    return;
  }
  for (const Type element : type.elements()) AppendLeaves(element, leaves);
}

size_t LeafCount(Type type) {
  std::vector<Type> leaves;
  AppendLeaves(type, &leaves);
  return leaves.size();
}

class TupleFlattener {
 public:
  explicit TupleFlattener(Module* module) : module_(module) {}

  void Run() {
    if (!HasTuples()) return;
    for (Op* op : *module_->body()) {
      if (op->Is(OpCode::kFuncFunc) && op->region()->block() != nullptr) FlattenFunction(op);
    }
    // Tuples that only others used go with those.
    for (size_t i = tuples_.size(); i-- > 0;) {
      if (!tuples_[i]->HasResultUses()) tuples_[i]->Erase();
    }
  }

 private:
  bool HasTuples() const {
    bool found = false;
    module_->Walk([&](const Op* op) {
      for (size_t i = 0; i < op->num_results(); ++i)
        found |= op->result_type(i).Is(TypeKind::kTuple);
      for (size_t r = 0; r < op->num_regions(); ++r) {
        const Block* block = op->region(r)->block();
        if (block == nullptr) continue;
        for (const Value* argument : block->arguments())
          found |= argument->type().Is(TypeKind::kTuple);
      }
    });
    return found;
  }

  // The parts of a value. Those of a tuple that an op outside of this pass makes are taken out
  // behind that op.
  Leaves LeavesOf(Value* value) {
    if (!value->type().Is(TypeKind::kTuple)) return {value};
    if (const auto it = leaves_.find(value); it != leaves_.end()) return it->second;
    Leaves leaves;
    Op* maker = value->defining_op();
    Op* place = maker != nullptr ? maker->next() : value->block()->front();
    Emitter emit(module_, place);
    for (size_t i = 0; i < value->type().elements().size(); ++i) {
      const Type part = value->type().elements()[i];
      const NamedAttribute index = {"index", module_->context().I32(static_cast<int64_t>(i))};
      Op* element = emit.Make("stablehlo.get_tuple_element", {&value, 1}, {&part, 1}, {&index, 1});
      made_.insert(element);
      const Leaves inner = LeavesOf(element->result());
      leaves.insert(leaves.end(), inner.begin(), inner.end());
    }
    return leaves_[value] = leaves;
  }

  // A value of `type` made of `leaves` from number *at on.
  Value* Assemble(Emitter* emit, Type type, const Leaves& leaves, size_t* at) {
    if (!type.Is(TypeKind::kTuple)) return leaves[(*at)++];
    std::vector<Value*> parts;
    const size_t begin = *at;
    for (const Type element : type.elements()) parts.push_back(Assemble(emit, element, leaves, at));
    Op* tuple = emit->Make("stablehlo.tuple", parts, {&type, 1});
    tuples_.push_back(tuple);
    leaves_[tuple->result()] = Leaves(leaves.begin() + static_cast<int64_t>(begin),
                                      leaves.begin() + static_cast<int64_t>(*at));
    return tuple->result();
  }

  // Gives the uses of `old` to the values that take its place.
  void Replace(Value* old, Emitter* emit, const Leaves& leaves) {
    size_t at = 0;
    old->ReplaceAllUsesWith(Assemble(emit, old->type(), leaves, &at));
  }

  // Arguments of their own for the parts of those that are tuples.
  void FlattenArguments(Block* block) {
    const size_t count = block->num_arguments();
    std::vector<Leaves> added(count);
    for (size_t i = 0; i < count; ++i) {
      std::vector<Type> types;
      AppendLeaves(block->argument(i)->type(), &types);
      for (const Type type : types)
        added[i].push_back(block->AddArgument(type, block->argument(i)->location()));
    }
    Emitter emit(module_, block->front());
    for (size_t i = 0; i < count; ++i) Replace(block->argument(i), &emit, added[i]);
    for (size_t i = count; i-- > 0;) block->EraseArgument(i);
  }

  static bool AnyTuple(absl::Span<Value* const> values) {
    for (const Value* value : values) {
      if (value->type().Is(TypeKind::kTuple)) return true;
    }
    return false;
  }

  void FlattenFunction(Op* func) {
    Block* body = func->region()->block();
    if (AnyTuple(body->arguments())) {
      FlattenAttributes(func, "arg_attrs", Function(func).type().inputs());
      FlattenArguments(body);
    }
    FlattenAttributes(func, "res_attrs", Function(func).type().results());
    std::vector<Block*> blocks = {body};
    while (!blocks.empty()) {
      Block* block = blocks.back();
      blocks.pop_back();
      for (Op* op = block->front(); op != nullptr;) {
        op = FlattenOp(op);
        for (size_t r = 0; r < op->num_regions(); ++r) {
          if (op->region(r)->block() != nullptr) blocks.push_back(op->region(r)->block());
        }
        op = op->next();
      }
    }
    std::vector<Type> inputs, results;
    for (const Value* argument : body->arguments()) inputs.push_back(argument->type());
    for (const Use& use : body->terminator()->operand_uses())
      results.push_back(use.value()->type());
    Context& context = module_->context();
    func->SetAttr("function_type", context.TypeAttr(context.Function(inputs, results)));
  }

  // A dictionary for each part; those of a tuple have none.
  void FlattenAttributes(Op* func, absl::string_view name, absl::Span<const Type> types) {
    const Attribute old = func->attr(name);
    if (!old || old.elements().size() != types.size()) return;
    std::vector<Attribute> flat;
    for (size_t i = 0; i < types.size(); ++i) {
      if (!types[i].Is(TypeKind::kTuple)) {
        flat.push_back(old.elements()[i]);
      } else {
        flat.insert(flat.end(), LeafCount(types[i]), module_->context().Dict({}));
      }
    }
    func->SetAttr(name, module_->context().Array(flat));
  }

  // Returns the op that stands in the place of `op`.
  Op* FlattenOp(Op* op) {
    switch (op->opcode()) {
      case OpCode::kTuple: {
        if (leaves_.contains(op->result())) return op;  // made here
        Leaves leaves;
        for (const Use& use : op->operand_uses()) {
          const Leaves part = LeavesOf(use.value());
          leaves.insert(leaves.end(), part.begin(), part.end());
        }
        leaves_[op->result()] = leaves;
        tuples_.push_back(op);
        return op;
      }
      case OpCode::kGetTupleElement: {
        const auto it = leaves_.find(op->operand(0));
        if (it == leaves_.end() || made_.contains(op)) return op;
        const absl::Span<const Type> elements = op->operand_type(0).elements();
        const int64_t index = op->IntAttr("index");
        size_t at = 0;
        for (int64_t i = 0; i < index; ++i) at += LeafCount(elements[i]);
        const Leaves all = it->second;
        if (!op->result_type().Is(TypeKind::kTuple)) {
          op->result()->ReplaceAllUsesWith(all[at]);
        } else {
          leaves_[op->result()] =
              Leaves(all.begin() + static_cast<int64_t>(at),
                     all.begin() + static_cast<int64_t>(at + LeafCount(elements[index])));
        }
        tuples_.push_back(op);
        return op;
      }
      case OpCode::kCase:
      case OpCode::kFuncReturn:
      case OpCode::kIf:
      case OpCode::kOptimizationBarrier:
      case OpCode::kReturn:
      case OpCode::kWhile:
        return Expand(op);
      default:
        return op;
    }
  }

  // The same op with the parts of its operands, results and regions' arguments.
  Op* Expand(Op* op) {
    bool any = false;
    std::vector<Value*> operands;
    for (const Use& use : op->operand_uses()) {
      any |= use.value()->type().Is(TypeKind::kTuple);
      const Leaves leaves = LeavesOf(use.value());
      operands.insert(operands.end(), leaves.begin(), leaves.end());
    }
    std::vector<Type> results;
    for (size_t i = 0; i < op->num_results(); ++i) {
      any |= op->result_type(i).Is(TypeKind::kTuple);
      AppendLeaves(op->result_type(i), &results);
    }
    if (!any) return op;
    Op* flat = Emitter(module_, op)
                   .Make(op->name(), operands, results, op->attributes(), op->num_regions());
    for (size_t r = 0; r < op->num_regions(); ++r) {
      Block* from = op->region(r)->block();
      Block* to = flat->region(r)->AddBlock();
      std::vector<Value*> arguments;
      for (Value* argument : from->arguments())
        argument->ReplaceAllUsesWith(to->AddArgument(argument->type(), argument->location()));
      MoveOps(module_, from, to);
      if (AnyTuple(to->arguments())) FlattenArguments(to);
    }
    if (op->num_results() > 0) {
      Emitter emit(module_, op);
      size_t at = 0;
      for (size_t i = 0; i < op->num_results(); ++i) {
        const size_t count = LeafCount(op->result_type(i));
        Leaves leaves;
        for (size_t k = 0; k < count; ++k) leaves.push_back(flat->result(at++));
        Replace(op->result(i), &emit, leaves);
      }
    }
    op->Erase();
    return flat;
  }

  Module* module_;
  absl::flat_hash_map<const Value*, Leaves> leaves_;
  absl::flat_hash_set<const Op*> made_;  // what takes the tuples of other ops apart
  std::vector<Op*> tuples_;              // ops that go when nothing uses them, makers before users
};

}  // namespace

void FlattenTuples(Module* module) { TupleFlattener(module).Run(); }

}  // namespace pjrt::ir
