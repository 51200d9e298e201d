// SPDX-License-Identifier: Apache-2.0
//
// Arguments and results of 1, 2 and 4 bits an element. Programs work on a byte for each, made and
// packed by steps before and behind them; what a loop reads or writes as a whole, in order, it
// unpacks and packs itself, a block at a time.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_PACKED_ARRAYS_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_PACKED_ARRAYS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/compile/plan_builder.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

class PackedArrays {
 public:
  // An argument in `packed`, which `unpack`, a step of the plan, unpacks to `bytes`.
  void AddArgument(PrimitiveType type, BufferId packed, BufferId bytes, const Step* unpack);
  // The program's result `index`, which `bytes` is computed for and nothing else.
  void AddResult(PrimitiveType type, int32_t index, BufferId bytes);

  // Has a loop that is about to be compiled read and write packed arrays where it can, in place of
  // those of bytes.
  void UseIn(PlanBuilder* plan, LoopProgram* program, std::vector<BufferId>* inputs,
             std::vector<BufferId>* outputs);
  // Whether a loop has written the result, so that nothing is left to pack.
  bool IsWritten(int32_t result) const;
  // Drops the steps that unpack what nothing reads.
  void DropUnread(PlanBuilder* plan, Steps* steps) const;

 private:
  struct Argument {
    PrimitiveType type;
    BufferId packed, bytes;
    const Step* unpack;
  };
  struct Result {
    PrimitiveType type;
    int32_t index;
    BufferId bytes;
    bool written = false;
  };
  std::vector<Argument> arguments_;
  std::vector<Result> results_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_PACKED_ARRAYS_H_
