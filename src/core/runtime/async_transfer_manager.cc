// SPDX-License-Identifier: Apache-2.0
//
// AsyncHostToDeviceTransferManager of the common client.
//
// What transfers need lives in a shared State, because the callback of a transfer may destroy the
// manager. A transfer goes through two counts: `in_flight`, which the manager's destructor waits
// for, ends before its callback; `unfinished` of its buffer, which readiness waits for, ends after
// it.
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "pjrt/async_transfer.h"
#include "pjrt/base/literal.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_buffer.h"
#include "src/core/runtime/common_client_impl.h"
#include "src/core/runtime/common_transfer.h"
#include "src/core/runtime/future_util.h"

namespace pjrt {
namespace {

struct Slot {
  BufferTypeRef type;
  RawBufferRef raw;
  Promise<> defined;
  std::unique_ptr<PjRtBuffer> buffer;  // until it is retrieved
  int unfinished = 0;
  bool last_issued = false;
  bool is_settled = false;  // `defined` is set, or about to be
  absl::Status error;       // of the first transfer that failed
};

struct State {
  std::mutex mutex;
  std::condition_variable changed;
  int in_flight = 0;
  std::vector<Slot> slots;
};

// The promise of a slot that has nothing more to wait for; empty otherwise. With the mutex held.
Promise<> TakeIfComplete(Slot& slot) {
  if (slot.is_settled || !slot.last_issued || slot.unfinished != 0) return Promise<>();
  slot.is_settled = true;
  return std::move(slot.defined);
}

class CommonAsyncTransferManager final : public AsyncHostToDeviceTransferManager {
 public:
  CommonAsyncTransferManager(CommonPjRtClient* client, CommonMemorySpace* space)
      : client_(client), space_(space), state_(std::make_shared<State>()) {}

  absl::Status AddBuffer(BufferTypeRef type) {
    Slot slot;
    PJRT_ASSIGN_OR_RETURN(slot.raw, client_->Allocate(space_, type->bytes));
    auto [promise, defined] = MakePromise<>();
    slot.defined = std::move(promise);
    slot.buffer = std::make_unique<CommonPjRtBuffer>(space_, type, slot.raw, std::move(defined));
    slot.type = std::move(type);
    state_->slots.push_back(std::move(slot));
    return absl::OkStatus();
  }

  ~CommonAsyncTransferManager() override {
    std::vector<Promise<>> broken;
    {
      std::unique_lock<std::mutex> lock(state_->mutex);
      state_->changed.wait(lock, [this] { return state_->in_flight == 0; });
      for (Slot& slot : state_->slots) {
        if (slot.is_settled || slot.last_issued) continue;
        slot.is_settled = true;
        broken.push_back(std::move(slot.defined));
      }
    }
    for (Promise<>& defined : broken) {
      defined.Set(
          Internal("PJRT-R040", "Async transfer object was deleted before transfers completed."));
    }
  }

  size_t buffer_count() const override { return state_->slots.size(); }
  PjRtDevice* device() const override { return space_->common_device(); }

  std::unique_ptr<PjRtBuffer> RetrieveBuffer(int buffer_index) override {
    if (!IsIndex(buffer_index)) return nullptr;
    std::lock_guard<std::mutex> lock(state_->mutex);
    return std::move(state_->slots[buffer_index].buffer);
  }

  size_t buffer_size(int buffer_index) const override {
    return IsIndex(buffer_index) ? state_->slots[buffer_index].type->bytes : 0;
  }

  absl::Status TransferLiteralToBuffer(int buffer_index, const LiteralSlice& literal,
                                       OnHostBufferDone on_done) override {
    PJRT_RETURN_IF_ERROR(CheckIndex(buffer_index));
    const BufferTypeRef& type = state_->slots[buffer_index].type;
    const Shape& shape = literal.shape();
    if (!Compatible(shape, type->shape)) {
      return InvalidArgument("PJRT-R041", "the literal to transfer is ", shape.ToString(),
                             "; buffer ", buffer_index, " is ", type->shape.ToString());
    }
    PJRT_RETURN_IF_ERROR(Begin(buffer_index, /*is_last=*/true));
    Future<> done = absl::OkStatus();
    if (shape.IsArray()) {
      const HostSource source = {literal.untyped_data(),
                                 HostTransfer(*type, shape.dimensions(), ByteStrides(shape)),
                                 /*only_during_call=*/false};
      done = TransferToRaw(client_, source, state_->slots[buffer_index].raw, nullptr);
    }
    End(buffer_index, std::move(done), std::move(on_done));
    return absl::OkStatus();
  }

  absl::Status TransferRawDataToBuffer(int buffer_index, absl::string_view data,
                                       OnHostBufferDone on_done) override {
    PJRT_RETURN_IF_ERROR(CheckIndex(buffer_index));
    if (data.size() != buffer_size(buffer_index)) {
      return InvalidArgument("PJRT-R041", data.size(), " bytes to transfer; buffer ", buffer_index,
                             " has ", buffer_size(buffer_index));
    }
    return TransferRawDataToSubBuffer(buffer_index, data.data(), 0,
                                      static_cast<int64_t>(data.size()), /*is_last_transfer=*/true,
                                      std::move(on_done));
  }

