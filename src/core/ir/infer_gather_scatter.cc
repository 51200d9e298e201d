// SPDX-License-Identifier: Apache-2.0
//
// gather, dynamic_gather, scatter and torch_index_select.

#include "absl/strings/str_cat.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// The dimension numbers that gather and scatter share, on an operand and its start indices
// (scatter: input and scatter indices).
struct IndexedDims {
  absl::string_view window_name, collapsed_name, batching_name, indices_batching_name, map_name;
  absl::Span<const int64_t> window, collapsed, batching, indices_batching, map;
  int64_t index_vector_dim;
};
absl::Status CheckIndexedDims(const IndexedDims& dims, Type operand, Type indices,
                              int64_t window_space_rank) {
  const int64_t rank = operand.rank();
  const int64_t covered =
      static_cast<int64_t>(dims.window.size() + dims.collapsed.size() + dims.batching.size());
  if (covered != rank) {
    return InvalidArgument(
        rule::kDimensions, dims.window_name, ", ", dims.collapsed_name, " and ", dims.batching_name,
        " together must have as many values as the operand has dimensions; given ", covered,
        ", expected ", rank);
  }
  if (dims.index_vector_dim < 0 || dims.index_vector_dim > indices.rank()) {
    return InvalidArgument(rule::kDimensions, "index_vector_dim must be in [0, ", indices.rank(),
                           "]; given ", dims.index_vector_dim);
  }
  const int64_t vector_size =
      dims.index_vector_dim < indices.rank() ? indices.dim(dims.index_vector_dim) : 1;
  if (vector_size != kDynamic && static_cast<int64_t>(dims.map.size()) != vector_size) {
    return InvalidArgument(rule::kDimensions, dims.map_name,
                           " must have as many values as an index vector; given ", dims.map.size(),
                           ", expected ", vector_size);
  }
  PJRT_RETURN_IF_ERROR(
      CheckDims(dims.window_name, dims.window, window_space_rank, kInRange | kUnique | kSorted));
  PJRT_RETURN_IF_ERROR(
      CheckDims(dims.collapsed_name, dims.collapsed, rank, kInRange | kUnique | kSorted));
  PJRT_RETURN_IF_ERROR(
      CheckDims(dims.batching_name, dims.batching, rank, kInRange | kUnique | kSorted));
  PJRT_RETURN_IF_ERROR(
      CheckDisjoint(dims.collapsed_name, dims.collapsed, dims.batching_name, dims.batching));
  PJRT_RETURN_IF_ERROR(CheckDims(dims.map_name, dims.map, rank, kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDisjoint(dims.map_name, dims.map, dims.batching_name, dims.batching));
  PJRT_RETURN_IF_ERROR(CheckDims(dims.indices_batching_name, dims.indices_batching, indices.rank(),
                                 kInRange | kUnique));
  if (Contains(dims.indices_batching, dims.index_vector_dim)) {
    return InvalidArgument(rule::kDimensions, dims.indices_batching_name,
                           " must not hold index_vector_dim; given ",
                           DimsText(dims.indices_batching), " and ", dims.index_vector_dim);
  }
  PJRT_RETURN_IF_ERROR(CheckLength(dims.indices_batching_name, dims.indices_batching.size(),
                                   static_cast<int64_t>(dims.batching.size()), dims.batching_name));
  for (size_t i = 0; i < dims.batching.size(); ++i) {
    const Extent a = ExtentOf(operand, static_cast<size_t>(dims.batching[i]));
    const Extent b = ExtentOf(indices, static_cast<size_t>(dims.indices_batching[i]));
    if (!CompatibleExtents(a, b)) {
      return InvalidArgument(rule::kSizes, "batching dimensions ", dims.batching[i],
                             " of the operand and ", dims.indices_batching[i],
                             " of the indices must have the same size; given ", operand.ToString(),
                             " and ", indices.ToString());
    }
  }
  return absl::OkStatus();
}

// The extents of `indices` without the dimension that holds the index vectors.
Extents BatchExtents(Type indices, int64_t index_vector_dim) {
  Extents out;
  for (size_t d = 0; d < indices.dims().size(); ++d) {
    if (static_cast<int64_t>(d) != index_vector_dim) out.push_back(ExtentOf(indices, d));
  }
  return out;
}

DimList Joined(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  DimList out(a.begin(), a.end());
  out.insert(out.end(), b.begin(), b.end());
  return out;
}

// `slice_sizes` has kDynamic for sizes that are not known.
absl::Status InferGatherOf(const InferInput& in, absl::Span<const int64_t> slice_sizes,
                           TypeList* out) {
  const Type operand = in.operand_type(0), indices = in.operand_type(1);
  const std::optional<GatherDimensionNumbers> numbers =
      GatherDimensionNumbers::From(in.attr("dimension_numbers"));
  if (!numbers)
    return InvalidArgument(rule::kAttribute, "dimension_numbers must be #stablehlo.gather<...>");
  const bool has_vector = numbers->index_vector_dim < indices.rank();
  const int64_t result_rank =
      indices.rank() - (has_vector ? 1 : 0) + static_cast<int64_t>(numbers->offset_dims.size());
  const IndexedDims dims = {"offset_dims",
                            "collapsed_slice_dims",
                            "operand_batching_dims",
                            "start_indices_batching_dims",
                            "start_index_map",
                            numbers->offset_dims,
                            numbers->collapsed_slice_dims,
                            numbers->operand_batching_dims,
                            numbers->start_indices_batching_dims,
                            numbers->start_index_map,
                            numbers->index_vector_dim};
  PJRT_RETURN_IF_ERROR(CheckIndexedDims(dims, operand, indices, result_rank));
  PJRT_RETURN_IF_ERROR(
      CheckLength("slice_sizes", slice_sizes.size(), operand.rank(), "the operand has dimensions"));
  const DimList dropped = Joined(numbers->collapsed_slice_dims, numbers->operand_batching_dims);
  Extents offsets;
  for (size_t d = 0; d < slice_sizes.size(); ++d) {
    const int64_t size = slice_sizes[d], limit = ExtentOf(operand, d).Limit();
    const bool is_dropped = Contains(dropped, static_cast<int64_t>(d));
    if (!is_dropped) offsets.push_back({size, kDynamic});
    if (size == kDynamic) continue;
    if (size < 0 || (limit != kDynamic && size > limit)) {
      return InvalidArgument(rule::kWindow, "slice_sizes must be in [0, size]; given ", size,
                             " in dimension ", d, " of ", operand.ToString());
    }
    if (is_dropped && size > 1) {
      return InvalidArgument(
          rule::kWindow,
          "slice_sizes of collapsed and batching dimensions must be at most 1; given ", size,
          " for dimension ", d);
    }
  }
  const Extents batch = BatchExtents(indices, numbers->index_vector_dim);
  Extents result;
  size_t next_offset = 0, next_batch = 0;
  for (int64_t d = 0; d < result_rank; ++d) {
    result.push_back(Contains(numbers->offset_dims, d) ? offsets[next_offset++]
                                                       : batch[next_batch++]);
  }
  out->assign(1, MakeTensor(*in.context, result, operand.element_type()));
  return absl::OkStatus();
}

}  // namespace

