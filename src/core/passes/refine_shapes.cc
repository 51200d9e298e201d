// SPDX-License-Identifier: Apache-2.0
//
// Makes the shapes of a program static, in one walk in program order: what an op is given is static
// by then, so its results' types follow by inference, or from operands that have been folded to
// constants; ops on dynamic shapes become static ones on the way.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "pjrt/ir/op_set.h"
#include "pjrt/ir/passes.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/diagnostics.h"
#include "src/core/ir/type_rules.h"
#include "src/core/passes/fold.h"
#include "src/core/passes/refine_custom_call.h"
#include "src/core/passes/shape_dependence.h"
#include "src/core/passes/static_ops.h"

namespace pjrt::ir {
namespace {

constexpr char kArgument[] = "PJRT-I030";
constexpr char kAssertion[] = "PJRT-I031";
constexpr char kUnsettled[] = "PJRT-I032";
constexpr char kDepth[] = "PJRT-I034";

// Sizes are computed by scalars and short lists; anything longer is data.
constexpr int64_t kFoldedElements = 64;
constexpr int kMaxRefineDepth = 1000;

// The declared type with what inference knows besides. Null when the two contradict each other.
Type Merge(Context& context, Type inferred, Type declared) {
  if (inferred == declared || !declared.IsTensor() || !inferred.IsTensor()) {
    return declared.IsTensor() && !inferred.IsTensor() ? declared : inferred;
  }
  if (!CompatibleShapes(inferred, declared)) return Type();
  Extents extents = ExtentsOf(declared);
  for (size_t d = 0; d < extents.size(); ++d) {
    extents[d] = MostSpecific(extents[d], ExtentOf(inferred, d));
  }
  return MakeTensor(context, extents, declared.element_type());
}

// Result types of an op that has no inference of its own, where they follow from its operands.
absl::Status InferGiven(const Op& op, TypeList* out) {
  const auto same_dims = [&](Type operand) {
    out->assign(
        1, MakeTensor(op.module()->context(), ExtentsOf(operand), op.result_type().element_type()));
  };
  switch (op.opcode()) {
    case OpCode::kConvert:
    case OpCode::kReducePrecision:
    case OpCode::kUniformQuantize:
    case OpCode::kChloConstantLike:
      same_dims(op.operand_type(0));
      return absl::OkStatus();
    case OpCode::kReshape: {
      // One unknown size follows from the number of elements.
      const Type operand = op.operand_type(0), result = op.result_type();
      Extents extents = ExtentsOf(result);
      int64_t known = 1;
      Extent* unknown = nullptr;
      for (Extent& extent : extents) {
        if (!extent.IsDynamic()) {
          known = MultiplySizes(known, extent.size);
        } else if (unknown != nullptr) {
          return absl::OkStatus();
        } else {
          unknown = &extent;
        }
      }
      if (unknown == nullptr || !operand.HasStaticShape() || known == 0) return absl::OkStatus();
      if (operand.element_count() % known != 0) {
        return InvalidArgument(kContradiction,
                               "the operand's elements don't fill the result; given ",
                               operand.ToString(), " and ", result.ToString());
      }
      *unknown = {operand.element_count() / known, kDynamic};
      out->assign(1, MakeTensor(op.module()->context(), extents, result.element_type()));
      return absl::OkStatus();
    }
    case OpCode::kBroadcastInDim: {
      const Type operand = op.operand_type(0);
      Extents extents = ExtentsOf(op.result_type());
      const DimList dimensions = op.IntsAttr("broadcast_dimensions");
      for (size_t d = 0; d < dimensions.size() && d < operand.dims().size(); ++d) {
        Extent& to = extents[static_cast<size_t>(dimensions[d])];
        if (to.IsDynamic() && !(operand.dims()[d] == 1)) to = ExtentOf(operand, d);
      }
      out->assign(1, MakeTensor(op.module()->context(), extents, op.result_type().element_type()));
      return absl::OkStatus();
    }
    case OpCode::kBitcastConvert: {
      const Type operand = op.operand_type(0), result = op.result_type();
      const int64_t from = ElementBits(operand.element_type());
      const int64_t to = ElementBits(result.element_type());
      Extents extents = ExtentsOf(operand);
      if (from > to) {
        extents.push_back({from / std::max<int64_t>(to, 1), kDynamic});
      } else if (from < to && !extents.empty()) {
        extents.pop_back();
      }
      out->assign(1, MakeTensor(op.module()->context(), extents, result.element_type()));
      return absl::OkStatus();
    }
    case OpCode::kRng: {
      const std::optional<DimList> sizes = ConstantIntegers(op.operand(2));
      if (!sizes) return absl::OkStatus();
      if (std::any_of(sizes->begin(), sizes->end(), [](int64_t size) { return size < 0; })) {
        return InvalidArgument(kContradiction, "sizes must not be negative; given ",
                               DimsText(*sizes));
      }
      out->assign(1, op.module()->context().Tensor(*sizes, op.result_type().element_type()));
      return absl::OkStatus();
    }
    case OpCode::kCustomCall:
      return InferCustomCall(op, out);
    default:
      return absl::OkStatus();
  }
}

class Refiner {
 public:
  Refiner(Module* module, const PassOptions& options)
      : module_(module), context_(module->context()), options_(options) {}

