// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/trip_count.h"

#include <limits>

#include "pjrt/ir/op_attributes.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

// The largest and the least value of an integer type, where int64_t holds them.
bool IntegerRange(PrimitiveType type, int64_t* least, int64_t* most) {
  const int bits = BitWidth(type);
  if (!IsInteger(type) || type == U64) return false;
  if (IsUnsignedInteger(type)) {
    *least = 0;
    *most = static_cast<int64_t>((uint64_t{1} << bits) - 1);
  } else {
    *most = static_cast<int64_t>((uint64_t{1} << (bits - 1)) - 1);
    *least = -*most - 1;
  }
  return true;
}

}  // namespace

ComparisonDirection Mirrored(ComparisonDirection direction) {
  switch (direction) {
    case ComparisonDirection::kLt:
      return ComparisonDirection::kGt;
    case ComparisonDirection::kLe:
      return ComparisonDirection::kGe;
    case ComparisonDirection::kGt:
      return ComparisonDirection::kLt;
    case ComparisonDirection::kGe:
      return ComparisonDirection::kLe;
    default:
      return direction;
  }
}

std::optional<int64_t> StepOf(const Value* next, const Value* counter) {
  if (const Op* add = MadeBy(next, OpCode::kAdd)) {
    if (add->operand(0) == counter) return ScalarInt(add->operand(1));
    if (add->operand(1) == counter) return ScalarInt(add->operand(0));
    return std::nullopt;
  }
  const Op* subtract = MadeBy(next, OpCode::kSubtract);
  if (subtract == nullptr || subtract->operand(0) != counter) return std::nullopt;
  const std::optional<int64_t> step = ScalarInt(subtract->operand(1));
  if (!step.has_value() || *step == std::numeric_limits<int64_t>::min()) return std::nullopt;
  return -*step;
}

std::optional<int64_t> TripCount(const Op& loop) {
  const Block *condition = loop.region(0)->block(), *body = loop.region(1)->block();
  const Op* compare = MadeBy(condition->terminator()->operand(0), OpCode::kCompare);
  if (compare == nullptr || compare->operand_type(0).rank() != 0) return std::nullopt;
  auto direction = EnumFrom<ComparisonDirection>(compare->attr("comparison_direction"));
  if (!direction.has_value()) return std::nullopt;
  const Value *counter = compare->operand(0), *limit_value = compare->operand(1);
  if (counter->argument_of() != condition) {
    std::swap(counter, limit_value);
    direction = Mirrored(*direction);
  }
  if (counter->argument_of() != condition) return std::nullopt;
  const size_t i = counter->index();
  int64_t least, most;
  if (!IntegerRange(counter->type().primitive_type(), &least, &most)) return std::nullopt;
  const std::optional<int64_t> start = ScalarInt(loop.operand(i)), limit = ScalarInt(limit_value);
  const std::optional<int64_t> step = StepOf(body->terminator()->operand(i), body->argument(i));
  if (!start.has_value() || !limit.has_value() || !step.has_value()) return std::nullopt;

  // In 128 bits nothing wraps.
  const __int128 from = *start, to = *limit, by = *step;
  __int128 count;
  switch (*direction) {
    case ComparisonDirection::kLt:
      if (from >= to) return 0;
      if (by <= 0) return std::nullopt;
      count = (to - from + by - 1) / by;
      break;
    case ComparisonDirection::kLe:
      if (from > to) return 0;
      if (by <= 0) return std::nullopt;
      count = (to - from) / by + 1;
      break;
    case ComparisonDirection::kGt:
      if (from <= to) return 0;
      if (by >= 0) return std::nullopt;
      count = (from - to - by - 1) / -by;
      break;
    case ComparisonDirection::kGe:
      if (from < to) return 0;
      if (by >= 0) return std::nullopt;
      count = (from - to) / -by + 1;
      break;
    case ComparisonDirection::kNe:
      if (from == to) return 0;
      if (by == 0 || (to - from) % by != 0 || (to - from) / by < 0) return std::nullopt;
      count = (to - from) / by;
      break;
    default:
      return std::nullopt;
  }
  const __int128 last = from + count * by;
  if (last < least || last > most) return std::nullopt;
  return static_cast<int64_t>(count);
}

}  // namespace pjrt::ir
