// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/known_ranges.h"

#include <algorithm>
#include <cstring>
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

// An upper bound of a loop's iterations that a comparison of a counter in its condition gives.
struct Bound {
  size_t counter = 0;  // which carried value
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
    const Value *counter = compare->operand(0), *limit = compare->operand(1);
    if (counter->argument_of() != condition) {
      std::swap(counter, limit);
      direction = Mirrored(*direction);
    }
    if (counter->argument_of() == condition)
      bounds.push_back({counter->index(), *direction, limit});
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

// Counters: values that grow by a constant each time around.
void KnownRanges::LearnLoop(const Op& loop) {
  const Block *condition = loop.region(0)->block(), *body = loop.region(1)->block();
  const size_t count = loop.num_operands();
  const auto step_of = [&](size_t i) {
    return StepOf(body->terminator()->operand(i), body->argument(i));
  };
  // The most iterations that there can be; -1: not known.
  Wide trips = -1;
  if (const std::optional<int64_t> exact = TripCount(loop)) trips = *exact;
  for (const Bound& bound : trips >= 0 ? std::vector<Bound>() : BoundsOf(loop)) {
    const std::optional<KnownRange> start = Of(loop.operand(bound.counter)),
                                    limit = Of(bound.limit),
                                    all = RangeOfType(loop.operand(bound.counter)->type());
    const std::optional<int64_t> step = step_of(bound.counter);
    if (!start.has_value() || !limit.has_value() || !step.has_value()) continue;
    // The last value that the body may see. Were the next one to wrap, the loop could go on.
    Wide last;
    if (*step > 0 && bound.direction == ComparisonDirection::kLt) {
      last = Wide{limit->most} - 1;
    } else if (*step > 0 && bound.direction == ComparisonDirection::kLe) {
      last = limit->most;
    } else if (*step < 0 && bound.direction == ComparisonDirection::kGt) {
      last = Wide{limit->least} + 1;
    } else if (*step < 0 && bound.direction == ComparisonDirection::kGe) {
      last = limit->least;
    } else {
      continue;
    }
    if (last + *step > all->most || last + *step < all->least) continue;
    const Wide way = *step > 0 ? last - start->least : Wide{start->most} - last;
    const Wide most = way < 0 ? 0 : way / (*step > 0 ? *step : -Wide{*step}) + 1;
    trips = trips < 0 ? most : std::min(trips, most);
  }
  for (size_t i = 0; i < count; ++i) {
    const std::optional<KnownRange> start = Of(loop.operand(i));
    if (!start.has_value()) continue;
    const bool is_same = body->terminator()->operand(i) == body->argument(i);
    const std::optional<int64_t> step = is_same ? 0 : step_of(i);
    if (!step.has_value() || (trips < 0 && *step != 0)) continue;
    const auto note = [&](const Value* value, Wide steps) {
      const Wide way = *step == 0 ? 0 : steps * *step;
      Note(value, start->least + std::min<Wide>(way, 0), start->most + std::max<Wide>(way, 0));
    };
    note(body->argument(i), std::max<Wide>(trips - 1, 0));
    note(condition->argument(i), trips);
    note(loop.result(i), trips);
  }
}

}  // namespace pjrt::ir
