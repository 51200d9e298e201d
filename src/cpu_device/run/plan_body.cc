// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/run/plan_body.h"

#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kSlot = 64;  // bytes for an element, so that each is aligned

int ComputeSize(PrimitiveType type) { return kCTypeSize[static_cast<int>(ComputeTypeOf(type))]; }

}  // namespace

PlanBody::PlanBody(Plan plan, std::vector<PrimitiveType> params, std::vector<PrimitiveType> results,
                   const BlockKernels& kernels)
    : plan_(std::move(plan)),
      params_(std::move(params)),
      results_(std::move(results)),
      kernels_(kernels),
      team_(Team::Create(nullptr, 1)) {}

int64_t PlanBody::scratch_bytes() const {
  return kSlot * static_cast<int64_t>(params_.size() + results_.size()) + plan_.WorkspaceBytes(1);
}

void PlanBody::Call(const char* const* params, char* const* results, int64_t n,
                    char* scratch) const {
  absl::InlinedVector<const char*, 8> arguments;
  absl::InlinedVector<char*, 4> outputs;
  char* slot = scratch;
  for (size_t p = 0; p < params_.size(); ++p, slot += kSlot) arguments.push_back(slot);
  for (size_t r = 0; r < results_.size(); ++r, slot += kSlot) outputs.push_back(slot);
  for (int64_t i = 0; i < n; ++i) {
    for (size_t p = 0; p < params_.size(); ++p) {
      const int size = ComputeSize(params_[p]);
      char* to = scratch + static_cast<int64_t>(p) * kSlot;
      if (const ConvertFn store = kernels_.store[params_[p]]; store != nullptr) {
        store(to, params[p] + i * size, 1);
      } else {
        std::memcpy(to, params[p] + i * size, size);
      }
    }
    // A plan without side effects has nothing to report.
    (void)RunPlan(plan_, arguments, outputs, slot, team_.get(), RunInfo());
    for (size_t r = 0; r < results_.size(); ++r) {
      const int size = ComputeSize(results_[r]);
      if (const ConvertFn load = kernels_.load[results_[r]]; load != nullptr) {
        load(results[r] + i * size, outputs[r], 1);
      } else {
        std::memcpy(results[r] + i * size, outputs[r], size);
      }
    }
  }
}

}  // namespace pjrt::cpu
