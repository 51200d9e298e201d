// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/known_ranges.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "pjrt/ir/op_attributes.h"
#include "src/core/passes/simplify.h"
#include "src/core/passes/trip_count.h"

namespace pjrt::ir {
namespace {

// All values of an integer type or i1; nullopt for other types, and for ui64, which int64_t does
// not hold.
std::optional<KnownRange> RangeOfType(Type type) {
  if (!type.IsTensor()) return std::nullopt;
  const PrimitiveType element = type.primitive_type();
  if (element == PRED) return KnownRange{0, 1};
  if (!IsInteger(element) || element == U64) return std::nullopt;
  const int bits = BitWidth(element);
  if (IsUnsignedInteger(element))
    return KnownRange{0, static_cast<int64_t>((uint64_t{1} << bits) - 1)};
  const int64_t most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
  return KnownRange{-most - 1, most};
}

// Sums and products of numbers of 64 bits do not wrap in it.
using Wide = __int128;

// The range of a constant, or of one number everywhere.
std::optional<KnownRange> OfConstant(const Op& op) {
  constexpr int64_t kMaxElements = 64 * 1024;
  const Attribute value = op.attr("value");
  const PrimitiveType type = op.result_type().primitive_type();
  if (!RangeOfType(op.result_type()).has_value()) return std::nullopt;
  const size_t width = static_cast<size_t>(ByteWidth(type));
  const absl::Span<const char> data = value.raw_data();
  const int64_t count = value.IsSplat() ? 1 : op.result_type().element_count();
  if (count < 1 || count > kMaxElements || data.size() != static_cast<size_t>(count) * width)
    return std::nullopt;
  KnownRange range = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
  for (size_t at = 0; at < data.size(); at += width) {
    uint64_t bits = 0;
    for (size_t i = width; i-- > 0;) bits = bits << 8 | static_cast<unsigned char>(data[at + i]);
    const int unused = IsSignedInteger(type) ? 64 - 8 * static_cast<int>(width) : 0;
    const int64_t number = static_cast<int64_t>(bits << unused) >> unused;
    range.least = std::min(range.least, number);
    range.most = std::max(range.most, number);
  }
  return range;
}

// What a loop's condition asks of a carried value to go on.
struct Bound {
  size_t value = 0;  // its number
  ComparisonDirection direction = ComparisonDirection::kEq;
  const Value* limit = nullptr;
};

// The comparisons that all hold when the loop goes on, those of carried values on the left.
std::vector<Bound> BoundsOf(const Op& loop) {
  const Block* condition = loop.region(0)->block();
  std::vector<Bound> bounds;
  std::vector<const Value*> open = {condition->terminator()->operand(0)};
  constexpr size_t kMost = 16;
  for (size_t i = 0; i < open.size() && i < kMost; ++i) {
    if (const Op* both = MadeBy(open[i], OpCode::kAnd)) {
      open.push_back(both->operand(0));
      open.push_back(both->operand(1));
    }
    const Op* compare = MadeBy(open[i], OpCode::kCompare);
    if (compare == nullptr) continue;
    auto direction = EnumFrom<ComparisonDirection>(compare->attr("comparison_direction"));
    if (!direction.has_value()) continue;
    const Value *value = compare->operand(0), *limit = compare->operand(1);
    if (value->argument_of() != condition) {
      std::swap(value, limit);
      direction = Mirrored(*direction);
    }
    if (value->argument_of() == condition) bounds.push_back({value->index(), *direction, limit});
  }
  return bounds;
}

}  // namespace

std::optional<KnownRange> KnownRanges::Of(const Value* value) const {
  const auto found = ranges_.find(value);
  if (found != ranges_.end()) return found->second;
  if (const Op* constant = MadeBy(value, OpCode::kConstant)) {
    if (const std::optional<KnownRange> range = OfConstant(*constant)) return range;
  }
  return RangeOfType(value->type());
}

// A result that would wrap may be anything.
void KnownRanges::Note(const Value* value, Wide least, Wide most) {
  const std::optional<KnownRange> all = RangeOfType(value->type());
  if (!all.has_value() || least < all->least || most > all->most || least > most) return;
  ranges_[value] = {static_cast<int64_t>(least), static_cast<int64_t>(most)};
}

void KnownRanges::Learn(const Op& op) {
  if (op.Is(OpCode::kWhile)) return LearnLoop(op);
  if (op.num_results() != 1 || !RangeOfType(op.result_type()).has_value()) return;
  const Value* const result = op.result();
  if (op.Is(OpCode::kConstant)) {
    if (const std::optional<KnownRange> range = OfConstant(op)) ranges_[result] = *range;
    return;
  }
  const auto of = [&](size_t i) { return Of(op.operand(i)); };
  if (op.Is(OpCode::kIota)) {
    const int64_t dimension = op.IntAttr("iota_dimension");
    if (op.result_type().HasStaticShape() && dimension < op.result_type().rank())
      Note(result, 0, std::max<int64_t>(op.result_type().dim(dimension) - 1, 0));
    return;
  }
  if (op.num_operands() == 0) return;
  const std::optional<KnownRange> a = of(0);
  const std::optional<KnownRange> b = op.num_operands() > 1 ? of(1) : a;
  if (!a.has_value()) return;
  switch (op.opcode()) {
    case OpCode::kConvert:
      // Other than to i1, where any number but 0 is 1.
      if (op.result_type().primitive_type() != PRED) Note(result, a->least, a->most);
      return;
    case OpCode::kBroadcastInDim:
    case OpCode::kDynamicSlice:
    case OpCode::kReshape:
    case OpCode::kReverse:
    case OpCode::kSlice:
    case OpCode::kTranspose:
      return Note(result, a->least, a->most);
    default:
      break;
  }
  if (!b.has_value() || op.result_type().primitive_type() == PRED) return;
  const Wide al = a->least, am = a->most, bl = b->least, bm = b->most;
  switch (op.opcode()) {
    case OpCode::kAdd:
      return Note(result, al + bl, am + bm);
    case OpCode::kSubtract:
      return Note(result, al - bm, am - bl);
    case OpCode::kMultiply: {
      const Wide ends[] = {al * bl, al * bm, am * bl, am * bm};
      return Note(result, *std::min_element(ends, ends + 4), *std::max_element(ends, ends + 4));
    }
    case OpCode::kDivide:
      if (bl > 0) Note(result, al < 0 ? al / bl : al / bm, am < 0 ? am / bm : am / bl);
      return;
    case OpCode::kRemainder:
      // The sign is that of the dividend.
      if (bl > 0)
        Note(result, al < 0 ? std::max(al, 1 - bm) : 0, am > 0 ? std::min(am, bm - 1) : 0);
      return;
    case OpCode::kAnd:
      if (al >= 0 || bl >= 0) Note(result, 0, al < 0 ? bm : bl < 0 ? am : std::min(am, bm));
      return;
    case OpCode::kShiftRightArithmetic:
    case OpCode::kShiftRightLogical:
      // By as much as the type has bits, or by a negative number, none are left.
      if (al >= 0) Note(result, 0, bl >= 0 ? am >> std::min<Wide>(bl, 64) : am);
      return;
    case OpCode::kMaximum:
      return Note(result, std::max(al, bl), std::max(am, bm));
    case OpCode::kMinimum:
      return Note(result, std::min(al, bl), std::min(am, bm));
    case OpCode::kAbs:
      return Note(result, al > 0 ? al : am < 0 ? -am : 0, std::max(-al, am));
    case OpCode::kSign:
      return Note(result, al > 0 ? 1 : al == 0 ? 0 : -1, am < 0 ? -1 : am == 0 ? 0 : 1);
    case OpCode::kClamp: {
      const std::optional<KnownRange> most = of(2);
      // min, operand, max: at least the minimum where that is not above the maximum.
      if (most.has_value())
        Note(result, std::min<Wide>(std::max(al, bl), most->least),
             std::min<Wide>(std::max(am, bm), most->most));
      return;
    }
    case OpCode::kSelect: {
      const std::optional<KnownRange> other = of(2);
      if (other.has_value())
        Note(result, std::min<Wide>(bl, other->least), std::max<Wide>(bm, other->most));
      return;
    }
    default:
      return;
  }
}

// What the condition lets through, and counters: values that grow by a constant each time around.
void KnownRanges::LearnLoop(const Op& loop) {
  const Block *condition = loop.region(0)->block(), *body = loop.region(1)->block();
  struct Ends {
    Wide least, most;
    void Meet(Wide low, Wide high) {
      least = std::max(least, low);
      most = std::min(most, high);
    }
  };
  struct Carried {
    KnownRange start, all;
    std::optional<int64_t> step;
    Ends inside;  // what the body sees

    // A counter whose next value cannot wrap: were it to, the loop could go on.
    bool Climbs() const { return step.value_or(0) > 0 && inside.most + *step <= all.most; }
    bool Falls() const { return step.value_or(0) < 0 && inside.least + *step >= all.least; }
  };
  std::vector<std::optional<Carried>> values(loop.num_operands());
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<KnownRange> start = Of(loop.operand(i)),
                                    all = RangeOfType(loop.operand(i)->type());
    if (!start.has_value()) continue;
    const Value* const next = body->terminator()->operand(i);
    const bool is_same = next == body->argument(i);
    values[i] = {
        *start, *all, is_same ? 0 : StepOf(next, body->argument(i)), {all->least, all->most}};
  }
  for (const Bound& bound : BoundsOf(loop)) {
    std::optional<Carried>& value = values[bound.value];
    const std::optional<KnownRange> limit = Of(bound.limit);
    if (!value.has_value() || !limit.has_value()) continue;
    using D = ComparisonDirection;
    const D d = bound.direction;
    const Wide least = limit->least, most = limit->most;
    if (d == D::kLt || d == D::kLe || d == D::kEq)
      value->inside.Meet(value->all.least, d == D::kLt ? most - 1 : most);
    if (d == D::kGt || d == D::kGe || d == D::kEq)
      value->inside.Meet(d == D::kGt ? least + 1 : least, value->all.most);
  }

