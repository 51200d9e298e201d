// SPDX-License-Identifier: Apache-2.0
//
// One enumerator for each op that the op set knows.
#ifndef PJRT_IR_OPCODE_H_
#define PJRT_IR_OPCODE_H_

#include <cstdint>

namespace pjrt::ir {

enum class OpCode : uint16_t {
  kUnknown = 0,  // an op of a dialect that the op set does not hold
#define PJRT_OP(enumerator, name) enumerator,
#include "pjrt/ir/opcodes.inc"
#undef PJRT_OP
  kCount,
};

}  // namespace pjrt::ir

#endif  // PJRT_IR_OPCODE_H_
