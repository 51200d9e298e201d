// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/block_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "src/cpu_device/loop/chain_forms.h"
#include "src/cpu_device/loop/join_shifts.h"

namespace pjrt::cpu {
namespace {

// How far behind the first instruction that is left another one may be moved up from.
constexpr size_t kChainWindow = 24;

bool IsCompare(BlockOp op) { return op >= BlockOp::kCompareEq && op <= BlockOp::kCompareGe; }

// Writes chains. Two values are at hand in A and B, and predicates in M; another one that is needed
// again has been stored.
class ChainWriter {
 public:
  // `uses`: by slot, how many operands of the whole code it is.
  ChainWriter(const BlockKernels& kernels, absl::Span<const BlockSlot> slots,
              absl::Span<const int> uses)
      : kernels_(kernels),
        slots_(slots),
        uses_(uses),
        local_of_(slots.size(), -1),
        left_(slots.size(), 0) {}

  BlockChain Write(absl::Span<const BlockInstr> run) {
    chain_ = BlockChain();
    locals_.clear();
    a_ = b_ = m_ = -1;
    for (const BlockInstr& instr : run) {
      for (int slot : {instr.a, instr.b, instr.c}) {
        if (slot >= 0) ++left_[slot];
      }
      local_of_[instr.dst] = static_cast<int>(locals_.size());
      locals_.emplace_back();
    }
    for (const BlockInstr& instr : run) WriteInstr(instr);
    Put(ChainOp::kEnd);
    for (const BlockInstr& instr : run) {
      local_of_[instr.dst] = -1;
      for (int slot : {instr.a, instr.b, instr.c}) {
        if (slot >= 0) left_[slot] = 0;
      }
    }
    return std::move(chain_);
  }

 private:
  // A value that the chain computes.
  struct Local {
    bool in_memory = false;
  };

  Local* Find(int slot) {
    return slot >= 0 && local_of_[slot] >= 0 ? &locals_[local_of_[slot]] : nullptr;
  }
  // True when `slot` must not be forgotten: it is used again and only registers hold it.
  bool IsWanted(int slot) {
    const Local* value = Find(slot);
    return value != nullptr && left_[slot] > 0 && !value->in_memory;
  }

  int32_t Position() const { return static_cast<int32_t>(chain_.code.size()); }
  void Put(ChainOp op, int slot = 0) { chain_.code.push_back({op, slot}); }
  void PutRead(ChainOp op, int slot) {
    chain_.reads.push_back({slot, Position()});
    Put(op, slot);
  }

  void Store(int slot, ChainOp op = ChainOp::kStore) {
    chain_.writes.push_back({slot, Position()});
    Put(op, slot);
    if (Local* value = Find(slot)) value->in_memory = true;
  }

  // A is about to change: its value goes where it can be found again, if it must. B stays when it
  // holds `x` or `y`, operands to come.
  void Preserve(int x, int y) {
    if (!IsWanted(a_) || b_ == a_) return;
    if (b_ >= 0 && (b_ == x || b_ == y || IsWanted(b_))) {
      Store(a_);
    } else {
      Put(ChainOp::kSave);
      b_ = a_;
    }
  }

  void Use(int slot) { --left_[slot]; }

  // `block`, a form for blocks, with operand `slot`.
  void Operate(ChainOp block, int slot) {
    const int form = static_cast<int>(block);
    if (slots_[slot].scalar) {
      // A load may be the first of a chain; what is added follows something.
      if (block == ChainOp::kAddBlock && chain_.code.back().op == ChainOp::kMultiplySaved) {
        chain_.code.back() = {ChainOp::kMultiplyAdd, slot};
      } else if (block == ChainOp::kIntegerAddBlock &&
                 chain_.code.back().op == ChainOp::kIntegerMultiplySaved) {
        chain_.code.back() = {ChainOp::kIntegerMultiplyAdd, slot};
      } else {
        Put(static_cast<ChainOp>(form + 1), slot);
      }
    } else if (slot == b_) {
      Put(static_cast<ChainOp>(form + 2));
    } else {
      PutRead(block, slot);
    }
  }