absl::Status InferGather(const InferInput& in, TypeList* out) {
  return InferGatherOf(in, Ints(in, "slice_sizes"), out);
}

absl::Status InferDynamicGather(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0), sizes = in.operand_type(2);
  if (!CompatibleSizes(sizes.dim(0), operand.rank())) {
    return InvalidArgument(
        rule::kDimensions,
        "slice_sizes must have a value for each dimension of the operand; given ", sizes.ToString(),
        " and ", operand.ToString());
  }
  const std::optional<DimList> known = ConstantInts(in.operands[2]);
  return InferGatherOf(in, known ? *known : DimList(operand.dims().size(), kDynamic), out);
}

absl::Status InferScatter(const InferInput& in, TypeList* out) {
  const size_t n = in.operands.size() / 2;
  const Type indices = in.operand_type(n);
  absl::InlinedVector<Type, 4> inputs, updates;
  for (size_t i = 0; i < n; ++i) {
    inputs.push_back(in.operand_type(i));
    updates.push_back(in.operand_type(n + 1 + i));
    if (!CompatibleButPrecision(ElementOf(inputs[i]), ElementOf(updates[i]))) {
      PJRT_RETURN_IF_ERROR(
          CheckSameElement(absl::StrCat("input ", i), inputs[i], "its update", updates[i]));
    }
  }
  Extents input, update;
  PJRT_RETURN_IF_ERROR(MergeInputShapes(inputs, &input));
  PJRT_RETURN_IF_ERROR(MergeInputShapes(updates, &update));
  const std::optional<ScatterDimensionNumbers> numbers =
      ScatterDimensionNumbers::From(in.attr("scatter_dimension_numbers"));
  if (!numbers)
    return InvalidArgument(rule::kAttribute,
                           "scatter_dimension_numbers must be #stablehlo.scatter<...>");
  const int64_t update_rank = static_cast<int64_t>(update.size());
  const IndexedDims dims = {"update_window_dims",
                            "inserted_window_dims",
                            "input_batching_dims",
                            "scatter_indices_batching_dims",
                            "scatter_dims_to_operand_dims",
                            numbers->update_window_dims,
                            numbers->inserted_window_dims,
                            numbers->input_batching_dims,
                            numbers->scatter_indices_batching_dims,
                            numbers->scatter_dims_to_operand_dims,
                            numbers->index_vector_dim};
  PJRT_RETURN_IF_ERROR(CheckIndexedDims(dims, inputs[0], indices, update_rank));

  const Extents batch = BatchExtents(indices, numbers->index_vector_dim);
  if (update.size() != batch.size() + numbers->update_window_dims.size()) {
    return InvalidArgument(rule::kSizes,
                           "updates must have a dimension for each of update_window_dims and each "
                           "scatter dimension of the indices; given rank ",
                           update.size(), ", expected ",
                           batch.size() + numbers->update_window_dims.size());
  }
  const DimList dropped = Joined(numbers->inserted_window_dims, numbers->input_batching_dims);
  Extents window;
  for (size_t d = 0; d < input.size(); ++d) {
    if (!Contains(dropped, static_cast<int64_t>(d))) window.push_back(input[d]);
  }
  size_t next_window = 0, next_batch = 0;
  for (size_t d = 0; d < update.size(); ++d) {
    if (Contains(numbers->update_window_dims, static_cast<int64_t>(d))) {
      const int64_t limit = window[next_window++].Limit();
      if (!update[d].IsDynamic() && limit != kDynamic && update[d].size > limit) {
        return InvalidArgument(rule::kSizes, "windows of updates must fit into the inputs; given ",
                               updates[0].ToString(), " and ", inputs[0].ToString());
      }
    } else if (!CompatibleExtents(update[d], batch[next_batch++])) {
      return InvalidArgument(
          rule::kSizes, "scatter dimensions of updates must have the sizes of the indices; given ",
          updates[0].ToString(), " and ", indices.ToString());
    }
  }

  TypeList elements;
  PJRT_RETURN_IF_ERROR(CheckReducer(*in.regions[0], updates, inputs, &elements));
  out->clear();
  for (size_t i = 0; i < n; ++i) out->push_back(WithElement(*in.context, inputs[i], elements[i]));
  return absl::OkStatus();
}

absl::Status InferTorchIndexSelect(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0), index = in.operand_type(1);
  const int64_t dim = Int(in, "dim"), batch_dims = Int(in, "batch_dims");
  PJRT_RETURN_IF_ERROR(CheckDimension("dim", dim, operand.rank()));
  if (batch_dims < 0 || batch_dims > dim || batch_dims > index.rank()) {
    return InvalidArgument(rule::kDimensions,
                           "batch_dims must be in [0, dim] and at most the index's rank; given ",
                           batch_dims);
  }
  Extents extents;
  const Extents source = ExtentsOf(operand), indices = ExtentsOf(index);
  extents.insert(extents.end(), source.begin(), source.begin() + dim);
  extents.insert(extents.end(), indices.begin() + batch_dims, indices.end());
  extents.insert(extents.end(), source.begin() + dim + 1, source.end());
  out->assign(1, MakeTensor(*in.context, extents, operand.element_type()));
  return absl::OkStatus();
}

}  // namespace pjrt::ir
