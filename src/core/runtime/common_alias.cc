// SPDX-License-Identifier: Apache-2.0
//
// Alias buffers: a buffer first, its memory and contents later.
#include <memory>
#include <utility>

#include "pjrt/base/future_join.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_buffer.h"
#include "src/core/runtime/common_client_impl.h"

namespace pjrt {
namespace {

// What the callback holds. Fails the alias when it goes without having been called.
class AliasFulfiller {
 public:
  AliasFulfiller(CommonMemorySpace* space, BufferTypeRef type,
                 std::shared_ptr<DelayedMemory> memory, Promise<> defined)
      : space_(space),
        type_(std::move(type)),
        memory_(std::move(memory)),
        defined_(std::move(defined)) {}
  AliasFulfiller(AliasFulfiller&&) = default;
  AliasFulfiller& operator=(AliasFulfiller&&) = delete;
  ~AliasFulfiller() {
    if (memory_ != nullptr) {
      (void)Fail(
          Internal("PJRT-R039", "the alias buffer's callback was destroyed before it was called"));
    }
  }

  absl::Status operator()(absl::StatusOr<PjRtBuffer*> source) {
    if (memory_ == nullptr) {
      return InvalidArgument("PJRT-R039", "the alias buffer has been fulfilled before");
    }
    if (!source.ok()) return Fail(source.status());
    constexpr absl::string_view kCaller = "fulfilling an alias buffer";
    auto* client = static_cast<CommonPjRtClient*>(space_->client());
    absl::StatusOr<CommonPjRtBuffer*> buffer = client->CheckBuffer(*source, kCaller);
    if (!buffer.ok()) return Fail(buffer.status());
    if ((*buffer)->type()->shape != type_->shape) {
      return Fail(InvalidArgument("PJRT-R039", "the alias buffer is ", type_->shape.ToString(),
                                  "; given a buffer of ", (*buffer)->type()->shape.ToString()));
    }
    if ((*buffer)->common_space() != space_) {
      return Fail(InvalidArgument("PJRT-R039", "the alias buffer is in ", space_->DebugString(),
                                  "; given a buffer in ",
                                  (*buffer)->common_space()->DebugString()));
    }
    if (absl::Status held = (*buffer)->HoldForDonation(kCaller); !held.ok()) {
      return Fail(std::move(held));
    }
    if ((*buffer)->contents().HasExternalReference()) {
      (*buffer)->holds().DropDonation(client->parking_lot());
      return Fail(
          InvalidArgument("PJRT-R029", "Donation requested for buffer with external reference"));
    }
    Forward((*buffer)->ConfirmDonation());
    return absl::OkStatus();
  }

 private:
  absl::Status Fail(absl::Status error) {
    std::exchange(memory_, nullptr)->Fail(error);
    defined_.Set(error);
    return error;
  }

  void Forward(BufferContents source) {
    std::shared_ptr<DelayedMemory> memory = std::exchange(memory_, nullptr);
    const Future<> allocated = memory->allocated();
    // Readers of the source may still be at work; who uses the alias must not overtake them.
    const Future<> idle = source.Idle();
    source.memory.Allocated().OnReady([memory, from = source.memory](const absl::Status& status) {
      if (status.ok() && from.get() != nullptr) {
        memory->Fulfil(from.Ref());
      } else {
        memory->Fail(status.ok() ? Internal("PJRT-R039", "the source buffer has no memory")
                                 : status);
      }
    });
    JoinFutures({source.definition, allocated, idle})
        .OnReady([defined = std::move(defined_),
                  first = source.definition](const absl::Status& status) mutable {
          // The error of the contents says more than that of the memory.
          defined.Set(first.Await().ok() ? status : first.Await());
        });
  }

  CommonMemorySpace* space_;
  BufferTypeRef type_;
  std::shared_ptr<DelayedMemory> memory_;  // null once called
  Promise<> defined_;
};

}  // namespace

absl::StatusOr<std::pair<std::unique_ptr<PjRtBuffer>, PjRtFulfillAliasBufferCallback>>
CommonPjRtClient::CreateAliasBuffer(const Shape& shape, PjRtMemorySpace* memory_space) {
  constexpr absl::string_view kCaller = "CreateAliasBuffer";
  PJRT_ASSIGN_OR_RETURN(CommonMemorySpace * space, CheckMemorySpace(memory_space, kCaller));
  PJRT_ASSIGN_OR_RETURN(
      BufferTypeRef type,
      MakeBufferType(shape, shape.has_layout() ? &shape.layout() : nullptr, kCaller));
  auto [promise, defined] = MakePromise<>();
  BufferContents contents;
  contents.memory.delayed = std::make_shared<DelayedMemory>();
  contents.definition = std::move(defined);
  AliasFulfiller fulfiller(space, type, contents.memory.delayed, std::move(promise));
  std::unique_ptr<PjRtBuffer> buffer =
      std::make_unique<CommonPjRtBuffer>(space, std::move(type), std::move(contents));
  return std::make_pair(std::move(buffer), PjRtFulfillAliasBufferCallback(std::move(fulfiller)));
}

}  // namespace pjrt
