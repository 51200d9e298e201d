// SPDX-License-Identifier: Apache-2.0
//
// ExpandQuantized: every value of a quantized type becomes one of its storage type. What an op
// means then depends on its kind:
//
//   moves values, passes them on           the same op on stored integers
//   computes                               dequantize, the op on floats, quantize; or integers
//                                          where that is the same, and for products
//   has regions (reduce, while, ...)       the same op, its regions rewritten likewise
#include "src/core/passes/expand_quantized.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/quantized_arithmetic.h"

namespace pjrt::ir {
namespace {

enum class Kind {
  kComputes,
  kMoves,   // values of one quantization; computes where there are several
  kPasses,  // values of any quantization
  kHasRegions,
};

Kind KindOf(const Op& op) {
  if (op.num_regions() > 0) return Kind::kHasRegions;
  switch (op.opcode()) {
    case OpCode::kBroadcast:
    case OpCode::kBroadcastInDim:
    case OpCode::kAllGather:
    case OpCode::kAllToAll:
    case OpCode::kCollectiveBroadcast:
    case OpCode::kCollectivePermute:
    case OpCode::kConcatenate:
    case OpCode::kDynamicBroadcastInDim:
    case OpCode::kDynamicGather:
    case OpCode::kDynamicPad:
    case OpCode::kDynamicReshape:
    case OpCode::kDynamicSlice:
    case OpCode::kDynamicUpdateSlice:
    case OpCode::kGather:
    case OpCode::kPad:
    case OpCode::kRealDynamicSlice:
    case OpCode::kReshape:
    case OpCode::kReverse:
    case OpCode::kSelect:
    case OpCode::kSetDimensionSize:
    case OpCode::kSlice:
    case OpCode::kTorchIndexSelect:
    case OpCode::kTranspose:
      return Kind::kMoves;
    case OpCode::kUnknown:
    case OpCode::kAsyncDone:
    case OpCode::kBitcastConvert:
    case OpCode::kComposite:
    case OpCode::kCustomCall:
    case OpCode::kFuncCall:
    case OpCode::kGetDimensionSize:
    case OpCode::kGetTupleElement:
    case OpCode::kInfeed:
    case OpCode::kOptimizationBarrier:
    case OpCode::kOutfeed:
    case OpCode::kRecv:
    case OpCode::kSend:
    case OpCode::kTuple:
      return Kind::kPasses;
    default:
      break;
  }
  // Ops of other dialects (sdy, check, interpreter) name, print or compare values.
  return absl::StartsWith(op.name(), "stablehlo.") ? Kind::kComputes : Kind::kPasses;
}

// The regions of these fold values: they take as many accumulators as the op has results, and then
// as many values.
bool Folds(const Op& op) {
  switch (op.opcode()) {
    case OpCode::kAllReduce:
    case OpCode::kCollectiveReduce:
    case OpCode::kReduce:
    case OpCode::kReduceScatter:
    case OpCode::kReduceWindow:
    case OpCode::kScatter:
      return true;
    default:
      return false;
  }
}

class QuantizedExpander {
 public:
  explicit QuantizedExpander(Module* module) : module_(module) {}

  void Run() {
    module_->Walk([this](Op* op) { Visit(op); });
  }

 private:
  Context& context() { return module_->context(); }

  // The type that the program gives a value.
  Type TypeOf(const Value* value) const {
    const auto found = types_.find(value);
    return found == types_.end() ? value->type() : found->second;
  }
  bool IsQuantized(const Value* value) const { return IsQuantizedTensor(TypeOf(value)); }

  // Makes `value` one of stored integers. Nothing happens to other values.
  void Store(Value* value) {
    const Type type = value->type(), stored = StorageType(context(), type);
    if (type == stored) return;
    value->set_type(stored);
    types_[value] = type;
  }

  // Makes an operand's quantization that of `wanted`.
  void Agree(Op* op, size_t i, Type wanted) {
    const Type type = TypeOf(op->operand(i));
    if (!IsQuantizedTensor(type) || !IsQuantizedTensor(wanted) || SameQuantization(type, wanted))
      return;
    Emitter emit(module_, op);
    const Type to = WithQuantizedElement(context(), type, wanted);
    Value* value = Requantize(emit(op->operand(i)), type, to).value();
    types_[value] = to;
    op->set_operand(i, value);
  }

  void Visit(Op* op) {
    if (op->IsTerminator()) return VisitTerminator(op);
    if (op->Is(OpCode::kFuncFunc)) return VisitFunction(op);
    bool quantized = false;
    for (const Use& use : op->operand_uses()) quantized |= types_.contains(use.value());
    for (size_t i = 0; i < op->num_results(); ++i)
      quantized |= op->result_type(i) != StorageType(context(), op->result_type(i));
    if (!quantized && op->num_regions() == 0) return;
    switch (op->opcode()) {
      case OpCode::kConstant:
        return VisitConstant(op);
      case OpCode::kUniformQuantize:
      case OpCode::kUniformDequantize:
        return VisitConversion(op);
      default:
        break;
    }
    switch (KindOf(*op)) {
      case Kind::kMoves:
        if (!MovesStored(*op)) return Compute(op);
        return StoreResults(op);
      case Kind::kPasses:
        StoreResults(op);
        if (op->Is(OpCode::kBitcastConvert) && op->result_type() == op->operand_type(0))
          Replace(op, op->operand(0));
        return;
      case Kind::kHasRegions:
        return VisitRegions(op);
      case Kind::kComputes:
        return Compute(op);
    }
  }

