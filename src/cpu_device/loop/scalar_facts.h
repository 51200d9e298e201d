// SPDX-License-Identifier: Apache-2.0
//
// What each instruction of a scalar program reads, writes and leaves behind.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_FACTS_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_FACTS_H_

#include <cstdint>

#include "src/cpu_device/loop/scalar_program.h"

namespace pjrt::cpu {

// What an instruction does to registers and to the world.
enum class ScalarEffect : uint8_t { kNone, kCall, kLoad, kStore, kJump, kGoto, kSwitch, kEnd };

struct ScalarFacts {
  ScalarEffect effect = ScalarEffect::kNone;
  bool writes = true;                                          // register dst
  bool a = true, b = true, c = false, d = false, dst = false;  // which it reads
};

ScalarFacts FactsOf(ScalarOp op);

// What the interpreter keeps for the next instruction.
enum class ScalarKept : uint8_t { kOther, kF32, kF64 };
ScalarKept KeptBy(ScalarOp op);

inline int Number(ScalarOp op) { return static_cast<int>(op); }
// Op number `offset` behind `first`, in the order of ScalarOp.
inline ScalarOp Behind(ScalarOp first, int offset) {
  return static_cast<ScalarOp>(Number(first) + offset);
}
// Whether an op is one of those from `first` to `last`, in the same order.
inline bool IsBetween(ScalarOp op, ScalarOp first, ScalarOp last) {
  return Number(op) >= Number(first) && Number(op) <= Number(last);
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_SCALAR_FACTS_H_
