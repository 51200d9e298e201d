// SPDX-License-Identifier: Apache-2.0
//
// What executables of the common client know of themselves, and how they are made. Running them is
// in common_execute.cc.
#include "src/core/runtime/common_executable.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "pjrt/ir/module.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/program_template.h"
#include "src/core/runtime/template_executable.h"

namespace pjrt {
namespace {

// One for each SerializedExecutable::Kind.
constexpr absl::string_view kMagics[] = {"pjrt.executable.v1", "pjrt.template.v1"};

template <typename Values, typename Field>
std::optional<std::vector<std::string>> Shardings(const Values& values, Field field) {
  std::vector<std::string> shardings;
  bool has_any = false;
  for (const auto& value : values) {
    shardings.push_back(value.*field);
    has_any |= !shardings.back().empty();
  }
  if (!has_any) return std::nullopt;
  return shardings;
}

// Takes the next line of `text`.
absl::string_view TakeLine(absl::string_view* text) {
  const size_t end = text->find('\n');
  const absl::string_view line = text->substr(0, end);
  text->remove_prefix(end == absl::string_view::npos ? text->size() : end + 1);
  return line;
}

}  // namespace

const void* CommonPjRtExecutable::ClassId() {
  static constexpr char kId = 0;
  return &kId;
}

absl::StatusOr<std::vector<Shape>> CommonPjRtExecutable::GetOutputShapes() const {
  std::vector<Shape> leaves;
  for (const ProgramResult& result : info().results) leaves.push_back(result.shape);
  if (leaves.size() == 1 && !info().result_is_tuple) return leaves;
  return std::vector<Shape>{Shape(std::move(leaves))};
}

absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>>
CommonPjRtExecutable::GetParameterLayouts() const {
  std::vector<std::shared_ptr<const PjRtLayout>> layouts;
  for (const ProgramParameter& parameter : info().parameters) {
    const Shape& shape = parameter.shape;
    layouts.push_back(std::make_shared<const PjRtLayout>(
        shape.has_layout() ? shape.layout() : MakeDescendingLayout(shape.rank())));
  }
  return layouts;
}

absl::StatusOr<std::vector<std::vector<absl::string_view>>>
CommonPjRtExecutable::GetParameterMemoryKinds() const {
  std::vector<std::vector<absl::string_view>> kinds(1);
  for (const ProgramParameter& p : info().parameters) kinds[0].push_back(p.memory_kind);
  return kinds;
}

absl::StatusOr<std::vector<std::vector<absl::string_view>>>
CommonPjRtExecutable::GetOutputMemoryKinds() const {
  std::vector<std::vector<absl::string_view>> kinds(1);
  for (const ProgramResult& r : info().results) kinds[0].push_back(r.memory_kind);
  return kinds;
}

std::optional<std::vector<std::string>> CommonPjRtExecutable::GetParameterShardings() const {
  return Shardings(info().parameters, &ProgramParameter::sharding);
}

std::optional<std::vector<std::string>> CommonPjRtExecutable::GetOutputShardings() const {
  return Shardings(info().results, &ProgramResult::sharding);
}

absl::StatusOr<std::vector<std::shared_ptr<const ir::Module>>> CommonPjRtExecutable::GetModules()
    const {
  if (info().module == nullptr) return PjRtExecutable::GetModules();
  return std::vector<std::shared_ptr<const ir::Module>>{info().module};
}

absl::StatusOr<CompiledMemoryStats> CommonPjRtExecutable::GetCompiledMemoryStats() const {
  return info().memory_stats;
}

absl::StatusOr<CostMap> CommonPjRtExecutable::GetCostAnalysis() const { return info().cost; }

absl::StatusOr<std::string> CommonPjRtExecutable::FingerprintExecutable() const {
  if (info().fingerprint.empty()) return PjRtExecutable::FingerprintExecutable();
  return info().fingerprint;
}

absl::StatusOr<std::string> CommonPjRtExecutable::SerializeExecutable() const {
  PJRT_ASSIGN_OR_RETURN(const std::string program, program_->Serialize());
  return SerializeParts(SerializedExecutable::kDeviceProgram, platform_name_, options_, program);
}

std::string SerializeParts(SerializedExecutable::Kind kind, absl::string_view platform_name,
                           const CompileOptions& options, absl::string_view program) {
  const std::string text = options.Serialize();
  return absl::StrCat(kMagics[kind], "\n", platform_name, "\n", text.size(), "\n", text, program);
}

absl::StatusOr<SerializedExecutable> ParseSerializedExecutable(absl::string_view serialized,
                                                               absl::string_view platform_name) {
  absl::string_view rest = serialized;
  const auto magic = std::find(std::begin(kMagics), std::end(kMagics), TakeLine(&rest));
  if (magic == std::end(kMagics)) {
    return InvalidArgument("PJRT-R043", "the bytes aren't a serialized executable of this version");
  }
  const absl::string_view platform = TakeLine(&rest);
  if (platform != platform_name) {
    return InvalidArgument("PJRT-R043", "the executable is for another platform than ",
                           platform_name);
  }
  uint64_t options_size = 0;
  if (!absl::SimpleAtoi(TakeLine(&rest), &options_size) || options_size > rest.size()) {
    return InvalidArgument("PJRT-R043", "the serialized executable is damaged or cut short");
  }
  SerializedExecutable parsed;
  parsed.kind = static_cast<SerializedExecutable::Kind>(magic - std::begin(kMagics));
  PJRT_ASSIGN_OR_RETURN(parsed.options, CompileOptions::Deserialize(rest.substr(0, options_size)));
  parsed.program = rest.substr(options_size);
  return parsed;
}

CommonPjRtLoadedExecutable::CommonPjRtLoadedExecutable(
    CommonPjRtClient* client, std::shared_ptr<CommonPjRtExecutable> executable,
    ResolvedAssignment assignment)
    : AssignedExecutable(client, std::move(assignment)),
      executable_(std::move(executable)),
      program_(executable_->program()) {}

absl::StatusOr<std::unique_ptr<CommonPjRtLoadedExecutable>> CommonPjRtLoadedExecutable::Create(
    CommonPjRtClient* client, std::shared_ptr<CommonPjRtExecutable> executable,
    ResolvedAssignment assignment) {
  auto loaded = std::make_unique<CommonPjRtLoadedExecutable>(client, std::move(executable),
                                                             std::move(assignment));
  const ProgramInfo& info = loaded->program_->info();
  constexpr absl::string_view kCaller = "loading an executable";
  for (const ProgramParameter& parameter : info.parameters) {
    const Shape& shape = parameter.shape;
    PJRT_ASSIGN_OR_RETURN(
        const BufferTypeRef type,
        client->MakeBufferType(shape, shape.has_layout() ? &shape.layout() : nullptr, kCaller));
    loaded->parameter_bytes_.push_back(type->bytes);
    loaded->has_memory_kinds_ |= !parameter.memory_kind.empty();
    loaded->has_donations_ |= parameter.donation != Donation::kNever;
  }
  for (const ProgramResult& result : info.results) {
    if (result.shape.IsTuple()) {
      return Internal("PJRT-R044", "the program ", info.name,
                      " has a nested tuple in its result: ", result.shape.ToString());
    }
    PJRT_ASSIGN_OR_RETURN(
        BufferTypeRef type,
        client->MakeBufferType(
            result.shape, result.shape.has_layout() ? &result.shape.layout() : nullptr, kCaller));
    loaded->result_types_.push_back(std::move(type));
    if (result.aliased_parameter >= static_cast<int>(info.parameters.size())) {
      return Internal("PJRT-R044", "a result of the program ", info.name, " aliases parameter ",
                      result.aliased_parameter, " of ", info.parameters.size());
    }
  }
  PJRT_ASSIGN_OR_RETURN(const std::vector<AddressablePart> parts, loaded->FindDevices());
  for (const AddressablePart& part : parts) {
    Place place;
    place.device = part.device;
    place.replica = part.replica;
    place.partition = part.partition;
    PJRT_RETURN_IF_ERROR(loaded->ResolveResultSpaces(&place));
    loaded->places_.push_back(std::move(place));
  }
  return loaded;
}

bool CommonPjRtLoadedExecutable::IsLaunchedLike(const CommonPjRtLoadedExecutable& other) const {
  const ProgramInfo& own = program_->info();
  const ProgramInfo& its = other.program_->info();
  return absl::c_equal(own.parameters, its.parameters,
                       [](const ProgramParameter& a, const ProgramParameter& b) {
                         return a.donation == b.donation;
                       }) &&
         absl::c_equal(own.results, its.results,
                       [](const ProgramResult& a, const ProgramResult& b) {
                         return a.memory_kind == b.memory_kind;
                       });
}

absl::Status CommonPjRtLoadedExecutable::ResolveResultSpaces(Place* place) const {
  for (const ProgramResult& result : program_->info().results) {
    CommonMemorySpace* const space = place->device->FindMemory(result.memory_kind);
    if (space == nullptr) {
      return InvalidArgument("PJRT-R044", "the program ", program_->info().name,
                             " puts a result into memory of kind ", result.memory_kind, ", which ",
                             place->device->DebugString(), " doesn't have");
    }
    place->result_spaces.push_back(space);
  }
  return absl::OkStatus();
}

// ----- Compiling and loading -----

absl::StatusOr<ResolvedAssignment> CommonPjRtClient::Resolve(const CompileOptions& options) const {
  PJRT_ASSIGN_OR_RETURN(ResolvedAssignment resolved,
                        ResolveDeviceAssignment(options, [this](int replicas, int partitions) {
                          return GetDefaultDeviceAssignment(replicas, partitions);
                        }));
  if (resolved.device_assignment == nullptr) return resolved;
  bool any_addressable = false;
  for (const int64_t id : resolved.device_assignment->device_ids()) {
    // Ids that are no int32 can't be found; they must not be cut down to ones that can.
    const bool fits = id >= 0 && id <= std::numeric_limits<int32_t>::max();
    PJRT_ASSIGN_OR_RETURN(const PjRtDevice* device,
                          LookupDevice(GlobalDeviceId(fits ? static_cast<int32_t>(id) : -1)));
    any_addressable |= device->IsAddressable();
  }
  if (!any_addressable) {
    return InvalidArgument("PJRT-R045", "no device of the assignment is addressable: ",
                           resolved.device_assignment->ToString());
  }
  return resolved;
}

absl::StatusOr<std::unique_ptr<CommonPjRtLoadedExecutable>> CommonPjRtClient::LoadProgram(
    std::shared_ptr<const DeviceProgram> program, CompileOptions options,
    ResolvedAssignment assignment) {
  auto executable = std::make_shared<CommonPjRtExecutable>(
      std::move(program), std::move(options), assignment.num_replicas, assignment.num_partitions,
      std::string(platform_name()));
  return CommonPjRtLoadedExecutable::Create(this, std::move(executable), std::move(assignment));
}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> CommonPjRtClient::CompileAndLoad(
    PjRtProgram program, CompileOptions options) {
  PJRT_RETURN_IF_ERROR(options.ApplyAllOptionOverrides());
  PJRT_ASSIGN_OR_RETURN(ResolvedAssignment assignment, Resolve(options));
  PJRT_ASSIGN_OR_RETURN(std::shared_ptr<PjRtExecutable> executable,
                        CompileFor(std::move(program), std::move(options), assignment));
  return LoadFor(std::move(executable), std::move(assignment));
}

absl::StatusOr<std::unique_ptr<PjRtExecutable>> CommonPjRtClient::CompileUnloaded(
    PjRtProgram program, CompileOptions options) {
  PJRT_RETURN_IF_ERROR(options.ApplyAllOptionOverrides());
  PJRT_ASSIGN_OR_RETURN(const ResolvedAssignment assignment, Resolve(options));
  return CompileFor(std::move(program), std::move(options), assignment);
}

absl::StatusOr<std::unique_ptr<PjRtExecutable>> CommonPjRtClient::CompileFor(
    PjRtProgram program, CompileOptions options, const ResolvedAssignment& assignment) {
  PJRT_ASSIGN_OR_RETURN(PreparedProgram prepared,
                        PrepareProgram(std::move(program), backend_->pass_options()));
  if (prepared.program_template != nullptr) {
    PJRT_RETURN_IF_ERROR(prepared.program_template->Check(backend_.get(), options, assignment));
    return std::make_unique<TemplatePjRtExecutable>(
        std::move(prepared.program_template), std::move(options), assignment.num_replicas,
        assignment.num_partitions, std::string(platform_name()));
  }
  PJRT_ASSIGN_OR_RETURN(std::shared_ptr<const DeviceProgram> compiled,
                        backend_->Compile(std::move(prepared.module), options, assignment));
  return std::make_unique<CommonPjRtExecutable>(std::move(compiled), std::move(options),
                                                assignment.num_replicas, assignment.num_partitions,
                                                std::string(platform_name()));
}

absl::StatusOr<std::unique_ptr<PjRtExecutable>> CommonPjRtClient::DeserializeExecutable(
    absl::string_view serialized, std::optional<CompileOptions> options) {
  PJRT_ASSIGN_OR_RETURN(SerializedExecutable parsed,
                        ParseSerializedExecutable(serialized, platform_name()));
  if (options.has_value()) {
    PJRT_RETURN_IF_ERROR(options->ApplyAllOptionOverrides());
    parsed.options = *std::move(options);
  }
  PJRT_ASSIGN_OR_RETURN(ResolvedAssignment assignment, Resolve(parsed.options));
  if (parsed.kind == SerializedExecutable::kTemplate) {
    return CompileFor(PjRtProgram(std::string(parsed.program), ProgramFormat::kText),
                      std::move(parsed.options), assignment);
  }
  PJRT_ASSIGN_OR_RETURN(std::shared_ptr<const DeviceProgram> program,
                        backend_->DeserializeProgram(parsed.program, parsed.options, assignment));
  return std::make_unique<CommonPjRtExecutable>(std::move(program), std::move(parsed.options),
                                                assignment.num_replicas, assignment.num_partitions,
                                                std::string(platform_name()));
}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> CommonPjRtClient::LoadSerializedExecutable(
    absl::string_view serialized, std::optional<CompileOptions> options,
    const LoadOptions& load_options) {
  PJRT_ASSIGN_OR_RETURN(std::shared_ptr<PjRtExecutable> executable,
                        DeserializeExecutable(serialized, std::move(options)));
  return Load(std::move(executable), load_options);
}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> CommonPjRtClient::Load(
    std::shared_ptr<PjRtExecutable> executable, const LoadOptions&) {
  if (executable == nullptr) {
    return InvalidArgument("PJRT-R046", "Load needs an executable; given null");
  }
  const bool is_template = executable->class_id() == TemplatePjRtExecutable::ClassId();
  if (!is_template && executable->class_id() != CommonPjRtExecutable::ClassId()) {
    return InvalidArgument("PJRT-R046", "the executable ", executable->name(),
                           " wasn't made by a client of this kind");
  }
  const std::string& platform =
      is_template ? static_cast<TemplatePjRtExecutable&>(*executable).platform_name()
                  : static_cast<CommonPjRtExecutable&>(*executable).platform_name();
  if (platform != platform_name()) {
    return InvalidArgument("PJRT-R046", "the executable ", executable->name(), " is for platform ",
                           platform, "; this client's is ", platform_name());
  }
  PJRT_ASSIGN_OR_RETURN(const CompileOptions options, executable->GetCompileOptions());
  PJRT_ASSIGN_OR_RETURN(ResolvedAssignment assignment, Resolve(options));
  return LoadFor(std::move(executable), std::move(assignment));
}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> CommonPjRtClient::LoadFor(
    std::shared_ptr<PjRtExecutable> executable, ResolvedAssignment assignment) {
  if (executable->class_id() == TemplatePjRtExecutable::ClassId()) {
    return TemplatePjRtLoadedExecutable::Create(
        this, std::static_pointer_cast<TemplatePjRtExecutable>(std::move(executable)),
        std::move(assignment));
  }
  return CommonPjRtLoadedExecutable::Create(
      this, std::static_pointer_cast<CommonPjRtExecutable>(std::move(executable)),
      std::move(assignment));
}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> LoadDeviceProgram(
    PjRtClient* client, std::shared_ptr<const DeviceProgram> program, CompileOptions options) {
  auto* common = static_cast<CommonPjRtClient*>(client);
  PJRT_ASSIGN_OR_RETURN(ResolvedAssignment assignment, common->Resolve(options));
  return common->LoadProgram(std::move(program), std::move(options), std::move(assignment));
}

}  // namespace pjrt