  // The value of `slot` comes to A; `other` is an operand beside it.
  void Fetch(int slot, int other) {
    if (a_ == slot) return;
    if (b_ == slot && IsWanted(a_)) {
      Put(ChainOp::kExchange);
      std::swap(a_, b_);
      return;
    }
    Preserve(slot, other);
    Operate(ChainOp::kLoadBlock, slot);
    a_ = slot;
  }

  // The value in A is going to be the other operand, too. Before its uses are counted.
  void CopyForOperand(int slot) {
    if (b_ == slot || slots_[slot].scalar) return;
    const Local* value = Find(slot);
    if (value == nullptr || value->in_memory) return;  // it is in memory
    if (IsWanted(b_)) {
      Store(slot);
    } else {
      Put(ChainOp::kSave);
      b_ = slot;
    }
  }

  // True when `dst`, which the chain has just computed, is read elsewhere.
  bool IsResult(int dst) {
    return slots_[dst].keep || slots_[dst].store >= 0 || uses_[dst] > left_[dst];
  }
  void Define(int dst) {
    a_ = dst;
    if (IsResult(dst)) Store(dst);
  }

  // M is about to change.
  void PreserveMask() {
    if (IsWanted(m_)) Store(m_, ChainOp::kStoreMask);
  }
  void FetchMask(int slot) {
    if (m_ == slot) return;
    PreserveMask();
    PutRead(ChainOp::kLoadMask, slot);
    m_ = slot;
  }
  void DefineMask(int dst) {
    m_ = dst;
    if (IsResult(dst)) Store(dst, ChainOp::kStoreMask);
  }

  // True when a value in memory, whose next use has been counted, has so many more of them that it
  // should be loaded to B and not be read each time: as the variable of a polynomial has.
  bool IsWorthB(int slot) const {
    const int others = b_ < 0 ? 0 : left_[b_];
    return left_[slot] > (others == 0 ? 0 : others + 1);
  }

  // A = x op y, or for `compares` M, and A stays. With a result `dst` that only this chain reads
  // and that may be made in B, where y ends while x is needed again. Returns true when it was.
  bool Binary(ChainForms forms, int x, int y, bool compares = false, int dst = -1) {
    if (forms.reversed != ChainOp::kEnd && a_ != x && (a_ == y || slots_[x].scalar)) {
      std::swap(x, y);
      std::swap(forms.forward, forms.reversed);
    }
    Fetch(x, y);
    if (x == y) CopyForOperand(x);
    Use(x);
    Use(y);
    if (dst >= 0 && b_ == y && x != y && IsWanted(x) && !IsWanted(y) && !IsResult(dst)) {
      if (const ChainOp to_saved = FormToSaved(forms.forward); to_saved != ChainOp::kEnd) {
        Put(to_saved);
        b_ = dst;
        return true;
      }
    }
    if (!compares) Preserve(y, y);
    if (!slots_[y].scalar && b_ != y && IsWorthB(y)) {
      if (IsWanted(b_)) Store(b_, ChainOp::kStoreB);
      PutRead(ChainOp::kLoadB, y);
      b_ = y;
    }
    Operate(forms.forward, y);
    return false;
  }

  // A = op(x), or what it is an operation on.
  void Unary(ChainOp op, int x) {
    Fetch(x, x);
    Use(x);
    Preserve(-1, -1);
    Put(op);
  }

  void Logic(ChainOp op, int x, int y) {
    if (y == m_) std::swap(x, y);
    FetchMask(x);
    Use(x);
    Use(y);
    PreserveMask();
    PutRead(op, y);
  }

  void Clamp(CType type, int low, int x, int high) {
    Fetch(x, low);
    if (low == x || high == x) CopyForOperand(x);
    for (int slot : {low, x, high}) Use(slot);
    Preserve(low, high);
    Operate(FindChainForms(BlockOp::kMaximum, type)->forward, low);
    Operate(FindChainForms(BlockOp::kMinimum, type)->forward, high);
  }

