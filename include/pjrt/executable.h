// SPDX-License-Identifier: Apache-2.0
//
// Compiled programs: PjRtExecutable, which is independent of any client, and PjRtLoadedExecutable,
// which runs. Spec: PJRT C++ API, sections 1.7 and 1.8.
#ifndef PJRT_EXECUTABLE_H_
#define PJRT_EXECUTABLE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/abi_version.h"
#include "pjrt/base/future.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/base/shape.h"
#include "pjrt/buffer.h"
#include "pjrt/compile_options.h"
#include "pjrt/compiled_memory_stats.h"
#include "pjrt/device_assignment.h"
#include "pjrt/execute_options.h"
#include "pjrt/ids.h"

namespace pjrt {

namespace ir {
class Module;
}  // namespace ir

class PjRtClient;
class PjRtDevice;
class PjRtLayout;

// Properties of a program by name; costs are floats: "flops", "transcendentals", "bytes accessed",
// "optimal_seconds".
using CostMap = absl::flat_hash_map<std::string, PjRtValueType>;

// A compiled program that belongs to no client. An executable may hold several programs when
// partitions differ; most hold one, and where a method says "per program" its result then has one
// entry.
//
// Threads: immutable; all methods may be called from any thread.
class PjRtExecutable {
 public:
  virtual ~PjRtExecutable() = default;

  // ----- What a backend must override -----

  // The number of copies that run side by side, and of partitions in each.
  virtual int num_replicas() const = 0;
  virtual int num_partitions() const = 0;

  // The program's name: that of its module.
  virtual absl::string_view name() const = 0;

  // Bytes of machine code, 0 or -1 when unknown.
  virtual int64_t SizeOfGeneratedCodeInBytes() const = 0;

  // The shapes of the results, with layouts, per program: a tuple shape unless there is exactly one
  // result.
  virtual absl::StatusOr<std::vector<Shape>> GetOutputShapes() const = 0;

  // ----- Derived from GetOutputShapes() -----

  // Element types and sizes of the results, per program. UNIMPLEMENTED for nested tuples.
  virtual absl::StatusOr<std::vector<std::vector<PrimitiveType>>> GetOutputElementTypes() const;
  virtual absl::StatusOr<std::vector<std::vector<DimensionVector>>> GetOutputDimensions() const;

  // ----- What a backend may leave out: each is UNIMPLEMENTED by default, or nullopt -----

  // The layouts that the program wants its parameters in and makes its results in, flat.
  // UNIMPLEMENTED with more than one program, INVALID_ARGUMENT with none. The default of
  // GetOutputLayouts derives from GetOutputShapes().
  virtual absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> GetParameterLayouts()
      const;
  virtual absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> GetOutputLayouts() const;

  // The kind of memory that each parameter must lie in and each result will, [program][value].
  virtual absl::StatusOr<std::vector<std::vector<absl::string_view>>> GetParameterMemoryKinds()
      const;
  virtual absl::StatusOr<std::vector<std::vector<absl::string_view>>> GetOutputMemoryKinds() const;

  // The sharding of each parameter and result over the partitions as its text in the program
  // ("{devices=[2,1]0,1}"), or nullopt when the program has no shardings.
  virtual std::optional<std::vector<std::string>> GetParameterShardings() const;
  virtual std::optional<std::vector<std::string>> GetOutputShardings() const;

  // The optimized program, one module per program. Called GetHloModules in XLA, whose programs are
  // HLO modules.
  virtual absl::StatusOr<std::vector<std::shared_ptr<const ir::Module>>> GetModules() const;

  // What the program needs of memory.
  virtual absl::StatusOr<CompiledMemoryStats> GetCompiledMemoryStats() const;

  // What it costs to run.
  virtual absl::StatusOr<CostMap> GetCostAnalysis() const;

  // Bytes for PjRtClient::LoadSerializedExecutable: the same bytes each time. They hold the compile
  // options as well.
  virtual absl::StatusOr<std::string> SerializeExecutable() const;
  virtual absl::StatusOr<std::unique_ptr<PjRtExecutableAbiVersion>> GetAbiVersion() const;

