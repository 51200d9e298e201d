// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/scatter_slice.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "pjrt/ir/op_attributes.h"
#include "src/core/passes/simplify.h"

namespace pjrt::ir {
namespace {

// Number `k` of the one index vector.
Value* IndexAt(Value* indices, int64_t vector_dim, int64_t k, Emitter& emit) {
  const Type type = indices->type();
  if (vector_dim >= type.rank() || type.dim(vector_dim) == 1) return indices;
  // Where they are put together from single ones, the range of each is known.
  if (const Op* all = MadeBy(indices, OpCode::kConcatenate)) {
    const bool are_single = absl::c_all_of(all->operand_uses(), [](const Use& piece) {
      return piece.value()->type().element_count() == 1;
    });
    if (are_single) return all->operand(static_cast<size_t>(k));
  }
  DimList starts(static_cast<size_t>(type.rank()), 0);
  DimList limits(static_cast<size_t>(type.rank()), 1);
  const DimList steps = limits;
  starts[static_cast<size_t>(vector_dim)] = k;
  limits[static_cast<size_t>(vector_dim)] = k + 1;
  Context& context = emit.context();
  return emit
      .Make1("stablehlo.slice", {emit(indices)}, WithDims(context, type, steps),
             {{"limit_indices", context.I64Array(limits)},
              {"start_indices", context.I64Array(starts)},
              {"strides", context.I64Array(steps)}})
      .value();
}

}  // namespace

// Starts are clamped in both.
Replacement SimplifyGather(const Op& op, Emitter& emit) {
  const auto numbers = GatherDimensionNumbers::From(op.attr("dimension_numbers"));
  Value *const array = op.operand(0), *const indices = op.operand(1);
  const Type index_type = WithDims(emit.context(), indices->type(), {});
  if (!numbers.has_value() || array->type().rank() == 0 || op.result_type().element_count() == 0 ||
      !IsInteger(index_type.primitive_type()) || BitWidth(index_type.primitive_type()) < 8)
    return {};
  for (int64_t d = 0; d < indices->type().rank(); ++d) {
    if (d != numbers->index_vector_dim && indices->type().dim(d) != 1) return {};
  }
  std::vector<Value*> operands(static_cast<size_t>(array->type().rank()) + 1,
                               emit.IntConstant(index_type, 0).value());
  operands[0] = array;
  for (size_t k = 0; k < numbers->start_index_map.size(); ++k) {
    Value* const index = IndexAt(indices, numbers->index_vector_dim, static_cast<int64_t>(k), emit);
    operands[static_cast<size_t>(numbers->start_index_map[k]) + 1] =
        Reshape(emit(index), {}).value();
  }
  const auto window = op.IntsAttr("slice_sizes");
  Op* const slice = emit.Make("stablehlo.dynamic_slice", operands,
                              {WithDims(emit.context(), array->type(), window)},
                              {{"slice_sizes", emit.context().I64Array(window)}});
  return {Reshape(emit(slice->result()), op.result_type().dims()).value()};
}

Value* ScatterSlice(const Op& scatter, const KnownRanges& ranges, Emitter& emit) {
  const auto numbers = ScatterDimensionNumbers::From(scatter.attr("scatter_dimension_numbers"));
  if (!numbers.has_value() || scatter.num_operands() != 3) return nullptr;
  Value *const array = scatter.operand(0), *const indices = scatter.operand(1),
               *const update = scatter.operand(2);
  const Type type = array->type();
  if (type != scatter.result_type() || !type.HasStaticShape() ||
      !indices->type().HasStaticShape() || !update->type().HasStaticShape())
    return nullptr;
  const Block& body = *scatter.region()->block();
  const Type element = WithDims(emit.context(), type, {});
  if (WithDims(emit.context(), update->type(), {}) != element ||
      body.argument(0)->type() != element || body.argument(1)->type() != element)
    return nullptr;
  // What is no window's is what numbers the windows.
  for (int64_t d = 0; d < update->type().rank(); ++d) {
    if (update->type().dim(d) != 1 && !absl::c_linear_search(numbers->update_window_dims, d))
      return nullptr;
  }
  DimList window;
  size_t next = 0;
  for (int64_t d = 0; d < type.rank(); ++d) {
    const bool is_single = absl::c_linear_search(numbers->inserted_window_dims, d) ||
                           absl::c_linear_search(numbers->input_batching_dims, d);
    window.push_back(is_single ? 1 : update->type().dim(numbers->update_window_dims[next++]));
  }
  const bool replaces = body.terminator()->operand(0) == body.argument(1);
  if (!replaces && update->type().element_count() != 1) return nullptr;

  const DimList& dims = numbers->scatter_dims_to_operand_dims;
  const Type index_type = WithDims(emit.context(), indices->type(), {});
  std::vector<Value*> operands(static_cast<size_t>(type.rank()) + 1);
  operands[0] = array;
  for (size_t k = 0; k < dims.size(); ++k) {
    Value* const index = IndexAt(indices, numbers->index_vector_dim, static_cast<int64_t>(k), emit);
    const size_t d = static_cast<size_t>(dims[k]);
    const std::optional<KnownRange> range = ranges.Of(index);
    if (!range.has_value() || range->least < 0 || range->most > type.dim(dims[k]) - window[d])
      return nullptr;
    operands[d + 1] = Reshape(emit(index), {}).value();
  }
  for (Value*& operand : operands) {
    if (operand == nullptr) operand = emit.IntConstant(index_type, 0).value();
  }

  Context& context = emit.context();
  Term values = emit(update);
  if (!replaces) {
    const Type window_type = WithDims(context, type, window);
    const Term old = emit(emit.Make("stablehlo.dynamic_slice", operands, {window_type},
                                    {{"slice_sizes", context.I64Array(window)}})
                              ->result());
    Value* const scalars[] = {Reshape(old, {}).value(), Reshape(values, {}).value()};
    values = emit(emit.Inline(body, scalars)[0]);
  }
  operands.insert(operands.begin() + 1, Reshape(values, window).value());
  return emit.Make("stablehlo.dynamic_update_slice", operands, {type})->result();
}

}  // namespace pjrt::ir
