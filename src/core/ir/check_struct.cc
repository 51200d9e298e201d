// SPDX-License-Identifier: Apache-2.0
//
// Rules of struct attributes that hold whatever op they are on.
#include <algorithm>
#include <optional>

#include "pjrt/ir/op_attributes.h"
#include "pjrt/ir/op_set.h"
#include "src/core/base/status_macros.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// The algorithms that some hardware has: the precision that operands are rounded to, the type of
// sums, and how many products of rounded parts make one product.
struct KnownAlgorithm {
  absl::string_view precision;
  absl::string_view accumulation;
  int64_t primitive_operations;
};
constexpr KnownAlgorithm kKnownAlgorithms[] = {
    {"f16", "f16", 1},  {"f16", "f32", 1},  {"bf16", "bf16", 1}, {"bf16", "f32", 1},
    {"bf16", "f32", 3}, {"bf16", "f32", 6}, {"bf16", "f32", 9},  {"tf32", "f32", 1},
    {"tf32", "f32", 3}, {"f32", "f32", 1},  {"f64", "f64", 1},
};

bool IsF8(Type type) { return type.Is(TypeKind::kFloat) && type.bit_width() == 8; }

bool IsKnown(const DotAlgorithm& a) {
  if (a.lhs_component_count != 1 || a.rhs_component_count != 1) return false;
  const std::string accumulation = a.accumulation_type.ToString();
  if (IsF8(a.lhs_precision_type) &&
      IsF8(a.rhs_precision_type)) {  // with fast accumulation or without
    return accumulation == "f32" && a.num_primitive_operations == 1;
  }
  if (a.allow_imprecise_accumulation ||
      a.lhs_precision_type.ToString() != a.rhs_precision_type.ToString())
    return false;
  for (const KnownAlgorithm& known : kKnownAlgorithms) {
    if (known.precision == a.lhs_precision_type.ToString() && known.accumulation == accumulation &&
        known.primitive_operations == a.num_primitive_operations) {
      return true;
    }
  }
  return false;
}

absl::Status CheckAlgorithm(Attribute attr) {
  const std::optional<DotAlgorithm> a = DotAlgorithm::From(attr);
  if (!a || !a->lhs_precision_type || !a->rhs_precision_type || !a->accumulation_type) {
    return InvalidArgument(rule::kAttribute, "dot_algorithm must have all of its fields; given ",
                           attr.ToString());
  }
  if (a->lhs_component_count <= 0 || a->rhs_component_count <= 0 ||
      a->num_primitive_operations <= 0) {
    return InvalidArgument(rule::kValue, "counts of dot_algorithm must be positive; given ",
                           attr.ToString());
  }
  if (!IsKnown(*a)) {
    return InvalidArgument(rule::kValue, "no hardware is known to have this dot_algorithm; given ",
                           attr.ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckAccuracy(Attribute attr) {
  const std::optional<ResultAccuracy> accuracy = ResultAccuracy::From(attr);
  if (!accuracy)
    return InvalidArgument(
        rule::kAttribute, "result_accuracy has a field of the wrong type; given ", attr.ToString());
  const bool zero = accuracy->atol == 0 && accuracy->rtol == 0 && accuracy->ulps == 0;
  if (accuracy->mode != ResultAccuracyMode::kTolerance && !zero) {
    return InvalidArgument(rule::kValue,
                           "only mode TOLERANCE of result_accuracy may have tolerances; given ",
                           attr.ToString());
  }
  if (!(accuracy->atol >= 0) || !(accuracy->rtol >= 0) || accuracy->ulps < 0) {
    return InvalidArgument(rule::kValue,
                           "tolerances of result_accuracy must not be negative; given ",
                           attr.ToString());
  }
  return absl::OkStatus();
}

bool IsStruct(Attribute attr, absl::string_view name) {
  return attr.Is(AttrKind::kStruct) && attr.name() == name;
}

// The field is a list of structs of that name.
absl::Status CheckStructs(Attribute attr, absl::string_view field, absl::string_view element) {
  const Attribute list = attr.Get(field);
  bool fits = list.Is(AttrKind::kArray);
  for (size_t i = 0; fits && i < list.elements().size(); ++i)
    fits = IsStruct(list.elements()[i], element);
  if (fits) return absl::OkStatus();
  return InvalidArgument(rule::kAttribute, field, " of ", attr.name(), " must be a list of #",
                         element, "<...>; given ", list.ToString());
}

// Axes are named or numbered; of a mesh that stands in the attribute, the names are known.
absl::Status CheckMeshAxes(Attribute attr) {
  const Attribute list = attr.Get("axes"), mesh = attr.Get("mesh");
  if (!list.Is(AttrKind::kArray)) {
    return InvalidArgument(rule::kAttribute, "axes of a mesh must be a list; given ",
                           list.ToString());
  }
  for (Attribute axis : list.elements()) {
    if (IsStruct(axis, "stablehlo.axis_ref") || axis.Is(AttrKind::kInteger)) continue;
    return InvalidArgument(rule::kAttribute,
                           "axes of a mesh must be #stablehlo.axis_ref<...>, or numbers; given ",
                           axis.ToString());
  }
  if (mesh.Is(AttrKind::kSymbol)) return absl::OkStatus();
  if (!IsStruct(mesh, "stablehlo.mesh")) {
    return InvalidArgument(
        rule::kAttribute, "mesh must be a symbol or #stablehlo.mesh<...>; given ", mesh.ToString());
  }
  PJRT_RETURN_IF_ERROR(CheckStruct(mesh));
  for (Attribute axis : list.elements()) {
    const absl::Span<const Attribute> axes = mesh.Get("axes").elements();
    const auto is_axis = [&](Attribute a) { return Equal(a.Get("name"), axis.Get("name")); };
    if (axis.Is(AttrKind::kInteger) || std::any_of(axes.begin(), axes.end(), is_axis)) continue;
    return InvalidArgument(rule::kDevices, "the mesh has no such axis; given ", axis.ToString(),
                           " for ", mesh.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckStruct(Attribute attr) {
  if (!attr.Is(AttrKind::kStruct)) return absl::OkStatus();
  if (attr.name() == "stablehlo.dot_algorithm") return CheckAlgorithm(attr);
  if (attr.name() == "stablehlo.result_accuracy") return CheckAccuracy(attr);
  if (attr.name() == "stablehlo.mesh") return CheckStructs(attr, "axes", "stablehlo.mesh_axis");
  if (attr.name() == "stablehlo.replica_group_mesh_axes") return CheckMeshAxes(attr);
  return absl::OkStatus();
}

}  // namespace pjrt::ir
