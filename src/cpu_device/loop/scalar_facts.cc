// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/scalar_facts.h"

#include <type_traits>

namespace pjrt::cpu {
namespace {

using O = ScalarOp;
using Effect = ScalarEffect;

template <typename T>
constexpr ScalarKept kKept = std::is_same_v<T, float>    ? ScalarKept::kF32
                             : std::is_same_v<T, double> ? ScalarKept::kF64
                                                         : ScalarKept::kOther;

}  // namespace

ScalarFacts FactsOf(O op) {
  if (IsBetween(op, O::kAdd32, O::kSar64)) return {};
  if (IsBetween(op, O::kMove, O::kF64ToF32)) return {Effect::kNone, true, true, false, false};
  if (IsBetween(op, O::kEq8, O::kLeF64)) return {};
  if (IsBetween(op, O::kJumpIfEq8, O::kJumpUnlessLeF64)) return {Effect::kJump, false};
  if (IsBetween(op, O::kSelectEq8, O::kSelectLeF64))
    return {Effect::kNone, true, true, true, true, true};
  if (IsBetween(op, O::kAddThenAddF32, O::kShrThenShr64))
    return {Effect::kNone, true, true, true, true};
  if (IsBetween(op, O::kLastAddF32, O::kLastDivIntoF64)) return {Effect::kNone, true, false};
  if (IsBetween(op, O::kLastAddThenAddF32, O::kLastDivIntoThenDivIntoF64))
    return {Effect::kNone, true, false, true, true};
  if (IsBetween(op, O::kLoadIndexS32x8, O::kLoadIndexS64x64))
    return {Effect::kLoad, true, true, true, true, true};
  if (IsBetween(op, O::kStoreIndexS32x8, O::kStoreIndexS64x64))
    return {Effect::kStore, false, true, true, true, true, true};
  if (IsBetween(op, O::kLoadScaled8, O::kLoadScaled64))
    return {Effect::kLoad, true, true, true, true};
  if (IsBetween(op, O::kStoreScaled8, O::kStoreScaled64))
    return {Effect::kStore, false, true, true, true, true};
  switch (op) {
    case O::kSelect:
      return {Effect::kNone, true, true, true, true};
    case O::kCallOp:
      return {Effect::kCall};
    case O::kCallTernary:
      return {Effect::kCall, true, true, true, true};
    case O::kCallConvert:
      return {Effect::kCall, true, true, false};
    case O::kJump:
      return {Effect::kGoto, false, false, false};
    case O::kJumpIf:
    case O::kJumpUnless:
      return {Effect::kJump, false, true, false};
    case O::kSwitch:
      return {Effect::kSwitch, false, true, false};
    case O::kLoad8:
    case O::kLoad16:
    case O::kLoad32:
    case O::kLoad64:
      return {Effect::kLoad, true, true, false};
    case O::kLoadAt8:
    case O::kLoadAt16:
    case O::kLoadAt32:
    case O::kLoadAt64:
      return {Effect::kLoad};
    case O::kStore8:
    case O::kStore16:
    case O::kStore32:
    case O::kStore64:
      return {Effect::kStore, false};
    case O::kStoreAt8:
    case O::kStoreAt16:
    case O::kStoreAt32:
    case O::kStoreAt64:
      return {Effect::kStore, false, true, true, true};
    case O::kIndexS32:
    case O::kIndexS64:
    case O::kIndexU32:
    case O::kIndexU64:
      return {Effect::kNone, true, true, true, true};
    case O::kMulAdd:
    case O::kWrapS32:
    case O::kWrapS64:
      return {};
    case O::kAddJumpIfLtS32:
    case O::kAddJumpIfLtS64:
      return {Effect::kJump, true, true, true, true};
    default:
      return {Effect::kEnd, false, false, false};
  }
}

ScalarKept KeptBy(O op) {
  static constexpr ScalarKept kFirst[] = {
#define PJRT_X(name, T, R, expression) kKept<R>,
      PJRT_SCALAR_BINARY_OPS(PJRT_X) PJRT_SCALAR_UNARY_OPS(PJRT_X)
#undef PJRT_X
  };
  if (IsBetween(op, O::kAdd32, O::kF64ToF32)) return kFirst[static_cast<int>(op)];
  if (IsBetween(op, O::kAddThenAddF32, O::kDivThenDivIntoF32) ||
      IsBetween(op, O::kLastAddF32, O::kLastDivIntoF32) ||
      IsBetween(op, O::kLastAddThenAddF32, O::kLastDivIntoThenDivIntoF32))
    return ScalarKept::kF32;
  if (IsBetween(op, O::kAddThenAddF64, O::kDivThenDivIntoF64) ||
      IsBetween(op, O::kLastAddF64, O::kLastDivIntoF64) ||
      IsBetween(op, O::kLastAddThenAddF64, O::kLastDivIntoThenDivIntoF64))
    return ScalarKept::kF64;
  return ScalarKept::kOther;
}

}  // namespace pjrt::cpu
