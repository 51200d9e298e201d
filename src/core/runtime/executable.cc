// SPDX-License-Identifier: Apache-2.0
//
// Default methods of PjRtExecutable.
#include "pjrt/executable.h"

#include "pjrt/backend/device_program.h"
#include "pjrt/pjrt_layout.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/unimplemented.h"

namespace pjrt {
namespace {

// Calls `visit` for each leaf of each program's result.
template <typename T, typename F>
absl::StatusOr<std::vector<std::vector<T>>> MapOutputs(const PjRtExecutable& executable,
                                                       const char* method, F visit) {
  PJRT_ASSIGN_OR_RETURN(const std::vector<Shape> shapes, executable.GetOutputShapes());
  std::vector<std::vector<T>> results;
  results.reserve(shapes.size());
  for (const Shape& shape : shapes) {
    std::vector<T>& values = results.emplace_back();
    if (!shape.IsTuple()) {
      values.push_back(visit(shape));
      continue;
    }
    for (const Shape& leaf : shape.tuple_shapes()) {
      if (leaf.IsTuple()) {
        return Unimplemented("PJRT-R015", method, " of nested tuples; the result is ",
                             shape.ToString());
      }
      values.push_back(visit(leaf));
    }
  }
  return results;
}

}  // namespace

absl::StatusOr<std::vector<std::vector<PrimitiveType>>> PjRtExecutable::GetOutputElementTypes()
    const {
  return MapOutputs<PrimitiveType>(*this, "GetOutputElementTypes",
                                   [](const Shape& s) { return s.element_type(); });
}

absl::StatusOr<std::vector<std::vector<DimensionVector>>> PjRtExecutable::GetOutputDimensions()
    const {
  return MapOutputs<DimensionVector>(*this, "GetOutputDimensions", [](const Shape& s) {
    return DimensionVector(s.dimensions().begin(), s.dimensions().end());
  });
}

absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> PjRtExecutable::GetParameterLayouts()
    const {
  return UnimplementedMethod("PjRtExecutable::GetParameterLayouts");
}

absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> PjRtExecutable::GetOutputLayouts()
    const {
  using LayoutPtr = std::shared_ptr<const PjRtLayout>;
  PJRT_ASSIGN_OR_RETURN(std::vector<std::vector<LayoutPtr>> layouts,
                        MapOutputs<LayoutPtr>(*this, "GetOutputLayouts", [](const Shape& s) {
                          return std::make_shared<const PjRtLayout>(
                              s.has_layout() ? s.layout() : MakeDescendingLayout(s.rank()));
                        }));
  if (layouts.empty()) {
    return InvalidArgument("PJRT-R015", "GetOutputLayouts of an executable without a program");
  }
  if (layouts.size() > 1) {
    return Unimplemented("PJRT-R015", "GetOutputLayouts of an executable with ", layouts.size(),
                         " programs");
  }
  return std::move(layouts.front());
}

absl::StatusOr<std::vector<std::vector<absl::string_view>>>
PjRtExecutable::GetParameterMemoryKinds() const {
  return UnimplementedMethod("PjRtExecutable::GetParameterMemoryKinds");
}

absl::StatusOr<std::vector<std::vector<absl::string_view>>> PjRtExecutable::GetOutputMemoryKinds()
    const {
  return UnimplementedMethod("PjRtExecutable::GetOutputMemoryKinds");
}

std::optional<std::vector<std::string>> PjRtExecutable::GetParameterShardings() const {
  return std::nullopt;
}

std::optional<std::vector<std::string>> PjRtExecutable::GetOutputShardings() const {
  return std::nullopt;
}

absl::StatusOr<std::vector<std::shared_ptr<const ir::Module>>> PjRtExecutable::GetModules() const {
  return UnimplementedMethod("PjRtExecutable::GetModules");
}

absl::StatusOr<CompiledMemoryStats> PjRtExecutable::GetCompiledMemoryStats() const {
  return UnimplementedMethod("PjRtExecutable::GetCompiledMemoryStats");
}

absl::StatusOr<CostMap> PjRtExecutable::GetCostAnalysis() const {
  return UnimplementedMethod("PjRtExecutable::GetCostAnalysis");
}

absl::StatusOr<std::string> PjRtExecutable::SerializeExecutable() const {
  return UnimplementedMethod("PjRtExecutable::SerializeExecutable");
}

absl::StatusOr<std::unique_ptr<PjRtExecutableAbiVersion>> PjRtExecutable::GetAbiVersion() const {
  return UnimplementedMethod("PjRtExecutable::GetAbiVersion");
}

absl::StatusOr<std::string> PjRtExecutable::FingerprintExecutable() const {
  return UnimplementedMethod("PjRtExecutable::FingerprintExecutable");
}

absl::StatusOr<CompileOptions> PjRtExecutable::GetCompileOptions() const {
  return UnimplementedMethod("PjRtExecutable::GetCompileOptions");
}

absl::StatusOr<std::string> DeviceProgram::Serialize() const {
  return UnimplementedMethod("DeviceProgram::Serialize");
}

}  // namespace pjrt
