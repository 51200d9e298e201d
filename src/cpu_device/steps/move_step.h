// SPDX-License-Identifier: Apache-2.0
//
// A step that copies a box of elements from one strided array to another.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_MOVE_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_MOVE_STEP_H_

#include <string>
#include <utility>

#include "src/cpu_device/run/nd_copy.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class MoveStep final : public Step {
 public:
  // Offsets in bytes: where the box's elements of lowest index stand.
  MoveStep(NdCopy copy, BufferId from, int64_t from_offset, BufferId to, int64_t to_offset)
      : copy_(std::move(copy)),
        from_(from),
        to_(to),
        from_offset_(from_offset),
        to_offset_(to_offset) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  bool EmitScalar(ScalarAssembler* assembler) const override;
  double cost_ns() const override { return 5 + copy_.cost_ns(); }

 private:
  NdCopy copy_;
  BufferId from_, to_;
  int64_t from_offset_, to_offset_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_MOVE_STEP_H_
