// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/match_choice.h"

#include <cstdint>
#include <vector>

namespace pjrt::cpu {
namespace {

// Longer bodies are not what is looked for.
constexpr size_t kMaxChoiceInstrs = 64;

// How two elements a and b compare.
enum class Relation { kLess, kEqual, kGreater, kFirstNan, kSecondNan, kBothNan };
constexpr Relation kRelations[] = {Relation::kLess,     Relation::kEqual,     Relation::kGreater,
                                   Relation::kFirstNan, Relation::kSecondNan, Relation::kBothNan};

bool IsInt(CType type) { return type >= CType::kS8 && type <= CType::kU64; }

// What is known of a value of a body: that it is one of the parameters (0 to 3), or a predicate.
constexpr int kFalse = 4, kTrue = 5, kUnknown = 6;
bool IsParameter(int known) { return known < kFalse; }
bool IsPredicate(int known) { return known == kFalse || known == kTrue; }

// A body of two values evaluated for given relations. Parameters 0 and 1 are the first pair, 2 and
// 3 the second.
class Case {
 public:
  // How parameter 0 compares with 2, and 1 with 3.
  Case(const LoopProgram& body, Relation first, Relation second)
      : body_(body), relations_{first, second} {
    for (const LoopInstr& instr : body.instrs) known_.push_back(Evaluate(instr));
  }
  // The parameter that a result is, or kUnknown.
  int Result(int i) const {
    const int known = known_[body_.results[i]];
    return IsParameter(known) ? known : kUnknown;
  }

 private:
  int Arg(const LoopInstr& instr, int i) const { return known_[instr.args[i]]; }

  int Evaluate(const LoopInstr& instr) const {
    if (instr.kind == LoopInstr::kParameter) return instr.index;
    if (instr.kind == LoopInstr::kConstant && instr.type == CType::kPred)
      return instr.bits[0] != 0 ? kTrue : kFalse;
    if (instr.kind != LoopInstr::kOp) return kUnknown;
    switch (instr.op) {
      case BlockOp::kCopy:
        return instr.type == instr.operand_type ? Arg(instr, 0) : kUnknown;
      case BlockOp::kNot:
        return IsPredicate(Arg(instr, 0)) ? Negated(Arg(instr, 0)) : kUnknown;
      case BlockOp::kSelect:
        if (Arg(instr, 1) == Arg(instr, 2)) return Arg(instr, 1);
        if (!IsPredicate(Arg(instr, 0))) return kUnknown;
        return Arg(instr, 0) == kTrue ? Arg(instr, 1) : Arg(instr, 2);
      case BlockOp::kMaximum:
      case BlockOp::kMinimum:
        return instr.type == CType::kPred ? Logic(instr) : Extreme(instr);
      case BlockOp::kAdd:
      case BlockOp::kMultiply:
      case BlockOp::kAnd:
      case BlockOp::kOr:
      case BlockOp::kXor:
        return instr.type == CType::kPred ? Logic(instr) : kUnknown;
      case BlockOp::kCompareEq:
      case BlockOp::kCompareNe:
      case BlockOp::kCompareLt:
      case BlockOp::kCompareLe:
      case BlockOp::kCompareGt:
      case BlockOp::kCompareGe:
        return Compare(instr);
      default:
        return kUnknown;
    }
  }

  static int Negated(int predicate) { return predicate == kTrue ? kFalse : kTrue; }

  // Of predicates, one of which may be unknown where the other decides.
  int Logic(const LoopInstr& instr) const {
    const int a = Arg(instr, 0), b = Arg(instr, 1);
    switch (instr.op) {
      case BlockOp::kXor:
        if (!IsPredicate(a) || !IsPredicate(b)) return kUnknown;
        return a == b ? kFalse : kTrue;
      case BlockOp::kAnd:
      case BlockOp::kMultiply:
      case BlockOp::kMinimum:
        if (a == kFalse || b == kFalse) return kFalse;
        return a == kTrue && b == kTrue ? kTrue : kUnknown;
      default:
        if (a == kTrue || b == kTrue) return kTrue;
        return a == kFalse && b == kFalse ? kFalse : kUnknown;
    }
  }

