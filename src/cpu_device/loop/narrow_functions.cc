// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/narrow_functions.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace pjrt::cpu {
namespace {

constexpr std::pair<NarrowType, PrimitiveType> kTypes[kNumNarrowTypes] = {
    {NarrowType::kBf16, BF16},
    {NarrowType::kF16, F16},
    {NarrowType::kF8E5M2, F8E5M2},
    {NarrowType::kF8E4M3, F8E4M3},
    {NarrowType::kF8E3M4, F8E3M4},
    {NarrowType::kF8E4M3FN, F8E4M3FN},
    {NarrowType::kF8E4M3FNUZ, F8E4M3FNUZ},
    {NarrowType::kF8E5M2FNUZ, F8E5M2FNUZ},
    {NarrowType::kF8E4M3B11FNUZ, F8E4M3B11FNUZ},
    {NarrowType::kF8E8M0FNU, F8E8M0FNU},
    {NarrowType::kF6E2M3FN, F6E2M3FN},
    {NarrowType::kF6E3M2FN, F6E3M2FN},
    {NarrowType::kF4E2M1FN, F4E2M1FN}};

// The function of narrow floats in memory that is as `op` on f32; null where there is none.
BlockFn FunctionOf(const BlockKernels& kernels, NarrowType type, const BlockInstr& op) {
  if (op.kind != BlockInstr::kOp || op.type != CType::kF32) return nullptr;
  const int code = static_cast<int>(op.block_op), binary = code - kNumUnaryBlockOps;
  if (binary < 0) return kernels.narrow[static_cast<int>(type)][code];
  if (binary >= kNumBinaryBlockOps) return nullptr;
  return kernels.narrow_binary[static_cast<int>(type)][binary][static_cast<int>(op.form)];
}

// Finds what can be joined for one memory type, and joins it.
class Joining {
 public:
  Joining(const BlockKernels& kernels, std::pair<NarrowType, PrimitiveType> type,
          std::vector<BlockSlot>* slots, std::vector<BlockInstr>* instrs)
      : kernels_(kernels),
        narrow_(type.first),
        memory_(type.second),
        is_byte_(ByteWidth(type.second) == 1),
        slots_(*slots),
        instrs_(*instrs),
        made_by_(slots->size(), -1),
        used_by_(slots->size()),
        functions_(instrs->size()),
        end_of_(instrs->size(), -1) {
    for (size_t i = 0; i < instrs_.size(); ++i) {
      const BlockInstr& instr = instrs_[i];
      for (int slot : {instr.a, instr.b, instr.c}) {
        if (slot >= 0) used_by_[slot].push_back(static_cast<int>(i));
      }
      if (instr.dst >= 0) made_by_[instr.dst] = static_cast<int>(i);
    }
  }

  void Run() {
    bool any = false;
    for (size_t i = 0; i < instrs_.size(); ++i) any |= FindFunction(static_cast<int>(i));
    if (!any) return;
    for (bool changed = true; changed;) {
      changed = false;
      for (Function& function : functions_) {
        if (function.fn == nullptr || CanJoin(function)) continue;
        function.fn = nullptr;
        changed = true;
      }
    }
    Join();
  }

 private:
  // An operation and the instruction that stores or rounds what it gives, a comparison itself.
  struct Function {
    BlockFn fn = nullptr;
    int op = -1, end = -1;
  };

  bool IsHidden(int slot) const { return !slots_[slot].keep && slots_[slot].store < 0; }
  bool IsConvert(int i, ConvertFn fn, bool scalar) const {
    return i >= 0 && instrs_[i].kind == BlockInstr::kConvert && instrs_[i].scalar == scalar &&
           instrs_[i].convert == fn;
  }
  bool IsLoad(int i, bool scalar) const { return IsConvert(i, kernels_.load[memory_], scalar); }
  bool Rounds(int i) const { return IsConvert(i, kernels_.round_to[memory_], false); }

