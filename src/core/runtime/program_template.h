// SPDX-License-Identifier: Apache-2.0
//
// ProgramTemplate: a verified program whose shapes follow only from the arguments of an execution,
// and what distinguishes one set of arguments from another.
#ifndef PJRT_CORE_RUNTIME_PROGRAM_TEMPLATE_H_
#define PJRT_CORE_RUNTIME_PROGRAM_TEMPLATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pjrt/backend/backend.h"
#include "pjrt/base/shape.h"
#include "pjrt/buffer.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/passes.h"
#include "pjrt/program.h"
#include "src/core/runtime/trial_sizes.h"

namespace pjrt {

// All that a specialised program depends on: the sizes of arguments with dynamic types, then the
// values of those that decide shapes.
using SpecializationKey = absl::InlinedVector<int64_t, 8>;

// Immutable; its methods may be called from several threads.
class ProgramTemplate {
 public:
  // `module` has no calls. UNIMPLEMENTED [PJRT-R070] when an argument or result is of a type that
  // no buffer holds.
  static absl::StatusOr<std::shared_ptr<const ProgramTemplate>> Make(
      std::unique_ptr<ir::Module> module, ir::ShapeDependence dependence);

  const std::shared_ptr<const ir::Module>& module() const { return module_; }
  absl::string_view name() const;
  // With dynamic dimensions, bounded where the program bounds them; row-major.
  absl::Span<const Shape> parameters() const { return parameters_; }
  absl::Span<const Shape> results() const { return results_; }

  // The key of one device's arguments, buffers of `client`. Waits for those whose values count.
  // INVALID_ARGUMENT: [PJRT-R054] for a wrong number of them, [PJRT-R050] for a null or foreign
  // one, [PJRT-R071] for another rank or element type than the program says. The error of a buffer
  // whose value counts and is not there.
  absl::StatusOr<SpecializationKey> KeyOf(absl::Span<PjRtBuffer* const> arguments,
                                          const PjRtClient* client) const;

  // The parameters of which the sizes are in a key, and those of which the values are.
  absl::Span<const int> dynamic_parameters() const { return dynamic_parameters_; }
  absl::Span<const int> deciding_parameters() const { return deciding_parameters_; }
  // The part of a key with the values of deciding_parameters(), one after the other.
  absl::Span<const int64_t> ValuesIn(const SpecializationKey& key) const;
  // Writes the first of `values` as elements of that parameter, as many as fill `bytes`, and
  // returns the rest.
  absl::Span<const int64_t> TakeBytes(int parameter, absl::Span<const int64_t> values,
                                      absl::Span<char> bytes) const;

  // The program for arguments of that key. Errors as those of ir::RefineArguments,
  // ir::RefineShapes, the verifier and Backend::Compile.
  absl::StatusOr<std::shared_ptr<const DeviceProgram>> Compile(
      const SpecializationKey& key, Backend* backend, const CompileOptions& options,
      const ResolvedAssignment& assignment) const;

  // Whether the backend can run the program at all, as far as this can be known before sizes are:
  // compiles it for a few choices of all unknown sizes and values, until one can be compiled. Where
  // the first choices contradict the program, as its assertions may say, it looks for sizes that
  // don't. UNIMPLEMENTED when none can be compiled and one of them is refused as that.
  absl::Status Check(Backend* backend, const CompileOptions& options,
                     const ResolvedAssignment& assignment) const;

 private:
  ProgramTemplate() = default;
  // A static module, verified; after an error, what has been made static until then.
  absl::Status Specialize(const SpecializationKey& key, const ir::PassOptions& options,
                          std::unique_ptr<ir::Module>* made) const;
  // See Check.
  absl::Status TryForSizes(Backend* backend, const CompileOptions& options,
                           const ResolvedAssignment& assignment) const;
  // All that a key holds but the platform, in its order.
  std::vector<UnknownSize> UnknownSizes() const;
  // The key for these sizes, one for each of UnknownSizes().
  SpecializationKey KeyFor(absl::Span<const int64_t> sizes, int platform) const;
  // How many assertions and dynamic shapes the program still has where Specialize ends; 0 when it
  // gets through.
  int64_t LeftToRefine(const SpecializationKey& key, const ir::PassOptions& options) const;

  std::shared_ptr<const ir::Module> module_;
  std::vector<Shape> parameters_;
  std::vector<Shape> results_;
  std::vector<int> dynamic_parameters_;
  std::vector<int> deciding_parameters_;
  int platform_index_ = -1;  // the one of them that tells which platform the program runs on
  int num_platforms_ = 1;
};

// A program as it goes on to a backend: one of the two.
struct PreparedProgram {
  std::unique_ptr<ir::Module> module;  // static, verified
  std::shared_ptr<const ProgramTemplate> program_template;
};

// Takes the program's module, verifies it, and makes its shapes static where they follow from the
// program alone, by passes with these options.
absl::StatusOr<PreparedProgram> PrepareProgram(PjRtProgram program, const ir::PassOptions& options);

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_PROGRAM_TEMPLATE_H_
