// SPDX-License-Identifier: Apache-2.0
//
// Ops that apply a region to scalars: reduce, reduce_window, select_and_scatter, map, sort.

#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

bool IsScalar(Type type) { return type.IsTensor() && type.rank() == 0; }

absl::InlinedVector<Type, 4> OperandTypes(const InferInput& in, size_t first, size_t count) {
  absl::InlinedVector<Type, 4> out;
  for (size_t i = 0; i < count; ++i) out.push_back(in.operand_type(first + i));
  return out;
}

// The sizes of `type` occur among `dims`, in order.
bool OccursIn(Type type, absl::Span<const Extent> dims) {
  size_t d = 0;
  for (const Extent& e : dims) {
    if (d < type.dims().size() && CompatibleExtents(e, ExtentOf(type, d))) ++d;
  }
  return d == type.dims().size();
}

// Whether a region that works with elements of type `to` may be given those of type `from`. Floats
// are rounded.
bool IsHeldBy(Type from, Type to) {
  return IsPromotable(from, to) || CompatibleButPrecision(from, to);
}

// Initial values have the shape of the accumulators.
absl::Status CheckInits(const Region& body, absl::Span<const Type> inits) {
  const auto returns = ReturnTypes(body);
  for (size_t i = 0; i < inits.size(); ++i) {
    if (!CompatibleShapes(inits[i], returns[i])) {
      return InvalidArgument(rule::kRegionResult,
                             "initial values must have the shape that the region returns; given ",
                             inits[i].ToString(), ", expected ", returns[i].ToString());
    }
  }
  return absl::OkStatus();
}

// What the region of an op that decides or compares returns: one tensor<i1>.
absl::Status CheckReturnsPredicate(absl::string_view name, const Region& region) {
  const auto returns = ReturnTypes(region);
  if (returns.size() == 1 && IsScalar(returns[0]) && IsInteger(returns[0].element_type(), 1))
    return absl::OkStatus();
  return InvalidArgument(rule::kRegionResult, name, " must return tensor<i1>; given (",
                         TypesText(returns), ")");
}

absl::Status CheckWindow(const InferInput& in, Type operand, WindowAttrs* window) {
  const int64_t rank = operand.rank();
  PJRT_RETURN_IF_ERROR(CheckLength("window_dimensions", Ints(in, "window_dimensions").size(), rank,
                                   "the operand has dimensions"));
  for (absl::string_view name : {"window_strides", "base_dilations", "window_dilations"}) {
    if (in.attr(name))
      PJRT_RETURN_IF_ERROR(
          CheckLength(name, Ints(in, name).size(), rank, "the operand has dimensions"));
  }
  const std::optional<WindowAttrs> read =
      WindowAttrs::From(in.code, in.attributes, operand.dims().size());
  if (!read) {
    return InvalidArgument(rule::kWindow, "padding must be a tensor<", rank, "x2xi64>; given ",
                           in.attr("padding").ToString());
  }
  for (const WindowDimension& d : read->dimensions) {
    if (d.size <= 0 || d.stride <= 0 || d.base_dilation <= 0 || d.window_dilation <= 0) {
      return InvalidArgument(
          rule::kWindow, "sizes, strides and dilations of windows must be positive; given size ",
          d.size, ", stride ", d.stride, ", dilations ", d.base_dilation, " and ",
          d.window_dilation);
    }
  }
  *window = *read;
  return absl::OkStatus();
}

Extents WindowExtents(const WindowAttrs& window, const Extents& base) {
  Extents out;
  for (size_t d = 0; d < base.size(); ++d) {
    const WindowDimension& w = window.dimensions[d];
    out.push_back({w.OutputSize(base[d].size), w.OutputSize(base[d].bound)});
  }
  return out;
}

}  // namespace

absl::Status MergeInputShapes(absl::Span<const Type> inputs, Extents* out) {
  if (inputs.empty()) return InvalidArgument(rule::kCount, "there must be an input; given none");
  *out = ExtentsOf(inputs[0]);
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (!CompatibleShapes(inputs[0], inputs[i])) {
      return InvalidArgument(rule::kAgree, "all inputs must have compatible shapes; given ",
                             inputs[0].ToString(), " and ", inputs[i].ToString());
    }
    for (size_t d = 0; d < out->size(); ++d)
      (*out)[d] = MostSpecific((*out)[d], ExtentOf(inputs[i], d));
  }
  return absl::OkStatus();
}

