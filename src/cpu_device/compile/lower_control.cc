// SPDX-License-Identifier: Apache-2.0
//
// while, case and if: steps with lists of steps inside.
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "src/core/base/status_macros.h"
#include "src/core/passes/trip_count.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/control_steps.h"

namespace pjrt::cpu {
namespace {

// A dense view of the whole of its buffer.
bool IsWhole(Lowering& lowering, const ArrayView& view) {
  return view.IsDense() && view.offset == 0 &&
         lowering.plan().bytes(view.buffer) == view.ElementCount() * ByteWidth(view.type);
}

// What a region's end is about to use.
void TouchAll(Lowering& lowering, absl::Span<const ArrayView> views) {
  for (const ArrayView& view : views) {
    if (view.kind == ArrayView::kBuffer && view.buffer != kNoBuffer)
      lowering.plan().Touch(view.buffer);
  }
}

// Ends a region: `from` has to end up in the buffer of `to`. Done without a copy when the step that
// makes it can write there.
absl::Status Yield(Lowering& lowering, const ArrayView& from, const ArrayView& to,
                   int32_t region_begin, Steps* steps) {
  if (IsWhole(lowering, from)) {
    if (from.buffer == to.buffer) return absl::OkStatus();
    if (lowering.plan().TryMerge(from.buffer, to.buffer, region_begin)) return absl::OkStatus();
  }
  return lowering.Copy(from, to, steps);
}

}  // namespace

// Each carried value has a buffer for the whole loop. An iteration reads it as the regions'
// argument and leaves the new value there.
absl::Status LowerWhile(Lowering& lowering, const ir::Op& op, Steps* steps) {
  PlanBuilder& plan = lowering.plan();
  const ir::Block& cond = *op.region(0)->block();
  const ir::Block& body = *op.region(1)->block();
  std::vector<ArrayView> carried(op.num_operands());
  for (size_t i = 0; i < op.num_operands(); ++i) {
    const ir::Value* init = op.operand(i);
    if (lowering.IsToken(init)) {
      for (const ir::Value* value : {static_cast<const ir::Value*>(cond.argument(i)),
                                     static_cast<const ir::Value*>(body.argument(i)),
                                     static_cast<const ir::Value*>(op.result(i))}) {
        lowering.BindToken(value);
      }
      continue;
    }
    if (!init->type().IsTensor())
      return UnsupportedOp(op, "only tensors and tokens can be carried");
    carried[i] = lowering.NewArray(init->type());
    PJRT_RETURN_IF_ERROR(lowering.Copy(lowering.view(init), carried[i], steps));
    lowering.Bind(cond.argument(i), carried[i]);
    lowering.Bind(body.argument(i), carried[i]);
    lowering.Bind(op.result(i), carried[i]);
  }
  const int32_t begin = plan.position();
  auto step = std::make_unique<WhileStep>();
  if (const std::optional<int64_t> trips = ir::TripCount(op))
    step->trips = static_cast<double>(*trips);
  PJRT_RETURN_IF_ERROR(lowering.LowerBlock(cond, &step->cond));
  PJRT_ASSIGN_OR_RETURN(const ArrayView pred,
                        lowering.Dense(lowering.view(cond.terminator()->operand(0)), &step->cond));
  step->pred = pred.buffer;
  plan.Touch(pred.buffer);
  const int32_t body_begin = plan.position();
  PJRT_RETURN_IF_ERROR(lowering.LowerBlock(body, &step->body));
  const ir::Op& end = *body.terminator();
  std::vector<ArrayView> results(op.num_operands());
  absl::flat_hash_map<BufferId, size_t> carried_in;
  for (size_t k = 0; k < carried.size(); ++k) {
    if (!lowering.IsToken(op.operand(k))) carried_in[carried[k].buffer] = k;
  }
  // New values that are (parts of) other carried values are saved before any of those is
  // overwritten.
  for (size_t i = 0; i < op.num_operands(); ++i) {
    if (lowering.IsToken(end.operand(i))) continue;
    results[i] = lowering.view(end.operand(i));
    if (results[i].kind != ArrayView::kBuffer) continue;
    const BufferId whole = plan.WholeOf(results[i].buffer);
    const auto it = carried_in.find(whole);
    if (it == carried_in.end() ||
        (it->second == i && whole == results[i].buffer && IsWhole(lowering, results[i])))
      continue;
    const ArrayView saved = lowering.NewArray(results[i].type, results[i].dims);
    PJRT_RETURN_IF_ERROR(lowering.Copy(results[i], saved, &step->body));
    results[i] = saved;
  }
  TouchAll(lowering, results);
  for (size_t i = 0; i < op.num_operands(); ++i) {
    if (lowering.IsToken(end.operand(i))) continue;
    PJRT_RETURN_IF_ERROR(Yield(lowering, results[i], carried[i], body_begin, &step->body));
  }
  std::vector<BufferId> touched;
  for (size_t i = 0; i < carried.size(); ++i) {
    if (!lowering.IsToken(op.operand(i))) touched.push_back(carried[i].buffer);
  }
  plan.ExtendOverLoop(begin);
  step->Estimate();
  plan.Emit(steps, std::move(step), {}, touched);
  return absl::OkStatus();
}

// `if` is a case of two branches, the second for a false predicate.
absl::Status LowerCase(Lowering& lowering, const ir::Op& op, Steps* steps) {
  PlanBuilder& plan = lowering.plan();
  PJRT_ASSIGN_OR_RETURN(const ArrayView index, lowering.Dense(lowering.view(op.operand(0)), steps));
  std::vector<ArrayView> results(op.num_results());
  std::vector<BufferId> touched;
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (op.result_type(i).IsToken()) {
      lowering.BindToken(op.result(i));
      continue;
    }
    if (!op.result_type(i).IsTensor())
      return UnsupportedOp(op, "branches can return tensors and tokens only");
    results[i] = lowering.NewArray(op.result_type(i));
    touched.push_back(results[i].buffer);
    lowering.Bind(op.result(i), results[i]);
  }
  auto step = std::make_unique<CaseStep>();
  step->index = index.buffer;
  step->is_predicate = op.Is(ir::OpCode::kIf);
  plan.Touch(index.buffer);
  for (size_t b = 0; b < op.num_regions(); ++b) {
    const ir::Block& block = *op.region(b)->block();
    const int32_t begin = plan.position();
    Steps& branch = step->branches.emplace_back();
    PJRT_RETURN_IF_ERROR(lowering.LowerBlock(block, &branch));
    const ir::Op& end = *block.terminator();
    std::vector<ArrayView> returned(op.num_results());
    for (size_t i = 0; i < op.num_results(); ++i) {
      if (!lowering.IsToken(end.operand(i))) returned[i] = lowering.view(end.operand(i));
    }
    TouchAll(lowering, returned);
    for (size_t i = 0; i < op.num_results(); ++i) {
      if (lowering.IsToken(end.operand(i))) continue;
      PJRT_RETURN_IF_ERROR(Yield(lowering, returned[i], results[i], begin, &branch));
    }
  }
  step->Estimate();
  plan.Emit(steps, std::move(step), {index.buffer}, touched);
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
