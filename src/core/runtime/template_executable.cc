// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/template_executable.h"

#include "absl/hash/hash.h"
#include "absl/strings/str_format.h"
#include "pjrt/ir/printer.h"
#include "src/core/base/error.h"
#include "src/core/base/memory_guard.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_executable.h"

namespace pjrt {

const void* TemplatePjRtExecutable::ClassId() {
  static constexpr char kId = 0;
  return &kId;
}

absl::StatusOr<std::vector<Shape>> TemplatePjRtExecutable::GetOutputShapes() const {
  std::vector<Shape> results(program_->results().begin(), program_->results().end());
  if (results.size() == 1) return results;
  return std::vector<Shape>{Shape(std::move(results))};
}

absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>>
TemplatePjRtExecutable::GetParameterLayouts() const {
  std::vector<std::shared_ptr<const PjRtLayout>> layouts;
  for (const Shape& shape : program_->parameters()) {
    layouts.push_back(std::make_shared<const PjRtLayout>(MakeDescendingLayout(shape.rank())));
  }
  return layouts;
}

absl::StatusOr<std::string> TemplatePjRtExecutable::FingerprintExecutable() const {
  return absl::StrFormat("%016x", static_cast<uint64_t>(absl::HashOf(
                                      ir::PrintModule(*program_->module()), options_.Serialize())));
}

// ----- The cache -----

absl::StatusOr<SpecializationCache::Program> SpecializationCache::Get(
    const SpecializationKey& key, absl::FunctionRef<absl::StatusOr<Program>()> make) {
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = by_key_.find(key);
    if (it != by_key_.end()) {
      entries_.splice(entries_.begin(), entries_, it->second);
      entry = entries_.front();
    } else {
      entry = std::make_shared<Entry>(key);
      entries_.push_front(entry);
      by_key_[key] = entries_.begin();
      if (entries_.size() > capacity_) {
        by_key_.erase(entries_.back()->key);
        entries_.pop_back();
      }
    }
  }
  std::call_once(entry->once, [&] { entry->program = make(); });
  if (entry->program.ok()) return *entry->program;
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = by_key_.find(key);
  if (it != by_key_.end() && *it->second == entry) {
    entries_.erase(it->second);
    by_key_.erase(it);
  }
  return entry->program.status();
}

size_t SpecializationCache::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

// ----- Running -----

TemplatePjRtLoadedExecutable::TemplatePjRtLoadedExecutable(
    CommonPjRtClient* client, std::shared_ptr<TemplatePjRtExecutable> executable,
    ResolvedAssignment assignment)
    : client_(client), executable_(std::move(executable)), assignment_(std::move(assignment)) {}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> TemplatePjRtLoadedExecutable::Create(
    CommonPjRtClient* client, std::shared_ptr<TemplatePjRtExecutable> executable,
    ResolvedAssignment assignment) {
  std::unique_ptr<TemplatePjRtLoadedExecutable> loaded(
      new TemplatePjRtLoadedExecutable(client, std::move(executable), std::move(assignment)));
  if (loaded->assignment_.device_assignment == nullptr) return loaded;
  loaded->device_assignment_ = *loaded->assignment_.device_assignment;
  PJRT_ASSIGN_OR_RETURN(const std::vector<AddressablePart> parts,
                        AddressableParts(*client, loaded->device_assignment_));
  for (const AddressablePart& part : parts) {
    loaded->logical_ids_.push_back({part.replica, part.partition});
    loaded->devices_.push_back(part.device);
  }
  return loaded;
}

absl::Status TemplatePjRtLoadedExecutable::CheckAlive(absl::string_view caller) const {
  if (!IsDeleted()) return absl::OkStatus();
  return FailedPrecondition("PJRT-R058", caller, " of ", name(), ", which has been deleted");
}

