// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/narrow_functions.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace pjrt::cpu {
namespace {

constexpr std::pair<NarrowType, PrimitiveType> kTypes[kNumNarrowTypes] = {{NarrowType::kBf16, BF16},
                                                                          {NarrowType::kF16, F16}};

// The function of narrow floats in memory that is as `op` on f32; null where there is none.
BlockFn FunctionOf(const BlockKernels& kernels, NarrowType type, const BlockInstr& op) {
  if (op.kind != BlockInstr::kOp || op.type != CType::kF32) return nullptr;
  const int code = static_cast<int>(op.block_op), binary = code - kNumUnaryBlockOps;
  if (binary < 0) return kernels.narrow[static_cast<int>(type)][code];
  if (binary >= kNumBinaryBlockOps) return nullptr;
  return kernels.narrow_binary[static_cast<int>(type)][binary][static_cast<int>(op.form)];
}

}  // namespace

bool HasNarrowFunction(const BlockKernels& kernels, PrimitiveType type, BlockOp op) {
  BlockInstr instr;
  instr.kind = BlockInstr::kOp;
  instr.type = CType::kF32;
  instr.block_op = op;
  return std::any_of(std::begin(kTypes), std::end(kTypes), [&](const auto& narrow) {
    return narrow.second == type && FunctionOf(kernels, narrow.first, instr) != nullptr;
  });
}

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
      const BlockFn fn = op != nullptr ? FunctionOf(kernels, narrow, *op) : nullptr;
      if (fn == nullptr) continue;
      BlockInstr joined = *op;
      joined.op = fn;
      joined.type = CType::kU16;
      joined.dst = store.dst;
      // The loads of operands that are blocks.
      std::vector<const BlockInstr*> loads;
      const auto join_load = [&, type = memory](int32_t* operand, Scalars one_element) {
        if (*operand < 0 || op->form == one_element) return true;
        const BlockInstr* const load = only_maker(*operand);
        if (load == nullptr || load->kind != BlockInstr::kConvert || load->scalar ||
            load->convert != kernels.load[type])
          return false;
        loads.push_back(load);
        *operand = load->a;
        return true;
      };
      if (!join_load(&joined.a, Scalars::kFirst) || !join_load(&joined.b, Scalars::kSecond))
        continue;
      dead[op - code->instrs.data()] = 1;
      for (const BlockInstr* load : loads) dead[load - code->instrs.data()] = 1;
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
