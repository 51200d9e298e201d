// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/chain_forms.h"

#include <utility>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {
namespace {

// Kinds of numbers.
constexpr int kFloats = 1, kSignedInts = 2, kUnsignedInts = 4,
              kIntegers = kSignedInts | kUnsignedInts;

int KindOf(CType type) {
  if (IsFloat(type)) return kFloats;
  return type == CType::kS32 || type == CType::kS64 ? kSignedInts : kUnsignedInts;
}

struct ChainRow {
  BlockOp op;
  int kinds;  // what it is for
  ChainForms forms;
};
constexpr ChainOp kNoChainOp = ChainOp::kEnd;
constexpr ChainRow kChainRows[] = {
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
    {BlockOp::kMaximum, kSignedInts, {ChainOp::kSignedMaximumBlock, ChainOp::kSignedMaximumBlock}},
    {BlockOp::kMaximum,
     kUnsignedInts,
     {ChainOp::kUnsignedMaximumBlock, ChainOp::kUnsignedMaximumBlock}},
    {BlockOp::kMinimum, kFloats, {ChainOp::kMinimumBlock, ChainOp::kMinimumBlock}},
    {BlockOp::kMinimum, kSignedInts, {ChainOp::kSignedMinimumBlock, ChainOp::kSignedMinimumBlock}},
    {BlockOp::kMinimum,
     kUnsignedInts,
     {ChainOp::kUnsignedMinimumBlock, ChainOp::kUnsignedMinimumBlock}},
    {BlockOp::kAnd, kIntegers, {ChainOp::kAndBlock, ChainOp::kAndBlock}},
    {BlockOp::kOr, kIntegers, {ChainOp::kOrBlock, ChainOp::kOrBlock}},
    {BlockOp::kXor, kIntegers, {ChainOp::kXorBlock, ChainOp::kXorBlock}},
    {BlockOp::kShiftLeft, kIntegers, {ChainOp::kShiftLeftBlock, kNoChainOp}},
    {BlockOp::kShiftRightLogical, kIntegers, {ChainOp::kShiftRightLogicalBlock, kNoChainOp}},
    {BlockOp::kShiftRightArithmetic, kIntegers, {ChainOp::kShiftRightArithmeticBlock, kNoChainOp}},
    {BlockOp::kCompareEq, kFloats, {ChainOp::kCompareEqBlock, ChainOp::kCompareEqBlock}},
    {BlockOp::kCompareEq, kIntegers, {ChainOp::kIntegerEqBlock, ChainOp::kIntegerEqBlock}},
    {BlockOp::kCompareNe, kFloats, {ChainOp::kCompareNeBlock, ChainOp::kCompareNeBlock}},
    {BlockOp::kCompareNe, kIntegers, {ChainOp::kIntegerNeBlock, ChainOp::kIntegerNeBlock}},
    {BlockOp::kCompareLt, kFloats, {ChainOp::kCompareLtBlock, ChainOp::kCompareGtBlock}},
    {BlockOp::kCompareLt, kSignedInts, {ChainOp::kSignedLtBlock, ChainOp::kSignedGtBlock}},
    {BlockOp::kCompareLt, kUnsignedInts, {ChainOp::kUnsignedLtBlock, ChainOp::kUnsignedGtBlock}},
    {BlockOp::kCompareLe, kFloats, {ChainOp::kCompareLeBlock, ChainOp::kCompareGeBlock}},
    {BlockOp::kCompareLe, kSignedInts, {ChainOp::kSignedLeBlock, ChainOp::kSignedGeBlock}},
    {BlockOp::kCompareLe, kUnsignedInts, {ChainOp::kUnsignedLeBlock, ChainOp::kUnsignedGeBlock}},
    {BlockOp::kCompareGt, kFloats, {ChainOp::kCompareGtBlock, ChainOp::kCompareLtBlock}},
    {BlockOp::kCompareGt, kSignedInts, {ChainOp::kSignedGtBlock, ChainOp::kSignedLtBlock}},
    {BlockOp::kCompareGt, kUnsignedInts, {ChainOp::kUnsignedGtBlock, ChainOp::kUnsignedLtBlock}},
    {BlockOp::kCompareGe, kFloats, {ChainOp::kCompareGeBlock, ChainOp::kCompareLeBlock}},
    {BlockOp::kCompareGe, kSignedInts, {ChainOp::kSignedGeBlock, ChainOp::kSignedLeBlock}},
    {BlockOp::kCompareGe, kUnsignedInts, {ChainOp::kUnsignedGeBlock, ChainOp::kUnsignedLeBlock}},
};

constexpr ChainConversion kConversions[] = {
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

}  // namespace

std::optional<ChainForms> FindChainForms(BlockOp op, CType type) {
  for (const ChainRow& row : kChainRows) {
    if (row.op == op && (row.kinds & KindOf(type)) != 0) return row.forms;
  }
  return std::nullopt;
}

std::optional<ChainOp> FindChainUnary(BlockOp op, CType type) {
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

std::optional<ChainOp> FindChainLogic(const BlockInstr& instr) {
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

ChainOp FormToSaved(ChainOp block) {
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
      return kNoChainOp;
  }
}

std::optional<ChainOp> FindChainNarrow(const BlockKernels& kernels, const BlockInstr& instr) {
  if (instr.kind != BlockInstr::kConvert || instr.scalar) return std::nullopt;
  const std::pair<ConvertFn, ChainOp> kOps[] = {
      {kernels.load[BF16], ChainOp::kLoadBf16},    {kernels.round_to[BF16], ChainOp::kRoundBf16},
      {kernels.store[BF16], ChainOp::kStoreBf16},  {kernels.load[F16], ChainOp::kLoadF16},
      {kernels.round_to[F16], ChainOp::kRoundF16}, {kernels.store[F16], ChainOp::kStoreF16}};
  for (const auto& [convert, op] : kOps) {
    if (instr.convert == convert) return op;
  }
  return std::nullopt;
}

const ChainConversion* FindChainConversion(const BlockKernels& kernels, const BlockInstr& instr) {
  if (instr.kind != BlockInstr::kConvert || instr.scalar) return nullptr;
  for (const ChainConversion& row : kConversions) {
    if (row.from == instr.type &&
        instr.convert == kernels.convert[static_cast<int>(row.to)][static_cast<int>(row.from)])
      return &row;
  }
  return nullptr;
}

ChainFn ChainOf(const BlockKernels& kernels, const BlockInstr& instr) {
  if (FindChainNarrow(kernels, instr).has_value())
    return kernels.chain[static_cast<int>(CType::kF32)];
  if (const ChainConversion* conversion = FindChainConversion(kernels, instr))
    return kernels.chain[static_cast<int>(conversion->to)];
  if (instr.kind != BlockInstr::kOp || instr.scalar) return nullptr;
  const ChainFn chain = kernels.chain[static_cast<int>(instr.type)];
  if (chain == nullptr || instr.shifts_both) return chain;
  if (FindChainForms(instr.block_op, instr.type).has_value() ||
      FindChainUnary(instr.block_op, instr.type).has_value())
    return chain;
  // A predicate that all elements share moves memory at most.
  if (instr.block_op == BlockOp::kSelect) return instr.form == Scalars::kFirst ? nullptr : chain;
  return instr.block_op == BlockOp::kClamp ? chain : nullptr;
}

}  // namespace pjrt::cpu
