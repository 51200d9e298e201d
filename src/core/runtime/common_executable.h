// SPDX-License-Identifier: Apache-2.0
//
// Executables of the common client.
#ifndef PJRT_CORE_RUNTIME_COMMON_EXECUTABLE_H_
#define PJRT_CORE_RUNTIME_COMMON_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "pjrt/backend/device_program.h"
#include "pjrt/executable.h"
#include "src/core/runtime/argument_holds.h"
#include "src/core/runtime/assigned_executable.h"
#include "src/core/runtime/buffer_type.h"
#include "src/core/runtime/common_client_impl.h"

namespace pjrt {

class SeenPrograms;
struct PendingLaunch;

// A DeviceProgram with the options that it was compiled with.
class CommonPjRtExecutable final : public PjRtExecutable {
 public:
  CommonPjRtExecutable(std::shared_ptr<const DeviceProgram> program, CompileOptions options,
                       int num_replicas, int num_partitions, std::string platform_name)
      : program_(std::move(program)),
        options_(std::move(options)),
        num_replicas_(num_replicas),
        num_partitions_(num_partitions),
        platform_name_(std::move(platform_name)) {}

  int num_replicas() const override { return num_replicas_; }
  int num_partitions() const override { return num_partitions_; }
  absl::string_view name() const override { return info().name; }
  int64_t SizeOfGeneratedCodeInBytes() const override { return info().generated_code_size; }
  absl::StatusOr<std::vector<Shape>> GetOutputShapes() const override;
  absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> GetParameterLayouts()
      const override;
  absl::StatusOr<std::vector<std::vector<absl::string_view>>> GetParameterMemoryKinds()
      const override;
  absl::StatusOr<std::vector<std::vector<absl::string_view>>> GetOutputMemoryKinds() const override;
  std::optional<std::vector<std::string>> GetParameterShardings() const override;
  std::optional<std::vector<std::string>> GetOutputShardings() const override;
  absl::StatusOr<std::vector<std::shared_ptr<const ir::Module>>> GetModules() const override;
  absl::StatusOr<CompiledMemoryStats> GetCompiledMemoryStats() const override;
  absl::StatusOr<CostMap> GetCostAnalysis() const override;
  absl::StatusOr<std::string> SerializeExecutable() const override;
  absl::StatusOr<std::string> FingerprintExecutable() const override;
  absl::StatusOr<CompileOptions> GetCompileOptions() const override { return options_; }
  const void* class_id() const override { return ClassId(); }

  // What class_id() of this class returns.
  static const void* ClassId();
  const std::shared_ptr<const DeviceProgram>& program() const { return program_; }
  const CompileOptions& options() const { return options_; }
  const std::string& platform_name() const { return platform_name_; }

 private:
  const ProgramInfo& info() const { return program_->info(); }

  std::shared_ptr<const DeviceProgram> program_;
  CompileOptions options_;
  int num_replicas_;
  int num_partitions_;
  std::string platform_name_;
};

// What SerializeExecutable writes: a line that says what the program is, the platform's name, the
// length of the options, the options, and the program.
struct SerializedExecutable {
  enum Kind : uint8_t {
    kDeviceProgram,  // what DeviceProgram::Serialize wrote
    kTemplate,       // the text of a ProgramTemplate's module
  };
  Kind kind = kDeviceProgram;
  CompileOptions options;
  absl::string_view program;  // views the serialized text
};
std::string SerializeParts(SerializedExecutable::Kind kind, absl::string_view platform_name,
                           const CompileOptions& options, absl::string_view program);
// INVALID_ARGUMENT [PJRT-R043] for what isn't that, or is for another platform.
absl::StatusOr<SerializedExecutable> ParseSerializedExecutable(absl::string_view serialized,
                                                               absl::string_view platform_name);

// The choice that a launch makes when its arguments are held: which of the programs that were made
// of one template runs. One that runs the program it is asked for has none.
struct ProgramChoice {
  const SeenPrograms& among;
  bool found_none =
      false;  // set where no program is for these arguments: nothing has happened then
};

class CommonPjRtLoadedExecutable final : public AssignedExecutable {
 public:
  // Use Create.
  CommonPjRtLoadedExecutable(CommonPjRtClient* client,
                             std::shared_ptr<CommonPjRtExecutable> executable,
                             ResolvedAssignment assignment);

  static absl::StatusOr<std::unique_ptr<CommonPjRtLoadedExecutable>> Create(
      CommonPjRtClient* client, std::shared_ptr<CommonPjRtExecutable> executable,
      ResolvedAssignment assignment);

  absl::StatusOr<std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>> Execute(
      absl::Span<const std::vector<PjRtBuffer*>> argument_handles, const ExecuteOptions& options,
      std::optional<std::vector<Future<>>>& returned_futures) const override;
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecuteSharded(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future,
      bool fill_future) const override;
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecutePortable(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future,
      bool fill_future) const override;
  using PjRtLoadedExecutable::Execute;
  using PjRtLoadedExecutable::ExecutePortable;
  using PjRtLoadedExecutable::ExecuteSharded;
  PjRtExecutable* GetExecutable() const override { return executable_.get(); }

