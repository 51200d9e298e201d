// SPDX-License-Identifier: Apache-2.0
//
// Default methods of PjRtClient.
#include "pjrt/client.h"

#include <utility>

#include "pjrt/base/literal.h"
#include "pjrt/chunk.h"
#include "pjrt/key_value_store.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/unimplemented.h"

namespace pjrt {

PjRtClient::PjRtClient() = default;
PjRtClient::PjRtClient(
    std::unique_ptr<PjRtHostMemoryForDeviceManager> host_memory_for_device_manager)
    : host_memory_for_device_manager_(std::move(host_memory_for_device_manager)) {}
PjRtClient::~PjRtClient() = default;

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> PjRtClient::Compile(PjRtProgram program,
                                                                          CompileOptions options) {
  return CompileAndLoad(std::move(program), std::move(options));
}

absl::StatusOr<PjRtDevice*> PjRtClient::LookupDevice(GlobalDeviceId global_device_id) const {
  for (PjRtDevice* device : devices()) {
    if (device->global_device_id() == global_device_id) return device;
  }
  return InvalidArgument("PJRT-R016", "No matching device found for device_id ",
                         global_device_id.value());
}

absl::StatusOr<PjRtDevice*> PjRtClient::LookupAddressableDevice(
    LocalDeviceId local_device_id) const {
  for (PjRtDevice* device : addressable_devices()) {
    if (device->local_device_id() == local_device_id) return device;
  }
  return InvalidArgument("PJRT-R016", "No matching device found for local_device_id ",
                         local_device_id.value());
}

absl::StatusOr<std::unique_ptr<PjRtRuntimeAbiVersion>> PjRtClient::RuntimeAbiVersion() const {
  return UnimplementedMethod("PjRtClient::RuntimeAbiVersion");
}

std::optional<std::shared_ptr<KeyValueStoreInterface>> PjRtClient::key_value_store() const {
  return std::nullopt;
}

std::optional<PjRtPluginAttributes> PjRtClient::plugin_attributes() const { return std::nullopt; }

absl::StatusOr<DeviceAssignment> PjRtClient::GetDefaultDeviceAssignment(int, int) const {
  return UnimplementedMethod("PjRtClient::GetDefaultDeviceAssignment");
}

absl::StatusOr<DeviceAssignment> PjRtClient::GetDefaultDeviceAssignment(
    int num_replicas, std::optional<int>, int num_partitions,
    const MultiSliceConfig* multi_slice_config) const {
  if (multi_slice_config != nullptr) {
    return UnimplementedMethod("PjRtClient::GetDefaultDeviceAssignment with several slices");
  }
  return GetDefaultDeviceAssignment(num_replicas, num_partitions);
}

absl::StatusOr<Layout> PjRtClient::GetDefaultLayout(PrimitiveType, absl::Span<const int64_t>) {
  return UnimplementedMethod("PjRtClient::GetDefaultLayout");
}

absl::StatusOr<CostMap> PjRtClient::GetCostAnalysis(const ir::Module&) const {
  return UnimplementedMethod("PjRtClient::GetCostAnalysis");
}

absl::StatusOr<SupportReport> PjRtClient::QuerySupport(const ir::Module&, SupportEffort) const {
  return UnimplementedMethod("PjRtClient::QuerySupport");
}

absl::StatusOr<std::unique_ptr<PjRtExecutable>> PjRtClient::CompileUnloaded(PjRtProgram,
                                                                            CompileOptions) {
  return UnimplementedMethod("PjRtClient::CompileUnloaded");
}

absl::StatusOr<std::unique_ptr<PjRtExecutable>> PjRtClient::DeserializeExecutable(
    absl::string_view, std::optional<CompileOptions>) {
  return UnimplementedMethod("PjRtClient::DeserializeExecutable");
}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> PjRtClient::LoadSerializedExecutable(
    absl::string_view, std::optional<CompileOptions>, const LoadOptions&) {
  return UnimplementedMethod("PjRtClient::LoadSerializedExecutable");
}

absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> PjRtClient::Load(
    std::shared_ptr<PjRtExecutable>, const LoadOptions&) {
  return UnimplementedMethod("PjRtClient::Load");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> PjRtClient::CreateUninitializedBuffer(
    const Shape&, PjRtMemorySpace*) {
  return UnimplementedMethod("PjRtClient::CreateUninitializedBuffer");
}

absl::StatusOr<std::pair<std::unique_ptr<PjRtBuffer>, PjRtFulfillAliasBufferCallback>>
PjRtClient::CreateAliasBuffer(const Shape&, PjRtMemorySpace*) {
  return UnimplementedMethod("PjRtClient::CreateAliasBuffer");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> PjRtClient::CreateErrorBuffer(absl::Status,
                                                                          const Shape&,
                                                                          PjRtMemorySpace*) {
  return UnimplementedMethod("PjRtClient::CreateErrorBuffer");
}

absl::StatusOr<const PjRtTopologyDescription*> PjRtClient::GetTopologyDescription() const {
  return UnimplementedMethod("PjRtClient::GetTopologyDescription");
}

absl::StatusOr<std::unique_ptr<AsyncHostToDeviceTransferManager>>
PjRtClient::CreateBuffersForAsyncHostToDevice(
    absl::Span<const ShapeSpec>, std::optional<absl::Span<const std::optional<Layout>>>,
    PjRtMemorySpace*) {
  return UnimplementedMethod("PjRtClient::CreateBuffersForAsyncHostToDevice");
}

absl::StatusOr<std::unique_ptr<AsyncHostToDeviceTransferManager>>
PjRtClient::CreateBuffersForAsyncHostToDevice(absl::Span<const Shape> shapes,
                                              PjRtMemorySpace* memory_space) {
  std::vector<ShapeSpec> specs;
  specs.reserve(shapes.size());
  for (const Shape& shape : shapes) {
    specs.push_back({shape.element_type(),
                     DimensionVector(shape.dimensions().begin(), shape.dimensions().end())});
  }
  return CreateBuffersForAsyncHostToDevice(specs, std::nullopt, memory_space);
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> PjRtClient::BufferFromHostBuffer(
    const void*, PrimitiveType, absl::Span<const int64_t>, std::optional<absl::Span<const int64_t>>,
    HostBufferSemantics, absl::AnyInvocable<void() &&>, PjRtBuffer*, const Layout*) {
  return UnimplementedMethod("PjRtClient::BufferFromHostBuffer with a donated destination");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> PjRtClient::BufferFromHostLiteral(const LiteralSlice&,
                                                                              PjRtMemorySpace*,
                                                                              const Layout*) {
  return UnimplementedMethod("PjRtClient::BufferFromHostLiteral");
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> PjRtClient::CreateViewOfDeviceBuffer(
    void*, const Shape&, PjRtMemorySpace*, std::function<void()>, std::optional<intptr_t>) {
  return UnimplementedMethod("PjRtClient::CreateViewOfDeviceBuffer");
}

absl::StatusOr<uintptr_t> PjRtClient::UnsafeBufferPointer(PjRtBuffer* buffer) {
  if (buffer == nullptr) {
    return InvalidArgument("PJRT-R017", "UnsafeBufferPointer needs a buffer; given null");
  }
  if (buffer->IsTuple()) {
    return UnimplementedMethod("PjRtClient::UnsafeBufferPointer of a tuple");
  }
  PJRT_ASSIGN_OR_RETURN(const auto reference, buffer->AcquireExternalReference());
  return reinterpret_cast<uintptr_t>(reference->OpaqueDeviceMemoryDataPointer());
}

absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> PjRtClient::MakeCrossHostReceiveBuffers(
    absl::Span<const Shape>, PjRtDevice*, PjRtCrossHostRecvNotifier) {
  return UnimplementedMethod("PjRtClient::MakeCrossHostReceiveBuffers");
}

absl::StatusOr<std::vector<Future<>>> PjRtClient::CrossHostSendBuffers(
    absl::Span<PjRtBuffer* const>, absl::Span<const GlobalDeviceId>,
    std::vector<CrossHostTransferKey>) {
  return UnimplementedMethod("PjRtClient::CrossHostSendBuffers");
}

absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> PjRtClient::CrossHostReceiveBuffers(
    PjRtDevice*, absl::Span<const Shape>, absl::Span<const GlobalDeviceId>,
    std::vector<CrossHostTransferKey>) {
  return UnimplementedMethod("PjRtClient::CrossHostReceiveBuffers");
}

absl::Status PjRtClient::DmaMap(void*, size_t) { return UnimplementedMethod("PjRtClient::DmaMap"); }

absl::Status PjRtClient::DmaUnmap(void*) { return UnimplementedMethod("PjRtClient::DmaUnmap"); }

}  // namespace pjrt
