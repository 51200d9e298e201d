// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/join_shifts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace pjrt::cpu {
namespace {

class ShiftJoiner {
 public:
  ShiftJoiner(const BlockKernels& kernels, absl::Span<const BlockSlot> slots, BlockCode* code)
      : kernels_(kernels), slots_(slots), code_(*code), made_by_(slots.size(), -1) {
    for (size_t i = 0; i < code_.instrs.size(); ++i) {
      if (code_.instrs[i].dst >= 0) made_by_[code_.instrs[i].dst] = static_cast<int>(i);
    }
  }

  void Run() {
    bool any = false;
    for (BlockInstr& instr : code_.instrs) {
      if (!IsOp(instr, BlockOp::kOr) || instr.scalar ||
          kernels_.chain[static_cast<int>(instr.type)] == nullptr)
        continue;
      const BlockInstr *left = MakerOf(instr.a), *right = MakerOf(instr.b);
      if (left != nullptr && IsOp(*left, BlockOp::kShiftRightLogical)) std::swap(left, right);
      if (left == nullptr || right == nullptr || !IsOp(*left, BlockOp::kShiftLeft) ||
          !IsOp(*right, BlockOp::kShiftRightLogical) || left->a != right->a ||
          slots_[left->a].scalar || !slots_[left->b].scalar || !slots_[right->b].scalar)
        continue;
      instr.a = left->a;
      instr.b = left->b;
      instr.c = right->b;
      instr.shifts_both = any = true;
    }
    if (!any) return;
    std::vector<int> uses(slots_.size(), 0);
    for (const BlockInstr& instr : code_.instrs) {
      for (int slot : {instr.a, instr.b, instr.c}) {
        if (slot >= 0) ++uses[slot];
      }
    }
    const auto is_dead = [&](const BlockInstr& instr) {
      return (IsOp(instr, BlockOp::kShiftLeft) || IsOp(instr, BlockOp::kShiftRightLogical)) &&
             uses[instr.dst] == 0 && !slots_[instr.dst].keep && slots_[instr.dst].store < 0;
    };
    code_.instrs.erase(std::remove_if(code_.instrs.begin(), code_.instrs.end(), is_dead),
                       code_.instrs.end());
  }

 private:
  static bool IsOp(const BlockInstr& instr, BlockOp op) {
    return instr.kind == BlockInstr::kOp && instr.block_op == op && !instr.shifts_both;
  }
  const BlockInstr* MakerOf(int slot) const {
    return made_by_[slot] < 0 ? nullptr : &code_.instrs[made_by_[slot]];
  }

  const BlockKernels& kernels_;
  const absl::Span<const BlockSlot> slots_;
  BlockCode& code_;
  std::vector<int> made_by_;  // by slot, the instruction that writes it; -1: none
};

}  // namespace

void JoinShifts(const BlockKernels& kernels, absl::Span<const BlockSlot> slots, BlockCode* code) {
  ShiftJoiner(kernels, slots, code).Run();
}

}  // namespace pjrt::cpu
