// SPDX-License-Identifier: Apache-2.0
//
// A step that runs a scalar program: loops, branches and arithmetic on single elements.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SCALAR_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SCALAR_STEP_H_

#include <string>
#include <utility>

#include "src/cpu_device/run/plan.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {

class ScalarStep final : public Step {
 public:
  // `steps`: how many steps the program stands for; `cost_ns`: an estimate of its time.
  ScalarStep(ScalarProgram program, int steps, double cost_ns)
      : program_(std::move(program)), steps_(steps), cost_ns_(cost_ns) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return cost_ns_; }
  int64_t scratch_bytes() const override { return int64_t{8} * program_.num_registers; }
  const ScalarProgram& program() const { return program_; }

 private:
  ScalarProgram program_;
  int steps_;
  double cost_ns_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SCALAR_STEP_H_