  // How two parameters compare; false where nothing is known.
  bool RelationOf(int a, int b, CType type, Relation* relation) const {
    if (!IsParameter(a) || !IsParameter(b) || a % 2 != b % 2) return false;
    if (!IsFloat(type) && !IsInt(type) && type != CType::kPred) return false;
    const Relation of = relations_[a % 2];
    const bool first_nan = of == Relation::kFirstNan || of == Relation::kBothNan;
    const bool second_nan = of == Relation::kSecondNan || of == Relation::kBothNan;
    if (a == b) {
      *relation = (a < 2 ? first_nan : second_nan) ? Relation::kBothNan : Relation::kEqual;
    } else if (a < b) {
      *relation = of;
    } else {
      static constexpr Relation kSwapped[] = {Relation::kGreater,  Relation::kEqual,
                                              Relation::kLess,     Relation::kSecondNan,
                                              Relation::kFirstNan, Relation::kBothNan};
      *relation = kSwapped[static_cast<int>(of)];
    }
    return true;
  }

  int Compare(const LoopInstr& instr) const {
    const int a = Arg(instr, 0), b = Arg(instr, 1);
    Relation of;
    if (IsPredicate(a) && IsPredicate(b)) {
      of = a == b ? Relation::kEqual : a == kFalse ? Relation::kLess : Relation::kGreater;
    } else if (!RelationOf(a, b, instr.operand_type, &of)) {
      return kUnknown;
    }
    const bool less = of == Relation::kLess, equal = of == Relation::kEqual;
    const bool greater = of == Relation::kGreater;
    bool holds = false;
    switch (instr.op) {
      case BlockOp::kCompareEq:
        holds = equal;
        break;
      case BlockOp::kCompareNe:
        holds = !equal;
        break;
      case BlockOp::kCompareLt:
        holds = less;
        break;
      case BlockOp::kCompareLe:
        holds = less || equal;
        break;
      case BlockOp::kCompareGt:
        holds = greater;
        break;
      default:
        holds = greater || equal;
    }
    return holds ? kTrue : kFalse;
  }

  // Equal floats may be zeros of two signs, of which the larger is neither the first nor the
  // second.
  int Extreme(const LoopInstr& instr) const {
    const int a = Arg(instr, 0), b = Arg(instr, 1);
    Relation of;
    if (!RelationOf(a, b, instr.operand_type, &of)) return kUnknown;
    if (of == Relation::kEqual) return IsInt(instr.operand_type) ? a : kUnknown;
    if (of == Relation::kGreater) return instr.op == BlockOp::kMaximum ? a : b;
    if (of == Relation::kLess) return instr.op == BlockOp::kMaximum ? b : a;
    return of == Relation::kSecondNan ? b : a;
  }

