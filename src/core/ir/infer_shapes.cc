// SPDX-License-Identifier: Apache-2.0
//
// Result types of the ops that make, move and reshape data.
#include <algorithm>
#include <vector>

#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// Start indices: as many scalars as the operand has dimensions, of one element type.
absl::Status CheckStartIndices(const InferInput& in, size_t first) {
  const int64_t rank = in.operand_type(0).rank();
  const int64_t count = static_cast<int64_t>(in.operands.size() - first);
  if (count != rank) {
    return InvalidArgument(rule::kCount,
                           "there must be a start index for each dimension of the operand; given ",
                           count, ", expected ", rank);
  }
  for (size_t i = first; i < in.operands.size(); ++i) {
    PJRT_RETURN_IF_ERROR(CheckSameElement("start index 0", in.operand_type(first), "each other",
                                          in.operand_type(i)));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferConstant(const InferInput& in, TypeList* out) {
  out->assign(1, in.attr("value").type());
  return absl::OkStatus();
}

absl::Status InferBroadcast(const InferInput& in, TypeList* out) {
  const DimList sizes = Ints(in, "broadcast_sizes");
  Extents extents;
  for (int64_t size : sizes) {
    if (size < 0)
      return InvalidArgument(rule::kValue, "broadcast_sizes must not be negative; given ",
                             DimsText(sizes));
    extents.push_back({size, kDynamic});
  }
  const Type operand = in.operand_type(0);
  for (const Extent& e : ExtentsOf(operand)) extents.push_back(e);
  out->assign(1, MakeTensor(*in.context, extents, operand.element_type()));
  return absl::OkStatus();
}

absl::Status InferConcatenate(const InferInput& in, TypeList* out) {
  if (in.operands.empty())
    return InvalidArgument(rule::kCount, "there must be an input; given none");
  const Type first = in.operand_type(0);
  if (first.rank() == 0)
    return InvalidArgument(rule::kAgree, "scalars cannot be concatenated; given ",
                           first.ToString());
  const int64_t dimension = Int(in, "dimension");
  PJRT_RETURN_IF_ERROR(CheckDimension("dimension", dimension, first.rank()));
  const size_t along = static_cast<size_t>(dimension);
  Extents extents = ExtentsOf(first);
  int64_t limit = extents[along].Limit();  // the sum of sizes, bounds where sizes are dynamic
  for (size_t i = 1; i < in.operands.size(); ++i) {
    const Type type = in.operand_type(i);
    PJRT_RETURN_IF_ERROR(CheckSameElement("input 0", first, absl::StrCat("input ", i), type));
    PJRT_RETURN_IF_ERROR(CheckRank(absl::StrCat("input ", i), type, first.rank()));
    for (size_t d = 0; d < extents.size(); ++d) {
      const Extent e = ExtentOf(type, d);
      if (d == along) {
        extents[d].size = AddSizes(extents[d].size, e.size);
        limit = AddSizes(limit, e.Limit());
      } else if (!CompatibleExtents(extents[d], e)) {
        return InvalidArgument(rule::kSizes, "inputs must have the same sizes but along dimension ",
                               dimension, "; given ", first.ToString(), " and ", type.ToString());
      } else {
        extents[d] = MostSpecific(extents[d], e);
      }
    }
  }
  extents[along].bound = extents[along].IsDynamic() ? limit : kDynamic;
  out->assign(1, MakeTensor(*in.context, extents, first.element_type()));
  return absl::OkStatus();
}

absl::Status InferPad(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0);
  PJRT_RETURN_IF_ERROR(CheckSameElement("operand", operand, "padding_value", in.operand_type(1)));
  const DimList low = Ints(in, "edge_padding_low"), high = Ints(in, "edge_padding_high");
  const DimList interior = Ints(in, "interior_padding");
  PJRT_RETURN_IF_ERROR(
      CheckLength("edge_padding_low", low.size(), operand.rank(), "the operand has dimensions"));
  PJRT_RETURN_IF_ERROR(
      CheckLength("edge_padding_high", high.size(), operand.rank(), "the operand has dimensions"));
  PJRT_RETURN_IF_ERROR(CheckLength("interior_padding", interior.size(), operand.rank(),
                                   "the operand has dimensions"));
  Extents extents = ExtentsOf(operand);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (interior[d] < 0) {
      return InvalidArgument(rule::kWindow, "interior_padding must not be negative; given ",
                             DimsText(interior));
    }
    const auto padded = [&](int64_t size) {
      if (size == kDynamic) return kDynamic;
      const int64_t between = MultiplySizes(std::max<int64_t>(size - 1, 0), interior[d]);
      return AddSizes(AddSizes(AddSizes(size, between), low[d]), high[d]);
    };
    extents[d] = {padded(extents[d].size), padded(extents[d].bound)};
    if (extents[d].Limit() != kDynamic && extents[d].Limit() < 0) {
      return InvalidArgument(rule::kWindow, "padding must not crop more than there is; given size ",
                             extents[d].Limit(), " for dimension ", d);
    }
  }
  out->assign(1, MakeTensor(*in.context, extents, operand.element_type()));
  return absl::OkStatus();
}

