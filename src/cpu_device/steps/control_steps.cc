// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/control_steps.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "src/core/base/status_macros.h"

namespace pjrt::cpu {
namespace {

// A loop is taken to run this often when its cost is estimated: what matters is that a program with
// loops counts as more than a moment's work.
constexpr double kAssumedIterations = 100;

void Sum(const Steps& steps, double* cost, int64_t* scratch) {
  for (const std::unique_ptr<Step>& step : steps) {
    *cost += step->cost_ns();
    *scratch = std::max(*scratch, step->scratch_bytes());
  }
}

}  // namespace

void WhileStep::Estimate() {
  double once = 0;
  Sum(cond, &once, &scratch_bytes_);
  Sum(body, &once, &scratch_bytes_);
  cost_ns_ = kAssumedIterations * once;
}

absl::Status WhileStep::Run(const RunContext& context) const {
  while (true) {
    PJRT_RETURN_IF_ERROR(RunSteps(cond, context));
    if (*context.buffer(pred) == 0) return absl::OkStatus();
    PJRT_RETURN_IF_ERROR(RunSteps(body, context));
  }
}

std::string WhileStep::Describe() const {
  return absl::StrCat("while: ", cond.size(), " + ", body.size(), " steps");
}

void CaseStep::Estimate() {
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

std::string CaseStep::Describe() const {
  return absl::StrCat("case: ", branches.size(), " branches");
}

std::vector<const Steps*> CaseStep::nested() const {
  std::vector<const Steps*> all;
  for (const Steps& branch : branches) all.push_back(&branch);
  return all;
}

}  // namespace pjrt::cpu
