// SPDX-License-Identifier: Apache-2.0
//
// convolution and dynamic_conv.

#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

DimList AllDims(int64_t a, int64_t b, const DimList& spatial) {
  DimList out = {a, b};
  out.insert(out.end(), spatial.begin(), spatial.end());
  return out;
}

absl::Status CheckNumbers(const ConvDimensionNumbers& n, Type lhs, Type rhs) {
  const int64_t rank = lhs.rank();
  if (rank < 2 || rhs.rank() != rank) {
    return InvalidArgument(rule::kAgree, "lhs and rhs must have the same rank, at least 2; given ",
                           lhs.ToString(), " and ", rhs.ToString());
  }
  PJRT_RETURN_IF_ERROR(CheckLength("input_spatial_dimensions", n.input_spatial_dimensions.size(),
                                   rank - 2, "lhs has spatial dimensions"));
  PJRT_RETURN_IF_ERROR(CheckLength("kernel_spatial_dimensions", n.kernel_spatial_dimensions.size(),
                                   rank - 2, "lhs has spatial dimensions"));
  PJRT_RETURN_IF_ERROR(CheckLength("output_spatial_dimensions", n.output_spatial_dimensions.size(),
                                   rank - 2, "lhs has spatial dimensions"));
  PJRT_RETURN_IF_ERROR(CheckDims(
      "the input's dimension numbers",
      AllDims(n.input_batch_dimension, n.input_feature_dimension, n.input_spatial_dimensions), rank,
      kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(
      CheckDims("the kernel's dimension numbers",
                AllDims(n.kernel_input_feature_dimension, n.kernel_output_feature_dimension,
                        n.kernel_spatial_dimensions),
                rank, kInRange | kUnique));
  return CheckDims(
      "the output's dimension numbers",
      AllDims(n.output_batch_dimension, n.output_feature_dimension, n.output_spatial_dimensions),
      rank, kInRange | kUnique);
}

// The lists of the op have a value for each spatial dimension, sizes and distances are positive.
absl::Status CheckWindow(const InferInput& in, int64_t spatial, WindowAttrs* out) {
  for (absl::string_view name :
       {"window_strides", "lhs_dilation", "rhs_dilation", "window_reversal"}) {
    if (in.attr(name))
      PJRT_RETURN_IF_ERROR(
          CheckLength(name, Ints(in, name).size(), spatial, "there are spatial dimensions"));
  }
  const std::optional<WindowAttrs> window =
      WindowAttrs::From(in.code, in.attributes, static_cast<size_t>(spatial));
  if (!window) {
    return InvalidArgument(rule::kWindow, "padding must be a tensor<", spatial, "x2xi64>; given ",
                           in.attr("padding").ToString());
  }
  for (const WindowDimension& d : window->dimensions) {
    if (d.stride <= 0 || d.base_dilation <= 0 || d.window_dilation <= 0) {
      return InvalidArgument(rule::kWindow, "strides and dilations must be positive; given stride ",
                             d.stride, ", lhs_dilation ", d.base_dilation, ", rhs_dilation ",
                             d.window_dilation);
    }
  }
  *out = *window;
  return absl::OkStatus();
}

bool IsMultiple(int64_t size, int64_t of) { return size == kDynamic || size % of == 0; }

absl::Status CheckGroups(int64_t feature_groups, int64_t batch_groups, Type lhs, Type rhs,
                         const ConvDimensionNumbers& n) {
  if (feature_groups <= 0 || batch_groups <= 0 || (feature_groups > 1 && batch_groups > 1)) {
    return InvalidArgument(
        rule::kValue,
        "feature_group_count and batch_group_count must be positive and not both above 1; given ",
        feature_groups, " and ", batch_groups);
  }
  const int64_t batch = lhs.dim(n.input_batch_dimension),
                features = lhs.dim(n.input_feature_dimension);
  const int64_t kernel_in = rhs.dim(n.kernel_input_feature_dimension),
                kernel_out = rhs.dim(n.kernel_output_feature_dimension);
  if (!IsMultiple(batch, batch_groups)) {
    return InvalidArgument(rule::kSizes,
                           "the batch must be a multiple of batch_group_count; given ", batch,
                           " and ", batch_groups);
  }
  if (!IsMultiple(features, feature_groups)) {
    return InvalidArgument(rule::kSizes,
                           "input features must be a multiple of feature_group_count; given ",
                           features, " and ", feature_groups);
  }
  if (features != kDynamic && kernel_in != kDynamic && features / feature_groups != kernel_in) {
    return InvalidArgument(rule::kSizes,
                           "the kernel must take the input features of a group; given ", kernel_in,
                           ", expected ", features / feature_groups);
  }
  if (!IsMultiple(kernel_out, batch_groups) || !IsMultiple(kernel_out, feature_groups)) {
    return InvalidArgument(
        rule::kSizes,
        "output features must be a multiple of feature_group_count and batch_group_count; given ",
        kernel_out, ", ", feature_groups, " and ", batch_groups);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferConvolution(const InferInput& in, TypeList* out) {
  const Type lhs = in.operand_type(0), rhs = in.operand_type(1);
  const std::optional<ConvDimensionNumbers> numbers =
      ConvDimensionNumbers::From(in.attr("dimension_numbers"));
  if (!numbers)
    return InvalidArgument(rule::kAttribute, "dimension_numbers must be #stablehlo.conv<...>");
  PJRT_RETURN_IF_ERROR(CheckNumbers(*numbers, lhs, rhs));
  const Attribute precision = in.attr("precision_config");
  if (precision && precision.elements().size() > 2) {
    return InvalidArgument(rule::kValue, "precision_config must have at most 2 values; given ",
                           precision.elements().size());
  }
  const Type a = lhs.element_type(), b = rhs.element_type();
  if (!IsQuantized(a) && !IsQuantized(b) && !SameType(a, b)) {
    return InvalidArgument(rule::kAgree, "lhs and rhs must have the same element type; given ",
                           lhs.ToString(), " and ", rhs.ToString());
  }
  const int64_t spatial = lhs.rank() - 2;
  const bool dynamic_padding = in.code == OpCode::kDynamicConv;
  if (dynamic_padding) {
    const Type padding = in.operand_type(2);
    if (padding.rank() != 2 || !CompatibleSizes(padding.dim(0), spatial) ||
        !CompatibleSizes(padding.dim(1), 2)) {
      return InvalidArgument(rule::kWindow, "padding must be a tensor of ", spatial,
                             "x2 integers; given ", padding.ToString());
    }
  }
  WindowAttrs window;
  PJRT_RETURN_IF_ERROR(CheckWindow(in, spatial, &window));
  const int64_t batch_groups = Int(in, "batch_group_count", 1);
  PJRT_RETURN_IF_ERROR(
      CheckGroups(Int(in, "feature_group_count", 1), batch_groups, lhs, rhs, *numbers));

  Extents extents(static_cast<size_t>(lhs.rank()));
  Extent batch = ExtentOf(lhs, static_cast<size_t>(numbers->input_batch_dimension));
  if (!batch.IsDynamic()) batch.size /= batch_groups;
  if (batch.bound != kDynamic) batch.bound /= batch_groups;
  extents[static_cast<size_t>(numbers->output_batch_dimension)] = batch;
  extents[static_cast<size_t>(numbers->output_feature_dimension)] =
      ExtentOf(rhs, static_cast<size_t>(numbers->kernel_output_feature_dimension));
  for (size_t i = 0; i < window.dimensions.size(); ++i) {
    WindowDimension d = window.dimensions[i];
    d.size = rhs.dim(numbers->kernel_spatial_dimensions[i]);
    if (d.size != kDynamic && d.size <= 0) {
      return InvalidArgument(rule::kWindow,
                             "spatial dimensions of the kernel must be positive; given ",
                             rhs.ToString());
    }
    const Extent base = ExtentOf(lhs, static_cast<size_t>(numbers->input_spatial_dimensions[i]));
    Extent& extent = extents[static_cast<size_t>(numbers->output_spatial_dimensions[i])];
    if (!dynamic_padding) extent = {d.OutputSize(base.size), d.OutputSize(base.bound)};
  }
  out->assign(1, MakeTensor(*in.context, extents, a));
  return absl::OkStatus();
}

absl::Status VerifyConvolution(const Op& op) {
  const std::optional<ConvDimensionNumbers> numbers =
      ConvDimensionNumbers::From(op.attr("dimension_numbers"));
  return CheckContractionQuantization(op, {}, numbers->kernel_output_feature_dimension,
                                      numbers->output_feature_dimension);
}

}  // namespace pjrt::ir