  // A short text, equal for equal programs compiled with equal options, in other processes too, and
  // different (as good as certainly) otherwise.
  virtual absl::StatusOr<std::string> FingerprintExecutable() const;

  // The options that it was compiled with.
  virtual absl::StatusOr<CompileOptions> GetCompileOptions() const;

  // Which class this is, for a client that is to load it: an address that the class keeps to
  // itself. Stands for a dynamic_cast. Null by default.
  virtual const void* class_id() const { return nullptr; }
};

// An executable loaded into a client: what runs.
//
// Arguments and results are flat lists of buffers: a program with a tuple parameter takes its
// leaves, a program with a tuple result gives its leaves. Results are buffers that become ready
// later; errors of inputs travel along the data into them (Execute itself succeeds).
//
// An argument that the program may alias with a result, and that the options don't veto, is
// *donated*: after a successful call it is deleted, and a result may use its memory. A failed call
// leaves the arguments as they were, with one exception: where the program started and failed in
// the call, what it was given is gone.
//
// Checks are made in this order, the first failure is returned, and nothing is enqueued: the
// executable isn't deleted; numbers of argument lists and callbacks; then for each device the
// number of arguments; each argument's device, shape (when strict; a template's with the sizes), no
// double donation, not deleted; then sizes; then memory kinds; then the outputs are allocated.
// Failures on one device of several have "while running replica R and partition P" added.
//
// A program with dynamic shapes (`?` in its types) is compiled once, as a template. An execution
// runs a program that is specialised for the shapes of its arguments and the values of those
// integer arguments that decide shapes; it is made at the first such execution, and the last 64 are
// kept. Execute waits for arguments whose values it needs for that, and returns their error if they
// have one; it also returns what keeps the program from being specialised: INVALID_ARGUMENT for
// shapes that contradict the program, or a shape assertion that doesn't hold. The questions below
// are answered for the template: results have dynamic shapes, costs and memory are UNIMPLEMENTED.
//
// Ownership: the caller owns it; destroy it before its client. It may be destroyed while executions
// run.
// Threads: all methods may be called from any thread. Execute doesn't wait for the inputs, nor for
// the program unless it runs in the call (see ExecuteOptions::execution_mode); it blocks while too
// many executions are in flight on a device, and shortly while a buffer's donation is in the middle
// of being enqueued by another thread.
class PjRtLoadedExecutable {
 public:
  virtual ~PjRtLoadedExecutable() = default;

  // ----- What a backend must override -----

  virtual PjRtClient* client() const = 0;

  // Which device runs what. Empty (0 x 0) for a portable executable.
  virtual const DeviceAssignment& device_assignment() const = 0;

  struct LogicalDeviceIds {
    int replica;
    int partition;
  };
  // The replica and partition of each of addressable_devices(), replica-major.
  virtual absl::Span<const LogicalDeviceIds> addressable_device_logical_ids() const = 0;

  // The devices of this process that the executable runs on. Empty for a portable executable.
  virtual absl::Span<PjRtDevice* const> addressable_devices() const = 0;

  // Runs on all addressable devices. `argument_handles` has one list for each of
  // addressable_devices(), and the result likewise. If `returned_futures` is engaged it gets one
  // future a device, which becomes ready when the execution on that device has ended, with its
  // error if it failed; on an error it is cleared.
  //
  // INVALID_ARGUMENT for a portable executable, for a wrong number of lists or arguments, and for
  // an argument that is deleted, null, of another client, on another device, or of the wrong size;
  // FAILED_PRECONDITION after Delete(); RESOURCE_EXHAUSTED when there is no memory for the outputs;
  // the program's own error when it failed in the call.
  virtual absl::StatusOr<std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>> Execute(
      absl::Span<const std::vector<PjRtBuffer*>> argument_handles, const ExecuteOptions& options,
      std::optional<std::vector<Future<>>>& returned_futures) const = 0;

  // Runs on `device`, one of addressable_devices(); otherwise INVALID_ARGUMENT. `returned_future`
  // is set when `fill_future` is true. The devices of one launch may be served from several
  // threads, all with the same launch_id.
  virtual absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecuteSharded(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future,
      bool fill_future) const = 0;