  void StoreResults(Op* op) {
    for (size_t i = 0; i < op->num_results(); ++i) Store(op->result(i));
  }

  // `value` instead of the only result of `op`.
  void Replace(Op* op, Value* value) {
    const Type type = TypeOf(op->result());
    if (IsQuantizedTensor(type)) types_[value] = type;
    op->result()->ReplaceAllUsesWith(value);
    op->Erase();
  }

  // Whether moving stored integers moves what they express: operands and result have the same
  // quantization, and scales of an axis move along with it.
  bool MovesStored(const Op& op) const {
    const bool reshapes =
        op.Is(OpCode::kReshape) || op.Is(OpCode::kTranspose) || op.Is(OpCode::kBroadcastInDim);
    const Type result = op.result_type();
    if (!IsQuantizedTensor(result)) return false;
    const QuantizedParams& params = result.element_type().quantized();
    if (!params.IsPerTensor() && !op.Is(OpCode::kSelect) && !(reshapes && params.IsPerAxis()))
      return false;
    const auto differs = [&](Type type) {
      return IsQuantizedTensor(type) && !SameQuantization(type, result, reshapes);
    };
    for (const Use& use : op.operand_uses()) {
      if (differs(TypeOf(use.value()))) return false;
    }
    for (size_t i = 1; i < op.num_results(); ++i) {
      if (differs(op.result_type(i))) return false;
    }
    return true;
  }

  void VisitFunction(Op* op) {
    const Type type = op->attr("function_type").AsType();
    if (Block* body = op->region()->block()) {
      returns_[body] = std::vector<Type>(type.results().begin(), type.results().end());
      for (Value* argument : body->arguments()) Store(argument);
    }
    const Type stored = StorageType(context(), type);
    if (stored != type) op->SetAttr("function_type", context().TypeAttr(stored));
  }

  void VisitTerminator(Op* op) {
    const auto found = returns_.find(op->block());
    if (found == returns_.end()) return;
    for (size_t i = 0; i < op->num_operands() && i < found->second.size(); ++i)
      Agree(op, i, found->second[i]);
  }

  void VisitConstant(Op* op) {
    Store(op->result());
    op->SetAttr("value", context().Dense(op->result_type(), op->attr("value").raw_data()));
  }

  void VisitConversion(Op* op) {
    Emitter emit(module_, op);
    const Term operand = emit(op->operand(0));
    const Type from = TypeOf(op->operand(0)), to = op->result_type();
    if (op->Is(OpCode::kUniformDequantize)) return Replace(op, Dequantize(operand, from).value());
    Replace(
        op,
        (IsQuantizedTensor(from) ? Requantize(operand, from, to) : Quantize(operand, to)).value());
  }

  // --- Computing ---

  void Compute(Op* op) {
    Emitter emit(module_, op);
    std::vector<Value*> operands;
    std::vector<Type> types;
    for (const Use& use : op->operand_uses()) {
      operands.push_back(use.value());
      types.push_back(TypeOf(use.value()));
    }
    if (op->num_results() == 1) {
      for (const auto compute : {ComputeWithStoredIntegers, MultiplyStoredIntegers}) {
        if (Value* value = compute(emit, *op, operands, types, op->result_type()))
          return Replace(op, value);
      }
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (IsQuantizedTensor(types[i]))
        operands[i] = Dequantize(emit(operands[i]), types[i]).value();
    }
    std::vector<Type> results;
    for (size_t i = 0; i < op->num_results(); ++i) {
      const Type type = op->result_type(i);
      results.push_back(IsQuantizedTensor(type) ? ExpressedType(context(), type) : type);
    }
    Op* computed = emit.Make(op->name(), operands, results, op->attributes());
    // How integers compare is not how the numbers do that they stand for.
    if (op->Is(OpCode::kCompare)) computed->RemoveAttr("compare_type");
    for (size_t i = 0; i < op->num_results(); ++i) {
      const Type type = op->result_type(i);
      Value* value = computed->result(i);
      if (IsQuantizedTensor(type)) {
        value = Quantize(emit(value), type).value();
        types_[value] = type;
      }
      op->result(i)->ReplaceAllUsesWith(value);
    }
    op->Erase();
  }

  // --- Regions ---

