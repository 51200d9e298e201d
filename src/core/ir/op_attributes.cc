// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ir/op_attributes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "pjrt/ir/context.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_set.h"
#include "src/core/ir/element.h"

namespace pjrt::ir {
namespace {

constexpr int64_t kMostMatrixValues = 1 << 20;

// --- Enums ---

template <typename Enum>
struct EnumName;
#define PJRT_ENUM_NAME(Enum, text)                   \
  template <>                                        \
  struct EnumName<Enum> {                            \
    static constexpr absl::string_view kName = text; \
  };
PJRT_ENUM_NAME(ComparisonDirection, "stablehlo.comparison_direction")
PJRT_ENUM_NAME(ComparisonType, "stablehlo.comparison_type")
PJRT_ENUM_NAME(Precision, "stablehlo.precision")
PJRT_ENUM_NAME(FftType, "stablehlo.fft_type")
PJRT_ENUM_NAME(Transpose, "stablehlo.transpose")
PJRT_ENUM_NAME(RngDistribution, "stablehlo.rng_distribution")
PJRT_ENUM_NAME(RngAlgorithm, "stablehlo.rng_algorithm")
PJRT_ENUM_NAME(ResultAccuracyMode, "stablehlo.result_accuracy_mode")
#undef PJRT_ENUM_NAME

absl::string_view WithoutDialect(absl::string_view name) { return name.substr(name.find('.') + 1); }

// --- Structs: one list of fields for reading and for writing ---

// Reads the fields of a struct attribute into a C++ struct. Absent fields keep their defaults.
class FieldReader {
 public:
  FieldReader(Attribute attr, absl::string_view name)
      : attr_(attr), ok_(attr.Is(AttrKind::kStruct) && attr.name() == name) {}

  void Field(absl::string_view name, DimList& out) {
    if (Attribute a = Get(name)) ok_ = GetIntList(a, &out) && ok_;
  }
  void Field(absl::string_view name, int64_t& out) {
    if (Attribute a = Get(name)) Set(a.Is(AttrKind::kInteger), a.AsInt(), out);
  }
  void Field(absl::string_view name, bool& out) {
    if (Attribute a = Get(name))
      Set(a.Is(AttrKind::kBool) || a.Is(AttrKind::kInteger), a.AsBool(), out);
  }
  void Field(absl::string_view name, double& out) {
    if (Attribute a = Get(name)) Set(a.Is(AttrKind::kFloat), a.AsFloat(), out);
  }
  void Field(absl::string_view name, Type& out) {
    if (Attribute a = Get(name)) Set(a.Is(AttrKind::kType), a.AsType(), out);
  }
  void Field(absl::string_view name, ResultAccuracyMode& out) {
    if (Attribute a = Get(name)) {
      const std::optional<ResultAccuracyMode> mode = EnumFrom<ResultAccuracyMode>(a);
      Set(mode.has_value(), mode.value_or(out), out);
    }
  }
  bool ok() const { return ok_; }

 private:
  Attribute Get(absl::string_view name) const { return ok_ ? attr_.Get(name) : Attribute(); }
  template <typename T>
  void Set(bool valid, T value, T& out) {
    if (valid) {
      out = value;
    } else {
      ok_ = false;
    }
  }
  Attribute attr_;
  bool ok_;
};

class FieldWriter {
 public:
  explicit FieldWriter(Context& context) : context_(context) {}
  void Field(absl::string_view name, const DimList& v) { Put(name, context_.I64Array(v)); }
  void Field(absl::string_view name, int64_t v) { Put(name, context_.I64(v)); }
  void Field(absl::string_view name, bool v) { Put(name, context_.Bool(v)); }
  void Field(absl::string_view name, double v) {
    Put(name, context_.Float(v, context_.Float("f64")));
  }
  void Field(absl::string_view name, Type v) { Put(name, context_.TypeAttr(v)); }
  void Field(absl::string_view name, ResultAccuracyMode v) { Put(name, EnumToAttr(context_, v)); }
  Attribute Finish(absl::string_view struct_name) { return context_.Struct(struct_name, entries_); }

