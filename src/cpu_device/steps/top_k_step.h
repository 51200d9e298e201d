// SPDX-License-Identifier: Apache-2.0
//
// The k largest elements of each line and where they stand, in descending order. Floats by total
// order (NaN above Inf, -0 below +0), equal elements by place.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_TOP_K_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_TOP_K_STEP_H_

#include <string>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class TopKStep final : public Step {
 public:
  // True for element types that it takes, and selections for which it beats a sort.
  static bool Takes(PrimitiveType type, int64_t length, int64_t k);

  // `from` holds `lines` lines of `length` elements, dense; `values` and `indices` (s32) get k for
  // each.
  TopKStep(PrimitiveType type, int64_t lines, int64_t length, int64_t k, BufferId from,
           BufferId values, BufferId indices)
      : type_(type),
        lines_(lines),
        length_(length),
        k_(k),
        from_(from),
        values_(values),
        indices_(indices) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override;

 private:
  template <typename Bits>
  void SelectLine(const RunContext& context, int64_t line, char* scratch) const;

  PrimitiveType type_;
  int64_t lines_, length_, k_;
  BufferId from_, values_, indices_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_TOP_K_STEP_H_
