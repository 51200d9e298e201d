// SPDX-License-Identifier: Apache-2.0
//
// CommonPjRtClient: PjRtClient over a Backend. Made by MakeCommonPjRtClient.
//
// The pieces: HoldState says who may touch a buffer, MemoryRef what its memory is, CommonPjRtBuffer
// puts both together with the future of the contents; HostTransfer converts between host arrays and
// device bytes; CommonPjRtLoadedExecutable checks arguments and launches, LaunchTracker follows
// what is in flight.
#ifndef PJRT_CORE_RUNTIME_COMMON_CLIENT_IMPL_H_
#define PJRT_CORE_RUNTIME_COMMON_CLIENT_IMPL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "pjrt/backend/backend.h"
#include "pjrt/backend/common_client.h"
#include "pjrt/client.h"
#include "src/core/runtime/buffer_type.h"
#include "src/core/runtime/common_device.h"
#include "src/core/runtime/hold_state.h"

namespace pjrt {

class CommonPjRtBuffer;
class CommonPjRtLoadedExecutable;

class CommonPjRtClient final : public PjRtClient {
 public:
  CommonPjRtClient(std::unique_ptr<Backend> backend, CommonClientOptions options);
  ~CommonPjRtClient() override;
  // What the constructor can't say: whether the backend's tables make sense.
  absl::Status Initialize();

  // ----- PjRtClient -----
  int process_index() const override { return options_.process_index; }
  absl::Span<PjRtDevice* const> devices() const override { return devices_; }
  absl::Span<PjRtDevice* const> addressable_devices() const override {
    return addressable_devices_;
  }
  absl::Span<PjRtMemorySpace* const> memory_spaces() const override { return memory_spaces_; }
  PjRtPlatformId platform_id() const override { return platform_id_; }
  absl::string_view platform_name() const override { return backend_->platform_name(); }
  absl::string_view platform_version() const override { return backend_->platform_version(); }
  absl::StatusOr<PjRtDevice*> LookupDevice(GlobalDeviceId id) const override;

  absl::StatusOr<DeviceAssignment> GetDefaultDeviceAssignment(int num_replicas,
                                                              int num_partitions) const override;
  using PjRtClient::GetDefaultDeviceAssignment;
  absl::StatusOr<Layout> GetDefaultLayout(PrimitiveType type,
                                          absl::Span<const int64_t> dims) override;
  absl::StatusOr<CostMap> GetCostAnalysis(const ir::Module& module) const override;
  absl::StatusOr<SupportReport> QuerySupport(const ir::Module& module,
                                             SupportEffort effort) const override;
  absl::StatusOr<const PjRtTopologyDescription*> GetTopologyDescription() const override;
  absl::Status DmaMap(void* data, size_t size) override { return backend_->DmaMap(data, size); }
  absl::Status DmaUnmap(void* data) override { return backend_->DmaUnmap(data); }

  absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> CompileAndLoad(
      PjRtProgram program, CompileOptions options) override;
  absl::StatusOr<std::unique_ptr<PjRtExecutable>> CompileUnloaded(PjRtProgram program,
                                                                  CompileOptions options) override;
  absl::StatusOr<std::unique_ptr<PjRtExecutable>> DeserializeExecutable(
      absl::string_view serialized, std::optional<CompileOptions> options) override;
  absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> LoadSerializedExecutable(
      absl::string_view serialized, std::optional<CompileOptions> options,
      const LoadOptions& load_options) override;
  absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> Load(
      std::shared_ptr<PjRtExecutable> executable, const LoadOptions& load_options) override;

  absl::StatusOr<std::unique_ptr<PjRtBuffer>> CreateUninitializedBuffer(
      const Shape& shape, PjRtMemorySpace* memory_space) override;
  absl::StatusOr<std::pair<std::unique_ptr<PjRtBuffer>, PjRtFulfillAliasBufferCallback>>
  CreateAliasBuffer(const Shape& shape, PjRtMemorySpace* memory_space) override;
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> CreateErrorBuffer(
      absl::Status error, const Shape& shape, PjRtMemorySpace* memory_space) override;
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> CreateViewOfDeviceBuffer(
      void* device_ptr, const Shape& shape, PjRtMemorySpace* memory_space,
      std::function<void()> on_delete_callback, std::optional<intptr_t> stream) override;

  absl::StatusOr<std::unique_ptr<AsyncHostToDeviceTransferManager>>
  CreateBuffersForAsyncHostToDevice(
      absl::Span<const ShapeSpec> shape_specs,
      std::optional<absl::Span<const std::optional<Layout>>> device_layouts,
      PjRtMemorySpace* memory_space) override;
  using PjRtClient::CreateBuffersForAsyncHostToDevice;

