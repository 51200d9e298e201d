// SPDX-License-Identifier: Apache-2.0
//
// dot, dot_general, einsum and unary_einsum. The element type of the result may be wider than the
// operands'.
#include <array>

#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

absl::Status CheckPrecisionConfig(Attribute config, size_t most) {
  if (!config || config.elements().size() <= most) return absl::OkStatus();
  return InvalidArgument(rule::kValue, "precision_config must have at most ", most,
                         " values; given ", config.elements().size());
}

absl::Status CheckPairs(absl::string_view what, Type lhs, absl::Span<const int64_t> a, Type rhs,
                        absl::Span<const int64_t> b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (!CompatibleExtents(ExtentOf(lhs, static_cast<size_t>(a[i])),
                           ExtentOf(rhs, static_cast<size_t>(b[i])))) {
      return InvalidArgument(rule::kSizes, what, " dimensions ", a[i], " of lhs and ", b[i],
                             " of rhs must have the same size; given ", lhs.ToString(), " and ",
                             rhs.ToString());
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckContractionQuantization(const Op& op,
                                          absl::Span<const int64_t> summed_rhs_dimensions,
                                          int64_t rhs_feature, int64_t result_feature) {
  const Type lhs = op.operand_type(0).element_type(), rhs = op.operand_type(1).element_type();
  const Type result = op.result_type().element_type();
  if (!IsQuantized(rhs)) {
    if (!IsQuantized(lhs) && !IsQuantized(result)) return absl::OkStatus();
    return InvalidArgument(rule::kQuantized,
                           "rhs must be quantized when lhs or the result is; given ",
                           lhs.ToString(), ", ", rhs.ToString(), " and ", result.ToString());
  }
  const QuantizedParams& r = rhs.quantized();
  if (!IsQuantized(lhs)) {  // weights alone are quantized
    if (!SameType(r.expressed_type, lhs) || !SameType(r.expressed_type, result)) {
      return InvalidArgument(rule::kQuantized,
                             "with an unquantized lhs, rhs must express its type and the result's; "
                             "given ",
                             lhs.ToString(), ", ", rhs.ToString(), " and ", result.ToString());
    }
  } else {
    const QuantizedParams& l = lhs.quantized();
    if (!IsQuantized(result) || !SameType(l.storage_type, r.storage_type) ||
        !SameType(l.expressed_type, r.expressed_type) ||
        !SameType(result.quantized().expressed_type, l.expressed_type)) {
      return InvalidArgument(rule::kQuantized,
                             "lhs and rhs must have the same storage and expressed types, and the "
                             "result the expressed one; given ",
                             lhs.ToString(), ", ", rhs.ToString(), " and ", result.ToString());
    }
    if (r.IsPerTensor() && !result.quantized().IsPerTensor()) {
      return InvalidArgument(rule::kQuantized,
                             "the result must be quantized per tensor when rhs is; given ",
                             result.ToString());
    }
    if (!l.IsPerTensor()) {
      return InvalidArgument(rule::kQuantized, "lhs must be quantized per tensor; given ",
                             lhs.ToString());
    }
  }
  if (!r.IsPerAxis()) return absl::OkStatus();
  if (Contains(summed_rhs_dimensions, r.axes[0])) {
    return InvalidArgument(rule::kQuantized,
                           "rhs must not be quantized along a contracting dimension; given ",
                           rhs.ToString());
  }
  if (rhs_feature >= 0 && r.axes[0] != rhs_feature) {
    return InvalidArgument(rule::kQuantized,
                           "rhs must be quantized along its output feature dimension ", rhs_feature,
                           "; given ", rhs.ToString());
  }
  if (result_feature >= 0 && IsQuantized(result) && result.quantized().IsPerAxis() &&
      result.quantized().axes[0] != result_feature) {
    return InvalidArgument(rule::kQuantized,
                           "the result must be quantized along its feature dimension ",
                           result_feature, "; given ", result.ToString());
  }
  return absl::OkStatus();
}

absl::Status InferDot(const InferInput& in, TypeList* out) {
  const Type lhs = in.operand_type(0), rhs = in.operand_type(1);
  PJRT_RETURN_IF_ERROR(CheckPrecisionConfig(in.attr("precision_config"), 2));
  if (lhs.rank() < 1 || lhs.rank() > 2 || rhs.rank() < 1 || rhs.rank() > 2) {
    return InvalidArgument(rule::kAgree, "lhs and rhs must have rank 1 or 2; given ",
                           lhs.ToString(), " and ", rhs.ToString());
  }
  PJRT_RETURN_IF_ERROR(CheckPairs("contracting", lhs, {lhs.rank() - 1}, rhs, {0}));
  Extents extents;
  if (lhs.rank() == 2) extents.push_back(ExtentOf(lhs, 0));
  if (rhs.rank() == 2) extents.push_back(ExtentOf(rhs, 1));
  out->assign(1, MakeTensor(*in.context, extents, lhs.element_type()));
  return absl::OkStatus();
}

absl::Status InferDotGeneral(const InferInput& in, TypeList* out) {
  const Type lhs = in.operand_type(0), rhs = in.operand_type(1);
  PJRT_RETURN_IF_ERROR(CheckPrecisionConfig(in.attr("precision_config"), 2));
  const std::optional<DotDimensionNumbers> numbers =
      DotDimensionNumbers::From(in.attr("dot_dimension_numbers"));
  if (!numbers)
    return InvalidArgument(rule::kAttribute, "dot_dimension_numbers must be #stablehlo.dot<...>");
  const DimList &lb = numbers->lhs_batching_dimensions, &rb = numbers->rhs_batching_dimensions;
  const DimList &lc = numbers->lhs_contracting_dimensions,
                &rc = numbers->rhs_contracting_dimensions;
  PJRT_RETURN_IF_ERROR(CheckLength("rhs_batching_dimensions", rb.size(),
                                   static_cast<int64_t>(lb.size()), "lhs_batching_dimensions"));
  PJRT_RETURN_IF_ERROR(CheckLength("rhs_contracting_dimensions", rc.size(),
                                   static_cast<int64_t>(lc.size()), "lhs_contracting_dimensions"));
  PJRT_RETURN_IF_ERROR(CheckDims("lhs_batching_dimensions", lb, lhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDims("rhs_batching_dimensions", rb, rhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDims("lhs_contracting_dimensions", lc, lhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDims("rhs_contracting_dimensions", rc, rhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(
      CheckDisjoint("lhs_batching_dimensions", lb, "lhs_contracting_dimensions", lc));
  PJRT_RETURN_IF_ERROR(
      CheckDisjoint("rhs_batching_dimensions", rb, "rhs_contracting_dimensions", rc));
  PJRT_RETURN_IF_ERROR(CheckPairs("batching", lhs, lb, rhs, rb));
  PJRT_RETURN_IF_ERROR(CheckPairs("contracting", lhs, lc, rhs, rc));
  Extents extents;
  for (size_t i = 0; i < lb.size(); ++i) {
    extents.push_back(MostSpecific(ExtentOf(lhs, static_cast<size_t>(lb[i])),
                                   ExtentOf(rhs, static_cast<size_t>(rb[i]))));
  }
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (!Contains(lb, d) && !Contains(lc, d))
      extents.push_back(ExtentOf(lhs, static_cast<size_t>(d)));
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (!Contains(rb, d) && !Contains(rc, d))
      extents.push_back(ExtentOf(rhs, static_cast<size_t>(d)));
  }
  out->assign(1, MakeTensor(*in.context, extents, lhs.element_type()));
  return absl::OkStatus();
}

absl::Status VerifyDot(const Op& op) { return CheckContractionQuantization(op, {}, -1, -1); }

absl::Status VerifyDotGeneral(const Op& op) {
  if (op.HasAttr("algorithm")) {
    for (Attribute precision : op.attr("precision_config").Is(AttrKind::kArray)
                                   ? op.attr("precision_config").elements()
                                   : absl::Span<const Attribute>()) {
      if (precision.enum_value() != "DEFAULT") {
        return InvalidArgument(rule::kValue,
                               "precision_config must be DEFAULT beside an algorithm; given ",
                               precision.enum_value());
      }
    }
  }
  const std::optional<DotDimensionNumbers> numbers =
      DotDimensionNumbers::From(op.attr("dot_dimension_numbers"));
  PJRT_RETURN_IF_ERROR(
      CheckContractionQuantization(op, numbers->rhs_contracting_dimensions, -1, -1));
  const Type rhs = op.operand_type(1).element_type();
  // Scales of blocks are beyond the specification's rule.
  if (IsQuantized(rhs) && (rhs.quantized().IsPerTensor() || rhs.quantized().IsPerAxis()) &&
      !absl::c_all_of(rhs.quantized().zero_points, [](int64_t zero) { return zero == 0; })) {
    return InvalidArgument(rule::kQuantized, "zero points of rhs must be 0; given ",
                           rhs.ToString());
  }
  return absl::OkStatus();
}

namespace {

// Sizes of the letters of an einsum; `text` is one operand's letters. Letters alone are read: "..."
// leaves the result open.
using LetterSizes = std::array<Extent, 256>;

absl::Status ReadLetters(absl::string_view text, Type type, LetterSizes* sizes,
                         std::array<bool, 256>* seen) {
  if (static_cast<int64_t>(text.size()) != type.rank()) {
    return InvalidArgument(rule::kDimensions,
                           "einsum_config must have a letter for each dimension; given '", text,
                           "' for ", type.ToString());
  }
  for (size_t d = 0; d < text.size(); ++d) {
    const size_t letter = static_cast<unsigned char>(text[d]);
    Extent& size = (*sizes)[letter];
    if ((*seen)[letter] && !CompatibleExtents(size, ExtentOf(type, d))) {
      return InvalidArgument(rule::kSizes,
                             "dimensions of the same letter must have the same size; given '",
                             text.substr(d, 1), "' in ", type.ToString());
    }
    size = (*seen)[letter] ? MostSpecific(size, ExtentOf(type, d)) : ExtentOf(type, d);
    (*seen)[letter] = true;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status InferEinsum(const InferInput& in, TypeList* out) {
  const absl::string_view config = in.attr("einsum_config").AsString();
  if (config.find('.') != absl::string_view::npos) {
    return Unimplemented(rule::kNoInference, "the result of an einsum with '...' must be given");
  }
  const std::pair<absl::string_view, absl::string_view> sides =
      absl::StrSplit(config, absl::MaxSplits("->", 1));
  const std::vector<absl::string_view> operands = absl::StrSplit(sides.first, ',');
  if (config.find("->") == absl::string_view::npos || operands.size() != in.operands.size()) {
    return InvalidArgument(
        rule::kValue,
        "einsum_config must name each operand and the result, as in \"ab,bc->ac\"; given \"",
        config, "\"");
  }
  LetterSizes sizes;
  std::array<bool, 256> seen = {};
  for (size_t i = 0; i < operands.size(); ++i) {
    PJRT_RETURN_IF_ERROR(ReadLetters(operands[i], in.operand_type(i), &sizes, &seen));
  }
  Extents extents;
  for (char letter : sides.second) {
    if (!seen[static_cast<unsigned char>(letter)]) {
      return InvalidArgument(
          rule::kValue, "einsum_config must take the result's letters from the operands'; given \"",
          config, "\"");
    }
    extents.push_back(sizes[static_cast<unsigned char>(letter)]);
  }
  out->assign(1, MakeTensor(*in.context, extents, in.operand_type(0).element_type()));
  return absl::OkStatus();
}

}  // namespace pjrt::ir
