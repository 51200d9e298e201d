// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/block_chain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/loop/join_shifts.h"

namespace pjrt::cpu {
namespace {

// How far behind the first instruction that is left another one may be moved up from.
constexpr size_t kWindow = 24;

// Kinds of numbers.
constexpr int kFloats = 1, kSigned = 2, kUnsigned = 4, kIntegers = kSigned | kUnsigned;

bool IsFloat(CType type) { return type == CType::kF32 || type == CType::kF64; }
int KindOf(CType type) {
  if (IsFloat(type)) return kFloats;
  return type == CType::kS32 || type == CType::kS64 ? kSigned : kUnsigned;
}

// A binary operation in chains, by its form for blocks; those for one element and for B follow it.
struct Forms {
  ChainOp forward, reversed;  // `reversed`: with operands the other way; kEnd: none
};
struct ChainRow {
  BlockOp op;
  int kinds;  // what it is for
  Forms forms;
};
constexpr ChainOp kNone = ChainOp::kEnd;
constexpr ChainRow kRows[] = {
    {BlockOp::kAdd, kFloats, {ChainOp::kAddBlock, ChainOp::kAddBlock}},
    {BlockOp::kAdd, kIntegers, {ChainOp::kIntegerAddBlock, ChainOp::kIntegerAddBlock}},
    {BlockOp::kMultiply, kFloats, {ChainOp::kMultiplyBlock, ChainOp::kMultiplyBlock}},
    {BlockOp::kMultiply,
     kIntegers,
     {ChainOp::kIntegerMultiplyBlock, ChainOp::kIntegerMultiplyBlock}},
    {BlockOp::kSubtract, kFloats, {ChainOp::kSubtractBlock, ChainOp::kSubtractFromBlock}},
    {BlockOp::kSubtract,
     kIntegers,
     {ChainOp::kIntegerSubtractBlock, ChainOp::kIntegerSubtractFromBlock}},
    {BlockOp::kDivide, kFloats, {ChainOp::kDivideBlock, ChainOp::kDivideIntoBlock}},
    {BlockOp::kMaximum, kFloats, {ChainOp::kMaximumBlock, ChainOp::kMaximumBlock}},
    {BlockOp::kMaximum, kSigned, {ChainOp::kSignedMaximumBlock, ChainOp::kSignedMaximumBlock}},
    {BlockOp::kMaximum,
     kUnsigned,
     {ChainOp::kUnsignedMaximumBlock, ChainOp::kUnsignedMaximumBlock}},
    {BlockOp::kMinimum, kFloats, {ChainOp::kMinimumBlock, ChainOp::kMinimumBlock}},
    {BlockOp::kMinimum, kSigned, {ChainOp::kSignedMinimumBlock, ChainOp::kSignedMinimumBlock}},
    {BlockOp::kMinimum,
     kUnsigned,
     {ChainOp::kUnsignedMinimumBlock, ChainOp::kUnsignedMinimumBlock}},
    {BlockOp::kAnd, kIntegers, {ChainOp::kAndBlock, ChainOp::kAndBlock}},
    {BlockOp::kOr, kIntegers, {ChainOp::kOrBlock, ChainOp::kOrBlock}},
    {BlockOp::kXor, kIntegers, {ChainOp::kXorBlock, ChainOp::kXorBlock}},
    {BlockOp::kShiftLeft, kIntegers, {ChainOp::kShiftLeftBlock, kNone}},
    {BlockOp::kShiftRightLogical, kIntegers, {ChainOp::kShiftRightLogicalBlock, kNone}},
    {BlockOp::kShiftRightArithmetic, kIntegers, {ChainOp::kShiftRightArithmeticBlock, kNone}},
    {BlockOp::kCompareEq, kFloats, {ChainOp::kCompareEqBlock, ChainOp::kCompareEqBlock}},
    {BlockOp::kCompareEq, kIntegers, {ChainOp::kIntegerEqBlock, ChainOp::kIntegerEqBlock}},
    {BlockOp::kCompareNe, kFloats, {ChainOp::kCompareNeBlock, ChainOp::kCompareNeBlock}},
    {BlockOp::kCompareNe, kIntegers, {ChainOp::kIntegerNeBlock, ChainOp::kIntegerNeBlock}},
    {BlockOp::kCompareLt, kFloats, {ChainOp::kCompareLtBlock, ChainOp::kCompareGtBlock}},
    {BlockOp::kCompareLt, kSigned, {ChainOp::kSignedLtBlock, ChainOp::kSignedGtBlock}},
    {BlockOp::kCompareLt, kUnsigned, {ChainOp::kUnsignedLtBlock, ChainOp::kUnsignedGtBlock}},
    {BlockOp::kCompareLe, kFloats, {ChainOp::kCompareLeBlock, ChainOp::kCompareGeBlock}},
    {BlockOp::kCompareLe, kSigned, {ChainOp::kSignedLeBlock, ChainOp::kSignedGeBlock}},
    {BlockOp::kCompareLe, kUnsigned, {ChainOp::kUnsignedLeBlock, ChainOp::kUnsignedGeBlock}},
    {BlockOp::kCompareGt, kFloats, {ChainOp::kCompareGtBlock, ChainOp::kCompareLtBlock}},
    {BlockOp::kCompareGt, kSigned, {ChainOp::kSignedGtBlock, ChainOp::kSignedLtBlock}},
    {BlockOp::kCompareGt, kUnsigned, {ChainOp::kUnsignedGtBlock, ChainOp::kUnsignedLtBlock}},
    {BlockOp::kCompareGe, kFloats, {ChainOp::kCompareGeBlock, ChainOp::kCompareLeBlock}},
    {BlockOp::kCompareGe, kSigned, {ChainOp::kSignedGeBlock, ChainOp::kSignedLeBlock}},
    {BlockOp::kCompareGe, kUnsigned, {ChainOp::kUnsignedGeBlock, ChainOp::kUnsignedLeBlock}},
};

std::optional<Forms> FindForms(BlockOp op, CType type) {
  for (const ChainRow& row : kRows) {
    if (row.op == op && (row.kinds & KindOf(type)) != 0) return row.forms;
  }
  return std::nullopt;
}

std::optional<ChainOp> FindUnary(BlockOp op, CType type) {
  if (op == BlockOp::kNegate) return IsFloat(type) ? ChainOp::kNegate : ChainOp::kIntegerNegate;
  if (op == BlockOp::kNot) return IsFloat(type) ? std::nullopt : std::optional(ChainOp::kNot);
  if (!IsFloat(type)) return std::nullopt;
  switch (op) {
    case BlockOp::kAbs:
      return ChainOp::kAbs;
    case BlockOp::kSqrt:
      return ChainOp::kSqrt;
    case BlockOp::kRsqrt:
      return ChainOp::kRsqrt;
    case BlockOp::kSign:
      return ChainOp::kSign;
    case BlockOp::kFloor:
      return ChainOp::kFloor;
    case BlockOp::kCeil:
      return ChainOp::kCeil;
    case BlockOp::kRoundEven:
      return ChainOp::kRoundEven;
    default:
      return std::nullopt;
  }
}

bool IsCompare(BlockOp op) { return op >= BlockOp::kCompareEq && op <= BlockOp::kCompareGe; }

// An operation on predicates, which chains of all types have.
std::optional<ChainOp> FindLogic(const BlockInstr& instr) {
  if (instr.kind != BlockInstr::kOp || instr.scalar || instr.type != CType::kPred ||
      instr.form != Scalars::kNone || instr.a == instr.b)
    return std::nullopt;
  switch (instr.block_op) {
    case BlockOp::kNot:
      return ChainOp::kNotMask;
    case BlockOp::kAnd:
      return ChainOp::kAndMask;
    case BlockOp::kOr:
      return ChainOp::kOrMask;
    case BlockOp::kXor:
    case BlockOp::kCompareNe:
    case BlockOp::kCompareEq:  // and not
      return ChainOp::kXorMask;
    default:
      return std::nullopt;
  }
}

// B = the result of a form for B as operand; kEnd: there is none.
ChainOp ToSaved(ChainOp block) {
  switch (block) {
    case ChainOp::kAddBlock:
      return ChainOp::kAddToB;
    case ChainOp::kSubtractFromBlock:
      return ChainOp::kSubtractFromB;
    case ChainOp::kMultiplyBlock:
      return ChainOp::kMultiplyB;
    case ChainOp::kIntegerAddBlock:
      return ChainOp::kIntegerAddToB;
    case ChainOp::kIntegerSubtractFromBlock:
      return ChainOp::kIntegerSubtractFromB;
    case ChainOp::kIntegerMultiplyBlock:
      return ChainOp::kIntegerMultiplyB;
    case ChainOp::kAndBlock:
      return ChainOp::kAndToB;
    case ChainOp::kOrBlock:
      return ChainOp::kOrToB;
    case ChainOp::kXorBlock:
      return ChainOp::kXorToB;
    default:
      return kNone;
  }
}

// Conversions between bf16 in memory and f32.
std::optional<ChainOp> FindBf16(const BlockKernels& kernels, const BlockInstr& instr) {
  if (instr.kind != BlockInstr::kConvert || instr.scalar) return std::nullopt;
  if (instr.convert == kernels.load[BF16]) return ChainOp::kLoadBf16;
  if (instr.convert == kernels.round_to[BF16]) return ChainOp::kRoundBf16;
  if (instr.convert == kernels.store[BF16]) return ChainOp::kStoreBf16;
  return std::nullopt;
}

// Conversions between compute types of one width, and of predicates to them.
struct Conversion {
  CType to, from;
  ChainOp op;
};
constexpr Conversion kConversions[] = {
    {CType::kF32, CType::kS32, ChainOp::kFloatFromSigned},
    {CType::kF32, CType::kU32, ChainOp::kFloatFromUnsigned},
    {CType::kS32, CType::kF32, ChainOp::kSignedFromFloat},
    {CType::kF64, CType::kS64, ChainOp::kFloatFromSigned},
    {CType::kF64, CType::kU64, ChainOp::kFloatFromUnsigned},
    {CType::kS64, CType::kF64, ChainOp::kSignedFromFloat},
    {CType::kF32, CType::kPred, ChainOp::kFloatFromMask},
    {CType::kF64, CType::kPred, ChainOp::kFloatFromMask},
    {CType::kS32, CType::kPred, ChainOp::kIntegerFromMask},
    {CType::kU32, CType::kPred, ChainOp::kIntegerFromMask},
    {CType::kS64, CType::kPred, ChainOp::kIntegerFromMask},
    {CType::kU64, CType::kPred, ChainOp::kIntegerFromMask},
};
const Conversion* FindConversion(const BlockKernels& kernels, const BlockInstr& instr) {
  if (instr.kind != BlockInstr::kConvert || instr.scalar) return nullptr;
  for (const Conversion& row : kConversions) {
    if (row.from == instr.type &&
        instr.convert == kernels.convert[static_cast<int>(row.to)][static_cast<int>(row.from)])
      return &row;
  }
  return nullptr;
}

// The chains that the instruction can be part of; null for none.
ChainFn ChainOf(const BlockKernels& kernels, const BlockInstr& instr) {
  if (FindBf16(kernels, instr).has_value()) return kernels.chain[static_cast<int>(CType::kF32)];
  if (const Conversion* conversion = FindConversion(kernels, instr))
    return kernels.chain[static_cast<int>(conversion->to)];
  if (instr.kind != BlockInstr::kOp || instr.scalar) return nullptr;
  const ChainFn chain = kernels.chain[static_cast<int>(instr.type)];
  if (chain == nullptr || instr.shifts_both) return chain;
  if (FindForms(instr.block_op, instr.type).has_value() ||
      FindUnary(instr.block_op, instr.type).has_value())
    return chain;
  // A predicate that all elements share moves memory at most.
  if (instr.block_op == BlockOp::kSelect) return instr.form == Scalars::kFirst ? nullptr : chain;
  return instr.block_op == BlockOp::kClamp ? chain : nullptr;
}

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
      ChainInstr& last = chain_.code.back();
      if (block == ChainOp::kAddBlock && last.op == ChainOp::kMultiplySaved) {
        last = {ChainOp::kMultiplyAdd, slot};
      } else if (block == ChainOp::kIntegerAddBlock && last.op == ChainOp::kIntegerMultiplySaved) {
        last = {ChainOp::kIntegerMultiplyAdd, slot};
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
  bool Binary(Forms forms, int x, int y, bool compares = false, int dst = -1) {
    if (forms.reversed != kNone && a_ != x && (a_ == y || slots_[x].scalar)) {
      std::swap(x, y);
      std::swap(forms.forward, forms.reversed);
    }
    Fetch(x, y);
    if (x == y) CopyForOperand(x);
    Use(x);
    Use(y);
    if (dst >= 0 && b_ == y && x != y && IsWanted(x) && !IsWanted(y) && !IsResult(dst)) {
      if (const ChainOp to_saved = ToSaved(forms.forward); to_saved != kNone) {
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
    Operate(FindForms(BlockOp::kMaximum, type)->forward, low);
    Operate(FindForms(BlockOp::kMinimum, type)->forward, high);
  }

  void WriteInstr(const BlockInstr& instr) {
    if (const auto bf16 = FindBf16(kernels_, instr)) return WriteBf16(*bf16, instr);
    if (const Conversion* conversion = FindConversion(kernels_, instr)) {
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
    if (const auto logic = FindLogic(instr)) {
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
      Binary(*FindForms(instr.block_op, instr.type), instr.a, instr.b, /*compares=*/true);
      return DefineMask(instr.dst);
    }
    if (instr.shifts_both) {
      Unary(ChainOp::kShiftBoth, instr.a);
      chain_.code.back().slot = instr.b;
      Put(ChainOp::kShiftBoth, instr.c);
    } else if (const auto unary = FindUnary(instr.block_op, instr.type)) {
      Unary(*unary, instr.a);
    } else if (instr.block_op == BlockOp::kSelect) {
      FetchMask(instr.a);
      Use(instr.a);
      Binary({ChainOp::kSelectElseBlock, ChainOp::kSelectThenBlock}, instr.b, instr.c);
    } else if (instr.block_op == BlockOp::kClamp) {
      Clamp(instr.type, instr.a, instr.b, instr.c);
    } else if (Binary(*FindForms(instr.block_op, instr.type), instr.a, instr.b,
                      /*compares=*/false, instr.dst)) {
      return;
    }
    Define(instr.dst);
  }

  void WriteBf16(ChainOp op, const BlockInstr& instr) {
    if (op == ChainOp::kStoreBf16) {
      Fetch(instr.a, instr.a);
      Use(instr.a);
      return Store(instr.dst, op);
    }
    if (op == ChainOp::kRoundBf16) {
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
      is_logic_.push_back(FindLogic(instr).has_value());
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
                BlockCode* code) {
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
    const int width = fn == kernels.chain[static_cast<int>(CType::kF32)] ? 4 : 8;
    const int64_t group = kernels.chain_group_bytes / width;
    const bool needs_chain = std::any_of(run.begin(), run.end(),
                                         [](const BlockInstr& instr) { return instr.shifts_both; });
    if ((run.size() == 1 || points < group) && !needs_chain) {
      code->instrs.insert(code->instrs.end(), run.begin(), run.end());
      continue;
    }
    BlockChain chain = writer.Write(run);
    chain.run = fn;
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
