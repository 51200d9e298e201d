// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/verifier.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/diagnostics.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/row_checks.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// Checks of an op alone: its row, inferred results, own rules. `scratch` takes the types that
// inference makes, so that the module is not changed.
absl::Status CheckOp(const Op& op, Context& scratch) {
  const OpInfo& info = GetOpInfo(op.opcode());
  InferInput in;
  in.context = &scratch;
  in.code = op.opcode();
  absl::InlinedVector<Value*, 8> operands;
  for (const Use& use : op.operand_uses()) operands.push_back(use.value());
  absl::InlinedVector<Region*, 2> regions;
  for (size_t i = 0; i < op.num_regions(); ++i) regions.push_back(op.region(i));
  in.operands = operands;
  in.regions = regions;
  in.attributes = op.attributes();
  for (size_t i = 0; i < operands.size(); ++i)
    PJRT_RETURN_IF_ERROR(CheckTensor(in.operand_type(i)));
  PJRT_RETURN_IF_ERROR(CheckInputs(info, in));

  absl::InlinedVector<Type, 4> results;
  for (size_t i = 0; i < op.num_results(); ++i) {
    results.push_back(op.result_type(i));
    PJRT_RETURN_IF_ERROR(CheckTensor(results[i]));
  }
  PJRT_RETURN_IF_ERROR(CheckResults(info, results, op.attr("resultSegmentSizes")));
  if (info.infer != nullptr) {
    TypeList inferred;
    const absl::Status status = info.infer(in, &inferred);
    if (status.ok()) {
      PJRT_RETURN_IF_ERROR(CheckInferred(info, inferred, results));
    } else if (!absl::IsUnimplemented(status)) {
      return status;
    }
  }
  return info.verify != nullptr ? info.verify(op) : absl::OkStatus();
}

// The terminator that regions of an op end in; kUnknown where they need none.
OpCode TerminatorOf(OpCode parent) {
  switch (parent) {
    case OpCode::kUnknown:
    case OpCode::kModule:
      return OpCode::kUnknown;
    case OpCode::kFuncFunc:
      return OpCode::kFuncReturn;
    case OpCode::kSdyManualComputation:
    case OpCode::kSdyNamedComputation:
      return OpCode::kSdyReturn;
    default:
      return OpCode::kReturn;
  }
}

// Ops of other dialects than those that the op set holds as a whole may mean anything.
absl::Status CheckUnknownOp(const Op& op) {
  if (!absl::StartsWith(op.name(), "stablehlo.") && !absl::StartsWith(op.name(), "chlo."))
    return absl::OkStatus();
  return InvalidArgument(rule::kUnknownOp, "the dialect has no such op");
}

// Regions of known ops have one block, which ends in the right terminator and has no other.
absl::Status CheckRegions(const Op& op) {
  const OpCode expected = TerminatorOf(op.opcode());
  for (size_t r = 0; r < op.num_regions(); ++r) {
    const Region& region = *op.region(r);
    if (region.empty()) {
      if (op.Is(OpCode::kFuncFunc) || op.Is(OpCode::kModule) || op.Is(OpCode::kUnknown)) continue;
      return InvalidArgument(rule::kTerminator, "region ", r,
                             " is empty; expected a block that ends in ", GetOpInfo(expected).name);
    }
    for (const Value* argument : region.block()->arguments()) {
      // Which ops take the scales of a function's arguments, these say where they use them.
      PJRT_RETURN_IF_ERROR(op.Is(OpCode::kFuncFunc) ? CheckBounds(argument->type())
                                                    : CheckTensor(argument->type()));
    }
    if (expected == OpCode::kUnknown) continue;
    if (region.num_blocks() > 1) {
      return InvalidArgument(rule::kTerminator, "region ", r, " must have one block; given ",
                             region.num_blocks());
    }
    const Op* last = region.block()->back();
    const bool other =
        last != nullptr && expected == OpCode::kFuncReturn && last->Is(OpCode::kReturn);
    if (last == nullptr || (!last->Is(expected) && !other)) {
      return InvalidArgument(rule::kTerminator, "region ", r, " must end in ",
                             GetOpInfo(expected).name, "; given ",
                             last == nullptr ? "an empty block" : last->name());
    }
  }
  return absl::OkStatus();
}

