// SPDX-License-Identifier: Apache-2.0
//
// ExpandChlo: which expansion belongs to which op.
#include "src/core/passes/expand_chlo.h"

#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/match.h"
#include "pjrt/ir/passes.h"
#include "src/core/base/type_dispatch.h"
#include "src/core/ir/complex_number.h"

namespace pjrt::ir {
namespace {

// The float type that an op computes in: its own, but at least this one.
struct RealRow {
  OpCode code;
  Term (*expand)(Term);
  PrimitiveType at_least;
};
constexpr RealRow kReal[] = {
    {OpCode::kChloAcos, ExpandAcos, F32},           {OpCode::kChloAcosh, ExpandAcosh, F32},
    {OpCode::kChloAsin, ExpandAsin, F32},           {OpCode::kChloAsinh, ExpandAsinh, F32},
    {OpCode::kChloAtan, ExpandAtan, F32},           {OpCode::kChloAtanh, ExpandAtanh, F32},
    {OpCode::kChloBesselI1e, ExpandBesselI1e, F64}, {OpCode::kChloCosh, ExpandCosh, F32},
    {OpCode::kChloDigamma, ExpandDigamma, F32},     {OpCode::kChloErf, ExpandErf, F32},
    {OpCode::kChloErfInv, ExpandErfInv, F32},       {OpCode::kChloErfc, ExpandErfc, F64},
    {OpCode::kChloLgamma, ExpandLgamma, F32},       {OpCode::kChloSinh, ExpandSinh, F32},
};

struct ComplexRow {
  OpCode code;
  Term (*expand)(Term);
};
constexpr ComplexRow kComplex[] = {
    {OpCode::kChloAcos, ExpandComplexAcos},
    {OpCode::kChloAcosh, ExpandComplexAcosh},
    {OpCode::kChloAsin, ExpandComplexAsin},
    {OpCode::kChloAsinAcosKernel, ExpandComplexAsinAcosKernel},
    {OpCode::kChloAsinh, ExpandComplexAsinh},
    {OpCode::kChloAtan, ExpandComplexAtan},
    {OpCode::kChloAtanh, ExpandComplexAtanh},
    {OpCode::kChloCosh, ExpandComplexCosh},
    {OpCode::kChloSinh, ExpandComplexSinh},
};

PrimitiveType Wider(PrimitiveType type, PrimitiveType at_least) {
  return type == F64 || at_least == F64 ? F64 : F32;
}

// (re + im i)^2: the real part as a product of sum and difference, which loses nothing where the
// parts are nearly equal, and does not overflow where they are equal.
Term Square(Term x) {
  if (!IsComplex(x.element())) return x * x;
  const Term re = Real(x), im = Imag(x);
  const Term cancels = (Abs(re) == Abs(im)) & (Abs(re) != kInfinity);
  const Term real = Select(cancels, 0.0, (re - im) * (re + im));
  return MakeComplex(real, re * im * 2.0);
}

bool HasInfinity(PrimitiveType type) {
  return VisitArrayType(type, [](auto t) {
    return std::numeric_limits<typename NativeTypeOf<t()>::type>::has_infinity;
  });
}

Term Conj(Term x) { return IsComplex(x.element()) ? MakeComplex(Real(x), -Imag(x)) : x; }

// Ops that take one operand's elements to the result's. Null for an op without expansion.
Value* ExpandUnary(Emitter& emit, Op* op) {
  const Term x = emit(op->operand(0));
  const PrimitiveType type = x.element();
  switch (op->opcode()) {
    case OpCode::kChloConj:
      return Conj(x).value();
    case OpCode::kChloSquare:
      return Square(x).value();
    case OpCode::kChloTan:
      return Tan(x).value();
    case OpCode::kChloIsInf:
    case OpCode::kChloIsPosInf:
    case OpCode::kChloIsNegInf:
      // In a type without infinities, a constant of one is another number.
      if (!HasInfinity(type)) return emit.IntConstant(op->result_type(), 0).value();
      if (op->Is(OpCode::kChloIsInf)) return (Abs(x) == kInfinity).value();
      return (x == (op->Is(OpCode::kChloIsPosInf) ? kInfinity : -kInfinity)).value();
    default:
      break;
  }
  if (IsComplex(type)) {
    for (const ComplexRow& row : kComplex) {
      if (row.code == op->opcode()) return row.expand(x).value();
    }
    return nullptr;
  }
  for (const RealRow& row : kReal) {
    if (row.code != op->opcode()) continue;
    return Convert(row.expand(Convert(x, Wider(type, row.at_least))), type).value();
  }
  return nullptr;
}

Value* ExpandBinary(Emitter& emit, Op* op) {
  const Term a = emit(op->operand(0)), b = emit(op->operand(1));
  const PrimitiveType type = a.element(), wide = Wider(type, F32);
  switch (op->opcode()) {
    case OpCode::kChloMulhi:
      return ExpandMulhi(a, b).value();
    case OpCode::kChloNextAfter:
      return ExpandNextAfter(a, b).value();
    case OpCode::kChloPolygamma:
      if (IsComplex(type)) return nullptr;
      return Convert(ExpandPolygamma(Convert(a, wide), Convert(b, wide)), type).value();
    case OpCode::kChloZeta:
      if (IsComplex(type)) return nullptr;
      return Convert(ExpandZeta(Convert(a, wide), Convert(b, wide)), type).value();
    default:
      return nullptr;
  }
}

// Null for a value that is not a number (of a dialect that the library does not read).
Value* ExpandConstantLike(Emitter& emit, Op* op) {
  const Attribute value = op->attr("value");
  if (value.Is(AttrKind::kFloat)) return emit.Constant(op->result_type(), value.AsFloat()).value();
  if (value.Is(AttrKind::kInteger) || value.Is(AttrKind::kBool)) {
    return emit.IntConstant(op->result_type(), value.AsInt()).value();
  }
  if (const std::optional<ComplexNumber> number = ReadComplexNumber(value)) {
    const Type part = WithElement(emit.context(), op->result_type(),
                                  op->result_type().element_type().element_type().primitive_type());
    return emit
        .Make1("stablehlo.complex",
               {emit.Constant(part, number->real), emit.Constant(part, number->imaginary)},
               op->result_type())
        .value();
  }
  return nullptr;
}

// Numbers in a static shape; quantized ones with a scale for all of them, where the op only moves
// them or calls a region.
bool IsStaticArray(const Op& op, Type type) {
  if (!type.IsTensor() || !type.HasStaticShape()) return false;
  const Type element = type.element_type();
  if (element.Is(TypeKind::kQuantized))
    return (op.Is(OpCode::kChloScan) || op.Is(OpCode::kChloTopK)) &&
           element.quantized().IsPerTensor();
  return IsArrayType(type.primitive_type());
}

bool HasStaticTypes(const Op& op) {
  for (size_t i = 0; i < op.num_operands(); ++i) {
    if (!IsStaticArray(op, op.operand_type(i))) return false;
  }
  for (size_t i = 0; i < op.num_results(); ++i) {
    if (!IsStaticArray(op, op.result_type(i))) return false;
  }
  return true;
}

void ExpandOp(Module* module, Op* op) {
  Emitter emit(module, op);
  if (absl::StartsWith(op->name(), "chlo.broadcast_")) {
    Op* plain = ExpandBroadcast(emit, op);
    if (plain == nullptr) return;
    op->Erase();
    if (absl::StartsWith(plain->name(), "chlo.")) ExpandOp(module, plain);
    return;
  }
  if (op->Is(OpCode::kChloConstant)) {
    const Term constant =
        emit.Make1("stablehlo.constant", {}, op->result_type(), {{"value", op->attr("value")}});
    op->result()->ReplaceAllUsesWith(constant.value());
    op->Erase();
    return;
  }
  if (!HasStaticTypes(*op)) return;
  Value* value = nullptr;
  switch (op->opcode()) {
    case OpCode::kChloTopK:
      ExpandTopK(emit, op);
      break;
    case OpCode::kChloRaggedDot:
      ExpandRaggedDot(emit, op);
      break;
    case OpCode::kChloScan:
      ExpandScan(emit, op);
      break;
    default:
      value = op->Is(OpCode::kChloConstantLike) ? ExpandConstantLike(emit, op)
              : op->num_operands() == 2         ? ExpandBinary(emit, op)
                                                : ExpandUnary(emit, op);
      if (value == nullptr) return;
      op->result()->ReplaceAllUsesWith(value);
  }
  op->Erase();
}

}  // namespace

absl::Status ExpandChlo(Module* module, const PassOptions& options) {
  std::vector<Op*> ops;
  module->Walk([&](Op* op) {
    if (op->Is(OpCode::kUnknown) || !absl::StartsWith(op->name(), "chlo.")) return;
    if (!options.claims || !options.claims(*op)) ops.push_back(op);
  });
  // Inner ops first: a scan's body is copied.
  for (size_t i = ops.size(); i-- > 0;) ExpandOp(module, ops[i]);
  return absl::OkStatus();
}

}  // namespace pjrt::ir
