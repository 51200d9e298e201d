// SPDX-License-Identifier: Apache-2.0
//
// What follows from the ranges of integers: an index that counts from 0 needs no test for negative
// ones, and its quotients no correction.
#include <cstdint>
#include <optional>
#include <vector>

#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/passes.h"
#include "src/core/passes/emitter.h"
#include "src/core/passes/gather_windows.h"
#include "src/core/passes/known_ranges.h"
#include "src/core/passes/scatter_slice.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

// Whether the comparison holds for all numbers of the ranges, or for none; nullopt for neither.
std::optional<bool> Decide(ComparisonDirection direction, KnownRange a, KnownRange b) {
  const auto both = [](bool always, bool never) {
    return always ? std::optional<bool>(true) : never ? std::optional<bool>(false) : std::nullopt;
  };
  const bool apart = a.most < b.least || b.most < a.least;
  const bool same = a.least == a.most && b.least == b.most && a.least == b.least;
  switch (direction) {
    case ComparisonDirection::kEq:
      return both(same, apart);
    case ComparisonDirection::kNe:
      return both(apart, same);
    case ComparisonDirection::kLt:
      return both(a.most < b.least, a.least >= b.most);
    case ComparisonDirection::kLe:
      return both(a.most <= b.least, a.least > b.most);
    case ComparisonDirection::kGt:
      return both(a.least > b.most, a.most <= b.least);
    case ComparisonDirection::kGe:
      return both(a.least >= b.most, a.most < b.least);
  }
  return std::nullopt;
}

class RangeSimplifier {
 public:
  explicit RangeSimplifier(Module* module) : module_(module) {}

  void Run(Block* body) {
    std::vector<Op*> stack = {body->front()};
    while (!stack.empty()) {
      Op* const op = stack.back();
      if (op == nullptr) {
        stack.pop_back();
        continue;
      }
      stack.back() = op->next();
      if (Value* value = Simpler(*op)) {
        op->result()->ReplaceAllUsesWith(value);
        op->Erase();
        continue;
      }
      ranges_.Learn(*op);
      for (size_t r = op->num_regions(); r-- > 0;) {
        if (Block* inner = op->region(r)->block()) stack.push_back(inner->front());
      }
    }
  }

 private:
  // What can take the place of the op's result, or null.
  Value* Simpler(const Op& op) {
    if (op.num_results() != 1 || op.num_operands() == 0 || !op.result_type().IsTensor() ||
        !op.result_type().HasStaticShape())
      return nullptr;
    if (op.Is(OpCode::kGather)) {
      Emitter emit(module_, const_cast<Op*>(&op));
      return GatherWindows(op, ranges_, emit);
    }
    if (op.Is(OpCode::kScatter)) {
      Emitter emit(module_, const_cast<Op*>(&op));
      return ScatterSlice(op, ranges_, emit);
    }
    const std::optional<KnownRange> a = ranges_.Of(op.operand(0));
    if (!a.has_value()) return nullptr;
    const std::optional<KnownRange> b =
        op.num_operands() > 1 ? ranges_.Of(op.operand(1)) : std::optional<KnownRange>(a);
    if (!b.has_value() && !op.Is(OpCode::kSelect)) return nullptr;
    switch (op.opcode()) {
      case OpCode::kCompare: {
        const auto direction = EnumFrom<ComparisonDirection>(op.attr("comparison_direction"));
        const std::optional<bool> decided =
            direction.has_value() ? Decide(*direction, *a, *b) : std::nullopt;
        return decided.has_value() ? Constant(op, *decided ? 1 : 0) : nullptr;
      }
      case OpCode::kSelect:
        // A predicate of rank 0 may stand for all elements.
        return a->least == a->most ? op.operand(a->least != 0 ? 1 : 2) : nullptr;
      case OpCode::kSign:
        return a->least > 0                  ? Constant(op, 1)
               : a->most < 0                 ? Constant(op, -1)
               : a->most > 0 || a->least < 0 ? nullptr
                                             : Constant(op, 0);
      case OpCode::kAbs:
        return a->least >= 0 ? op.operand(0) : nullptr;
      case OpCode::kMaximum:
        return a->least >= b->most ? op.operand(0) : b->least >= a->most ? op.operand(1) : nullptr;
      case OpCode::kMinimum:
        return a->most <= b->least ? op.operand(0) : b->most <= a->least ? op.operand(1) : nullptr;
      case OpCode::kRemainder:
        return a->least >= 0 && a->most < b->least ? op.operand(0) : nullptr;
      case OpCode::kDivide:
        return a->least >= 0 && a->most < b->least ? Constant(op, 0) : nullptr;
      case OpCode::kAnd:
      case OpCode::kOr:
        return op.result_type().primitive_type() == PRED ? SimplerPredicate(op, *a, *b) : nullptr;
      case OpCode::kAdd:
        return Apply(SimplifyAdd, op);
      case OpCode::kSubtract:
        return Apply(SimplifySubtract, op);
      case OpCode::kClamp: {
        const std::optional<KnownRange> most = ranges_.Of(op.operand(2));
        const bool inside = most.has_value() && a->most <= b->least && b->most <= most->least;
        return inside ? op.operand(1) : nullptr;
      }
      default:
        return nullptr;
    }
  }

