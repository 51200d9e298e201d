// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/template_executable.h"

#include <array>

#include "pjrt/ir/printer.h"
#include "src/core/base/error.h"
#include "src/core/base/fingerprint.h"
#include "src/core/base/memory_guard.h"
#include "src/core/base/status_macros.h"

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

namespace {

template <typename AttrOf>
std::optional<std::vector<std::string>> ShardingsFrom(size_t count, AttrOf attr_of) {
  std::vector<std::string> shardings(count);
  bool has_any = false;
  for (size_t i = 0; i < count; ++i) {
    const ir::Attribute sharding = attr_of(i, "mhlo.sharding");
    if (!sharding.Is(ir::AttrKind::kString)) continue;
    shardings[i] = std::string(sharding.AsString());
    has_any = true;
  }
  if (!has_any) return std::nullopt;
  return shardings;
}

}  // namespace

std::optional<std::vector<std::string>> TemplatePjRtExecutable::GetParameterShardings() const {
  const ir::Function entry = program_->module()->EntryFunction();
  return ShardingsFrom(program_->parameters().size(),
                       [&](size_t i, absl::string_view name) { return entry.ArgAttr(i, name); });
}

std::optional<std::vector<std::string>> TemplatePjRtExecutable::GetOutputShardings() const {
  const ir::Function entry = program_->module()->EntryFunction();
  return ShardingsFrom(program_->results().size(),
                       [&](size_t i, absl::string_view name) { return entry.ResultAttr(i, name); });
}

absl::Status TemplatePjRtExecutable::FollowsFromSizes(absl::string_view what) const {
  return Unimplemented("PJRT-R073", what, " of ", name(),
                       ", a program with dynamic shapes, follow from the sizes of an execution; "
                       "execute it first, or compile it with ir::RefineArguments and "
                       "ir::RefineShapes for given sizes");
}

absl::StatusOr<CompiledMemoryStats> TemplatePjRtExecutable::GetCompiledMemoryStats() const {
  return FollowsFromSizes("memory statistics");
}

absl::StatusOr<CostMap> TemplatePjRtExecutable::GetCostAnalysis() const {
  return FollowsFromSizes("costs");
}

absl::StatusOr<std::string> TemplatePjRtExecutable::SerializeExecutable() const {
  return SerializeParts(SerializedExecutable::kTemplate, platform_name_, options_,
                        ir::PrintModule(*program_->module()));
}

absl::StatusOr<std::string> TemplatePjRtExecutable::FingerprintExecutable() const {
  return Fingerprint({ir::PrintModule(*program_->module()), options_.Serialize()});
}

// ----- Running -----

TemplatePjRtLoadedExecutable::TemplatePjRtLoadedExecutable(
    CommonPjRtClient* client, std::shared_ptr<TemplatePjRtExecutable> executable,
    ResolvedAssignment assignment)
    : AssignedExecutable(client, std::move(assignment)),
      executable_(std::move(executable)),
      seen_(*executable_->program()) {}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> TemplatePjRtLoadedExecutable::Create(
    CommonPjRtClient* client, std::shared_ptr<TemplatePjRtExecutable> executable,
    ResolvedAssignment assignment) {
  std::unique_ptr<TemplatePjRtLoadedExecutable> loaded(
      new TemplatePjRtLoadedExecutable(client, std::move(executable), std::move(assignment)));
  PJRT_RETURN_IF_ERROR(loaded->FindDevices().status());
  return loaded;
}

SpecializationCache::Program TemplatePjRtLoadedExecutable::Latest() const {
  SpecializationCache::Program last = seen_.last();
  return last != nullptr ? last : programs_.latest();
}

absl::StatusOr<CompiledMemoryStats> TemplatePjRtLoadedExecutable::GetCompiledMemoryStats() const {
  const SpecializationCache::Program latest = Latest();
  return latest != nullptr ? latest->GetCompiledMemoryStats()
                           : executable_->GetCompiledMemoryStats();
}

absl::StatusOr<CostMap> TemplatePjRtLoadedExecutable::GetCostAnalysis() const {
  const SpecializationCache::Program latest = Latest();
  return latest != nullptr ? latest->GetCostAnalysis() : executable_->GetCostAnalysis();
}

absl::StatusOr<SpecializationCache::Program> TemplatePjRtLoadedExecutable::Get(
    const SpecializationKey& key) const {
  return programs_.Get(key, [&]() -> absl::StatusOr<SpecializationCache::Program> {
    PJRT_ASSIGN_OR_RETURN(std::shared_ptr<const DeviceProgram> compiled,
                          executable_->program()->Compile(key, client_->backend(),
                                                          executable_->options(), resolved_));
    PJRT_ASSIGN_OR_RETURN(
        std::unique_ptr<CommonPjRtLoadedExecutable> loaded,
        client_->LoadProgram(std::move(compiled), executable_->options(), resolved_));
    return SpecializationCache::Program(std::move(loaded));
  });
}

