// SPDX-License-Identifier: Apache-2.0
//
// The compiler registry, and compiling through it.
#include "pjrt/compiler.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "pjrt/topology.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/unimplemented.h"

namespace pjrt {

absl::StatusOr<SupportReport> PjRtCompiler::QuerySupport(const ir::Module&, SupportEffort) {
  return UnimplementedMethod("PjRtCompiler::QuerySupport");
}

absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>>
PjRtCompiler::DeserializePjRtTopologyDescription(const std::string&) {
  return UnimplementedMethod("PjRtCompiler::DeserializePjRtTopologyDescription");
}

absl::StatusOr<std::unique_ptr<PjRtRuntimeAbiVersion>> PjRtCompiler::GetTargetRuntimeAbiVersion() {
  return UnimplementedMethod("PjRtCompiler::GetTargetRuntimeAbiVersion");
}

PjRtCompilerVariant CompilerVariantId(absl::string_view name) {
  return name.empty() ? 0 : PlatformIdFromName(name);
}

PjRtCompilerVariant LinkedCompilerVariantId() { return CompilerVariantId(kLinkedVariant); }

absl::string_view CompilerVariantToString(PjRtCompilerVariant variant) {
  if (variant == 0) return "";
  return variant == LinkedCompilerVariantId() ? kLinkedVariant : kUnknownVariant;
}

struct PjRtCompilerRegistry::Impl {
  using Key = std::pair<std::string, std::string>;  // platform, variant
  struct Entry {
    Factory factory;
    bool is_making = false;
    std::unique_ptr<PjRtCompiler> compiler;
    // A compiler that its factory made and a registered one replaced; callers may hold it.
    std::unique_ptr<PjRtCompiler> replaced;
    bool is_registered = false;
  };

  static Key MakeKey(absl::string_view platform, absl::string_view variant) {
    return {std::string(platform), std::string(variant)};
  }

  mutable std::mutex mutex;
  std::condition_variable made;
  std::map<Key, Entry> entries;  // nodes don't move
  struct Picker {
    VariantPicker strong;
    VariantPicker weak;
  };
  std::map<std::string, Picker> pickers;
};

PjRtCompilerRegistry::PjRtCompilerRegistry() : impl_(std::make_unique<Impl>()) {}
PjRtCompilerRegistry::~PjRtCompilerRegistry() = default;

absl::Status PjRtCompilerRegistry::RegisterFactory(absl::string_view platform_name,
                                                   absl::string_view variant_name,
                                                   Factory factory) {
  if (factory == nullptr) {
    return InvalidArgument("PJRT-R068", "null compiler factory for platform: ", platform_name,
                           ", variant: ", variant_name);
  }
  std::lock_guard<std::mutex> lock(impl_->mutex);
  Impl::Entry& entry = impl_->entries[Impl::MakeKey(platform_name, variant_name)];
  if (entry.factory != nullptr) {
    return AlreadyExists("PJRT-R068", "there is a compiler factory for platform: ", platform_name,
                         ", variant: ", variant_name);
  }
  entry.factory = std::move(factory);
  return absl::OkStatus();
}

absl::Status PjRtCompilerRegistry::RegisterCompiler(absl::string_view platform_name,
                                                    absl::string_view variant_name,
                                                    std::unique_ptr<PjRtCompiler> compiler) {
  if (compiler == nullptr) {
    return InvalidArgument("PJRT-R068", "null compiler for platform: ", platform_name,
                           ", variant: ", variant_name);
  }
  std::lock_guard<std::mutex> lock(impl_->mutex);
  Impl::Entry& entry = impl_->entries[Impl::MakeKey(platform_name, variant_name)];
  if (entry.is_registered) {
    return AlreadyExists("PJRT-R068", "there is a compiler for platform: ", platform_name,
                         ", variant: ", variant_name);
  }
  entry.replaced = std::move(entry.compiler);
  entry.compiler = std::move(compiler);
  entry.is_registered = true;
  return absl::OkStatus();
}

absl::StatusOr<PjRtCompiler*> PjRtCompilerRegistry::GetCompiler(absl::string_view platform_name,
                                                                absl::string_view variant_name) {
  std::unique_lock<std::mutex> lock(impl_->mutex);
  const auto it = impl_->entries.find(Impl::MakeKey(platform_name, variant_name));
  if (it == impl_->entries.end()) {
    return NotFound("PJRT-R068", "No compiler factory for platform: ", platform_name,
                    ", variant: ", variant_name);
  }
  Impl::Entry& entry = it->second;
  impl_->made.wait(lock, [&] { return !entry.is_making; });
  if (entry.compiler != nullptr) return entry.compiler.get();
  entry.is_making = true;
  lock.unlock();
  absl::StatusOr<std::unique_ptr<PjRtCompiler>> made = entry.factory();
  lock.lock();
  entry.is_making = false;
  impl_->made.notify_all();
  PJRT_RETURN_IF_ERROR(made.status());
  if (*made == nullptr) {
    return Internal("PJRT-R068", "the compiler factory for platform: ", platform_name,
                    ", variant: ", variant_name, " returned null");
  }
  // One may have been registered meanwhile; that one counts.
  if (entry.compiler == nullptr) entry.compiler = *std::move(made);
  return entry.compiler.get();
}

absl::Status PjRtCompilerRegistry::InitializeVariant(absl::string_view platform_name,
                                                     absl::string_view variant_name) {
  return GetCompiler(platform_name, variant_name).status();
}

absl::Status PjRtCompilerRegistry::InitializeAllVariants() {
  std::vector<Impl::Key> keys;
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    for (const auto& [key, entry] : impl_->entries) keys.push_back(key);
  }
  for (const auto& [platform, variant] : keys) {
    PJRT_RETURN_IF_ERROR(InitializeVariant(platform, variant));
  }
  return absl::OkStatus();
}