  void WriteInstr(const BlockInstr& instr) {
    if (const auto narrow = FindChainNarrow(kernels_, instr)) return WriteNarrow(*narrow, instr);
    if (const ChainConversion* conversion = FindChainConversion(kernels_, instr)) {
      if (conversion->from == CType::kPred) {
        FetchMask(instr.a);
        Use(instr.a);
        Preserve(-1, -1);
        Put(conversion->op);
      } else {
        Unary(conversion->op, instr.a);
      }
      return Define(instr.dst);
    }
    if (const auto logic = FindChainLogic(instr)) {
      if (*logic == ChainOp::kNotMask) {
        FetchMask(instr.a);
        Use(instr.a);
        PreserveMask();
        Put(*logic);
      } else {
        Logic(*logic, instr.a, instr.b);
        if (instr.block_op == BlockOp::kCompareEq) Put(ChainOp::kNotMask);
      }
      return DefineMask(instr.dst);
    }
    if (IsCompare(instr.block_op)) {
      PreserveMask();
      m_ = -1;
      Binary(*FindChainForms(instr.block_op, instr.type), instr.a, instr.b, /*compares=*/true);
      return DefineMask(instr.dst);
    }
    if (instr.shifts_both) {
      Unary(ChainOp::kShiftBoth, instr.a);
      chain_.code.back().slot = instr.b;
      Put(ChainOp::kShiftBoth, instr.c);
    } else if (const auto unary = FindChainUnary(instr.block_op, instr.type)) {
      Unary(*unary, instr.a);
    } else if (instr.block_op == BlockOp::kSelect) {
      FetchMask(instr.a);
      Use(instr.a);
      Binary({ChainOp::kSelectElseBlock, ChainOp::kSelectThenBlock}, instr.b, instr.c);
    } else if (instr.block_op == BlockOp::kClamp) {
      Clamp(instr.type, instr.a, instr.b, instr.c);
    } else if (Binary(*FindChainForms(instr.block_op, instr.type), instr.a, instr.b,
                      /*compares=*/false, instr.dst)) {
      return;
    }
    Define(instr.dst);
  }

  void WriteNarrow(ChainOp op, const BlockInstr& instr) {
    if (op == ChainOp::kStoreBf16 || op == ChainOp::kStoreF16) {
      Fetch(instr.a, instr.a);
      Use(instr.a);
      return Store(instr.dst, op);
    }
    if (op == ChainOp::kRoundBf16 || op == ChainOp::kRoundF16) {
      Unary(op, instr.a);
    } else {
      Preserve(-1, -1);
      PutRead(op, instr.a);
    }
    Define(instr.dst);
  }

  const BlockKernels& kernels_;
  const absl::Span<const BlockSlot> slots_;
  const absl::Span<const int> uses_;
  std::vector<int> local_of_;  // by slot, in locals_; -1: not of this chain
  std::vector<int> left_;      // by slot, the uses in this chain that are still to come
  std::vector<Local> locals_;
  BlockChain chain_;
  int a_ = -1, b_ = -1, m_ = -1;  // the slots whose values A, B and M hold
};

// Orders instructions so that those of one chain follow each other where operands allow it.
class Scheduler {
 public:
  Scheduler(const BlockKernels& kernels, size_t num_slots, std::vector<BlockInstr> instrs)
      : kernels_(kernels), instrs_(std::move(instrs)), ready_(num_slots, 1) {
    for (const BlockInstr& instr : instrs_) {
      if (instr.dst >= 0) ready_[instr.dst] = 0;
      chain_.push_back(ChainOf(kernels_, instr));
      is_logic_.push_back(FindChainLogic(instr).has_value());
    }
    done_.assign(instrs_.size(), 0);
  }

  // The next instructions: several of one chain, or one. Empty at the end.
  std::vector<BlockInstr> Next(ChainFn* chain) {
    std::vector<BlockInstr> run;
    *chain = nullptr;
    while (run.size() < kMaxRun) {
      while (first_ < instrs_.size() && done_[first_]) ++first_;
      size_t next = first_;
      for (; *chain != nullptr && next < instrs_.size(); ++next) {
        if (next == first_ + kChainWindow) return run;
        if (!done_[next] && (chain_[next] == *chain || is_logic_[next]) && IsReady(instrs_[next]))
          break;
      }
      if (next >= instrs_.size()) return run;
      if (run.empty()) *chain = chain_[next];
      done_[next] = 1;
      if (instrs_[next].dst >= 0) ready_[instrs_[next].dst] = 1;
      run.push_back(instrs_[next]);
      if (*chain == nullptr) return run;
    }
    return run;
  }

