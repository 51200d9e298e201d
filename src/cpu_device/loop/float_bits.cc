// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/float_bits.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace pjrt::cpu {
namespace {

// A type of floats: the numbers from +0 on are counted by their bits, up to `limit`, and their
// negatives likewise with the bit `sign`. NaNs lie beyond either limit.
struct Format {
  PrimitiveType bits_type = PRIMITIVE_TYPE_INVALID;  // integers as wide
  uint32_t sign = 0, limit = 0;
  bool has_infinity = false;  // which is the limit
};

// A set of floats: compare((bits & mask) - first, bound), without a sign.
struct Test {
  uint32_t mask = 0, first = 0;
  BlockOp compare = BlockOp::kCompareLt;
  uint32_t bound = 0;
};

class BitsRewriter {
 public:
  BitsRewriter(const BlockKernels& kernels, LoopProgram* program)
      : kernels_(kernels), p_(*program), type_(p_.instrs.size(), PRIMITIVE_TYPE_INVALID) {}

  void Run() {
    std::vector<int> loads(p_.inputs.size(), 0);
    for (const LoopInstr& instr : p_.instrs) {
      if (IsLoad(instr)) ++loads[instr.index];
    }
    for (const LoopReduce& reduce : p_.reduces) {
      for (int32_t input : reduce.init_inputs) ++loads[input];
    }
    bool any = false;
    for (size_t v = 0; v < p_.instrs.size(); ++v) {
      const LoopInstr& instr = p_.instrs[v];
      if (IsLoad(instr)) {
        const PrimitiveType type = p_.inputs[instr.index].type;
        if (loads[instr.index] == 1 && FormatOf(type).has_value()) type_[v] = type;
      } else {
        type_[v] = ResultType(instr);
      }
      any |= IsOnBits(static_cast<LoopValue>(v));
    }
    if (!any) return;
    // What one use needs in f32 is in f32 for all of them, and so is what is made of it.
    while (DropTypes()) {
    }
    if (std::any_of(type_.begin(), type_.end(),
                    [](PrimitiveType type) { return type != PRIMITIVE_TYPE_INVALID; }))
      Rewrite();
  }

 private:
  static bool IsLoad(const LoopInstr& instr) {
    return instr.kind == LoopInstr::kInput || instr.kind == LoopInstr::kGather;
  }
  static bool IsOp(const LoopInstr& instr, BlockOp op) {
    return instr.kind == LoopInstr::kOp && instr.op == op;
  }
  bool IsOnBits(LoopValue v) const { return type_[v] != PRIMITIVE_TYPE_INVALID; }

  uint32_t Encode(PrimitiveType type, float x) const {
    uint16_t bits = 0;
    kernels_.store[type](&bits, &x, 1);
    return bits;
  }
  float Decode(PrimitiveType type, uint32_t bits) const {
    const uint16_t from = static_cast<uint16_t>(bits);
    float x;
    kernels_.load[type](&x, &from, 1);
    return x;
  }

  // Of types that have one; others have no sign, no -0, or no whole bytes.
  std::optional<Format> FormatOf(PrimitiveType type) const {
    if (!IsFloating(type) || BitWidth(type) > 16 || BitWidth(type) % 8 != 0) return std::nullopt;
    Format format;
    format.bits_type = BitWidth(type) == 8 ? U8 : U16;
    format.sign = 1u << (BitWidth(type) - 1);
    if (Encode(type, -0.0f) != format.sign) return std::nullopt;
    const uint32_t infinity = Encode(type, std::numeric_limits<float>::infinity());
    format.has_infinity = std::isinf(Decode(type, infinity));
    format.limit = format.has_infinity ? infinity : infinity - 1;  // NaN stands for it
    return format;
  }

  // The bits of a constant that the type holds exactly and that is not NaN.
  std::optional<uint32_t> ConstantBits(LoopValue v, PrimitiveType type) const {
    const LoopInstr& instr = p_.instrs[v];
    if (instr.kind != LoopInstr::kConstant || instr.type != CType::kF32) return std::nullopt;
    float x;
    std::memcpy(&x, instr.bits, sizeof(x));
    const uint32_t bits = Encode(type, x);
    return Decode(type, bits) == x ? std::optional(bits) : std::nullopt;
  }

