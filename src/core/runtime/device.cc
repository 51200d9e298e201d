// SPDX-License-Identifier: Apache-2.0
//
// Default methods of PjRtDevice and PjRtDeviceDescription, and the ready-made memory spaces.
#include "pjrt/device.h"

#include "absl/strings/str_cat.h"
#include "pjrt/base/literal.h"
#include "pjrt/client.h"
#include "pjrt/host_memory_spaces.h"
#include "src/core/base/error.h"
#include "src/core/runtime/unimplemented.h"

namespace pjrt {

absl::StatusOr<const PjRtMemorySpaceDescription*> PjRtDeviceDescription::default_memory_space()
    const {
  return UnimplementedMethod("PjRtDeviceDescription::default_memory_space");
}

absl::StatusOr<PjRtMemorySpace*> PjRtDevice::memory_space_by_kind(absl::string_view kind) const {
  for (PjRtMemorySpace* space : memory_spaces()) {
    if (space->kind() == kind) return space;
  }
  return Internal("PJRT-R014", "No memory space found (kind: ", kind, ") on ", DebugString());
}

std::unique_ptr<ScopedAsyncTrackingEvent> PjRtDevice::CreateAsyncTrackingEvent(
    absl::string_view) const {
  return nullptr;
}

absl::Status PjRtDevice::TransferToInfeed(const LiteralSlice&) {
  return UnimplementedMethod("PjRtDevice::TransferToInfeed");
}

absl::Status PjRtDevice::TransferFromOutfeed(MutableBorrowingLiteral) {
  return UnimplementedMethod("PjRtDevice::TransferFromOutfeed");
}

absl::StatusOr<AllocatorStats> PjRtDevice::GetAllocatorStats() const {
  return UnimplementedMethod("PjRtDevice::GetAllocatorStats");
}

absl::Status PjRtDevice::ClearMemoryStats() {
  return UnimplementedMethod("PjRtDevice::ClearMemoryStats");
}

absl::StatusOr<intptr_t> PjRtDevice::GetStreamForExternalReadyEvents() const {
  return UnimplementedMethod("PjRtDevice::GetStreamForExternalReadyEvents");
}

absl::StatusOr<bool> PjRtDevice::PoisonExecution(int32_t, absl::Status) {
  return UnimplementedMethod("PjRtDevice::PoisonExecution");
}

HostMemorySpaceBase::HostMemorySpaceBase(int id, PjRtDevice* device, absl::string_view kind,
                                         int kind_id, absl::string_view short_name,
                                         absl::string_view long_name)
    : id_(id),
      device_(device),
      kind_(kind),
      kind_id_(kind_id),
      debug_string_(absl::StrCat(long_name, "(id=", id, ", process_index=", device->process_index(),
                                 ", client=", device->client()->platform_name(), ")")),
      to_string_(absl::StrCat(short_name, "_", id)) {}

PjRtClient* HostMemorySpaceBase::client() const { return device_->client(); }

absl::Span<PjRtDevice* const> HostMemorySpaceBase::devices() const {
  return absl::MakeConstSpan(&device_, 1);
}

CpuDeviceMemorySpace::CpuDeviceMemorySpace(int id, PjRtDevice* device)
    : HostMemorySpaceBase(id, device, kKind, kKindId, "CPU_DEVICE", "CpuDeviceMemory") {}

PinnedHostMemorySpace::PinnedHostMemorySpace(int id, PjRtDevice* device)
    : HostMemorySpaceBase(id, device, kKind, kKindId, "PINNED_HOST", "PinnedHostMemory") {}

UnpinnedHostMemorySpace::UnpinnedHostMemorySpace(int id, PjRtDevice* device)
    : HostMemorySpaceBase(id, device, kKind, kKindId, "UNPINNED_HOST", "UnpinnedHostMemorySpace") {}

}  // namespace pjrt
