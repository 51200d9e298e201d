// SPDX-License-Identifier: Apache-2.0
//
// Backwards from every operand that decides a shape: what it is computed from must be constants,
// sizes of dimensions and small integer arguments, by ops that can be evaluated.
#include "src/core/passes/shape_dependence.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/diagnostics.h"
#include "src/core/ir/type_rules.h"
#include "src/core/passes/static_ops.h"

namespace pjrt::ir {

bool IsDynamicType(Type type) {
  if (type.IsTensor()) return !type.HasStaticShape();
  if (type.Is(TypeKind::kUnrankedTensor)) return true;
  if (type.Is(TypeKind::kTuple) || type.Is(TypeKind::kFuture)) {
    const absl::Span<const Type> parts = type.elements();
    return std::any_of(parts.begin(), parts.end(), IsDynamicType);
  }
  return false;
}

bool IsShapeAssertion(const Op& op) {
  return op.Is(OpCode::kCustomCall) && op.StringAttr("call_target_name") == "shape_assertion";
}

namespace {

// Arguments that may decide shapes hold at most so many integers.
constexpr int64_t kLongestShape = 64;

bool HasDynamicResult(const Op& op) {
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (IsDynamicType(op.result_type(i))) return true;
  }
  return false;
}

// The argument of an export for several platforms that tells which one runs it, if anything depends
// on it; otherwise -1.
int PlatformIndex(Function entry) {
  const Block* const body = entry ? entry.body() : nullptr;
  for (size_t i = 0; body != nullptr && i < body->num_arguments(); ++i) {
    const Value* const argument = body->argument(i);
    const Attribute name = entry.ArgAttr(i, "jax.global_constant");
    if (argument->first_use() != nullptr && name.Is(AttrKind::kString) &&
        name.AsString() == "_platform_index" && argument->type().IsTensor() &&
        argument->type().rank() == 0 &&
        (argument->type().primitive_type() == S32 || argument->type().primitive_type() == S64))
      return static_cast<int>(i);
  }
  return -1;
}

// How many branches a case on `index` has, at most, and at least 1.
int MostBranches(const Value* index) {
  int most = 1;
  std::vector<const Value*> pending = {index};
  while (!pending.empty()) {
    const Value* const value = pending.back();
    pending.pop_back();
    for (const Use* use = value->first_use(); use != nullptr; use = use->next()) {
      const Op& op = *use->owner();
      if (op.Is(OpCode::kConvert)) pending.push_back(op.result());
      if (op.Is(OpCode::kCase)) most = std::max(most, static_cast<int>(op.num_regions()));
    }
  }
  return most;
}

class Analysis {
 public:
  explicit Analysis(const Module& module) : module_(module), entry_(module.EntryFunction()) {}

  absl::StatusOr<ShapeDependence> Run() {
    ShapeDependence found;
    if (!entry_ || entry_.body() == nullptr) return found;
    absl::Status status;
    module_.Walk([&](Op* op) {
      if (!status.ok()) return;
      if (HasDynamicResult(*op)) found.is_dynamic = true;
      // Where the result's type says it all, the operands need not be known before.
      if (!HasDynamicResult(*op)) return;
      for (Value* value : DecidingValues(*op)) {
        Op* blocker = nullptr;
        if (Trace(value, &blocker)) continue;
        status = Unsettled(*op, blocker);
        return;
      }
    });
    PJRT_RETURN_IF_ERROR(status);
    const int platform = PlatformIndex(entry_);
    if (platform >= 0) {
      deciding_.insert(platform);
      found.platform_index = platform;
      found.num_platforms = MostBranches(entry_.body()->argument(static_cast<size_t>(platform)));
    }
    for (const Value* argument : entry_.body()->arguments()) {
      found.is_dynamic |= IsDynamicType(argument->type());
    }
    found.deciding_arguments.assign(deciding_.begin(), deciding_.end());
    std::sort(found.deciding_arguments.begin(), found.deciding_arguments.end());
    return found;
  }

 private:
  // Follows a value back. False, with the op that makes what can't be known (null for an argument),
  // when it depends on data.
  bool Trace(Value* from, Op** blocker) {
    std::vector<Value*> pending = {from};
    absl::flat_hash_set<const Value*> seen;
    while (!pending.empty()) {
      Value* const value = pending.back();
      pending.pop_back();
      if (!seen.insert(value).second || known_.contains(value)) continue;
      Op* const op = value->defining_op();
      if (op == nullptr ? !TraceArgument(value, &pending) : !TraceResult(*op, *value, &pending)) {
        *blocker = op != nullptr ? op : nullptr;
        return false;
      }
    }
    known_.insert(seen.begin(), seen.end());
    return true;
  }

