// SPDX-License-Identifier: Apache-2.0
//
// Ops whose result has a static type while operands that say what goes where are computed at run
// time: written with indices and gathers along one dimension at a time.

#include "src/core/ir/type_rules.h"
#include "src/core/passes/emitter.h"
#include "src/core/passes/static_ops.h"

namespace pjrt::ir {
namespace {

// Element `i` of a vector, repeated `count` times.
Term Repeated(Emitter& emit, Value* vector, int64_t i, int64_t count) {
  Context& context = emit.context();
  const Type element = vector->type().element_type();
  const Term one = emit.Make1("stablehlo.slice", {emit(vector)}, context.Tensor({1}, element),
                              {{"start_indices", context.I64Array({i})},
                               {"limit_indices", context.I64Array({i + 1})},
                               {"strides", context.I64Array({1})}});
  return emit.Make1("stablehlo.broadcast_in_dim", {one}, context.Tensor({count}, element),
                    {{"broadcast_dimensions", context.I64Array({0})}});
}

// `x` with its dimension `d` replaced by elements `indices` of it, which must be inside.
Value* Take(Emitter& emit, Value* x, int64_t d, Term indices) {
  Context& context = emit.context();
  DimList dims(x->type().dims().begin(), x->type().dims().end()), sizes = dims;
  GatherDimensionNumbers numbers;
  for (int64_t i = 0; i < x->type().rank(); ++i) {
    if (i != d) numbers.offset_dims.push_back(i);
  }
  numbers.collapsed_slice_dims = {d};
  numbers.start_index_map = {d};
  numbers.index_vector_dim = 1;
  dims[static_cast<size_t>(d)] = indices.type().dim(0);
  sizes[static_cast<size_t>(d)] = 1;
  return emit
      .Make1("stablehlo.gather", {emit(x), indices}, context.Tensor(dims, x->type().element_type()),
             {{"dimension_numbers", numbers.ToAttr(context)},
              {"slice_sizes", context.I64Array(sizes)}})
      .value();
}

// A vector along dimension `d` of `type`'s shape.
Term Along(Emitter& emit, Term vector, int64_t d, Type type) {
  return emit.Make1("stablehlo.broadcast_in_dim", {vector},
                    emit.context().Tensor(type.dims(), vector.type().element_type()),
                    {{"broadcast_dimensions", emit.context().I64Array({d})}});
}

bool CanCompute(Type vector) { return IsInteger(vector.primitive_type()); }

}  // namespace

Value* PadAtRunTime(Op* op, Value* operand, Value* padding, Value* low, Value* interior,
                    Type result) {
  Emitter emit(op->module(), op);
  Context& context = emit.context();
  if (!CanCompute(low->type()) || !operand->type().HasStaticShape()) return nullptr;
  const Term fill = emit.Make1("stablehlo.broadcast_in_dim", {emit(padding)}, result,
                               {{"broadcast_dimensions", context.I64Array({})}});
  if (operand->type().element_count() == 0 || result.element_count() == 0) return fill.value();
  Value* x = operand;
  Value* inside = nullptr;
  for (int64_t d = 0; d < result.rank(); ++d) {
    // Place i of the result holds element (i - low) / (interior + 1), where that comes out.
    const int64_t size = operand->type().dim(d), count = result.dim(d);
    const Type vector = context.Tensor({count}, low->type().element_type());
    const Term place = emit.Iota(vector, 0) - Repeated(emit, low, d, count);
    const Term step = Repeated(emit, interior, d, count) + 1;
    const Term index = place / step;
    const Term fits = (place >= 0) & (index < static_cast<double>(size)) & (index * step == place);
    const Term clamped = Min(Max(index, index.LikeInt(0)), index.LikeInt(size - 1));
    x = Take(emit, x, d, clamped);
    const Term mask = Along(emit, fits, d, result);
    inside = inside == nullptr ? mask.value() : (emit(inside) & mask).value();
  }
  return inside == nullptr ? x : Select(emit(inside), emit(x), fill).value();
}

Value* SliceAtRunTime(Op* op, Type result) {
  Emitter emit(op->module(), op);
  Value* x = op->operand(0);
  Value *const start = op->operand(1), *const strides = op->operand(3);
  if (!CanCompute(start->type()) || !x->type().HasStaticShape()) return nullptr;
  if (result.element_count() == 0) return emit.Constant(result, 0).value();
  for (int64_t d = 0; d < result.rank(); ++d) {
    const int64_t size = x->type().dim(d), count = result.dim(d);
    if (size == 0) return nullptr;
    const Type vector = emit.context().Tensor({count}, start->type().element_type());
    const Term index =
        Repeated(emit, start, d, count) + emit.Iota(vector, 0) * Repeated(emit, strides, d, count);
    x = Take(emit, x, d, Min(Max(index, index.LikeInt(0)), index.LikeInt(size - 1)));
  }
  return x;
}

Value* SliceOfSizes(Op* op, absl::Span<const int64_t> sizes) {
  Emitter emit(op->module(), op);
  Context& context = emit.context();
  Value *const x = op->operand(0), *const start = op->operand(1);
  if (!CanCompute(start->type())) return nullptr;
  const Type element = start->type().element_type();
  absl::InlinedVector<Value*, 4> operands = {x};
  for (int64_t d = 0; d < x->type().rank(); ++d) {
    const Term one = emit.Make1("stablehlo.slice", {emit(start)}, context.Tensor({1}, element),
                                {{"start_indices", context.I64Array({d})},
                                 {"limit_indices", context.I64Array({d + 1})},
                                 {"strides", context.I64Array({1})}});
    operands.push_back(emit.Make1("stablehlo.reshape", {one}, context.Tensor({}, element)).value());
  }
  return emit
      .Make("stablehlo.dynamic_slice", operands, {context.Tensor(sizes, x->type().element_type())},
            {{"slice_sizes", context.I64Array(sizes)}})
      ->result();
}

// The base is padded and dilated before, to the size that the windows of the result reach over.
Value* ConvolveAtRunTime(Op* op, Type result) {
  const auto numbers = ConvDimensionNumbers::From(op->attr("dimension_numbers"));
  const auto window = WindowAttrs::From(*op);
  Value *const x = op->operand(0), *const kernel = op->operand(1), *const padding = op->operand(2);
  const bool is_known = x->type().HasStaticShape() && kernel->type().HasStaticShape();
  if (!numbers || !window || !is_known || !CanCompute(padding->type()) ||
      x->type().primitive_type() == INVALID) {
    return nullptr;
  }
  Emitter emit(op->module(), op);
  Context& context = emit.context();
  const size_t rank = x->type().dims().size(), spatial = window->dimensions.size();
  const Type index = padding->type().element_type();
  DimList padded(x->type().dims().begin(), x->type().dims().end());
  // Padding has a row a spatial dimension, low before high; a dimension of x without one gets none.
  const Term zero = emit.IntConstant(context.Tensor({1}, index), 0);
  absl::InlinedVector<Value*, 4> low(rank, zero.value());
  DimList interior(rank, 0);
  for (size_t i = 0; i < spatial; ++i) {
    const WindowDimension& w = window->dimensions[i];
    const size_t d = static_cast<size_t>(numbers->input_spatial_dimensions[i]);
    const int64_t places = result.dim(numbers->output_spatial_dimensions[i]);
    padded[d] = places == 0 ? 0 : (places - 1) * w.stride + w.DilatedSize();
    interior[d] = w.base_dilation - 1;
    const int64_t row = static_cast<int64_t>(i);
    const Term corner =
        emit.Make1("stablehlo.slice", {emit(padding)}, context.Tensor({1, 1}, index),
                   {{"start_indices", context.I64Array({row, 0})},
                    {"limit_indices", context.I64Array({row + 1, 1})},
                    {"strides", context.I64Array({1, 1})}});
    low[d] = emit.Make1("stablehlo.reshape", {corner}, context.Tensor({1}, index)).value();
  }
  const Type vector = context.Tensor({static_cast<int64_t>(rank)}, index);
  absl::InlinedVector<Value*, 4> gaps;
  for (int64_t gap : interior) {
    gaps.push_back(emit.IntConstant(context.Tensor({1}, index), gap).value());
  }
  const NamedAttribute along = {"dimension", context.I64(0)};
  Value* const lows = emit.Make("stablehlo.concatenate", low, {vector}, {along})->result();
  Value* const gap_vector = emit.Make("stablehlo.concatenate", gaps, {vector}, {along})->result();
  const Type element = x->type().element_type();
  const Term nothing = emit.Constant(context.Tensor({}, element), 0);
  Value* const base =
      PadAtRunTime(op, x, nothing.value(), lows, gap_vector, context.Tensor(padded, element));
  std::vector<NamedAttribute> attributes;
  for (const NamedAttribute& attribute : op->attributes()) {
    if (attribute.name != "padding" && attribute.name != "lhs_dilation") {
      attributes.push_back(attribute);
    }
  }
  return emit.Make("stablehlo.convolution", {base, kernel}, {result}, attributes)->result();
}

}  // namespace pjrt::ir
