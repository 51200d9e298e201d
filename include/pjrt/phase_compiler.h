// SPDX-License-Identifier: Apache-2.0
//
// PjRtPhaseCompiler: a compiler whose phases can be run one by one. Spec: PJRT C++ API, section
// 1.13.
#ifndef PJRT_PHASE_COMPILER_H_
#define PJRT_PHASE_COMPILER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/compile_options.h"
#include "pjrt/compiler.h"

namespace pjrt {

// A program between two phases.
struct PjRtPartialProgram {
  std::string program;         // bytes, in the form that program_format names
  std::string program_format;  // known to the phases that produce and consume it
  std::string producer_phase;
  std::vector<std::string> consumer_phases;
  std::string version;
  std::string program_name;
};

// What a phase does. The validator looks at the inputs and says whether the phase may run on them;
// both are required.
struct CompilationPhaseFunctions {
  using Compiler = std::function<absl::StatusOr<std::vector<PjRtPartialProgram>>(
      CompileOptions options, std::vector<PjRtPartialProgram>&& programs,
      const PjRtTopologyDescription& topology)>;
  using Validator = std::function<absl::Status(CompileOptions options,
                                               const std::vector<PjRtPartialProgram>& programs)>;
  Compiler compiler;
  Validator validator;
};

// A compiler made of named phases. A subclass registers them in RegisterAllPhases, which its maker
// calls once before the compiler is used.
//
// Threads: after RegisterAllPhases immutable, and usable from any thread.
class PjRtPhaseCompiler : public PjRtCompiler {
 public:
  PjRtPhaseCompiler() = default;

  // Registers the phases in the order in which a full compilation runs them.
  virtual absl::Status RegisterAllPhases() = 0;

  // The names in the order of registration.
  std::vector<std::string> GetPhaseNames() const;

  // Runs the named phases one after another, each on the output of the one before, its validator
  // first. An empty list returns the input. NOT_FOUND for an unknown phase (then none is run); a
  // phase's error is passed on.
  absl::StatusOr<std::vector<PjRtPartialProgram>> RunPhases(
      CompileOptions options, std::vector<PjRtPartialProgram>&& programs,
      const PjRtTopologyDescription& topology, const std::vector<std::string>& phases_to_run);

  PjRtPhaseCompiler* AsPhaseCompiler() override { return this; }

 protected:
  // INVALID_ARGUMENT for an empty name or a null function, ALREADY_EXISTS for a name that is taken.
  absl::Status RegisterPhase(std::string name, CompilationPhaseFunctions functions);

 private:
  struct Phase {
    std::string name;
    CompilationPhaseFunctions functions;
  };
  const Phase* FindPhase(const std::string& name) const;

  std::vector<Phase> phases_;
};

// The platform's default compiler as a phase compiler; it belongs to the registry. NOT_FOUND when
// there is none, UNIMPLEMENTED when it isn't a phase compiler.
absl::StatusOr<PjRtPhaseCompiler*> GetDefaultPjRtPhaseCompiler(PjRtCompilerRegistry& registry,
                                                               absl::string_view platform_name);

}  // namespace pjrt

#endif  // PJRT_PHASE_COMPILER_H_
