// SPDX-License-Identifier: Apache-2.0
//
// A dynamic_slice of a concatenation, which then need not be made: a roll by a computed amount.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SLICE_PIECES_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SLICE_PIECES_STEP_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/run/plan.h"
#include "src/cpu_device/steps/dynamic_slice_step.h"

namespace pjrt::cpu {

// Pieces that follow each other in each row, and a window of each row, at one place in all.
class SlicePiecesStep final : public Step {
 public:
  struct Piece {
    BufferId buffer;
    int64_t offset;  // of its first row, in bytes; its rows follow each other
    int64_t bytes;   // of a row
  };
  // `start` counts points of `point_bytes`; a row of the result has `window` bytes.
  SlicePiecesStep(SliceStart start, std::vector<Piece> pieces, int64_t rows, int64_t point_bytes,
                  int64_t window, BufferId to, const BlockKernels& kernels)
      : start_(std::move(start)),
        pieces_(std::move(pieces)),
        rows_(rows),
        point_bytes_(point_bytes),
        window_(window),
        to_(to),
        copy_rows_(kernels.copy_rows) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return 20 + static_cast<double>(rows_ * window_) / 8; }

 private:
  SliceStart start_;
  std::vector<Piece> pieces_;
  int64_t rows_, point_bytes_, window_;
  BufferId to_;
  CopyRowsFn copy_rows_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SLICE_PIECES_STEP_H_
