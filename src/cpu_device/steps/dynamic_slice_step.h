// SPDX-License-Identifier: Apache-2.0
//
// dynamic_slice and dynamic_update_slice: a box at a place that is computed.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_DYNAMIC_SLICE_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_DYNAMIC_SLICE_STEP_H_

#include <string>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/run/nd_copy.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// Where the box begins: an index a dim, clamped so that the box lies within the array.
struct SliceStart {
  struct Index {
    PrimitiveType type = S32;
    BufferId buffer = kNoBuffer;  // kNoBuffer: `constant`
    int64_t offset = 0;           // in elements
    int64_t constant = 0;
    int64_t limit = 0;   // the largest start
    int64_t stride = 0;  // of the array, in elements
  };
  std::vector<Index> indices;
  int64_t Offset(const RunContext& context) const;
};

// Copies the box between an array and a dense buffer: out of the array (a slice), or into it (an
// update). Offsets are in elements, of `element_size` bytes.
class DynamicSliceStep final : public Step {
 public:
  DynamicSliceStep(SliceStart start, NdCopy copy, BufferId from, int64_t from_offset, BufferId to,
                   int64_t to_offset, bool is_update, int element_size)
      : start_(std::move(start)),
        copy_(std::move(copy)),
        from_(from),
        to_(to),
        from_offset_(from_offset),
        to_offset_(to_offset),
        is_update_(is_update),
        size_(element_size) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  bool EmitScalar(ScalarAssembler* assembler) const override;
  double cost_ns() const override { return 20 + static_cast<double>(copy_.bytes()) / 8; }

 private:
  SliceStart start_;
  NdCopy copy_;
  BufferId from_, to_;
  int64_t from_offset_, to_offset_;
  bool is_update_;
  int size_;
};

// Finds where a slice begins in its array, for steps that read it there: the buffer `part` is that
// place. The offset is in elements, of `element_size` bytes.
class FindSliceStep final : public Step {
 public:
  FindSliceStep(SliceStart start, BufferId array, int64_t offset, BufferId part, int element_size)
      : start_(std::move(start)),
        array_(array),
        part_(part),
        offset_(offset),
        size_(element_size) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override { return "dynamic_slice in place"; }
  double cost_ns() const override { return 10; }

 private:
  SliceStart start_;
  BufferId array_, part_;
  int64_t offset_;
  int size_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_DYNAMIC_SLICE_STEP_H_