  // The most iterations that there can be; -1: not known.
  Wide trips = TripCount(loop).value_or(-1);
  const bool is_exact = trips >= 0;
  for (const std::optional<Carried>& value : values) {
    if (is_exact || !value.has_value() || (!value->Climbs() && !value->Falls())) continue;
    const Wide way = value->Climbs() ? value->inside.most - value->start.least
                                     : value->start.most - value->inside.least;
    const Wide step = *value->step;
    const Wide most = way < 0 ? 0 : way / (step < 0 ? -step : step) + 1;
    trips = trips < 0 ? most : std::min(trips, most);
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].has_value()) continue;
    const Carried& value = *values[i];
    const KnownRange start = value.start, all = value.all;
    Ends inside = value.inside, before = {all.least, all.most};  // of the body, of the condition
    if (value.Climbs()) {
      before.Meet(start.least, std::max<Wide>(start.most, inside.most + *value.step));
      inside.Meet(start.least, all.most);
    } else if (value.Falls()) {
      before.Meet(std::min<Wide>(start.least, inside.least + *value.step), start.most);
      inside.Meet(all.least, start.most);
    }
    if (value.step.has_value() && (trips >= 0 || *value.step == 0)) {
      const auto meet = [&](Ends* ends, Wide steps) {
        const Wide way = *value.step == 0 ? 0 : steps * *value.step;
        const Wide least = start.least + std::min<Wide>(way, 0),
                   most = start.most + std::max<Wide>(way, 0);
        if (least >= all.least && most <= all.most) ends->Meet(least, most);
      };
      meet(&inside, std::max<Wide>(trips - 1, 0));
      meet(&before, trips);
    }
    if (inside.least > inside.most) inside = {start.least, start.most};  // a body that never runs
    Note(body->argument(i), inside.least, inside.most);
    Note(condition->argument(i), before.least, before.most);
    Note(loop.result(i), before.least, before.most);
  }
}

}  // namespace pjrt::ir
