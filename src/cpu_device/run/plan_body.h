// SPDX-License-Identifier: Apache-2.0
//
// A body that is more than a straight line of instructions on scalars, one with a loop or with
// arrays in it: a plan of its own that is run for each element.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_PLAN_BODY_H_
#define PJRT_SRC_CPU_DEVICE_RUN_PLAN_BODY_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {

class PlanBody final : public BodyKernel {
 public:
  // `plan` takes and makes one element of each of these types, each in whole bytes, and cannot
  // fail: it has no side effects and calls nothing.
  PlanBody(Plan plan, std::vector<PrimitiveType> params, std::vector<PrimitiveType> results,
           const BlockKernels& kernels);
  int64_t scratch_bytes() const override;
  void Call(const char* const* params, char* const* results, int64_t n,
            char* scratch) const override;
  int64_t max_block() const override { return 256; }

 private:
  Plan plan_;
  std::vector<PrimitiveType> params_, results_;
  const BlockKernels& kernels_;
  std::shared_ptr<Team> team_;  // of one: whoever calls the body has threads enough
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_PLAN_BODY_H_
