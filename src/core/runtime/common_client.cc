// SPDX-License-Identifier: Apache-2.0
//
// The common client itself: devices, memory spaces, layouts, and the checks that everything begins
// with.
#include <algorithm>
#include <cstring>
#include <utility>

#include "pjrt/base/executor.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_buffer.h"
#include "src/core/runtime/common_client_impl.h"
#include "src/core/runtime/common_executable.h"
#include "src/core/runtime/future_util.h"

namespace pjrt {

CommonPjRtClient::CommonPjRtClient(std::unique_ptr<Backend> backend, CommonClientOptions options)
    : backend_(std::move(backend)),
      limits_(backend_->limits()),
      options_(options),
      platform_id_(PlatformIdFromName(backend_->platform_name())) {}

CommonPjRtClient::~CommonPjRtClient() {
  // Launches whose results nobody wanted may still be waiting or running.
  for (const auto& device : owned_devices_) device->launches().WaitUntilIdle();
}

absl::Status CommonPjRtClient::Initialize() {
  if (options_.max_inflight_computations_per_device < 1) {
    return InvalidArgument("PJRT-R033", "max_inflight_computations_per_device is ",
                           options_.max_inflight_computations_per_device, "; expected at least 1");
  }
  if (options_.max_transpose_threads < 1) {
    return InvalidArgument("PJRT-R033", "max_transpose_threads is ", options_.max_transpose_threads,
                           "; expected at least 1");
  }
  if (limits_.alignment == 0 || (limits_.alignment & (limits_.alignment - 1)) != 0) {
    return InvalidArgument("PJRT-R033", "the backend's alignment is ", limits_.alignment,
                           "; expected a power of two");
  }
  const absl::Span<const BackendDevice> backend_devices = backend_->devices();
  for (size_t i = 0; i < backend_devices.size(); ++i) {
    const BackendDevice& d = backend_devices[i];
    owned_devices_.push_back(std::make_unique<CommonDevice>(
        this, static_cast<int>(i), &d, options_.max_inflight_computations_per_device));
    PjRtDevice* const device = owned_devices_.back().get();
    if (!device_by_id_.emplace(d.id, device).second) {
      return InvalidArgument("PJRT-R033", "the backend has two devices with id ", d.id);
    }
    devices_.push_back(device);
    if (d.is_addressable) addressable_devices_.push_back(device);
  }
  std::stable_sort(addressable_devices_.begin(), addressable_devices_.end(),
                   [](PjRtDevice* a, PjRtDevice* b) {
                     return a->local_device_id().value() < b->local_device_id().value();
                   });
  const absl::Span<const BackendMemory> backend_memories = backend_->memories();
  for (size_t i = 0; i < backend_memories.size(); ++i) {
    const BackendMemory& m = backend_memories[i];
    if (m.device < 0 || m.device >= static_cast<int>(owned_devices_.size())) {
      return InvalidArgument("PJRT-R033", "the backend's memory ", m.id, " is attached to device ",
                             m.device, " of ", owned_devices_.size());
    }
    for (size_t j = 0; j < i; ++j) {
      if (backend_memories[j].id == m.id) {
        return InvalidArgument("PJRT-R033", "the backend has two memories with id ", m.id);
      }
    }
    memory_spaces_.push_back(owned_devices_[m.device]->AddMemory(static_cast<int>(i), &m));
  }
  for (PjRtDevice* device : addressable_devices_) {
    if (device->memory_spaces().empty()) {
      return InvalidArgument("PJRT-R033", "the backend's device ", device->DebugString(),
                             " has no memory");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PjRtDevice*> CommonPjRtClient::LookupDevice(GlobalDeviceId id) const {
  const auto it = device_by_id_.find(id.value());
  if (it != device_by_id_.end()) return it->second;
  return PjRtClient::LookupDevice(id);
}

absl::StatusOr<DeviceAssignment> CommonPjRtClient::GetDefaultDeviceAssignment(
    int num_replicas, int num_partitions) const {
  return backend_->GetDefaultDeviceAssignment(num_replicas, num_partitions);
}

absl::StatusOr<Layout> CommonPjRtClient::GetDefaultLayout(PrimitiveType type,
                                                          absl::Span<const int64_t> dims) {
  return backend_->GetDefaultLayout(type, dims);
}

absl::StatusOr<CostMap> CommonPjRtClient::GetCostAnalysis(const ir::Module& module) const {
  return backend_->GetCostAnalysis(module);
}

absl::StatusOr<SupportReport> CommonPjRtClient::QuerySupport(const ir::Module& module,
                                                             SupportEffort effort) const {
  return backend_->QuerySupport(module, effort);
}

absl::StatusOr<const PjRtTopologyDescription*> CommonPjRtClient::GetTopologyDescription() const {
  const PjRtTopologyDescription* topology = backend_->topology();
  if (topology == nullptr) return PjRtClient::GetTopologyDescription();
  return topology;
}

absl::StatusOr<CommonMemorySpace*> CommonPjRtClient::CheckMemorySpace(
    PjRtMemorySpace* memory_space, absl::string_view caller) const {
  if (memory_space == nullptr) {
    return InvalidArgument("PJRT-R027", caller, " needs a memory space; given null");
  }
  if (memory_space->client() != this) {
    return InvalidArgument("PJRT-R027", caller, ": the memory space ", memory_space->DebugString(),
                           " belongs to another client");
  }
  return static_cast<CommonMemorySpace*>(memory_space);
}

absl::StatusOr<CommonPjRtBuffer*> CommonPjRtClient::CheckBuffer(PjRtBuffer* buffer,
                                                                absl::string_view caller) const {
  if (buffer == nullptr) return InvalidArgument("PJRT-R017", caller, " needs a buffer; given null");
  if (buffer->client() != this) {
    return InvalidArgument("PJRT-R017", caller, ": the buffer belongs to another client");
  }
  return static_cast<CommonPjRtBuffer*>(buffer);
}

absl::StatusOr<CommonDevice*> CommonPjRtClient::CheckDevice(PjRtDevice* device,
                                                            absl::string_view caller) const {
  if (device == nullptr) return InvalidArgument("PJRT-R034", caller, " needs a device; given null");
  if (device->client() != this) {
    return InvalidArgument("PJRT-R034", caller, ": the device ", device->DebugString(),
                           " belongs to another client");
  }
  if (!device->IsAddressable()) {
    return InvalidArgument("PJRT-R034", caller, ": the device ", device->DebugString(),
                           " isn't addressable by this process");
  }
  return static_cast<CommonDevice*>(device);
}

absl::StatusOr<BufferTypeRef> CommonPjRtClient::MakeBufferType(PrimitiveType element_type,
                                                               absl::Span<const int64_t> dimensions,
                                                               const Layout* device_layout,
                                                               absl::string_view caller) const {
  if (device_layout == nullptr) {
    if (BufferTypeRef found = types_.Find(element_type, dimensions)) return found;
  }
  return MakeBufferType(MakeShape(element_type, dimensions), device_layout, caller);
}

absl::StatusOr<BufferTypeRef> CommonPjRtClient::MakeBufferType(const Shape& shape,
                                                               const Layout* device_layout,
                                                               absl::string_view caller) const {
  if (!shape.IsArray() && !shape.IsToken()) {
    return InvalidArgument("PJRT-R035", caller, ": a buffer holds an array or a token; given ",
                           shape.ToString());
  }
  PJRT_RETURN_IF_ERROR(ValidateShape(shape));
  if (shape.is_unbounded_dynamic()) {
    return InvalidArgument("PJRT-R035", caller, ": dimensions without bound in ", shape.ToString());
  }
  Shape with_layout = shape;
  bool is_usual = shape.IsArray() && shape.is_static();
  if (shape.IsArray()) {
    PJRT_ASSIGN_OR_RETURN(Layout layout,
                          backend_->GetDefaultLayout(shape.element_type(), shape.dimensions()));
    if (device_layout != nullptr) {
      PJRT_RETURN_IF_ERROR(
          backend_->CheckLayout(shape.element_type(), shape.dimensions(), *device_layout));
      // How elements are packed is for the device to say.
      Layout given = *device_layout;
      given.set_element_size_in_bits(layout.element_size_in_bits());
      given.set_memory_space(kDefaultMemorySpace);
      is_usual &= given == layout;
      layout = std::move(given);
    }
    with_layout.set_layout(std::move(layout));
  }
  auto type =
      std::make_shared<const BufferType>(std::move(with_layout), limits_.packs_sub_byte_types);
  return is_usual ? types_.FindOrAdd(std::move(type)) : std::move(type);
}

Future<> CommonPjRtClient::RunCopy(size_t bytes, absl::AnyInvocable<absl::Status() &&> copy) {
  Executor* executor = bytes < limits_.async_copy_bytes ? nullptr : backend_->executor();
  if (executor == nullptr) return std::move(copy)();
  return MakeFutureOn(*executor, [c = std::move(copy)]() mutable { return std::move(c)(); });
}

Future<> CommonPjRtClient::CopyRaw(RawBufferRef source, RawBufferRef destination, size_t size) {
  if (size == 0) return absl::OkStatus();
  const void* from = source->host_pointer();
  void* to = destination->host_pointer();
  if (from != nullptr && to != nullptr) {
    return RunCopy(size, [from, to, size, s = std::move(source), d = std::move(destination)] {
      std::memcpy(to, from, size);
      return absl::OkStatus();
    });
  }
  Future<> done = backend_->CopyDeviceToDevice(source.get(), destination.get());
  return KeepAliveUntilReady(std::move(done),
                             std::make_pair(std::move(source), std::move(destination)));
}

Future<> CommonPjRtClient::CopyBytesToDevice(const void* source, RawBufferRef destination,
                                             size_t offset, size_t size) {
  if (size == 0) return absl::OkStatus();
  if (char* to = static_cast<char*>(destination->host_pointer()); to != nullptr) {
    return RunCopy(size, [source, to, offset, size, d = std::move(destination)] {
      std::memcpy(to + offset, source, size);
      return absl::OkStatus();
    });
  }
  Future<> done = backend_->CopyHostToDevice(source, destination.get(), offset, size);
  return KeepAliveUntilReady(std::move(done), std::move(destination));
}

Future<> CommonPjRtClient::CopyBytesToHost(RawBufferRef source, size_t offset, size_t size,
                                           void* destination) {
  if (size == 0) return absl::OkStatus();
  if (destination == nullptr) {
    return InvalidArgument("PJRT-R026", "copy of ", size, " bytes to a null address");
  }
  if (const char* from = static_cast<const char*>(source->host_pointer()); from != nullptr) {
    return RunCopy(size, [from, offset, size, destination, s = std::move(source)] {
      std::memcpy(destination, from + offset, size);
      return absl::OkStatus();
    });
  }
  Future<> done = backend_->CopyDeviceToHost(source.get(), offset, size, destination);
  return KeepAliveUntilReady(std::move(done), std::move(source));
}

absl::StatusOr<std::unique_ptr<PjRtClient>> MakeCommonPjRtClient(std::unique_ptr<Backend> backend,
                                                                 CommonClientOptions options) {
  if (backend == nullptr) {
    return InvalidArgument("PJRT-R033", "MakeCommonPjRtClient needs a backend; given null");
  }
  auto client = std::make_unique<CommonPjRtClient>(std::move(backend), options);
  PJRT_RETURN_IF_ERROR(client->Initialize());
  return client;
}

Backend* GetBackend(PjRtClient* client) {
  return static_cast<CommonPjRtClient*>(client)->backend();
}

}  // namespace pjrt