absl::Status InferReverse(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0);
  PJRT_RETURN_IF_ERROR(
      CheckDims("dimensions", Ints(in, "dimensions"), operand.rank(), kInRange | kUnique));
  out->assign(1, operand);
  return absl::OkStatus();
}

namespace {

// The element type of a transposed tensor: its scales move with the dimensions that have them.
Type TransposeScales(Context& context, Type element, absl::Span<const int64_t> permutation) {
  QuantizedParams params = element.quantized();
  DimList axes(params.axes.begin(), params.axes.end());
  for (int64_t& axis : axes)
    axis = std::find(permutation.begin(), permutation.end(), axis) - permutation.begin();
  params.axes = axes;
  const absl::Span<const int64_t> old_dims = params.scale_dims;
  if (old_dims.size() != permutation.size()) return context.Quantized(params);
  // Walks the scales in their new order; strides are those of the old one.
  DimList dims, strides, at(old_dims.size(), 0), old_strides(old_dims.size(), 1);
  for (size_t d = old_dims.size(); d-- > 1;) old_strides[d - 1] = old_strides[d] * old_dims[d];
  for (const int64_t d : permutation) {
    dims.push_back(old_dims[static_cast<size_t>(d)]);
    strides.push_back(old_strides[static_cast<size_t>(d)]);
  }
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
  for (size_t i = 0, from = 0; i < params.scales.size(); ++i) {
    scales.push_back(params.scales[from]);
    zero_points.push_back(params.zero_points[from]);
    for (size_t d = dims.size(); d-- > 0;) {
      from += static_cast<size_t>(strides[d]);
      if (++at[d] < dims[d]) break;
      from -= static_cast<size_t>(strides[d] * dims[d]);
      at[d] = 0;
    }
  }
  params.scale_dims = dims;
  params.scales = scales;
  params.zero_points = zero_points;
  return context.Quantized(params);
}

}  // namespace

absl::Status InferTranspose(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0);
  const DimList permutation = Ints(in, "permutation");
  PJRT_RETURN_IF_ERROR(
      CheckLength("permutation", permutation.size(), operand.rank(), "the operand has dimensions"));
  PJRT_RETURN_IF_ERROR(CheckDims("permutation", permutation, operand.rank(), kInRange | kUnique));
  Extents extents;
  for (int64_t d : permutation) extents.push_back(ExtentOf(operand, static_cast<size_t>(d)));
  Type element = operand.element_type();
  if (IsQuantized(element)) element = TransposeScales(*in.context, element, permutation);
  out->assign(1, MakeTensor(*in.context, extents, element));
  return absl::OkStatus();
}