  const LoopProgram& body_;
  const Relation relations_[2];
  std::vector<int> known_;
};

// What the body does when values compare as `of` and companions as `companions`: whether the value,
// and the companion, are those of the first pair. False where it does anything else.
bool Chosen(const LoopProgram& body, int value, Relation of, Relation companions,
            bool* value_is_first, bool* companion_is_first) {
  const Case it(body, value == 0 ? of : companions, value == 0 ? companions : of);
  const int v = it.Result(value), c = it.Result(1 - value);
  if (v == kUnknown || c == kUnknown || v % 2 != value || c % 2 == value) return false;
  *value_is_first = v < 2;
  *companion_is_first = c < 2;
  return true;
}

// The rule for companions that compare in one way.
std::optional<Choice> RuleOf(const LoopProgram& body, int value, bool is_float,
                             Relation companions) {
  Choice rule;
  bool companion = false, less = false;
  const auto chosen = [&](Relation of, bool* first) {
    return Chosen(body, value, of, companions, first, &companion);
  };
  if (!chosen(Relation::kEqual, &rule.first_of_equal_values)) return std::nullopt;
  rule.first_of_equal_companions = companion;
  if (!chosen(Relation::kGreater, &rule.greater) || companion != rule.greater) return std::nullopt;
  if (!chosen(Relation::kLess, &less) || companion != less || less == rule.greater)
    return std::nullopt;
  if (!is_float) return rule;
  if (!chosen(Relation::kFirstNan, &rule.first_if_first_nan) ||
      companion != rule.first_if_first_nan)
    return std::nullopt;
  if (!chosen(Relation::kSecondNan, &rule.first_if_second_nan) ||
      companion != rule.first_if_second_nan)
    return std::nullopt;
  if (!chosen(Relation::kBothNan, &rule.first_if_both_nan) || companion != rule.first_if_both_nan)
    return std::nullopt;
  return rule;
}

// Whether the rule tells what becomes of unequal values whose companions compare in any way.
bool IsByValues(const LoopProgram& body, int value, const Choice& rule) {
  for (Relation companions : kRelations) {
    for (Relation of : {Relation::kLess, Relation::kGreater}) {
      bool value_is_first = false, companion_is_first = false;
      if (!Chosen(body, value, of, companions, &value_is_first, &companion_is_first)) return false;
      const bool is_first = (of == Relation::kGreater) == rule.greater;
      if (value_is_first != is_first || companion_is_first != is_first) return false;
    }
  }
  return true;
}

bool SameRule(const Choice& a, const Choice& b) {
  return a.greater == b.greater && a.first_of_equal_values == b.first_of_equal_values &&
         a.first_of_equal_companions == b.first_of_equal_companions &&
         a.first_if_first_nan == b.first_if_first_nan &&
         a.first_if_second_nan == b.first_if_second_nan &&
         a.first_if_both_nan == b.first_if_both_nan;
}

// How a value compares with one that the reduction comes to later: kLess where it grows along the
// reduced dims, kGreater where it shrinks, kEqual where that is not known.
Relation OrderOf(const LoopProgram& program, LoopValue value) {
  const LoopInstr& instr = program.instrs[value];
  if (instr.kind != LoopInstr::kIota || !IsInt(instr.type)) return Relation::kEqual;
  const LoopView& view = program.iotas[instr.index];
  constexpr int64_t kLimit = int64_t{1} << 62;
  int64_t lowest = view.offset, highest = view.offset;
  if (lowest < -kLimit || lowest > kLimit) return Relation::kEqual;
  bool grows = true, shrinks = true;
  int64_t span = 0;  // of the reduced dims behind the one at hand
  for (int d = static_cast<int>(program.dims.size()) - 1; d >= 0; --d) {
    const int64_t steps = program.dims[d] - 1, stride = view.strides[d];
    if (steps <= 0) continue;
    if (stride > kLimit / steps || stride < -kLimit / steps) return Relation::kEqual;
    (stride < 0 ? lowest : highest) += steps * stride;
    if (lowest < -kLimit || highest > kLimit) return Relation::kEqual;
    if (d < program.num_outer || d >= program.num_outer + program.num_reduced) continue;
    grows &= stride > span;
    shrinks &= stride < -span;
    span += steps * (stride < 0 ? -stride : stride);
    if (span > kLimit) return Relation::kEqual;
  }
  // The numbers fit the type, so that none wraps around.
  const int bits = 8 * kCTypeSize[static_cast<int>(instr.type)];
  const bool is_signed = instr.type == CType::kS8 || instr.type == CType::kS16 ||
                         instr.type == CType::kS32 || instr.type == CType::kS64;
  const int digits = bits - (is_signed ? 1 : 0);
  if (digits < 62 && highest >= int64_t{1} << digits) return Relation::kEqual;
  if (lowest < 0 && (!is_signed || (digits < 62 && lowest < -(int64_t{1} << digits))))
    return Relation::kEqual;
  return grows ? Relation::kLess : shrinks ? Relation::kGreater : Relation::kEqual;
}

}  // namespace

std::optional<LoopChoice> MatchChoice(const LoopProgram& program, const LoopReduce& reduce) {
  if (reduce.body == nullptr || reduce.values.size() != 2 || reduce.body->called != nullptr ||
      reduce.body->instrs.size() > kMaxChoiceInstrs || reduce.body->results.size() != 2)
    return std::nullopt;
  for (int value = 0; value < 2; ++value) {
    const CType type = program.instrs[reduce.values[value]].type;
    if (!IsFloat(type) && !IsInt(type) && type != CType::kPred) continue;
    const Relation order = OrderOf(program, reduce.values[1 - value]);
    const Relation assumed = order == Relation::kEqual ? Relation::kLess : order;
    const std::optional<Choice> rule = RuleOf(*reduce.body, value, IsFloat(type), assumed);
    if (!rule.has_value()) continue;
    bool holds = true;
    for (Relation other : kRelations) {
      if (order != Relation::kEqual || other == assumed) continue;
      const std::optional<Choice> there = RuleOf(*reduce.body, value, IsFloat(type), other);
      holds &= there.has_value() && SameRule(*rule, *there);
    }
    if (holds) return LoopChoice{*rule, value, IsByValues(*reduce.body, value, *rule)};
  }
  return std::nullopt;
}

}  // namespace pjrt::cpu
