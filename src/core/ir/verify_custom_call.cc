// SPDX-License-Identifier: Apache-2.0
//
// custom_call: layouts, aliases of outputs and operands, backend_config, and the calls that turn
// tensors into buffers and back.
#include <algorithm>

#include "src/core/base/status_macros.h"
#include "src/core/ir/op_functions.h"
#include "src/core/ir/type_rules.h"

namespace pjrt::ir {
namespace {

// A layout lists the dimensions of a tensor, minor to major; it is empty for anything else.
absl::Status CheckLayout(absl::string_view what, Attribute layout, Type type) {
  if (type.Is(TypeKind::kTuple)) {
    return InvalidArgument(rule::kCustomCall, "layouts of tuples cannot be said; given ",
                           type.ToString(), " for a ", what);
  }
  DimList dims;
  if (!GetIntList(layout, &dims) || !ElementOf(layout.type()).Is(TypeKind::kIndex)) {
    return InvalidArgument(rule::kAttribute, "a layout must be a list of indices; given ",
                           layout.ToString(), ", expected such as dense<[0, 1]> : tensor<2xindex>");
  }
  const bool shaped = type.IsTensor() || type.Is(TypeKind::kMemRef);
  if (!shaped) {
    if (dims.empty() || type.Is(TypeKind::kUnrankedTensor)) return absl::OkStatus();
    return InvalidArgument(rule::kCustomCall, "only tensors have layouts; given ",
                           layout.ToString(), " for ", type.ToString());
  }
  const bool length = static_cast<int64_t>(dims.size()) == type.rank();
  if (!length || !CheckDims("a layout", dims, type.rank(), kInRange | kUnique).ok()) {
    return InvalidArgument(rule::kCustomCall,
                           "a layout must be a permutation of the dimensions; given ",
                           layout.ToString(), " for ", type.ToString());
  }
  return absl::OkStatus();
}

absl::Status CheckLayouts(const Op& op) {
  const Attribute of_operands = op.attr("operand_layouts"), of_results = op.attr("result_layouts");
  if (!of_operands && !of_results) return absl::OkStatus();
  if (!of_operands || !of_results) {
    return InvalidArgument(rule::kCustomCall,
                           "operand_layouts and result_layouts must be given both or not at all");
  }
  absl::InlinedVector<Type, 6> operands, results;
  for (size_t i = 0; i < op.num_operands(); ++i) operands.push_back(op.operand_type(i));
  for (size_t i = 0; i < op.num_results(); ++i) results.push_back(op.result_type(i));
  if (results.size() == 1 &&
      results[0].Is(TypeKind::kTuple)) {  // a layout for each part of the only result
    const absl::Span<const Type> parts = results[0].elements();
    results.assign(parts.begin(), parts.end());
  }
  for (const bool operand : {true, false}) {
    const absl::Span<const Attribute> layouts = (operand ? of_operands : of_results).elements();
    const auto& types = operand ? operands : results;
    const absl::string_view what = operand ? "operand" : "result";
    if (layouts.size() != types.size()) {
      return InvalidArgument(rule::kCustomCall, "there must be a layout for each ", what,
                             "; given ", layouts.size(), ", expected ", types.size());
    }
    for (size_t i = 0; i < types.size(); ++i)
      PJRT_RETURN_IF_ERROR(CheckLayout(what, layouts[i], types[i]));
  }
  return absl::OkStatus();
}

// The part of nested tuples that `indices` lead to; null when they lead nowhere.
Type Part(Type type, absl::Span<const int64_t> indices) {
  for (int64_t i : indices) {
    if (!type.Is(TypeKind::kTuple) || i < 0 || static_cast<size_t>(i) >= type.elements().size())
      return Type();
    type = type.elements()[static_cast<size_t>(i)];
  }
  return type;
}

// A part of the operands or results, as the indices that lead to it.
struct Place {
  DimList path;  // the number of the operand or result first (no number for the only result)
  Type type;
};

// The buffers (memrefs) among types, in tuples as well.
std::vector<Place> Buffers(std::vector<Place> pending) {
  std::vector<Place> out;
  while (!pending.empty()) {
    const Place place = std::move(pending.back());
    pending.pop_back();
    if (place.type.Is(TypeKind::kMemRef)) out.push_back(place);
    if (!place.type.Is(TypeKind::kTuple)) continue;
    for (size_t i = 0; i < place.type.elements().size(); ++i) {
      Place part = {place.path, place.type.elements()[i]};
      part.path.push_back(static_cast<int64_t>(i));
      pending.push_back(std::move(part));
    }
  }
  return out;
}

absl::Status CheckAliases(const Op& op, bool every_buffer) {
  const Attribute aliases = op.attr("output_operand_aliases");
  std::vector<DimList> used_operands, used_outputs;
  for (Attribute attr :
       aliases.Is(AttrKind::kArray) ? aliases.elements() : absl::Span<const Attribute>()) {
    const std::optional<OutputOperandAlias> alias = OutputOperandAlias::From(attr);
    if (!alias) {
      return InvalidArgument(
          rule::kAttribute,
          "output_operand_aliases must hold #stablehlo.output_operand_alias<...>; given ",
          attr.ToString());
    }
    if (alias->operand_index < 0 ||
        static_cast<size_t>(alias->operand_index) >= op.num_operands()) {
      return InvalidArgument(rule::kCustomCall, "operand_index of an alias must be in [0, ",
                             op.num_operands(), "); given ", alias->operand_index);
    }
    const Type operand = Part(op.operand_type(static_cast<size_t>(alias->operand_index)),
                              alias->operand_tuple_indices);
    Type output;
    if (op.num_results() == 1) {
      output = Part(op.result_type(), alias->output_tuple_indices);
    } else if (!alias->output_tuple_indices.empty() && alias->output_tuple_indices[0] >= 0 &&
               static_cast<size_t>(alias->output_tuple_indices[0]) < op.num_results()) {
      output = Part(op.result_type(static_cast<size_t>(alias->output_tuple_indices[0])),
                    absl::MakeConstSpan(alias->output_tuple_indices).subspan(1));
    }
    if (!operand || !output) {
      return InvalidArgument(rule::kCustomCall, "tuple indices of an alias must lead to an ",
                             operand ? "output" : "operand", "; given ", attr.ToString());
    }
    if (!SameType(operand, output)) {
      return InvalidArgument(rule::kCustomCall,
                             "aliased operand and output must have the same type; given ",
                             operand.ToString(), " and ", output.ToString());
    }
    if (!operand.Is(TypeKind::kMemRef)) continue;
    DimList path = {alias->operand_index};
    path.insert(path.end(), alias->operand_tuple_indices.begin(),
                alias->operand_tuple_indices.end());
    for (auto [used, what] :
         {std::make_pair(&used_operands, "operand"), std::make_pair(&used_outputs, "output")}) {
      const DimList& place = used == &used_operands ? path : alias->output_tuple_indices;
      if (std::find(used->begin(), used->end(), place) != used->end()) {
        return InvalidArgument(rule::kCustomCall, "a buffer must be aliased once; given ", what,
                               " ", DimsText(place), " twice");
      }
      used->push_back(place);
    }
  }
  if (!every_buffer) return absl::OkStatus();
  std::vector<Place> results;
  for (size_t i = 0; i < op.num_results(); ++i) {
    results.push_back(
        {op.num_results() == 1 ? DimList() : DimList{static_cast<int64_t>(i)}, op.result_type(i)});
  }
  for (const Place& buffer : Buffers(std::move(results))) {
    if (std::find(used_outputs.begin(), used_outputs.end(), buffer.path) == used_outputs.end()) {
      return InvalidArgument(rule::kCustomCall,
                             "each buffer among the results must be aliased to an operand; output ",
                             DimsText(buffer.path), " is not");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBackendConfig(const Op& op) {
  const Attribute config = op.attr("backend_config");
  const int64_t version = op.IntAttr("api_version", 1);
  if (version < 0 || version > 4)
    return InvalidArgument(rule::kValue, "api_version must be in [0, 4]; given ", version);
  if (!config) return absl::OkStatus();
  const bool typed = version == 4;
  if (config.Is(typed ? AttrKind::kDict : AttrKind::kString)) return absl::OkStatus();
  return InvalidArgument(rule::kCustomCall, "backend_config must be a ",
                         typed ? "dictionary" : "string", " for api_version ", version, "; given ",
                         config.ToString());
}

// Pin takes a tensor and gives a buffer, Unpin the other way round, CreateBuffer makes a buffer of
// nothing.
absl::Status CheckBufferCall(const Op& op, absl::string_view target) {
  const size_t expected = target == "CreateBuffer" ? 0 : 1;
  if (op.num_operands() != expected || op.num_results() != 1) {
    return InvalidArgument(rule::kCustomCall, target, " takes ", expected,
                           " operands and gives one result; given ", op.num_operands(), " and ",
                           op.num_results());
  }
  const Type result = op.result_type();
  const TypeKind kind = target == "Unpin" ? TypeKind::kTensor : TypeKind::kMemRef;
  const TypeKind operand_kind = target == "Unpin" ? TypeKind::kMemRef : TypeKind::kTensor;
  const Type operand = expected == 1 ? op.operand_type(0) : Type();
  if (!result.Is(kind) || (operand && !operand.Is(operand_kind))) {
    return InvalidArgument(
        rule::kCustomCall, target,
        kind == TypeKind::kMemRef ? " gives a memref" : " takes a memref and gives a tensor",
        "; given ", operand ? operand.ToString() + " and " : std::string(), result.ToString());
  }
  if (operand && (operand.dims() != result.dims() ||
                  !SameType(operand.element_type(), result.element_type()))) {
    return InvalidArgument(rule::kCustomCall, target, " keeps shape and element type; given ",
                           operand.ToString(), " and ", result.ToString());
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status VerifyCustomCall(const Op& op) {
  PJRT_RETURN_IF_ERROR(CheckBackendConfig(op));
  PJRT_RETURN_IF_ERROR(CheckLayouts(op));
  const absl::string_view target = op.StringAttr("call_target_name");
  const bool buffer_call = target == "Pin" || target == "Unpin" || target == "CreateBuffer";
  if (buffer_call && !op.HasAttr("output_operand_aliases")) return CheckBufferCall(op, target);
  return CheckAliases(op, !buffer_call);
}

}  // namespace pjrt::ir
