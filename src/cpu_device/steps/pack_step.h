// SPDX-License-Identifier: Apache-2.0
//
// Between packed device memory of 1-, 2- and 4-bit types and the one byte an element that kernels
// work on.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_PACK_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_PACK_STEP_H_

#include <cstdint>
#include <string>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class UnpackStep final : public Step {
 public:
  // bits: 1, 2 or 4.
  UnpackStep(BufferId from, BufferId to, int64_t count, int bits, bool sign_extend,
             const BlockKernels& kernels);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return 20 + static_cast<double>(count_) / 20; }

 private:
  BufferId from_, to_;
  int64_t count_;
  int bits_;
  ConvertFn unpack_;
};

class PackStep final : public Step {
 public:
  PackStep(BufferId from, BufferId to, int64_t count, int bits, const BlockKernels& kernels);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return 20 + static_cast<double>(count_) / 20; }

 private:
  BufferId from_, to_;
  int64_t count_;
  int bits_;
  ConvertFn pack_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_PACK_STEP_H_
