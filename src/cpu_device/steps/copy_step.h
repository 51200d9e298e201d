// SPDX-License-Identifier: Apache-2.0
//
// A step that copies bytes, unless buffer assignment has put source and destination in the same
// place.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_COPY_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_COPY_STEP_H_

#include <string>

#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class CopyStep final : public Step {
 public:
  // Of elements of `size` bytes. Offsets in bytes.
  CopyStep(BufferId from, int64_t from_offset, BufferId to, int64_t to_offset, int64_t bytes,
           int size)
      : from_(from),
        to_(to),
        size_(size),
        from_offset_(from_offset),
        to_offset_(to_offset),
        bytes_(bytes) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  bool EmitScalar(ScalarAssembler* assembler) const override;
  double cost_ns() const override { return 5 + static_cast<double>(bytes_) / 8; }

 private:
  BufferId from_, to_;
  int size_;
  int64_t from_offset_, to_offset_, bytes_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_COPY_STEP_H_
