// SPDX-License-Identifier: Apache-2.0
//
// What a region uses from outside becomes an operand of its op: a scalar, repeated for each
// element. An op whose region uses arrays from outside, or has effects, becomes loops.
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/emitter.h"
#include "src/core/passes/serialize_regions.h"

namespace pjrt::ir {
namespace {

// How the regions' arguments follow the operands, for ops whose regions are called on elements.
enum class Form { kNone, kMap, kSort, kReduce, kScatter };

Form FormOf(const Op& op) {
  switch (op.opcode()) {
    case OpCode::kMap:
      return Form::kMap;
    case OpCode::kSort:
      return Form::kSort;
    case OpCode::kReduce:
    case OpCode::kReduceWindow:
      return Form::kReduce;
    case OpCode::kScatter:
      return Form::kScatter;
    default:
      return Form::kNone;
  }
}

// The values that ops in `block`, at any depth, use from outside of it, each once.
std::vector<Value*> Captures(const Block& block) {
  std::vector<Value*> captures;
  absl::flat_hash_set<const Value*> inside, seen;
  std::vector<const Block*> blocks = {&block};
  std::vector<const Op*> ops;
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const Value* argument : blocks[b]->arguments()) inside.insert(argument);
    for (const Op* op : *blocks[b]) {
      ops.push_back(op);
      for (size_t i = 0; i < op->num_results(); ++i) inside.insert(op->result(i));
      for (size_t r = 0; r < op->num_regions(); ++r) {
        if (op->region(r)->block() != nullptr) blocks.push_back(op->region(r)->block());
      }
    }
  }
  for (const Op* op : ops) {
    for (const Use& use : op->operand_uses()) {
      if (!inside.contains(use.value()) && seen.insert(use.value()).second)
        captures.push_back(use.value());
    }
  }
  return captures;
}

// Whether what ops in `block`, at any depth, do shows elsewhere than in their results, or may fail.
bool HasEffects(const Block& block) {
  std::vector<const Block*> blocks = {&block};
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const Op* op : *blocks[b]) {
      if (op->Is(OpCode::kCustomCall) || GetOpInfo(op->opcode()).Has(kSideEffect)) return true;
      for (size_t r = 0; r < op->num_regions(); ++r) {
        if (op->region(r)->block() != nullptr) blocks.push_back(op->region(r)->block());
      }
    }
  }
  return false;
}

// Gives the uses of `from` inside of `block`, at any depth, to `to`.
void ReplaceInside(const Block& block, Value* from, Value* to) {
  std::vector<const Block*> blocks = {&block};
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (Op* op : *blocks[b]) {
      for (size_t i = 0; i < op->num_operands(); ++i) {
        if (op->operand(i) == from) op->set_operand(i, to);
      }
      for (size_t r = 0; r < op->num_regions(); ++r) {
        if (op->region(r)->block() != nullptr) blocks.push_back(op->region(r)->block());
      }
    }
  }
}

// Constants and other ops without operands move in with their users.
bool IsCopyable(const Value* value) {
  const Op* op = value->defining_op();
  return op != nullptr && (op->Is(OpCode::kConstant) || op->Is(OpCode::kIota));
}

class RegionIsolator {
 public:
  explicit RegionIsolator(Module* module) : module_(module) {}

  void Run() {
    std::vector<Op*> ops;
    module_->Walk([&](Op* op) {
      if (FormOf(*op) != Form::kNone || op->Is(OpCode::kSelectAndScatter)) ops.push_back(op);
    });
    // Those inside first: what they need from further outside they need from the op around them.
    for (size_t i = ops.size(); i-- > 0;) Isolate(ops[i]);
  }

 private:
  void Isolate(Op* op) {
    std::vector<Value*> scalars;
    bool serial = false;
    for (size_t r = 0; r < op->num_regions(); ++r) {
      Block* block = op->region(r)->block();
      if (block == nullptr || block->front() == nullptr || block->terminator() == nullptr) return;
      // What folds arrays is not written as loops over elements.
      for (const Value* argument : block->arguments()) {
        if (!argument->type().IsTensor() || argument->type().rank() != 0) return;
      }
      serial = serial || HasEffects(*block);
      for (Value* capture : Captures(*block)) {
        if (IsCopyable(capture)) {
          Op* copy = module_->CloneOp(
              capture->defining_op(), block, [](Value*) -> Value* { return nullptr; },
              block->front());
          ReplaceInside(*block, capture, copy->result(capture->index()));
        } else if (capture->type().IsTensor() && capture->type().HasStaticShape() &&
                   capture->type().rank() == 0 && FormOf(*op) != Form::kNone) {
          scalars.push_back(capture);
        } else {
          serial = true;
        }
      }
    }
    if (serial && SerializeRegions(module_, op)) return;
    if (!scalars.empty() && !serial) AddOperands(op, scalars);
  }