absl::Status InferSlice(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0);
  const DimList start = Ints(in, "start_indices"), limit = Ints(in, "limit_indices"),
                strides = Ints(in, "strides");
  PJRT_RETURN_IF_ERROR(
      CheckLength("start_indices", start.size(), operand.rank(), "the operand has dimensions"));
  PJRT_RETURN_IF_ERROR(
      CheckLength("limit_indices", limit.size(), operand.rank(), "the operand has dimensions"));
  PJRT_RETURN_IF_ERROR(
      CheckLength("strides", strides.size(), operand.rank(), "the operand has dimensions"));
  Extents extents;
  for (size_t d = 0; d < start.size(); ++d) {
    const int64_t size = ExtentOf(operand, d).Limit();
    if (start[d] < 0 || limit[d] < start[d] || (size != kDynamic && limit[d] > size)) {
      return InvalidArgument(rule::kWindow, "0 <= start <= limit <= size must hold; given start ",
                             start[d], ", limit ", limit[d], " in dimension ", d, " of ",
                             operand.ToString());
    }
    if (strides[d] <= 0) {
      return InvalidArgument(rule::kWindow, "strides must be positive; given ", strides[d],
                             " in dimension ", d);
    }
    const int64_t length = limit[d] - start[d];
    extents.push_back({length / strides[d] + (length % strides[d] != 0), kDynamic});
  }
  out->assign(1, MakeTensor(*in.context, extents, operand.element_type()));
  return absl::OkStatus();
}

absl::Status InferDynamicSlice(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0);
  PJRT_RETURN_IF_ERROR(CheckStartIndices(in, 1));
  const DimList sizes = Ints(in, "slice_sizes");
  PJRT_RETURN_IF_ERROR(
      CheckLength("slice_sizes", sizes.size(), operand.rank(), "the operand has dimensions"));
  Extents extents;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t size = ExtentOf(operand, d).Limit();
    if (sizes[d] < 0 || (size != kDynamic && sizes[d] > size)) {
      return InvalidArgument(rule::kWindow, "slice_sizes must be in [0, size]; given ", sizes[d],
                             " in dimension ", d, " of ", operand.ToString());
    }
    extents.push_back({sizes[d], kDynamic});
  }
  out->assign(1, MakeTensor(*in.context, extents, operand.element_type()));
  return absl::OkStatus();
}

absl::Status InferDynamicUpdateSlice(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0), update = in.operand_type(1);
  PJRT_RETURN_IF_ERROR(CheckSameElement("operand", operand, "update", update));
  PJRT_RETURN_IF_ERROR(CheckRank("update", update, operand.rank()));
  PJRT_RETURN_IF_ERROR(CheckStartIndices(in, 2));
  for (size_t d = 0; d < update.dims().size(); ++d) {
    const int64_t size = ExtentOf(operand, d).Limit();
    if (update.dims()[d] != kDynamic && size != kDynamic && update.dims()[d] > size) {
      return InvalidArgument(rule::kWindow, "the update must fit into the operand; given ",
                             update.ToString(), " and ", operand.ToString());
    }
  }
  out->assign(1, operand);
  return absl::OkStatus();
}

absl::Status InferGetDimensionSize(const InferInput& in, TypeList* out) {
  PJRT_RETURN_IF_ERROR(
      CheckDimension("dimension", Int(in, "dimension"), in.operand_type(0).rank()));
  out->assign(1, Scalar(*in.context, in.context->Integer(32)));
  return absl::OkStatus();
}

absl::Status InferSetDimensionSize(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0), size_type = in.operand_type(1);
  if (!IsInteger(size_type.element_type(), 32)) {
    return InvalidArgument(rule::kType, "the size must be a tensor<i32>; given ",
                           size_type.ToString());
  }
  const int64_t dimension = Int(in, "dimension");
  PJRT_RETURN_IF_ERROR(CheckDimension("dimension", dimension, operand.rank()));
  Extents extents = ExtentsOf(operand);
  Extent& extent = extents[static_cast<size_t>(dimension)];
  const std::optional<DimList> size = ConstantInts(in.operands[1]);
  const bool same = size && size->size() == 1 && size->front() == extent.size;
  if (!same) extent = {kDynamic, extent.Limit()};
  out->assign(1, MakeTensor(*in.context, extents, operand.element_type()));
  return absl::OkStatus();
}

}  // namespace pjrt::ir
