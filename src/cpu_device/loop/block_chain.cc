// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/block_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace pjrt::cpu {
namespace {

// How far behind the first instruction that is left another one may be moved up from.
constexpr size_t kWindow = 24;

// A binary operation in chains, by its form for blocks; those for one element and for B follow it.
struct ChainRow {
  BlockOp op;
  ChainOp of_floats, of_signed, of_unsigned;  // kEnd: not in chains of that type
  ChainOp reversed;                           // with operands the other way; kEnd: none
};
constexpr ChainOp kNone = ChainOp::kEnd;
constexpr ChainRow kRows[] = {
    {BlockOp::kAdd, ChainOp::kAddBlock, ChainOp::kAddBlock, ChainOp::kAddBlock, ChainOp::kAddBlock},
    {BlockOp::kSubtract, ChainOp::kSubtractBlock, ChainOp::kSubtractBlock, ChainOp::kSubtractBlock,
     ChainOp::kSubtractFromBlock},
    {BlockOp::kMultiply, ChainOp::kMultiplyBlock, ChainOp::kMultiplyBlock, ChainOp::kMultiplyBlock,
     ChainOp::kMultiplyBlock},
    {BlockOp::kDivide, ChainOp::kDivideBlock, kNone, kNone, ChainOp::kDivideIntoBlock},
    {BlockOp::kMaximum, ChainOp::kMaximumBlock, ChainOp::kMaximumBlock,
     ChainOp::kUnsignedMaximumBlock, ChainOp::kMaximumBlock},
    {BlockOp::kMinimum, ChainOp::kMinimumBlock, ChainOp::kMinimumBlock,
     ChainOp::kUnsignedMinimumBlock, ChainOp::kMinimumBlock},
    {BlockOp::kAnd, kNone, ChainOp::kAndBlock, ChainOp::kAndBlock, ChainOp::kAndBlock},
    {BlockOp::kOr, kNone, ChainOp::kOrBlock, ChainOp::kOrBlock, ChainOp::kOrBlock},
    {BlockOp::kXor, kNone, ChainOp::kXorBlock, ChainOp::kXorBlock, ChainOp::kXorBlock},
    {BlockOp::kShiftLeft, kNone, ChainOp::kShiftLeftBlock, ChainOp::kShiftLeftBlock, kNone},
    {BlockOp::kShiftRightLogical, kNone, ChainOp::kShiftRightLogicalBlock,
     ChainOp::kShiftRightLogicalBlock, kNone},
    {BlockOp::kShiftRightArithmetic, kNone, ChainOp::kShiftRightArithmeticBlock,
     ChainOp::kShiftRightArithmeticBlock, kNone},
    {BlockOp::kCompareEq, ChainOp::kCompareEqBlock, ChainOp::kCompareEqBlock,
     ChainOp::kCompareEqBlock, ChainOp::kCompareEqBlock},
    {BlockOp::kCompareNe, ChainOp::kCompareNeBlock, ChainOp::kCompareNeBlock,
     ChainOp::kCompareNeBlock, ChainOp::kCompareNeBlock},
    {BlockOp::kCompareLt, ChainOp::kCompareLtBlock, ChainOp::kCompareLtBlock,
     ChainOp::kUnsignedLtBlock, ChainOp::kCompareGtBlock},
    {BlockOp::kCompareLe, ChainOp::kCompareLeBlock, ChainOp::kCompareLeBlock,
     ChainOp::kUnsignedLeBlock, ChainOp::kCompareGeBlock},
    {BlockOp::kCompareGt, ChainOp::kCompareGtBlock, ChainOp::kCompareGtBlock,
     ChainOp::kUnsignedGtBlock, ChainOp::kCompareLtBlock},
    {BlockOp::kCompareGe, ChainOp::kCompareGeBlock, ChainOp::kCompareGeBlock,
     ChainOp::kUnsignedGeBlock, ChainOp::kCompareLeBlock},
};

bool IsFloat(CType type) { return type == CType::kF32 || type == CType::kF64; }
bool IsSigned(CType type) { return type == CType::kS32 || type == CType::kS64; }

// The reversed form for a type: the table names that of signed numbers.
ChainOp ForType(ChainOp op, CType type) {
  if (IsFloat(type) || IsSigned(type)) return op;
  switch (op) {
    case ChainOp::kMaximumBlock:
      return ChainOp::kUnsignedMaximumBlock;
    case ChainOp::kMinimumBlock:
      return ChainOp::kUnsignedMinimumBlock;
    case ChainOp::kCompareLtBlock:
      return ChainOp::kUnsignedLtBlock;
    case ChainOp::kCompareLeBlock:
      return ChainOp::kUnsignedLeBlock;
    case ChainOp::kCompareGtBlock:
      return ChainOp::kUnsignedGtBlock;
    case ChainOp::kCompareGeBlock:
      return ChainOp::kUnsignedGeBlock;
    default:
      return op;
  }
}

struct Forms {
  ChainOp forward = kNone, reversed = kNone;
};
std::optional<Forms> FindForms(BlockOp op, CType type) {
  for (const ChainRow& row : kRows) {
    if (row.op != op) continue;
    const ChainOp forward = IsFloat(type)    ? row.of_floats
                            : IsSigned(type) ? row.of_signed
                                             : row.of_unsigned;
    if (forward == kNone) return std::nullopt;
    return Forms{forward, ForType(row.reversed, type)};
  }
  return std::nullopt;
}

std::optional<ChainOp> FindUnary(BlockOp op, CType type) {
  switch (op) {
    case BlockOp::kNegate:
      return ChainOp::kNegate;
    case BlockOp::kNot:
      return IsFloat(type) ? std::nullopt : std::optional<ChainOp>(ChainOp::kNot);
    case BlockOp::kAbs:
      return IsFloat(type) ? std::optional<ChainOp>(ChainOp::kAbs) : std::nullopt;
    case BlockOp::kSqrt:
      return IsFloat(type) ? std::optional<ChainOp>(ChainOp::kSqrt) : std::nullopt;
    default:
      return std::nullopt;
  }
}

bool IsCompare(BlockOp op) { return op >= BlockOp::kCompareEq && op <= BlockOp::kCompareGe; }

// The chains that the instruction can be part of; null for none.
ChainFn ChainOf(const BlockKernels& kernels, const BlockInstr& instr) {
  if (instr.kind != BlockInstr::kOp || instr.scalar) return nullptr;
  const ChainFn chain = kernels.chain[static_cast<int>(instr.type)];
  if (chain == nullptr) return nullptr;
  if (FindForms(instr.block_op, instr.type).has_value() ||
      FindUnary(instr.block_op, instr.type).has_value())
    return chain;
  // A predicate that all elements share moves memory at most.
  if (instr.block_op == BlockOp::kSelect) return instr.form == Scalars::kFirst ? nullptr : chain;
  return instr.block_op == BlockOp::kClamp ? chain : nullptr;
}

// Writes chains. Two values are at hand in A and B; another one that is needed again has been
// stored.
class ChainWriter {
 public:
  // `uses`: by slot, how many operands of the whole code it is.
  ChainWriter(absl::Span<const BlockSlot> slots, absl::Span<const int> uses)
      : slots_(slots), uses_(uses), local_of_(slots.size(), -1) {}

