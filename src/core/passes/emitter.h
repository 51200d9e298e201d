// SPDX-License-Identifier: Apache-2.0
//
// How a pass writes ops in the place of another: an Emitter puts them before that op, and a Term is
// a value that arithmetic can be written with:
//
//   Emitter emit(module, op);
//   Term x = emit(op->operand(0));
//   Term y = Select(x > 1.0, 2.0 / x, x * x + 0.5);
//
// Operands have one type; a number stands for a constant of the other operand's type.
#ifndef PJRT_CORE_PASSES_EMITTER_H_
#define PJRT_CORE_PASSES_EMITTER_H_

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_attributes.h"

namespace pjrt::ir {

class Emitter;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A value and the Emitter that makes what is computed from it. Cheap to copy; valid while both
// live.
class Term {
 public:
  Term(Emitter* emitter, Value* value) : emitter_(emitter), value_(value) {}
  Emitter& emitter() const { return *emitter_; }
  Value* value() const { return value_; }
  Type type() const { return value_->type(); }
  PrimitiveType element() const { return value_->type().primitive_type(); }
  // A constant of this term's type.
  Term Like(double value) const;
  Term LikeInt(int64_t value) const;

 private:
  Emitter* emitter_;
  Value* value_;
};

class Emitter {
 public:
  // Ops land before `before`, with its location.
  Emitter(Module* module, Op* before)
      : module_(module), block_(before->block()), before_(before), location_(before->location()) {}
  // Ops land behind `op`, with its location. Its block has a terminator.
  static Emitter Behind(Module* module, Op* op) {
    Emitter emit(module, op->next());
    emit.location_ = op->location();
    return emit;
  }
  // Ops land at the end of `block`.
  Emitter(Module* module, Block* block, Location location)
      : module_(module), block_(block), location_(location) {}

  Module* module() { return module_; }
  Context& context() { return module_->context(); }
  Term operator()(Value* value) { return Term(this, value); }

  // Any op; results as given.
  Op* Make(absl::string_view name, absl::Span<Value* const> operands,
           absl::Span<const Type> results, absl::Span<const NamedAttribute> attributes = {},
           size_t regions = 0);
  Term Make1(absl::string_view name, std::initializer_list<Term> operands, Type result,
             std::initializer_list<NamedAttribute> attributes = {});
  // The ops of a block but its terminator, with `arguments` for the block's; returns what the
  // terminator returns.
  std::vector<Value*> Inline(const Block& body, absl::Span<Value* const> arguments);
  // Ends a region.
  void Return(absl::Span<Value* const> values);

  // `value` everywhere, rounded or wrapped to the element type. Equal ones are made once.
  Term Constant(Type type, double value);
  Term IntConstant(Type type, int64_t value);
  Term Iota(Type type, int64_t dimension);