  absl::StatusOr<std::unique_ptr<PjRtBuffer>> BufferFromHostBuffer(
      const void* data, PrimitiveType type, absl::Span<const int64_t> dims,
      std::optional<absl::Span<const int64_t>> byte_strides,
      HostBufferSemantics host_buffer_semantics,
      absl::AnyInvocable<void() &&> on_done_with_host_buffer, PjRtMemorySpace* memory_space,
      const Layout* device_layout) override;
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> BufferFromHostBuffer(
      const void* data, PrimitiveType type, absl::Span<const int64_t> dims,
      std::optional<absl::Span<const int64_t>> byte_strides,
      HostBufferSemantics host_buffer_semantics,
      absl::AnyInvocable<void() &&> on_done_with_host_buffer, PjRtBuffer* donated_dst,
      const Layout* device_layout) override;
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> BufferFromHostLiteral(
      const LiteralSlice& literal, PjRtMemorySpace* memory_space,
      const Layout* device_layout) override;

  // ----- For the other parts of the common client -----
  Backend* backend() const { return backend_.get(); }
  const BackendLimits& limits() const { return limits_; }
  const CommonClientOptions& options() const { return options_; }
  ParkingLot& parking_lot() { return parking_lot_; }
  CommonDevice* device(int index) const { return owned_devices_[index].get(); }

  // `memory_space` as one of this client's. INVALID_ARGUMENT for null and for others'.
  absl::StatusOr<CommonMemorySpace*> CheckMemorySpace(PjRtMemorySpace* memory_space,
                                                      absl::string_view caller) const;
  // Likewise for buffers and devices.
  absl::StatusOr<CommonPjRtBuffer*> CheckBuffer(PjRtBuffer* buffer, absl::string_view caller) const;
  absl::StatusOr<CommonDevice*> CheckDevice(PjRtDevice* device, absl::string_view caller) const;

  // The type of a buffer of `shape`: with `device_layout`, or else the default. INVALID_ARGUMENT
  // for what isn't an array or a token, UNIMPLEMENTED for a layout that the device doesn't have.
  absl::StatusOr<BufferTypeRef> MakeBufferType(const Shape& shape, const Layout* device_layout,
                                               absl::string_view caller) const;
  // The same for a static array, in less time.
  absl::StatusOr<BufferTypeRef> MakeBufferType(PrimitiveType element_type,
                                               absl::Span<const int64_t> dimensions,
                                               const Layout* device_layout,
                                               absl::string_view caller) const;

  absl::StatusOr<RawBufferRef> Allocate(CommonMemorySpace* space, size_t size) {
    return backend_->Allocate(space->index(), size);
  }

  // Runs `copy` of so many bytes on host memory: here when it is small, else on the backend's
  // executor.
  Future<> RunCopy(size_t bytes, absl::AnyInvocable<absl::Status() &&> copy);
  // Copies between raw buffers whose contents and room are ready. The result keeps both alive.
  Future<> CopyRaw(RawBufferRef source, RawBufferRef destination, size_t size);
  // Copies host bytes in the device's format; `source` must stay alive until the result is ready.
  Future<> CopyBytesToDevice(const void* source, RawBufferRef destination, size_t offset,
                             size_t size);
  Future<> CopyBytesToHost(RawBufferRef source, size_t offset, size_t size, void* destination);

  absl::StatusOr<std::unique_ptr<CommonPjRtLoadedExecutable>> LoadProgram(
      std::shared_ptr<const DeviceProgram> program, CompileOptions options,
      ResolvedAssignment assignment);
  absl::StatusOr<ResolvedAssignment> Resolve(const CompileOptions& options) const;

  // A run id for a launch that doesn't name one.
  int64_t NextRunId() { return next_run_id_.fetch_add(1, std::memory_order_relaxed); }

  // Serialises launches of programs with collectives: `Join` adds a participant to the launch with
  // this run id and returns what it must wait for; `ended` is set to the promise that it must keep
  // when its part is over. See common_execute.cc.
  Future<> JoinCollective(int64_t run_id, int participants, Promise<>* ended);

 private:
  // Compile without the checks of options; Load without those of the executable, which is one of
  // this client's two kinds.
  absl::StatusOr<std::unique_ptr<PjRtExecutable>> CompileFor(PjRtProgram program,
                                                             CompileOptions options,
                                                             const ResolvedAssignment& assignment);
  absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> LoadFor(
      std::shared_ptr<PjRtExecutable> executable, ResolvedAssignment assignment);

  const std::unique_ptr<Backend> backend_;
  const BackendLimits limits_;
  const CommonClientOptions options_;
  PjRtPlatformId platform_id_;
  std::vector<std::unique_ptr<CommonDevice>> owned_devices_;
  std::vector<PjRtDevice*> devices_;
  std::vector<PjRtDevice*> addressable_devices_;
  std::vector<PjRtMemorySpace*> memory_spaces_;
  absl::flat_hash_map<int, PjRtDevice*> device_by_id_;
  ParkingLot parking_lot_;
  mutable BufferTypeTable types_;
  // Above every int32 launch id.
  std::atomic<int64_t> next_run_id_{int64_t{1} << 32};

  struct Collective {
    Future<> previous;                  // when it may start
    int to_join = 0;                    // participants still to come
    std::vector<Future<>> parts_ended;  // of those that came
    Promise<> all_ended;
  };
  std::mutex collectives_mutex_;
  absl::flat_hash_map<int64_t, Collective> joining_collectives_;
  Future<> last_collective_ = absl::OkStatus();
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_COMMON_CLIENT_IMPL_H_
