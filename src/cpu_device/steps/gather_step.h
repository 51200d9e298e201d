// SPDX-License-Identifier: Apache-2.0
//
// gather: a window of the operand for each index vector.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_

#include <string>
#include <vector>

#include "src/cpu_device/kernels/index_ops.h"
#include "src/cpu_device/run/index_walk.h"
#include "src/cpu_device/run/nd_copy.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct GatherParams {
  int element_size = 4;
  // A dim of the windows that lies outside of the points in the result, as the rows do when columns
  // are gathered: all points have an element (or a window of the dims that are left) at each of its
  // places, next to each other. Strides in elements.
  struct OuterDim {
    int64_t size = 1, array_stride = 0, result_stride = 0;
  };
  std::vector<OuterDim> outer;  // outermost first
  NdCopy window;                // of the other dims, array to result
  BufferId array = kNoBuffer, indices = kNoBuffer, result = kNoBuffer;
  int64_t array_offset = 0, indices_offset = 0;  // in bytes
  const IndexKernels* kernels = nullptr;
};

class GatherStep final : public Step {
 public:
  // `walk` clamps indices; its windows are the result's.
  GatherStep(IndexWalk walk, GatherParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  bool EmitScalar(ScalarAssembler* assembler) const override;
  double cost_ns() const override;

 private:
  // Points [begin, end) at places [first, last) of the outer dims.
  void RunPoints(const RunContext& context, int64_t begin, int64_t end, int64_t first,
                 int64_t last) const;
  void Move(const char* array, char* result, int64_t result_stride, const int64_t* offsets,
            int64_t n) const;
  IndexWalk walk_;
  GatherParams p_;
  int64_t places_ = 1;        // of the outer dims
  bool is_streamed_ = false;  // too much for the caches
  int64_t points_per_unit_, places_per_unit_;
  int64_t held_places_ = 1;  // what one thread goes to at a time with all points
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_