  bool TraceResult(const Op& op, const Value& value, std::vector<Value*>* pending) {
    if (op.Is(OpCode::kConstant) || op.Is(OpCode::kGetDimensionSize)) return true;
    if (op.Is(OpCode::kIf) || op.Is(OpCode::kCase)) {
      pending->push_back(op.operand(0));
      for (size_t r = 0; r < op.num_regions(); ++r) {
        const Block* const block = op.region(r)->block();
        const Op* const end = block == nullptr ? nullptr : block->terminator();
        if (end == nullptr || value.index() >= end->num_operands()) return false;
        pending->push_back(end->operand(value.index()));
      }
      return true;
    }
    if (op.Is(OpCode::kWhile)) return TraceCarried(op, value.index(), pending);
    if (!CanEvaluate(op)) return false;
    for (const Use& use : op.operand_uses()) pending->push_back(use.value());
    return true;
  }

  // A value that a loop carries and no iteration changes.
  bool TraceCarried(const Op& loop, size_t i, std::vector<Value*>* pending) {
    const Block* const body = loop.num_regions() == 2 ? loop.region(1)->block() : nullptr;
    const Op* const end = body == nullptr ? nullptr : body->terminator();
    if (end == nullptr || i >= end->num_operands() || i >= body->num_arguments() ||
        end->operand(i) != body->argument(i)) {
      return false;
    }
    pending->push_back(loop.operand(i));
    return true;
  }

  bool TraceArgument(const Value* value, std::vector<Value*>* pending) {
    const Block* const block = value->argument_of();
    const Op* const parent = block->parent_op();
    if (parent != nullptr && parent->Is(OpCode::kWhile)) {
      return TraceCarried(*parent, value->index(), pending);
    }
    if (parent != nullptr && parent->Is(OpCode::kFuncFunc) && block != entry_.body()) {
      return TraceComposites(*parent, value->index(), pending);
    }
    if (block != entry_.body()) return false;
    const Type type = value->type();
    const bool is_small = type.IsTensor() && type.HasStaticShape() &&
                          type.element_type().Is(TypeKind::kInteger) &&
                          IsArrayType(type.primitive_type()) && !IsSubByte(type.primitive_type()) &&
                          type.element_count() <= kLongestShape;
    if (is_small) deciding_.insert(static_cast<int>(value->index()));
    return is_small;
  }

  // An argument of a decomposition: what composites give it.
  bool TraceComposites(const Op& function, size_t i, std::vector<Value*>* pending) {
    const absl::string_view name = function.StringAttr("sym_name");
    module_.Walk([&](Op* op) {
      if (op->Is(OpCode::kComposite) && op->StringAttr("decomposition") == name &&
          i < op->num_operands())
        pending->push_back(op->operand(i));
    });
    return true;
  }

  static absl::Status Unsettled(const Op& op, const Op* blocker) {
    return AtOp(op, Unimplemented("PJRT-I032", "the shape of its result depends on ",
                                  blocker != nullptr ? DescribeOp(*blocker)
                                                     : std::string("data in an argument"),
                                  ", whose value is computed while the program runs"));
  }

  const Module& module_;
  const Function entry_;
  absl::flat_hash_set<const Value*> known_;
  absl::flat_hash_set<int> deciding_;
};

}  // namespace

bool HasShapesToRefine(const Module& module) {
  bool found = PlatformIndex(module.EntryFunction()) >= 0;
  module.Walk([&](Op* op) {
    if (found) return;
    found = HasDynamicResult(*op) || GetOpInfo(op->opcode()).Has(kShapeOperands) ||
            op->Is(OpCode::kGetDimensionSize) || op->Is(OpCode::kSetDimensionSize) ||
            IsShapeAssertion(*op);
    if (!op->Is(OpCode::kFuncFunc)) return;
    const absl::Span<const Type> inputs = Function(op).type().inputs();
    found |= std::any_of(inputs.begin(), inputs.end(), IsDynamicType);
  });
  return found;
}

absl::StatusOr<ShapeDependence> AnalyzeShapeDependence(const Module& module) {
  return Analysis(module).Run();
}

}  // namespace pjrt::ir