  absl::Status Run() {
    const Function entry = module_->EntryFunction();
    if (!entry || entry.body() == nullptr) return absl::OkStatus();
    PJRT_RETURN_IF_ERROR(InlineCalls(module_, kMaxInlinedOps, options_));
    MergeEqualOps(module_);
    RemoveDeadOps(module_);
    PJRT_RETURN_IF_ERROR(RefineBlock(entry.body(), 0));
    absl::InlinedVector<Type, 6> inputs, results;
    for (const Value* argument : entry.body()->arguments()) inputs.push_back(argument->type());
    if (const Op* end = entry.body()->terminator()) {
      for (const Use& use : end->operand_uses()) results.push_back(use.value()->type());
    }
    entry.op()->SetAttr("function_type", context_.TypeAttr(context_.Function(inputs, results)));
    RemoveDeadOps(module_);
    // Decompositions that copies took the place of go.
    return next_copy_ == 0 ? absl::OkStatus() : InlineCalls(module_, kMaxInlinedOps, options_);
  }

 private:
  absl::Status RefineBlock(Block* block, int depth) {
    if (depth > kMaxRefineDepth) {
      return Unimplemented(kDepth, "regions are nested more than ", kMaxRefineDepth,
                           " deep in a program with dynamic shapes");
    }
    for (const Value* argument : block->arguments()) {
      if (IsDynamicType(argument->type())) return Unsettled(block, argument->type());
    }
    for (Op *op = block->front(), *next; op != nullptr; op = next) {
      next = op->next();
      if (FoldOp(op, kFoldedElements)) continue;
      if (Op* const first = InlineBranch(op)) {
        next = first;
        continue;
      }
      Op* const before = op->prev();
      PJRT_ASSIGN_OR_RETURN(Op* const made, MakeStatic(op));
      if (made != op) {
        next = before != nullptr ? before->next() : block->front();
        continue;
      }
      if (IsShapeAssertion(*op)) {
        PJRT_RETURN_IF_ERROR(CheckAssertion(op));
        continue;
      }
      if (op->Is(OpCode::kComposite)) PJRT_RETURN_IF_ERROR(RefineComposite(op, depth));
      if (op->Is(OpCode::kWhile)) BindLoop(op);
      for (size_t r = 0; r < op->num_regions(); ++r) {
        if (Block* inner = op->region(r)->block()) {
          PJRT_RETURN_IF_ERROR(RefineBlock(inner, depth + 1));
        }
      }
      if (op->Is(OpCode::kWhile)) PJRT_RETURN_IF_ERROR(CheckLoop(*op));
      if (op->Is(OpCode::kIf) || op->Is(OpCode::kCase)) PJRT_RETURN_IF_ERROR(CheckBranches(*op));
      PJRT_RETURN_IF_ERROR(RefineResults(op));
    }
    return absl::OkStatus();
  }

  // The arguments of a loop's regions have the types of its operands; those that no iteration
  // changes, and that begin as constants, are those constants.
  void BindLoop(Op* op) {
    Block* const body = op->region(1)->block();
    const Op* const end = body == nullptr ? nullptr : body->terminator();
    for (size_t r = 0; r < op->num_regions(); ++r) {
      Block* const block = op->region(r)->block();
      if (block == nullptr || block->num_arguments() != op->num_operands()) continue;
      for (size_t i = 0; i < op->num_operands(); ++i) {
        block->argument(i)->set_type(op->operand_type(i));
      }
    }
    if (end == nullptr || end->num_operands() != op->num_operands()) return;
    for (size_t i = 0; i < op->num_operands(); ++i) {
      Value* const init = op->operand(i);
      const bool is_constant =
          init->defining_op() != nullptr && init->defining_op()->Is(OpCode::kConstant);
      if (!is_constant || end->operand(i) != body->argument(i)) continue;
      op->region(0)->block()->argument(i)->ReplaceAllUsesWith(init);
      body->argument(i)->ReplaceAllUsesWith(init);
      op->result(i)->ReplaceAllUsesWith(init);
    }
  }

