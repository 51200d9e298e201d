// SPDX-License-Identifier: Apache-2.0
//
// CHLO: broadcasting ops, ragged_dot, scan, top_k.
#include <algorithm>
#include <optional>

#include "src/core/base/status_macros.h"
#include "src/core/ir/complex_number.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// The extents of two broadcast operands: trailing dimensions are aligned, unless
// broadcast_dimensions says to which dimensions of the operand of higher rank those of the other
// one belong. A dimension of size 1 takes the other's size.
absl::Status BroadcastPair(const InferInput& in, Type a, Type b, Extents* out) {
  const bool a_longer = a.rank() >= b.rank();
  const Type longer = a_longer ? a : b, shorter = a_longer ? b : a;
  DimList map;
  if (in.attr("broadcast_dimensions")) {
    map = Ints(in, "broadcast_dimensions");
    PJRT_RETURN_IF_ERROR(CheckLength("broadcast_dimensions", map.size(), shorter.rank(),
                                     "the operand of lower rank has dimensions"));
    PJRT_RETURN_IF_ERROR(
        CheckDims("broadcast_dimensions", map, longer.rank(), kInRange | kUnique | kSorted));
  } else {
    for (int64_t d = 0; d < shorter.rank(); ++d) map.push_back(longer.rank() - shorter.rank() + d);
  }
  *out = ExtentsOf(longer);
  for (size_t d = 0; d < map.size(); ++d) {
    Extent& e = (*out)[static_cast<size_t>(map[d])];
    const Extent other = ExtentOf(shorter, d);
    if (e.size == 1) {
      e = other;
    } else if (other.size == 1) {
      continue;
    } else if (!CompatibleExtents(e, other)) {
      return InvalidArgument(rule::kSizes, "sizes must be equal or 1 to be broadcast; given ",
                             a.ToString(), " and ", b.ToString());
    } else {
      e = MostSpecific(e, other);
    }
  }
  return absl::OkStatus();
}

absl::Status InferBroadcastAs(const InferInput& in, Type element, TypeList* out) {
  const Type a = in.operand_type(0), b = in.operand_type(1);
  const Type x = a.element_type(), y = b.element_type();
  const bool same = IsQuantized(x) && IsQuantized(y)
                        ? SameType(x.quantized().storage_type, y.quantized().storage_type) &&
                              SameType(x.quantized().expressed_type, y.quantized().expressed_type)
                        : SameType(x, y);
  if (!same) {
    return InvalidArgument(rule::kAgree, "operands must have the same element type; given ",
                           a.ToString(), " and ", b.ToString());
  }
  if (!a.IsTensor() || !b.IsTensor()) {
    out->assign(1, in.context->UnrankedTensor(element));
    return absl::OkStatus();
  }
  Extents extents;
  PJRT_RETURN_IF_ERROR(BroadcastPair(in, a, b, &extents));
  out->assign(1, MakeTensor(*in.context, extents, element));
  return absl::OkStatus();
}

}  // namespace

absl::Status InferBroadcastBinary(const InferInput& in, TypeList* out) {
  return InferBroadcastAs(in, in.operand_type(0).element_type(), out);
}

absl::Status InferBroadcastCompare(const InferInput& in, TypeList* out) {
  return InferBroadcastAs(in, in.context->I1(), out);
}

absl::Status InferBroadcastComplex(const InferInput& in, TypeList* out) {
  const Type element = in.operand_type(0).element_type();
  if (!IsFloat(element, 32) && !IsFloat(element, 64)) {
    return InvalidArgument(rule::kType, "operands must have element type f32 or f64; given ",
                           in.operand_type(0).ToString());
  }
  return InferBroadcastAs(in, in.context->Complex(element), out);
}

