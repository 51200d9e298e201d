// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "pjrt/ir/passes.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"

namespace pjrt::ir {
namespace {

absl::string_view Callee(const Op& op) {
  if (op.Is(OpCode::kFuncCall)) return op.StringAttr("callee");
  if (op.Is(OpCode::kComposite)) return op.StringAttr("decomposition");
  return {};
}

class Inliner {
 public:
  Inliner(Module* module, int64_t max_ops, const PassOptions& options)
      : module_(module),
        options_(options),
        budget_(max_ops - static_cast<int64_t>(module->op_count())) {
    for (Op* op : *module->body()) {
      if (op->Is(OpCode::kFuncFunc)) functions_[op->StringAttr("sym_name")] = Function(op);
    }
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
    return absl::OkStatus();
  }

 private:
  // Leaves no call in the function, callees first: a body is flattened once, however often it is
  // called. An explicit stack, since chains of calls can be long.
  absl::Status Flatten(Function root) {
    std::vector<Function> stack = {root};
    while (!stack.empty()) {
      const Function function = stack.back();
      std::vector<Op*> calls;
      bool waiting = false;
      ForEachCall(function, [&](Op* call) {
        calls.push_back(call);
        auto it = functions_.find(Callee(*call));
        if (it == functions_.end() || it->second.body() == nullptr ||
            done_.contains(it->second.op()))
          return;
        stack.push_back(it->second);
        waiting = true;
      });
      if (waiting) {
        if (stack.size() > functions_.size() * functions_.size() + 1)
          return InvalidArgument("PJRT-I010", "functions call each other in a circle");
        continue;
      }
      stack.pop_back();
      if (!done_.insert(function.op()).second) continue;
      for (Op* call : calls) PJRT_RETURN_IF_ERROR(InlineOne(call));
    }
    return absl::OkStatus();
  }

  bool IsClaimed(const Op& op) const {
    return op.Is(OpCode::kComposite) && options_.claims && options_.claims(op);
  }

  void ForEachCall(Function function, absl::FunctionRef<void(Op*)> fn) {
    std::vector<Block*> blocks = {function.body()};
    while (!blocks.empty()) {
      Block* block = blocks.back();
      blocks.pop_back();
      if (block == nullptr) continue;
      for (Op* op : *block) {
        if (!Callee(*op).empty() && !IsClaimed(*op)) fn(op);
        for (size_t r = 0; r < op->num_regions(); ++r) blocks.push_back(op->region(r)->block());
      }
    }
  }

  absl::Status InlineOne(Op* call) {
    auto it = functions_.find(Callee(*call));
    if (it == functions_.end() || it->second.body() == nullptr) {
      return InvalidArgument("PJRT-I011",
                             absl::StrCat("'", call->name(), "' names @", Callee(*call),
                                          ", which has no body in this module"));
    }
    Block* body = it->second.body();
    absl::flat_hash_map<Value*, Value*> map;
    for (size_t i = 0; i < body->num_arguments(); ++i) map[body->argument(i)] = call->operand(i);
    const auto mapped = [&](Value* value) -> Value* {
      auto found = map.find(value);
      return found == map.end() ? nullptr : found->second;
    };
    for (Op* op : *body) {
      if (op == body->terminator()) {
        for (size_t i = 0; i < op->num_operands(); ++i) {
          Value* value = mapped(op->operand(i));
          call->result(i)->ReplaceAllUsesWith(value != nullptr ? value : op->operand(i));
        }
        break;
      }
      budget_ -= CountOps(*op);
      if (budget_ < 0)
        return ResourceExhausted("PJRT-I012",
                                 "inlining the program's calls would make it too large");
      Op* copy = module_->CloneOp(op, call->block(), mapped, call);
      for (size_t i = 0; i < op->num_results(); ++i) map[op->result(i)] = copy->result(i);
    }
    call->Erase();
    return absl::OkStatus();
  }

  static int64_t CountOps(const Op& op) {
    int64_t count = 1;
    std::vector<const Op*> stack = {&op};
    while (!stack.empty()) {
      const Op* at = stack.back();
      stack.pop_back();
      for (size_t r = 0; r < at->num_regions(); ++r) {
        const Block* block = at->region(r)->block();
        if (block == nullptr) continue;
        for (const Op* inner : *block) {
          ++count;
          if (inner->num_regions() > 0) stack.push_back(inner);
        }
      }
    }
    return count;
  }

  Module* module_;
  const PassOptions& options_;
  int64_t budget_;
  absl::flat_hash_map<absl::string_view, Function> functions_;
  absl::flat_hash_set<const Op*> done_;
};

}  // namespace

absl::Status InlineCalls(Module* module, int64_t max_ops, const PassOptions& options) {
  return Inliner(module, max_ops, options).Run();
}

}  // namespace pjrt::ir