  // A carried value keeps its shape.
  absl::Status CheckLoop(const Op& op) {
    const Op* const end = op.region(1)->block()->terminator();
    for (size_t i = 0; end != nullptr && i < op.num_operands(); ++i) {
      if (end->operand_type(i) == op.operand_type(i)) continue;
      return AtOp(op, Unimplemented(kUnsettled, "the shape of carried value ", i,
                                    " changes from one iteration to the next: from ",
                                    op.operand_type(i).ToString(), " to ",
                                    end->operand_type(i).ToString()));
    }
    return absl::OkStatus();
  }

  // All branches give the same shapes.
  static absl::Status CheckBranches(const Op& op) {
    const Block* const first = op.region(0)->block();
    for (size_t r = 1; r < op.num_regions(); ++r) {
      const Op* const a = first->terminator();
      const Op* const b = op.region(r)->block()->terminator();
      for (size_t i = 0; i < a->num_operands() && i < b->num_operands(); ++i) {
        if (a->operand_type(i) == b->operand_type(i)) continue;
        return AtOp(op, Unimplemented(kUnsettled, "the shape of result ", i,
                                      " differs between branches that data chooses from: ",
                                      a->operand_type(i).ToString(), " of branch 0, ",
                                      b->operand_type(i).ToString(), " of branch ", r));
      }
    }
    return absl::OkStatus();
  }

  // A composite that stays. Its decomposition becomes a copy for the types that its operands have
  // here, and for those that are constants, which sizes may be.
  absl::Status RefineComposite(Op* op, int depth) {
    const Function general = module_->FindFunction(op->StringAttr("decomposition"));
    if (!HasDynamicResults(*op) || !general || general.body() == nullptr) return absl::OkStatus();
    std::string name;
    do {
      name = absl::StrCat(general.name(), ".", next_copy_++);
    } while (module_->FindFunction(name));
    Op* const copy = module_->CloneOp(
        general.op(), module_->body(), [](Value*) { return nullptr; }, general.op());
    copy->SetAttr("sym_name", context_.String(name));
    Block* const body = copy->region()->block();
    Op* const first = body->front();
    for (size_t i = 0; i < body->num_arguments() && i < op->num_operands(); ++i) {
      Value* const argument = body->argument(i);
      argument->set_type(op->operand_type(i));
      const Op* const given = op->operand(i)->defining_op();
      if (given == nullptr || !given->Is(OpCode::kConstant) ||
          op->operand_type(i).element_count() > kFoldedElements)
        continue;
      const Op* const constant = module_->CloneOp(
          given, body, [](Value*) { return nullptr; }, first);
      argument->ReplaceAllUsesWith(constant->result());
    }
    PJRT_RETURN_IF_ERROR(RefineBlock(body, depth + 1));
    const Op* const end = body->terminator();
    TypeList inputs, results;
    for (const Value* argument : body->arguments()) inputs.push_back(argument->type());
    for (size_t i = 0; i < op->num_results() && i < end->num_operands(); ++i) {
      results.push_back(end->operand_type(i));
      op->result(i)->set_type(end->operand_type(i));
    }
    copy->SetAttr("function_type", context_.TypeAttr(context_.Function(inputs, results)));
    op->SetAttr("decomposition", context_.Symbol(name));
    return absl::OkStatus();
  }

  static bool HasDynamicResults(const Op& op) {
    for (size_t i = 0; i < op.num_results(); ++i) {
      if (IsDynamicType(op.result_type(i))) return true;
    }
    return false;
  }

  absl::Status RefineResults(Op* op) {
    if (!HasDynamicResults(*op)) return absl::OkStatus();
    TypeList types;
    const OpInfo& info = GetOpInfo(op->opcode());
    if (info.infer != nullptr) {
      absl::InlinedVector<Value*, 8> operands;
      for (const Use& use : op->operand_uses()) operands.push_back(use.value());
      absl::InlinedVector<Region*, 2> regions;
      for (size_t i = 0; i < op->num_regions(); ++i) regions.push_back(op->region(i));
      InferInput in;
      in.context = &context_;
      in.code = op->opcode();
      in.operands = operands;
      in.regions = regions;
      in.attributes = op->attributes();
      PJRT_RETURN_IF_ERROR(AtOp(*op, InferResultTypes(in, &types)));
    } else {
      PJRT_RETURN_IF_ERROR(AtOp(*op, InferGiven(*op, &types)));
    }
    for (size_t i = 0; i < op->num_results(); ++i) {
      if (i < types.size()) {
        const Type merged = Merge(context_, types[i], op->result_type(i));
        if (!merged) {
          return AtOp(*op, InvalidArgument(kContradiction, "the shape of result ", i, " is ",
                                           types[i].ToString(), "; the program says ",
                                           op->result_type(i).ToString()));
        }
        op->result(i)->set_type(merged);
      }
      if (IsDynamicType(op->result_type(i))) return Unsettled(*op, op->result_type(i));
    }
    return absl::OkStatus();
  }