  // Runs a portable executable, or one with 1 replica and 1 partition and without an assignment, on
  // `device`, which must be addressable; otherwise INVALID_ARGUMENT.
  virtual absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecutePortable(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future,
      bool fill_future) const = 0;

  // Gives up the executable. Running executions finish; later ones fail with FAILED_PRECONDITION.
  // Idempotent.
  virtual void Delete() = 0;
  virtual bool IsDeleted() const = 0;

  // The executable that this was loaded from; owned by this object.
  virtual PjRtExecutable* GetExecutable() const = 0;

  // ----- The same without futures -----

  absl::StatusOr<std::vector<std::vector<std::unique_ptr<PjRtBuffer>>>> Execute(
      absl::Span<const std::vector<PjRtBuffer*>> argument_handles,
      const ExecuteOptions& options) const {
    std::optional<std::vector<Future<>>> no_futures;
    return Execute(argument_handles, options, no_futures);
  }
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecuteSharded(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future) const {
    return ExecuteSharded(argument_handles, device, options, returned_future, /*fill_future=*/true);
  }
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecuteSharded(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options) const {
    std::optional<Future<>> no_future;
    return ExecuteSharded(argument_handles, device, options, no_future, /*fill_future=*/false);
  }
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecutePortable(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options, std::optional<Future<>>& returned_future) const {
    return ExecutePortable(argument_handles, device, options, returned_future,
                           /*fill_future=*/true);
  }
  absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> ExecutePortable(
      absl::Span<PjRtBuffer* const> argument_handles, PjRtDevice* device,
      const ExecuteOptions& options) const {
    std::optional<Future<>> no_future;
    return ExecutePortable(argument_handles, device, options, no_future, /*fill_future=*/false);
  }

  // ----- Questions that GetExecutable() answers -----

  virtual int num_replicas() const { return GetExecutable()->num_replicas(); }
  virtual int num_partitions() const { return GetExecutable()->num_partitions(); }
  virtual absl::string_view name() const { return GetExecutable()->name(); }
  virtual int64_t SizeOfGeneratedCodeInBytes() const {
    return GetExecutable()->SizeOfGeneratedCodeInBytes();
  }
  virtual absl::StatusOr<std::vector<std::shared_ptr<const ir::Module>>> GetModules() const {
    return GetExecutable()->GetModules();
  }
  virtual absl::StatusOr<std::vector<Shape>> GetOutputShapes() const {
    return GetExecutable()->GetOutputShapes();
  }
  virtual absl::StatusOr<std::vector<std::vector<PrimitiveType>>> GetOutputElementTypes() const {
    return GetExecutable()->GetOutputElementTypes();
  }
  virtual absl::StatusOr<std::vector<std::vector<DimensionVector>>> GetOutputDimensions() const {
    return GetExecutable()->GetOutputDimensions();
  }
  virtual absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> GetParameterLayouts()
      const {
    return GetExecutable()->GetParameterLayouts();
  }
  virtual absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> GetOutputLayouts() const {
    return GetExecutable()->GetOutputLayouts();
  }
  virtual absl::StatusOr<std::vector<std::vector<absl::string_view>>> GetParameterMemoryKinds()
      const {
    return GetExecutable()->GetParameterMemoryKinds();
  }
  virtual absl::StatusOr<std::vector<std::vector<absl::string_view>>> GetOutputMemoryKinds() const {
    return GetExecutable()->GetOutputMemoryKinds();
  }
  virtual std::optional<std::vector<std::string>> GetParameterShardings() const {
    return GetExecutable()->GetParameterShardings();
  }
  virtual std::optional<std::vector<std::string>> GetOutputShardings() const {
    return GetExecutable()->GetOutputShardings();
  }
  virtual absl::StatusOr<CompiledMemoryStats> GetCompiledMemoryStats() const {
    return GetExecutable()->GetCompiledMemoryStats();
  }
  virtual absl::StatusOr<CostMap> GetCostAnalysis() const {
    return GetExecutable()->GetCostAnalysis();
  }
  virtual absl::StatusOr<std::string> SerializeExecutable() const {
    return GetExecutable()->SerializeExecutable();
  }
  virtual absl::StatusOr<std::unique_ptr<PjRtExecutableAbiVersion>> GetAbiVersion() const {
    return GetExecutable()->GetAbiVersion();
  }
  virtual absl::StatusOr<std::string> FingerprintExecutable() const {
    return GetExecutable()->FingerprintExecutable();
  }
  virtual absl::StatusOr<CompileOptions> GetCompileOptions() const {
    return GetExecutable()->GetCompileOptions();
  }
};

// A PjRtExecutable whose answers come from a loaded executable. For code that wants the one and has
// the other; for a loaded executable that implements the questions itself (its GetExecutable() then
// returns a forwarder, and it must override every question above).
class PjRtExecutableForwarder : public PjRtExecutable {
 public:
  // Borrows; the loaded executable must outlive the forwarder.
  explicit PjRtExecutableForwarder(const PjRtLoadedExecutable* loaded) : loaded_(loaded) {}
  // Owns.
  explicit PjRtExecutableForwarder(std::shared_ptr<const PjRtLoadedExecutable> loaded)
      : owned_(std::move(loaded)), loaded_(owned_.get()) {}

