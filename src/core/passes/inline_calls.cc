// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "pjrt/ir/passes.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/passes/emitter.h"

namespace pjrt::ir {
namespace {

absl::string_view Callee(const Op& op) {
  if (op.Is(OpCode::kFuncCall)) return op.StringAttr("callee");
  if (op.Is(OpCode::kComposite)) return op.StringAttr("decomposition");
  return {};
}

// Regions nested deeper than this could overflow the stack of what compiles or runs them.
constexpr int kMaxRegionDepth = 500;

// Calls fn on each op of the block and of those inside, with the number of regions around it.
void ForEachOp(Block* root, absl::FunctionRef<void(Op*, int)> fn) {
  std::vector<std::pair<Block*, int>> blocks = {{root, 0}};
  while (!blocks.empty()) {
    const auto [block, depth] = blocks.back();
    blocks.pop_back();
    if (block == nullptr) continue;
    for (Op* op : *block) {
      fn(op, depth);
      for (size_t r = 0; r < op->num_regions(); ++r)
        blocks.push_back({op->region(r)->block(), depth + 1});
    }
  }
}

class Inliner {
 public:
  Inliner(Module* module, int64_t max_ops, const PassOptions& options)
      : module_(module), options_(options), max_ops_(max_ops) {
    for (Op* op : *module->body()) {
      if (op->Is(OpCode::kFuncFunc)) functions_[op->StringAttr("sym_name")] = Function(op);
    }
    ForEachOp(module->body(), [&](Op* op, int) {
      if (const absl::string_view callee = Callee(*op); !callee.empty())
        mentions_[callee] += IsClaimed(*op) ? 2 : 1;
      if (const Attribute called = op->attr("called_computations")) {
        for (Attribute symbol : called.elements()) mentions_[symbol.AsString()] += 2;
      }
    });
  }

  absl::Status Run() {
    const Function entry = module_->EntryFunction();
    if (!entry) return absl::OkStatus();
    PJRT_RETURN_IF_ERROR(Flatten(entry));
    absl::flat_hash_set<absl::string_view> named;
    std::vector<Function> decompositions;
    module_->Walk([&](Op* op) {
      const Attribute called = op->attr("called_computations");
      if (called) {
        for (Attribute symbol : called.elements()) named.insert(symbol.AsString());
      }
      // What a claimed composite means stays in the module.
      if (!IsClaimed(*op) || !named.insert(Callee(*op)).second) return;
      const auto it = functions_.find(Callee(*op));
      if (it != functions_.end()) decompositions.push_back(it->second);
    });
    for (Function function : decompositions) PJRT_RETURN_IF_ERROR(Flatten(function));
    for (Op* op : *module_->body()) {
      if (op->Is(OpCode::kFuncFunc) && op != entry.op() &&
          !named.contains(op->StringAttr("sym_name")))
        op->Erase();
    }
    return CheckDepth();
  }

 private:
  // Leaves no call in the function.
  absl::Status Flatten(Function root) {
    std::vector<Function> order;
    PJRT_RETURN_IF_ERROR(Sort(root, &order));
    PJRT_RETURN_IF_ERROR(CheckSizes(order));
    for (Function function : order) {
      // What is called once moves to its caller, calls and all: so each op moves once, however long
      // the chain of calls.
      if (IsCalledOnce(function) && function.op() != root.op()) continue;
      std::vector<Op*> calls;
      AppendCalls(function, &calls);
      for (size_t i = 0; i < calls.size(); ++i) {
        PJRT_ASSIGN_OR_RETURN(const Function callee, CalleeOf(*calls[i]));
        if (IsCalledOnce(callee)) {
          AppendCalls(callee, &calls);
          MoveBody(callee.body(), calls[i]);
        } else {
          CopyBody(*callee.body(), calls[i]);
        }
        calls[i]->Erase();
      }
    }
    return absl::OkStatus();
  }

  // The functions that `root` calls, directly or not, and are not flattened yet: callees first, so
  // that a body is flattened before it is copied. An explicit stack, since chains of calls can be
  // long.
  absl::Status Sort(Function root, std::vector<Function>* order) {
    std::vector<Function> stack = {root};
    while (!stack.empty()) {
      const Function function = stack.back();
      State& state = states_[function.op()];
      if (state != State::kNew) {
        stack.pop_back();
        if (state == State::kOpen) order->push_back(function);
        state = State::kDone;
        continue;
      }
      state = State::kOpen;
      bool circle = false;
      ForEachCall(function, [&](Op* call) {
        const Function callee = FindFunction(Callee(*call));
        if (!callee || callee.body() == nullptr) return;
        const auto it = states_.find(callee.op());
        if (it == states_.end()) {
          stack.push_back(callee);
        } else {
          circle = circle || it->second == State::kOpen;
        }
      });
      if (circle) return InvalidArgument("PJRT-I010", "functions call each other in a circle");
    }
    return absl::OkStatus();
  }

