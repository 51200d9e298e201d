// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/control_steps.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

void Sum(const Steps& steps, double* cost, int64_t* scratch) {
  for (const std::unique_ptr<Step>& step : steps) {
    *cost += step->cost_ns();
    *scratch = std::max(*scratch, step->scratch_bytes());
  }
}

bool EmitAll(const Steps& steps, ScalarAssembler* assembler) {
  for (const std::unique_ptr<Step>& step : steps) {
    assembler->BeginStep();
    if (!step->EmitScalar(assembler)) return false;
  }
  return true;
}

}  // namespace

void WhileStep::Estimate() {
  double once = 0;
  scratch_bytes_ = 0;
  Sum(cond, &once, &scratch_bytes_);
  Sum(body, &once, &scratch_bytes_);
  cost_ns_ = trips * once;
}

absl::Status WhileStep::Run(const RunContext& context) const {
  const char* const go_on = context.buffer(pred);
  PJRT_RETURN_IF_ERROR(RunSteps(cond, context));
  while (*go_on != 0) {
    PJRT_RETURN_IF_ERROR(RunSteps(body, context));
    if (!body_does_cond_) PJRT_RETURN_IF_ERROR(RunSteps(cond, context));
  }
  return absl::OkStatus();
}

void WhileStep::RewriteRegions(RewriteFn rewrite) {
  body_does_cond_ = rewrite(&body, &cond);
  rewrite(&cond, nullptr);
  Estimate();
}

// The condition is written before the body and again behind it, so that an iteration has one jump;
// once where it holds regions of its own, which would double with each level.
bool WhileStep::EmitScalar(ScalarAssembler* assembler) const {
  const bool once = std::any_of(cond.begin(), cond.end(),
                                [](const auto& step) { return !step->nested().empty(); });
  const ScalarAssembler::Label again = assembler->NewLabel(), end = assembler->NewLabel();
  if (once) assembler->Bind(again);
  if (!EmitAll(cond, assembler)) return false;
  assembler->JumpIf(pred, false, end);
  if (!once) assembler->Bind(again);
  if (!EmitAll(body, assembler)) return false;
  if (once) {
    assembler->Jump(again);
  } else {
    if (!EmitAll(cond, assembler)) return false;
    assembler->JumpIf(pred, true, again);
  }
  assembler->Bind(end);
  return true;
}

std::string WhileStep::Describe() const {
  return absl::StrCat("while: ", cond.size(), " + ", body.size(), " steps");
}

void CaseStep::Estimate() {
  cost_ns_ = 0;
  scratch_bytes_ = 0;
  for (const Steps& branch : branches) {
    double cost = 0;
    Sum(branch, &cost, &scratch_bytes_);
    cost_ns_ = std::max(cost_ns_, cost);
  }
}

absl::Status CaseStep::Run(const RunContext& context) const {
  int64_t chosen;
  if (is_predicate) {
    chosen = *context.buffer(index) != 0 ? 0 : 1;
  } else {
    int32_t value;
    std::memcpy(&value, context.buffer(index), sizeof(value));
    chosen = value;
    if (chosen < 0 || chosen >= static_cast<int64_t>(branches.size()))
      chosen = static_cast<int64_t>(branches.size()) - 1;
  }
  return RunSteps(branches[chosen], context);
}

void CaseStep::RewriteRegions(RewriteFn rewrite) {
  for (Steps& branch : branches) rewrite(&branch, nullptr);
  Estimate();
}

bool CaseStep::EmitScalar(ScalarAssembler* assembler) const {
  std::vector<ScalarAssembler::Label> labels(branches.size());
  for (ScalarAssembler::Label& label : labels) label = assembler->NewLabel();
  const ScalarAssembler::Label end = assembler->NewLabel();
  assembler->BeginStep();
  if (is_predicate) {
    assembler->JumpIf(index, false, labels[1]);
  } else if (labels.size() > 1) {
    assembler->Switch(index, labels);
  }
  for (size_t b = 0; b < branches.size(); ++b) {
    assembler->Bind(labels[b]);
    if (!EmitAll(branches[b], assembler)) return false;
    if (b + 1 < branches.size()) assembler->Jump(end);
  }
  assembler->Bind(end);
  return true;
}

std::string CaseStep::Describe() const {
  return absl::StrCat("case: ", branches.size(), " branches");
}

std::vector<const Steps*> CaseStep::nested() const {
  std::vector<const Steps*> all;
  for (const Steps& branch : branches) all.push_back(&branch);
  return all;
}

}  // namespace pjrt::cpu