  int num_replicas() const override { return loaded_->num_replicas(); }
  int num_partitions() const override { return loaded_->num_partitions(); }
  absl::string_view name() const override { return loaded_->name(); }
  int64_t SizeOfGeneratedCodeInBytes() const override {
    return loaded_->SizeOfGeneratedCodeInBytes();
  }
  absl::StatusOr<std::vector<Shape>> GetOutputShapes() const override {
    return loaded_->GetOutputShapes();
  }
  absl::StatusOr<std::vector<std::vector<PrimitiveType>>> GetOutputElementTypes() const override {
    return loaded_->GetOutputElementTypes();
  }
  absl::StatusOr<std::vector<std::vector<DimensionVector>>> GetOutputDimensions() const override {
    return loaded_->GetOutputDimensions();
  }
  absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> GetParameterLayouts()
      const override {
    return loaded_->GetParameterLayouts();
  }
  absl::StatusOr<std::vector<std::shared_ptr<const PjRtLayout>>> GetOutputLayouts() const override {
    return loaded_->GetOutputLayouts();
  }
  absl::StatusOr<std::vector<std::vector<absl::string_view>>> GetParameterMemoryKinds()
      const override {
    return loaded_->GetParameterMemoryKinds();
  }
  absl::StatusOr<std::vector<std::vector<absl::string_view>>> GetOutputMemoryKinds()
      const override {
    return loaded_->GetOutputMemoryKinds();
  }
  std::optional<std::vector<std::string>> GetParameterShardings() const override {
    return loaded_->GetParameterShardings();
  }
  std::optional<std::vector<std::string>> GetOutputShardings() const override {
    return loaded_->GetOutputShardings();
  }
  absl::StatusOr<std::vector<std::shared_ptr<const ir::Module>>> GetModules() const override {
    return loaded_->GetModules();
  }
  absl::StatusOr<CompiledMemoryStats> GetCompiledMemoryStats() const override {
    return loaded_->GetCompiledMemoryStats();
  }
  absl::StatusOr<CostMap> GetCostAnalysis() const override { return loaded_->GetCostAnalysis(); }
  absl::StatusOr<std::string> SerializeExecutable() const override {
    return loaded_->SerializeExecutable();
  }
  absl::StatusOr<std::unique_ptr<PjRtExecutableAbiVersion>> GetAbiVersion() const override {
    return loaded_->GetAbiVersion();
  }
  absl::StatusOr<std::string> FingerprintExecutable() const override {
    return loaded_->FingerprintExecutable();
  }
  absl::StatusOr<CompileOptions> GetCompileOptions() const override {
    return loaded_->GetCompileOptions();
  }

 private:
  std::shared_ptr<const PjRtLoadedExecutable> owned_;
  const PjRtLoadedExecutable* loaded_;
};

}  // namespace pjrt

#endif  // PJRT_EXECUTABLE_H_