  bool IsNan(LoopValue v) const {
    const LoopInstr& instr = p_.instrs[v];
    float x;
    std::memcpy(&x, instr.bits, sizeof(x));
    return instr.kind == LoopInstr::kConstant && instr.type == CType::kF32 && std::isnan(x);
  }

  // The type of two operands, one of which may be a constant.
  PrimitiveType CommonType(LoopValue a, LoopValue b) const {
    if (!IsOnBits(a)) std::swap(a, b);
    return IsOnBits(a) && (type_[a] == type_[b] || ConstantBits(b, type_[a]).has_value())
               ? type_[a]
               : PRIMITIVE_TYPE_INVALID;
  }

  // The type on whose bits the instruction, no load, can compute its result.
  PrimitiveType ResultType(const LoopInstr& instr) const {
    if (instr.kind == LoopInstr::kRoundTo)
      return type_[instr.args[0]] == instr.memory_type ? instr.memory_type : PRIMITIVE_TYPE_INVALID;
    if (instr.kind != LoopInstr::kOp || instr.operand_type != CType::kF32)
      return PRIMITIVE_TYPE_INVALID;
    switch (instr.op) {
      case BlockOp::kAbs:
      case BlockOp::kNegate:
        return type_[instr.args[0]];
      case BlockOp::kSelect:
        return CommonType(instr.args[1], instr.args[2]);
      case BlockOp::kMaximum:
      case BlockOp::kMinimum: {
        const bool swapped = !IsOnBits(instr.args[0]);
        const LoopValue x = instr.args[swapped], bound = instr.args[!swapped];
        return IsOnBits(x) && BeyondBound(instr.op, type_[x], bound).has_value()
                   ? type_[x]
                   : PRIMITIVE_TYPE_INVALID;
      }
      case BlockOp::kClamp: {
        const PrimitiveType type = type_[instr.args[1]];
        return type != PRIMITIVE_TYPE_INVALID &&
                       BeyondBound(BlockOp::kMaximum, type, instr.args[0]).has_value() &&
                       BeyondBound(BlockOp::kMinimum, type, instr.args[2]).has_value()
                   ? type
                   : PRIMITIVE_TYPE_INVALID;
      }
      default:
        return PRIMITIVE_TYPE_INVALID;
    }
  }

  // The numbers in whose place a maximum or minimum has its other operand, a constant; nullopt
  // where they are not in a row because they are on both sides of zero.
  std::optional<Test> BeyondBound(BlockOp op, PrimitiveType type, LoopValue bound) const {
    const Format format = *FormatOf(type);
    const std::optional<uint32_t> bits = ConstantBits(bound, type);
    if (!bits.has_value()) return std::nullopt;
    const uint32_t own_sign = op == BlockOp::kMaximum ? format.sign : 0;
    const bool same_side = (*bits & format.sign) == own_sign;
    const uint32_t size = *bits & ~format.sign;
    if (!same_side && size != 0) return std::nullopt;
    // From the next number on; from zero on where the bound is the other zero.
    const uint32_t skipped = same_side ? size + 1 : 0;
    return Test{~0u, own_sign | skipped, BlockOp::kCompareLt, format.limit + 1 - skipped};
  }