absl::Status InferBroadcastSelect(const InferInput& in, TypeList* out) {
  const Type pred = in.operand_type(0), on_true = in.operand_type(1), on_false = in.operand_type(2);
  PJRT_RETURN_IF_ERROR(CheckSameElement("on_true", on_true, "on_false", on_false));
  if (!pred.IsTensor() || !on_true.IsTensor() || !on_false.IsTensor()) {
    out->assign(1, in.context->UnrankedTensor(on_true.element_type()));
    return absl::OkStatus();
  }
  Extents extents;
  PJRT_RETURN_IF_ERROR(BroadcastPair(in, on_true, on_false, &extents));
  const Type values = MakeTensor(*in.context, extents, on_true.element_type());
  PJRT_RETURN_IF_ERROR(BroadcastPair(in, pred, values, &extents));
  out->assign(1, MakeTensor(*in.context, extents, on_true.element_type()));
  return absl::OkStatus();
}

absl::Status VerifyConstantLike(const Op& op) {
  const Type value = op.attr("value").type(), element = op.result_type().element_type();
  const std::optional<ComplexNumber> number = ReadComplexNumber(op.attr("value"));
  const bool fits = number ? element.Is(TypeKind::kComplex) &&
                                 element.element_type().ToString() == number->part_type
                           : value && SameType(value, element);
  if (!fits) {
    return InvalidArgument(rule::kAgree, "value must have the result's element type; given ",
                           op.attr("value").ToString(), ", expected ",
                           op.result_type().element_type().ToString());
  }
  return CheckSameShape("operand", op.operand_type(0), "result", op.result_type());
}

absl::Status InferTopK(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0);
  const int64_t k = Int(in, "k");
  if (operand.Is(TypeKind::kUnrankedTensor)) {
    *out = {operand, in.context->UnrankedTensor(in.context->Integer(32))};
    return absl::OkStatus();
  }
  if (operand.rank() == 0)
    return InvalidArgument(rule::kAgree, "the operand must have rank 1 at least; given ",
                           operand.ToString());
  Extents extents = ExtentsOf(operand);
  if (k < 0 || (!extents.back().IsDynamic() && extents.back().size < k)) {
    return InvalidArgument(rule::kSizes, "k must be in [0, size of the last dimension]; given ", k,
                           " for ", operand.ToString());
  }
  extents.back() = {k, kDynamic};
  *out = {MakeTensor(*in.context, extents, operand.element_type()),
          MakeTensor(*in.context, extents, in.context->Integer(32))};
  return absl::OkStatus();
}