class ModuleVerifier {
 public:
  explicit ModuleVerifier(const Module& module)
      : module_(module), entry_(module.EntryFunction().op()) {}

  absl::Status Run() {
    CollectSymbols();
    module_.Walk([this](Op* op) {
      if (!status_.ok()) return;
      order_.emplace(op, static_cast<uint32_t>(order_.size()));
      Check(*op);
    });
    if (status_.ok()) CheckRecursion();
    return status_;
  }

 private:
  void Fail(const Op& op, const absl::Status& status) {
    if (status_.ok() && !status.ok()) status_ = AtOp(op, status);
  }

  void Check(const Op& op) {
    Fail(op, CheckScope(op));
    Fail(op, op.Is(OpCode::kUnknown) ? CheckUnknownOp(op) : CheckOp(op, scratch_));
    if (op.num_regions() > 0) Fail(op, CheckRegions(op));
    if (op.IsTerminator() && op.next() != nullptr) {
      Fail(op, InvalidArgument(rule::kTerminator, "must be the last op of its block; followed by '",
                               op.next()->name(), "'"));
    }
    Fail(op, CheckSymbols(op));
    if (op.Is(OpCode::kFuncFunc)) Fail(op, CheckFunction(op));
    if (op.Is(OpCode::kFuncReturn)) Fail(op, CheckFunctionReturn(op));
    if (op.Is(OpCode::kReturn) && op.parent() != nullptr && op.parent() == entry_)
      Fail(op, CheckFunctionReturn(op));
  }

  // Operands are defined before the op, in its block or one around it, and isolated regions use
  // nothing from outside.
  absl::Status CheckScope(const Op& op) {
    for (const Use& use : op.operand_uses()) {
      const Value* value = use.value();
      const Op* at = &op;  // the op around `op`, or itself, that lies in the value's block
      while (at != nullptr && at->block() != value->block()) {
        at = at->parent();
        if (at != nullptr && GetOpInfo(at->opcode()).Has(kIsolated)) {
          return InvalidArgument(rule::kScope, "operand ", use.operand_index(),
                                 " is a value from outside of '", at->name(),
                                 "', whose region may only use its own");
        }
      }
      const Op* def = value->defining_op();
      bool visible = at != nullptr;
      if (visible && def != nullptr) {
        const auto defined = order_.find(def);
        visible = defined != order_.end() && def != at && defined->second < order_.find(at)->second;
      }
      if (!visible) {
        return InvalidArgument(rule::kScope, "operand ", use.operand_index(),
                               " must be defined before the op, in its block or around it");
      }
    }
    return absl::OkStatus();
  }

  // --- Symbols ---

  using SymbolKey = std::pair<const Block*, absl::string_view>;

  void CollectSymbols() {
    module_.Walk([this](Op* op) {
      const absl::string_view name = op->StringAttr("sym_name");
      if (name.empty() || !status_.ok()) return;
      if (!symbols_.emplace(SymbolKey(op->block(), name), op).second) {
        Fail(*op, InvalidArgument(rule::kSymbol, "symbol @", name, " is defined twice"));
      }
    });
  }

  // The symbol as seen from `op`: in the innermost module around it.
  const Op* Find(const Op& op, absl::string_view name) const {
    const Op* at = &op;
    while (at->parent() != nullptr && !at->parent()->Is(OpCode::kModule)) at = at->parent();
    const auto it = symbols_.find(SymbolKey(at->block(), name));
    return it == symbols_.end() ? nullptr : it->second;
  }

  absl::Status CheckSymbols(const Op& op) {
    switch (op.opcode()) {
      case OpCode::kFuncCall:
        return CheckCall(op, "callee");
      case OpCode::kComposite:
        return CheckCall(op, "decomposition");
      case OpCode::kCustomCall: {
        const Attribute called = op.attr("called_computations");
        for (Attribute symbol :
             called.Is(AttrKind::kArray) ? called.elements() : absl::Span<const Attribute>()) {
          const Op* callee = symbol.Is(AttrKind::kSymbol) ? Find(op, symbol.AsString()) : nullptr;
          if (callee != nullptr)
            AddCall(op, callee);  // the target may know names that the module does not
        }
        return absl::OkStatus();
      }
      case OpCode::kInterpreterRunParallel:
        return CheckGrid(op);
      default:
        return absl::OkStatus();
    }
  }

