// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/self_test.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "pjrt/base/literal_compare.h"
#include "pjrt/ir/passes.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/passes/counted_loop.h"
#include "tools/pjrt/loop_probe.h"

namespace pjrt::tool {
namespace {

// The defaults of the reference interpreter: of the ops, and of the custom calls.
constexpr double kOpTolerance = 1e-4;
constexpr double kCallTolerance = 1e-3;
constexpr uint64_t kOpMaxUlps = 1;
constexpr uint64_t kCallMaxUlps = 3;

void CollectSymbols(ir::Attribute attr, std::vector<std::string>* names) {
  if (!attr) return;
  if (attr.Is(ir::AttrKind::kSymbol)) names->emplace_back(attr.AsString());
  for (const ir::Attribute element : attr.elements()) CollectSymbols(element, names);
  for (const ir::NamedAttribute& entry : attr.entries()) CollectSymbols(entry.value, names);
}

// Removes the functions that `function` doesn't lead to, and calls it main.
void KeepOnly(ir::Module* module, absl::string_view function) {
  absl::flat_hash_set<std::string> reached;
  std::vector<std::string> pending = {std::string(function)};
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (!reached.insert(name).second) continue;
    const ir::Function callee = module->FindFunction(name);
    if (!callee) continue;
    std::vector<ir::Op*> ops;
    if (callee.body() != nullptr) {
      for (ir::Op* op : *callee.body()) ops.push_back(op);
    }
    for (size_t i = 0; i < ops.size(); ++i) {
      for (const ir::NamedAttribute& entry : ops[i]->attributes()) {
        CollectSymbols(entry.value, &pending);
      }
      for (size_t r = 0; r < ops[i]->num_regions(); ++r) {
        const ir::Block* block = ops[i]->region(r)->block();
        if (block == nullptr) continue;
        for (ir::Op* op : *block) ops.push_back(op);
      }
    }
  }
  for (ir::Op* op : *module->body()) {
    if (!op->Is(ir::OpCode::kFuncFunc)) continue;
    const std::string name(ir::Function(op).name());
    if (name == function) {
      op->SetAttr("sym_name", module->context().String("main"));
      op->RemoveAttr("sym_visibility");
    } else if (!reached.contains(name)) {
      op->Erase();
    }
  }
}

// "check.expect_eq" of an op or a custom call; empty for others.
absl::string_view CheckName(const ir::Op& op) {
  const absl::string_view name =
      op.Is(ir::OpCode::kCustomCall) ? op.StringAttr("call_target_name") : op.name();
  return absl::StartsWith(name, "check.") ? name : absl::string_view();
}

absl::StatusOr<Literal> LiteralOf(ir::Attribute dense) {
  const ir::Type type = dense.type();
  if (!dense.Is(ir::AttrKind::kDenseElements) || !IsArrayType(type.primitive_type())) {
    return Unimplemented("PJRT-T014", "a constant of type ", type.ToString(), " can't be compared");
  }
  PJRT_ASSIGN_OR_RETURN(Literal literal,
                        Literal::MakeUninitialized(MakeShape(type.primitive_type(), type.dims())));
  const absl::Span<const char> bytes = dense.raw_data();
  const size_t size = static_cast<size_t>(literal.size_bytes());
  if (bytes.empty() || (bytes.size() != size && !dense.IsSplat())) {
    if (size == 0) return literal;
    return Unimplemented("PJRT-T014", "a constant whose data was left out can't be compared");
  }
  char* to = static_cast<char*>(literal.untyped_data());
  for (size_t at = 0; at < size; at += bytes.size()) {
    std::memcpy(to + at, bytes.data(), bytes.size());
  }
  return literal;
}

// Fills all of `check` but the numbers of its results.
absl::Status ReadCheck(const ir::Op& op, absl::string_view name, Check* check) {
  check->name = std::string(name);
  check->line = op.location().line;
  const bool is_call = op.Is(ir::OpCode::kCustomCall);
  const bool has_constant = !is_call && absl::EndsWith(name, "_const");
  if (op.num_operands() != (has_constant ? 1 : 2)) {
    return Unimplemented("PJRT-T014", name, " with ", op.num_operands(),
                         " operands is not supported");
  }
  if (has_constant) {
    PJRT_ASSIGN_OR_RETURN(Literal constant, LiteralOf(op.attr("value")));
    check->want_constant = std::make_shared<const Literal>(std::move(constant));
  }
  if (name == "check.expect_eq" || name == "check.expect_eq_const") {
    check->comparison = Comparison::kExact;
  } else if (name == "check.expect_almost_eq" || name == "check.expect_almost_eq_const" ||
             (is_call && name == "check.eq")) {
    check->comparison = Comparison::kAlmostEqual;
    check->tolerance = is_call && name != "check.eq" ? kCallTolerance : kOpTolerance;
    if (const ir::Attribute tolerance = op.attr("tolerance")) {
      check->tolerance = tolerance.AsFloat();
    }
  } else if (name == "check.expect_close") {
    check->comparison = Comparison::kUlps;
    check->max_ulps = static_cast<uint64_t>(op.IntAttr(
        "max_ulp_difference", static_cast<int64_t>(is_call ? kCallMaxUlps : kOpMaxUlps)));
    check->min_ulps = static_cast<uint64_t>(op.IntAttr("min_ulp_difference", 0));
  } else {
    return Unimplemented("PJRT-T014", name, " is not supported");
  }
  return absl::OkStatus();
}

// `check.eq` gives a tensor<i1> as well. It holds if the program goes on, so true stands for it.
void ReplaceResults(ir::Module* module, ir::Op* op) {
  for (size_t r = 0; r < op->num_results(); ++r) {
    if (!op->result(r)->has_uses()) continue;
    const ir::Type type = op->result_type(r);
    const ir::NamedAttribute value = {"value", module->context().DenseSplatInt(type, 1)};
    ir::OpState state;
    state.name = "stablehlo.constant";
    state.location = op->location();
    state.result_types = absl::MakeConstSpan(&type, 1);
    state.attributes = absl::MakeConstSpan(&value, 1);
    op->result(r)->ReplaceAllUsesWith(module->Append(op->block(), state, op)->result());
  }
}

// What a check looks at: of a quantized value with a tolerance the number that it expresses.
ir::Value* Observed(ir::Module* module, ir::Op* op, size_t operand, Comparison comparison) {
  ir::Value* value = op->operand(operand);
  const ir::Type type = value->type();
  if (comparison == Comparison::kExact || !type.IsTensor() ||
      !type.element_type().Is(ir::TypeKind::kQuantized)) {
    return value;
  }
  const ir::Type number = module->context().Tensor(
      type.dims(), type.element_type().quantized().expressed_type, type.bounds());
  ir::OpState state;
  state.name = "stablehlo.uniform_dequantize";
  state.location = op->location();
  state.operands = absl::MakeConstSpan(&value, 1);
  state.result_types = absl::MakeConstSpan(&number, 1);
  return module->Append(op->block(), state, op)->result();
}

// A grid of one program is a call of it. UNIMPLEMENTED for larger grids and for infeeds.
absl::Status ReplaceGrid(ir::Module* module, ir::Op* op) {
  const absl::Span<const ir::Attribute> replicas = op->attr("programs").elements();
  if (replicas.size() != 1 || replicas[0].elements().size() != 1) {
    return Unimplemented("PJRT-T014", op->name(), " of more than one program is not supported");
  }
  if (op->attr("infeed") && !op->attr("infeed").elements().empty()) {
    return Unimplemented("PJRT-T014", op->name(), " with an infeed is not supported");
  }
  std::vector<ir::Value*> operands;
  for (const ir::Use& use : op->operand_uses()) operands.push_back(use.value());
  std::vector<ir::Type> types;
  for (size_t i = 0; i < op->num_results(); ++i) types.push_back(op->result_type(i));
  const ir::NamedAttribute callee = {"callee", replicas[0].elements()[0]};
  ir::OpState state;
  state.name = "func.call";
  state.location = op->location();
  state.operands = operands;
  state.result_types = types;
  state.attributes = absl::MakeConstSpan(&callee, 1);
  const ir::Op* call = module->Append(op->block(), state, op);
  for (size_t i = 0; i < types.size(); ++i) op->result(i)->ReplaceAllUsesWith(call->result(i));
  op->Erase();
  return absl::OkStatus();
}

// What one probe_id has seen: values of probes that ran once, or of one in a loop.
struct Probed {
  std::vector<size_t> results;  // of the program
  std::optional<LoopProbe> loop;
};

// True for the body of a loop that `block` holds.
bool IsLoopBody(const ir::Block* body, const ir::Block* block) {
  const ir::Op* const loop = body->parent_op();
  return loop->Is(ir::OpCode::kWhile) && loop->block() == block && body == loop->region(1)->block();
}

// The number of the value, from 0 on, that a check.expect_serialized_eq is about.
int64_t IterationOf(const ir::Op& op) { return op.IntAttr("iteration", 0); }

// How many values of a probe checks are about.
int64_t NumAskedFor(absl::Span<ir::Op* const> checks, absl::string_view probe_id) {
  int64_t most = 0;
  for (const ir::Op* op : checks) {
    if (op->Is(ir::OpCode::kCheckExpectSerializedEq) && op->StringAttr("probe_id") == probe_id)
      most = std::max(most, IterationOf(*op) + 1);
  }
  return most;
}

// Keeps what the probes in a loop see, as far as `checks`, which follow the loop, are about it.
absl::Status KeepLoopProbes(ir::Module* module, absl::Span<ir::Op* const> in_loop,
                            absl::Span<ir::Op* const> checks,
                            absl::flat_hash_map<std::string, Probed>* probes) {
  std::vector<std::string> ids;
  std::vector<int64_t> kept;
  for (const ir::Op* probe : in_loop) {
    const ir::Type type = probe->operand_type(0);
    if (!type.HasStaticShape() || type.primitive_type() == PrimitiveType::INVALID) {
      return Unimplemented("PJRT-T014", probe->name(), " of a ", type.ToString(),
                           " inside of a region is not supported");
    }
    ids.emplace_back(probe->StringAttr("probe_id"));
    kept.push_back(std::max<int64_t>(NumAskedFor(checks, ids.back()), 1));
  }
  const std::vector<LoopProbe> carried = CarryProbes(module, in_loop, kept);
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto [probed, is_new] = probes->try_emplace(ids[i]);
    if (!is_new) {
      return Unimplemented("PJRT-T014", "several probes of one probe_id, \"", ids[i],
                           "\", one of them in a loop, are not supported");
    }
    probed->second.loop = carried[i];
  }
  return absl::OkStatus();
}