absl::Status InferRaggedDot(const InferInput& in, TypeList* out) {
  const Type lhs = in.operand_type(0), rhs = in.operand_type(1), group_sizes = in.operand_type(2);
  const std::optional<RaggedDotDimensionNumbers> numbers =
      RaggedDotDimensionNumbers::From(in.attr("ragged_dot_dimension_numbers"));
  if (!numbers)
    return InvalidArgument(rule::kAttribute,
                           "ragged_dot_dimension_numbers must be #chlo.ragged_dot<...>");
  const DimList &lb = numbers->lhs_batching_dimensions, &rb = numbers->rhs_batching_dimensions;
  const DimList &lc = numbers->lhs_contracting_dimensions,
                &rc = numbers->rhs_contracting_dimensions;
  const DimList &ragged = numbers->lhs_ragged_dimensions, &group = numbers->rhs_group_dimensions;
  const Attribute precision = in.attr("precision_config");
  if (precision && precision.elements().size() > 2) {
    return InvalidArgument(rule::kValue, "precision_config must have at most 2 values; given ",
                           precision.elements().size());
  }
  PJRT_RETURN_IF_ERROR(CheckDims("lhs_batching_dimensions", lb, lhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDims("rhs_batching_dimensions", rb, rhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDims("lhs_contracting_dimensions", lc, lhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDims("rhs_contracting_dimensions", rc, rhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDims("lhs_ragged_dimensions", ragged, lhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(CheckDims("rhs_group_dimensions", group, rhs.rank(), kInRange | kUnique));
  PJRT_RETURN_IF_ERROR(
      CheckDisjoint("lhs_batching_dimensions", lb, "lhs_contracting_dimensions", lc));
  PJRT_RETURN_IF_ERROR(
      CheckDisjoint("rhs_batching_dimensions", rb, "rhs_contracting_dimensions", rc));
  PJRT_RETURN_IF_ERROR(CheckDisjoint("rhs_group_dimensions", group, "rhs_batching_dimensions", rb));
  PJRT_RETURN_IF_ERROR(
      CheckDisjoint("rhs_group_dimensions", group, "rhs_contracting_dimensions", rc));
  PJRT_RETURN_IF_ERROR(CheckLength("rhs_batching_dimensions", rb.size(),
                                   static_cast<int64_t>(lb.size()), "lhs_batching_dimensions"));
  PJRT_RETURN_IF_ERROR(CheckLength("rhs_contracting_dimensions", rc.size(),
                                   static_cast<int64_t>(lc.size()), "lhs_contracting_dimensions"));
  for (const auto& [a, b] : {std::make_pair(&lb, &rb), std::make_pair(&lc, &rc)}) {
    for (size_t i = 0; i < a->size(); ++i) {
      if (!CompatibleExtents(ExtentOf(lhs, static_cast<size_t>((*a)[i])),
                             ExtentOf(rhs, static_cast<size_t>((*b)[i])))) {
        return InvalidArgument(
            rule::kSizes,
            "batching and contracting dimensions of lhs and rhs must have the same sizes; given ",
            lhs.ToString(), " and ", rhs.ToString());
      }
    }
  }
  if (ragged.size() != 1) {
    return InvalidArgument(rule::kDimensions, "lhs must have one ragged dimension; given ",
                           DimsText(ragged));
  }
  const bool ragged_contracting = Contains(lc, ragged[0]), ragged_batch = Contains(lb, ragged[0]);
  const bool free = !ragged_contracting && !ragged_batch;
  if (group.size() != (free ? 1u : 0u)) {
    return InvalidArgument(rule::kDimensions,
                           "rhs must have one group dimension when the ragged dimension is neither "
                           "batching nor contracting, else none; given ",
                           DimsText(group));
  }
  // group_sizes has the dimensions that lie outside of the ragged one, then the groups.
  DimList prefix;
  if (ragged_batch) {
    prefix.assign(lb.begin(), std::find(lb.begin(), lb.end(), ragged[0]));
  } else {
    prefix = lb;
    if (free) {
      for (int64_t d = 0; d < ragged[0]; ++d) {
        if (!Contains(lb, d) && !Contains(lc, d)) prefix.push_back(d);
      }
    } else {
      prefix.insert(prefix.end(), lc.begin(), std::find(lc.begin(), lc.end(), ragged[0]));
    }
  }
  const bool broadcast_groups = group_sizes.rank() == 1;
  if (!broadcast_groups && group_sizes.rank() != static_cast<int64_t>(prefix.size()) + 1) {
    return InvalidArgument(rule::kAgree, "group_sizes must have rank ", prefix.size() + 1,
                           "; given ", group_sizes.ToString());
  }
  for (size_t i = 0; !broadcast_groups && i < prefix.size(); ++i) {
    if (!CompatibleExtents(ExtentOf(group_sizes, i),
                           ExtentOf(lhs, static_cast<size_t>(prefix[i])))) {
      return InvalidArgument(rule::kSizes,
                             "group_sizes must have the sizes of the dimensions of lhs outside of "
                             "the ragged one; given ",
                             group_sizes.ToString(), " for ", lhs.ToString());
    }
  }
  const Extent groups = ExtentOf(group_sizes, static_cast<size_t>(group_sizes.rank() - 1));
  if (free && !CompatibleExtents(ExtentOf(rhs, static_cast<size_t>(group[0])), groups)) {
    return InvalidArgument(rule::kSizes, "rhs must have a slice for each group; given ",
                           rhs.ToString(), " for ", group_sizes.ToString());
  }
  Extents extents;
  if (ragged_contracting) extents.push_back(groups);
  for (int64_t d : lb) extents.push_back(ExtentOf(lhs, static_cast<size_t>(d)));
  for (int64_t d = 0; d < lhs.rank(); ++d) {
    if (!Contains(lb, d) && !Contains(lc, d))
      extents.push_back(ExtentOf(lhs, static_cast<size_t>(d)));
  }
  for (int64_t d = 0; d < rhs.rank(); ++d) {
    if (!Contains(rb, d) && !Contains(rc, d) && !Contains(group, d))
      extents.push_back(ExtentOf(rhs, static_cast<size_t>(d)));
  }
  out->assign(1, MakeTensor(*in.context, extents, lhs.element_type()));
  return absl::OkStatus();
}

absl::Status InferScan(const InferInput& in, TypeList* out) {
  absl::InlinedVector<size_t, 6> segments;
  const OpInfo& info = GetOpInfo(in.code);
  const auto arguments = ArgumentTypes(*in.regions[0]);
  const auto returns = ReturnTypes(*in.regions[0]);
  if (arguments.size() != in.operands.size()) {
    return InvalidArgument(rule::kRegion,
                           "the body must take a slice of each input and each carry; given ",
                           arguments.size(), " arguments, expected ", in.operands.size());
  }
  if (!SplitOperands(info.operands, in.operands.size(), in.attr("operandSegmentSizes"),
                     &segments)) {
    return InvalidArgument(
        rule::kCount, "operandSegmentSizes must say how many inputs and carries there are; given ",
        in.operands.size(), " operands");
  }
  const size_t inputs = segments[0], carries = segments[1];
  if (returns.size() < carries) {
    return InvalidArgument(rule::kRegionResult, "the body must return outputs and carries; given (",
                           TypesText(returns), "), expected ", carries, " carries");
  }
  const size_t outputs = returns.size() - carries;
  const int64_t dimension = Int(in, "dimension");
  Extent along;
  if (in.attr("scan_dim_size")) along.size = Int(in, "scan_dim_size");
  for (size_t i = 0; i < inputs; ++i) {
    const Type input = in.operand_type(i);
    PJRT_RETURN_IF_ERROR(CheckDimension("dimension", dimension, input.rank()));
    Extents slice = ExtentsOf(input);
    const Extent e = slice[static_cast<size_t>(dimension)];
    if (!CompatibleExtents(along, e)) {
      return InvalidArgument(rule::kSizes,
                             "all inputs must have the same size along the dimension, "
                             "scan_dim_size when given; given ",
                             input.ToString(), ", expected ", along.size);
    }
    along = MostSpecific(along, e);
    slice.erase(slice.begin() + dimension);
    const Type expected = MakeTensor(*in.context, slice, input.element_type());
    if (!CompatibleTypes(arguments[i], expected)) {
      return InvalidArgument(rule::kRegion, "argument ", i,
                             " of the body must be a slice of input ", i, "; given ",
                             arguments[i].ToString(), ", expected ", expected.ToString());
    }
  }
  for (size_t i = 0; i < carries; ++i) {
    const Type carry = in.operand_type(inputs + i);
    if (!CompatibleTypes(arguments[inputs + i], carry)) {
      return InvalidArgument(rule::kRegion, "argument ", inputs + i, " of the body must be carry ",
                             i, "; given ", arguments[inputs + i].ToString(), ", expected ",
                             carry.ToString());
    }
    if (!CompatibleTypes(returns[outputs + i], carry)) {
      return InvalidArgument(rule::kRegionResult, "the body must return carry ", i,
                             " with its type; given ", returns[outputs + i].ToString(),
                             ", expected ", carry.ToString());
    }
  }
  out->clear();
  for (size_t i = 0; i < outputs; ++i) {
    if (!returns[i].IsTensor() || dimension < 0 || dimension > returns[i].rank()) {
      return InvalidArgument(rule::kRegionResult,
                             "outputs of the body must be tensors that dimension ", dimension,
                             " can be put into; given ", returns[i].ToString());
    }
    Extents extents = ExtentsOf(returns[i]);
    extents.insert(extents.begin() + dimension, along);
    out->push_back(MakeTensor(*in.context, extents, returns[i].element_type()));
  }
  for (size_t i = 0; i < carries; ++i) out->push_back(in.operand_type(inputs + i));
  return absl::OkStatus();
}

}  // namespace pjrt::ir