  // The argument of a region that gets operand `i`, or a part of it; null where none does.
  static Value* ArgumentFor(const Op& op, size_t i) {
    const Block* block = op.num_regions() > 0 ? op.region()->block() : nullptr;
    if (block == nullptr) return nullptr;
    size_t argument = i;
    switch (op.opcode()) {
      case OpCode::kReduce:
      case OpCode::kReduceWindow: {  // inputs, initial values; accumulators, values
        const size_t n = op.num_operands() / 2;
        argument = i < n ? i + n : i - n;
        break;
      }
      case OpCode::kScatter: {  // inputs, indices, updates; inputs, updates
        const size_t n = op.num_operands() / 2;
        if (i == n) return nullptr;
        argument = i < n ? i : i - 1;
        break;
      }
      case OpCode::kSelectAndScatter:  // operand, source, initial value
        if (i > 0) block = op.region(1)->block();
        argument = 0;
        break;
      case OpCode::kSort:
        argument = 2 * i;
        break;
      case OpCode::kMap:
      case OpCode::kWhile:
        break;
      default:
        return nullptr;
    }
    return block != nullptr && argument < block->num_arguments() ? block->argument(argument)
                                                                 : nullptr;
  }

  // The operand of a select_and_scatter has the elements of the source, so where the source takes
  // the quantization of the sums, the operand and what selects from it take it as well.
  void WidenSelection(Op* op) {
    const Block *select = op->region(0)->block(), *scatter = op->region(1)->block();
    if (select == nullptr || scatter == nullptr || scatter->num_arguments() == 0) return;
    const Type sum = scatter->argument(0)->type(), source = TypeOf(op->operand(1));
    if (!IsQuantizedTensor(sum) || !IsQuantizedTensor(source) || SameQuantization(sum, source))
      return;
    for (Value* argument : select->arguments()) argument->set_type(sum);
  }

  void VisitRegions(Op* op) {
    if (op->Is(OpCode::kSelectAndScatter)) WidenSelection(op);
    for (size_t i = 0; i < op->num_operands(); ++i) {
      if (const Value* argument = ArgumentFor(*op, i)) Agree(op, i, TypeOf(argument));
    }
    std::vector<Type> results;
    for (size_t i = 0; i < op->num_results(); ++i) results.push_back(op->result_type(i));
    // What the regions return, and what the results therefore are before they get the quantization
    // that the program gives them.
    std::vector<Type> returned = results;
    for (size_t r = 0; r < op->num_regions(); ++r) {
      Block* block = op->region(r)->block();
      if (block == nullptr) continue;
      const bool accumulates = Folds(*op) || (op->Is(OpCode::kWhile) && r == 1) ||
                               (op->Is(OpCode::kSelectAndScatter) && r == 1);
      if (accumulates) {
        for (size_t i = 0; i < results.size() && i < block->num_arguments(); ++i) {
          const Type accumulator = block->argument(i)->type();
          if (IsQuantizedTensor(accumulator) && IsQuantizedTensor(results[i]))
            returned[i] = WithQuantizedElement(context(), results[i], accumulator);
        }
      }
      const bool compares = op->Is(OpCode::kSort) || (op->Is(OpCode::kWhile) && r == 0) ||
                            (op->Is(OpCode::kSelectAndScatter) && r == 0);
      if (!compares) returns_[block] = returned;
      for (Value* argument : block->arguments()) Store(argument);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      Value* result = op->result(i);
      result->set_type(returned[i]);
      Store(result);
      if (!IsQuantizedTensor(results[i]) || SameQuantization(results[i], returned[i])) continue;
      std::vector<std::pair<Op*, unsigned>> uses;
      for (const Use* use = result->first_use(); use != nullptr; use = use->next())
        uses.push_back({use->owner(), use->operand_index()});
      Emitter emit = Emitter::Behind(module_, op);
      Value* requantized = Requantize(emit(result), returned[i], results[i]).value();
      types_[requantized] = results[i];
      for (const auto& [user, operand] : uses) user->set_operand(operand, requantized);
    }
  }

  Module* module_;
  // The quantized types of values that are stored integers now.
  absl::flat_hash_map<const Value*, Type> types_;
  // What the program says that a block returns.
  absl::flat_hash_map<const Block*, std::vector<Type>> returns_;
};

// What the module's quantized types are like.
struct Survey {
  bool any = false;
  bool dynamic = false;

  void Add(Type type) {
    if (IsQuantizedTensor(type) ||
        (type.Is(TypeKind::kUnrankedTensor) && type.element_type().Is(TypeKind::kQuantized))) {
      any = true;
      dynamic |= !type.HasStaticShape();
    }
    for (Type part : type.elements()) Add(part);
  }
};

Survey SurveyOf(const Module& module) {
  Survey survey;
  module.Walk([&](Op* op) {
    for (size_t i = 0; i < op->num_results(); ++i) survey.Add(op->result_type(i));
    for (size_t r = 0; r < op->num_regions(); ++r) {
      const Block* block = op->region(r)->block();
      if (block == nullptr) continue;
      for (const Value* argument : block->arguments()) survey.Add(argument->type());
    }
  });
  return survey;
}

}  // namespace

void ExpandQuantized(Module* module) {
  const Survey survey = SurveyOf(*module);
  if (survey.any && !survey.dynamic) QuantizedExpander(module).Run();
}

}  // namespace pjrt::ir