  // The three above with a choice, which may be null: then in the place of this program one of
  // those runs, which are all launched like this one. ExecuteLists lacks the first checks of
  // Execute: of an executable that lives and has an assignment, with as many lists of arguments as
  // it has addressable devices. After an error, or where the choice found none, the futures are
  // undefined.
  absl::StatusOr<std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>> ExecuteLists(
      absl::Span<const std::vector<PjRtBuffer*>> argument_handles, const ExecuteOptions& options,
      std::optional<std::vector<Future<>>>& returned_futures, ProgramChoice* choice) const;
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecuteOnDevice(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future, bool fill_future,
      ProgramChoice* choice) const;
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecuteAnywhere(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future, bool fill_future,
      ProgramChoice* choice) const;

  // How many bytes each of its arguments must have on the device.
  absl::Span<const size_t> parameter_bytes() const { return parameter_bytes_; }
  // Whether a launch of either takes the same holds of as many arguments, and puts its results into
  // the same memories.
  bool IsLaunchedLike(const CommonPjRtLoadedExecutable& other) const;

 private:
  friend struct PendingLaunch;

  // One device's part in a launch.
  struct Place {
    CommonDevice* device = nullptr;
    int replica = 0;
    int partition = 0;
    absl::InlinedVector<CommonMemorySpace*, 4> result_spaces;
  };
  using Buffers = std::vector<std::unique_ptr<PjRtBuffer>>;

  absl::Status ResolveResultSpaces(Place* place) const;
  absl::Status CheckExecute(const ExecuteOptions& options, size_t num_devices) const;
  // Checks one device's arguments, up to their holds, and takes what holds can be had.
  // `checks_shapes`: whether the options ask for it and this is the program that will run.
  absl::Status CheckArguments(const Place& place, absl::Span<PjRtBuffer* const> arguments,
                              const ExecuteOptions& options, bool checks_shapes,
                              ArgumentHolds* holds) const;
  absl::Status DeadArgument(const Place& place, size_t index) const;
  // Checks one device's arguments, in the documented order, and takes holds on them. Returns the
  // program that runs with them: this one, or the one that is chosen; null where that is none.
  absl::StatusOr<const CommonPjRtLoadedExecutable*> Prepare(const Place& place,
                                                            absl::Span<PjRtBuffer* const> arguments,
                                                            const ExecuteOptions& options,
                                                            ProgramChoice* choice,
                                                            ArgumentHolds* holds) const;
  absl::Status CheckArgument(const Place& place, size_t index, PjRtBuffer* argument,
                             const ExecuteOptions& options, bool checks_shapes,
                             HeldArgument* checked) const;
  absl::Status CheckShape(size_t index, const BufferType& given) const;
  // The checks that need the holds. `was_chosen`: for these arguments, so that their sizes fit, but
  // nobody has looked at their shapes.
  absl::Status CheckHeldArguments(const Place& place, const ExecuteOptions& options,
                                  bool was_chosen, ArgumentHolds* holds) const;
  absl::Status CheckDonations(ArgumentHolds* holds) const;
  absl::Status CheckSizes(absl::Span<const HeldArgument> arguments) const;
  absl::Status CheckShapes(absl::Span<const HeldArgument> arguments) const;
  absl::Status CheckMemoryKinds(const Place& place, absl::Span<const HeldArgument> arguments) const;
  // `status` with the replica and partition it is about.
  absl::Status WithPlace(absl::Status status, const Place& place) const;

  // Prepares and launches on one device. `future`, if not null, gets the end of the execution.
  absl::StatusOr<Buffers> RunOnOne(const Place& place, absl::Span<PjRtBuffer* const> arguments,
                                   const ExecuteOptions& options, LaunchMode mode, int64_t run_id,
                                   Future<>* future, ProgramChoice* choice) const;
  // Launches with holds taken. Null when there are too many launches in flight: then everything is
  // as before the call.
  absl::StatusOr<std::optional<Buffers>> LaunchHeld(const Place& place, ArgumentHolds* holds,
                                                    const ExecuteOptions& options, LaunchMode mode,
                                                    int64_t run_id, Future<>* future) const;
  absl::StatusOr<Buffers> LaunchNow(const Place& place, ArgumentHolds* holds,
                                    const ExecuteOptions& options, LaunchMode mode, int64_t run_id,
                                    absl::Span<const Future<>> after, Future<>* future) const;
  // Turns held arguments into a launch that runs when `pending`'s inputs are ready.
  Buffers Defer(const Place& place, ArgumentHolds* holds, const ExecuteOptions& options,
                int64_t run_id, PendingLaunch* pending, std::vector<Future<>>* after,
                Future<>* future) const;
  Buffers ErrorOutputs(const Place& place, const Future<>& error) const;

  absl::StatusOr<std::vector<Buffers>> RunOnSeveral(
      absl::Span<const std::vector<PjRtBuffer*>> arguments, const ExecuteOptions& options,
      std::optional<std::vector<Future<>>>& returned_futures, ProgramChoice* choice) const;

  LaunchMode ModeFor(const ExecuteOptions& options, bool several_devices) const;

  const std::shared_ptr<CommonPjRtExecutable> executable_;
  const std::shared_ptr<const DeviceProgram> program_;
  std::vector<size_t> parameter_bytes_;
  bool has_memory_kinds_ = false;
  bool has_donations_ = false;
  std::vector<BufferTypeRef> result_types_;
  std::vector<Place> places_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_COMMON_EXECUTABLE_H_