  // One whose condition, or whose message's values, depend on data is left for the device.
  absl::Status CheckAssertion(Op* op) {
    if (op->num_operands() == 0 || op->num_results() > 0) return absl::OkStatus();
    const Type condition = op->operand_type(0);
    const std::optional<DimList> holds = ConstantIntegers(op->operand(0));
    if (!holds || condition.rank() != 0 || condition.primitive_type() != PRED) {
      return absl::OkStatus();
    }
    if (holds->front() != 0) {
      op->Erase();
      return absl::OkStatus();
    }
    std::vector<std::pair<std::string, std::string>> values;
    for (size_t i = 1; i < op->num_operands(); ++i) {
      const std::optional<DimList> value = ConstantIntegers(op->operand(i));
      if (!value || value->size() != 1) return absl::OkStatus();
      values.emplace_back(absl::StrCat("{", i - 1, "}"), absl::StrCat(value->front()));
    }
    const absl::string_view message = op->StringAttr(
        "error_message", op->StringAttr("backend_config", "a shape assertion doesn't hold"));
    return InvalidArgument(kAssertion, absl::StrReplaceAll(message, values));
  }

  static absl::Status Unsettled(const Op& op, Type type) {
    if (op.Is(OpCode::kCustomCall)) {
      return AtOp(op, Unimplemented(kUnsettled, "the shape ", type.ToString(),
                                    " does not follow from what is known of a call of ",
                                    op.StringAttr("call_target_name")));
    }
    return AtOp(op, Unimplemented(kUnsettled, "the shape ", type.ToString(),
                                  " depends on data that is computed while the program runs"));
  }
  static absl::Status Unsettled(const Block* block, Type type) {
    const Op* const parent = block->parent_op();
    if (parent != nullptr && !parent->Is(OpCode::kFuncFunc)) return Unsettled(*parent, type);
    return InvalidArgument(kArgument, "an argument of the program has the dynamic type ",
                           type.ToString(), "; refine it first");
  }

  Module* module_;
  Context& context_;
  const PassOptions& options_;
  int next_copy_ = 0;  // of a composite's decomposition
};

}  // namespace

absl::Status RefineArguments(Module* module, absl::Span<const ArgumentRefinement> arguments) {
  const Function entry = module->EntryFunction();
  if (!entry || entry.body() == nullptr) {
    return InvalidArgument(kArgument, "the module has no entry function with a body");
  }
  Block* const body = entry.body();
  if (arguments.size() != body->num_arguments()) {
    return InvalidArgument(kArgument, "@", entry.name(), " has ", body->num_arguments(),
                           " arguments; given ", arguments.size());
  }
  absl::InlinedVector<Type, 6> inputs;
  Op* const first = body->front();
  for (size_t i = 0; i < arguments.size(); ++i) {
    Value* const argument = body->argument(i);
    const ArgumentRefinement& refined = arguments[i];
    if (refined.type) {
      if (!CompatibleTypes(refined.type, argument->type()) || IsDynamicType(refined.type)) {
        return InvalidArgument(kArgument, "argument ", i, " of @", entry.name(), " has type ",
                               argument->type().ToString(), "; given ", refined.type.ToString());
      }
      argument->set_type(refined.type);
    }
    inputs.push_back(argument->type());
    if (!refined.value) continue;
    if (refined.value.type() != argument->type()) {
      return InvalidArgument(kArgument, "argument ", i, " of @", entry.name(), " has type ",
                             argument->type().ToString(), "; given a value of type ",
                             refined.value.type().ToString());
    }
    const Type type = argument->type();
    const NamedAttribute value = {"value", refined.value};
    OpState state;
    state.name = "stablehlo.constant";
    state.result_types = absl::MakeConstSpan(&type, 1);
    state.attributes = absl::MakeConstSpan(&value, 1);
    argument->ReplaceAllUsesWith(module->Append(body, state, first)->result());
  }
  const absl::Span<const Type> results = entry.type().results();
  Context& context = module->context();
  entry.op()->SetAttr("function_type", context.TypeAttr(context.Function(inputs, results)));
  return absl::OkStatus();
}

absl::Status RefineShapes(Module* module, const PassOptions& options) {
  return Refiner(module, options).Run();
}

}  // namespace pjrt::ir