  BlockChain Write(absl::Span<const BlockInstr> run) {
    chain_ = BlockChain();
    locals_.clear();
    a_ = b_ = -1;
    for (const BlockInstr& instr : run) {
      for (int slot : {instr.a, instr.b, instr.c}) {
        if (Local* local = Find(slot)) ++local->uses;
      }
      local_of_[instr.dst] = static_cast<int>(locals_.size());
      locals_.emplace_back();
    }
    for (const BlockInstr& instr : run) WriteInstr(instr);
    Put(ChainOp::kEnd, 0);
    for (const BlockInstr& instr : run) local_of_[instr.dst] = -1;
    return std::move(chain_);
  }

 private:
  // A value that the chain computes.
  struct Local {
    int uses = 0;  // in this chain, still to come
    bool in_memory = false;
  };

  Local* Find(int slot) {
    return slot >= 0 && local_of_[slot] >= 0 ? &locals_[local_of_[slot]] : nullptr;
  }
  // True when `slot` must not be forgotten: it is used again and only registers hold it.
  bool IsWanted(int slot) {
    const Local* value = Find(slot);
    return value != nullptr && value->uses > 0 && !value->in_memory;
  }

  int32_t Position() const { return static_cast<int32_t>(chain_.code.size()); }
  void Put(ChainOp op, int slot, int other = 0) { chain_.code.push_back({op, slot, other}); }

  void Store(int slot) {
    chain_.writes.push_back({slot, Position()});
    Put(ChainOp::kStore, slot);
    if (Local* value = Find(slot)) value->in_memory = true;
  }

  // A is about to change: its value goes where it can be found again, if it must. B stays when it
  // holds `x` or `y`, operands to come.
  void Preserve(int x, int y) {
    if (!IsWanted(a_) || b_ == a_) return;
    if (b_ >= 0 && (b_ == x || b_ == y || IsWanted(b_))) {
      Store(a_);
    } else {
      Put(ChainOp::kSave, 0);
      b_ = a_;
    }
  }

  void Use(int slot) {
    if (Local* value = Find(slot)) --value->uses;
  }

  // `block`, a form for blocks, with operand `slot`.
  void Operate(ChainOp block, int slot, int other = 0) {
    const int form = static_cast<int>(block);
    if (slots_[slot].scalar) {
      Put(static_cast<ChainOp>(form + 1), slot, other);
    } else if (slot == b_) {
      Put(static_cast<ChainOp>(form + 2), 0, other);
    } else {
      chain_.reads.push_back({slot, Position()});
      Put(block, slot, other);
    }
  }