  absl::Status TransferRawDataToSubBuffer(int buffer_index, const void* data, int64_t offset,
                                          int64_t transfer_size, bool is_last_transfer,
                                          OnHostBufferDone on_done) override {
    PJRT_RETURN_IF_ERROR(CheckIndex(buffer_index));
    const auto bytes = static_cast<int64_t>(buffer_size(buffer_index));
    if (offset < 0 || transfer_size < 0 || offset > bytes || transfer_size > bytes - offset) {
      return InvalidArgument("PJRT-R041", "transfer of ", transfer_size, " bytes to offset ",
                             offset, " isn't within the ", bytes, " bytes of buffer ",
                             buffer_index);
    }
    if (data == nullptr && transfer_size > 0) {
      return InvalidArgument("PJRT-R041", "transfer of ", transfer_size, " bytes from null");
    }
    PJRT_RETURN_IF_ERROR(Begin(buffer_index, is_last_transfer));
    Future<> done =
        client_->CopyBytesToDevice(data, state_->slots[buffer_index].raw,
                                   static_cast<size_t>(offset), static_cast<size_t>(transfer_size));
    End(buffer_index, std::move(done), std::move(on_done));
    return absl::OkStatus();
  }

  void SetBufferError(int buffer_index, absl::Status error) override {
    if (!IsIndex(buffer_index) || error.ok()) return;
    Promise<> defined;
    {
      std::lock_guard<std::mutex> lock(state_->mutex);
      Slot& slot = state_->slots[buffer_index];
      if (slot.is_settled || slot.last_issued) return;
      slot.is_settled = true;
      slot.last_issued = true;
      defined = std::move(slot.defined);
    }
    defined.Set(std::move(error));
  }

  void AddTransferMetadata(const TransferMetadata&) override {}

 private:
  bool IsIndex(int i) const { return i >= 0 && i < static_cast<int>(state_->slots.size()); }

  absl::Status CheckIndex(int i) const {
    if (IsIndex(i)) return absl::OkStatus();
    return InvalidArgument("PJRT-R041", "buffer index ", i, " isn't within 0 .. ",
                           state_->slots.size(), " - 1");
  }

  // Counts a transfer in.
  absl::Status Begin(int buffer_index, bool is_last) {
    std::lock_guard<std::mutex> lock(state_->mutex);
    Slot& slot = state_->slots[buffer_index];
    if (slot.last_issued) {
      return InvalidArgument("PJRT-R041", "buffer ", buffer_index,
                             " has already been fully transferred, or is in error");
    }
    slot.last_issued = is_last;
    ++slot.unfinished;
    ++state_->in_flight;
    return absl::OkStatus();
  }

  // Counts it out, when `done` is ready.
  void End(int buffer_index, Future<> done, OnHostBufferDone on_done) {
    done.OnReady([state = state_, buffer_index,
                  call = std::move(on_done)](const absl::Status& status) mutable {
      {
        std::lock_guard<std::mutex> lock(state->mutex);
        Slot& slot = state->slots[buffer_index];
        if (slot.error.ok()) slot.error = status;
        --state->in_flight;
        state->changed.notify_all();
      }
      if (call) std::move(call)();
      Promise<> defined;
      absl::Status result;
      {
        std::lock_guard<std::mutex> lock(state->mutex);
        Slot& slot = state->slots[buffer_index];
        --slot.unfinished;
        defined = TakeIfComplete(slot);
        result = slot.error;
      }
      if (defined) defined.Set(std::move(result));
    });
  }

  CommonPjRtClient* const client_;
  CommonMemorySpace* const space_;
  const std::shared_ptr<State> state_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<AsyncHostToDeviceTransferManager>>
CommonPjRtClient::CreateBuffersForAsyncHostToDevice(
    absl::Span<const ShapeSpec> shape_specs,
    std::optional<absl::Span<const std::optional<Layout>>> device_layouts,
    PjRtMemorySpace* memory_space) {
  constexpr absl::string_view kCaller = "CreateBuffersForAsyncHostToDevice";
  PJRT_ASSIGN_OR_RETURN(CommonMemorySpace * space, CheckMemorySpace(memory_space, kCaller));
  if (device_layouts.has_value() && device_layouts->size() != shape_specs.size()) {
    return InvalidArgument("PJRT-R041", kCaller, ": ", device_layouts->size(), " layouts for ",
                           shape_specs.size(), " shapes");
  }
  auto manager = std::make_unique<CommonAsyncTransferManager>(this, space);
  for (size_t i = 0; i < shape_specs.size(); ++i) {
    const Layout* layout = nullptr;
    if (device_layouts.has_value() && (*device_layouts)[i].has_value()) {
      layout = &*(*device_layouts)[i];
    }
    const ShapeSpec& spec = shape_specs[i];
    PJRT_ASSIGN_OR_RETURN(BufferTypeRef type,
                          MakeBufferType(spec.element_type, spec.dims, layout, kCaller));
    PJRT_RETURN_IF_ERROR(manager->AddBuffer(std::move(type)));
  }
  return manager;
}

}  // namespace pjrt