template <typename Lists>
absl::StatusOr<SpecializationKey> TemplatePjRtLoadedExecutable::KeyOf(
    const Lists& arguments) const {
  const ProgramTemplate& program = *executable_->program();
  PJRT_ASSIGN_OR_RETURN(SpecializationKey key, program.KeyOf(arguments[0], client_));
  for (size_t i = 1; i < arguments.size(); ++i) {
    PJRT_ASSIGN_OR_RETURN(const SpecializationKey other, program.KeyOf(arguments[i], client_));
    if (other != key) {
      return InvalidArgument("PJRT-R072", "the arguments of ", name(), " on ",
                             addressable_devices()[i]->DebugString(),
                             " have other shapes, or other values that decide shapes, than "
                             "those on ",
                             addressable_devices()[0]->DebugString());
    }
  }
  return key;
}

template <typename Lists>
absl::StatusOr<SpecializationCache::Program> TemplatePjRtLoadedExecutable::Find(
    const Lists& arguments) const {
  PJRT_ASSIGN_OR_RETURN(const SpecializationKey key, KeyOf(arguments));
  PJRT_ASSIGN_OR_RETURN(SpecializationCache::Program program, Get(key));
  seen_.Add(key, arguments[0], program);
  return program;
}

template <typename Lists, typename Run>
auto TemplatePjRtLoadedExecutable::RunSpecialized(const Lists& arguments, Run run) const
    -> decltype(run(std::declval<const CommonPjRtLoadedExecutable&>(), nullptr)) {
  const CommonPjRtLoadedExecutable* const seen = seen_.first();
  ProgramChoice choice{seen_, /*found_none=*/seen == nullptr};
  using Results = decltype(run(*seen, nullptr));
  Results results = seen != nullptr ? run(*seen, &choice) : Results();
  if (choice.found_none) {
    const absl::StatusOr<SpecializationCache::Program> program = Find(arguments);
    results = program.ok() ? run(**program, nullptr) : Results(program.status());
  }
  return results;
}

absl::StatusOr<std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>>
TemplatePjRtLoadedExecutable::Execute(
    absl::Span<const std::vector<PjRtBuffer*>> argument_handles, const ExecuteOptions& options,
    std::optional<std::vector<Future<>>>& returned_futures) const {
  const auto execute =
      [&]() -> absl::StatusOr<std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>> {
    PJRT_RETURN_IF_ERROR(CheckLists("Execute", argument_handles.size()));
    if (argument_handles.empty())
      return std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>();  // no device of this process
                                                                       // takes part
    return RunSpecialized(
        argument_handles, [&](const CommonPjRtLoadedExecutable& program, ProgramChoice* choice) {
          return program.ExecuteLists(argument_handles, options, returned_futures, choice);
        });
  };
  auto results = execute();
  if (!results.ok() && returned_futures.has_value()) returned_futures->clear();
  return results;
}

absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>>
TemplatePjRtLoadedExecutable::ExecuteSharded(absl::Span<PjRtBuffer* const> argument_handles,
                                             PjRtDevice* device, const ExecuteOptions& options,
                                             std::optional<Future<>>& returned_future,
                                             bool fill_future) const {
  returned_future.reset();
  PJRT_RETURN_IF_ERROR(CheckAlive("ExecuteSharded"));
  const std::array<absl::Span<PjRtBuffer* const>, 1> lists{argument_handles};
  return RunSpecialized(lists,
                        [&](const CommonPjRtLoadedExecutable& program, ProgramChoice* choice) {
                          return program.ExecuteOnDevice(argument_handles, device, options,
                                                         returned_future, fill_future, choice);
                        });
}

absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>>
TemplatePjRtLoadedExecutable::ExecutePortable(absl::Span<PjRtBuffer* const> argument_handles,
                                              PjRtDevice* device, const ExecuteOptions& options,
                                              std::optional<Future<>>& returned_future,
                                              bool fill_future) const {
  returned_future.reset();
  PJRT_RETURN_IF_ERROR(CheckAlive("ExecutePortable"));
  const std::array<absl::Span<PjRtBuffer* const>, 1> lists{argument_handles};
  return RunSpecialized(lists,
                        [&](const CommonPjRtLoadedExecutable& program, ProgramChoice* choice) {
                          return program.ExecuteAnywhere(argument_handles, device, options,
                                                         returned_future, fill_future, choice);
                        });
}

}  // namespace pjrt
