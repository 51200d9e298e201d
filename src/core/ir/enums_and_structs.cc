// SPDX-License-Identifier: Apache-2.0
//
// The enum and struct attributes of StableHLO, CHLO and sdy.

#include "pjrt/ir/op_set.h"

namespace pjrt::ir {
namespace {

using Name = absl::string_view;

constexpr Name kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr Name kComparisons[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr Name kPrecisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
constexpr Name kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr Name kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
constexpr Name kDistributions[] = {"", "UNIFORM", "NORMAL"};  // numbered from 1
constexpr Name kAlgorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
constexpr Name kAccuracyModes[] = {"DEFAULT", "HIGHEST", "TOLERANCE"};
constexpr Name kApiVersions[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                 "API_VERSION_STATUS_RETURNING",
                                 "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"};
constexpr Name kPropagation[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};

struct EnumRow {
  Name name;
  absl::Span<const Name> values;
};
constexpr EnumRow kEnums[] = {
    {"stablehlo.comparison_direction", kDirections},
    {"stablehlo.comparison_type", kComparisons},
    {"stablehlo.precision", kPrecisions},
    {"stablehlo.fft_type", kFftTypes},
    {"stablehlo.transpose", kTransposes},
    {"stablehlo.rng_distribution", kDistributions},
    {"stablehlo.rng_algorithm", kAlgorithms},
    {"stablehlo.result_accuracy_mode", kAccuracyModes},
    {"stablehlo.custom_call_api_version", kApiVersions},
    {"chlo.comparison_direction", kDirections},
    {"chlo.comparison_type", kComparisons},
    {"chlo.precision", kPrecisions},
    {"sdy.propagation_direction", kPropagation},
};

constexpr AttrSpec kGatherFields[] = {
    {"offset_dims", AttrType::kI64Array, true},
    {"collapsed_slice_dims", AttrType::kI64Array, true},
    {"operand_batching_dims", AttrType::kI64Array, true},
    {"start_indices_batching_dims", AttrType::kI64Array, true},
    {"start_index_map", AttrType::kI64Array, true},
    {"index_vector_dim", AttrType::kI64, true},
};
constexpr AttrSpec kScatterFields[] = {
    {"update_window_dims", AttrType::kI64Array, true},
    {"inserted_window_dims", AttrType::kI64Array, true},
    {"input_batching_dims", AttrType::kI64Array, true},
    {"scatter_indices_batching_dims", AttrType::kI64Array, true},
    {"scatter_dims_to_operand_dims", AttrType::kI64Array, true},
    {"index_vector_dim", AttrType::kI64, true},
};
constexpr AttrSpec kDotFields[] = {
    {"lhs_batching_dimensions", AttrType::kI64Array, true},
    {"rhs_batching_dimensions", AttrType::kI64Array, true},
    {"lhs_contracting_dimensions", AttrType::kI64Array, true},
    {"rhs_contracting_dimensions", AttrType::kI64Array, true},
};
constexpr AttrSpec kRaggedDotFields[] = {
    {"lhs_batching_dimensions", AttrType::kI64Array, true},
    {"rhs_batching_dimensions", AttrType::kI64Array, true},
    {"lhs_contracting_dimensions", AttrType::kI64Array, true},
    {"rhs_contracting_dimensions", AttrType::kI64Array, true},
    {"lhs_ragged_dimensions", AttrType::kI64Array, true},
    {"rhs_group_dimensions", AttrType::kI64Array, true},
};
constexpr AttrSpec kDotAlgorithmFields[] = {
    {"lhs_precision_type", AttrType::kType},
    {"rhs_precision_type", AttrType::kType},
    {"accumulation_type", AttrType::kType},
    {"lhs_component_count", AttrType::kI64},
    {"rhs_component_count", AttrType::kI64},
    {"num_primitive_operations", AttrType::kI64},
    {"allow_imprecise_accumulation", AttrType::kBool},
};
// Printed as [b, 0, f]x[0, i, o]->[b, 0, f]; these names come in the raw form.
constexpr AttrSpec kConvFields[] = {
    {"input_batch_dimension", AttrType::kI64, true},
    {"input_feature_dimension", AttrType::kI64, true},
    {"input_spatial_dimensions", AttrType::kI64Array, true},
    {"kernel_input_feature_dimension", AttrType::kI64, true},
    {"kernel_output_feature_dimension", AttrType::kI64, true},
    {"kernel_spatial_dimensions", AttrType::kI64Array, true},
    {"output_batch_dimension", AttrType::kI64, true},
    {"output_feature_dimension", AttrType::kI64, true},
    {"output_spatial_dimensions", AttrType::kI64Array, true},
};
constexpr AttrSpec kChannelHandleFields[] = {
    {"handle", AttrType::kI64, true},
    {"type", AttrType::kI64, true},
};
constexpr AttrSpec kOutputOperandAliasFields[] = {
    {"output_tuple_indices", AttrType::kI64Array},
    {"operand_index", AttrType::kI64},
    {"operand_tuple_indices", AttrType::kI64Array},
};
constexpr AttrSpec kResultAccuracyFields[] = {
    {"atol", AttrType::kF64, true},
    {"rtol", AttrType::kF64, true},
    {"ulps", AttrType::kI64, true},
    {"mode", AttrType::kEnum, false, "stablehlo.result_accuracy_mode"},
};
constexpr AttrSpec kMeshAxisFields[] = {
    {"name", AttrType::kString},
    {"size", AttrType::kI64},
};
constexpr AttrSpec kMeshFields[] = {
    {"axes", AttrType::kArray},
    {"device_ids", AttrType::kElements, true},
};
constexpr AttrSpec kAxisRefFields[] = {
    {"name", AttrType::kString},
    {"sub_axis_info", AttrType::kAnyAttr, true},  // printed (pre_size)size
};
constexpr AttrSpec kReplicaGroupMeshAxesFields[] = {
    {"mesh", AttrType::kAnyAttr},  // a symbol or a stablehlo.mesh
    {"axes", AttrType::kArray},
};

struct StructRow {
  Name name;
  absl::Span<const AttrSpec> fields;
};
constexpr StructRow kStructs[] = {
    {"stablehlo.gather", kGatherFields},
    {"stablehlo.scatter", kScatterFields},
    {"stablehlo.dot", kDotFields},
    {"stablehlo.dot_algorithm", kDotAlgorithmFields},
    {"stablehlo.conv", kConvFields},
    {"stablehlo.channel_handle", kChannelHandleFields},
    {"stablehlo.output_operand_alias", kOutputOperandAliasFields},
    {"stablehlo.result_accuracy", kResultAccuracyFields},
    {"stablehlo.mesh_axis", kMeshAxisFields},
    {"stablehlo.mesh", kMeshFields},
    {"stablehlo.axis_ref", kAxisRefFields},
    {"stablehlo.replica_group_mesh_axes", kReplicaGroupMeshAxesFields},
    {"chlo.ragged_dot", kRaggedDotFields},
};

}  // namespace

absl::Span<const Name> EnumValues(Name enum_name) {
  for (const EnumRow& row : kEnums) {
    if (row.name == enum_name) return row.values;
  }
  return {};
}

absl::Span<const AttrSpec> StructFields(Name struct_name) {
  for (const StructRow& row : kStructs) {
    if (row.name == struct_name) return row.fields;
  }
  return {};
}

}  // namespace pjrt::ir
