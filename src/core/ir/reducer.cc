// SPDX-License-Identifier: Apache-2.0
#include "src/core/ir/reducer.h"

#include "pjrt/ir/op_set.h"

namespace pjrt::ir {

const Op* ReducerOp(const Block& body) {
  const Op* const op = body.front();
  const Op* const end = body.terminator();
  if (end == nullptr || op->next() != end || body.num_arguments() != 2 || op->num_operands() != 2 ||
      op->num_results() != 1 || end->num_operands() != 1 || end->operand(0) != op->result()) {
    return nullptr;
  }
  const Value *a = body.argument(0), *b = body.argument(1);
  const bool in_order = op->operand(0) == a && op->operand(1) == b;
  const bool swapped = op->operand(0) == b && op->operand(1) == a;
  if (!in_order && !swapped) return nullptr;
  switch (op->opcode()) {
    case OpCode::kAdd:
    case OpCode::kMultiply:
    case OpCode::kMaximum:
    case OpCode::kMinimum:
    case OpCode::kAnd:
    case OpCode::kOr:
    case OpCode::kXor:
      return op;
    default:
      return nullptr;
  }
}

}  // namespace pjrt::ir
