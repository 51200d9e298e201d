// SPDX-License-Identifier: Apache-2.0
//
// Applies a body to each element of arrays.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_MAP_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_MAP_STEP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct MapParams {
  int64_t count = 0;
  std::vector<std::pair<PrimitiveType, BufferId>> inputs;  // dense
  PrimitiveType result_type = F32;
  BufferId result = kNoBuffer;
  std::shared_ptr<const BodyKernel> body;  // a parameter an input, one result
  const BlockKernels* kernels = nullptr;
};

class MapStep final : public Step {
 public:
  explicit MapStep(MapParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override;

 private:
  void RunBlock(const RunContext& context, int64_t block, char* scratch) const;

  MapParams p_;
  int64_t block_ = 1;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_MAP_STEP_H_
