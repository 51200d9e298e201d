// SPDX-License-Identifier: Apache-2.0
//
// scatter: combines a window of the updates with the operand for each index vector, in the order of
// the vectors. Combined in place: the operand has been copied to the result before.
//
// A window that is one run of elements, replaced or combined by a known operation, is the common
// case and has a kernel of its own. Several threads share long runs by taking a piece of each, so
// that each element sees its updates in order. Short runs that are combined by a body, or in
// another type than they lie in memory, are combined by the batch: as many as follow each other
// with no two of the same place.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SCATTER_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SCATTER_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/index_ops.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/index_walk.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct ScatterParams {
  PrimitiveType index_type = S32;
  BufferId indices = kNoBuffer;
  int64_t indices_offset = 0;  // in bytes
  // A dim of the results: how the window lies in it.
  struct Dim {
    int64_t size = 0;  // -1: a batching dim, never out of bounds
    int64_t array_stride = 0;
    int64_t window_size = 1;
    int64_t window_stride = 0;  // in the updates
    // Of its component in the index vector; -1: it has none and starts at 0.
    int64_t index_offset = -1;
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
  BlockFn op = nullptr;          // one array
  ScatterRowsFn rows = nullptr;  // one array: does the same to rows; null when there is no kernel
  std::shared_ptr<BodyKernel> body;
  const BlockKernels* kernels = nullptr;
  const IndexKernels* index_kernels = nullptr;
};

class ScatterStep final : public Step {
 public:
  // `walk` checks indices; its windows are the updates'.
  ScatterStep(IndexWalk walk, ScatterParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  bool EmitScalar(ScalarAssembler* assembler) const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  // Elements [first, last) of all windows that are one run.
  void RunRows(const RunContext& context, int64_t first, int64_t last) const;
  // The window of one index vector, whatever its shape; parts outside of the results are dropped.
  void RunWindow(const RunContext& context, int64_t index, int64_t update_at,
                 int64_t array_at) const;
  // Combines n updates, walked with the given strides, into the results.
  void Combine(const RunContext& context, int64_t array_at, int64_t array_stride, int64_t update_at,
               int64_t update_stride, int64_t n) const;
  void CombineLoaded(const RunContext& context, int64_t array_at, int64_t array_stride,
                     int64_t update_at, int64_t update_stride, int64_t n) const;
  // Combines the elements of each array's slots 0 and 1 to slot 2, as they are computed with.
  void CombineSlots(char* scratch, int64_t n) const;
  char* Slot(char* scratch, int kind, size_t array) const;
  bool IsConverted() const;
  void RunBatches(const RunContext& context) const;
  // n runs at different offsets; the updates are at `updates`, in elements.
  void CombineBatch(const RunContext& context, const int64_t* offsets, const int64_t* updates,
                    int64_t n) const;

  IndexWalk walk_;
  ScatterParams p_;
  int64_t window_count_ = 1;
  int64_t row_length_ = 0;       // of windows that are one run; 0: they are not, or have no kernel
  bool may_be_partial_ = false;  // a window may lie partly outside
  int64_t max_parts_ = 1;        // of each run, for several threads
  int64_t batch_length_ = 0;     // of runs that are combined by the batch; 0: they are not
  int64_t max_batch_ = 0;        // runs
  int64_t seen_bytes_ = 0;       // of the offsets of a batch
  int64_t block_ = 256;
  int64_t scratch_bytes_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SCATTER_STEP_H_
