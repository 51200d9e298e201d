// SPDX-License-Identifier: Apache-2.0
//
// gather: a window of the operand for each index vector.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_

#include <string>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/run/nd_copy.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// The points of an index space (the batch dims of gather and scatter), with where each stands in
// several arrays. Point i is walked in row-major order.
struct IndexSpace {
  Dims dims;
  Dims index_strides;   // in the array of indices
  Dims window_strides;  // in the array that holds the windows: gather's result, scatter's updates
  Dims array_strides;   // in the array that is indexed: of batching dims, 0 for others
  int64_t count() const {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }
};

// One component of an index vector.
struct IndexComponent {
  int64_t index_offset = 0;  // where it stands from the vector's first component, in elements
  int64_t limit = 0;         // the largest start at which the window lies within the array
  int64_t stride = 0;        // of the array's dim
};

struct GatherParams {
  IndexSpace space;
  std::vector<IndexComponent> components;
  PrimitiveType index_type = S32;
  int element_size = 4;
  NdCopy window;  // array to result
  BufferId array = kNoBuffer, indices = kNoBuffer, result = kNoBuffer;
  int64_t array_offset = 0, indices_offset = 0;
};

class GatherStep final : public Step {
 public:
  explicit GatherStep(GatherParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  bool EmitScalar(ScalarAssembler* assembler) const override;
  double cost_ns() const override;

 private:
  void RunPoints(const RunContext& context, int64_t begin, int64_t end) const;
  GatherParams p_;
  int64_t points_, points_per_unit_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_GATHER_STEP_H_
