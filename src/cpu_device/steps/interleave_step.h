// SPDX-License-Identifier: Apache-2.0
//
// concatenate of a few columns that lie apart: arrays stacked along a last dimension, pairs put
// together again. Written one after the other, each would go over all lines of the result.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_INTERLEAVE_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_INTERLEAVE_STEP_H_

#include <string>
#include <vector>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/view_walk.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class InterleaveStep final : public Step {
 public:
  // One element of each point, as its array shows them.
  struct Column {
    BufferId buffer = kNoBuffer;
    ViewWalk walk;
  };
  // The result has a row of one element of each column for each of `points` points, densely.
  // Elements are of 1, 2, 4 or 8 bytes. `kernels` must outlive the step.
  InterleaveStep(std::vector<Column> columns, int64_t points, int element_size, BufferId result,
                 const BlockKernels& kernels);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override;

 private:
  void RunBlock(const RunContext& context, int64_t from, int64_t n, char* scratch) const;

  std::vector<Column> columns_;
  int64_t points_, size_, block_;
  BufferId result_;
  const BlockKernels& kernels_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_INTERLEAVE_STEP_H_