  // What the instruction, with a predicate as its result, asks of its operand, the value x.
  struct Question {
    LoopValue x;
    Test test;
  };
  std::optional<Question> QuestionOf(const LoopInstr& instr) const {
    if (instr.kind != LoopInstr::kOp || instr.type != CType::kPred ||
        instr.operand_type != CType::kF32)
      return std::nullopt;
    if (IsOp(instr, BlockOp::kIsFinite)) {
      const LoopValue x = instr.args[0];
      if (!IsOnBits(x)) return std::nullopt;
      const Format format = *FormatOf(type_[x]);
      return Question{
          x,
          {format.sign - 1, 0, format.has_infinity ? BlockOp::kCompareLt : BlockOp::kCompareLe,
           format.limit}};
    }
    if (instr.op < BlockOp::kCompareEq || instr.op > BlockOp::kCompareGe) return std::nullopt;
    const bool swapped = !IsOnBits(instr.args[0]);
    const LoopValue x = instr.args[swapped], other = instr.args[!swapped];
    if (!IsOnBits(x)) return std::nullopt;
    const Format format = *FormatOf(type_[x]);
    const bool equal = instr.op == BlockOp::kCompareEq, unequal = instr.op == BlockOp::kCompareNe;
    if (x == other) {
      if (!equal && !unequal) return std::nullopt;
      return Question{
          x, {format.sign - 1, 0, equal ? BlockOp::kCompareLe : BlockOp::kCompareGt, format.limit}};
    }
    // Every number is unequal to NaN; nothing else holds of the two.
    if (IsNan(other)) {
      return Question{x, {0, 0, unequal ? BlockOp::kCompareEq : BlockOp::kCompareNe, 0}};
    }
    const std::optional<uint32_t> bits = ConstantBits(other, type_[x]);
    if (!bits.has_value()) return std::nullopt;
    const uint32_t size = *bits & ~format.sign;
    if (equal || unequal) {
      return Question{x, {size == 0 ? format.sign - 1 : ~0u, 0, instr.op, size == 0 ? 0 : *bits}};
    }
    const bool with_bound = instr.op == BlockOp::kCompareGe || instr.op == BlockOp::kCompareLe;
    const bool above = instr.op == BlockOp::kCompareGt || instr.op == BlockOp::kCompareGe;
    // Above a positive constant or below a negative one numbers are in a row; beside zero, they are
    // where neither zero belongs to them.
    const uint32_t own_sign = above != swapped ? 0 : format.sign;
    if (size == 0 ? with_bound : (*bits & format.sign) != own_sign) return std::nullopt;
    const uint32_t skipped = with_bound ? size : size + 1;
    return Question{x, {~0u, own_sign | skipped, BlockOp::kCompareLt, format.limit + 1 - skipped}};
  }

  // Takes the type from values that cannot keep it; whether there were any.
  bool DropTypes() {
    bool dropped = false;
    const auto drop = [&](LoopValue v) {
      dropped |= IsOnBits(v);
      type_[v] = PRIMITIVE_TYPE_INVALID;
    };
    for (size_t v = 0; v < p_.instrs.size(); ++v) {
      const LoopInstr& instr = p_.instrs[v];
      if (IsOnBits(static_cast<LoopValue>(v)) && (IsLoad(instr) || ResultType(instr) == type_[v]))
        continue;
      drop(static_cast<LoopValue>(v));
      if (QuestionOf(instr).has_value()) continue;
      for (LoopValue arg : instr.args) {
        if (arg >= 0) drop(arg);
      }
    }
    for (const LoopStore& store : p_.stores) {
      if (type_[store.value] != store.type) drop(store.value);
    }
    for (const LoopReduce& reduce : p_.reduces) {
      for (LoopValue v : reduce.values) drop(v);
    }
    for (LoopValue v : p_.results) drop(v);
    return dropped;
  }

  LoopValue Append(LoopInstr instr) {
    instrs_.push_back(std::move(instr));
    return static_cast<LoopValue>(instrs_.size()) - 1;
  }
  LoopValue Constant(CType type, uint32_t bits) {
    LoopInstr instr;
    instr.type = type;
    const uint16_t narrow = static_cast<uint16_t>(bits);
    std::memcpy(instr.bits, &narrow, sizeof(narrow));
    return Append(std::move(instr));
  }
  LoopValue Op(BlockOp op, CType type, CType operand_type, LoopValue a, LoopValue b,
               LoopValue c = -1) {
    return Append(LoopInstr::Op(op, type, operand_type, a, b, c));
  }
  // A value of the program as bits of `type`.
  LoopValue Bits(LoopValue v, PrimitiveType type) {
    if (IsOnBits(v)) return new_[v];
    return Constant(ComputeTypeOf(FormatOf(type)->bits_type), *ConstantBits(v, type));
  }
  LoopValue Ask(LoopValue x, CType type, const Test& test) {
    const uint32_t all = type == CType::kU8 ? 0xffu : 0xffffu;
    if ((test.mask & all) != all) x = Op(BlockOp::kAnd, type, type, x, Constant(type, test.mask));
    if (test.first != 0) x = Op(BlockOp::kSubtract, type, type, x, Constant(type, test.first));
    return Op(test.compare, CType::kPred, type, x, Constant(type, test.bound));
  }
  // The maximum or minimum of x and a constant.
  LoopValue Bound(BlockOp op, LoopValue x, PrimitiveType type, LoopValue bound) {
    const CType own = ComputeTypeOf(FormatOf(type)->bits_type);
    const LoopValue beyond = Ask(x, own, *BeyondBound(op, type, bound));
    return Op(BlockOp::kSelect, own, own, beyond, Bits(bound, type), x);
  }

