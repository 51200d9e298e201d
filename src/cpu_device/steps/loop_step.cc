// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/loop_step.h"

#include <utility>

#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {

LoopStep::LoopStep(std::unique_ptr<LoopKernel> kernel, std::vector<BufferId> inputs,
                   std::vector<BufferId> outputs, std::string what)
    : kernel_(std::move(kernel)),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      what_(std::move(what)) {
  kernel_scratch_bytes_ = AlignUp(kernel_->scratch_bytes());
  pointer_bytes_ = static_cast<int64_t>((inputs_.size() + outputs_.size()) * sizeof(char*));
  scratch_bytes_ = kernel_scratch_bytes_ + pointer_bytes_;
}

// Scratch: the kernel's, then (the master's only) the base pointers.
absl::Status LoopStep::Run(const RunContext& context) const {
  char** pointers = reinterpret_cast<char**>(context.member_scratch(0) + kernel_scratch_bytes_);
  char** const inputs = pointers;
  for (BufferId id : inputs_) *pointers++ = context.buffer(id);
  char** const outputs = pointers;
  for (BufferId id : outputs_) *pointers++ = context.buffer(id);
  const int64_t units = kernel_->num_units();
  if (units <= 1 || context.team == nullptr || context.team->size() == 1) {
    kernel_->Run(inputs, outputs, 0, units, context.member_scratch(0));
    return absl::OkStatus();
  }
  context.team->ParallelFor(units, [&](int64_t unit, int member) {
    kernel_->Run(inputs, outputs, unit, unit + 1, context.member_scratch(member));
  });
  return absl::OkStatus();
}

bool LoopStep::EmitScalar(ScalarAssembler* assembler) const {
  return EmitScalarLoop(kernel_->program(), inputs_, outputs_, assembler);
}

}  // namespace pjrt::cpu
