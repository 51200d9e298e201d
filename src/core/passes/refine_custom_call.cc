// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/refine_custom_call.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/type_rules.h"
#include "src/core/passes/static_ops.h"

namespace pjrt::ir {
namespace {

// The type of result `i` with these sizes.
absl::StatusOr<Type> Resized(const Op& op, size_t i, absl::Span<const int64_t> sizes) {
  const Type declared = op.result_type(i);
  const bool fits = declared.IsTensor() && declared.rank() == static_cast<int64_t>(sizes.size()) &&
                    std::all_of(sizes.begin(), sizes.end(), [](int64_t size) { return size >= 0; });
  if (fits) return op.module()->context().Tensor(sizes, declared.element_type());
  return InvalidArgument(kContradiction, "result ", i, " is given the sizes ", DimsText(sizes),
                         "; expected some for ", declared.ToString());
}

// Each result's sizes are the value of an operand.
absl::Status FromShapeOperands(const Op& op, absl::Span<const int64_t> operands, TypeList* out) {
  TypeList types;
  for (size_t i = 0; i < op.num_results(); ++i) {
    const int64_t operand = i < operands.size() ? operands[i] : -1;
    if (operand < 0 || operand >= static_cast<int64_t>(op.num_operands())) return absl::OkStatus();
    const std::optional<DimList> sizes = ConstantIntegers(op.operand(static_cast<size_t>(operand)));
    if (!sizes) return absl::OkStatus();
    PJRT_ASSIGN_OR_RETURN(const Type type, Resized(op, i, *sizes));
    types.push_back(type);
  }
  *out = types;
  return absl::OkStatus();
}

// Results have operand 0's sizes, but for `dimension`, where operand `k_operand` gives the size.
absl::Status FromCount(const Op& op, size_t k_operand, int64_t dimension, TypeList* out) {
  const Type x = op.operand_type(0);
  const std::optional<DimList> k = ConstantIntegers(op.operand(k_operand));
  if (!k || k->size() != 1 || dimension < 0 || dimension >= x.rank()) return absl::OkStatus();
  DimList sizes(x.dims().begin(), x.dims().end());
  sizes[static_cast<size_t>(dimension)] = k->front();
  TypeList types;
  for (size_t i = 0; i < op.num_results(); ++i) {
    PJRT_ASSIGN_OR_RETURN(const Type type, Resized(op, i, sizes));
    types.push_back(type);
  }
  *out = types;
  return absl::OkStatus();
}

// N inputs, N initial values, then window_dimensions, window_strides, base_dilations,
// window_dilations and padding.
absl::Status FromWindow(const Op& op, TypeList* out) {
  const size_t n = op.num_results(), rank = op.operand_type(0).dims().size();
  if (op.num_operands() != 2 * n + 5) return absl::OkStatus();
  DimList lists[5];
  for (size_t i = 0; i < 5; ++i) {
    const std::optional<DimList> values = ConstantIntegers(op.operand(2 * n + i));
    if (!values || values->size() != (i == 4 ? 2 * rank : rank)) return absl::OkStatus();
    lists[i] = *values;
  }
  DimList sizes;
  for (size_t d = 0; d < rank; ++d) {
    WindowDimension w;
    w.size = lists[0][d];
    w.stride = lists[1][d];
    w.base_dilation = lists[2][d];
    w.window_dilation = lists[3][d];
    w.padding_low = lists[4][2 * d];
    w.padding_high = lists[4][2 * d + 1];
    if (w.size < 1 || w.stride < 1 || w.base_dilation < 1 || w.window_dilation < 1) {
      return InvalidArgument(kContradiction, "window sizes, strides and dilations must be ",
                             "positive; given ", DimsText(lists[0]), ", ", DimsText(lists[1]), ", ",
                             DimsText(lists[2]), ", ", DimsText(lists[3]));
    }
    sizes.push_back(w.OutputSize(op.operand_type(0).dims()[d]));
  }
  TypeList types;
  for (size_t i = 0; i < n; ++i) {
    PJRT_ASSIGN_OR_RETURN(const Type type, Resized(op, i, sizes));
    types.push_back(type);
  }
  *out = types;
  return absl::OkStatus();
}

// An entry of the call's configuration, wherever exporters put it.
Attribute ConfigEntry(const Op& op, absl::string_view name) {
  for (const absl::string_view place : {"mhlo.backend_config", "backend_config"}) {
    const Attribute dict = op.attr(place);
    if (dict.Is(AttrKind::kDict) && dict.Get(name)) return dict.Get(name);
  }
  return {};
}

// Results have operand 0's sizes, but for the last, where they say k themselves.
absl::Status FromOwnCount(const Op& op, TypeList* out) {
  const Type x = op.operand_type(0), y = op.result_type(0);
  if (!y.IsTensor() || y.rank() < 1 || y.rank() != x.rank() || y.dims().back() < 0) {
    return absl::OkStatus();
  }
  DimList sizes(x.dims().begin(), x.dims().end());
  sizes.back() = y.dims().back();
  TypeList types;
  for (size_t i = 0; i < op.num_results(); ++i) {
    PJRT_ASSIGN_OR_RETURN(const Type type, Resized(op, i, sizes));
    types.push_back(type);
  }
  *out = types;
  return absl::OkStatus();
}

// mhlo.erf and the like: calls of functions of each element.
bool IsElementwiseOp(absl::string_view target) {
  const bool is_chlo = absl::ConsumePrefix(&target, "chlo.");
  if (!is_chlo && !absl::ConsumePrefix(&target, "mhlo.")) return false;
  for (const absl::string_view dialect : {"chlo.", "stablehlo."}) {
    const OpCode code = LookupOp(absl::StrCat(dialect, target));
    if (code != OpCode::kUnknown && GetOpInfo(code).Has(kElementwise)) return true;
  }
  return false;
}

// Calls that mark values and return them as they are.
bool IsIdentity(absl::string_view target) {
  constexpr absl::string_view kTargets[] = {
      "InspectSharding",
      "LayoutConstraint",
      "MoveToDevice",
      "MoveToHost",
      "PinToDevice",
      "PinToDeviceSram",
      "SPMDFullToShardShape",
      "SPMDShardToFullShape",
      "Sharding",
      "annotate_device_placement",
      "mark_tensor",
      "stablehlo.shape_refinement_operand_wrapper",
      "xla.sdy.FuncResultSharding",
      "xla.sdy.GlobalToLocalShape",
      "xla.sdy.LocalToGlobalShape",
      "xla.sdy.PropagationBarrier",
  };
  return std::find(std::begin(kTargets), std::end(kTargets), target) != std::end(kTargets);
}

}  // namespace

absl::Status InferCustomCall(const Op& op, TypeList* out) {
  const DimList shapes = op.IntsAttr("indices_of_shape_operands");
  if (!shapes.empty()) return FromShapeOperands(op, shapes, out);
  const absl::string_view target = op.StringAttr("call_target_name");
  if (op.num_operands() == 0) return absl::OkStatus();
  if (target == "stablehlo.dynamic_top_k" && op.num_operands() == 2) {
    return FromCount(op, 1, op.operand_type(0).rank() - 1, out);
  }
  if (target == "stablehlo.dynamic_approx_top_k" && op.num_operands() >= 5) {
    const Attribute dimension = ConfigEntry(op, "reduction_dim");
    return FromCount(op, 4, dimension ? dimension.AsInt() : op.operand_type(0).rank() - 1, out);
  }
  if (target == "stablehlo.dynamic_rng_bit_generator" && op.num_operands() == 2 &&
      op.num_results() == 2) {
    const std::optional<DimList> sizes = ConstantIntegers(op.operand(1));
    if (!sizes) return absl::OkStatus();
    PJRT_ASSIGN_OR_RETURN(const Type bits, Resized(op, 1, *sizes));
    *out = {op.operand_type(0), bits};
    return absl::OkStatus();
  }
  if (target == "stablehlo.dynamic_reduce_window") return FromWindow(op, out);
  if (target == "mhlo.topk" || target == "TopK") return FromOwnCount(op, out);
  if (IsElementwiseOp(target) && op.num_results() == 1) {
    PJRT_ASSIGN_OR_RETURN(const Type type, Resized(op, 0, op.operand_type(0).dims()));
    *out = {type};
    return absl::OkStatus();
  }
  if (IsIdentity(target) && op.num_results() <= op.num_operands()) {
    for (size_t i = 0; i < op.num_results(); ++i) out->push_back(op.operand_type(i));
  }
  return absl::OkStatus();
}

}  // namespace pjrt::ir