 private:
  void Put(absl::string_view name, Attribute value) { entries_.push_back({name, value}); }
  Context& context_;
  absl::InlinedVector<NamedAttribute, 9> entries_;
};

template <typename S, typename Visitor>
void VisitGather(S& s, Visitor& v) {
  v.Field("offset_dims", s.offset_dims);
  v.Field("collapsed_slice_dims", s.collapsed_slice_dims);
  v.Field("operand_batching_dims", s.operand_batching_dims);
  v.Field("start_indices_batching_dims", s.start_indices_batching_dims);
  v.Field("start_index_map", s.start_index_map);
  v.Field("index_vector_dim", s.index_vector_dim);
}

template <typename S, typename Visitor>
void VisitScatter(S& s, Visitor& v) {
  v.Field("update_window_dims", s.update_window_dims);
  v.Field("inserted_window_dims", s.inserted_window_dims);
  v.Field("input_batching_dims", s.input_batching_dims);
  v.Field("scatter_indices_batching_dims", s.scatter_indices_batching_dims);
  v.Field("scatter_dims_to_operand_dims", s.scatter_dims_to_operand_dims);
  v.Field("index_vector_dim", s.index_vector_dim);
}

template <typename S, typename Visitor>
void VisitDot(S& s, Visitor& v) {
  v.Field("lhs_batching_dimensions", s.lhs_batching_dimensions);
  v.Field("rhs_batching_dimensions", s.rhs_batching_dimensions);
  v.Field("lhs_contracting_dimensions", s.lhs_contracting_dimensions);
  v.Field("rhs_contracting_dimensions", s.rhs_contracting_dimensions);
}

template <typename S, typename Visitor>
void VisitRaggedDot(S& s, Visitor& v) {
  VisitDot(s, v);
  v.Field("lhs_ragged_dimensions", s.lhs_ragged_dimensions);
  v.Field("rhs_group_dimensions", s.rhs_group_dimensions);
}

template <typename S, typename Visitor>
void VisitConv(S& s, Visitor& v) {
  v.Field("input_batch_dimension", s.input_batch_dimension);
  v.Field("input_feature_dimension", s.input_feature_dimension);
  v.Field("input_spatial_dimensions", s.input_spatial_dimensions);
  v.Field("kernel_input_feature_dimension", s.kernel_input_feature_dimension);
  v.Field("kernel_output_feature_dimension", s.kernel_output_feature_dimension);
  v.Field("kernel_spatial_dimensions", s.kernel_spatial_dimensions);
  v.Field("output_batch_dimension", s.output_batch_dimension);
  v.Field("output_feature_dimension", s.output_feature_dimension);
  v.Field("output_spatial_dimensions", s.output_spatial_dimensions);
}

template <typename S, typename Visitor>
void VisitDotAlgorithm(S& s, Visitor& v) {
  v.Field("lhs_precision_type", s.lhs_precision_type);
  v.Field("rhs_precision_type", s.rhs_precision_type);
  v.Field("accumulation_type", s.accumulation_type);
  v.Field("lhs_component_count", s.lhs_component_count);
  v.Field("rhs_component_count", s.rhs_component_count);
  v.Field("num_primitive_operations", s.num_primitive_operations);
  v.Field("allow_imprecise_accumulation", s.allow_imprecise_accumulation);
}

template <typename S, typename Visitor>
void VisitChannelHandle(S& s, Visitor& v) {
  v.Field("handle", s.handle);
  v.Field("type", s.type);
}

template <typename S, typename Visitor>
void VisitResultAccuracy(S& s, Visitor& v) {
  v.Field("atol", s.atol);
  v.Field("rtol", s.rtol);
  v.Field("ulps", s.ulps);
  v.Field("mode", s.mode);
}

template <typename S, typename Visitor>
void VisitAlias(S& s, Visitor& v) {
  v.Field("output_tuple_indices", s.output_tuple_indices);
  v.Field("operand_index", s.operand_index);
  v.Field("operand_tuple_indices", s.operand_tuple_indices);
}

// --- Windows ---

Attribute Find(absl::Span<const NamedAttribute> attributes, absl::string_view name) {
  for (const NamedAttribute& a : attributes) {
    if (a.name == name) return a.value;
  }
  return {};
}

// Hands each value of a list attribute to `set(dimension, value)`; an absent attribute leaves the
// defaults. False when the attribute is no list of as many values as there are dimensions.
template <typename Set>
bool ReadWindowList(absl::Span<const NamedAttribute> attributes, absl::string_view name,
                    WindowAttrs& window, Set set) {
  const Attribute attr = Find(attributes, name);
  if (!attr) return true;
  DimList values;
  if (!GetIntList(attr, &values) || values.size() != window.dimensions.size()) return false;
  for (size_t i = 0; i < values.size(); ++i) set(window.dimensions[i], values[i]);
  return true;
}

bool ReadPadding(Attribute attr, WindowAttrs& window) {
  if (!attr) return true;
  DimList values;
  int64_t rows = 0, columns = 0;
  if (!GetIntMatrix(attr, &values, &rows, &columns)) return false;
  if (static_cast<size_t>(rows) != window.dimensions.size() || columns != 2) return false;
  for (size_t i = 0; i < window.dimensions.size(); ++i) {
    window.dimensions[i].padding_low = values[2 * i];
    window.dimensions[i].padding_high = values[2 * i + 1];
  }
  return true;
}

// (size - 1) * dilation + 1 and so on may overflow on hostile numbers: saturated at the limits of
// int64_t.
int64_t ClampedSum(int64_t a, int64_t b) {
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() + 1;
}
int64_t ClampedProduct(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a > 0) == (b > 0) ? std::numeric_limits<int64_t>::max()
                            : std::numeric_limits<int64_t>::min() + 1;
}
int64_t Dilate(int64_t size, int64_t dilation) {
  return size <= 0 ? 0 : ClampedSum(ClampedProduct(size - 1, dilation), 1);
}

}  // namespace

