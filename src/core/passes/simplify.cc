// SPDX-License-Identifier: Apache-2.0
//
// Simplify: walks each function once in program order and applies the rule of an op's row until
// none changes anything. What an op uses has been simplified before it.
#include "src/core/passes/simplify.h"

#include <cstddef>
#include <limits>
#include <vector>

#include "pjrt/ir/passes.h"

namespace pjrt::ir {
namespace {

struct OpRule {
  OpCode code;
  SimplifyRule rule;
};

constexpr OpRule kRules[] = {
    {OpCode::kAdd, SimplifyAdd},
    {OpCode::kSubtract, SimplifySubtract},
    {OpCode::kMultiply, SimplifyMultiply},
    {OpCode::kDivide, SimplifyDivide},
    {OpCode::kRemainder, SimplifyRemainder},
    {OpCode::kPower, SimplifyPower},
    {OpCode::kAnd, SimplifyAnd},
    {OpCode::kOr, SimplifyOr},
    {OpCode::kXor, SimplifyXor},
    {OpCode::kShiftLeft, SimplifyShift},
    {OpCode::kShiftRightArithmetic, SimplifyShift},
    {OpCode::kShiftRightLogical, SimplifyShift},
    {OpCode::kMaximum, SimplifyExtremum},
    {OpCode::kMinimum, SimplifyExtremum},
    {OpCode::kNot, SimplifyInvolution},
    {OpCode::kNegate, SimplifyInvolution},
    {OpCode::kAbs, SimplifyIdempotent},
    {OpCode::kCeil, SimplifyIdempotent},
    {OpCode::kFloor, SimplifyIdempotent},
    {OpCode::kRoundNearestAfz, SimplifyIdempotent},
    {OpCode::kRoundNearestEven, SimplifyIdempotent},
    {OpCode::kSign, SimplifyIdempotent},
    {OpCode::kCompare, SimplifyCompare},
    {OpCode::kSelect, SimplifySelect},
    {OpCode::kConvert, SimplifyConvert},
    {OpCode::kReal, SimplifyComplexPart},
    {OpCode::kImag, SimplifyComplexPart},
    {OpCode::kComplex, SimplifyComplex},
    {OpCode::kReshape, SimplifyReshape},
    {OpCode::kTranspose, SimplifyTranspose},
    {OpCode::kBroadcastInDim, SimplifyBroadcast},
    {OpCode::kSlice, SimplifySlice},
    {OpCode::kReverse, SimplifyReverse},
    {OpCode::kPad, SimplifyPad},
    {OpCode::kConcatenate, SimplifyConcatenate},
    {OpCode::kDynamicSlice, SimplifyDynamicSlice},
    {OpCode::kDynamicUpdateSlice, SimplifyDynamicUpdateSlice},
    {OpCode::kGather, SimplifyGather},
    {OpCode::kSort, SimplifySort},
    {OpCode::kReduce, SimplifyReduce},
    {OpCode::kGetTupleElement, SimplifyGetTupleElement},
    {OpCode::kIf, SimplifyIf},
    {OpCode::kCase, SimplifyCase},
    {OpCode::kWhile, SimplifyWhile},
};

// Of each op code its rule, or null.
class RuleTable {
 public:
  RuleTable() {
    for (const OpRule& row : kRules) Slot(row.code) = row.rule;
  }
  SimplifyRule operator[](OpCode code) const {
    const size_t i = static_cast<size_t>(code);
    return i < rules_.size() ? rules_[i] : nullptr;
  }

 private:
  SimplifyRule& Slot(OpCode code) {
    const size_t i = static_cast<size_t>(code);
    if (i >= rules_.size()) rules_.resize(i + 1, nullptr);
    return rules_[i];
  }
  std::vector<SimplifyRule> rules_;
};

// Tensors of one kind of element with fixed sizes: the rules count on both.
bool IsPlain(const Op& op) {
  const auto plain = [](Type type) {
    if (!type.IsTensor()) return type.IsToken() || type.Is(TypeKind::kTuple);
    return type.HasStaticShape() && type.primitive_type() != PrimitiveType::INVALID;
  };
  for (size_t i = 0; i < op.num_operands(); ++i) {
    if (!plain(op.operand_type(i))) return false;
  }
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (!plain(op.result_type(i))) return false;
  }
  return true;
}

class Simplifier {
 public:
  explicit Simplifier(Module* module) : module_(module) {}