  bool FindFunction(int end) {
    int op = -1;
    if (IsConvert(end, kernels_.store[memory_], false) || Rounds(end)) {
      const int from = instrs_[end].a;
      if (IsHidden(from) && used_by_[from].size() == 1) op = made_by_[from];
    } else if (is_byte_ && IsCompare(instrs_[end])) {
      op = end;
    }
    if (op < 0) return false;
    const BlockFn fn = FunctionOf(kernels_, narrow_, instrs_[op]);
    functions_[end] = {fn, op, end};
    end_of_[op] = end;
    return fn != nullptr;
  }

  // Whether all that reads `slot` are functions that are joined.
  bool OnlyFunctionsRead(int slot) const {
    const auto is_joined = [&](int i) {
      return end_of_[i] >= 0 && functions_[end_of_[i]].fn != nullptr;
    };
    return IsHidden(slot) && std::all_of(used_by_[slot].begin(), used_by_[slot].end(), is_joined);
  }
  bool CanJoin(const Function& function) const {
    const BlockInstr& op = instrs_[function.op];
    const auto can_read = [&](int slot, Scalars one_element) {
      if (slot < 0) return true;
      const int made = made_by_[slot];
      if (op.form == one_element) return !is_byte_ || IsLoad(made, true);
      const bool in_memory =
          IsLoad(made, false) || (made >= 0 && Rounds(made) && functions_[made].fn != nullptr);
      return in_memory && OnlyFunctionsRead(slot);
    };
    return can_read(op.a, Scalars::kFirst) && can_read(op.b, Scalars::kSecond) &&
           (!Rounds(function.end) || OnlyFunctionsRead(instrs_[function.end].dst));
  }

  void Join() {
    std::vector<char> dead(instrs_.size(), 0);
    for (const Function& function : functions_) {
      if (function.fn == nullptr) continue;
      BlockInstr joined = instrs_[function.op];
      joined.op = function.fn;
      joined.type = is_byte_ ? CType::kU8 : CType::kU16;
      joined.dst = instrs_[function.end].dst;
      const auto read_memory = [&](int32_t* operand, Scalars one_element) {
        if (*operand < 0) return;
        const bool one = joined.form == one_element;
        const int made = made_by_[*operand];
        if ((one && !is_byte_) || !IsLoad(made, one)) return;
        if (!one) dead[made] = 1;  // what is one for all may be of use elsewhere
        *operand = instrs_[made].a;
      };
      read_memory(&joined.a, Scalars::kFirst);
      read_memory(&joined.b, Scalars::kSecond);
      if (Rounds(function.end)) slots_[joined.dst].size = ByteWidth(memory_);
      dead[function.op] = 1;
      results_.emplace_back(function.end, joined);
    }
    for (const auto& [end, joined] : results_) {
      instrs_[end] = joined;
      dead[end] = 0;
    }
    size_t kept = 0;
    for (size_t i = 0; i < dead.size(); ++i) {
      if (!dead[i]) instrs_[kept++] = instrs_[i];
    }
    instrs_.resize(kept);
  }

  static bool IsCompare(const BlockInstr& instr) {
    return instr.kind == BlockInstr::kOp && instr.type == CType::kF32 && !instr.scalar &&
           instr.block_op >= BlockOp::kCompareEq && instr.block_op <= BlockOp::kCompareGe;
  }

  const BlockKernels& kernels_;
  const NarrowType narrow_;
  const PrimitiveType memory_;
  const bool is_byte_;
  std::vector<BlockSlot>& slots_;
  std::vector<BlockInstr>& instrs_;
  std::vector<int> made_by_;
  std::vector<std::vector<int>> used_by_;
  std::vector<Function> functions_;  // by the instruction that ends them
  std::vector<int> end_of_;          // of each operation
  std::vector<std::pair<int, BlockInstr>> results_;
};

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

void JoinNarrowFunctions(const BlockKernels& kernels, std::vector<BlockSlot>* slots,
                         BlockCode* code) {
  for (const auto& type : kTypes) {
    const auto converts = [&](const BlockInstr& instr) {
      return instr.kind == BlockInstr::kConvert && instr.convert == kernels.load[type.second];
    };
    if (std::any_of(code->instrs.begin(), code->instrs.end(), converts))
      Joining(kernels, type, slots, &code->instrs).Run();
  }
}

}  // namespace pjrt::cpu