template <typename Enum>
std::optional<Enum> EnumFrom(Attribute attr) {
  if (!attr.Is(AttrKind::kEnum)) return std::nullopt;
  if (WithoutDialect(attr.name()) != WithoutDialect(EnumName<Enum>::kName)) return std::nullopt;
  const absl::Span<const absl::string_view> values = EnumValues(EnumName<Enum>::kName);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == attr.enum_value() && !values[i].empty()) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

template <typename Enum>
Attribute EnumToAttr(Context& context, Enum value) {
  const absl::Span<const absl::string_view> values = EnumValues(EnumName<Enum>::kName);
  const size_t i = static_cast<size_t>(value);
  return i < values.size() ? context.Enum(EnumName<Enum>::kName, values[i]) : Attribute();
}

#define PJRT_INSTANTIATE(Enum)                                 \
  template std::optional<Enum> EnumFrom<Enum>(Attribute attr); \
  template Attribute EnumToAttr<Enum>(Context & context, Enum value);
PJRT_INSTANTIATE(ComparisonDirection)
PJRT_INSTANTIATE(ComparisonType)
PJRT_INSTANTIATE(Precision)
PJRT_INSTANTIATE(FftType)
PJRT_INSTANTIATE(Transpose)
PJRT_INSTANTIATE(RngDistribution)
PJRT_INSTANTIATE(RngAlgorithm)
PJRT_INSTANTIATE(ResultAccuracyMode)
#undef PJRT_INSTANTIATE

ComparisonType DefaultComparisonType(Type element) {
  if (element.Is(TypeKind::kFloat) || element.Is(TypeKind::kComplex)) return ComparisonType::kFloat;
  const bool is_unsigned =
      element.Is(TypeKind::kInteger) &&
      (element.bit_width() == 1 || element.signedness() == Signedness::kUnsigned);
  return is_unsigned ? ComparisonType::kUnsigned : ComparisonType::kSigned;
}

OperandPrecision OperandPrecision::From(Attribute precision_config) {
  OperandPrecision out;
  if (!precision_config.Is(AttrKind::kArray)) return out;
  const absl::Span<const Attribute> list = precision_config.elements();
  if (!list.empty()) {
    out.lhs = EnumFrom<Precision>(list.front()).value_or(Precision::kDefault);
    out.rhs = EnumFrom<Precision>(list.back()).value_or(Precision::kDefault);
  }
  return out;
}

#define PJRT_STRUCT(Struct, name, Visit)               \
  std::optional<Struct> Struct::From(Attribute attr) { \
    Struct out;                                        \
    FieldReader reader(attr, name);                    \
    Visit(out, reader);                                \
    if (!reader.ok()) return std::nullopt;             \
    return out;                                        \
  }                                                    \
  Attribute Struct::ToAttr(Context& context) const {   \
    FieldWriter writer(context);                       \
    Visit(*this, writer);                              \
    return writer.Finish(name);                        \
  }
PJRT_STRUCT(GatherDimensionNumbers, "stablehlo.gather", VisitGather)
PJRT_STRUCT(ScatterDimensionNumbers, "stablehlo.scatter", VisitScatter)
PJRT_STRUCT(DotDimensionNumbers, "stablehlo.dot", VisitDot)
PJRT_STRUCT(RaggedDotDimensionNumbers, "chlo.ragged_dot", VisitRaggedDot)
PJRT_STRUCT(ConvDimensionNumbers, "stablehlo.conv", VisitConv)
PJRT_STRUCT(DotAlgorithm, "stablehlo.dot_algorithm", VisitDotAlgorithm)
PJRT_STRUCT(ChannelHandle, "stablehlo.channel_handle", VisitChannelHandle)
PJRT_STRUCT(ResultAccuracy, "stablehlo.result_accuracy", VisitResultAccuracy)
PJRT_STRUCT(OutputOperandAlias, "stablehlo.output_operand_alias", VisitAlias)
#undef PJRT_STRUCT