 private:
  Module* module_;
  Block* block_;
  Op* before_ = nullptr;
  Location location_;
  std::vector<std::pair<Attribute, Value*>> constants_;
};

// Moves the ops of `from` to the end of `to`, which holds no terminator yet.
void MoveOps(Module* module, Block* from, Block* to);

// The type of `type`'s dimensions with other elements.
Type WithElement(Context& context, Type type, PrimitiveType element);
Type WithDims(Context& context, Type type, absl::Span<const int64_t> dims);

// --- One operand. `name` is that of the op ---
Term Unary(absl::string_view name, Term x);
inline Term Abs(Term x) {
  return IsComplex(x.element()) ? x.emitter().Make1("stablehlo.abs", {x},
                                                    WithElement(x.emitter().context(), x.type(),
                                                                x.element() == C64 ? F32 : F64))
                                : Unary("stablehlo.abs", x);
}
inline Term Exp(Term x) { return Unary("stablehlo.exponential", x); }
inline Term Expm1(Term x) { return Unary("stablehlo.exponential_minus_one", x); }
inline Term Floor(Term x) { return Unary("stablehlo.floor", x); }
inline Term Log(Term x) { return Unary("stablehlo.log", x); }
inline Term Log1p(Term x) { return Unary("stablehlo.log_plus_one", x); }
inline Term Not(Term x) { return Unary("stablehlo.not", x); }
inline Term Sign(Term x) { return Unary("stablehlo.sign", x); }
inline Term Sin(Term x) { return Unary("stablehlo.sine", x); }
inline Term Cos(Term x) { return Unary("stablehlo.cosine", x); }
inline Term Sqrt(Term x) { return Unary("stablehlo.sqrt", x); }
inline Term Tan(Term x) { return Unary("stablehlo.tan", x); }
inline Term operator-(Term x) { return Unary("stablehlo.negate", x); }
Term Real(Term x);
Term Imag(Term x);
Term Convert(Term x, PrimitiveType element);
Term Bitcast(Term x, PrimitiveType element);  // of the same width

// --- Two operands ---
Term Binary(absl::string_view name, Term a, Term b);
inline Term operator+(Term a, Term b) { return Binary("stablehlo.add", a, b); }
inline Term operator-(Term a, Term b) { return Binary("stablehlo.subtract", a, b); }
inline Term operator*(Term a, Term b) { return Binary("stablehlo.multiply", a, b); }
inline Term operator/(Term a, Term b) { return Binary("stablehlo.divide", a, b); }
inline Term operator&(Term a, Term b) { return Binary("stablehlo.and", a, b); }
inline Term operator|(Term a, Term b) { return Binary("stablehlo.or", a, b); }
inline Term operator^(Term a, Term b) { return Binary("stablehlo.xor", a, b); }
inline Term Atan2(Term y, Term x) { return Binary("stablehlo.atan2", y, x); }
inline Term Max(Term a, Term b) { return Binary("stablehlo.maximum", a, b); }
inline Term Min(Term a, Term b) { return Binary("stablehlo.minimum", a, b); }
inline Term Pow(Term a, Term b) { return Binary("stablehlo.power", a, b); }
inline Term ShiftRight(Term a, int64_t bits) {
  return Binary("stablehlo.shift_right_logical", a, a.LikeInt(bits));
}
inline Term ShiftRightArithmetic(Term a, int64_t bits) {
  return Binary("stablehlo.shift_right_arithmetic", a, a.LikeInt(bits));
}
inline Term ShiftLeft(Term a, int64_t bits) {
  return Binary("stablehlo.shift_left", a, a.LikeInt(bits));
}
Term MakeComplex(Term real, Term imag);

inline Term operator+(Term a, double b) { return a + a.Like(b); }
inline Term operator-(Term a, double b) { return a - a.Like(b); }
inline Term operator*(Term a, double b) { return a * a.Like(b); }
inline Term operator/(Term a, double b) { return a / a.Like(b); }
inline Term operator+(double a, Term b) { return b.Like(a) + b; }
inline Term operator-(double a, Term b) { return b.Like(a) - b; }
inline Term operator*(double a, Term b) { return b.Like(a) * b; }
inline Term operator/(double a, Term b) { return b.Like(a) / b; }

// --- Comparisons give i1; floats compare as FLOAT ---
Term Compare(ComparisonDirection direction, Term a, Term b,
             ComparisonType type = ComparisonType::kNoType);
inline Term operator<(Term a, Term b) { return Compare(ComparisonDirection::kLt, a, b); }
inline Term operator<=(Term a, Term b) { return Compare(ComparisonDirection::kLe, a, b); }
inline Term operator>(Term a, Term b) { return Compare(ComparisonDirection::kGt, a, b); }
inline Term operator>=(Term a, Term b) { return Compare(ComparisonDirection::kGe, a, b); }
inline Term operator==(Term a, Term b) { return Compare(ComparisonDirection::kEq, a, b); }
inline Term operator!=(Term a, Term b) { return Compare(ComparisonDirection::kNe, a, b); }
inline Term operator<(Term a, double b) { return a < a.Like(b); }
inline Term operator<=(Term a, double b) { return a <= a.Like(b); }
inline Term operator>(Term a, double b) { return a > a.Like(b); }
inline Term operator>=(Term a, double b) { return a >= a.Like(b); }
inline Term operator==(Term a, double b) { return a == a.Like(b); }
inline Term operator!=(Term a, double b) { return a != a.Like(b); }
inline Term IsNan(Term x) { return x != x; }
// Not 0, not -0: the sign bit decides. `x` is a float.
Term IsNegative(Term x);

Term Select(Term pred, Term on_true, Term on_false);
inline Term Select(Term pred, double on_true, Term on_false) {
  return Select(pred, on_false.Like(on_true), on_false);
}
inline Term Select(Term pred, Term on_true, double on_false) {
  return Select(pred, on_true, on_true.Like(on_false));
}
// |magnitude| with the sign of `sign`.
Term CopySign(Term magnitude, Term sign);

// --- Shapes. What changes nothing gives `x` itself ---
Term Reshape(Term x, absl::Span<const int64_t> dims);
// broadcast_in_dim: dimension i of `x` is dimension dims[i] of the result.
Term Broadcast(Term x, absl::Span<const int64_t> shape, absl::Span<const int64_t> dims);
Term Transpose(Term x, absl::Span<const int64_t> permutation);
// The first dims[d] places of each dimension d.
Term Head(Term x, absl::Span<const int64_t> dims);
// At least one piece, one behind the other along `dim`.
Term Concatenate(absl::Span<const Term> pieces, int64_t dim);
// The sum over the dimensions `dims`.
Term Sum(Term x, absl::Span<const int64_t> dims);
// Whether a predicate holds anywhere: an i1 of rank 0.
Term Any(Term pred);

// The polynomial with these coefficients, that of the highest power first.
Term Polynomial(Term x, absl::Span<const double> coefficients);
// The sum of coefficients[n - 1 - i] * T_i(x / 2), half of the first: a Chebyshev series on [-2,
// 2].
Term Chebyshev(Term x, absl::Span<const double> coefficients);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_EMITTER_H_
