// SPDX-License-Identifier: Apache-2.0
//
// Life of a buffer: holds, usages, deletion, external references. Reading and copying are in
// common_buffer_read.cc and common_buffer_copy.cc.
#include "src/core/runtime/common_buffer.h"

#include <algorithm>
#include <utility>

#include "pjrt/base/future_join.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/future_util.h"

namespace pjrt {
namespace {

using ReferenceCount = std::shared_ptr<std::atomic<int>>;

// Keeps a buffer's memory alive. `count` is null for memory that has no buffer any more.
class CommonExternalReference final : public PjRtBuffer::ExternalReference {
 public:
  CommonExternalReference(MemoryRef memory, ReferenceCount count)
      : ExternalReference(memory.get() == nullptr ? nullptr : memory.get()->device_pointer()),
        memory_(std::move(memory)),
        count_(std::move(count)) {}
  ~CommonExternalReference() override {
    if (count_ != nullptr) count_->fetch_sub(1);
  }

 private:
  MemoryRef memory_;
  ReferenceCount count_;
};

}  // namespace

absl::Status DeletedBufferError() {
  return InvalidArgument("PJRT-R022", "Buffer has been deleted or donated.");
}

Future<> BufferContents::Idle() const {
  std::vector<Future<>> pending;
  if (!definition.IsReady()) pending.push_back(WhenSettled(definition));
  for (const Future<>& usage : usages) {
    if (!usage.IsReady()) pending.push_back(WhenSettled(usage));
  }
  return JoinFutures(pending);
}

CommonPjRtClient* CommonPjRtBuffer::common_client() const {
  return static_cast<CommonPjRtClient*>(space_->client());
}

PjRtClient* CommonPjRtBuffer::client() const { return space_->client(); }

bool CommonPjRtBuffer::IsOnCpu() const { return space_->is_host_accessible(); }

absl::StatusOr<size_t> CommonPjRtBuffer::GetOnDeviceSizeInBytes() const {
  if (IsDeleted()) return DeletedBufferError();
  return type_->bytes;
}

void CommonPjRtBuffer::Delete() {
  if (holds_.Donation(common_client()->parking_lot()) != HoldState::Result::kHeld) return;
  // The memory may go, and run callbacks of its owner, when nothing is held any more.
  const BufferContents gone = ConfirmDonation();
}

Future<> CommonPjRtBuffer::GetReadyFuture() {
  ParkingLot& lot = common_client()->parking_lot();
  if (holds_.Usage(lot) != HoldState::Result::kHeld) return DeletedBufferError();
  Future<> definition = contents_.definition;
  holds_.DropUsage(lot);
  return definition;
}

void CommonPjRtBuffer::AddUsage(Future<> ended) {
  if (ended.IsReady()) return;
  std::lock_guard<std::mutex> lock(usage_mutex_);
  auto& usages = contents_.usages;
  usages.erase(std::remove_if(usages.begin(), usages.end(),
                              [](const Future<>& usage) { return usage.IsReady(); }),
               usages.end());
  usages.push_back(std::move(ended));
}

BufferContents CommonPjRtBuffer::ConfirmDonation() {
  BufferContents taken = std::move(contents_);
  holds_.ConfirmDonation(common_client()->parking_lot());
  return taken;
}

absl::Status CommonPjRtBuffer::HoldForDonation(absl::string_view action) {
  ParkingLot& lot = common_client()->parking_lot();
  if (holds_.Donation(lot) != HoldState::Result::kHeld) {
    return WithContext(DeletedBufferError(), action);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<PjRtBuffer::ExternalReference>>
CommonPjRtBuffer::AcquireExternalReference() {
  ParkingLot& lot = common_client()->parking_lot();
  if (holds_.Usage(lot) != HoldState::Result::kHeld) return DeletedBufferError();
  MemoryRef memory = contents_.memory;
  const Future<> definition = contents_.definition;
  holds_.DropUsage(lot);
  // Without a hold, since this may take as long as the inputs of a program take to come.
  PJRT_RETURN_IF_ERROR(memory.Allocated().Await());
  if (memory.get() == nullptr) {
    return definition.Await();  // Born in error, so there is one.
  }
  if (holds_.Usage(lot) != HoldState::Result::kHeld) return DeletedBufferError();
  ReferenceCount count;
  {
    std::lock_guard<std::mutex> lock(usage_mutex_);
    if (contents_.external_references == nullptr) {
      contents_.external_references = std::make_shared<std::atomic<int>>(0);
    }
    count = contents_.external_references;
    count->fetch_add(1);
  }
  holds_.DropUsage(lot);
  return std::make_unique<CommonExternalReference>(std::move(memory), std::move(count));
}

absl::StatusOr<std::unique_ptr<PjRtBuffer::ExternalReference>>
CommonPjRtBuffer::ReleaseDeviceMemoryOwnership(bool wait_for_operations_to_complete) {
  ParkingLot& lot = common_client()->parking_lot();
  if (holds_.Donation(lot) != HoldState::Result::kHeld) {
    return std::unique_ptr<ExternalReference>();
  }
  BufferContents taken = ConfirmDonation();
  if (wait_for_operations_to_complete) {
    const absl::Status defined = taken.definition.Await();
    (void)taken.Idle().Await();  // always OK
    if (!defined.ok()) {
      return Internal("PJRT-R023", "the memory was released, but its contents are in error: ",
                      defined.message());
    }
  }
  PJRT_RETURN_IF_ERROR(taken.memory.Allocated().Await());
  return std::make_unique<CommonExternalReference>(std::move(taken.memory), nullptr);
}

}  // namespace pjrt