int64_t WindowDimension::PaddedSize(int64_t base_size) const {
  if (base_size == kDynamic) return kDynamic;
  return ClampedSum(ClampedSum(Dilate(base_size, base_dilation), padding_low), padding_high);
}

int64_t WindowDimension::DilatedSize() const {
  return size == kDynamic ? kDynamic : Dilate(size, window_dilation);
}

int64_t WindowDimension::OutputSize(int64_t base_size) const {
  const int64_t padded = PaddedSize(base_size);
  const int64_t window = DilatedSize();
  if (padded == kDynamic || window == kDynamic) return kDynamic;
  if (padded <= 0 || window > padded || stride <= 0) return 0;
  return (padded - window) / stride + 1;
}

std::optional<WindowAttrs> WindowAttrs::From(OpCode code,
                                             absl::Span<const NamedAttribute> attributes,
                                             size_t rank) {
  WindowAttrs window;
  window.dimensions.resize(rank);
  const auto size = [](WindowDimension& d, int64_t v) { d.size = v; };
  const auto stride = [](WindowDimension& d, int64_t v) { d.stride = v; };
  const auto base = [](WindowDimension& d, int64_t v) { d.base_dilation = v; };
  const auto dilation = [](WindowDimension& d, int64_t v) { d.window_dilation = v; };
  const auto reversal = [](WindowDimension& d, int64_t v) { d.reversal = v != 0; };
  if (!ReadWindowList(attributes, "window_strides", window, stride)) return std::nullopt;
  switch (code) {
    case OpCode::kReduceWindow:
    case OpCode::kSelectAndScatter:
      if (!ReadWindowList(attributes, "window_dimensions", window, size) ||
          !ReadWindowList(attributes, "base_dilations", window, base) ||
          !ReadWindowList(attributes, "window_dilations", window, dilation)) {
        return std::nullopt;
      }
      break;
    case OpCode::kConvolution:
    case OpCode::kDynamicConv:
      if (!ReadWindowList(attributes, "lhs_dilation", window, base) ||
          !ReadWindowList(attributes, "rhs_dilation", window, dilation) ||
          !ReadWindowList(attributes, "window_reversal", window, reversal)) {
        return std::nullopt;
      }
      break;
    default:
      return std::nullopt;
  }
  if (code != OpCode::kDynamicConv && !ReadPadding(Find(attributes, "padding"), window))
    return std::nullopt;
  return window;
}

std::optional<WindowAttrs> WindowAttrs::From(const Op& op) {
  if (op.Is(OpCode::kReduceWindow) || op.Is(OpCode::kSelectAndScatter)) {
    if (op.num_operands() == 0) return std::nullopt;
    return From(op.opcode(), op.attributes(), op.operand_type(0).dims().size());
  }
  const std::optional<ConvDimensionNumbers> numbers =
      ConvDimensionNumbers::From(op.attr("dimension_numbers"));
  if (!numbers || op.num_operands() < 2) return std::nullopt;
  const absl::Span<const int64_t> kernel = op.operand_type(1).dims();
  std::optional<WindowAttrs> window =
      From(op.opcode(), op.attributes(), numbers->kernel_spatial_dimensions.size());
  if (!window) return std::nullopt;
  for (size_t i = 0; i < window->dimensions.size(); ++i) {
    const size_t d = static_cast<size_t>(numbers->kernel_spatial_dimensions[i]);
    if (d >= kernel.size()) return std::nullopt;
    window->dimensions[i].size = kernel[d];
  }
  return window;
}

bool GetIntMatrix(Attribute attr, DimList* values, int64_t* rows, int64_t* columns) {
  if (!attr.Is(AttrKind::kDenseElements)) return false;
  const Type type = attr.type();
  const Type element = type.element_type();
  if (!type.HasStaticShape() || type.rank() != 2 || !element.Is(TypeKind::kInteger)) return false;
  const int64_t count = type.element_count();
  if (count > kMostMatrixValues) return false;
  const size_t width = ElementByteWidth(element);
  const size_t step = attr.IsSplat() ? 0 : width;
  const absl::Span<const char> bytes = attr.raw_data();
  if (count > 0 && bytes.size() < std::max(width, step * static_cast<size_t>(count))) return false;
  DimList list;
  list.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    list.push_back(DecodeInt(element, bytes.data() + static_cast<size_t>(i) * step));
  *values = std::move(list);
  *rows = type.dim(0);
  *columns = type.dim(1);
  return true;
}

}  // namespace pjrt::ir
