// SPDX-License-Identifier: Apache-2.0
//
// Rules of the ops whose result's shape is given: reshape, broadcast_in_dim, iota and the dynamic_*
// ops.
#include "absl/algorithm/container.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// A list of sizes given by an operand: one value a dimension of `shaped`.
absl::Status CheckShapeOperand(absl::string_view name, Type list, absl::string_view what,
                               Type shaped) {
  const int64_t count = list.dim(0);
  if (count == kDynamic || count == shaped.rank()) return absl::OkStatus();
  return InvalidArgument(rule::kSizes, name, " must have a value for each dimension of the ", what,
                         "; given ", list.ToString(), " and ", shaped.ToString());
}

// Where an operand that gives the result's shape is a constant, the declared result agrees with it.
absl::Status CheckConstantShape(const Value* list, Type result) {
  const std::optional<DimList> sizes = ConstantInts(list);
  if (!sizes) return absl::OkStatus();
  for (size_t d = 0; d < sizes->size() && d < result.dims().size(); ++d) {
    if ((*sizes)[d] < 0 || !CompatibleExtents({(*sizes)[d], kDynamic}, ExtentOf(result, d))) {
      return InvalidArgument(rule::kResult,
                             "the result must have the shape that the operand gives; given ",
                             result.ToString(), ", expected sizes ", DimsText(*sizes));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBroadcast(Type operand, Type result, absl::Span<const int64_t> dimensions) {
  PJRT_RETURN_IF_ERROR(CheckSameElement("operand", operand, "result", result));
  PJRT_RETURN_IF_ERROR(CheckLength("broadcast_dimensions", dimensions.size(), operand.rank(),
                                   "the operand has dimensions"));
  PJRT_RETURN_IF_ERROR(
      CheckDims("broadcast_dimensions", dimensions, result.rank(), kInRange | kUnique));
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const Extent from = ExtentOf(operand, d),
                 to = ExtentOf(result, static_cast<size_t>(dimensions[d]));
    if (from.size != 1 && !CompatibleExtents(from, to)) {
      return InvalidArgument(
          rule::kSizes, "dimension ", d, " of the operand must have size 1 or that of dimension ",
          dimensions[d], " of the result; given ", operand.ToString(), " and ", result.ToString());
    }
  }
  return absl::OkStatus();
}

// What is moved, not computed, keeps its scales and zero points.
absl::Status CheckKept(Type operand, Type result) {
  const Type from = ElementOf(operand), to = ElementOf(result);
  if (!IsQuantized(from) || !IsQuantized(to) ||
      (from.quantized().scales == to.quantized().scales &&
       from.quantized().zero_points == to.quantized().zero_points)) {
    return absl::OkStatus();
  }
  return InvalidArgument(rule::kQuantized,
                         "the result must have the operand's scales and zero points; given ",
                         operand.ToString(), " and ", result.ToString());
}

// A per-axis quantized operand keeps its scales on the dimension that its axis becomes.
absl::Status CheckAxisMap(Type operand, Type result, absl::Span<const int64_t> dimensions) {
  const Type from = operand.element_type(), to = result.element_type();
  if (!IsQuantized(from) || !from.quantized().IsPerAxis()) return CheckKept(operand, result);
  const int64_t axis = from.quantized().axes[0];
  const bool expanded = axis >= 0 && axis < operand.rank() && operand.dim(axis) == 1;
  if (!to.quantized().IsPerAxis() || axis < 0 || axis >= operand.rank() ||
      to.quantized().axes[0] != dimensions[static_cast<size_t>(axis)]) {
    return InvalidArgument(
        rule::kQuantized,
        "the result must be quantized along the dimension that the operand's axis becomes; given ",
        operand.ToString(), " and ", result.ToString());
  }
  const QuantizedParams &a = from.quantized(), &b = to.quantized();
  const auto repeats = [](const auto& one, const auto& many) {
    return one.size() == 1 && absl::c_all_of(many, [&](auto x) { return x == one[0]; });
  };
  if (expanded && repeats(a.scales, b.scales) && repeats(a.zero_points, b.zero_points))
    return absl::OkStatus();
  return CheckKept(operand, result);
}

absl::Status CheckElementCount(Type operand, Type result) {
  if (!operand.HasStaticShape() || !result.HasStaticShape() ||
      operand.element_count() == result.element_count()) {
    return absl::OkStatus();
  }
  return InvalidArgument(rule::kSizes,
                         "the result must have as many elements as the operand; given ",
                         result.element_count(), ", expected ", operand.element_count());
}

}  // namespace

absl::Status VerifyMoved(const Op& op) {
  for (size_t i = 0; i < op.num_operands(); ++i) {
    const size_t to = op.num_results() == 1 ? 0 : i;
    PJRT_RETURN_IF_ERROR(CheckKept(op.operand_type(i), op.result_type(to)));
  }
  return absl::OkStatus();
}

absl::Status VerifyConstant(const Op& op) {
  const Type value = op.attr("value").type().element_type(),
             element = op.result_type().element_type();
  if (SameType(value, element)) return absl::OkStatus();
  // Constants of a quantized type are written with what is stored.
  if (IsQuantized(element) && SameType(value, element.quantized().storage_type))
    return absl::OkStatus();
  return InvalidArgument(rule::kResult, "the result must have the value's element type; given ",
                         op.result_type().ToString(), ", expected ",
                         op.attr("value").type().ToString());
}

absl::Status VerifyIota(const Op& op) {
  return CheckDimension("iota_dimension", op.IntAttr("iota_dimension"), op.result_type().rank());
}

absl::Status VerifyDynamicIota(const Op& op) {
  PJRT_RETURN_IF_ERROR(VerifyIota(op));
  PJRT_RETURN_IF_ERROR(
      CheckShapeOperand("output_shape", op.operand_type(0), "result", op.result_type()));
  return CheckConstantShape(op.operand(0), op.result_type());
}

absl::Status VerifyBroadcastInDim(const Op& op) {
  const DimList dimensions = op.IntsAttr("broadcast_dimensions");
  PJRT_RETURN_IF_ERROR(CheckBroadcast(op.operand_type(0), op.result_type(), dimensions));
  return CheckAxisMap(op.operand_type(0), op.result_type(), dimensions);
}

absl::Status VerifyDynamicBroadcastInDim(const Op& op) {
  const Type operand = op.operand_type(0), result = op.result_type();
  const DimList dimensions = op.IntsAttr("broadcast_dimensions");
  PJRT_RETURN_IF_ERROR(
      CheckShapeOperand("output_dimensions", op.operand_type(1), "result", result));
  PJRT_RETURN_IF_ERROR(CheckBroadcast(operand, result, dimensions));
  PJRT_RETURN_IF_ERROR(CheckAxisMap(operand, result, dimensions));
  DimList hints = op.IntsAttr("known_expanding_dimensions");
  for (int64_t d : op.IntsAttr("known_nonexpanding_dimensions")) hints.push_back(d);
  PJRT_RETURN_IF_ERROR(
      CheckDims("known_expanding_dimensions and known_nonexpanding_dimensions together", hints,
                operand.rank(), kInRange | kUnique));
  const std::optional<DimList> sizes = ConstantInts(op.operand(1));
  for (size_t d = 0; sizes && d < dimensions.size(); ++d) {
    const size_t to = static_cast<size_t>(dimensions[d]);
    const int64_t size = operand.dims()[d];
    if (to < sizes->size() && size != kDynamic && size != 1 && size != (*sizes)[to]) {
      return InvalidArgument(
          rule::kSizes, "dimension ", d,
          " of the operand must have size 1 or the one that output_dimensions gives; given ",
          operand.ToString(), " and ", DimsText(*sizes));
    }
  }
  return CheckConstantShape(op.operand(1), result);
}

absl::Status VerifyDynamicPad(const Op& op) {
  const Type operand = op.operand_type(0), result = op.result_type();
  PJRT_RETURN_IF_ERROR(CheckSameElement("operand", operand, "padding_value", op.operand_type(1)));
  PJRT_RETURN_IF_ERROR(CheckSameElement("operand", operand, "result", result));
  PJRT_RETURN_IF_ERROR(CheckKept(operand, result));
  PJRT_RETURN_IF_ERROR(CheckRank("result", result, operand.rank()));
  PJRT_RETURN_IF_ERROR(
      CheckShapeOperand("edge_padding_low", op.operand_type(2), "operand", operand));
  PJRT_RETURN_IF_ERROR(
      CheckShapeOperand("edge_padding_high", op.operand_type(3), "operand", operand));
  PJRT_RETURN_IF_ERROR(
      CheckShapeOperand("interior_padding", op.operand_type(4), "operand", operand));
  for (size_t i : {2, 3, 4}) {
    PJRT_RETURN_IF_ERROR(CheckSameElement("edge_padding_low", op.operand_type(2), "each other list",
                                          op.operand_type(i)));
  }
  const std::optional<DimList> low = ConstantInts(op.operand(2)),
                               high = ConstantInts(op.operand(3));
  const std::optional<DimList> interior = ConstantInts(op.operand(4));
  for (size_t d = 0; interior && d < interior->size() && d < operand.dims().size(); ++d) {
    if ((*interior)[d] < 0) {
      return InvalidArgument(rule::kWindow, "interior_padding must not be negative; given ",
                             DimsText(*interior));
    }
    const int64_t size = operand.dims()[d];
    if (!low || !high || size == kDynamic || d >= low->size() || d >= high->size()) continue;
    const int64_t between = MultiplySizes(std::max<int64_t>(size - 1, 0), (*interior)[d]);
    const int64_t padded = AddSizes(AddSizes(AddSizes(size, between), (*low)[d]), (*high)[d]);
    if (padded < 0 || !CompatibleExtents({padded, kDynamic}, ExtentOf(result, d))) {
      return InvalidArgument(rule::kResult, "dimension ", d,
                             " of the result must have the padded size; given ", result.ToString(),
                             ", expected ", padded);
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyTranspose(const Op& op) {
  const DimList permutation = op.IntsAttr("permutation");
  DimList places(permutation.size());  // where each dimension goes
  for (size_t d = 0; d < permutation.size(); ++d)
    places[static_cast<size_t>(permutation[d])] = static_cast<int64_t>(d);
  return CheckAxisMap(op.operand_type(0), op.result_type(), places);
}

absl::Status VerifyReshape(const Op& op) {
  const Type operand = op.operand_type(0), result = op.result_type();
  PJRT_RETURN_IF_ERROR(CheckSameElement("operand", operand, "result", result));
  PJRT_RETURN_IF_ERROR(CheckElementCount(operand, result));
  PJRT_RETURN_IF_ERROR(CheckKept(operand, result));
  const Type from = operand.element_type(), to = result.element_type();
  if (!IsQuantized(from) || !from.quantized().IsPerAxis()) return absl::OkStatus();
  // The axis stays whole: it keeps its size, and what lies before it its number of elements.
  const int64_t axis = from.quantized().axes[0], new_axis = to.quantized().axes[0];
  bool kept = axis >= 0 && axis < operand.rank() && new_axis >= 0 && new_axis < result.rank() &&
              CompatibleSizes(operand.dim(axis), result.dim(new_axis));
  if (kept && operand.HasStaticShape() && result.HasStaticShape()) {
    int64_t before = 1, new_before = 1;
    for (int64_t d = 0; d < axis; ++d) before = MultiplySizes(before, operand.dim(d));
    for (int64_t d = 0; d < new_axis; ++d) new_before = MultiplySizes(new_before, result.dim(d));
    kept = before == new_before;
  }
  if (kept) return absl::OkStatus();
  return InvalidArgument(rule::kQuantized, "a quantized axis must stay whole; given ",
                         operand.ToString(), " and ", result.ToString());
}

absl::Status VerifyDynamicReshape(const Op& op) {
  const Type operand = op.operand_type(0), result = op.result_type();
  PJRT_RETURN_IF_ERROR(CheckSameElement("operand", operand, "result", result));
  PJRT_RETURN_IF_ERROR(CheckElementCount(operand, result));
  PJRT_RETURN_IF_ERROR(CheckKept(operand, result));
  PJRT_RETURN_IF_ERROR(CheckShapeOperand("output_shape", op.operand_type(1), "result", result));
  PJRT_RETURN_IF_ERROR(CheckConstantShape(op.operand(1), result));
  const std::optional<DimList> sizes = ConstantInts(op.operand(1));
  if (!sizes || !operand.HasStaticShape()) return absl::OkStatus();
  int64_t count = 1;
  for (int64_t size : *sizes) count = MultiplySizes(count, size);
  if (count == operand.element_count()) return absl::OkStatus();
  return InvalidArgument(rule::kSizes,
                         "output_shape must have as many elements as the operand; given ", count,
                         ", expected ", operand.element_count());
}

absl::Status VerifyRealDynamicSlice(const Op& op) {
  const Type operand = op.operand_type(0), result = op.result_type();
  PJRT_RETURN_IF_ERROR(CheckSameElement("operand", operand, "result", result));
  PJRT_RETURN_IF_ERROR(CheckKept(operand, result));
  PJRT_RETURN_IF_ERROR(CheckRank("result", result, operand.rank()));
  PJRT_RETURN_IF_ERROR(CheckShapeOperand("start_indices", op.operand_type(1), "operand", operand));
  PJRT_RETURN_IF_ERROR(CheckShapeOperand("limit_indices", op.operand_type(2), "operand", operand));
  PJRT_RETURN_IF_ERROR(CheckShapeOperand("strides", op.operand_type(3), "operand", operand));
  for (size_t i : {2, 3}) {
    PJRT_RETURN_IF_ERROR(CheckSameElement("start_indices", op.operand_type(1), "each other list",
                                          op.operand_type(i)));
  }
  return absl::OkStatus();
}

}  // namespace pjrt::ir
