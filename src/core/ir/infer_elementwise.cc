// SPDX-License-Identifier: Apache-2.0
//
// Elementwise ops: all operands have one shape, and the result has it, too.
#include <optional>

#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// The shape that operands `first` to the last share, as specific as they say it, with operand
// `first`'s element type.
absl::Status MergeOperands(const InferInput& in, size_t first, bool compare_elements, Type* out) {
  Type merged = in.operand_type(first);
  for (size_t i = first + 1; i < in.operands.size(); ++i) {
    const Type type = in.operand_type(i);
    const bool same =
        compare_elements ? CompatibleTypes(merged, type) : CompatibleShapes(merged, type);
    if (!same) {
      const bool mixed = IsQuantized(ElementOf(merged)) != IsQuantized(ElementOf(type));
      if (mixed) {
        return InvalidArgument(rule::kQuantized,
                               "operands must be all quantized or all not; given ",
                               merged.ToString(), " and ", type.ToString());
      }
      return InvalidArgument(rule::kAgree, "all operands must have compatible types; given ",
                             merged.ToString(), " and ", type.ToString());
    }
    if (merged == type || type.Is(TypeKind::kUnrankedTensor)) continue;
    if (merged.Is(TypeKind::kUnrankedTensor)) {
      merged = WithElement(*in.context, type, merged.element_type());
      continue;
    }
    Extents extents = ExtentsOf(merged);
    for (size_t d = 0; d < extents.size(); ++d)
      extents[d] = MostSpecific(extents[d], ExtentOf(type, d));
    merged = MakeTensor(*in.context, extents, merged.element_type());
  }
  *out = merged;
  return absl::OkStatus();
}

bool IsScalarOrLike(Type type, Type shaped) {
  return type.rank() == 0 || CompatibleShapes(type, shaped);
}

}  // namespace

absl::Status InferSame(const InferInput& in, TypeList* out) {
  Type type;
  PJRT_RETURN_IF_ERROR(MergeOperands(in, 0, true, &type));
  out->assign(1, type);
  return absl::OkStatus();
}

absl::Status InferSum(const InferInput& in, TypeList* out) {
  const Type lhs = ElementOf(in.operand_type(0)), rhs = ElementOf(in.operand_type(1));
  if (!IsQuantized(lhs) || !IsQuantized(rhs) ||
      lhs.quantized().IsPerAxis() == rhs.quantized().IsPerAxis()) {
    return InferSame(in, out);
  }
  Type type;
  PJRT_RETURN_IF_ERROR(MergeOperands(in, 0, false, &type));
  out->assign(1, WithElement(*in.context, type, lhs.quantized().IsPerAxis() ? lhs : rhs));
  return absl::OkStatus();
}

absl::Status InferRealPart(const InferInput& in, TypeList* out) {
  const Type type = in.operand_type(0);
  out->assign(1, WithElement(*in.context, type, RealPart(type.element_type())));
  return absl::OkStatus();
}

absl::Status InferPredicate(const InferInput& in, TypeList* out) {
  out->assign(1, WithElement(*in.context, in.operand_type(0), in.context->I1()));
  return absl::OkStatus();
}

absl::Status InferCompare(const InferInput& in, TypeList* out) {
  Type type;
  PJRT_RETURN_IF_ERROR(MergeOperands(in, 0, true, &type));
  out->assign(1, WithElement(*in.context, type, in.context->I1()));
  return absl::OkStatus();
}

absl::Status InferComplex(const InferInput& in, TypeList* out) {
  Type type;
  PJRT_RETURN_IF_ERROR(MergeOperands(in, 0, true, &type));
  const Type element = type.element_type();
  if (!IsFloat(element, 32) && !IsFloat(element, 64)) {
    return InvalidArgument(rule::kType, "operands must have element type f32 or f64; given ",
                           type.ToString());
  }
  out->assign(1, WithElement(*in.context, type, in.context->Complex(element)));
  return absl::OkStatus();
}

absl::Status InferSelect(const InferInput& in, TypeList* out) {
  Type type;
  PJRT_RETURN_IF_ERROR(MergeOperands(in, 1, true, &type));
  if (!SameType(in.operand_type(1).element_type(), in.operand_type(2).element_type())) {
    return InvalidArgument(rule::kQuantized, "on_true and on_false must be quantized alike; given ",
                           in.operand_type(1).ToString(), " and ", in.operand_type(2).ToString());
  }
  const Type pred = in.operand_type(0);
  if (!IsScalarOrLike(pred, in.operand_type(1))) {
    return InvalidArgument(rule::kAgree,
                           "pred must be a scalar or have the shape of on_true; given ",
                           pred.ToString(), " and ", type.ToString());
  }
  out->assign(1, type);
  return absl::OkStatus();
}

absl::Status InferClamp(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(1);
  for (size_t i : {0, 2}) {
    const absl::string_view name = i == 0 ? "min" : "max";
    const Type limit = in.operand_type(i);
    PJRT_RETURN_IF_ERROR(CheckSameElement(name, limit, "operand", operand));
    if (!IsScalarOrLike(limit, operand)) {
      return InvalidArgument(rule::kAgree, name,
                             " must be a scalar or have the operand's shape; given ",
                             limit.ToString(), " and ", operand.ToString());
    }
  }
  out->assign(1, operand);
  return absl::OkStatus();
}