absl::Status CheckReducer(const Region& body, absl::Span<const Type> inputs,
                          absl::Span<const Type> inits, TypeList* elements,
                          absl::Span<const Extent> kept_dims) {
  const size_t n = inputs.size();
  const auto arguments = ArgumentTypes(body);
  const auto returns = ReturnTypes(body);
  if (arguments.size() != 2 * n) {
    return InvalidArgument(rule::kRegion, "the region must take two scalars for each input; given ",
                           arguments.size(), " arguments, expected ", 2 * n);
  }
  if (returns.size() != n) {
    return InvalidArgument(rule::kRegionResult,
                           "the region must return a scalar for each input; given (",
                           TypesText(returns), "), expected ", n);
  }
  elements->clear();
  for (size_t i = 0; i < n; ++i) {
    if (!returns[i].IsTensor() || !OccursIn(returns[i], kept_dims)) {
      return InvalidArgument(rule::kRegionResult, "the region must return scalars",
                             kept_dims.empty() ? "" : " or arrays of dimensions that it keeps",
                             "; given ", returns[i].ToString(), " for value ", i);
    }
    for (size_t a : {i, n + i}) {
      const Type argument = arguments[a];
      const bool fits =
          a == i ? CompatibleTypes(argument, returns[i])
                 : argument.IsTensor() && CompatibleShapes(argument, returns[i]) &&
                       CompatibleButPrecision(argument.element_type(), returns[i].element_type());
      if (!fits) {
        return InvalidArgument(rule::kRegion, "argument ", a,
                               " of the region must have the type that it returns; given ",
                               argument.ToString(), ", expected ", returns[i].ToString());
      }
    }
    const Type element = returns[i].element_type(), value = arguments[n + i].element_type();
    if (!IsHeldBy(ElementOf(inits[i]), element)) {
      return InvalidArgument(
          rule::kRegionResult,
          "what the region returns must hold the initial value's element type; given ",
          element.ToString(), " for ", inits[i].ToString());
    }
    if (!IsHeldBy(ElementOf(inputs[i]), value)) {
      return InvalidArgument(rule::kRegion,
                             "arguments of the region must hold the input's element type; given ",
                             value.ToString(), " for ", inputs[i].ToString());
    }
    elements->push_back(element);
  }
  return absl::OkStatus();
}

absl::Status InferReduce(const InferInput& in, TypeList* out) {
  const size_t n = in.operands.size() / 2;
  const auto inputs = OperandTypes(in, 0, n), inits = OperandTypes(in, n, n);
  Extents extents;
  PJRT_RETURN_IF_ERROR(MergeInputShapes(inputs, &extents));
  const DimList dimensions = Ints(in, "dimensions");
  PJRT_RETURN_IF_ERROR(CheckDims("dimensions", dimensions, inputs[0].rank(), kInRange | kUnique));
  Extents kept;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (!Contains(dimensions, static_cast<int64_t>(d))) kept.push_back(extents[d]);
  }
  TypeList elements;
  PJRT_RETURN_IF_ERROR(CheckReducer(*in.regions[0], inputs, inits, &elements, kept));
  PJRT_RETURN_IF_ERROR(CheckInits(*in.regions[0], inits));
  out->clear();
  for (size_t i = 0; i < n; ++i) out->push_back(MakeTensor(*in.context, kept, elements[i]));
  return absl::OkStatus();
}

absl::Status InferReduceWindow(const InferInput& in, TypeList* out) {
  const size_t n = in.operands.size() / 2;
  const auto inputs = OperandTypes(in, 0, n), inits = OperandTypes(in, n, n);
  Extents extents;
  PJRT_RETURN_IF_ERROR(MergeInputShapes(inputs, &extents));
  WindowAttrs window;
  PJRT_RETURN_IF_ERROR(CheckWindow(in, inputs[0], &window));
  Extents window_dims;
  for (const WindowDimension& d : window.dimensions) window_dims.push_back({d.size, kDynamic});
  TypeList elements;
  PJRT_RETURN_IF_ERROR(CheckReducer(*in.regions[0], inputs, inits, &elements, window_dims));
  PJRT_RETURN_IF_ERROR(CheckInits(*in.regions[0], inits));
  const Extents windowed = WindowExtents(window, extents);
  out->clear();
  for (size_t i = 0; i < n; ++i) out->push_back(MakeTensor(*in.context, windowed, elements[i]));
  return absl::OkStatus();
}

