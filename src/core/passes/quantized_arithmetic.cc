// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/quantized_arithmetic.h"

#include <algorithm>
#include <string>
#include <vector>

#include "src/core/ir/element.h"

namespace pjrt::ir {
namespace {

// How the scales of a quantized tensor lie along it: the tensor, reshaped to `dims`, has the scales
// along its dimensions `axes`, and all other dimensions share them. Blocks make two dimensions of
// one: which block, and where in it.
struct ScaleLayout {
  DimList dims;
  DimList axes;
  DimList scale_dims;  // the sizes of `axes`; their product is the number of scales
};

ScaleLayout LayoutOf(Type type) {
  const QuantizedParams& params = type.element_type().quantized();
  ScaleLayout layout;
  for (int64_t d = 0; d < type.rank(); ++d) {
    const int64_t size = type.dim(d);
    int64_t groups = 1;
    if (params.IsPerAxis()) {
      groups = params.axes[0] == d ? size : 1;
    } else if (!params.IsPerTensor()) {
      groups = params.scale_dims[static_cast<size_t>(d)];
    }
    if (groups == 1) {
      layout.dims.push_back(size);
      continue;
    }
    layout.axes.push_back(static_cast<int64_t>(layout.dims.size()));
    layout.scale_dims.push_back(groups);
    layout.dims.push_back(groups);
    if (groups != size) layout.dims.push_back(size / groups);
  }
  return layout;
}

// One value a scale, as a tensor that goes with `like`, which has the layout's dims. The values are
// integers for integer types.
template <typename T>
Term Spread(Term like, absl::Span<const T> values, const ScaleLayout& layout) {
  Emitter& emit = like.emitter();
  const bool is_float = like.type().element_type().Is(TypeKind::kFloat);
  if (std::all_of(values.begin(), values.end(), [&](T v) { return v == values[0]; })) {
    return is_float ? like.Like(static_cast<double>(values[0]))
                    : like.LikeInt(static_cast<int64_t>(values[0]));
  }
  const Type element = like.type().element_type();
  const size_t width = ElementByteWidth(element);
  std::string bytes(width * values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_float) {
      EncodeFloat(element, static_cast<double>(values[i]), &bytes[i * width]);
    } else {
      EncodeInt(element, static_cast<int64_t>(values[i]), &bytes[i * width]);
    }
  }
  Context& context = emit.context();
  const Type type = context.Tensor(layout.scale_dims, element);
  const Term constant =
      emit.Make1("stablehlo.constant", {}, type, {{"value", context.Dense(type, bytes)}});
  return Broadcast(constant, like.type().dims(), layout.axes);
}

template <typename T>
Term SpreadOn(Term like, absl::Span<const T> values, int64_t axis) {
  ScaleLayout layout;
  layout.axes = {axis};
  layout.scale_dims = {static_cast<int64_t>(values.size())};
  return Spread(like, values, layout);
}

// The integers up to 2^n that a float type has all of.
int ExactBits(Type expressed) {
  switch (expressed.primitive_type()) {
    case F64:
      return 53;
    case F32:
      return 24;
    case F16:
      return 11;
    case BF16:
      return 8;
    default:
      return 2;
  }
}

}  // namespace

bool AllZero(absl::Span<const int64_t> values) {
  return std::all_of(values.begin(), values.end(), [](int64_t v) { return v == 0; });
}

Term ConvertTo(Term x, Type element) {
  if (x.type().element_type() == element) return x;
  Context& context = x.emitter().context();
  return x.emitter().Make1("stablehlo.convert", {x}, context.Tensor(x.type().dims(), element));
}

Type StorageType(Context& context, Type type) {
  switch (type.kind()) {
    case TypeKind::kTensor:
      return IsQuantizedTensor(type)
                 ? context.Tensor(type.dims(), type.element_type().quantized().storage_type,
                                  type.bounds(), type.encoding())
                 : type;
    case TypeKind::kTuple:
    case TypeKind::kFuture:
    case TypeKind::kFunction:
      break;
    default:
      return type;
  }
  // The parser bounds how deep types nest.
  std::vector<Type> parts, results;
  for (Type part : type.elements()) parts.push_back(StorageType(context, part));
  if (type.Is(TypeKind::kTuple)) return context.Tuple(parts);
  if (type.Is(TypeKind::kFuture)) return context.Future(parts);
  for (Type part : type.results()) results.push_back(StorageType(context, part));
  return context.Function(parts, results);
}