  void Run(Block* body) {
    std::vector<Op*> stack = {body->front()};
    while (!stack.empty()) {
      Op* op = stack.back();
      if (op == nullptr) {
        stack.pop_back();
        continue;
      }
      Op* const previous = op->prev();
      Block* const block = op->block();
      if (Apply(op)) {
        // What the rule made is simplified in turn.
        stack.back() = previous != nullptr ? previous->next() : block->front();
        continue;
      }
      stack.back() = op->next();
      for (size_t r = 0; r < op->num_regions(); ++r) {
        if (Block* inner = op->region(r)->block()) stack.push_back(inner->front());
      }
    }
  }

 private:
  bool Apply(Op* op) {
    const SimplifyRule rule = rules_[op->opcode()];
    if (rule == nullptr || !IsPlain(*op)) return false;
    Emitter emit(module_, op);
    const Replacement replacement = rule(*op, emit);
    if (replacement.empty()) return false;
    for (size_t i = 0; i < op->num_results(); ++i)
      op->result(i)->ReplaceAllUsesWith(replacement[i]);
    op->Erase();
    return true;
  }

  Module* module_;
  const RuleTable rules_;
};

}  // namespace

bool IsSplatOf(const Value* value, double number) {
  const Op* constant = MadeBy(value, OpCode::kConstant);
  return constant != nullptr && constant->attr("value").IsSplat() &&
         constant->attr("value") == constant->module()->context().DenseSplat(value->type(), number);
}

bool IsSplatOfInt(const Value* value, int64_t number) {
  const Op* constant = MadeBy(value, OpCode::kConstant);
  return constant != nullptr && constant->attr("value").IsSplat() &&
         constant->attr("value") ==
             constant->module()->context().DenseSplatInt(value->type(), number);
}

const Op* MadeBy(const Value* value, OpCode code) {
  const Op* op = value->defining_op();
  return op != nullptr && op->Is(code) ? op : nullptr;
}

bool AreEqual(const Value* a, const Value* b) {
  if (a == b) return true;
  const Op *x = MadeBy(a, OpCode::kConstant), *y = MadeBy(b, OpCode::kConstant);
  return x != nullptr && y != nullptr && x->attr("value") == y->attr("value");
}

const Op* ComparisonIn(const Value* predicate, ComparisonDirection direction) {
  const Op* compare = MadeBy(predicate, OpCode::kCompare);
  if (compare == nullptr) return nullptr;
  const auto own = EnumFrom<ComparisonDirection>(compare->attr("comparison_direction"));
  return own.has_value() && *own == direction ? compare : nullptr;
}

std::optional<int64_t> ScalarInt(const Value* value) {
  return value->type().element_count() == 1 ? SplatInt(value) : std::nullopt;
}

std::optional<int64_t> SplatInt(const Value* value) {
  const Op* constant = MadeBy(value, OpCode::kConstant);
  if (constant == nullptr) return std::nullopt;
  const Attribute attr = constant->attr("value");
  const PrimitiveType type = value->type().primitive_type();
  const size_t bytes = static_cast<size_t>(ByteWidth(type));
  if (!IsInteger(type) && type != PRED) return std::nullopt;
  if (attr.IsSplat() ? attr.raw_data().size() < bytes : attr.raw_data().size() != bytes) {
    return std::nullopt;
  }
  uint64_t bits = 0;
  for (size_t i = bytes; i-- > 0;)
    bits = bits << 8 | static_cast<unsigned char>(attr.raw_data()[i]);
  if (IsSignedInteger(type)) {
    const int unused = 64 - 8 * static_cast<int>(bytes);
    return static_cast<int64_t>(bits << unused) >> unused;
  }
  if (bits > uint64_t{std::numeric_limits<int64_t>::max()}) return std::nullopt;
  return static_cast<int64_t>(bits);
}

void Simplify(Module* module) {
  Simplifier simplifier(module);
  for (Op* op : *module->body()) {
    if (!op->Is(OpCode::kFuncFunc)) continue;
    if (Block* body = op->region()->block()) simplifier.Run(body);
  }
}

}  // namespace pjrt::ir
