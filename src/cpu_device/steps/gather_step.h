// SPDX-License-Identifier: Apache-2.0
//
// gather: a window of the operand for each index vector.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_

#include <string>
#include <utility>

#include "src/cpu_device/kernels/index_ops.h"
#include "src/cpu_device/run/index_walk.h"
#include "src/cpu_device/run/nd_copy.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct GatherParams {
  int element_size = 4;
  NdCopy window;  // array to result
  BufferId array = kNoBuffer, indices = kNoBuffer, result = kNoBuffer;
  int64_t array_offset = 0, indices_offset = 0;  // in bytes
  const IndexKernels* kernels = nullptr;
};

class GatherStep final : public Step {
 public:
  // `walk` clamps indices; its windows are the result's.
  GatherStep(IndexWalk walk, GatherParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  bool EmitScalar(ScalarAssembler* assembler) const override;
  double cost_ns() const override;

 private:
  void RunPoints(const RunContext& context, int64_t begin, int64_t end) const;
  IndexWalk walk_;
  GatherParams p_;
  int64_t points_per_unit_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_
