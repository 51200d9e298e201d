// SPDX-License-Identifier: Apache-2.0
//
// The structured attributes of ops as plain C++ values, for passes and backends:
//
//   const auto numbers = DotDimensionNumbers::From(op.attr("dot_dimension_numbers"));
//   const std::optional<WindowAttrs> window = WindowAttrs::From(op);
//
// Every From() gives nullopt when the attribute is absent, of another kind or has a field of the
// wrong type, and fills fields that the text left out with their defaults. It does not check what
// the verifier checks (ranges, uniqueness, ranks). On a verified op the mandatory attributes of the
// op's row are always there. All functions are safe to call from several threads.
#ifndef PJRT_IR_OP_ATTRIBUTES_H_
#define PJRT_IR_OP_ATTRIBUTES_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ir/attributes.h"
#include "pjrt/ir/opcode.h"
#include "pjrt/ir/types.h"

namespace pjrt::ir {

class Context;
class Op;

using DimList = absl::InlinedVector<int64_t, 6>;

// --- Enums. Their numbers are the positions in EnumValues() of op_set.h. ---

enum class ComparisonDirection : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };
enum class ComparisonType : uint8_t { kNoType, kFloat, kTotalOrder, kSigned, kUnsigned };
enum class Precision : uint8_t { kDefault, kHigh, kHighest };
enum class FftType : uint8_t { kFft, kIfft, kRfft, kIrfft };
enum class Transpose : uint8_t { kInvalid, kNoTranspose, kTranspose, kAdjoint };
enum class RngDistribution : uint8_t { kUniform = 1, kNormal = 2 };
enum class RngAlgorithm : uint8_t { kDefault, kThreeFry, kPhilox };
enum class ResultAccuracyMode : uint8_t { kDefault, kHighest, kTolerance };

// The value of an enum attribute: EnumFrom<FftType>(op.attr("fft_type")). CHLO's enums of the same
// name are read as well.
template <typename Enum>
std::optional<Enum> EnumFrom(Attribute attr);
// The attribute of a value, in StableHLO's dialect.
template <typename Enum>
Attribute EnumToAttr(Context& context, Enum value);

// How `compare` compares when it has no compare_type: kFloat for floats and complex numbers,
// kUnsigned for i1 and unsigned integers, kSigned for others. `element` is an element type.
ComparisonType DefaultComparisonType(Type element);

// The precision of each operand of dot, dot_general, convolution; kDefault where `precision_config`
// has none. A list of one value stands for both operands.
struct OperandPrecision {
  Precision lhs = Precision::kDefault;
  Precision rhs = Precision::kDefault;
  static OperandPrecision From(Attribute precision_config);
};

// --- Structs. Names as in the StableHLO specification. ---

