// SPDX-License-Identifier: Apache-2.0
#include "pjrt/phase_compiler.h"

#include <utility>

#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"

namespace pjrt {

std::vector<std::string> PjRtPhaseCompiler::GetPhaseNames() const {
  std::vector<std::string> names;
  for (const Phase& phase : phases_) names.push_back(phase.name);
  return names;
}

const PjRtPhaseCompiler::Phase* PjRtPhaseCompiler::FindPhase(const std::string& name) const {
  for (const Phase& phase : phases_) {
    if (phase.name == name) return &phase;
  }
  return nullptr;
}

absl::Status PjRtPhaseCompiler::RegisterPhase(std::string name,
                                              CompilationPhaseFunctions functions) {
  if (name.empty()) return InvalidArgument("PJRT-R069", "a compilation phase needs a name");
  if (functions.compiler == nullptr || functions.validator == nullptr) {
    return InvalidArgument("PJRT-R069", "compilation phase ", name,
                           " needs a compiler and a validator; given null");
  }
  if (FindPhase(name) != nullptr) {
    return AlreadyExists("PJRT-R069", "compilation phase ", name, " is registered already");
  }
  phases_.push_back({std::move(name), std::move(functions)});
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PjRtPartialProgram>> PjRtPhaseCompiler::RunPhases(
    CompileOptions options, std::vector<PjRtPartialProgram>&& programs,
    const PjRtTopologyDescription& topology, const std::vector<std::string>& phases_to_run) {
  std::vector<const Phase*> phases;
  for (const std::string& name : phases_to_run) {
    const Phase* phase = FindPhase(name);
    if (phase == nullptr) return NotFound("PJRT-R069", "no compilation phase named ", name);
    phases.push_back(phase);
  }
  std::vector<PjRtPartialProgram> current = std::move(programs);
  for (const Phase* phase : phases) {
    PJRT_RETURN_IF_ERROR(phase->functions.validator(options, current));
    PJRT_ASSIGN_OR_RETURN(current,
                          phase->functions.compiler(options, std::move(current), topology));
  }
  return current;
}

absl::StatusOr<PjRtPhaseCompiler*> GetDefaultPjRtPhaseCompiler(PjRtCompilerRegistry& registry,
                                                               absl::string_view platform_name) {
  PJRT_ASSIGN_OR_RETURN(PjRtCompiler * compiler, registry.GetCompiler(platform_name));
  PjRtPhaseCompiler* const phase_compiler = compiler->AsPhaseCompiler();
  if (phase_compiler == nullptr) {
    return Unimplemented("PJRT-R069", "the compiler of platform ", platform_name, " has no phases");
  }
  return phase_compiler;
}

}  // namespace pjrt