  // The type of the function that `op` calls by `name`; nothing where it has none, which is
  // reported at the function.
  absl::StatusOr<Type> CalledType(const Op& op, absl::string_view attribute,
                                  absl::string_view name) {
    const Op* callee = Find(op, name);
    if (callee == nullptr || !callee->Is(OpCode::kFuncFunc)) {
      return InvalidArgument(rule::kSymbol, attribute,
                             " must name a function of the module; given @", name);
    }
    AddCall(op, callee);
    const Type type = callee->attr("function_type").AsType();
    if (!type.Is(TypeKind::kFunction)) return Type();
    const Op* last = callee->region()->empty() ? nullptr : callee->region()->block()->terminator();
    if (last != nullptr && last->Is(OpCode::kReturn))
      PJRT_RETURN_IF_ERROR(CheckFunctionReturn(*last));
    return type;
  }

  absl::Status CheckCall(const Op& op, absl::string_view attribute) {
    const absl::string_view name = op.StringAttr(attribute);
    PJRT_ASSIGN_OR_RETURN(const Type type, CalledType(op, attribute, name));
    if (!type) return absl::OkStatus();
    PJRT_RETURN_IF_ERROR(CheckTypes(
        "operand", type.inputs(), op.num_operands(), [&](size_t i) { return op.operand_type(i); },
        name));
    return CheckTypes(
        "result", type.results(), op.num_results(), [&](size_t i) { return op.result_type(i); },
        name);
  }

  // The op takes and gives what the functions of the grid do, one after another; each infeed
  // function gives a tensor.
  absl::Status CheckGrid(const Op& op) {
    PJRT_RETURN_IF_ERROR(VerifyRunParallel(op));
    size_t inputs = 0, results = 0;
    for (Attribute row : op.attr("programs").elements()) {
      for (Attribute name : row.elements()) {
        PJRT_ASSIGN_OR_RETURN(const Type type, CalledType(op, "programs", name.AsString()));
        if (!type) return absl::OkStatus();
        inputs += type.inputs().size();
        results += type.results().size();
      }
    }
    if (op.num_operands() != inputs || op.num_results() != results) {
      return InvalidArgument(
          rule::kCall, "operands and results must be as many as those of all programs; given ",
          op.num_operands(), " and ", op.num_results(), ", expected ", inputs, " and ", results);
    }
    const Attribute infeed = op.attr("infeed");
    if (!infeed) return absl::OkStatus();
    for (Attribute name : infeed.elements()) {
      PJRT_ASSIGN_OR_RETURN(const Type type, CalledType(op, "infeed", name.AsString()));
      if (!type || (type.results().size() == 1 && IsAnyTensor(type.results()[0]))) continue;
      return InvalidArgument(rule::kCall, "functions of infeed must return one tensor; @",
                             name.AsString(), " returns (", TypesText(type.results()), ")");
    }
    return absl::OkStatus();
  }

  static bool IsAnyTensor(Type type) {
    return type.IsTensor() || type.Is(TypeKind::kUnrankedTensor);
  }

  template <typename TypeOf>
  static absl::Status CheckTypes(absl::string_view what, absl::Span<const Type> expected,
                                 size_t count, TypeOf given, absl::string_view callee) {
    if (count != expected.size()) {
      return InvalidArgument(rule::kCall, "the number of ", what, "s must be that of @", callee,
                             "; given ", count, ", expected ", expected.size());
    }
    for (size_t i = 0; i < count; ++i) {
      if (!SameType(given(i), expected[i])) {
        return InvalidArgument(rule::kCall, what, " ", i, " must have the type that @", callee,
                               " has; given ", given(i).ToString(), ", expected ",
                               expected[i].ToString());
      }
    }
    return absl::OkStatus();
  }

  // --- Functions ---