absl::Status InferSelectAndScatter(const InferInput& in, TypeList* out) {
  const Type operand = in.operand_type(0), source = in.operand_type(1), init = in.operand_type(2);
  WindowAttrs window;
  PJRT_RETURN_IF_ERROR(CheckWindow(in, operand, &window));
  const auto arguments = ArgumentTypes(*in.regions[0]);
  if (arguments.size() != 2) {
    return InvalidArgument(rule::kRegion, "the select region must take two scalars; given ",
                           arguments.size(), " arguments");
  }
  for (Type argument : arguments) {
    if (!IsScalar(argument) ||
        !CompatibleButPrecision(argument.element_type(), operand.element_type())) {
      return InvalidArgument(
          rule::kRegion,
          "the select region must take scalars of the operand's element type; given ",
          argument.ToString(), " for ", operand.ToString());
    }
  }
  PJRT_RETURN_IF_ERROR(CheckReturnsPredicate("the select region", *in.regions[0]));
  TypeList elements;
  PJRT_RETURN_IF_ERROR(CheckReducer(*in.regions[1], {source}, {init}, &elements));
  PJRT_RETURN_IF_ERROR(CheckInits(*in.regions[1], {init}));
  const Type expected =
      MakeTensor(*in.context, WindowExtents(window, ExtentsOf(operand)), operand.element_type());
  if (!CompatibleShapes(expected, source) ||
      !CompatibleButPrecision(operand.element_type(), source.element_type())) {
    return InvalidArgument(rule::kSizes, "source must have an element for each window; given ",
                           source.ToString(), ", expected ", expected.ToString());
  }
  out->assign(1, WithElement(*in.context, operand, elements[0]));
  return absl::OkStatus();
}

absl::Status InferMap(const InferInput& in, TypeList* out) {
  const auto inputs = OperandTypes(in, 0, in.operands.size());
  Extents extents;
  PJRT_RETURN_IF_ERROR(MergeInputShapes(inputs, &extents));
  const auto arguments = ArgumentTypes(*in.regions[0]);
  if (arguments.size() != inputs.size()) {
    return InvalidArgument(rule::kRegion, "the region must take a scalar for each input; given ",
                           arguments.size(), " arguments, expected ", inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!IsScalar(arguments[i]) ||
        !CompatibleElements(arguments[i].element_type(), inputs[i].element_type())) {
      return InvalidArgument(rule::kRegion,
                             "the region must take scalars of the inputs' element types; given ",
                             arguments[i].ToString(), " for ", inputs[i].ToString());
    }
  }
  const auto returns = ReturnTypes(*in.regions[0]);
  if (returns.size() != 1 || !IsScalar(returns[0])) {
    return InvalidArgument(rule::kRegionResult, "the region must return one scalar; given (",
                           TypesText(returns), ")");
  }
  const DimList dimensions = Ints(in, "dimensions");
  PJRT_RETURN_IF_ERROR(
      CheckLength("dimensions", dimensions.size(), inputs[0].rank(), "the inputs have dimensions"));
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] != static_cast<int64_t>(d)) {
      return InvalidArgument(rule::kDimensions, "dimensions must be all of them in order; given ",
                             DimsText(dimensions));
    }
  }
  out->assign(1, MakeTensor(*in.context, extents, returns[0].element_type()));
  return absl::OkStatus();
}

absl::Status InferSort(const InferInput& in, TypeList* out) {
  const auto inputs = OperandTypes(in, 0, in.operands.size());
  Extents extents;
  PJRT_RETURN_IF_ERROR(MergeInputShapes(inputs, &extents));
  const int64_t rank = inputs[0].rank(), dimension = Int(in, "dimension", -1);
  if (dimension < -rank || dimension >= rank) {
    return InvalidArgument(rule::kDimensions, "dimension must be in [", -rank, ", ", rank,
                           "); given ", dimension);
  }
  const auto arguments = ArgumentTypes(*in.regions[0]);
  if (arguments.size() != 2 * inputs.size()) {
    return InvalidArgument(rule::kRegion,
                           "the comparator must take two scalars for each input; given ",
                           arguments.size(), " arguments, expected ", 2 * inputs.size());
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Type input = inputs[i / 2];
    if (!IsScalar(arguments[i]) ||
        !CompatibleElements(arguments[i].element_type(), input.element_type())) {
      return InvalidArgument(
          rule::kRegion, "the comparator must take scalars of the inputs' element types; given ",
          arguments[i].ToString(), " for argument ", i, ", expected ",
          Scalar(*in.context, input.element_type()).ToString());
    }
  }
  PJRT_RETURN_IF_ERROR(CheckReturnsPredicate("the comparator", *in.regions[0]));
  out->clear();
  for (Type input : inputs) out->push_back(MakeTensor(*in.context, extents, input.element_type()));
  return absl::OkStatus();
}

}  // namespace pjrt::ir