absl::Status NotProbed(const Check& check) {
  return InvalidArgument("PJRT-T016", check.name, " at line ", check.line,
                         ": nothing has been probed ", "as \"", check.probe_id, "\" ",
                         check.iteration + 1, " times before");
}

// Makes `extra` results of the function besides those that it has.
void AddResults(ir::Module* module, ir::Function function, absl::Span<ir::Value* const> extra) {
  ir::Op* old_return = function.body()->terminator();
  std::vector<ir::Value*> values;
  for (size_t i = 0; i < old_return->num_operands(); ++i) values.push_back(old_return->operand(i));
  values.insert(values.end(), extra.begin(), extra.end());
  std::vector<ir::Type> types;
  for (const ir::Value* value : values) types.push_back(value->type());
  ir::OpState state;
  state.name = old_return->name();
  state.location = old_return->location();
  state.operands = values;
  module->Append(function.body(), state);
  old_return->Erase();
  ir::Context& context = module->context();
  function.op()->SetAttr("function_type", context.TypeAttr(context.Function({}, types)));
  function.op()->RemoveAttr("res_attrs");
}

}  // namespace

std::vector<std::string> TestFunctions(const ir::Module& module) {
  std::vector<std::string> visible, hidden;
  for (ir::Op* op : *module.body()) {
    if (!op->Is(ir::OpCode::kFuncFunc)) continue;
    const ir::Function function(op);
    if (function.body() == nullptr || !function.type().inputs().empty()) continue;
    (function.IsPrivate() ? hidden : visible).emplace_back(function.name());
  }
  if (!visible.empty()) return visible;
  if (!hidden.empty()) return hidden;
  if (const ir::Function entry = module.EntryFunction()) return {std::string(entry.name())};
  return {};
}

