// SPDX-License-Identifier: Apache-2.0
//
// Rows of CHLO: special functions and ops that broadcast by themselves, which passes expand into
// StableHLO.
#include "src/core/ir/op_functions.h"
#include "src/core/ir/op_rows.h"

namespace pjrt::ir {
namespace {

constexpr TypeSet kU = kUnranked;

constexpr OpRow ChloUnary(OpCode code, absl::string_view summary, TypeSet types) {
  return Row(code, summary)
      .In("operand", types | kU)
      .Out("result", types | kU)
      .Is(kElementwise | kSameTypes)
      .Asm("$* {} : arrow")
      .Infer(InferSame);
}
constexpr OpRow ChloFunction(OpCode code, absl::string_view summary, TypeSet types = kF | kC) {
  return ChloUnary(code, summary, types).Is(kTranscendental);
}
constexpr OpRow Test(OpCode code, absl::string_view summary) {
  return Row(code, summary)
      .In("operand", kF | kU)
      .Out("result", kB | kU)
      .Is(kElementwise)
      .Asm("$* {} : arrow")
      .Infer(InferPredicate);
}
constexpr OpRow ChloBinary(OpCode code, absl::string_view summary, TypeSet types) {
  return Row(code, summary)
      .In("lhs", types | kU)
      .In("rhs", types | kU)
      .Out("result", types | kU)
      .Is(kElementwise | kSameTypes)
      .Asm("$* {} : arrow")
      .Infer(InferSame);
}
constexpr OpRow Broadcasting(OpCode code, absl::string_view summary, TypeSet types,
                             Traits traits = 0) {
  return Row(code, summary)
      .In("lhs", types | kU)
      .In("rhs", types | kU)
      .Out("result", types | kU)
      .Opt("broadcast_dimensions", AttrType::kI64Array, "trailing dimensions aligned")
      .Is(traits)
      .Asm("$* {} : functional")
      .Infer(InferBroadcastBinary)
      .Verify(VerifyQuantizedBinary);
}

constexpr OpRow kChloRows[] = {
    ChloFunction(OpCode::kChloAcos, "inverse cosine"),
    ChloFunction(OpCode::kChloAsinAcosKernel, "the part that the complex arc functions share", kC),
    ChloFunction(OpCode::kChloAcosh, "inverse hyperbolic cosine"),
    ChloFunction(OpCode::kChloAsin, "inverse sine"),
    ChloFunction(OpCode::kChloAsinh, "inverse hyperbolic sine"),
    ChloFunction(OpCode::kChloAtan, "inverse tangent"),
    ChloFunction(OpCode::kChloAtanh, "inverse hyperbolic tangent"),
    ChloFunction(OpCode::kChloBesselI1e, "Bessel function I1, scaled by exp(-|x|)"),
    ChloUnary(OpCode::kChloConj, "complex conjugate", kF | kC),
    ChloFunction(OpCode::kChloCosh, "hyperbolic cosine"),
    ChloFunction(OpCode::kChloDigamma, "derivative of lgamma", kF),
    ChloFunction(OpCode::kChloErf, "error function", kF),
    ChloFunction(OpCode::kChloErfInv, "inverse of the error function", kF),
    ChloFunction(OpCode::kChloErfc, "1 - erf(x)", kF),
    ChloFunction(OpCode::kChloLgamma, "logarithm of |gamma(x)|", kF),
    ChloFunction(OpCode::kChloSinh, "hyperbolic sine"),
    ChloUnary(OpCode::kChloSquare, "x * x", kI | kF | kC),
    ChloFunction(OpCode::kChloTan, "tangent"),
    Test(OpCode::kChloIsInf, "whether x is infinite"),
    Test(OpCode::kChloIsNegInf, "whether x is minus infinity"),
    Test(OpCode::kChloIsPosInf, "whether x is plus infinity"),
    ChloBinary(OpCode::kChloMulhi, "high half of the product", kI),
    ChloBinary(OpCode::kChloNextAfter, "next float after lhs in the direction of rhs", kF),
    ChloBinary(OpCode::kChloPolygamma, "derivative of digamma, lhs times", kF).Is(kTranscendental),
    ChloBinary(OpCode::kChloZeta, "Hurwitz zeta function", kF).Is(kTranscendental),

    Broadcasting(OpCode::kChloBroadcastAdd, "add", kAny | kQA, kCommutative),
    Broadcasting(OpCode::kChloBroadcastAtan2, "atan2", kF | kC | kQ),
    Broadcasting(OpCode::kChloBroadcastDivide, "divide", kAny),
    Broadcasting(OpCode::kChloBroadcastMaximum, "maximum", kAny, kCommutative),
    Broadcasting(OpCode::kChloBroadcastMinimum, "minimum", kAny, kCommutative),
    Broadcasting(OpCode::kChloBroadcastMultiply, "multiply", kAny, kCommutative),
    Broadcasting(OpCode::kChloBroadcastNextAfter, "next_after", kF),
    Broadcasting(OpCode::kChloBroadcastPolygamma, "polygamma", kF | kC),
    Broadcasting(OpCode::kChloBroadcastPower, "power", kAny),
    Broadcasting(OpCode::kChloBroadcastRemainder, "remainder", kAny),
    Broadcasting(OpCode::kChloBroadcastShiftLeft, "shift_left", kI),
    Broadcasting(OpCode::kChloBroadcastShiftRightArithmetic, "shift_right_arithmetic", kI),
    Broadcasting(OpCode::kChloBroadcastShiftRightLogical, "shift_right_logical", kI),
    Broadcasting(OpCode::kChloBroadcastSubtract, "subtract", kAny),
    Broadcasting(OpCode::kChloBroadcastZeta, "zeta", kF | kC),
    Broadcasting(OpCode::kChloBroadcastAnd, "and", kB | kI, kCommutative),
    Broadcasting(OpCode::kChloBroadcastOr, "or", kB | kI, kCommutative),
    Broadcasting(OpCode::kChloBroadcastXor, "xor", kB | kI, kCommutative),
    Row(OpCode::kChloBroadcastComplex, "complex of broadcast operands")
        .In("lhs", kF | kU)
        .In("rhs", kF | kU)
        .Out("result", kC | kU)
        .Opt("broadcast_dimensions", AttrType::kI64Array, "trailing dimensions aligned")
        .Asm("$* {} : functional")
        .Infer(InferBroadcastComplex),
    Row(OpCode::kChloBroadcastCompare, "compare of broadcast operands")
        .In("lhs", kAny | kU)
        .In("rhs", kAny | kU)
        .Out("result", kB | kU)
        .Opt("broadcast_dimensions", AttrType::kI64Array, "trailing dimensions aligned")
        .Attr("comparison_direction", AttrType::kEnum, "chlo.comparison_direction")
        .Opt("compare_type", AttrType::kEnum, "FLOAT, SIGNED or UNSIGNED by the element type",
             "chlo.comparison_type")
        .Asm("$* {} : functional")
        .Infer(InferBroadcastCompare),
    Row(OpCode::kChloBroadcastSelect, "select of broadcast operands")
        .In("pred", kB | kU)
        .In("on_true", kAny | kU)
        .In("on_false", kAny | kU)
        .Out("result", kAny | kU)
        .Asm("$* {} : functional")
        .Infer(InferBroadcastSelect),

    Row(OpCode::kChloConstant, "a constant")
        .Out("output", kAny | kStatic)
        .Attr("value", AttrType::kElements)
        .Is(kElementTypeGiven)
        .Asm("<constant>")
        .Infer(InferConstant)
        .Verify(VerifyConstant),
    Row(OpCode::kChloConstantLike, "a constant of the operand's shape")
        .In("operand", kAny | kU)
        .Out("result", kAny | kU)
        .Attr("value", AttrType::kAnyAttr)
        .Verify(VerifyConstantLike),
    Row(OpCode::kChloRaggedDot, "dot_general with groups of rows of different sizes")
        .In("lhs")
        .In("rhs")
        .In("group_sizes", kI)
        .Out("result")
        .Attr("ragged_dot_dimension_numbers", AttrType::kStruct, "chlo.ragged_dot")
        .Opt("precision_config", AttrType::kEnumArray, "DEFAULT", "chlo.precision")
        .Is(kElementTypeGiven)
        .Infer(InferRaggedDot),
    Row(OpCode::kChloScan, "folds along a dimension and gives what each step yields")
        .Ins("inputs")
        .Ins("inits")
        .Outs("outputs")
        .Outs("carries")
        .Attr("dimension", AttrType::kI64)
        .Opt("is_reverse", AttrType::kBool, "false")
        .Opt("is_associative", AttrType::kBool)
        .Opt("scan_dim_size", AttrType::kI64)
        .Opt("operandSegmentSizes", AttrType::kAnyAttr)
        .Opt("resultSegmentSizes", AttrType::kAnyAttr)
        .Regions(1)
        .Is(kControlFlow)
        .Asm("<scan>")
        .Infer(InferScan),
    Row(OpCode::kChloTopK,
        "the k largest of the last dimension, in descending order, and their indices")
        .In("operand", kAny | kU)
        .Out("values", kAny | kU)
        .Out("indices", kSI | kU)
        .Attr("k", AttrType::kI64)
        .Opt("is_stable", AttrType::kBool, "true")
        .Asm("( $* , k = @k:int ?( , is_stable = @is_stable:bool ) ) {} : arrow")
        .Infer(InferTopK),
};

}  // namespace

absl::Span<const OpRow> ChloRows() { return kChloRows; }

}  // namespace pjrt::ir
