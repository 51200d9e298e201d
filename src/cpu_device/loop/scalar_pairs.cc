// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/scalar_pairs.h"

namespace pjrt::cpu {
namespace {

using O = ScalarOp;

// The number of an operation in the lists of firsts and of seconds; -1: it is not in it. As a
// second it has a form for either operand that may be the value of the first.
struct Part {
  int first = -1;
  int second[2] = {-1, -1};
};

// Firsts are Add Sub Mul Div, seconds Add Sub SubFrom Mul Div DivInto.
struct FloatKind {
  static constexpr int kFirsts = 4, kSeconds = 6;
  O add, sub, mul, div;
  O first_pair;
  O last, last_pair;  // the first of the forms on what is kept, of single operations and of pairs

  Part PartOf(O op) const {
    if (op == add) return {0, {0, 0}};
    if (op == sub) return {1, {1, 2}};
    if (op == mul) return {2, {3, 3}};
    if (op == div) return {3, {4, 5}};
    return {};
  }
};
constexpr FloatKind kF32{O::kAddF32,        O::kSubF32,     O::kMulF32,           O::kDivF32,
                         O::kAddThenAddF32, O::kLastAddF32, O::kLastAddThenAddF32};
constexpr FloatKind kF64{O::kAddF64,        O::kSubF64,     O::kMulF64,           O::kDivF64,
                         O::kAddThenAddF64, O::kLastAddF64, O::kLastAddThenAddF64};
static_assert(static_cast<int>(O::kDivThenDivIntoF32) - static_cast<int>(O::kAddThenAddF32) ==
              FloatKind::kFirsts * FloatKind::kSeconds - 1);

bool IsBitwise(O op) { return op == O::kAnd || op == O::kOr || op == O::kXor; }

// Firsts are Add Sub Mul And Or Xor Shl Shr, seconds the same with SubFrom behind Sub.
struct IntegerKind {
  static constexpr int kFirsts = 8, kSeconds = 9;
  O add, sub, mul, shl, shr;
  O first_pair;

  Part PartOf(O op) const {
    if (op == add) return {0, {0, 0}};
    if (op == sub) return {1, {1, 2}};
    if (op == mul) return {2, {3, 3}};
    if (op == O::kAnd) return {3, {4, 4}};
    if (op == O::kOr) return {4, {5, 5}};
    if (op == O::kXor) return {5, {6, 6}};
    if (op == shl) return {6, {7, -1}};
    if (op == shr) return {7, {8, -1}};
    return {};
  }
};
constexpr IntegerKind k32{O::kAdd32, O::kSub32, O::kMul32, O::kShl32, O::kShr32, O::kAddThenAdd32};
constexpr IntegerKind k64{O::kAdd64, O::kSub64, O::kMul64, O::kShl64, O::kShr64, O::kAddThenAdd64};
static_assert(static_cast<int>(O::kShrThenShr64) - static_cast<int>(O::kAddThenAdd64) ==
              IntegerKind::kFirsts * IntegerKind::kSeconds - 1);

template <class Kind>
std::optional<O> PairIn(const Kind& kind, O first, O second, int operand) {
  const int one = kind.PartOf(first).first, other = kind.PartOf(second).second[operand];
  if (one < 0 || other < 0) return std::nullopt;
  return Behind(kind.first_pair, one * Kind::kSeconds + other);
}

}  // namespace

std::optional<O> PairOf(O first, O second, int operand) {
  for (const FloatKind* kind : {&kF32, &kF64}) {
    if (const auto pair = PairIn(*kind, first, second, operand)) return pair;
  }
  // Bitwise operations alone serve either width: those of 64 bits are taken.
  if (!IsBitwise(first) || !IsBitwise(second)) {
    if (const auto pair = PairIn(k32, first, second, operand)) return pair;
  }
  return PairIn(k64, first, second, operand);
}

std::optional<O> FormOnKept(O op, ScalarKept type, int operand) {
  if (type == ScalarKept::kOther) return std::nullopt;
  const FloatKind& kind = type == ScalarKept::kF32 ? kF32 : kF64;
  const int pair = Number(op) - Number(kind.first_pair);
  if (pair >= 0 && pair < FloatKind::kFirsts * FloatKind::kSeconds) {
    const O firsts[FloatKind::kFirsts] = {kind.add, kind.sub, kind.mul, kind.div};
    const int form = kind.PartOf(firsts[pair / FloatKind::kSeconds]).second[operand];
    return Behind(kind.last_pair, form * FloatKind::kSeconds + pair % FloatKind::kSeconds);
  }
  const int form = kind.PartOf(op).second[operand];
  if (form < 0) return std::nullopt;
  return Behind(kind.last, form);
}

}  // namespace pjrt::cpu