  // Applies a rule of Simplify again: an operand that was replaced may have made a case for it.
  Value* Apply(SimplifyRule rule, const Op& op) {
    Emitter emit(module_, const_cast<Op*>(&op));
    const Replacement values = rule(op, emit);
    return values.empty() ? nullptr : values[0];
  }

  // p & q or p | q.
  Value* SimplerPredicate(const Op& op, KnownRange p, KnownRange q) {
    // What changes nothing, and what alone decides.
    const bool is_and = op.Is(OpCode::kAnd);
    const int64_t neutral = is_and ? 1 : 0;
    const auto is = [](KnownRange range, int64_t value) {
      return range.least == value && range.most == value;
    };
    if (is(p, neutral) || is(q, 1 - neutral)) return op.operand(1);
    if (is(q, neutral) || is(p, 1 - neutral)) return op.operand(0);
    return is_and && AreContrary(op.operand(0), op.operand(1)) ? Constant(op, 0) : nullptr;
  }

  Value* Constant(const Op& op, int64_t number) {
    Emitter emit(module_, const_cast<Op*>(&op));
    return emit.IntConstant(op.result_type(), number).value();
  }

  // Whether one of the predicates asks for a number to be 0 and the other for one that is not: the
  // correction of a quotient that is rounded down.
  bool AreContrary(const Value* p, const Value* q) const {
    const Value *zero = ZeroIn(p), *other = q;
    if (zero == nullptr) zero = ZeroIn(q), other = p;
    return zero != nullptr && zero == NonzeroIn(other);
  }

  // x, when the predicate holds for x = 0 alone: x == 0, or sign(x) != 1 of x that is not negative.
  const Value* ZeroIn(const Value* predicate) const {
    const Op* compare = ComparisonIn(predicate, ComparisonDirection::kEq);
    if (compare != nullptr)
      return IsSplatOfInt(compare->operand(1), 0) ? compare->operand(0) : nullptr;
    compare = ComparisonIn(predicate, ComparisonDirection::kNe);
    if (compare == nullptr || !IsSplatOfInt(compare->operand(1), 1)) return nullptr;
    const Op* sign = MadeBy(compare->operand(0), OpCode::kSign);
    if (sign == nullptr) return nullptr;
    const std::optional<KnownRange> x = ranges_.Of(sign->operand(0));
    return x.has_value() && x->least >= 0 ? sign->operand(0) : nullptr;
  }

  // x, when the predicate cannot hold for x = 0: x != 0, or x % y != 0 where y is not 0.
  const Value* NonzeroIn(const Value* predicate) const {
    const Op* compare = ComparisonIn(predicate, ComparisonDirection::kNe);
    if (compare == nullptr || !IsSplatOfInt(compare->operand(1), 0)) return nullptr;
    const Op* remainder = MadeBy(compare->operand(0), OpCode::kRemainder);
    if (remainder == nullptr) return compare->operand(0);
    const std::optional<KnownRange> y = ranges_.Of(remainder->operand(1));
    return y.has_value() && (y->least > 0 || y->most < 0) ? remainder->operand(0) : nullptr;
  }

  Module* module_;
  KnownRanges ranges_;
};

}  // namespace

void SimplifyRanges(Module* module) {
  for (Op* op : *module->body()) {
    if (!op->Is(OpCode::kFuncFunc)) continue;
    if (Block* body = op->region()->block()) RangeSimplifier(module).Run(body);
  }
}

}  // namespace pjrt::ir
