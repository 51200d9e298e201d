// SPDX-License-Identifier: Apache-2.0
//
// select_and_scatter: for each place of a window, one element of the operand is selected, and the
// source's element is scattered to where that stood.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_SELECT_AND_SCATTER_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_SELECT_AND_SCATTER_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/types/span.h"
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
  bool scatter_adds = false;  // the scatter is an addition
  const BlockKernels* kernels = nullptr;
};

// Neighbouring places along the last dim that has a window are computed together, with all elements
// that stand behind it. Windows overlap in the result, so the outermost dim alone is split over
// threads, and only where its windows do not overlap.
class SelectAndScatterStep final : public Step {
 public:
  explicit SelectAndScatterStep(SelectAndScatterParams params);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override;

 private:
  struct Piece;
  struct Scratch;
  struct Range {
    int64_t begin, end;
  };
  const char* Candidates(const char* operand, const Piece& piece, int64_t at, int64_t begin,
                         int64_t end, const Scratch& scratch) const;
  void Select(const char* operand, const Piece& piece, int64_t at, int64_t begin, int64_t end,
              Scratch* scratch) const;
  void Scatter(char* result, const char* source, const int64_t* at, int64_t n,
               const Scratch& scratch) const;
  void RunPiece(const RunContext& context, int64_t number, absl::Span<const int64_t> place,
                const Piece& piece, Scratch* scratch) const;
  void RunPlaces(const RunContext& context, int64_t begin, int64_t end, char* memory) const;

  SelectAndScatterParams p_;
  std::vector<SelectAndScatterParams::Dim> outer_;
  SelectAndScatterParams::Dim along_;  // the last dim with a window
  std::vector<Range> shown_;           // places along it that see an element, for each tap
  int64_t inner_ = 1;                  // elements behind it
  int64_t places_ = 1;                 // of the outer dims
  int64_t inner_places_ = 1;           // of those, behind the outermost
  // Of a piece: places along the line, and elements behind each.
  int64_t line_places_ = 1, lanes_ = 1;
  bool splits_outer_ = false;
  int64_t body_bytes_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_SELECT_AND_SCATTER_STEP_H_
