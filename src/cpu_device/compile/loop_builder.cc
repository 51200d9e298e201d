// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/loop_builder.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/base/type_dispatch.h"
#include "src/core/ir/reducer.h"
#include "src/cpu_device/compile/constants.h"
#include "src/cpu_device/compile/diagnostics.h"

namespace pjrt::cpu {
namespace {

using ir::OpCode;

// Of what types the result of narrow operands is a value without rounding. The whole numbers that
// ceil and the like give need not be: beside f6E2M3FN's 7.5 there is no 8, and some types of 8 bits
// lack 0 or -0.
enum class Exact : uint8_t { kNever, kFrom16Bits, kAlways };
bool IsExact(Exact exact, PrimitiveType type) {
  return exact == Exact::kAlways || (exact == Exact::kFrom16Bits && BitWidth(type) >= 16);
}

// How an op becomes one instruction.
struct OpRow {
  OpCode code;
  BlockOp op;
  Exact exact;
};
constexpr OpRow kOpRows[] = {
    {OpCode::kAbs, BlockOp::kAbs, Exact::kNever},
    {OpCode::kAdd, BlockOp::kAdd, Exact::kNever},
    {OpCode::kAnd, BlockOp::kAnd, Exact::kAlways},
    {OpCode::kAtan2, BlockOp::kAtan2, Exact::kNever},
    {OpCode::kCbrt, BlockOp::kCbrt, Exact::kNever},
    {OpCode::kCeil, BlockOp::kCeil, Exact::kFrom16Bits},
    {OpCode::kChloErf, BlockOp::kErf, Exact::kNever},
    {OpCode::kChloErfc, BlockOp::kErfc, Exact::kNever},
    {OpCode::kClamp, BlockOp::kClamp, Exact::kAlways},
    {OpCode::kComplex, BlockOp::kComplex, Exact::kAlways},
    {OpCode::kCosine, BlockOp::kCos, Exact::kNever},
    {OpCode::kCountLeadingZeros, BlockOp::kClz, Exact::kNever},
    {OpCode::kDivide, BlockOp::kDivide, Exact::kNever},
    {OpCode::kExponential, BlockOp::kExp, Exact::kNever},
    {OpCode::kExponentialMinusOne, BlockOp::kExpm1, Exact::kNever},
    {OpCode::kFloor, BlockOp::kFloor, Exact::kFrom16Bits},
    {OpCode::kImag, BlockOp::kImag, Exact::kAlways},
    {OpCode::kIsFinite, BlockOp::kIsFinite, Exact::kAlways},
    {OpCode::kLog, BlockOp::kLog, Exact::kNever},
    {OpCode::kLogPlusOne, BlockOp::kLog1p, Exact::kNever},
    {OpCode::kLogistic, BlockOp::kLogistic, Exact::kNever},
    {OpCode::kMaximum, BlockOp::kMaximum, Exact::kAlways},
    {OpCode::kMinimum, BlockOp::kMinimum, Exact::kAlways},
    {OpCode::kMultiply, BlockOp::kMultiply, Exact::kNever},
    {OpCode::kNegate, BlockOp::kNegate, Exact::kNever},
    {OpCode::kNot, BlockOp::kNot, Exact::kNever},
    {OpCode::kOr, BlockOp::kOr, Exact::kAlways},
    {OpCode::kPopcnt, BlockOp::kPopcnt, Exact::kNever},
    {OpCode::kPower, BlockOp::kPower, Exact::kNever},
    {OpCode::kReal, BlockOp::kReal, Exact::kAlways},
    {OpCode::kRemainder, BlockOp::kRemainder, Exact::kNever},
    {OpCode::kRoundNearestAfz, BlockOp::kRoundAfz, Exact::kFrom16Bits},
    {OpCode::kRoundNearestEven, BlockOp::kRoundEven, Exact::kFrom16Bits},
    {OpCode::kRsqrt, BlockOp::kRsqrt, Exact::kNever},
    {OpCode::kSelect, BlockOp::kSelect, Exact::kAlways},
    {OpCode::kShiftLeft, BlockOp::kShiftLeft, Exact::kNever},
    {OpCode::kShiftRightArithmetic, BlockOp::kShiftRightArithmetic, Exact::kNever},
    {OpCode::kShiftRightLogical, BlockOp::kShiftRightLogical, Exact::kNever},
    {OpCode::kSign, BlockOp::kSign, Exact::kAlways},
    {OpCode::kSine, BlockOp::kSin, Exact::kNever},
    {OpCode::kSqrt, BlockOp::kSqrt, Exact::kNever},
    {OpCode::kSubtract, BlockOp::kSubtract, Exact::kNever},
    {OpCode::kTan, BlockOp::kTan, Exact::kNever},
    {OpCode::kTanh, BlockOp::kTanh, Exact::kNever},
    {OpCode::kXor, BlockOp::kXor, Exact::kAlways},
};

const OpRow* FindRow(OpCode code) {
  static constexpr auto kIndex = [] {
    struct Table {
      int8_t row[static_cast<int>(OpCode::kCount)] = {};
    } table;
    for (int8_t& r : table.row) r = -1;
    for (size_t i = 0; i < sizeof(kOpRows) / sizeof(kOpRows[0]); ++i)
      table.row[static_cast<int>(kOpRows[i].code)] = static_cast<int8_t>(i);
    return table;
  }();
  const int row = kIndex.row[static_cast<int>(code)];
  return row < 0 ? nullptr : &kOpRows[row];
}

bool IsComputable(ir::Type type) {
  return type.IsTensor() && IsArrayType(type.primitive_type()) && type.HasStaticShape();
}

// Types whose compute type is wider than they are.
bool IsNarrowInt(PrimitiveType type) { return IsInteger(type) && BitWidth(type) < 8; }
bool IsNarrowFloat(PrimitiveType type) { return IsFloating(type) && type != F32 && type != F64; }

struct FloatFormat {
  int exponent_bits = 0, mantissa_bits = 0, bias = 0;
};
FloatFormat FormatOfNarrowFloat(PrimitiveType type) {
  return VisitArrayType(type, [](auto t) {
    FloatFormat format;
    if constexpr (IsFloating(t()) && t() != F32 && t() != F64) {
      using Float = typename NativeTypeOf<t()>::type;
      format = {Float::kExponentBits, Float::kMantissaBits, Float::kBias};
    }
    return format;
  });
}

// Types that are computed in the bits that they are stored in.
bool IsNative(PrimitiveType type) {
  return IsArrayType(type) && !IsNarrowInt(type) && !IsNarrowFloat(type);
}

// The value of a / b, where it is not far behind the end of `program`; -1 for none.
LoopValue FindQuotient(const LoopProgram& program, LoopValue a, LoopValue b) {
  constexpr size_t kWindow = 32;
  const size_t count = program.instrs.size();
  for (size_t i = count; i-- > (count < kWindow ? 0 : count - kWindow);) {
    const LoopInstr& instr = program.instrs[i];
    if (instr.kind == LoopInstr::kOp && instr.op == BlockOp::kDivide && instr.args[0] == a &&
        instr.args[1] == b)
      return static_cast<LoopValue>(i);
  }
  return -1;
}

bool SameInput(const ArrayView& a, const ArrayView& b) {
  return a.kind == b.kind && a.type == b.type && a.buffer == b.buffer && a.offset == b.offset &&
         a.strides == b.strides && std::memcmp(a.bits, b.bits, sizeof(a.bits)) == 0;
}

// IsLoopOp but for what stands in a region.
bool HasLoopForm(const ir::Op& op) {
  switch (op.opcode()) {
    case OpCode::kCompare:
    case OpCode::kConvert:
    case OpCode::kReducePrecision:
      break;
    case OpCode::kMap:
      if (op.region()->block() == nullptr || op.region()->block()->terminator() == nullptr)
        return false;
      break;
    case OpCode::kBitcastConvert:
      if (!IsNative(op.operand_type(0).primitive_type()) ||
          !IsNative(op.result_type().primitive_type()) ||
          op.operand_type(0).dims() != op.result_type().dims()) {
        return false;
      }
      break;
    default:
      if (FindRow(op.opcode()) == nullptr) return false;
  }
  for (size_t i = 0; i < op.num_operands(); ++i) {
    if (!IsComputable(op.operand_type(i))) return false;
  }
  return IsComputable(op.result_type());
}

}  // namespace

bool IsLoopOp(const ir::Op& op) {
  return HasLoopForm(op) && (!op.Is(OpCode::kMap) || BuildBody(*op.region()->block(), true).ok());
}

bool IsLoopGather(const ir::Op& op) {
  if (!op.Is(OpCode::kGather) || !IsComputable(op.operand_type(0)) ||
      !IsComputable(op.operand_type(1)) || op.operand_type(0).rank() != 1 ||
      op.operand_type(0).dim(0) == 0 || op.result_type().element_count() < 2)
    return false;
  const PrimitiveType index = op.operand_type(1).primitive_type();
  const auto sizes = op.IntsAttr("slice_sizes");
  const auto numbers = ir::GatherDimensionNumbers::From(op.attr("dimension_numbers"));
  return IsInteger(index) && !IsNarrowInt(index) && sizes.size() == 1 && sizes[0] == 1 &&
         numbers.has_value() && numbers->offset_dims.empty() &&
         numbers->operand_batching_dims.empty() && numbers->start_index_map.size() == 1 &&
         numbers->index_vector_dim == op.operand_type(1).rank();
}

LoopValue LoopBuilder::Append(LoopInstr instr) {
  program_.instrs.push_back(std::move(instr));
  return static_cast<LoopValue>(program_.instrs.size()) - 1;
}

int32_t LoopBuilder::AddInput(const ArrayView& view) {
  LoopInput input;
  input.type = view.type;
  input.view.offset = view.offset;
  input.view.strides = view.strides;
  if (view.dims.empty()) input.view.strides.assign(program_.dims.size(), 0);
  program_.inputs.push_back(std::move(input));
  input_buffers_.push_back(view.buffer);
  return static_cast<int32_t>(program_.inputs.size()) - 1;
}

LoopValue LoopBuilder::Load(const ArrayView& view) {
  for (const auto& [known, value] : loads_) {
    if (SameInput(known, view)) return value;
  }
  LoopInstr instr;
  instr.type = ComputeTypeOf(view.type);
  switch (view.kind) {
    case ArrayView::kBuffer:
      instr.kind = LoopInstr::kInput;
      instr.index = AddInput(view);
      break;
    case ArrayView::kSplat:
      instr.kind = LoopInstr::kConstant;
      ToComputeType(view.type, view.bits, instr.bits);
      break;
    case ArrayView::kIota:
      instr.kind = LoopInstr::kIota;
      instr.index = static_cast<int32_t>(program_.iotas.size());
      program_.iotas.push_back({view.offset, view.strides});
      if (view.dims.empty()) program_.iotas.back().strides.assign(program_.dims.size(), 0);
      break;
  }
  LoopValue value = Append(std::move(instr));
  if (view.kind == ArrayView::kIota && (IsNarrowInt(view.type) || IsNarrowFloat(view.type)))
    value = RoundTo(value, view.type);
  loads_.emplace_back(view, value);
  return value;
}

LoopValue LoopBuilder::Parameter(int index, PrimitiveType type) {
  LoopInstr instr;
  instr.kind = LoopInstr::kParameter;
  instr.index = index;
  instr.type = ComputeTypeOf(type);
  return Append(std::move(instr));
}

LoopValue LoopBuilder::Op(BlockOp op, CType type, CType operand_type, LoopValue a, LoopValue b,
                          LoopValue c) {
  return Append(LoopInstr::Op(op, type, operand_type, a, b, c));
}

LoopValue LoopBuilder::Convert(LoopValue value, CType to) {
  // Predicates are 0 and 1 in each type on their way.
  const LoopInstr& made = program_.instrs[value];
  if (made.kind == LoopInstr::kConvert && type(made.args[0]) == CType::kPred) value = made.args[0];
  if (type(value) == to) return value;
  LoopInstr instr;
  instr.kind = LoopInstr::kConvert;
  instr.type = to;
  instr.args[0] = value;
  return Append(std::move(instr));
}

LoopValue LoopBuilder::RoundTo(LoopValue value, PrimitiveType type) {
  LoopInstr instr;
  instr.kind = LoopInstr::kRoundTo;
  instr.type = ComputeTypeOf(type);
  instr.memory_type = type;
  instr.args[0] = value;
  return Append(std::move(instr));
}

LoopValue LoopBuilder::RoundResult(LoopValue value, PrimitiveType type, bool exact) {
  if (exact) return value;
  if (IsNarrowInt(type)) return RoundTo(value, type);
  if (IsNarrowFloat(type) && !(keep_f32_ && type == BF16)) return RoundTo(value, type);
  return value;
}

absl::StatusOr<LoopValue> LoopBuilder::Emit(const ir::Op& op,
                                            absl::Span<const LoopValue> operands) {
  const PrimitiveType result_type = op.result_type().primitive_type();
  const CType result = ComputeTypeOf(result_type);
  switch (op.opcode()) {
    case OpCode::kCompare: {
      using D = ir::ComparisonDirection;
      const std::optional<D> direction = ir::EnumFrom<D>(op.attr("comparison_direction"));
      if (!direction.has_value())
        return UnsupportedOp(op, "its comparison_direction cannot be read");
      const CType operand = type(operands[0]);
      const bool total = ir::EnumFrom<ir::ComparisonType>(op.attr("compare_type")) ==
                             ir::ComparisonType::kTotalOrder &&
                         (operand == CType::kF32 || operand == CType::kF64);
      LoopValue a = operands[0], b = operands[1];
      if (!total) {
        static constexpr BlockOp kOps[] = {BlockOp::kCompareEq, BlockOp::kCompareNe,
                                           BlockOp::kCompareGe, BlockOp::kCompareGt,
                                           BlockOp::kCompareLe, BlockOp::kCompareLt};
        return Op(kOps[static_cast<int>(*direction)], CType::kPred, operand, a, b);
      }
      if (*direction == D::kGe || *direction == D::kGt) std::swap(a, b);
      const BlockOp ordered = *direction == D::kEq || *direction == D::kNe   ? BlockOp::kTotalEq
                              : *direction == D::kGe || *direction == D::kLe ? BlockOp::kTotalLe
                                                                             : BlockOp::kTotalLt;
      const LoopValue value = Op(ordered, CType::kPred, operand, a, b);
      return *direction == D::kNe ? Op(BlockOp::kNot, CType::kPred, CType::kPred, value) : value;
    }
    case OpCode::kConvert: {
      const PrimitiveType from = op.operand_type(0).primitive_type();
      if (from == result_type) return operands[0];
      LoopValue value =
          Convert(IsNarrowFloat(result_type) ? PrepareToNarrow(operands[0]) : operands[0], result);
      if (IsNarrowInt(result_type) && (IsFloating(from) || IsComplex(from))) {
        // Saturates at the narrow type's bounds, as it does at those of wider ones.
        const bool is_signed = IsSignedInteger(result_type);
        const int bits = BitWidth(result_type);
        const PrimitiveType byte = is_signed ? S8 : U8;
        const int64_t lowest = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
        const int64_t highest = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
        return Op(BlockOp::kClamp, result, result, Constant(byte, lowest), value,
                  Constant(byte, highest));
      }
      // Either has 8 bits and more for what a small integer needs.
      const bool exact = (result_type == F16 || result_type == BF16) &&
                         (from == PRED || (IsInteger(from) && BitWidth(from) <= 8));
      if (!exact && (IsNarrowInt(result_type) || IsNarrowFloat(result_type)))
        value = RoundTo(value, result_type);
      return value;
    }
    case OpCode::kReducePrecision:
      return EmitReducePrecision(operands[0], result_type, op.IntAttr("exponent_bits"),
                                 op.IntAttr("mantissa_bits"));
    case OpCode::kMap: {
      absl::flat_hash_map<const ir::Value*, LoopValue> values;
      const ir::Block& body = *op.region()->block();
      for (size_t i = 0; i < body.num_arguments(); ++i) values[body.argument(i)] = operands[i];
      PJRT_RETURN_IF_ERROR(EmitBody(body, &values));
      return values[body.terminator()->operand(0)];
    }
    case OpCode::kBitcastConvert:
      return Op(BlockOp::kCopy, result, type(operands[0]), operands[0]);
    case OpCode::kReal:
    case OpCode::kImag:
      if (!IsComplex(op.operand_type(0).primitive_type())) {
        if (op.Is(OpCode::kReal)) return operands[0];
        return Constant(result_type, 0);
      }
      break;
    default:
      break;
  }
  if (IsNarrowInt(result_type)) {
    if (std::optional<LoopValue> value = EmitNarrowInt(op, operands)) return *value;
  }
  const OpRow* row = FindRow(op.opcode());
  if (row == nullptr) return UnsupportedOp(op, "no loop instruction for it");
  if (row->op == BlockOp::kRemainder && IsInteger(result_type)) {
    // What a quotient leaves is quicker than another division; by zero, too: x - -1 * 0.
    const LoopValue quotient = FindQuotient(program_, operands[0], operands[1]);
    if (quotient >= 0)
      return Op(BlockOp::kSubtract, result, result, operands[0],
                Op(BlockOp::kMultiply, result, result, quotient, operands[1]));
  }
  BlockOp code = row->op;
  if (IsNarrowFloat(result_type)) {
    if (code == BlockOp::kPower) code = BlockOp::kNarrowPower;
    if (code == BlockOp::kAtan2) code = BlockOp::kNarrowAtan2;
  }
  const CType operand_type = op.Is(OpCode::kSelect) ? type(operands[1]) : type(operands[0]);
  const LoopValue value =
      Op(code, result, operand_type, operands[0], operands.size() > 1 ? operands[1] : -1,
         operands.size() > 2 ? operands[2] : -1);
  return RoundResult(value, result_type, IsExact(row->exact, result_type));
}

LoopValue LoopBuilder::Gather(const ArrayView& list, LoopValue index, PrimitiveType index_type) {
  const int64_t size = list.dims[0], stride = list.strides[0];
  const int bits = BitWidth(index_type) - (IsSignedInteger(index_type) ? 1 : 0);
  const int64_t limit = bits < 63 ? std::min(size - 1, (int64_t{1} << bits) - 1) : size - 1;
  const CType own = type(index);
  LoopValue at =
      Op(BlockOp::kClamp, own, own, Constant(index_type, 0), index, Constant(index_type, limit));
  // Offsets of less than 2^31 elements, whichever way they go.
  const bool fits = std::abs(stride) <= std::numeric_limits<int32_t>::max() / size;
  at = Convert(at, fits ? CType::kS32 : CType::kS64);
  if (stride != 1) {
    at = Op(BlockOp::kMultiply, type(at), type(at), at, Constant(fits ? S32 : S64, stride));
  }
  ArrayView array = list;
  array.dims.clear();  // of no loop dims
  LoopInstr instr;
  instr.kind = LoopInstr::kGather;
  instr.type = ComputeTypeOf(list.type);
  instr.index = AddInput(array);
  instr.args[0] = at;
  return Append(std::move(instr));
}

LoopValue LoopBuilder::EmitReducePrecision(LoopValue value, PrimitiveType type,
                                           int64_t exponent_bits, int64_t mantissa_bits) {
  const auto reduce = [&](LoopValue x, int64_t exponents, int64_t mantissa) {
    LoopInstr instr;
    instr.kind = LoopInstr::kReducePrecision;
    instr.type = ComputeTypeOf(type);
    instr.exponent_bits = static_cast<int8_t>(std::min<int64_t>(exponents, 63));
    instr.mantissa_bits = static_cast<int8_t>(std::min<int64_t>(mantissa, 63));
    instr.args[0] = x;
    return Append(std::move(instr));
  };
  const FloatFormat own = FormatOfNarrowFloat(type);
  if (!IsNarrowFloat(type) || own.bias == 127)
    return RoundResult(reduce(value, exponent_bits, mantissa_bits), type, !IsNarrowFloat(type));
  const bool rounds = mantissa_bits < own.mantissa_bits, bounds = exponent_bits < own.exponent_bits;
  if (rounds) {
    // As numbers of f32 with the same exponent bits, so that denormals lose digits as they do in
    // the type's own format.
    const auto power = [&](int n) { return Constant(F32, int64_t{127 + n} << 23); };
    const int shift = 127 - own.bias;
    value = Op(BlockOp::kMultiply, CType::kF32, CType::kF32, value, power(-shift));
    value = reduce(value, 8, mantissa_bits);
    value = Op(BlockOp::kMultiply, CType::kF32, CType::kF32, value, power(shift));
  }
  // What fewer exponents than the type's own lack is zero or an infinity.
  if (bounds) value = reduce(value, exponent_bits, mantissa_bits);
  return rounds || bounds ? RoundTo(value, type) : value;
}

// `value`, of a type with more digits than f32, as a float that rounds to a narrower type as
// `value` itself does.
LoopValue LoopBuilder::PrepareToNarrow(LoopValue value) {
  switch (type(value)) {
    case CType::kC128:
      value = Convert(value, CType::kF64);
      break;
    case CType::kS32:
    case CType::kU32:
    case CType::kS64:
    case CType::kU64:
    case CType::kF64:
      break;
    default:
      return value;
  }
  return Op(BlockOp::kRoundOdd, CType::kF32, type(value), value);
}

LoopValue LoopBuilder::Constant(PrimitiveType type, int64_t value) {
  char bits[16] = {};
  std::memcpy(bits, &value, sizeof(value));
  return Load(SplatView(type, {}, bits));
}

std::optional<LoopValue> LoopBuilder::EmitNarrowInt(const ir::Op& op,
                                                    absl::Span<const LoopValue> operands) {
  const PrimitiveType narrow = op.result_type().primitive_type();
  const PrimitiveType byte = IsSignedInteger(narrow) ? S8 : U8;
  const CType type = ComputeTypeOf(narrow);
  const int bits = BitWidth(narrow);
  const auto low_bits = [&](LoopValue value) {
    return Op(BlockOp::kAnd, type, type, value, Constant(byte, (1 << bits) - 1));
  };
  switch (op.opcode()) {
    case OpCode::kPopcnt:
      // Two bits of i2 are more than i2 counts to.
      return RoundTo(Op(BlockOp::kPopcnt, type, type, low_bits(operands[0])), narrow);
    case OpCode::kCountLeadingZeros:
      return RoundTo(
          Op(BlockOp::kSubtract, type, type, Op(BlockOp::kClz, type, type, low_bits(operands[0])),
             Constant(byte, 8 - bits)),
          narrow);
    case OpCode::kShiftRightLogical:
      return RoundTo(
          Op(BlockOp::kShiftRightLogical, type, type, low_bits(operands[0]), operands[1]), narrow);
    case OpCode::kShiftRightArithmetic: {
      if (IsSignedInteger(narrow)) return std::nullopt;
      // The top bit of the narrow value is its sign.
      const int shift = 8 - bits;
      const LoopValue up = Op(BlockOp::kShiftLeft, type, type, operands[0], Constant(byte, shift));
      const LoopValue sign_extended =
          Op(BlockOp::kShiftRightArithmetic, type, type, up, Constant(byte, shift));
      return RoundTo(Op(BlockOp::kShiftRightArithmetic, type, type, sign_extended, operands[1]),
                     narrow);
    }
    default:
      return std::nullopt;
  }
}

absl::Status LoopBuilder::EmitBody(const ir::Block& block,
                                   absl::flat_hash_map<const ir::Value*, LoopValue>* values) {
  const auto value_of = [&](const ir::Op& user,
                            const ir::Value* value) -> absl::StatusOr<LoopValue> {
    if (auto it = values->find(value); it != values->end()) return it->second;
    if (value->defining_op() != nullptr && value->defining_op()->Is(OpCode::kConstant)) {
      if (std::optional<ArrayView> splat = SplatConstant(*value->defining_op())) {
        return values->emplace(value, Load(SplatView(splat->type, {}, splat->bits))).first->second;
      }
    }
    return UnsupportedOp(user, "it uses a value from outside its region that is not a constant");
  };
  for (ir::Op* op : block) {
    if (op->IsTerminator()) {
      for (size_t i = 0; i < op->num_operands(); ++i)
        PJRT_RETURN_IF_ERROR(value_of(*op, op->operand(i)).status());
      return absl::OkStatus();
    }
    if (op->Is(OpCode::kConstant)) continue;  // loaded where used
    std::vector<LoopValue> operands;
    for (size_t i = 0; i < op->num_operands(); ++i) {
      PJRT_ASSIGN_OR_RETURN(const LoopValue operand, value_of(*op, op->operand(i)));
      operands.push_back(operand);
    }
    // Scalars have one shape.
    if ((op->Is(OpCode::kReshape) || op->Is(OpCode::kBroadcastInDim)) &&
        op->result_type().rank() == 0) {
      (*values)[op->result()] = operands[0];
      continue;
    }
    if (op->Is(OpCode::kOptimizationBarrier)) {
      for (size_t i = 0; i < op->num_results(); ++i) (*values)[op->result(i)] = operands[i];
      continue;
    }
    if (op->Is(OpCode::kIf) || op->Is(OpCode::kCase)) {
      PJRT_RETURN_IF_ERROR(EmitBranches(*op, operands[0], values));
      continue;
    }
    if (op->num_results() != 1 || !HasLoopForm(*op) || op->result_type().rank() != 0)
      return UnsupportedOp(*op, "only elementwise ops on scalars can stand in this region");
    PJRT_ASSIGN_OR_RETURN(const LoopValue value, Emit(*op, operands));
    (*values)[op->result()] = value;
  }
  return absl::OkStatus();
}

// Nothing in a body has effects, so that all branches can be computed and one be taken.
absl::Status LoopBuilder::EmitBranches(const ir::Op& op, LoopValue chosen,
                                       absl::flat_hash_map<const ir::Value*, LoopValue>* values) {
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (!IsComputable(op.result_type(i)) || op.result_type(i).rank() != 0)
      return UnsupportedOp(op, "only scalars can come out of branches in this region");
  }
  std::vector<const ir::Op*> ends;
  for (size_t r = 0; r < op.num_regions(); ++r) {
    PJRT_RETURN_IF_ERROR(EmitBody(*op.region(r)->block(), values));
    ends.push_back(op.region(r)->block()->terminator());
  }
  // Branch r is taken when takes[r] holds, the last one otherwise.
  std::vector<LoopValue> takes = {chosen};
  if (op.Is(OpCode::kCase)) {
    takes.clear();
    for (size_t r = 0; r + 1 < ends.size(); ++r)
      takes.push_back(Op(BlockOp::kCompareEq, CType::kPred, CType::kS32, chosen,
                         Constant(S32, static_cast<int64_t>(r))));
  }
  for (size_t i = 0; i < op.num_results(); ++i) {
    LoopValue value = (*values)[ends.back()->operand(i)];
    for (size_t r = takes.size(); r-- > 0;)
      value = Op(BlockOp::kSelect, type(value), type(value), takes[r],
                 (*values)[ends[r]->operand(i)], value);
    (*values)[op.result(i)] = value;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const LoopProgram>> BuildBody(const ir::Block& block,
                                                             bool keep_f32) {
  LoopBuilder builder({}, keep_f32);
  absl::flat_hash_map<const ir::Value*, LoopValue> values;
  for (size_t i = 0; i < block.num_arguments(); ++i) {
    if (block.argument(i)->type().rank() != 0 && block.parent_op() != nullptr)
      return UnsupportedOp(*block.parent_op(), "its region takes arrays, not elements");
    values[block.argument(i)] =
        builder.Parameter(static_cast<int>(i), block.argument(i)->type().primitive_type());
  }
  PJRT_RETURN_IF_ERROR(builder.EmitBody(block, &values));
  const ir::Op* end = block.terminator();
  for (size_t i = 0; i < end->num_operands(); ++i)
    builder.program().results.push_back(values[end->operand(i)]);
  return std::make_shared<const LoopProgram>(std::move(builder.program()));
}

std::optional<Monoid> MatchMonoid(const ir::Block& block) {
  const ir::Op* const op = ir::ReducerOp(block);
  if (op == nullptr || op->result_type().rank() != 0) return std::nullopt;
  const bool is_pred = op->result_type().primitive_type() == PRED;
  switch (op->opcode()) {
    case OpCode::kAdd:
      return is_pred ? Monoid::kOr : Monoid::kAdd;
    case OpCode::kMultiply:
      return is_pred ? Monoid::kAnd : Monoid::kMultiply;
    case OpCode::kMaximum:
      return is_pred ? Monoid::kOr : Monoid::kMaximum;
    case OpCode::kMinimum:
      return is_pred ? Monoid::kAnd : Monoid::kMinimum;
    case OpCode::kAnd:
      return Monoid::kAnd;
    case OpCode::kOr:
      return Monoid::kOr;
    case OpCode::kXor:
      return Monoid::kXor;
    default:
      return std::nullopt;
  }
}

}  // namespace pjrt::cpu