absl::StatusOr<SpecializationCache::Program> TemplatePjRtLoadedExecutable::Get(
    const SpecializationKey& key) const {
  return programs_.Get(key, [&]() -> absl::StatusOr<SpecializationCache::Program> {
    PJRT_ASSIGN_OR_RETURN(std::unique_ptr<ir::Module> module,
                          WithMemoryGuard("making the program's shapes static",
                                          [&] { return executable_->program()->Specialize(key); }));
    PJRT_ASSIGN_OR_RETURN(
        std::shared_ptr<const DeviceProgram> compiled,
        client_->backend()->Compile(std::move(module), executable_->options(), assignment_));
    PJRT_ASSIGN_OR_RETURN(
        std::unique_ptr<PjRtLoadedExecutable> loaded,
        client_->LoadProgram(std::move(compiled), executable_->options(), assignment_));
    return SpecializationCache::Program(std::move(loaded));
  });
}

absl::StatusOr<SpecializationCache::Program> TemplatePjRtLoadedExecutable::Specialized(
    absl::Span<PjRtBuffer* const> arguments) const {
  PJRT_ASSIGN_OR_RETURN(const SpecializationKey key,
                        executable_->program()->KeyOf(arguments, client_));
  return Get(key);
}

absl::StatusOr<std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>>
TemplatePjRtLoadedExecutable::Execute(
    absl::Span<const std::vector<PjRtBuffer*>> argument_handles, const ExecuteOptions& options,
    std::optional<std::vector<Future<>>>& returned_futures) const {
  const auto specialize = [&]() -> absl::StatusOr<SpecializationCache::Program> {
    PJRT_RETURN_IF_ERROR(CheckAlive("Execute"));
    if (assignment_.device_assignment == nullptr) {
      return InvalidArgument("PJRT-R059", "Execute expects a non-null device_assignment; ", name(),
                             " is portable: use ExecutePortable");
    }
    if (argument_handles.size() != devices_.size()) {
      return InvalidArgument("PJRT-R060", "Attempted to execute with ", argument_handles.size(),
                             " argument lists when ", devices_.size(), " devices are addressable");
    }
    const ProgramTemplate& program = *executable_->program();
    PJRT_ASSIGN_OR_RETURN(const SpecializationKey key, program.KeyOf(argument_handles[0], client_));
    for (const std::vector<PjRtBuffer*>& arguments : argument_handles.subspan(1)) {
      PJRT_ASSIGN_OR_RETURN(const SpecializationKey other, program.KeyOf(arguments, client_));
      if (other != key) {
        return InvalidArgument("PJRT-R072", "the arguments of ", name(), " on ",
                               devices_[&arguments - argument_handles.data()]->DebugString(),
                               " have other shapes, or other values that decide shapes, than "
                               "those on ",
                               devices_[0]->DebugString());
      }
    }
    return Get(key);
  };
  const absl::StatusOr<SpecializationCache::Program> program = specialize();
  if (!program.ok()) {
    if (returned_futures.has_value()) returned_futures->clear();
    return program.status();
  }
  return (*program)->Execute(argument_handles, options, returned_futures);
}

absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>>
TemplatePjRtLoadedExecutable::ExecuteSharded(absl::Span<PjRtBuffer* const> argument_handles,
                                             PjRtDevice* device, const ExecuteOptions& options,
                                             std::optional<Future<>>& returned_future,
                                             bool fill_future) const {
  returned_future.reset();
  PJRT_RETURN_IF_ERROR(CheckAlive("ExecuteSharded"));
  PJRT_ASSIGN_OR_RETURN(const SpecializationCache::Program program, Specialized(argument_handles));
  return program->ExecuteSharded(argument_handles, device, options, returned_future, fill_future);
}

absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>>
TemplatePjRtLoadedExecutable::ExecutePortable(absl::Span<PjRtBuffer* const> argument_handles,
                                              PjRtDevice* device, const ExecuteOptions& options,
                                              std::optional<Future<>>& returned_future,
                                              bool fill_future) const {
  returned_future.reset();
  PJRT_RETURN_IF_ERROR(CheckAlive("ExecutePortable"));
  PJRT_ASSIGN_OR_RETURN(const SpecializationCache::Program program, Specialized(argument_handles));
  return program->ExecutePortable(argument_handles, device, options, returned_future, fill_future);
}

}  // namespace pjrt
