// SPDX-License-Identifier: Apache-2.0
//
// dot_general and convolution of quantized operands. A factor is a stored integer less its zero
// point; products are summed as integers, and the sums scaled once.
//
// Where a factor takes more bits than the stored integer, the sums are made of what is stored,
// which is quicker, and mended: with a = a' - ea and b = b' - eb,
//
//   sum a b = sum a' b' - eb (sum a' - n ea) - ea sum b'
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

#include "pjrt/ir/op_attributes.h"
#include "src/core/ir/element.h"
#include "src/core/passes/expand_quantized.h"
#include "src/core/passes/quantized_arithmetic.h"

namespace pjrt::ir {
namespace {

constexpr double kExactF64 = 0x1p53;
constexpr double kWrapS32 = 0x1p31;
// Sums along an operand cost about as much as a product with so few rows, and what mends a
// convolution's sums as much as so few terms.
constexpr int64_t kFewRows = 4;
constexpr int64_t kFewTerms = 48;

struct Range {
  int64_t low, high;
  bool Within(int64_t l, int64_t h) const { return low >= l && high <= h; }
  double magnitude() const { return static_cast<double>(std::max(-low, high)); }
};

Range StoredRange(const QuantizedParams& params) {
  Range range;
  DefaultStorageRange(params.storage_type, &range.low, &range.high);
  return range;
}

Range FactorRange(const QuantizedParams& params) {
  const Range stored = StoredRange(params);
  const auto [least, most] =
      std::minmax_element(params.zero_points.begin(), params.zero_points.end());
  return {stored.low - *most, stored.high - *least};
}

PrimitiveType SmallestType(Range range) {
  if (range.Within(-128, 127)) return S8;
  if (range.Within(0, 255)) return U8;
  if (range.Within(-32768, 32767)) return S16;
  return S32;
}

Range Join(Range a, Range b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

// What is multiplied in the place of factors.
struct Factor {
  Term x;
  std::vector<int64_t> excess;  // what each x is more than its factor; one a scale, or empty
};

bool IsSmall(const QuantizedParams& params) { return params.storage_type.bit_width() <= 8; }

// The factors, or stored integers less `base`, in a type that holds them, so that it does not
// matter where differences wrap.
Term FactorsIn(Term stored, const QuantizedParams& params, PrimitiveType type) {
  const Term x = Convert(stored, type);
  if (AllZero(params.zero_points)) return x;
  return x - SpreadAlong(x, params.zero_points, params.IsPerTensor() ? 0 : params.axes[0]);
}
Factor StoredIn(Term stored, const QuantizedParams& params, PrimitiveType type, int64_t base) {
  Term x = Convert(stored, type);
  if (base != 0) x = x - x.LikeInt(base);
  Factor factor = {x, {}};
  for (const int64_t zero_point : params.zero_points) factor.excess.push_back(zero_point - base);
  return factor;
}

// --- From sums to results ---

// What a sum stands for is sum * product / quotient + zero_point, all per index of dimension `axis`
// of the result or one for all.
struct Scaling {
  int64_t axis = 0;
  std::vector<double> product, quotient, ratio;
  enum { kNothing, kMultiply, kDivide } form = kNothing;
};

double RoundedTo(Type element, double value) {
  char bytes[8];
  EncodeFloat(element, value, bytes);
  return DecodeFloat(element, bytes);
}

// The odd factor of a positive number below 2^53.
int64_t OddPart(double value) {
  int exponent;
  auto mantissa = static_cast<int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
  while (mantissa % 2 == 0) mantissa /= 2;
  return mantissa;
}

// Whether n * (product / quotient) rounds as n * product / quotient for |n| <= `bound` where the
// result is in range: the ratio is exact, or no result lies half way between two integers.
bool RatioWillDo(double product, double quotient, double ratio, double bound, double range) {
  if (std::fma(ratio, quotient, -product) == 0) return true;
  const int64_t p = OddPart(product), q = OddPart(quotient), common = std::gcd(p, q);
  return static_cast<double>(q / common) > bound || static_cast<double>(p / common) > 2 * range + 1;
}

// nullopt where the scales of operand and result lie along different dimensions, or are out of the
// range in which doubles are exact.
std::optional<Scaling> ScalingOf(const QuantizedParams& a, const QuantizedParams& b,
                                 std::optional<int64_t> b_axis, const QuantizedParams& result,
                                 double bound) {
  Scaling scaling;
  const bool per_axis = result.IsPerAxis();
  if (per_axis && b_axis && result.axes[0] != *b_axis) return std::nullopt;
  scaling.axis = per_axis ? result.axes[0] : b_axis.value_or(0);
  const size_t n = std::max(b.scales.size(), result.scales.size());
  for (size_t i = 0; i < n; ++i) {
    const auto scale = [i](const QuantizedParams& params) {
      return params.scales[params.scales.size() == 1 ? 0 : i];
    };
    const double product = scale(a) * scale(b), quotient = scale(result);
    // The scale of sums themselves, as the expressed type holds it.
    const bool is_product = RoundedTo(result.expressed_type, product) == quotient;
    const double ratio = is_product ? 1 : product / quotient;
    for (const double x : {product, quotient, ratio}) {
      if (!(x > 0x1p-900 && x < 0x1p900)) return std::nullopt;
    }
    scaling.product.push_back(product);
    scaling.quotient.push_back(quotient);
    scaling.ratio.push_back(ratio);
    const int64_t zero_point = result.zero_points[result.scales.size() == 1 ? 0 : i];
    const double range = static_cast<double>(
        std::max(result.storage_max - zero_point, zero_point - result.storage_min) + 1);
    if (bound * std::abs(ratio - 1) < 0.49) continue;
    const bool multiplies = RatioWillDo(product, quotient, ratio, bound, range);
    scaling.form = multiplies ? std::max(scaling.form, Scaling::kMultiply) : Scaling::kDivide;
  }
  return scaling;
}

Term Requantized(Term sum, double bound, const Scaling& scaling, Type result) {
  const QuantizedParams& params = result.element_type().quantized();
  const int64_t axis = params.IsPerTensor() ? 0 : params.axes[0];
  const auto add_zero_points = [&](Term x) {
    return AllZero(params.zero_points) ? x : x + SpreadAlong(x, params.zero_points, axis);
  };
  if (scaling.form == Scaling::kNothing && sum.element() == S32) {
    const auto [least, most] =
        std::minmax_element(params.zero_points.begin(), params.zero_points.end());
    const double low = static_cast<double>(*least) - bound;
    const double high = static_cast<double>(*most) + bound;
    if (low >= -kWrapS32 && high < kWrapS32) {
      Term x = add_zero_points(sum);
      if (low < static_cast<double>(params.storage_min) ||
          high > static_cast<double>(params.storage_max))
        x = ClampToStored(x, params);
      return ConvertTo(x, params.storage_type);
    }
  }
  Term x = Convert(sum, F64);
  if (scaling.form == Scaling::kMultiply) x = x * SpreadAlong(x, scaling.ratio, scaling.axis);
  if (scaling.form == Scaling::kDivide) {
    x = x * SpreadAlong(x, scaling.product, scaling.axis) /
        SpreadAlong(x, scaling.quotient, scaling.axis);
  }
  x = add_zero_points(x);
  if (params.storage_type.bit_width() > 16) return RoundToStored(x, params);
  // Integers are quicker to clamp than doubles. Converting to 32 bits saturates.
  x = Convert(Unary("stablehlo.round_nearest_even", x), S32);
  return ConvertTo(ClampToStored(x, params), params.storage_type);
}

// --- Products of matrices ---

DotDimensionNumbers NumbersOf(const Op& op) {
  if (!op.Is(OpCode::kDot)) return *DotDimensionNumbers::From(op.attr("dot_dimension_numbers"));
  DotDimensionNumbers numbers;
  numbers.lhs_contracting_dimensions = {op.operand_type(0).rank() - 1};
  numbers.rhs_contracting_dimensions = {0};
  return numbers;
}

// For each dimension of an operand that of the result, or -1 where it is summed over. `next` is the
// first of the result that stands for a dimension of this operand alone.
DimList DimsInResult(Type operand, const DimList& batch, const DimList& summed, int64_t* next) {
  DimList places;
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const auto at = std::find(batch.begin(), batch.end(), d);
    const bool is_summed = std::find(summed.begin(), summed.end(), d) != summed.end();
    places.push_back(at != batch.end() ? at - batch.begin() : is_summed ? -1 : (*next)++);
  }
  return places;
}

int64_t CountOf(Type type, const DimList& places, bool summed) {
  int64_t count = 1;
  for (size_t d = 0; d < places.size(); ++d) {
    if ((places[d] < 0) == summed) count *= type.dims()[d];
  }
  return count;
}

// Sums over what the product sums over.
Term SumsOf(Term x, const DimList& summed) { return Sum(Convert(x, S32), summed); }

Term InResult(Term sums, const DimList& places, absl::Span<const int64_t> shape) {
  DimList kept;
  for (const int64_t place : places) {
    if (place >= 0) kept.push_back(place);
  }
  return Broadcast(sums, shape, kept);
}

Value* MultiplyMatrices(Emitter& emit, const Op& op, absl::Span<Value* const> stored,
                        const QuantizedParams& a, const QuantizedParams& b, Type result) {
  const DotDimensionNumbers numbers = NumbersOf(op);
  const Term left = emit(stored[0]), right = emit(stored[1]);
  int64_t next = static_cast<int64_t>(numbers.lhs_batching_dimensions.size());
  const DimList left_dims = DimsInResult(left.type(), numbers.lhs_batching_dimensions,
                                         numbers.lhs_contracting_dimensions, &next);
  const DimList right_dims = DimsInResult(right.type(), numbers.rhs_batching_dimensions,
                                          numbers.rhs_contracting_dimensions, &next);
  const int64_t terms = CountOf(left.type(), left_dims, true);
  std::optional<int64_t> axis;
  if (b.IsPerAxis()) axis = right_dims[static_cast<size_t>(b.axes[0])];
  const double bound = std::max(
      1.0, static_cast<double>(terms) * FactorRange(a).magnitude() * FactorRange(b).magnitude());
  if (bound >= kExactF64 || (axis && *axis < 0)) return nullptr;
  const std::optional<Scaling> scaling =
      ScalingOf(a, b, axis, result.element_type().quantized(), bound);
  if (!scaling) return nullptr;

  const bool wide = bound >= kWrapS32;
  const PrimitiveType a_type = SmallestType(FactorRange(a)), b_type = SmallestType(FactorRange(b));
  // The quickest products are of bytes, the second operand's signed.
  const bool sums_a =
      !wide && IsSmall(b) && b_type != S8 && CountOf(right.type(), right_dims, false) > kFewRows;
  const bool sums_b =
      !wide && IsSmall(a) && a_type == S16 && CountOf(left.type(), left_dims, false) > kFewRows;
  const Factor x = sums_b ? StoredIn(left, a, StoredRange(a).low == 0 ? U8 : S8, 0)
                          : Factor{FactorsIn(left, a, wide ? F64 : a_type), {}};
  const int64_t base = StoredRange(b).low == 0 ? 128 : 0;
  const Factor y =
      sums_a ? StoredIn(right, b, S8, base) : Factor{FactorsIn(right, b, wide ? F64 : b_type), {}};
  Context& context = emit.context();
  Term sum = emit.Make1("stablehlo.dot_general", {x.x, y.x},
                        WithElement(context, StorageType(context, result), wide ? F64 : S32),
                        {{"dot_dimension_numbers", numbers.ToAttr(context)}});
  const absl::Span<const int64_t> shape = result.dims();
  if (sums_a) {
    Term sums = SumsOf(x.x, numbers.lhs_contracting_dimensions);
    if (sums_b) sums = sums - sums.LikeInt(terms * x.excess[0]);
    sums = InResult(sums, left_dims, shape);
    sum = sum - sums * SpreadAlong(sums, y.excess, axis.value_or(0));
  }
  if (sums_b) {
    const Term sums = SumsOf(y.x, numbers.rhs_contracting_dimensions);
    sum = sum - InResult(sums * sums.LikeInt(x.excess[0]), right_dims, shape);
  }
  return Requantized(sum, bound, *scaling, result).value();
}

// --- Convolutions ---

// `x` with zeros of the convolution's padding written as `zero`.
Term Padded(Term x, int64_t zero, const ConvDimensionNumbers& numbers, const WindowAttrs& window) {
  DimList low(x.type().dims().size(), 0), high = low,
                                          dims(x.type().dims().begin(), x.type().dims().end());
  bool any = false;
  for (size_t i = 0; i < window.dimensions.size(); ++i) {
    const auto d = static_cast<size_t>(numbers.input_spatial_dimensions[i]);
    low[d] = window.dimensions[i].padding_low;
    high[d] = window.dimensions[i].padding_high;
    dims[d] += low[d] + high[d];
    any |= low[d] != 0 || high[d] != 0;
  }
  if (!any) return x;
  Emitter& emit = x.emitter();
  Context& context = emit.context();
  return emit.Make1("stablehlo.pad", {x, emit.IntConstant(WithDims(context, x.type(), {}), zero)},
                    WithDims(context, x.type(), dims),
                    {{"edge_padding_low", context.I64Array(low)},
                     {"edge_padding_high", context.I64Array(high)},
                     {"interior_padding", context.I64Array(DimList(low.size(), 0))}});
}

Value* Convolve(Emitter& emit, const Op& op, absl::Span<Value* const> stored,
                const QuantizedParams& a, const QuantizedParams& b, Type result) {
  const std::optional<ConvDimensionNumbers> numbers =
      ConvDimensionNumbers::From(op.attr("dimension_numbers"));
  const std::optional<WindowAttrs> window = WindowAttrs::From(op);
  if (!numbers || !window) return nullptr;
  const Term input = emit(stored[0]), kernel = emit(stored[1]);
  const int64_t features = numbers->kernel_output_feature_dimension;
  const int64_t terms =
      kernel.type().element_count() / std::max<int64_t>(kernel.type().dim(features), 1);
  const double bound = std::max(
      1.0, static_cast<double>(terms) * FactorRange(a).magnitude() * FactorRange(b).magnitude());
  if (bound >= kExactF64) return nullptr;
  std::optional<int64_t> axis;
  if (b.IsPerAxis()) axis = numbers->output_feature_dimension;
  const std::optional<Scaling> scaling =
      ScalingOf(a, b, axis, result.element_type().quantized(), bound);
  if (!scaling) return nullptr;

  // Both operands have one type: that of the factors, or of what is stored of the input where this
  // is narrower. Then what padding stands for is written out; holes of a dilated input are not.
  const PrimitiveType type = SmallestType(Join(FactorRange(a), FactorRange(b)));
  const PrimitiveType stored_type = SmallestType(Join(StoredRange(a), FactorRange(b)));
  bool padded = false, dilated = false;
  for (const WindowDimension& d : window->dimensions) {
    padded |= d.padding_low != 0 || d.padding_high != 0;
    dilated |= d.base_dilation != 1;
  }
  const bool wide = bound >= kWrapS32;
  const bool sums_kernel =
      !wide && !dilated && terms > kFewTerms && ByteWidth(stored_type) < ByteWidth(type);
  const PrimitiveType common = wide ? F64 : sums_kernel ? stored_type : type;
  const int64_t zero_point = a.zero_points[0];
  const Term x = sums_kernel ? Padded(Convert(input, common), zero_point, *numbers, *window)
                             : FactorsIn(input, a, common);
  const Term y = FactorsIn(kernel, b, common);
  std::vector<NamedAttribute> attributes;
  for (const NamedAttribute& attribute : op.attributes()) {
    const bool done = sums_kernel && padded && attribute.name == "padding";
    if (!done && attribute.name != "precision_config") attributes.push_back(attribute);
  }
  Context& context = emit.context();
  const Type sum_type = WithElement(context, StorageType(context, result), wide ? F64 : S32);
  Term sum = emit(
      emit.Make("stablehlo.convolution", {x.value(), y.value()}, {sum_type}, attributes)->result());
  if (sums_kernel) {
    DimList summed;
    for (int64_t d = 0; d < kernel.type().rank(); ++d) {
      if (d != features) summed.push_back(d);
    }
    const Term sums = SumsOf(y, summed);
    sum = sum - Broadcast(sums * sums.LikeInt(zero_point), result.dims(),
                          {numbers->output_feature_dimension});
  }
  return Requantized(sum, bound, *scaling, result).value();
}

}  // namespace

Value* MultiplyStoredIntegers(Emitter& emit, const Op& op, absl::Span<Value* const> stored,
                              absl::Span<const Type> types, Type result) {
  const bool convolves = op.Is(OpCode::kConvolution);
  if (!convolves && !op.Is(OpCode::kDotGeneral) && !op.Is(OpCode::kDot)) return nullptr;
  if (!IsQuantizedTensor(types[0]) || !IsQuantizedTensor(types[1]) || !IsQuantizedTensor(result))
    return nullptr;
  const QuantizedParams& a = types[0].element_type().quantized();
  const QuantizedParams& b = types[1].element_type().quantized();
  const QuantizedParams& c = result.element_type().quantized();
  const auto has_simple_scales = [](const QuantizedParams& params) {
    return params.IsPerTensor() || params.IsPerAxis();
  };
  if (!a.IsPerTensor() || !has_simple_scales(b) || !has_simple_scales(c)) return nullptr;
  return convolves ? Convolve(emit, op, stored, a, b, result)
                   : MultiplyMatrices(emit, op, stored, a, b, result);
}

}  // namespace pjrt::ir