  LoopValue OnBits(LoopInstr instr, PrimitiveType type) {
    const Format format = *FormatOf(type);
    const CType own = ComputeTypeOf(format.bits_type);
    const LoopValue* const args = instr.args;
    if (IsLoad(instr)) {
      p_.inputs[instr.index].type = format.bits_type;
      instr.type = own;
      if (instr.args[0] >= 0) instr.args[0] = new_[instr.args[0]];
      return Append(std::move(instr));
    }
    if (instr.kind == LoopInstr::kRoundTo) return new_[args[0]];
    switch (instr.op) {
      case BlockOp::kAbs:
        return Op(BlockOp::kAnd, own, own, new_[args[0]], Constant(own, format.sign - 1));
      case BlockOp::kNegate:
        return Op(BlockOp::kXor, own, own, new_[args[0]], Constant(own, format.sign));
      case BlockOp::kSelect: {
        const LoopValue on_true = Bits(args[1], type), on_false = Bits(args[2], type);
        return Op(BlockOp::kSelect, own, own, new_[args[0]], on_true, on_false);
      }
      case BlockOp::kClamp:
        return Bound(BlockOp::kMinimum, Bound(BlockOp::kMaximum, new_[args[1]], type, args[0]),
                     type, args[2]);
      default: {  // a maximum or minimum
        const bool swapped = !IsOnBits(args[0]);
        return Bound(instr.op, new_[args[swapped]], type, args[!swapped]);
      }
    }
  }

  void Rewrite() {
    new_.assign(p_.instrs.size(), -1);
    for (size_t v = 0; v < p_.instrs.size(); ++v) {
      const LoopInstr& instr = p_.instrs[v];
      if (IsOnBits(static_cast<LoopValue>(v))) {
        new_[v] = OnBits(instr, type_[v]);
      } else if (const auto question = QuestionOf(instr)) {
        const Format format = *FormatOf(type_[question->x]);
        new_[v] = Ask(new_[question->x], ComputeTypeOf(format.bits_type), question->test);
      } else {
        LoopInstr copy = instr;
        for (LoopValue& arg : copy.args) {
          if (arg >= 0) arg = new_[arg];
        }
        new_[v] = Append(std::move(copy));
      }
    }
    for (LoopStore& store : p_.stores) {
      if (IsOnBits(store.value)) store.type = FormatOf(store.type)->bits_type;
      store.value = new_[store.value];
    }
    for (LoopReduce& reduce : p_.reduces) {
      for (LoopValue& v : reduce.values) v = new_[v];
    }
    for (LoopValue& v : p_.results) v = new_[v];
    p_.instrs = std::move(instrs_);
  }

  const BlockKernels& kernels_;
  LoopProgram& p_;
  // For each value the type on whose bits it is computed, PRIMITIVE_TYPE_INVALID for none.
  std::vector<PrimitiveType> type_;
  std::vector<LoopInstr> instrs_;
  std::vector<LoopValue> new_;  // by value, in instrs_
};

}  // namespace

void ComputeOnBits(const BlockKernels& kernels, LoopProgram* program) {
  BitsRewriter(kernels, program).Run();
}

}  // namespace pjrt::cpu
