// SPDX-License-Identifier: Apache-2.0
//
// scatter: combines windows of updates into arrays. Serial, in the order of the updates, so that
// the result is one that does not depend on threads.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SCATTER_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SCATTER_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"
#include "src/cpu_device/steps/gather_step.h"

namespace pjrt::cpu {

struct ScatterParams {
  IndexSpace space;  // window_strides: in the updates; array_strides: in the results
  PrimitiveType index_type = S32;
  BufferId indices = kNoBuffer;
  int64_t indices_offset = 0;
  // A dim of the results: how the window lies in it.
  struct Dim {
    int64_t size = 0;  // -1: a batching dim, never out of bounds
    int64_t array_stride = 0;
    int64_t window_size = 1;
    int64_t window_stride = 0;  // in the updates
    int64_t index_offset =
        -1;  // of its component in the index vector; -1: it has none and starts at 0
  };
  std::vector<Dim> dims;
  struct Array {
    PrimitiveType type = F32;
    BufferId result = kNoBuffer, update = kNoBuffer;
    int64_t update_offset = 0;
  };
  std::vector<Array> arrays;  // one an input; all are walked alike
  // How an update is combined: replaced, by an elementwise kernel, or by a body.
  enum Mode : uint8_t { kReplace, kOp, kBody };
  Mode mode = kReplace;
  BlockFn op = nullptr;
  std::shared_ptr<BodyKernel> body;
  const BlockKernels* kernels = nullptr;
};

class ScatterStep final : public Step {
 public:
  explicit ScatterStep(ScatterParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  bool EmitScalar(ScalarAssembler* assembler) const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  // Combines n updates, walked with the given strides, into the results.
  void Combine(const RunContext& context, int64_t array_at, int64_t array_stride, int64_t update_at,
               int64_t update_stride, int64_t n) const;
  ScatterParams p_;
  int64_t points_;
  int64_t block_ = 256;
  int64_t scratch_bytes_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SCATTER_STEP_H_
