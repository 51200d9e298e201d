// SPDX-License-Identifier: Apache-2.0
//
// Rows of the ops that work on one element at a time.
#include "src/core/ir/op_functions.h"
#include "src/core/ir/op_rows.h"

namespace pjrt::ir {
namespace {

constexpr TypeSet kFC = kF | kC | kQ;
constexpr TypeSet kNumber = kI | kF | kC | kQ;

constexpr OpRow Unary(OpCode code, absl::string_view summary, TypeSet in, TypeSet out) {
  return Row(code, summary)
      .In("operand", in)
      .Out("result", out)
      .Is(kElementwise)
      .Asm("$* {} : type");
}
constexpr OpRow Unary(OpCode code, absl::string_view summary, TypeSet types) {
  return Unary(code, summary, types, types).Is(kSameTypes).Infer(InferSame);
}
constexpr OpRow Transcendental(OpCode code, absl::string_view summary) {
  return Unary(code, summary, kFC)
      .Is(kTranscendental)
      .Opt("result_accuracy", AttrType::kStruct, "mode DEFAULT", "stablehlo.result_accuracy");
}
constexpr OpRow Binary(OpCode code, absl::string_view summary, TypeSet types, Traits traits = 0) {
  return Row(code, summary)
      .In("lhs", types)
      .In("rhs", types)
      .Out("result", types)
      .Is(kElementwise | kSameTypes | traits)
      .Asm("$* {} : type")
      .Infer(InferSame)
      .Verify(VerifyQuantizedBinary);
}

constexpr OpRow kElementwiseRows[] = {
    Unary(OpCode::kAbs, "absolute value; the magnitude of a complex number", kSI | kF | kC | kQ,
          kSI | kF | kQ)
        .Infer(InferRealPart),
    Unary(OpCode::kCeil, "rounds up to an integer", kF | kQ),
    Unary(OpCode::kFloor, "rounds down to an integer", kF | kQ),
    Unary(OpCode::kRoundNearestAfz, "rounds to the nearest integer, ties away from zero", kF | kQ),
    Unary(OpCode::kRoundNearestEven, "rounds to the nearest integer, ties to even", kF | kQ),
    Unary(OpCode::kCountLeadingZeros, "number of leading zero bits", kI),
    Unary(OpCode::kPopcnt, "number of one bits", kI),
    Unary(OpCode::kNegate, "minus x; wraps around for integers", kNumber),
    Unary(OpCode::kNot, "bitwise or logical complement", kB | kI),
    Unary(OpCode::kSign, "-1, 0 or 1 by the sign; z/|z| of a complex number", kSI | kF | kC | kQ),
    Unary(OpCode::kReal, "real part", kF | kC, kF).Infer(InferRealPart),
    Unary(OpCode::kImag, "imaginary part, 0 of a real number", kF | kC, kF).Infer(InferRealPart),
    Unary(OpCode::kIsFinite, "whether x is neither infinite nor NaN", kF | kQ, kB)
        .Asm("$* {} : functional")
        .Infer(InferPredicate),
    Unary(OpCode::kConvert, "value conversion between element types", kF | kB | kI | kC,
          kF | kB | kI | kC)
        .Verify(VerifyConvert),
    Unary(OpCode::kReducePrecision, "rounds as if stored in a float of fewer bits", kF | kQ)
        .Attr("exponent_bits", AttrType::kI32, "positive")
        .Attr("mantissa_bits", AttrType::kI32, "nonnegative")
        .Asm("$* , format = <exponent-mantissa> {} : type"),
    Unary(OpCode::kUniformQuantize, "quantizes, or changes the quantization", kF | kQ | kQA,
          kQ | kQA)
        .Asm("$* {} : functional")
        .Verify(VerifyQuantize),
    Unary(OpCode::kUniformDequantize, "the expressed value of a quantized one", kQ | kQA, kF)
        .Asm("$* {} : functional")
        .Infer(InferDequantize),

    Transcendental(OpCode::kCbrt, "cube root"),
    Transcendental(OpCode::kCosine, "cosine"),
    Transcendental(OpCode::kExponential, "e to the x"),
    Transcendental(OpCode::kExponentialMinusOne, "e to the x, minus 1"),
    Transcendental(OpCode::kLog, "natural logarithm"),
    Transcendental(OpCode::kLogPlusOne, "natural logarithm of x + 1"),
    Transcendental(OpCode::kLogistic, "1 / (1 + exp(-x))"),
    Transcendental(OpCode::kRsqrt, "1 / sqrt(x)"),
    Transcendental(OpCode::kSine, "sine"),
    Transcendental(OpCode::kSqrt, "square root"),
    Transcendental(OpCode::kTan, "tangent"),
    Transcendental(OpCode::kTanh, "hyperbolic tangent"),

    Binary(OpCode::kAdd, "sum; logical or of i1", kAny | kQA, kCommutative).Infer(InferSum),
    Binary(OpCode::kAnd, "bitwise or logical and", kB | kI, kCommutative),
    Binary(OpCode::kAtan2, "angle of the point (rhs, lhs)", kFC, kTranscendental),
    Binary(OpCode::kDivide, "quotient; truncates toward zero for integers", kNumber),
    Binary(OpCode::kMaximum, "larger value; NaN wins, -0 < +0", kAny, kCommutative),
    Binary(OpCode::kMinimum, "smaller value; NaN wins, -0 < +0", kAny, kCommutative),
    Binary(OpCode::kMultiply, "product; logical and of i1", kAny, kCommutative),
    Binary(OpCode::kOr, "bitwise or logical or", kB | kI, kCommutative),
    Binary(OpCode::kPower, "lhs to the power of rhs", kNumber, kTranscendental),
    Binary(OpCode::kRemainder, "remainder with the sign of lhs", kNumber),
    Binary(OpCode::kShiftLeft, "shifts left; 0 from the width on", kI),
    Binary(OpCode::kShiftRightArithmetic, "shifts right and fills with the sign", kI),
    Binary(OpCode::kShiftRightLogical, "shifts right and fills with zeros", kI),
    Binary(OpCode::kSubtract, "difference", kNumber),
    Binary(OpCode::kXor, "bitwise or logical exclusive or", kB | kI, kCommutative),

    Row(OpCode::kCompare, "compares; complex numbers by real, then imaginary part")
        .In("lhs")
        .In("rhs")
        .Out("result", kB)
        .Attr("comparison_direction", AttrType::kEnum, "stablehlo.comparison_direction")
        .Opt("compare_type", AttrType::kEnum, "FLOAT, SIGNED or UNSIGNED by the element type",
             "stablehlo.comparison_type")
        .Is(kElementwise)
        .Asm("@comparison_direction:enum , $* ?( , @compare_type:enum ) {} : functional")
        .Infer(InferCompare)
        .Verify(VerifyCompare),
    Row(OpCode::kComplex, "a complex number of real and imaginary part")
        .In("lhs", kF)
        .In("rhs", kF)
        .Out("result", kC)
        .Is(kElementwise)
        .Asm("$* {} : <complex-type>")
        .Infer(InferComplex),
    Row(OpCode::kSelect, "on_true where pred holds, else on_false; pred may be a scalar")
        .In("pred", kB)
        .In("on_true", kAny | kQA)
        .In("on_false", kAny | kQA)
        .Out("result", kAny | kQA)
        .Asm("$* {} : <select-type>")
        .Infer(InferSelect),
    Row(OpCode::kClamp, "min(max(operand, min), max); min and max may be scalars")
        .In("min")
        .In("operand")
        .In("max")
        .Out("result")
        .Asm("$* {} : type")
        .Infer(InferClamp),
};

}  // namespace

absl::Span<const OpRow> ElementwiseRows() { return kElementwiseRows; }

}  // namespace pjrt::ir