struct GatherDimensionNumbers {  // stablehlo.gather
  DimList offset_dims;
  DimList collapsed_slice_dims;
  DimList operand_batching_dims;
  DimList start_indices_batching_dims;
  DimList start_index_map;
  int64_t index_vector_dim = 0;
  static std::optional<GatherDimensionNumbers> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

struct ScatterDimensionNumbers {  // stablehlo.scatter
  DimList update_window_dims;
  DimList inserted_window_dims;
  DimList input_batching_dims;
  DimList scatter_indices_batching_dims;
  DimList scatter_dims_to_operand_dims;
  int64_t index_vector_dim = 0;
  static std::optional<ScatterDimensionNumbers> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

struct DotDimensionNumbers {  // stablehlo.dot
  DimList lhs_batching_dimensions;
  DimList rhs_batching_dimensions;
  DimList lhs_contracting_dimensions;
  DimList rhs_contracting_dimensions;
  static std::optional<DotDimensionNumbers> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

struct RaggedDotDimensionNumbers {  // chlo.ragged_dot
  DimList lhs_batching_dimensions;
  DimList rhs_batching_dimensions;
  DimList lhs_contracting_dimensions;
  DimList rhs_contracting_dimensions;
  DimList lhs_ragged_dimensions;
  DimList rhs_group_dimensions;
  static std::optional<RaggedDotDimensionNumbers> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

struct ConvDimensionNumbers {  // stablehlo.conv
  int64_t input_batch_dimension = 0;
  int64_t input_feature_dimension = 0;
  DimList input_spatial_dimensions;
  int64_t kernel_input_feature_dimension = 0;
  int64_t kernel_output_feature_dimension = 0;
  DimList kernel_spatial_dimensions;
  int64_t output_batch_dimension = 0;
  int64_t output_feature_dimension = 0;
  DimList output_spatial_dimensions;
  static std::optional<ConvDimensionNumbers> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

struct DotAlgorithm {  // stablehlo.dot_algorithm
  Type lhs_precision_type;
  Type rhs_precision_type;
  Type accumulation_type;
  int64_t lhs_component_count = 1;
  int64_t rhs_component_count = 1;
  int64_t num_primitive_operations = 1;
  bool allow_imprecise_accumulation = false;
  static std::optional<DotAlgorithm> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

struct ChannelHandle {  // stablehlo.channel_handle
  int64_t handle = 0;
  int64_t type = 0;  // 0 collective, 1 device to device, 2 device to host, 3 host to device
  static std::optional<ChannelHandle> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

struct ResultAccuracy {  // stablehlo.result_accuracy
  double atol = 0;
  double rtol = 0;
  int64_t ulps = 0;
  ResultAccuracyMode mode = ResultAccuracyMode::kDefault;
  static std::optional<ResultAccuracy> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

struct OutputOperandAlias {  // stablehlo.output_operand_alias
  DimList output_tuple_indices;
  int64_t operand_index = 0;
  DimList operand_tuple_indices;
  static std::optional<OutputOperandAlias> From(Attribute attr);
  Attribute ToAttr(Context& context) const;
};

// --- Windows of convolution, reduce_window and select_and_scatter ---

// How a window moves along one dimension. Sizes and distances in elements.
struct WindowDimension {
  int64_t size = 1;
  int64_t stride = 1;
  int64_t padding_low = 0;  // negative padding crops
  int64_t padding_high = 0;
  int64_t base_dilation = 1;    // from one element of the base to the next: lhs_dilation
  int64_t window_dilation = 1;  // from one element of the window to the next: rhs_dilation
  bool reversal = false;        // convolution only

  // The size of the base once dilated and padded; kDynamic for a dynamic `base_size`. Negative when
  // padding crops more than there is.
  int64_t PaddedSize(int64_t base_size) const;
  // The size of the window once dilated.
  int64_t DilatedSize() const;
  // The number of places of the window on a base of that size: 0 when it does not fit, kDynamic for
  // a dynamic `base_size` or size.
  int64_t OutputSize(int64_t base_size) const;
};

struct WindowAttrs {
  absl::InlinedVector<WindowDimension, 4> dimensions;

  // reduce_window, select_and_scatter: an entry a dimension of the operand. convolution,
  // dynamic_conv: an entry a spatial dimension, in the order of the spatial dimension numbers,
  // sizes from the kernel's type; dynamic_conv's padding is 0. nullopt for other ops, and when a
  // list of the op has not as many values as there are dimensions.
  static std::optional<WindowAttrs> From(const Op& op);
  // The same of attributes that are not yet an op's; `rank` is the number of dimensions and sizes
  // of convolutions are left at 1.
  static std::optional<WindowAttrs> From(OpCode code, absl::Span<const NamedAttribute> attributes,
                                         size_t rank);
};

// The rows of a matrix attribute (`padding`, `source_target_pairs`, `replica_groups`): dense<...> :
// tensor<NxMxi64>, splats expanded. False for anything else, and for more than a million values;
// outputs are then unchanged.
bool GetIntMatrix(Attribute attr, DimList* values, int64_t* rows, int64_t* columns);

}  // namespace pjrt::ir

#endif  // PJRT_IR_OP_ATTRIBUTES_H_
