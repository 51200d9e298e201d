// SPDX-License-Identifier: Apache-2.0
//
// Cumulative reductions: out[i] = in[0] op in[1] op ... op in[i] along one dim.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SCAN_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SCAN_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/window.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct ScanParams {
  int64_t length = 0;       // of the scanned dim
  bool is_reverse = false;  // from the last element to the first
  // Lines in blocks: `outer` of them, each `inner` lines that are `line_stride` elements apart.
  int64_t outer = 1, inner = 1;
  struct Array {
    PrimitiveType type = F32;
    BufferId from = kNoBuffer, to = kNoBuffer, init = kNoBuffer;
    int64_t from_offset = 0, init_offset = 0;
  };
  std::vector<Array> arrays;
  // Strides in elements, the same for all arrays, dense: of the scanned dim, of lines within a
  // block, of blocks.
  int64_t scan_stride = 1, line_stride = 1, outer_stride = 1;
  BlockFn op = nullptr;  // one array, in its compute type
  // The same of elements as they lie in memory, where that is another type; null for none.
  BlockFn stored_op = nullptr;
  // Both along lines of neighbours. Null where there is none.
  ScanRowsFn scan_rows = nullptr, scan_stored_rows = nullptr;
  bool scans_stream = false;  // WindowKernels::scans_stream
  // What rounds the running values of `op` to their type after each step; null for nothing.
  ConvertFn round = nullptr;
  std::shared_ptr<BodyKernel> body;  // any number; rounds by itself
  const BlockKernels* kernels = nullptr;
};

class ScanStep final : public Step {
 public:
  explicit ScanStep(ScanParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override { return scratch_bytes_; }

 private:
  // Of a block: how many, and the element that begins the first.
  struct Lines {
    int64_t n, base;
  };
  Lines LinesOf(int64_t block) const;
  void RunBlock(const RunContext& context, int64_t block, char* scratch) const;
  // One array and an operation: lines next to each other, row by row; lines apart, by the kernel
  // for them, at once, streamed together or by stretches of each, or, also with a body, turned by
  // tiles.
  void RunRowByRow(const RunContext& context, int64_t block, char* scratch) const;
  void RunAlongLines(const RunContext& context, int64_t block, char* scratch) const;
  void RunTogether(const RunContext& context, int64_t block, char* scratch) const;
  void RunByStretches(const RunContext& context, int64_t block, char* scratch) const;
  void RunTurned(const RunContext& context, int64_t block, char* scratch) const;
  // The initial value, in its compute type or as it lies in memory, n times.
  void FillInit(const RunContext& context, char* to, int64_t n, bool is_stored = false) const;
  enum Method : uint8_t { kRowByRow, kAlongLines, kTogether, kByStretches, kTurned, kMoved };
  ScanParams p_;
  Method method_ = kMoved;
  bool converts_ = false;     // stretches
  bool is_streamed_ = false;  // too much for the caches
  int64_t lines_ = 64;        // in a block
  int64_t along_ = 0;         // lines that follow each other: those at a time
  int64_t apart_ = 1;         // stretches: from one line of a block to its next
  int64_t blocks_per_outer_;
  int64_t scratch_bytes_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SCAN_STEP_H_