absl::Status InferDequantize(const InferInput& in, TypeList* out) {
  const Type type = in.operand_type(0);
  out->assign(1, WithElement(*in.context, type, type.element_type().quantized().expressed_type));
  return absl::OkStatus();
}

absl::Status VerifyQuantizedBinary(const Op& op) {
  const Type result = op.result_type().element_type();
  for (size_t i = 0; i < op.num_operands(); ++i) {
    const Type element = op.operand_type(i).element_type();
    if (IsQuantized(element) != IsQuantized(result)) {
      return InvalidArgument(rule::kQuantized,
                             "operands and result must be all quantized or all not; given ",
                             op.operand_type(i).ToString(), " and ", op.result_type().ToString());
    }
    if (!IsQuantized(element)) continue;
    const QuantizedParams& q = element.quantized();
    const QuantizedParams& r = result.quantized();
    if (!SameType(q.storage_type, r.storage_type) ||
        !SameType(q.expressed_type, r.expressed_type)) {
      return InvalidArgument(
          rule::kQuantized,
          "operands and result must have the same storage and expressed types; given ",
          element.ToString(), " and ", result.ToString());
    }
    if (!q.IsPerTensor() && (r.IsPerTensor() || q.axes != r.axes)) {
      return InvalidArgument(rule::kQuantized,
                             "the result must be quantized along the operand's axis; given ",
                             element.ToString(), " and ", result.ToString());
    }
  }
  return absl::OkStatus();
}

absl::Status VerifyCompare(const Op& op) {
  const Attribute attr = op.attr("compare_type");
  const std::optional<ComparisonType> type = EnumFrom<ComparisonType>(attr);
  const Type element = op.operand_type(0).element_type();
  if (!type || *type == ComparisonType::kNoType || IsQuantized(element)) return absl::OkStatus();
  const ComparisonType natural = DefaultComparisonType(element);
  // Integers have no other order than the total one.
  const bool total_order = *type == ComparisonType::kTotalOrder && !element.Is(TypeKind::kComplex);
  if (*type != natural && !total_order) {
    return InvalidArgument(rule::kValue, "compare_type must suit the element type; given ",
                           attr.enum_value(), " for ", element.ToString(), ", expected ",
                           EnumValues("stablehlo.comparison_type")[static_cast<size_t>(natural)]);
  }
  return absl::OkStatus();
}

absl::Status VerifyConvert(const Op& op) {
  return CheckSameShape("operand", op.operand_type(0), "result", op.result_type());
}

absl::Status VerifyQuantize(const Op& op) {
  const Type in = op.operand_type(0).element_type();
  const Type out = op.result_type().element_type();
  const Type expressed = IsQuantized(in) ? in.quantized().expressed_type : in;
  if (!SameType(expressed, out.quantized().expressed_type)) {
    return InvalidArgument(rule::kQuantized,
                           "the result's expressed type must be the operand's; given ",
                           in.ToString(), " and ", out.ToString());
  }
  return VerifyConvert(op);
}

absl::Status VerifyBitcastConvert(const Op& op) {
  const Type in = op.operand_type(0), out = op.result_type();
  const Type from = in.element_type(), to = out.element_type();
  if (from.Is(TypeKind::kComplex) != to.Is(TypeKind::kComplex)) {
    return InvalidArgument(
        rule::kType,
        "bits of complex numbers cannot become those of real ones, or the other way round; given ",
        in.ToString(), " and ", out.ToString());
  }
  const int64_t from_bits = ElementBits(from), to_bits = ElementBits(to);
  if (from_bits == to_bits) return CheckSameShape("operand", in, "result", out);
  const bool narrower = from_bits > to_bits;  // the result has a dimension more, for the parts
  const Type narrow = narrower ? out : in, wide = narrower ? in : out;
  const int64_t parts = narrower ? from_bits / std::max<int64_t>(to_bits, 1)
                                 : to_bits / std::max<int64_t>(from_bits, 1);
  if (narrow.rank() != wide.rank() + 1) {
    return InvalidArgument(
        rule::kAgree,
        "the tensor of the narrower element type must have one dimension more; given ",
        in.ToString(), " and ", out.ToString());
  }
  for (size_t d = 0; d < wide.dims().size(); ++d) {
    if (!CompatibleExtents(ExtentOf(narrow, d), ExtentOf(wide, d))) {
      return InvalidArgument(
          rule::kAgree,
          "shapes must be the same but for the last dimension of the narrower type; given ",
          in.ToString(), " and ", out.ToString());
    }
  }
  const int64_t last = narrow.dims().back();
  const int64_t wide_bits = std::max(from_bits, to_bits),
                narrow_bits = std::min(from_bits, to_bits);
  if (last != kDynamic && (last != parts || parts * narrow_bits != wide_bits)) {
    return InvalidArgument(rule::kSizes,
                           "the last dimension must hold the parts of the wider element; given ",
                           last, " parts of ", narrow_bits, " bits for ", wide_bits, " bits");
  }
  return absl::OkStatus();
}

}  // namespace pjrt::ir
