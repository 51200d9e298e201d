// SPDX-License-Identifier: Apache-2.0
//
// select_and_scatter: for each place of a window, one element of the operand is selected, and the
// source's element is scattered to where that stood.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SELECT_AND_SCATTER_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SELECT_AND_SCATTER_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct SelectAndScatterParams {
  PrimitiveType type = F32;
  struct Dim {
    int64_t size = 1;    // of the operand and the result
    int64_t places = 1;  // of the source
    int64_t window = 1, stride = 1, padding_low = 0;
  };
  std::vector<Dim> dims;  // all arrays are dense
  BufferId operand = kNoBuffer, source = kNoBuffer,
           result = kNoBuffer;          // the result holds the initial value already
  std::shared_ptr<BodyKernel> select;   // (selected, candidate) -> keep selected
  std::shared_ptr<BodyKernel> scatter;  // (result, source) -> result
  // The same as kernels, where the bodies are single operations; null otherwise.
  BlockFn select_op = nullptr, scatter_op = nullptr;
  const BlockKernels* kernels = nullptr;
};

// Lanes: when the innermost dim has a window of one element, neighbouring places along it are
// computed together. Windows overlap in the result, so the outermost dim alone is split over
// threads, and only where its windows do not overlap.
class SelectAndScatterStep final : public Step {
 public:
  explicit SelectAndScatterStep(SelectAndScatterParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  void RunPlaces(const RunContext& context, int64_t begin, int64_t end, char* scratch) const;
  SelectAndScatterParams p_;
  int64_t lanes_ = 1;  // places computed together
  int64_t lane_groups_ = 1;
  int64_t places_ = 1;        // of all dims but the lanes'
  int64_t inner_places_ = 1;  // of those, behind the outermost dim
  bool splits_outer_ = false;
  int64_t scratch_bytes_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SELECT_AND_SCATTER_STEP_H_
