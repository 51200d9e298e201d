// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/common_device.h"

#include <utility>

#include "pjrt/base/literal.h"
#include "src/core/base/error.h"
#include "src/core/runtime/common_client_impl.h"

namespace pjrt {

CommonMemorySpace::CommonMemorySpace(CommonDevice* device, int index, const BackendMemory* memory)
    : device_(device), device_as_base_(device), index_(index), memory_(memory) {}

PjRtClient* CommonMemorySpace::client() const { return device_->client(); }

absl::Span<PjRtDevice* const> CommonMemorySpace::devices() const {
  return absl::MakeConstSpan(&device_as_base_, 1);
}

void CommonDeviceDescription::AddMemoryKind(absl::string_view kind, int kind_id) {
  memories_.push_back(std::make_unique<const PjRtMemorySpaceDescription>(kind, kind_id));
  memory_pointers_.push_back(memories_.back().get());
}

absl::StatusOr<const PjRtMemorySpaceDescription*> CommonDeviceDescription::default_memory_space()
    const {
  if (memory_pointers_.empty()) {
    return FailedPrecondition("PJRT-R031", DebugString(),
                              " isn't addressable, so it has no memory spaces here");
  }
  return memory_pointers_.front();
}

CommonDevice::CommonDevice(CommonPjRtClient* client, int index, const BackendDevice* device,
                           int max_inflight_computations)
    : client_(client),
      index_(index),
      device_(device),
      description_(device),
      launches_(max_inflight_computations) {}

PjRtClient* CommonDevice::client() const { return client_; }

CommonMemorySpace* CommonDevice::AddMemory(int index, const BackendMemory* memory) {
  owned_memory_spaces_.push_back(std::make_unique<CommonMemorySpace>(this, index, memory));
  memory_spaces_.push_back(owned_memory_spaces_.back().get());
  description_.AddMemoryKind(memory->kind, memory->kind_id);
  return owned_memory_spaces_.back().get();
}

CommonMemorySpace* CommonDevice::FindMemory(absl::string_view kind) const {
  for (const auto& space : owned_memory_spaces_) {
    if (kind.empty() || space->kind() == kind) return space.get();
  }
  return nullptr;
}

absl::StatusOr<PjRtMemorySpace*> CommonDevice::default_memory_space() const {
  if (memory_spaces_.empty()) {
    return FailedPrecondition("PJRT-R031", DebugString(),
                              " isn't addressable, so it has no memory spaces here");
  }
  return memory_spaces_.front();
}

absl::Status CommonDevice::TransferToInfeed(const LiteralSlice& literal) {
  return client_->backend()->TransferToInfeed(index_, literal);
}

absl::Status CommonDevice::TransferFromOutfeed(MutableBorrowingLiteral literal) {
  return client_->backend()->TransferFromOutfeed(index_, std::move(literal));
}

absl::StatusOr<AllocatorStats> CommonDevice::GetAllocatorStats() const {
  return client_->backend()->GetAllocatorStats(index_);
}

absl::Status CommonDevice::ClearMemoryStats() {
  return client_->backend()->ClearMemoryStats(index_);
}

absl::StatusOr<bool> CommonDevice::PoisonExecution(int32_t launch_id, absl::Status error) {
  if (error.ok()) {
    return InvalidArgument("PJRT-R032", "PoisonExecution needs an error; given OK");
  }
  return launches_.Poison(launch_id, error);
}

}  // namespace pjrt