absl::Status PjRtCompilerRegistry::RegisterVariantPicker(absl::string_view platform_name,
                                                         VariantPicker picker, bool is_weak) {
  if (picker == nullptr) {
    return InvalidArgument("PJRT-R068", "null variant picker for platform: ", platform_name);
  }
  std::lock_guard<std::mutex> lock(impl_->mutex);
  Impl::Picker& pickers = impl_->pickers[std::string(platform_name)];
  VariantPicker& mine = is_weak ? pickers.weak : pickers.strong;
  if (mine != nullptr) {
    return AlreadyExists("PJRT-R068", "there is a variant picker for platform: ", platform_name);
  }
  mine = std::move(picker);
  return absl::OkStatus();
}

absl::StatusOr<PjRtCompilerRegistry::VariantPicker> PjRtCompilerRegistry::GetVariantPicker(
    absl::string_view platform_name) const {
  std::lock_guard<std::mutex> lock(impl_->mutex);
  const auto it = impl_->pickers.find(std::string(platform_name));
  if (it == impl_->pickers.end()) {
    return NotFound("PJRT-R068", "No variant picker for platform: ", platform_name);
  }
  return it->second.strong != nullptr ? it->second.strong : it->second.weak;
}

absl::StatusOr<std::unique_ptr<PjRtExecutable>> PjRtCompile(PjRtCompilerRegistry& registry,
                                                            CompileOptions options,
                                                            PjRtProgram program,
                                                            const PjRtTopologyDescription& topology,
                                                            PjRtClient* client) {
  if (const std::optional<PjRtCompiler*> own = topology.compiler();
      own.has_value() && *own != nullptr) {
    return (*own)->Compile(std::move(options), std::move(program), topology, client);
  }
  std::string variant;
  if (const auto picker = registry.GetVariantPicker(topology.platform_name()); picker.ok()) {
    PJRT_ASSIGN_OR_RETURN(variant, (*picker)(options, topology));
  }
  return PjRtCompile(registry, std::move(options), std::move(program), topology, variant, client);
}

absl::StatusOr<std::unique_ptr<PjRtExecutable>> PjRtCompile(
    PjRtCompilerRegistry& registry, CompileOptions options, PjRtProgram program,
    const PjRtTopologyDescription& topology, absl::string_view variant_name, PjRtClient* client) {
  PJRT_ASSIGN_OR_RETURN(PjRtCompiler * compiler,
                        registry.GetCompiler(topology.platform_name(), variant_name));
  return compiler->Compile(std::move(options), std::move(program), topology, client);
}

}  // namespace pjrt
