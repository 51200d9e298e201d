// SPDX-License-Identifier: Apache-2.0
//
// The Builder's ops, each a call of Builder::Op with its attributes.
#include <limits>

#include "pjrt/base/literal.h"
#include "pjrt/ir/builder.h"
#include "pjrt/ir/op_set.h"
#include "src/core/base/error.h"

namespace pjrt::ir {
namespace {

Attribute PrecisionConfig(Context& context, Precision precision) {
  const Attribute one = EnumToAttr(context, precision);
  return context.Array({one, one});
}

// The window's lists as attributes of reduce_window, select_and_scatter and convolution, by their
// names in the op.
void AddWindow(Context& context, const WindowAttrs& window, OpCode code,
               std::vector<NamedAttribute>* out) {
  DimList sizes, strides, padding, base, dilation, reversal;
  for (const WindowDimension& d : window.dimensions) {
    sizes.push_back(d.size);
    strides.push_back(d.stride);
    padding.push_back(d.padding_low);
    padding.push_back(d.padding_high);
    base.push_back(d.base_dilation);
    dilation.push_back(d.window_dilation);
    reversal.push_back(d.reversal ? 1 : 0);
  }
  const int64_t rank = static_cast<int64_t>(window.dimensions.size());
  out->push_back({"window_strides", context.I64Array(strides)});
  out->push_back({"padding", context.DenseI64({rank, 2}, padding)});
  if (code == OpCode::kConvolution) {
    out->push_back({"lhs_dilation", context.I64Array(base)});
    out->push_back({"rhs_dilation", context.I64Array(dilation)});
    out->push_back({"window_reversal", context.DenseArray(context.I1(), reversal)});
    return;
  }
  out->push_back({"window_dimensions", context.I64Array(sizes)});
  if (code == OpCode::kReduceWindow) {
    out->push_back({"base_dilations", context.I64Array(base)});
    out->push_back({"window_dilations", context.I64Array(dilation)});
  }
}

}  // namespace

// The type of a scalar with a value's element type; the null type for a null value.
Type Builder::ScalarOf(Value* value) {
  if (value == nullptr || !value->type().element_type()) return Type();
  return context().Tensor(Dims(), value->type().element_type());
}

// A value's tensor type with another element type; the null type for a null value.
Type Builder::Retyped(Value* value, PrimitiveType type) {
  if (value == nullptr || !value->type().IsTensor()) return Type();
  return context().Tensor(value->type().dims(), context().ElementType(type),
                          value->type().bounds());
}

Value* Builder::Constant(const LiteralBase& literal) {
  if (!Usable("stablehlo.constant", {})) return nullptr;
  const Shape& shape = literal.shape();
  if (!shape.IsArray()) {
    Fail(InvalidArgument("PJRT-I007", "a constant is an array; given a literal of shape ",
                         shape.ToString()));
    return nullptr;
  }
  const absl::StatusOr<Literal> rows =
      literal.Reshape(shape.dimensions());  // the same shape, row-major
  if (!Fail(rows.status())) return nullptr;
  return RawConstant(shape.element_type(), shape.dimensions(), rows->untyped_data(),
                     static_cast<size_t>(rows->size_bytes()));
}

#define PJRT_UNARY(Name, op) \
  Value* Builder::Name(Value* x) { return Unary("stablehlo." op, x); }
PJRT_UNARY(Abs, "abs")
PJRT_UNARY(Cbrt, "cbrt")
PJRT_UNARY(Ceil, "ceil")
PJRT_UNARY(Cosine, "cosine")
PJRT_UNARY(CountLeadingZeros, "count_leading_zeros")
PJRT_UNARY(Exponential, "exponential")
PJRT_UNARY(ExponentialMinusOne, "exponential_minus_one")
PJRT_UNARY(Floor, "floor")
PJRT_UNARY(Imag, "imag")
PJRT_UNARY(IsFinite, "is_finite")
PJRT_UNARY(Log, "log")
PJRT_UNARY(LogPlusOne, "log_plus_one")
PJRT_UNARY(Logistic, "logistic")
PJRT_UNARY(Negate, "negate")
PJRT_UNARY(Not, "not")
PJRT_UNARY(Popcnt, "popcnt")
PJRT_UNARY(Real, "real")
PJRT_UNARY(RoundNearestAfz, "round_nearest_afz")
PJRT_UNARY(RoundNearestEven, "round_nearest_even")
PJRT_UNARY(Rsqrt, "rsqrt")
PJRT_UNARY(Sign, "sign")
PJRT_UNARY(Sine, "sine")
PJRT_UNARY(Sqrt, "sqrt")
PJRT_UNARY(Tan, "tan")
PJRT_UNARY(Tanh, "tanh")
#undef PJRT_UNARY

#define PJRT_BINARY(Name, op) \
  Value* Builder::Name(Value* a, Value* b) { return Binary("stablehlo." op, a, b); }
PJRT_BINARY(Add, "add")
PJRT_BINARY(And, "and")
PJRT_BINARY(Atan2, "atan2")
PJRT_BINARY(Complex, "complex")
PJRT_BINARY(Divide, "divide")
PJRT_BINARY(Maximum, "maximum")
PJRT_BINARY(Minimum, "minimum")
PJRT_BINARY(Multiply, "multiply")
PJRT_BINARY(Or, "or")
PJRT_BINARY(Power, "power")
PJRT_BINARY(Remainder, "remainder")
PJRT_BINARY(ShiftLeft, "shift_left")
PJRT_BINARY(ShiftRightArithmetic, "shift_right_arithmetic")
PJRT_BINARY(ShiftRightLogical, "shift_right_logical")
PJRT_BINARY(Subtract, "subtract")
PJRT_BINARY(Xor, "xor")
#undef PJRT_BINARY

Value* Builder::Compare(ComparisonDirection direction, Value* a, Value* b) {
  return Op("stablehlo.compare", {a, b},
            {{"comparison_direction", EnumToAttr(context(), direction)}});
}

Value* Builder::Compare(ComparisonDirection direction, Value* a, Value* b, ComparisonType type) {
  return Op("stablehlo.compare", {a, b},
            {{"comparison_direction", EnumToAttr(context(), direction)},
             {"compare_type", EnumToAttr(context(), type)}});
}

Value* Builder::Select(Value* pred, Value* on_true, Value* on_false) {
  return Op("stablehlo.select", {pred, on_true, on_false});
}

Value* Builder::Clamp(Value* min, Value* x, Value* max) {
  return Op("stablehlo.clamp", {min, x, max});
}

Value* Builder::Convert(Value* x, PrimitiveType type) {
  return Op("stablehlo.convert", {x}, {}, {Retyped(x, type)});
}

Value* Builder::ReducePrecision(Value* x, int exponent_bits, int mantissa_bits) {
  return Op("stablehlo.reduce_precision", {x},
            {{"exponent_bits", context().I32(exponent_bits)},
             {"mantissa_bits", context().I32(mantissa_bits)}});
}

// --- Shapes ---

Value* Builder::Iota(PrimitiveType type, Dims dims, int64_t dimension) {
  return Op("stablehlo.iota", {}, {{"iota_dimension", context().I64(dimension)}},
            {TensorType(type, dims)});
}

Value* Builder::BitcastConvert(Value* x, PrimitiveType type, Dims dims) {
  return Op("stablehlo.bitcast_convert", {x}, {}, {TensorType(type, dims)});
}

Value* Builder::BroadcastInDim(Value* x, Dims dims, Dims broadcast_dimensions) {
  const Type type = x != nullptr ? context().Tensor(dims, x->type().element_type()) : Type();
  return Op("stablehlo.broadcast_in_dim", {x},
            {{"broadcast_dimensions", context().I64Array(broadcast_dimensions)}}, {type});
}

Value* Builder::Concatenate(ValueSpan inputs, int64_t dimension) {
  return Op("stablehlo.concatenate", inputs, {{"dimension", context().I64(dimension)}});
}

Value* Builder::Pad(Value* x, Value* padding_value, Dims low, Dims high, Dims interior) {
  return Op("stablehlo.pad", {x, padding_value},
            {{"edge_padding_low", context().I64Array(low)},
             {"edge_padding_high", context().I64Array(high)},
             {"interior_padding", context().I64Array(interior)}});
}

Value* Builder::Reshape(Value* x, Dims dims) {
  const Type type = x != nullptr ? context().Tensor(dims, x->type().element_type()) : Type();
  return Op("stablehlo.reshape", {x}, {}, {type});
}

Value* Builder::Reverse(Value* x, Dims dimensions) {
  return Op("stablehlo.reverse", {x}, {{"dimensions", context().I64Array(dimensions)}});
}

Value* Builder::Transpose(Value* x, Dims permutation) {
  return Op("stablehlo.transpose", {x}, {{"permutation", context().I64Array(permutation)}});
}

Value* Builder::Slice(Value* x, Dims start, Dims limit, Dims strides) {
  return Op("stablehlo.slice", {x},
            {{"start_indices", context().I64Array(start)},
             {"limit_indices", context().I64Array(limit)},
             {"strides", context().I64Array(strides)}});
}

Value* Builder::DynamicSlice(Value* x, ValueSpan start_indices, Dims slice_sizes) {
  Values operands = {x};
  for (Value* index : start_indices) operands.push_back(index);
  return Op("stablehlo.dynamic_slice", operands,
            {{"slice_sizes", context().I64Array(slice_sizes)}});
}

Value* Builder::DynamicUpdateSlice(Value* x, Value* update, ValueSpan start_indices) {
  Values operands = {x, update};
  for (Value* index : start_indices) operands.push_back(index);
  return Op("stablehlo.dynamic_update_slice", operands);
}

Value* Builder::Gather(Value* x, Value* start_indices, const GatherDimensionNumbers& numbers,
                       Dims slice_sizes, bool indices_are_sorted) {
  return Op("stablehlo.gather", {x, start_indices},
            {{"dimension_numbers", numbers.ToAttr(context())},
             {"slice_sizes", context().I64Array(slice_sizes)},
             {"indices_are_sorted", context().Bool(indices_are_sorted)}});
}

Value* Builder::Scatter(Value* x, Value* indices, Value* updates,
                        const ScatterDimensionNumbers& numbers, BinaryBody combine,
                        bool indices_are_sorted, bool unique_indices) {
  const Type scalar = ScalarOf(x);
  return Op("stablehlo.scatter", {x, indices, updates},
            {{"scatter_dimension_numbers", numbers.ToAttr(context())},
             {"indices_are_sorted", context().Bool(indices_are_sorted)},
             {"unique_indices", context().Bool(unique_indices)}},
            {}, {{{scalar, scalar}, [&](Builder& b, ValueSpan v) {
                    return Values{combine(b, v[0], v[1])};
                  }}});
}

Value* Builder::GetDimensionSize(Value* x, int64_t dimension) {
  return Op("stablehlo.get_dimension_size", {x}, {{"dimension", context().I64(dimension)}});
}

Value* Builder::SetDimensionSize(Value* x, Value* size, int64_t dimension) {
  return Op("stablehlo.set_dimension_size", {x, size}, {{"dimension", context().I64(dimension)}});
}

// --- Contractions, windows, reductions ---

Value* Builder::Dot(Value* a, Value* b, Precision precision) {
  DotDimensionNumbers numbers;
  if (a != nullptr && a->type().IsTensor())
    numbers.lhs_contracting_dimensions = {a->type().rank() - 1};
  numbers.rhs_contracting_dimensions = {0};
  return DotGeneral(a, b, numbers, precision);
}

Value* Builder::DotGeneral(Value* a, Value* b, const DotDimensionNumbers& numbers,
                           Precision precision, PrimitiveType result_type) {
  Value* dot = Op("stablehlo.dot_general", {a, b},
                  {{"dot_dimension_numbers", numbers.ToAttr(context())},
                   {"precision_config", PrecisionConfig(context(), precision)}});
  if (dot != nullptr && result_type != INVALID) dot->set_type(Retyped(dot, result_type));
  return dot;
}

Value* Builder::Convolution(Value* x, Value* kernel, const ConvDimensionNumbers& numbers,
                            const WindowAttrs& window, int64_t feature_group_count,
                            int64_t batch_group_count, Precision precision,
                            PrimitiveType result_type) {
  std::vector<NamedAttribute> attributes = {
      {"dimension_numbers", numbers.ToAttr(context())},
      {"feature_group_count", context().I64(feature_group_count)},
      {"batch_group_count", context().I64(batch_group_count)},
      {"precision_config", PrecisionConfig(context(), precision)}};
  AddWindow(context(), window, OpCode::kConvolution, &attributes);
  Value* out = Op("stablehlo.convolution", {x, kernel}, attributes);
  if (out != nullptr && result_type != INVALID) out->set_type(Retyped(out, result_type));
  return out;
}

Results Builder::Reduce(ValueSpan inputs, ValueSpan inits, Dims dimensions, Body body) {
  Values operands(inputs.begin(), inputs.end());
  operands.insert(operands.end(), inits.begin(), inits.end());
  std::vector<Type> arguments;
  for (Value* init : inits)
    arguments.push_back(ScalarOf(init));  // accumulators, then values of the same types
  for (size_t i = 0; i < inits.size(); ++i) arguments.push_back(arguments[i]);
  return Op("stablehlo.reduce", operands, {{"dimensions", context().I64Array(dimensions)}}, {},
            {{arguments, body}});
}

Value* Builder::Reduce(Value* x, Value* init, Dims dimensions, BinaryBody body) {
  return Reduce(ValueSpan{x}, ValueSpan{init}, dimensions,
                [&](Builder& b, ValueSpan v) { return Values{body(b, v[0], v[1])}; });
}

Value* Builder::ReduceSum(Value* x, Dims dimensions) {
  if (!Usable("stablehlo.reduce", {x})) return nullptr;
  return Reduce(x, Fill(ScalarOf(x), 0), dimensions,
                [](Builder& b, Value* p, Value* q) { return b.Add(p, q); });
}

Value* Builder::ReduceMax(Value* x, Dims dimensions) {
  if (!Usable("stablehlo.reduce", {x})) return nullptr;
  const Type scalar = ScalarOf(x);
  const Type element = scalar ? scalar.element_type() : Type();
  Value* init = nullptr;
  if (element.Is(TypeKind::kFloat) && element.bit_width() >= 16) {
    init = Fill(scalar, -std::numeric_limits<double>::infinity());
  } else if (element.Is(TypeKind::kInteger)) {
    const bool is_signed = element.signedness() != Signedness::kUnsigned && element.bit_width() > 1;
    const int64_t least =
        is_signed ? std::numeric_limits<int64_t>::min() >> (64 - element.bit_width()) : 0;
    init = Constant(context().DenseSplatInt(scalar, least));
  } else {
    Fail(InvalidArgument("PJRT-I007",
                         "ReduceMax takes integers and floats of 16 bits or more; given ",
                         x->type().ToString()));
    return nullptr;
  }
  return Reduce(x, init, dimensions,
                [](Builder& b, Value* p, Value* q) { return b.Maximum(p, q); });
}

Value* Builder::ReduceWindow(Value* x, Value* init, const WindowAttrs& window, BinaryBody body) {
  std::vector<NamedAttribute> attributes;
  AddWindow(context(), window, OpCode::kReduceWindow, &attributes);
  const Type scalar = ScalarOf(init);
  return Op(
      "stablehlo.reduce_window", {x, init}, attributes, {},
      {{{scalar, scalar}, [&](Builder& b, ValueSpan v) { return Values{body(b, v[0], v[1])}; }}});
}

Value* Builder::SelectAndScatter(Value* x, Value* source, Value* init, const WindowAttrs& window,
                                 BinaryBody select, BinaryBody scatter) {
  std::vector<NamedAttribute> attributes;
  AddWindow(context(), window, OpCode::kSelectAndScatter, &attributes);
  const Type scalar = ScalarOf(x);
  return Op(
      "stablehlo.select_and_scatter", {x, source, init}, attributes, {},
      {{{scalar, scalar}, [&](Builder& b, ValueSpan v) { return Values{select(b, v[0], v[1])}; }},
       {{scalar, scalar},
        [&](Builder& b, ValueSpan v) { return Values{scatter(b, v[0], v[1])}; }}});
}

Value* Builder::Map(ValueSpan inputs, Body body) {
  std::vector<Type> arguments;
  for (Value* input : inputs) arguments.push_back(ScalarOf(input));
  DimList dimensions;
  const int64_t rank = !inputs.empty() && inputs[0] != nullptr ? inputs[0]->type().rank() : 0;
  for (int64_t d = 0; d < rank; ++d) dimensions.push_back(d);
  return Op("stablehlo.map", inputs, {{"dimensions", context().I64Array(dimensions)}}, {},
            {{arguments, body}});
}

Results Builder::Sort(ValueSpan inputs, int64_t dimension, bool is_stable, Body comparator) {
  std::vector<Type> arguments;
  for (Value* input : inputs) arguments.insert(arguments.end(), 2, ScalarOf(input));
  return Op("stablehlo.sort", inputs,
            {{"dimension", context().I64(dimension)}, {"is_stable", context().Bool(is_stable)}}, {},
            {{arguments, comparator}});
}

Value* Builder::Sort(Value* x, int64_t dimension, bool is_stable, BinaryBody less) {
  return Sort(ValueSpan{x}, dimension, is_stable,
              [&](Builder& b, ValueSpan v) { return Values{less(b, v[0], v[1])}; });
}

// --- Linear algebra, normalization, random numbers ---

Value* Builder::Cholesky(Value* a, bool lower) {
  return Op("stablehlo.cholesky", {a}, {{"lower", context().Bool(lower)}});
}

Value* Builder::TriangularSolve(Value* a, Value* b, bool left_side, bool lower, bool unit_diagonal,
                                ir::Transpose transpose_a) {
  return Op("stablehlo.triangular_solve", {a, b},
            {{"left_side", context().Bool(left_side)},
             {"lower", context().Bool(lower)},
             {"unit_diagonal", context().Bool(unit_diagonal)},
             {"transpose_a", EnumToAttr(context(), transpose_a)}});
}

Value* Builder::Fft(Value* x, FftType type, Dims length) {
  return Op(
      "stablehlo.fft", {x},
      {{"fft_type", EnumToAttr(context(), type)}, {"fft_length", context().I64Array(length)}});
}

Value* Builder::BatchNormInference(Value* x, Value* scale, Value* offset, Value* mean,
                                   Value* variance, float epsilon, int64_t feature_index) {
  return Op("stablehlo.batch_norm_inference", {x, scale, offset, mean, variance},
            {{"epsilon", context().Float(epsilon, context().Float("f32"))},
             {"feature_index", context().I64(feature_index)}});
}

Results Builder::BatchNormTraining(Value* x, Value* scale, Value* offset, float epsilon,
                                   int64_t feature_index) {
  return Op("stablehlo.batch_norm_training", {x, scale, offset},
            {{"epsilon", context().Float(epsilon, context().Float("f32"))},
             {"feature_index", context().I64(feature_index)}});
}

Results Builder::BatchNormGrad(Value* x, Value* scale, Value* mean, Value* variance,
                               Value* grad_output, float epsilon, int64_t feature_index) {
  return Op("stablehlo.batch_norm_grad", {x, scale, mean, variance, grad_output},
            {{"epsilon", context().Float(epsilon, context().Float("f32"))},
             {"feature_index", context().I64(feature_index)}});
}

Value* Builder::Rng(Value* a, Value* b, Dims dims, RngDistribution distribution) {
  if (!Usable("stablehlo.rng", {a, b})) return nullptr;
  Value* shape = ConstantR1<int64_t>(dims);
  return Op("stablehlo.rng", {a, b, shape},
            {{"rng_distribution", EnumToAttr(context(), distribution)}},
            {context().Tensor(dims, a->type().element_type())});
}

Results Builder::RngBitGenerator(Value* state, RngAlgorithm algorithm, PrimitiveType type,
                                 Dims dims) {
  const Type state_type = state != nullptr ? state->type() : Type();
  return Op("stablehlo.rng_bit_generator", {state},
            {{"rng_algorithm", EnumToAttr(context(), algorithm)}},
            {state_type, TensorType(type, dims)});
}

// --- Control flow, calls, tuples ---

Results Builder::While(ValueSpan init, Body condition, Body body) {
  std::vector<Type> arguments;
  for (Value* v : init) arguments.push_back(v != nullptr ? v->type() : Type());
  return Op("stablehlo.while", init, {}, {}, {{arguments, condition}, {arguments, body}});
}

Results Builder::Case(Value* index, absl::Span<const NullaryBody> branches) {
  struct Adapter {  // a body without arguments as one with them
    const NullaryBody* body;
    Values operator()(Builder& b, ValueSpan) const { return (*body)(b); }
  };
  std::vector<Adapter> adapters;
  for (const NullaryBody& branch : branches) adapters.push_back({&branch});
  std::vector<RegionSpec> regions;
  for (const Adapter& adapter : adapters) regions.push_back({{}, adapter});
  return Op("stablehlo.case", {index}, {}, {}, regions);
}

Results Builder::If(Value* pred, NullaryBody on_true, NullaryBody on_false) {
  return Op("stablehlo.if", {pred}, {}, {},
            {{{}, [&](Builder& b, ValueSpan) { return on_true(b); }},
             {{}, [&](Builder& b, ValueSpan) { return on_false(b); }}});
}

Results Builder::Call(absl::string_view function, ValueSpan operands) {
  if (!Usable("func.call", operands)) return Results();
  const ir::Function callee = module_->FindFunction(function);
  if (!callee || callee.body() == nullptr || callee.body()->terminator() == nullptr) {
    Fail(InvalidArgument(
        "PJRT-I003",
        "'func.call' op: a function must be built, Return included, before it is called; given @",
        function));
    return Results();
  }
  return Op("func.call", operands, {{"callee", context().Symbol(function)}},
            callee.type().results());
}

Results Builder::CustomCall(absl::string_view target, ValueSpan operands,
                            absl::Span<const Type> result_types,
                            absl::Span<const NamedAttribute> attributes) {
  std::vector<NamedAttribute> all(attributes.begin(), attributes.end());
  all.push_back({"call_target_name", context().String(target)});
  return Op("stablehlo.custom_call", operands, all, result_types);
}

Value* Builder::Tuple(ValueSpan elements) { return Op("stablehlo.tuple", elements); }

Value* Builder::GetTupleElement(Value* tuple, int64_t index) {
  return Op("stablehlo.get_tuple_element", {tuple}, {{"index", context().I32(index)}});
}

Results Builder::OptimizationBarrier(ValueSpan values) {
  return Op("stablehlo.optimization_barrier", values);
}
Value* Builder::CreateToken() { return Op("stablehlo.create_token", {}); }
Value* Builder::AfterAll(ValueSpan tokens) { return Op("stablehlo.after_all", tokens); }

}  // namespace pjrt::ir