  // The value of `slot` comes to A; `other` is an operand beside it.
  void Fetch(int slot, int other) {
    if (a_ == slot) return;
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
      Put(ChainOp::kSave, 0);
      b_ = slot;
    }
  }

  void Define(int dst) {
    a_ = dst;
    if (slots_[dst].keep || slots_[dst].store >= 0 || uses_[dst] > Find(dst)->uses) Store(dst);
  }

  // A = x op y, or a comparison that leaves A alone and writes to `predicates`.
  void Binary(Forms forms, int x, int y, int predicates = -1) {
    const bool swap =
        forms.reversed != kNone && a_ != x && (a_ == y || slots_[x].scalar || b_ == x);
    if (swap) {
      std::swap(x, y);
      std::swap(forms.forward, forms.reversed);
    }
    Fetch(x, y);
    if (x == y) CopyForOperand(x);
    Use(x);
    Use(y);
    if (predicates < 0) {
      Preserve(y, y);
      Operate(forms.forward, y);
    } else {
      Operate(forms.forward, y, predicates);
    }
  }

  void Clamp(CType type, int low, int x, int high) {
    Fetch(x, low);
    if (low == x || high == x) CopyForOperand(x);
    for (int slot : {low, x, high}) Use(slot);
    Preserve(low, high);
    Operate(FindForms(BlockOp::kMaximum, type)->forward, low);
    Operate(FindForms(BlockOp::kMinimum, type)->forward, high);
  }

  void WriteInstr(const BlockInstr& instr) {
    if (const auto unary = FindUnary(instr.block_op, instr.type)) {
      Fetch(instr.a, instr.a);
      Use(instr.a);
      Preserve(-1, -1);
      Put(*unary, 0);
    } else if (instr.block_op == BlockOp::kSelect) {
      Use(instr.a);
      Binary({ChainOp::kSelectElseBlock, ChainOp::kSelectThenBlock}, instr.b, instr.c);
      chain_.code.back().other = instr.a;
      chain_.reads.push_back({instr.a, Position() - 1});
    } else if (instr.block_op == BlockOp::kClamp) {
      Clamp(instr.type, instr.a, instr.b, instr.c);
    } else if (IsCompare(instr.block_op)) {
      Binary(*FindForms(instr.block_op, instr.type), instr.a, instr.b, instr.dst);
      chain_.writes.push_back({instr.dst, Position() - 1});
      Find(instr.dst)->in_memory = true;
      return;  // A stays
    } else {
      Binary(*FindForms(instr.block_op, instr.type), instr.a, instr.b);
    }
    Define(instr.dst);
  }

  const absl::Span<const BlockSlot> slots_;
  const absl::Span<const int> uses_;
  std::vector<int> local_of_;  // by slot, in locals_; -1: not of this chain
  std::vector<Local> locals_;
  BlockChain chain_;
  int a_ = -1, b_ = -1;  // the slots whose values A and B hold
};

// Orders instructions so that those of one chain follow each other where operands allow it.
class Scheduler {
 public:
  Scheduler(const BlockKernels& kernels, size_t num_slots, std::vector<BlockInstr> instrs)
      : kernels_(kernels), instrs_(std::move(instrs)), ready_(num_slots, 1) {
    for (const BlockInstr& instr : instrs_) {
      if (instr.dst >= 0) ready_[instr.dst] = 0;
      chain_.push_back(ChainOf(kernels_, instr));
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
        if (next == first_ + kWindow) return run;
        if (!done_[next] && chain_[next] == *chain && IsReady(instrs_[next])) break;
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

void FormChains(const BlockKernels& kernels, absl::Span<const BlockSlot> slots, BlockCode* code) {
  // What is one element depends on single elements alone, and can go first.
  std::stable_partition(code->instrs.begin(), code->instrs.end(),
                        [](const BlockInstr& instr) { return instr.scalar; });
  std::vector<int> uses(slots.size(), 0);
  for (const BlockInstr& instr : code->instrs) {
    for (int slot : {instr.a, instr.b, instr.c}) {
      if (slot >= 0) ++uses[slot];
    }
  }
  ChainWriter writer(slots, uses);
  Scheduler scheduler(kernels, slots.size(), std::move(code->instrs));
  code->instrs.clear();
  ChainFn fn = nullptr;
  for (std::vector<BlockInstr> run = scheduler.Next(&fn); !run.empty(); run = scheduler.Next(&fn)) {
    if (run.size() == 1) {
      code->instrs.push_back(run[0]);
      continue;
    }
    BlockChain chain = writer.Write(run);
    chain.run = fn;
    chain.group = kernels.chain_group_bytes / kCTypeSize[static_cast<int>(run[0].type)];
    SortSlots(slots, &chain);
    BlockInstr instr;
    instr.kind = BlockInstr::kChain;
    instr.index = static_cast<int32_t>(code->chains.size());
    code->chains.push_back(std::move(chain));
    code->instrs.push_back(instr);
  }
}

}  // namespace pjrt::cpu
