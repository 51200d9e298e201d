// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/narrow_functions.h"

#include <utility>
#include <vector>

namespace pjrt::cpu {
namespace {

constexpr std::pair<NarrowType, PrimitiveType> kTypes[kNumNarrowTypes] = {{NarrowType::kBf16, BF16},
                                                                          {NarrowType::kF16, F16}};

}  // namespace

void JoinNarrowFunctions(const BlockKernels& kernels, absl::Span<const BlockSlot> slots,
                         BlockCode* code) {
  std::vector<int> made_by(slots.size(), -1), uses(slots.size(), 0);
  for (size_t i = 0; i < code->instrs.size(); ++i) {
    const BlockInstr& instr = code->instrs[i];
    for (int slot : {instr.a, instr.b, instr.c}) {
      if (slot >= 0) ++uses[slot];
    }
    if (instr.dst >= 0) made_by[instr.dst] = static_cast<int>(i);
  }
  // What makes a value that one instruction reads and nothing else.
  const auto only_maker = [&](int slot) -> BlockInstr* {
    const bool hidden =
        made_by[slot] >= 0 && uses[slot] == 1 && !slots[slot].keep && slots[slot].store < 0;
    return hidden ? &code->instrs[made_by[slot]] : nullptr;
  };
  std::vector<char> dead(code->instrs.size(), 0);
  for (BlockInstr& store : code->instrs) {
    for (const auto& [narrow, memory] : kTypes) {
      if (store.kind != BlockInstr::kConvert || store.scalar ||
          store.convert != kernels.store[memory])
        continue;
      const BlockInstr* const op = only_maker(store.a);
      if (op == nullptr || op->kind != BlockInstr::kOp || op->type != CType::kF32 ||
          static_cast<int>(op->block_op) >= kNumUnaryBlockOps)
        continue;
      const BlockFn fn = kernels.narrow[static_cast<int>(narrow)][static_cast<int>(op->block_op)];
      const BlockInstr* const load = fn != nullptr ? only_maker(op->a) : nullptr;
      if (load == nullptr || load->kind != BlockInstr::kConvert || load->scalar ||
          load->convert != kernels.load[memory])
        continue;
      dead[op - code->instrs.data()] = dead[load - code->instrs.data()] = 1;
      BlockInstr joined;
      joined.op = fn;
      joined.block_op = op->block_op;
      joined.type = CType::kU16;
      joined.a = load->a;
      joined.dst = store.dst;
      store = joined;
      break;
    }
  }
  size_t kept = 0;
  for (size_t i = 0; i < dead.size(); ++i) {
    if (!dead[i]) code->instrs[kept++] = code->instrs[i];
  }
  code->instrs.resize(kept);
}

}  // namespace pjrt::cpu
