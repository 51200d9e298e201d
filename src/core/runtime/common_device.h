// SPDX-License-Identifier: Apache-2.0
//
// Devices and memory spaces of the common client, as their backend describes them.
#ifndef PJRT_CORE_RUNTIME_COMMON_DEVICE_H_
#define PJRT_CORE_RUNTIME_COMMON_DEVICE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pjrt/backend/backend.h"
#include "pjrt/device.h"
#include "pjrt/memory_space.h"
#include "src/core/runtime/launch_tracker.h"

namespace pjrt {

class CommonPjRtClient;
class CommonDevice;

class CommonMemorySpace final : public PjRtMemorySpace {
 public:
  CommonMemorySpace(CommonDevice* device, int index, const BackendMemory* memory);

  PjRtClient* client() const override;
  absl::Span<PjRtDevice* const> devices() const override;
  int id() const override { return memory_->id; }
  absl::string_view kind() const override { return memory_->kind; }
  int kind_id() const override { return memory_->kind_id; }
  absl::string_view DebugString() const override { return memory_->debug_string; }
  absl::string_view ToString() const override { return memory_->to_string; }

  CommonDevice* common_device() const { return device_; }
  bool is_host_accessible() const { return memory_->is_host_accessible; }
  // The index into Backend::memories().
  int index() const { return index_; }

 private:
  CommonDevice* device_;
  PjRtDevice* device_as_base_;
  int index_;
  const BackendMemory* memory_;
};

class CommonDeviceDescription final : public PjRtDeviceDescription {
 public:
  explicit CommonDeviceDescription(const BackendDevice* device) : device_(device) {}
  void AddMemoryKind(absl::string_view kind, int kind_id);

  int id() const override { return device_->id; }
  int process_index() const override { return device_->process_index; }
  absl::string_view device_kind() const override { return device_->kind; }
  absl::string_view DebugString() const override { return device_->debug_string; }
  absl::string_view ToString() const override { return device_->to_string; }
  const absl::flat_hash_map<std::string, PjRtDeviceAttribute>& Attributes() const override {
    return device_->attributes;
  }
  absl::Span<const PjRtMemorySpaceDescription* const> memory_spaces() const override {
    return memory_pointers_;
  }
  absl::StatusOr<const PjRtMemorySpaceDescription*> default_memory_space() const override;

 private:
  const BackendDevice* device_;
  std::vector<std::unique_ptr<const PjRtMemorySpaceDescription>> memories_;
  std::vector<const PjRtMemorySpaceDescription*> memory_pointers_;
};

class CommonDevice final : public PjRtDevice {
 public:
  CommonDevice(CommonPjRtClient* client, int index, const BackendDevice* device,
               int max_inflight_computations);

  PjRtClient* client() const override;
  bool IsAddressable() const override { return device_->is_addressable; }
  const PjRtDeviceDescription& description() const override { return description_; }
  LocalChipId local_hardware_id() const override { return LocalChipId(device_->local_hardware_id); }
  LocalDeviceId local_device_id() const override { return LocalDeviceId(device_->local_device_id); }
  absl::Span<PjRtMemorySpace* const> memory_spaces() const override { return memory_spaces_; }
  absl::StatusOr<PjRtMemorySpace*> default_memory_space() const override;
  absl::Status TransferToInfeed(const LiteralSlice& literal) override;
  absl::Status TransferFromOutfeed(MutableBorrowingLiteral literal) override;
  absl::StatusOr<AllocatorStats> GetAllocatorStats() const override;
  absl::Status ClearMemoryStats() override;
  absl::StatusOr<bool> PoisonExecution(int32_t launch_id, absl::Status error) override;

  // The index into Backend::devices().
  int index() const { return index_; }
  CommonMemorySpace* AddMemory(int index, const BackendMemory* memory);
  // The memory space of that kind, the default one for an empty kind; null when there is none.
  CommonMemorySpace* FindMemory(absl::string_view kind) const;
  LaunchTracker& launches() { return launches_; }

 private:
  CommonPjRtClient* client_;
  int index_;
  const BackendDevice* device_;
  CommonDeviceDescription description_;
  std::vector<std::unique_ptr<CommonMemorySpace>> owned_memory_spaces_;
  std::vector<PjRtMemorySpace*> memory_spaces_;
  LaunchTracker launches_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_COMMON_DEVICE_H_
