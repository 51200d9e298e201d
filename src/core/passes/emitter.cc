// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/emitter.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

namespace pjrt::ir {

Op* Emitter::Make(absl::string_view name, absl::Span<Value* const> operands,
                  absl::Span<const Type> results, absl::Span<const NamedAttribute> attributes,
                  size_t regions) {
  OpState state;
  state.name = name;
  state.location = location_;
  state.operands = operands;
  state.result_types = results;
  state.attributes = attributes;
  state.num_regions = regions;
  return module_->Append(block_, state, before_);
}

Term Emitter::Make1(absl::string_view name, std::initializer_list<Term> operands, Type result,
                    std::initializer_list<NamedAttribute> attributes) {
  absl::InlinedVector<Value*, 4> values;
  for (const Term& term : operands) values.push_back(term.value());
  return Term(
      this, Make(name, values, {result}, absl::MakeConstSpan(attributes.begin(), attributes.size()))
                ->result());
}

std::vector<Value*> Emitter::Inline(const Block& body, absl::Span<Value* const> arguments) {
  absl::flat_hash_map<const Value*, Value*> map;
  for (size_t i = 0; i < body.num_arguments(); ++i) map[body.argument(i)] = arguments[i];
  const auto mapped = [&](Value* value) -> Value* {
    const auto found = map.find(value);
    return found == map.end() ? nullptr : found->second;
  };
  const Op* last = body.terminator();
  for (Op* op : body) {
    if (op == last) break;
    Op* copy = module_->CloneOp(op, block_, mapped, before_);
    for (size_t i = 0; i < op->num_results(); ++i) map[op->result(i)] = copy->result(i);
  }
  std::vector<Value*> results;
  for (const Use& use : last->operand_uses()) {
    Value* value = mapped(use.value());
    results.push_back(value != nullptr ? value : use.value());
  }
  return results;
}

void Emitter::Return(absl::Span<Value* const> values) { Make("stablehlo.return", values, {}); }

void MoveOps(Module* module, Block* from, Block* to) {
  // An op moves before another, so there has to be one for as long as that takes.
  Emitter at_end(module, to, Location());
  at_end.Return({});
  Op* const mark = to->back();
  for (Op* op : *from) op->MoveBefore(mark);
  mark->Erase();
}

Term Emitter::Constant(Type type, double value) {
  const Attribute attr = context().DenseSplat(type, value);
  for (const auto& [known, made] : constants_) {
    if (known == attr) return Term(this, made);
  }
  const Term term = Make1("stablehlo.constant", {}, type, {{"value", attr}});
  constants_.emplace_back(attr, term.value());
  return term;
}

Term Emitter::IntConstant(Type type, int64_t value) {
  return Make1("stablehlo.constant", {}, type, {{"value", context().DenseSplatInt(type, value)}});
}

Term Emitter::Iota(Type type, int64_t dimension) {
  return Make1("stablehlo.iota", {}, type, {{"iota_dimension", context().I64(dimension)}});
}

Term Term::Like(double value) const { return emitter_->Constant(type(), value); }
Term Term::LikeInt(int64_t value) const { return emitter_->IntConstant(type(), value); }

Type WithElement(Context& context, Type type, PrimitiveType element) {
  return context.Tensor(type.dims(), element);
}
Type WithDims(Context& context, Type type, absl::Span<const int64_t> dims) {
  return context.Tensor(dims, type.element_type());
}

Term Unary(absl::string_view name, Term x) { return x.emitter().Make1(name, {x}, x.type()); }

namespace {

PrimitiveType PartOf(PrimitiveType type) { return type == C64 ? F32 : type == C128 ? F64 : type; }

Term Retyped(absl::string_view name, Term x, PrimitiveType element) {
  return x.emitter().Make1(name, {x}, WithElement(x.emitter().context(), x.type(), element));
}

}  // namespace

Term Real(Term x) { return Retyped("stablehlo.real", x, PartOf(x.element())); }
Term Imag(Term x) { return Retyped("stablehlo.imag", x, PartOf(x.element())); }
Term Convert(Term x, PrimitiveType element) {
  return x.element() == element ? x : Retyped("stablehlo.convert", x, element);
}
Term Bitcast(Term x, PrimitiveType element) {
  return Retyped("stablehlo.bitcast_convert", x, element);
}

Term Binary(absl::string_view name, Term a, Term b) {
  return a.emitter().Make1(name, {a, b}, a.type());
}

Term MakeComplex(Term real, Term imag) {
  return real.emitter().Make1(
      "stablehlo.complex", {real, imag},
      WithElement(real.emitter().context(), real.type(), real.element() == F32 ? C64 : C128));
}

Term Compare(ComparisonDirection direction, Term a, Term b, ComparisonType type) {
  Context& context = a.emitter().context();
  const Type result = WithElement(context, a.type(), PRED);
  const NamedAttribute way = {"comparison_direction", EnumToAttr(context, direction)};
  if (type == ComparisonType::kNoType) {
    return a.emitter().Make1("stablehlo.compare", {a, b}, result, {way});
  }
  return a.emitter().Make1("stablehlo.compare", {a, b}, result,
                           {way, {"compare_type", EnumToAttr(context, type)}});
}

Term IsNegative(Term x) {
  const PrimitiveType bits = x.element() == F64 ? S64 : S32;
  const Term image = Bitcast(x, bits);
  return image < image.LikeInt(0);
}

Term Select(Term pred, Term on_true, Term on_false) {
  return pred.emitter().Make1("stablehlo.select", {pred, on_true, on_false}, on_true.type());
}

Term CopySign(Term magnitude, Term sign) {
  const Term positive = Abs(magnitude);
  return Select(IsNegative(sign), -positive, positive);
}

Term Reshape(Term x, absl::Span<const int64_t> dims) {
  if (x.type().dims() == dims) return x;
  return x.emitter().Make1("stablehlo.reshape", {x},
                           WithDims(x.emitter().context(), x.type(), dims));
}

Term Head(Term x, absl::Span<const int64_t> dims) {
  if (x.type().dims() == dims) return x;
  Context& context = x.emitter().context();
  const DimList zeros(dims.size(), 0), ones(dims.size(), 1);
  return x.emitter().Make1("stablehlo.slice", {x}, WithDims(context, x.type(), dims),
                           {{"start_indices", context.I64Array(zeros)},
                            {"limit_indices", context.I64Array(dims)},
                            {"strides", context.I64Array(ones)}});
}

Term Concatenate(absl::Span<const Term> pieces, int64_t dim) {
  if (pieces.size() == 1) return pieces[0];
  Emitter& emit = pieces[0].emitter();
  const Type type = pieces[0].type();
  DimList dims(type.dims().begin(), type.dims().end());
  dims[dim] = 0;
  std::vector<Value*> values;
  for (const Term& piece : pieces) {
    dims[dim] += piece.type().dim(dim);
    values.push_back(piece.value());
  }
  return emit(emit.Make("stablehlo.concatenate", values, {WithDims(emit.context(), type, dims)},
                        {{"dimension", emit.context().I64(dim)}})
                  ->result());
}

Term Broadcast(Term x, absl::Span<const int64_t> shape, absl::Span<const int64_t> dims) {
  if (x.type().dims() == shape) return x;
  Context& context = x.emitter().context();
  return x.emitter().Make1("stablehlo.broadcast_in_dim", {x}, WithDims(context, x.type(), shape),
                           {{"broadcast_dimensions", context.I64Array(dims)}});
}

Term Transpose(Term x, absl::Span<const int64_t> permutation) {
  DimList dims;
  bool moves = false;
  for (size_t d = 0; d < permutation.size(); ++d) {
    dims.push_back(x.type().dim(permutation[d]));
    moves |= permutation[d] != static_cast<int64_t>(d);
  }
  if (!moves) return x;
  Context& context = x.emitter().context();
  return x.emitter().Make1("stablehlo.transpose", {x}, WithDims(context, x.type(), dims),
                           {{"permutation", context.I64Array(permutation)}});
}

namespace {

// A reduction over the dimensions `dims` from 0 on.
Term Reduce(Term x, absl::Span<const int64_t> dims, Term (*combine)(Term, Term)) {
  if (dims.empty()) return x;
  Emitter& emit = x.emitter();
  Context& context = emit.context();
  DimList kept;
  for (int64_t d = 0; d < x.type().rank(); ++d) {
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) kept.push_back(x.type().dim(d));
  }
  const Type scalar = WithDims(context, x.type(), {});
  const Term zero = x.element() == PRED ? emit.IntConstant(scalar, 0) : emit.Constant(scalar, 0);
  Op* reduce =
      emit.Make("stablehlo.reduce", {x.value(), zero.value()}, {WithDims(context, x.type(), kept)},
                {{"dimensions", context.I64Array(dims)}}, 1);
  Block* body = reduce->region()->AddBlock();
  Value* result = body->AddArgument(scalar);
  Value* value = body->AddArgument(scalar);
  Emitter inside(emit.module(), body, reduce->location());
  inside.Return({combine(inside(result), inside(value)).value()});
  return emit(reduce->result());
}

}  // namespace

Term Sum(Term x, absl::Span<const int64_t> dims) {
  return Reduce(x, dims, [](Term a, Term b) { return a + b; });
}

Term Any(Term pred) {
  DimList dims;
  for (int64_t d = 0; d < pred.type().rank(); ++d) dims.push_back(d);
  return Reduce(pred, dims, [](Term a, Term b) { return a | b; });
}

Term Polynomial(Term x, absl::Span<const double> coefficients) {
  Term sum = x.Like(coefficients[0]);
  for (const double c : coefficients.subspan(1)) sum = sum * x + c;
  return sum;
}

// Clenshaw's recurrence.
Term Chebyshev(Term x, absl::Span<const double> coefficients) {
  Term b0 = x.Like(coefficients[0]), b1 = x.Like(0), b2 = x.Like(0);
  for (const double c : coefficients.subspan(1)) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + c;
  }
  return (b0 - b2) * 0.5;
}

}  // namespace pjrt::ir