Type ExpressedType(Context& context, Type quantized) {
  return context.Tensor(quantized.dims(), quantized.element_type().quantized().expressed_type,
                        quantized.bounds(), quantized.encoding());
}

Type WithQuantizedElement(Context& context, Type type, Type like) {
  return context.Tensor(type.dims(), like.element_type(), type.bounds(), type.encoding());
}

bool SameQuantization(Type a, Type b, bool any_axis) {
  if (a.element_type() == b.element_type()) return true;
  const QuantizedParams& p = a.element_type().quantized();
  const QuantizedParams& q = b.element_type().quantized();
  return p.storage_type == q.storage_type && p.expressed_type == q.expressed_type &&
         p.storage_min == q.storage_min && p.storage_max == q.storage_max &&
         (any_axis ? p.axes.size() == q.axes.size() : p.axes == q.axes) &&
         p.block_sizes == q.block_sizes && p.scale_dims == q.scale_dims && p.scales == q.scales &&
         p.zero_points == q.zero_points;
}

Term Dequantize(Term stored, Type type) {
  const QuantizedParams& params = type.element_type().quantized();
  const ScaleLayout layout = LayoutOf(type);
  const int width = params.storage_type.bit_width();
  Context& context = stored.emitter().context();
  Term x = Reshape(stored, layout.dims);
  if (AllZero(params.zero_points)) {
    x = ConvertTo(x, params.expressed_type);
  } else if (width <= ExactBits(params.expressed_type)) {
    x = ConvertTo(x, params.expressed_type);
    x = x - Spread(x, params.zero_points, layout);
  } else {
    x = ConvertTo(x, context.Integer(width <= 16 ? 32 : 64));
    x = ConvertTo(x - Spread(x, params.zero_points, layout), params.expressed_type);
  }
  return Reshape(x * Spread(x, params.scales, layout), type.dims());
}

Term RoundToStored(Term x, const QuantizedParams& params) {
  Emitter& emit = x.emitter();
  const int64_t low = params.storage_min, high = params.storage_max;
  const Type scalar = WithDims(emit.context(), x.type(), {});
  x = emit.Make1("stablehlo.clamp",
                 {emit.Constant(scalar, static_cast<double>(low)), x,
                  emit.Constant(scalar, static_cast<double>(high))},
                 x.type());
  const int64_t exact = int64_t{1} << ExactBits(x.type().element_type());
  x = ConvertTo(Unary("stablehlo.round_nearest_even", x), params.storage_type);
  // The conversion saturates, so only a range of the program's own can be left: by NaN, and where
  // the float type rounds an end of the range outwards.
  int64_t lowest, highest;
  DefaultStorageRange(params.storage_type, &lowest, &highest);
  if (low > 0 || high < 0 || (low != lowest && low < -exact) || (high != highest && high > exact))
    return ClampToStored(x, params);
  return x;
}

Term ClampToStored(Term x, const QuantizedParams& params) {
  Emitter& emit = x.emitter();
  const Type scalar = WithDims(emit.context(), x.type(), {});
  int64_t lowest, highest;
  DefaultStorageRange(x.type().element_type(), &lowest, &highest);
  return emit.Make1("stablehlo.clamp",
                    {emit.IntConstant(scalar, std::max(lowest, params.storage_min)), x,
                     emit.IntConstant(scalar, std::min(highest, params.storage_max))},
                    x.type());
}

Term SpreadAlong(Term like, absl::Span<const double> values, int64_t axis) {
  return SpreadOn(like, values, axis);
}
Term SpreadAlong(Term like, absl::Span<const int64_t> values, int64_t axis) {
  return SpreadOn(like, values, axis);
}

Term Quantize(Term x, Type type) {
  const QuantizedParams& params = type.element_type().quantized();
  const ScaleLayout layout = LayoutOf(type);
  x = Reshape(x, layout.dims);
  x = x / Spread(x, params.scales, layout);
  if (!AllZero(params.zero_points)) x = x + Spread(x, params.zero_points, layout);
  x = RoundToStored(x, params);
  return Reshape(x, type.dims());
}

Term Requantize(Term stored, Type from, Type to) {
  if (SameQuantization(from, to)) return stored;
  return Quantize(Dequantize(stored, from), to);
}

}  // namespace pjrt::ir