 private:
  // A longer chain would keep too many registers at once.
  static constexpr size_t kMaxRun = 48;

  bool IsReady(const BlockInstr& instr) const {
    for (int slot : {instr.a, instr.b, instr.c}) {
      if (slot >= 0 && !ready_[slot]) return false;
    }
    return true;
  }

  const BlockKernels& kernels_;
  const std::vector<BlockInstr> instrs_;
  std::vector<char> ready_;  // by slot: its value is there
  std::vector<ChainFn> chain_;
  std::vector<char> is_logic_;
  std::vector<char> done_;
  size_t first_ = 0;  // the first instruction that is left
};

// Fills `inside` and `outside`.
void SortSlots(absl::Span<const BlockSlot> slots, BlockChain* chain) {
  const auto add = [&](int slot, bool written) {
    if (slots[slot].in_register) {
      const std::pair<int32_t, int> inside(slot, slots[slot].size);
      if (std::find(chain->inside.begin(), chain->inside.end(), inside) == chain->inside.end())
        chain->inside.push_back(inside);
      return;
    }
    for (BlockChain::Outside& known : chain->outside) {
      if (known.slot != slot) continue;
      known.read |= !written;
      known.written |= written;
      return;
    }
    chain->outside.push_back({slot, slots[slot].size, !written, written});
  };
  for (const BlockChain::Access& read : chain->reads) add(read.slot, false);
  for (const BlockChain::Access& write : chain->writes) add(write.slot, true);
}

}  // namespace

void FormChains(const BlockKernels& kernels, absl::Span<const BlockSlot> slots, int64_t points,
                bool of_one, BlockCode* code) {
  JoinShifts(kernels, slots, code);
  // What is one element depends on single elements alone, and can go first.
  std::stable_partition(code->instrs.begin(), code->instrs.end(),
                        [](const BlockInstr& instr) { return instr.scalar; });
  std::vector<int> uses(slots.size(), 0);
  for (const BlockInstr& instr : code->instrs) {
    for (int slot : {instr.a, instr.b, instr.c}) {
      if (slot >= 0) ++uses[slot];
    }
  }
  ChainWriter writer(kernels, slots, uses);
  Scheduler scheduler(kernels, slots.size(), std::move(code->instrs));
  code->instrs.clear();
  ChainFn fn = nullptr;
  for (std::vector<BlockInstr> run = scheduler.Next(&fn); !run.empty(); run = scheduler.Next(&fn)) {
    const CType type =
        fn == kernels.chain[static_cast<int>(CType::kF32)] ? CType::kF32 : CType::kF64;
    const int64_t group = kernels.chain_group_bytes / kCTypeSize[static_cast<int>(type)];
    const ChainRestFn rest = kernels.chain_rest[static_cast<int>(type)];
    const bool needs_chain = (of_one && fn != nullptr) ||
                             std::any_of(run.begin(), run.end(),
                                         [](const BlockInstr& instr) { return instr.shifts_both; });
    if ((run.size() == 1 || (points < group && rest == nullptr)) && !needs_chain) {
      code->instrs.insert(code->instrs.end(), run.begin(), run.end());
      continue;
    }
    BlockChain chain = writer.Write(run);
    chain.run = fn;
    chain.rest = rest;
    chain.run_rows = kernels.chain_rows[static_cast<int>(type)];
    chain.group = group;
    SortSlots(slots, &chain);
    BlockInstr instr;
    instr.kind = BlockInstr::kChain;
    instr.index = static_cast<int32_t>(code->chains.size());
    code->chains.push_back(std::move(chain));
    code->instrs.push_back(instr);
  }
}

}  // namespace pjrt::cpu
