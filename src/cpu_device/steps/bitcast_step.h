// SPDX-License-Identifier: Apache-2.0
//
// bitcast_convert where a type narrower than a byte takes part: such elements take a byte each
// while a program runs, so their bits have to be brought together or taken apart.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_BITCAST_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_BITCAST_STEP_H_

#include <cstdint>
#include <string>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// The bits that an element has in a bitcast: 1 for PRED, else its width.
int BitcastBits(PrimitiveType type);

class BitcastStep final : public Step {
 public:
  // `count` elements of the wider type (of either, when they are equally wide), dense on both
  // sides. One of the types is narrower than a byte. Of the parts of an element the first has the
  // lowest bits.
  BitcastStep(PrimitiveType from_type, PrimitiveType to_type, int64_t count, BufferId from,
              BufferId to)
      : from_type_(from_type), to_type_(to_type), count_(count), from_(from), to_(to) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;

 private:
  PrimitiveType from_type_, to_type_;
  int64_t count_;
  BufferId from_, to_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_BITCAST_STEP_H_