  // `scalar` as an array of `like`'s dims.
  Value* Repeated(Emitter* emit, Value* scalar, Type like) {
    const Type type = WithDims(module_->context(), scalar->type(), like.dims());
    const NamedAttribute dims = {"broadcast_dimensions", module_->context().I64Array({})};
    return emit->Make("stablehlo.broadcast_in_dim", {&scalar, 1}, {&type, 1}, {&dims, 1})->result();
  }

  // `from` and `extra`, group by group of `groups` equal parts.
  template <typename T>
  static std::vector<T> Interleave(const std::vector<T>& from,
                                   const std::vector<std::vector<T>>& extra) {
    const size_t part = from.size() / extra.size();
    std::vector<T> all;
    for (size_t g = 0; g < extra.size(); ++g) {
      all.insert(all.end(), from.begin() + static_cast<int64_t>(g * part),
                 from.begin() + static_cast<int64_t>((g + 1) * part));
      all.insert(all.end(), extra[g].begin(), extra[g].end());
    }
    return all;
  }

  void AddOperands(Op* op, const std::vector<Value*>& scalars) {
    const Form form = FormOf(*op);
    Emitter emit(module_, op);
    std::vector<Value*> operands, repeated;
    std::vector<Type> results;
    for (const Use& use : op->operand_uses()) operands.push_back(use.value());
    for (size_t i = 0; i < op->num_results(); ++i) results.push_back(op->result_type(i));
    for (Value* scalar : scalars) repeated.push_back(Repeated(&emit, scalar, op->operand_type(0)));
    if (form == Form::kMap || form == Form::kSort) {
      operands.insert(operands.end(), repeated.begin(), repeated.end());
    } else if (form == Form::kReduce) {
      operands = Interleave<Value*>(operands, {repeated, scalars});
    } else {
      // Inputs, indices, updates.
      const size_t n = op->num_results();
      Value* const indices = operands[n];
      operands.erase(operands.begin() + static_cast<int64_t>(n));
      std::vector<Value*> updates;
      updates.reserve(scalars.size());
      for (Value* scalar : scalars) updates.push_back(Repeated(&emit, scalar, operands[n]->type()));
      operands = Interleave<Value*>(operands, {repeated, updates});
      operands.insert(operands.begin() + static_cast<int64_t>(n + scalars.size()), indices);
    }
    if (form != Form::kMap) {
      const Type like = form == Form::kSort ? op->operand_type(0) : results[0];
      for (const Value* scalar : scalars) {
        results.push_back(WithElement(module_->context(), like, scalar->type().primitive_type()));
      }
    }
    Op* wide = emit.Make(op->name(), operands, results, op->attributes(), 1);
    FillRegion(op, wide, scalars, form);
    for (size_t i = 0; i < op->num_results(); ++i)
      op->result(i)->ReplaceAllUsesWith(wide->result(i));
    op->Erase();
  }

  // The region with an argument for each scalar in each group of arguments; it gives them back
  // where the op has a result for each operand.
  void FillRegion(Op* op, Op* wide, const std::vector<Value*>& scalars, Form form) {
    Block* from = op->region()->block();
    Block* to = wide->region()->AddBlock();
    const size_t groups = form == Form::kReduce || form == Form::kScatter ? 2 : 1;
    const size_t copies = form == Form::kMap ? 1 : 2;  // of a scalar's argument, in all groups
    const size_t part = from->num_arguments() / groups;
    std::vector<Value*> first(scalars.size());
    for (size_t g = 0; g < groups; ++g) {
      for (size_t i = 0; i < part; ++i) {
        Value* argument = from->argument(g * part + i);
        argument->ReplaceAllUsesWith(to->AddArgument(argument->type(), argument->location()));
      }
      for (size_t s = 0; s < scalars.size(); ++s) {
        for (size_t c = 0; c < copies / groups; ++c) {
          Value* argument = to->AddArgument(scalars[s]->type());
          if (first[s] == nullptr) first[s] = argument;
        }
      }
    }
    MoveOps(module_, from, to);
    for (size_t s = 0; s < scalars.size(); ++s) ReplaceInside(*to, scalars[s], first[s]);
    if (groups == 1) return;
    Op* old_end = to->terminator();
    std::vector<Value*> values;
    for (const Use& use : old_end->operand_uses()) values.push_back(use.value());
    values.insert(values.end(), first.begin(), first.end());
    Emitter(module_, old_end).Return(values);
    old_end->Erase();
  }

  Module* module_;
};

}  // namespace

void IsolateRegions(Module* module) { RegionIsolator(module).Run(); }

}  // namespace pjrt::ir
