// SPDX-License-Identifier: Apache-2.0
//
// PjRtCompiler: compiles programs for a topology, with or without a client; and a registry of
// compilers. Spec: PJRT C++ API, section 1.13.
#ifndef PJRT_COMPILER_H_
#define PJRT_COMPILER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/compile_options.h"
#include "pjrt/executable.h"
#include "pjrt/ids.h"
#include "pjrt/program.h"
#include "pjrt/support_report.h"

namespace pjrt {

namespace ir {
class Module;
}  // namespace ir

class PjRtClient;
class PjRtPhaseCompiler;
class PjRtTopologyDescription;

// Compiles programs for the devices of a topology.
//
// Threads: all methods may be called from any thread, several at a time. Compile blocks until it is
// done.
class PjRtCompiler {
 public:
  virtual ~PjRtCompiler() = default;

  // Compiles `program` for `topology`. `client` may be null; a compiler may use it only if it is of
  // the topology's platform. The result is loaded with PjRtClient::Load.
  //
  // INVALID_ARGUMENT for a malformed program or option, or a topology of another platform;
  // UNIMPLEMENTED, listing each op and type, for a valid program outside the platform's support.
  virtual absl::StatusOr<std::unique_ptr<PjRtExecutable>> Compile(
      CompileOptions options, PjRtProgram program, const PjRtTopologyDescription& topology,
      PjRtClient* client) = 0;

  // Whether a program can be compiled, and if not, each reason; see SupportReport. `module` must
  // have passed the verifier. Doesn't change it. UNIMPLEMENTED by default.
  virtual absl::StatusOr<SupportReport> QuerySupport(const ir::Module& module,
                                                     SupportEffort effort);

  // Reads what PjRtTopologyDescription::Serialize wrote. UNIMPLEMENTED by default.
  virtual absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>>
  DeserializePjRtTopologyDescription(const std::string& serialized);

  // The runtime that compiled programs need. UNIMPLEMENTED by default.
  virtual absl::StatusOr<std::unique_ptr<PjRtRuntimeAbiVersion>> GetTargetRuntimeAbiVersion();

  // This object as a phase compiler, or null when it isn't one.
  virtual PjRtPhaseCompiler* AsPhaseCompiler() { return nullptr; }
};

// Which of several compilers of a platform. A 64-bit fingerprint of the variant's name; 0 is the
// default, named "".
using PjRtCompilerVariant = uint64_t;
// The one that is linked into the program, and what an id without a name prints as.
inline constexpr absl::string_view kLinkedVariant = "linked";
inline constexpr absl::string_view kUnknownVariant = "unknown";
PjRtCompilerVariant CompilerVariantId(absl::string_view name);
PjRtCompilerVariant LinkedCompilerVariantId();
// "" for 0, kLinkedVariant for LinkedCompilerVariantId(), kUnknownVariant for any other.
absl::string_view CompilerVariantToString(PjRtCompilerVariant variant);

// Compilers by platform and variant.
//
// XLA has one registry for the whole process. Here a registry is an object that the application
// makes and passes on: two libraries in one process don't see each other's compilers, and nothing
// is registered behind anyone's back. Backends offer a function that adds their compiler to a
// registry.
//
// Threads: all methods may be called from any thread. Factories run without a lock of the registry
// held by the thread that asks first; others that ask for the same compiler meanwhile wait for it.
class PjRtCompilerRegistry {
 public:
  using Factory = std::function<absl::StatusOr<std::unique_ptr<PjRtCompiler>>()>;
  // Chooses a variant for a compilation.
  using VariantPicker = std::function<absl::StatusOr<std::string>(const CompileOptions&,
                                                                  const PjRtTopologyDescription&)>;

  PjRtCompilerRegistry();
  ~PjRtCompilerRegistry();
  PjRtCompilerRegistry(const PjRtCompilerRegistry&) = delete;
  PjRtCompilerRegistry& operator=(const PjRtCompilerRegistry&) = delete;

  // Registers how to make a compiler; the factory runs at most once with success, when the compiler
  // is first wanted. ALREADY_EXISTS when there is a factory for platform and variant;
  // INVALID_ARGUMENT for a null one.
  absl::Status RegisterFactory(absl::string_view platform_name, absl::string_view variant_name,
                               Factory factory);

  // Registers a compiler. It is used even if there is a factory as well. ALREADY_EXISTS when there
  // is one already; INVALID_ARGUMENT for null.
  absl::Status RegisterCompiler(absl::string_view platform_name, absl::string_view variant_name,
                                std::unique_ptr<PjRtCompiler> compiler);

  // The compiler, made by its factory if need be; belongs to the registry. NOT_FOUND when nothing
  // is registered ("No compiler factory for platform: ..., variant: ..."); a factory's own error is
  // passed on, and the factory asked again next time.
  absl::StatusOr<PjRtCompiler*> GetCompiler(absl::string_view platform_name,
                                            absl::string_view variant_name = "");

  // Runs the factory of a variant, or of all, now.
  absl::Status InitializeVariant(absl::string_view platform_name, absl::string_view variant_name);
  absl::Status InitializeAllVariants();

  // Registers how to choose a variant for a platform. A weak picker is replaced by a strong one and
  // never replaces one (OK, and ignored); a second strong or a second weak one is ALREADY_EXISTS.
  absl::Status RegisterVariantPicker(absl::string_view platform_name, VariantPicker picker,
                                     bool is_weak = false);
  // NOT_FOUND when there is none.
  absl::StatusOr<VariantPicker> GetVariantPicker(absl::string_view platform_name) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Compiles with the first of: the topology's own compiler, the variant that the platform's picker
// chooses, the platform's default (variant ""). NOT_FOUND when there is none.
absl::StatusOr<std::unique_ptr<PjRtExecutable>> PjRtCompile(PjRtCompilerRegistry& registry,
                                                            CompileOptions options,
                                                            PjRtProgram program,
                                                            const PjRtTopologyDescription& topology,
                                                            PjRtClient* client = nullptr);
// Compiles with the named variant. NOT_FOUND when there is none.
absl::StatusOr<std::unique_ptr<PjRtExecutable>> PjRtCompile(PjRtCompilerRegistry& registry,
                                                            CompileOptions options,
                                                            PjRtProgram program,
                                                            const PjRtTopologyDescription& topology,
                                                            absl::string_view variant_name,
                                                            PjRtClient* client = nullptr);

}  // namespace pjrt

#endif  // PJRT_COMPILER_H_
