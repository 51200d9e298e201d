// SPDX-License-Identifier: Apache-2.0
//
// reduce_window with a reduction that has kernels.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_WINDOW_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_WINDOW_STEP_H_

#include <string>
#include <vector>

#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/type_change.h"
#include "src/cpu_device/kernels/window.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct WindowParams {
  PrimitiveType type = F32;
  Monoid monoid = Monoid::kAdd;
  struct Dim {
    int64_t input_size = 1, output_size = 1, window = 1, stride = 1, padding_low = 0,
            base_dilation = 1, window_dilation = 1;
  };
  absl::InlinedVector<Dim, 4> dims;                                    // of the operand, row-major
  BufferId operand = kNoBuffer, init = kNoBuffer, result = kNoBuffer;  // dense
  int64_t operand_offset = 0, init_offset = 0;                         // in elements
};

// Whether results depend on the order of the operations.
inline bool IsOrdered(Monoid monoid, PrimitiveType type) {
  return (monoid == Monoid::kAdd || monoid == Monoid::kMultiply) &&
         (IsFloating(type) || IsComplex(type));
}

// A window is reduced over its outer dims first, where whole lines of the operand combine, then
// along the lines; sums and products of floats, which depend on the order, line after line, rounded
// after each operation. A place that shows padding counts as the initial value.
class WindowStep final : public Step {
 public:
  WindowStep(const WindowParams& params, const Kernels& kernels);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override;

  // Whether there are kernels for the reduction in the type, and windows are not too large.
  static bool Suits(const WindowParams& params, const Kernels& kernels);

 private:
  struct Scratch;
  // Runs one line, or a part of one: places [first, first + count) of it, or elements if lines have
  // no window.
  void RunPiece(const RunContext& context, int64_t line, int64_t first, int64_t count,
                const Scratch& scratch) const;
  // The first elements of the operand's lines that meet in output line `line`, null for padding.
  void FindLines(const char* operand, int64_t line, const char** rows) const;
  // n elements of each of `count` rows from `skip` on, combined, in the compute type. A null row
  // holds initial values.
  void Fold(const char* const* rows, int64_t count, int64_t skip, int64_t n, char* to,
            const Scratch& scratch) const;
  // The rows combined, dilated and padded: `span` elements of the dim that the window slides over,
  // from `begin` of the dilated line. In scratch memory, or where they are.
  const char* Line(const char* const* rows, int64_t count, int64_t begin, int64_t span,
                   const Scratch& scratch) const;
  // The windows along a line, from `init` on, or where it is null from what `to` holds.
  void FoldWindows(char* to, const char* line, int64_t places, const char* init) const;
  void Store(char* to, char* from, int64_t n, const Scratch& scratch) const;

  const WindowParams p_;
  const CType compute_;
  const int size_, compute_size_;
  const FoldRowsFn fold_rows_;
  const FoldWindowFn fold_window_;
  const FillFn fill_;
  const bool ordered_;  // the order of the operations shows in the result
  const TypeChange load_, store_;
  const ConvertFn round_;  // what rounds ordered results to their type; null for nothing
  absl::InlinedVector<WindowParams::Dim, 4> outer_;
  bool has_along_ = false;   // lines have a window
  WindowParams::Dim along_;  // the dim of a line that the window slides over
  int64_t inner_ = 1;        // elements behind it
  int64_t rows_ = 1;         // window elements over the outer dims
  int64_t lines_ = 1;        // of the result
  int64_t places_ = 1;       // of a line: along_.output_size, or inner_ without a window
  int64_t piece_ = 1, pieces_ = 1, pieces_per_unit_ = 1;
  int64_t span_ = 1;  // elements of a line that a piece sees, padding included
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_WINDOW_STEP_H_