absl::StatusOr<SelfTest> MakeSelfTest(const ir::Module& module, absl::string_view function) {
  SelfTest test;
  test.module = module.Clone();
  KeepOnly(test.module.get(), function);
  const ir::Function entry = test.module->FindFunction("main");
  if (!entry || entry.body() == nullptr || entry.body()->terminator() == nullptr) {
    return InvalidArgument("PJRT-T009", "@", function, " has no body");
  }
  if (!entry.type().inputs().empty()) {
    return Unimplemented("PJRT-T014", "the function takes arguments");
  }
  absl::Status status;
  test.module->Walk([&](ir::Op* op) {
    if (status.ok() && op->Is(ir::OpCode::kInterpreterRunParallel))
      status = ReplaceGrid(test.module.get(), op);
  });
  PJRT_RETURN_IF_ERROR(status);
  // Checks in functions that are called come to the top.
  PJRT_RETURN_IF_ERROR(ir::InlineCalls(test.module.get()));

  std::vector<ir::Op*> checks;
  test.module->Walk([&](ir::Op* op) {
    if (!status.ok() || (CheckName(*op).empty() && !op->Is(ir::OpCode::kInterpreterPrint) &&
                         !op->Is(ir::OpCode::kInterpreterProbe)))
      return;
    const bool is_inside = op->block() != entry.body();
    // The device runs the comparisons that it has.
    if (is_inside && !CheckName(*op).empty() && !op->Is(ir::OpCode::kCheckExpectSerializedEq))
      return;
    const bool is_loop_probe =
        op->Is(ir::OpCode::kInterpreterProbe) && IsLoopBody(op->block(), entry.body());
    if (is_inside && !is_loop_probe) {
      status =
          Unimplemented("PJRT-T014", op->Is(ir::OpCode::kCustomCall) ? CheckName(*op) : op->name(),
                        " inside of a region is not supported");
    }
    checks.push_back(op);
  });
  PJRT_RETURN_IF_ERROR(status);

  std::vector<ir::Value*> extra;
  const size_t results = entry.type().results().size();
  absl::flat_hash_map<std::string, Probed> probes;  // by their ids
  for (size_t c = 0; c < checks.size(); ++c) {
    ir::Op* const op = checks[c];
    const size_t next = results + extra.size();
    if (op->Is(ir::OpCode::kInterpreterPrint)) {
      test.prints.push_back({op->operand_type(0).ToString(), next});
      extra.push_back(op->operand(0));
      op->Erase();
      continue;
    }
    if (op->Is(ir::OpCode::kInterpreterProbe)) {
      if (op->block() != entry.body()) {
        size_t end = c + 1;
        while (end < checks.size() && checks[end]->block() == op->block()) ++end;
        const auto all = absl::MakeConstSpan(checks);
        PJRT_RETURN_IF_ERROR(
            KeepLoopProbes(test.module.get(), all.subspan(c, end - c), all.subspan(end), &probes));
        c = end - 1;
        continue;
      }
      Probed& probed = probes[op->StringAttr("probe_id")];
      if (probed.loop.has_value()) {
        return Unimplemented("PJRT-T014", "several probes of one probe_id, \"",
                             op->StringAttr("probe_id"),
                             "\", one of them in a loop, are not supported");
      }
      probed.results.push_back(next);
      extra.push_back(op->operand(0));
      op->result()->ReplaceAllUsesWith(op->operand(0));
      op->Erase();
      continue;
    }
    Check& check = test.checks.emplace_back();
    if (op->Is(ir::OpCode::kCheckExpectSerializedEq)) {
      const Probed& probed = probes[op->StringAttr("probe_id")];
      check.name = "check.expect_serialized_eq";
      check.line = op->location().line;
      check.probe_id = std::string(op->StringAttr("probe_id"));
      check.iteration = IterationOf(*op);
      const auto times = static_cast<int64_t>(probed.results.size());
      if (check.iteration < 0 || (!probed.loop.has_value() && check.iteration >= times))
        return NotProbed(check);
      check.got = next;
      if (probed.loop.has_value()) {
        ir::Emitter emit(test.module.get(), op);
        const ir::Term values = emit(probed.loop->values);
        const ir::Term at = emit.IntConstant(probed.loop->count->type(), check.iteration);
        check.times = next + 1;
        check.want = next + 2;
        extra.insert(extra.end(),
                     {op->operand(0), probed.loop->count, SliceAt(values, at, 0).value()});
        op->Erase();
        continue;
      }
      check.want = probed.results[check.iteration];
      extra.push_back(op->operand(0));
      op->Erase();
      continue;
    }
    PJRT_RETURN_IF_ERROR(ReadCheck(*op, CheckName(*op), &check));
    check.got = results + extra.size();
    for (size_t i = 0; i < op->num_operands(); ++i)
      extra.push_back(Observed(test.module.get(), op, i, check.comparison));
    check.want = results + extra.size() - 1;
    ReplaceResults(test.module.get(), op);
    op->Erase();
  }
  AddResults(test.module.get(), entry, extra);
  return test;
}

absl::Status CompareResults(absl::Span<const Check> checks,
                            absl::Span<const std::shared_ptr<Literal>> results) {
  for (const Check& check : checks) {
    const LiteralBase& got = *results[check.got];
    const LiteralBase& want = check.want_constant != nullptr
                                  ? static_cast<const LiteralBase&>(*check.want_constant)
                                  : *results[check.want];
    if (check.times.has_value() && results[*check.times]->data<int64_t>()[0] <= check.iteration)
      return NotProbed(check);
    CompareReport report;
    switch (check.comparison) {
      case Comparison::kExact:
        report = CompareExact(got, want);
        break;
      case Comparison::kAlmostEqual:
        report = CompareAlmostEqual(got, want, check.tolerance);
        break;
      case Comparison::kUlps:
        report = CompareUlps(got, want, check.max_ulps, check.min_ulps);
        break;
    }
    if (report.ok) continue;
    const std::string place = check.line > 0 ? absl::StrCat(" at line ", check.line) : "";
    return WithContext(report.ToStatus(), absl::StrCat(check.name, place));
  }
  return absl::OkStatus();
}

}  // namespace pjrt::tool
