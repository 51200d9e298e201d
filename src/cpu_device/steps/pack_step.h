// SPDX-License-Identifier: Apache-2.0
//
// Between packed device memory of 1-, 2- and 4-bit types and the one byte an element that kernels
// work on.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_PACK_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_PACK_STEP_H_

#include <array>
#include <cstdint>
#include <string>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class UnpackStep final : public Step {
 public:
  // bits: 1, 2 or 4.
  UnpackStep(BufferId from, BufferId to, int64_t count, int bits, bool sign_extend);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return static_cast<double>(count_) / 4; }

 private:
  BufferId from_, to_;
  int64_t count_;
  int bits_;
  std::array<uint64_t, 256> elements_;  // of each byte, the first one lowest
};

class PackStep final : public Step {
 public:
  PackStep(BufferId from, BufferId to, int64_t count, int bits)
      : from_(from), to_(to), count_(count), bits_(bits) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return static_cast<double>(count_); }

 private:
  BufferId from_, to_;
  int64_t count_;
  int bits_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_PACK_STEP_H_