  // The size of each function once flattened, before any time is spent on it.
  absl::Status CheckSizes(const std::vector<Function>& order) {
    for (Function function : order) {
      int64_t size = 0;
      ForEachOp(function.body(), [&](Op* op, int) {
        const auto it = Callee(*op).empty() || IsClaimed(*op)
                            ? sizes_.end()
                            : sizes_.find(FindFunction(Callee(*op)).op());
        size = std::min(max_ops_ + 1, size + (it == sizes_.end() ? 1 : it->second));
      });
      if (size > max_ops_) {
        return ResourceExhausted("PJRT-I012",
                                 "inlining the program's calls would make it too large");
      }
      sizes_[function.op()] = size;
    }
    return absl::OkStatus();
  }

  absl::Status CheckDepth() {
    int depth = 0;
    for (Op* op : *module_->body()) {
      if (op->Is(OpCode::kFuncFunc))
        ForEachOp(Function(op).body(), [&](Op*, int at) { depth = std::max(depth, at); });
    }
    if (depth <= kMaxRegionDepth) return absl::OkStatus();
    return ResourceExhausted("PJRT-I013", "regions are nested ", depth, " levels deep; at most ",
                             kMaxRegionDepth, " are allowed");
  }

  bool IsClaimed(const Op& op) const {
    return op.Is(OpCode::kComposite) && options_.claims && options_.claims(op);
  }

  Function FindFunction(absl::string_view name) const {
    const auto it = functions_.find(name);
    return it == functions_.end() ? Function() : it->second;
  }

  void ForEachCall(Function function, absl::FunctionRef<void(Op*)> fn) {
    ForEachOp(function.body(), [&](Op* op, int) {
      if (!Callee(*op).empty() && !IsClaimed(*op)) fn(op);
    });
  }

  void AppendCalls(Function function, std::vector<Op*>* calls) {
    ForEachCall(function, [&](Op* call) { calls->push_back(call); });
  }

  absl::StatusOr<Function> CalleeOf(const Op& call) const {
    const Function callee = FindFunction(Callee(call));
    if (callee && callee.body() != nullptr) return callee;
    return InvalidArgument("PJRT-I011", "'", call.name(), "' names @", Callee(call),
                           ", which has no body in this module");
  }

  // And named by nothing else.
  bool IsCalledOnce(Function function) const {
    const auto it = mentions_.find(function.name());
    return it != mentions_.end() && it->second == 1;
  }

  // Of a function that is called once.
  static void MoveBody(Block* body, Op* call) {
    for (size_t i = 0; i < body->num_arguments(); ++i)
      body->argument(i)->ReplaceAllUsesWith(call->operand(i));
    Op* const end = body->terminator();
    while (body->front() != end) body->front()->MoveBefore(call);
    for (size_t i = 0; i < end->num_operands(); ++i)
      call->result(i)->ReplaceAllUsesWith(end->operand(i));
    end->Erase();  // no use of what it returned is left behind
  }

  void CopyBody(const Block& body, Op* call) {
    std::vector<Value*> arguments;
    for (const Use& use : call->operand_uses()) arguments.push_back(use.value());
    const std::vector<Value*> results = Emitter(module_, call).Inline(body, arguments);
    for (size_t i = 0; i < results.size(); ++i) call->result(i)->ReplaceAllUsesWith(results[i]);
  }

  enum class State { kNew, kOpen, kDone };

  Module* module_;
  const PassOptions& options_;
  const int64_t max_ops_;
  absl::flat_hash_map<absl::string_view, Function> functions_;
  absl::flat_hash_map<absl::string_view, int> mentions_;  // calls count 1, what else names it 2
  absl::flat_hash_map<const Op*, State> states_;
  absl::flat_hash_map<const Op*, int64_t> sizes_;
};

}  // namespace

absl::Status InlineCalls(Module* module, int64_t max_ops, const PassOptions& options) {
  return Inliner(module, max_ops, options).Run();
}

}  // namespace pjrt::ir
