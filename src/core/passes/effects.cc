// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/effects.h"

#include "pjrt/ir/op_set.h"

namespace pjrt::ir {

bool ComputesOnly(const Op& op) {
  if (op.num_results() == 0 || op.Is(OpCode::kUnknown)) return false;
  if (op.Is(OpCode::kFuncFunc) || op.Is(OpCode::kModule)) return false;
  if (op.Is(OpCode::kCustomCall)) return !op.BoolAttr("has_side_effect");
  return !GetOpInfo(op.opcode()).Has(kSideEffect);
}

bool IsPure(const Op& op) {
  if (op.IsTerminator() || !ComputesOnly(op)) return false;
  for (size_t r = 0; r < op.num_regions(); ++r) {
    const Block* block = op.region(r)->block();
    if (block == nullptr) continue;
    for (const Op* inner : *block) {
      if (inner->IsTerminator()) continue;
      if (inner->num_regions() > 0 || !ComputesOnly(*inner)) return false;
    }
  }
  return true;
}

bool ComputesByElement(const Op& op) {
  if (op.num_operands() == 0 || op.num_results() != 1 || op.num_regions() != 0) return false;
  if (!GetOpInfo(op.opcode()).Has(kElementwise) && !op.Is(OpCode::kSelect) &&
      !op.Is(OpCode::kClamp))
    return false;
  if (!IsPure(op) || !op.result_type().IsTensor() || !op.result_type().HasStaticShape())
    return false;
  for (const Use& use : op.operand_uses()) {
    if (use.value()->type().primitive_type() == PrimitiveType::INVALID ||
        !use.value()->type().HasStaticShape())
      return false;
  }
  return true;
}

}  // namespace pjrt::ir