  absl::Status CheckFunction(const Op& op) {
    const Type type = op.attr("function_type").AsType();
    if (!type.Is(TypeKind::kFunction)) {
      return InvalidArgument(rule::kFunction, "function_type must be a function type; given ",
                             op.attr("function_type").ToString());
    }
    for (const auto& [name, count] : {std::make_pair("arg_attrs", type.inputs().size()),
                                      std::make_pair("res_attrs", type.results().size())}) {
      const Attribute list = op.attr(name);
      if (list && list.elements().size() != count) {
        return InvalidArgument(rule::kFunction, name, " must have a dictionary for each; given ",
                               list.elements().size(), ", expected ", count);
      }
    }
    if (op.region()->empty()) {
      if (op.StringAttr("sym_visibility", "public") != "public") return absl::OkStatus();
      return InvalidArgument(rule::kFunction, "a function without a body must be private");
    }
    const auto arguments = ArgumentTypes(*op.region());
    if (!SameLists(arguments, type.inputs())) {
      return InvalidArgument(rule::kFunction, "the body must take what the function takes; given (",
                             TypesText(arguments), "), expected (", TypesText(type.inputs()), ")");
    }
    return absl::OkStatus();
  }

  // func.return must give the function's results. So must stablehlo.return in its place, but only
  // where the function can run: tests of other tools hold functions that end in one and return
  // nothing.
  absl::Status CheckFunctionReturn(const Op& op) {
    const Op* function = op.parent();
    if (function == nullptr || !function->Is(OpCode::kFuncFunc)) {
      return InvalidArgument(rule::kTerminator, "must stand in a func.func; given ",
                             function == nullptr ? "the module" : function->name());
    }
    const Type type = function->attr("function_type").AsType();
    absl::InlinedVector<Type, 4> returned;
    for (size_t i = 0; i < op.num_operands(); ++i) returned.push_back(op.operand_type(i));
    if (SameLists(returned, type.results())) return absl::OkStatus();
    return InvalidArgument(rule::kFunction, "must return what the function returns; given (",
                           TypesText(returned), "), expected (", TypesText(type.results()), ")");
  }

  static bool SameLists(absl::Span<const Type> a, absl::Span<const Type> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameType);
  }

  // --- Recursion ---

  struct Call {
    const Op* op;
    const Op* callee;
  };

  void AddCall(const Op& op, const Op* callee) {
    const Op* at = &op;
    while (at != nullptr && !at->Is(OpCode::kFuncFunc)) at = at->parent();
    if (at != nullptr) calls_[at].push_back({&op, callee});
  }

  // A depth-first walk of the calls with a stack of its own; a call to a function that is still
  // open closes a circle.
  void CheckRecursion() {
    enum State : uint8_t { kNew, kOpen, kDone };
    struct Frame {
      const Op* function;
      size_t next;
    };
    absl::flat_hash_map<const Op*, State> states;
    for (const Op* root : *module_.body()) {
      if (calls_.find(root) == calls_.end() || states[root] != kNew) continue;
      std::vector<Frame> stack = {{root, 0}};
      states[root] = kOpen;
      while (!stack.empty()) {
        Frame& frame = stack.back();
        const auto calls = calls_.find(frame.function);
        if (calls == calls_.end() || frame.next == calls->second.size()) {
          states[frame.function] = kDone;
          stack.pop_back();
          continue;
        }
        const Call call = calls->second[frame.next++];
        State& state = states[call.callee];
        if (state == kOpen) {
          return Fail(
              *call.op,
              InvalidArgument(rule::kRecursion, "function @", call.callee->StringAttr("sym_name"),
                              " must not call itself, directly or through others"));
        }
        if (state == kDone) continue;
        state = kOpen;
        stack.push_back({call.callee, 0});
      }
    }
  }

  const Module& module_;
  const Op* entry_;
  Context scratch_;
  absl::Status status_;
  absl::flat_hash_map<SymbolKey, const Op*> symbols_;
  absl::flat_hash_map<const Op*, uint32_t> order_;  // the place of each op in program order
  absl::flat_hash_map<const Op*, std::vector<Call>> calls_;
};

}  // namespace

absl::Status VerifyModule(const Module& module) { return ModuleVerifier(module).Run(); }

absl::Status VerifyOp(const Op& op) {
  if (op.Is(OpCode::kUnknown)) return AtOp(op, CheckUnknownOp(op));
  Context scratch;
  return AtOp(op, CheckOp(op, scratch));
}

}  // namespace pjrt::ir
