// SPDX-License-Identifier: Apache-2.0
//
// A step that runs a loop program.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_LOOP_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_LOOP_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class LoopStep final : public Step {
 public:
  // `inputs` and `outputs`: the buffers behind the kernel's base pointers, in its order. `what`
  // describes the loop in one line.
  LoopStep(std::unique_ptr<LoopKernel> kernel, std::vector<BufferId> inputs,
           std::vector<BufferId> outputs, std::string what);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override { return what_; }
  double cost_ns() const override { return kernel_->cost_ns(); }
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  bool EmitScalar(ScalarAssembler* assembler) const override;
  const LoopKernel& kernel() const { return *kernel_; }

 private:
  std::unique_ptr<LoopKernel> kernel_;
  std::vector<BufferId> inputs_, outputs_;
  std::string what_;
  int64_t kernel_scratch_bytes_;
  int64_t pointer_bytes_;
  int64_t scratch_bytes_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_LOOP_STEP_H_
