// SPDX-License-Identifier: Apache-2.0
//
// From the host to a device: the ways to make a buffer of host data, and of nothing.
#include <memory>
#include <utility>
#include <vector>

#include "pjrt/base/literal.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_buffer.h"
#include "src/core/runtime/common_client_impl.h"
#include "src/core/runtime/common_transfer.h"
#include "src/core/runtime/future_util.h"
#include "src/core/runtime/host_transfer.h"

namespace pjrt {
namespace {

void Call(OnHostBufferDone on_done) {
  if (on_done) std::move(on_done)();
}

// `future`, with `on_done` called before it is seen to be ready.
Future<> CallWhenSettled(const Future<>& future, OnHostBufferDone on_done) {
  if (!on_done) return future;
  if (future.IsReady()) {
    std::move(on_done)();
    return future;
  }
  auto [promise, result] = MakePromise<>();
  future.OnReady(
      [p = std::move(promise), call = std::move(on_done)](const absl::Status& status) mutable {
        std::move(call)();
        p.Set(status);
      });
  return FutureHelpers::WithHooksOf(std::move(result), future);
}

absl::StatusOr<HostSource> CheckHostArray(const void* data, const BufferType& type,
                                          std::optional<absl::Span<const int64_t>> byte_strides,
                                          bool only_during_call) {
  const Shape& shape = type.shape;
  if (data == nullptr && ElementCount(shape) > 0) {
    return InvalidArgument("PJRT-R036", "BufferFromHostBuffer: data is null, but ",
                           shape.ToString(false), " has elements");
  }
  if (byte_strides.has_value() &&
      byte_strides->size() != static_cast<size_t>(shape.dimensions_size())) {
    return InvalidArgument("PJRT-R036", "BufferFromHostBuffer: ", byte_strides->size(),
                           " byte strides for ", shape.dimensions_size(), " dimensions");
  }
  DimensionVector strides =
      byte_strides.has_value()
          ? DimensionVector(byte_strides->begin(), byte_strides->end())
          : DenseStrides(shape.dimensions(), MakeDescendingLayout(shape.rank()).minor_to_major(),
                         ByteWidth(shape.element_type()));
  return HostSource{data, HostTransfer(type, shape.dimensions(), std::move(strides)),
                    only_during_call};
}

}  // namespace

Future<> TransferToRaw(CommonPjRtClient* client, const HostSource& source, RawBufferRef raw,
                       OnHostBufferDone on_done) {
  const HostTransfer& transfer = source.transfer;
  const size_t bytes = transfer.elements_bytes();
  Executor* const executor = client->backend()->executor();
  const int threads = client->options().max_transpose_threads;
  if (void* target = raw->host_pointer(); target != nullptr || bytes == 0) {
    // Conversions are always made in the call: the caller's strides and memory are at hand.
    if (!transfer.IsPlainCopy() || source.only_during_call) {
      transfer.ToDevice(source.data, target, executor, threads);
      Call(std::move(on_done));
      return absl::OkStatus();
    }
    return CallWhenSettled(client->CopyBytesToDevice(source.data, std::move(raw), 0, bytes),
                           std::move(on_done));
  }
  if (transfer.IsPlainCopy() && !source.only_during_call) {
    return CallWhenSettled(client->CopyBytesToDevice(source.data, std::move(raw), 0, bytes),
                           std::move(on_done));
  }
  auto staging = std::make_shared<std::vector<char>>(bytes);
  transfer.ToDevice(source.data, staging->data(), executor, threads);
  Call(std::move(on_done));
  Future<> done = client->CopyBytesToDevice(staging->data(), std::move(raw), 0, bytes);
  return KeepAliveUntilReady(std::move(done), std::move(staging));
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtClient::BufferFromHostBuffer(
    const void* data, PrimitiveType type, absl::Span<const int64_t> dims,
    std::optional<absl::Span<const int64_t>> byte_strides,
    HostBufferSemantics host_buffer_semantics, OnHostBufferDone on_done_with_host_buffer,
    PjRtMemorySpace* memory_space, const Layout* device_layout) {
  constexpr absl::string_view kCaller = "BufferFromHostBuffer";
  PJRT_ASSIGN_OR_RETURN(CommonMemorySpace * space, CheckMemorySpace(memory_space, kCaller));
  PJRT_ASSIGN_OR_RETURN(BufferTypeRef buffer_type,
                        MakeBufferType(type, dims, device_layout, kCaller));
  const bool zero_copy = host_buffer_semantics == HostBufferSemantics::kImmutableZeroCopy ||
                         host_buffer_semantics == HostBufferSemantics::kMutableZeroCopy;
  PJRT_ASSIGN_OR_RETURN(
      const HostSource source,
      CheckHostArray(data, *buffer_type, byte_strides,
                     host_buffer_semantics == HostBufferSemantics::kImmutableOnlyDuringCall));
  if (zero_copy && limits_.supports_zero_copy && source.transfer.IsPlainCopy() &&
      buffer_type->bytes > 0 &&
      (reinterpret_cast<uintptr_t>(data) & (limits_.alignment - 1)) == 0) {
    PJRT_ASSIGN_OR_RETURN(
        RawBufferRef raw,
        backend_->Import(space->index(), const_cast<void*>(data), buffer_type->bytes,
                         host_buffer_semantics == HostBufferSemantics::kMutableZeroCopy,
                         std::move(on_done_with_host_buffer)));
    return std::make_unique<CommonPjRtBuffer>(space, std::move(buffer_type), std::move(raw),
                                              absl::OkStatus());
  }
  PJRT_ASSIGN_OR_RETURN(RawBufferRef raw, Allocate(space, buffer_type->bytes));
  Future<> defined = TransferToRaw(this, source, raw, std::move(on_done_with_host_buffer));
  return std::make_unique<CommonPjRtBuffer>(space, std::move(buffer_type), std::move(raw),
                                            std::move(defined));
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtClient::BufferFromHostBuffer(
    const void* data, PrimitiveType type, absl::Span<const int64_t> dims,
    std::optional<absl::Span<const int64_t>> byte_strides,
    HostBufferSemantics host_buffer_semantics, OnHostBufferDone on_done_with_host_buffer,
    PjRtBuffer* donated_dst, const Layout* device_layout) {
  constexpr absl::string_view kCaller = "BufferFromHostBuffer with a donated destination";
  PJRT_ASSIGN_OR_RETURN(CommonPjRtBuffer * target, CheckBuffer(donated_dst, kCaller));
  PJRT_ASSIGN_OR_RETURN(BufferTypeRef buffer_type,
                        MakeBufferType(type, dims, device_layout, kCaller));
  PJRT_ASSIGN_OR_RETURN(
      const HostSource source,
      CheckHostArray(data, *buffer_type, byte_strides,
                     host_buffer_semantics == HostBufferSemantics::kImmutableOnlyDuringCall));
  if (target->type()->bytes != buffer_type->bytes) {
    return InvalidArgument("PJRT-R028", kCaller, ": the destination has ", target->type()->bytes,
                           " bytes; expected ", buffer_type->bytes);
  }
  CommonMemorySpace* const space = target->common_space();
  PJRT_RETURN_IF_ERROR(target->HoldForDonation(kCaller));
  if (target->contents().HasExternalReference()) {
    target->holds().DropDonation(parking_lot_);
    return InvalidArgument("PJRT-R029", kCaller,
                           ": Donation requested for buffer with external reference");
  }
  BufferContents contents;
  if (const RawBuffer* raw = target->contents().memory.raw.get();
      raw != nullptr && !raw->is_writable()) {
    // Imported memory that must not be written is given up all the same; the data goes elsewhere.
    absl::StatusOr<RawBufferRef> fresh = Allocate(space, buffer_type->bytes);
    if (!fresh.ok()) {
      target->holds().DropDonation(parking_lot_);
      return fresh.status();
    }
    (void)target->ConfirmDonation();
    contents.memory.raw = *std::move(fresh);
    contents.definition =
        TransferToRaw(this, source, contents.memory.raw, std::move(on_done_with_host_buffer));
    return std::make_unique<CommonPjRtBuffer>(space, std::move(buffer_type), std::move(contents));
  }
  const BufferContents taken = target->ConfirmDonation();
  contents.memory = taken.memory;
  const Future<> idle = taken.Idle();
  if (idle.IsReady() && taken.memory.get() != nullptr) {
    contents.definition =
        TransferToRaw(this, source, taken.memory.Ref(), std::move(on_done_with_host_buffer));
  } else {
    // The storage is still in use: the data is taken now and put there later.
    auto staging = std::make_shared<std::vector<char>>(source.transfer.elements_bytes());
    source.transfer.ToDevice(data, staging->data());
    Call(std::move(on_done_with_host_buffer));
    contents.definition = idle.Map([client = this, staging, memory = taken.memory]() -> Future<> {
      if (memory.get() == nullptr || !memory.get()->is_writable()) {
        return InvalidArgument("PJRT-R028", "the donated destination's memory can't be written");
      }
      return KeepAliveUntilReady(
          client->CopyBytesToDevice(staging->data(), memory.Ref(), 0, staging->size()), staging);
    });
  }
  return std::make_unique<CommonPjRtBuffer>(space, std::move(buffer_type), std::move(contents));
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtClient::BufferFromHostLiteral(
    const LiteralSlice& literal, PjRtMemorySpace* memory_space, const Layout* device_layout) {
  constexpr absl::string_view kCaller = "BufferFromHostLiteral";
  PJRT_ASSIGN_OR_RETURN(CommonMemorySpace * space, CheckMemorySpace(memory_space, kCaller));
  const Shape& shape = literal.shape();
  PJRT_ASSIGN_OR_RETURN(BufferTypeRef type, MakeBufferType(shape, device_layout, kCaller));
  PJRT_ASSIGN_OR_RETURN(RawBufferRef raw, Allocate(space, type->bytes));
  Future<> defined = absl::OkStatus();
  if (shape.IsArray()) {
    const HostSource source = {literal.untyped_data(),
                               HostTransfer(*type, shape.dimensions(), ByteStrides(shape)), false};
    defined = TransferToRaw(this, source, raw, nullptr);
  }
  return std::make_unique<CommonPjRtBuffer>(space, std::move(type), std::move(raw),
                                            std::move(defined));
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtClient::CreateUninitializedBuffer(
    const Shape& shape, PjRtMemorySpace* memory_space) {
  constexpr absl::string_view kCaller = "CreateUninitializedBuffer";
  PJRT_ASSIGN_OR_RETURN(CommonMemorySpace * space, CheckMemorySpace(memory_space, kCaller));
  PJRT_ASSIGN_OR_RETURN(
      BufferTypeRef type,
      MakeBufferType(shape, shape.has_layout() ? &shape.layout() : nullptr, kCaller));
  PJRT_ASSIGN_OR_RETURN(RawBufferRef raw, Allocate(space, type->bytes));
  return std::make_unique<CommonPjRtBuffer>(space, std::move(type), std::move(raw),
                                            absl::OkStatus());
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtClient::CreateErrorBuffer(
    absl::Status error, const Shape& shape, PjRtMemorySpace* memory_space) {
  constexpr absl::string_view kCaller = "CreateErrorBuffer";
  PJRT_ASSIGN_OR_RETURN(CommonMemorySpace * space, CheckMemorySpace(memory_space, kCaller));
  if (error.ok()) return InvalidArgument("PJRT-R032", kCaller, " needs an error; given OK");
  PJRT_ASSIGN_OR_RETURN(
      BufferTypeRef type,
      MakeBufferType(shape, shape.has_layout() ? &shape.layout() : nullptr, kCaller));
  return std::make_unique<CommonPjRtBuffer>(space, std::move(type), RawBufferRef(),
                                            Future<>(std::move(error)));
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtClient::CreateViewOfDeviceBuffer(
    void* device_ptr, const Shape& shape, PjRtMemorySpace* memory_space,
    std::function<void()> on_delete_callback, std::optional<intptr_t> stream) {
  constexpr absl::string_view kCaller = "CreateViewOfDeviceBuffer";
  PJRT_ASSIGN_OR_RETURN(CommonMemorySpace * space, CheckMemorySpace(memory_space, kCaller));
  if (stream.has_value()) {
    return Unimplemented(
        "PJRT-R037", kCaller,
        ": CreateDeviceEventForStream is not supported, so no stream can be given");
  }
  PJRT_ASSIGN_OR_RETURN(
      BufferTypeRef type,
      MakeBufferType(shape, shape.has_layout() ? &shape.layout() : nullptr, kCaller));
  if (device_ptr == nullptr && type->bytes > 0) {
    return InvalidArgument("PJRT-R036", kCaller, ": the address is null, but ",
                           shape.ToString(false), " has elements");
  }
  if ((reinterpret_cast<uintptr_t>(device_ptr) & (limits_.alignment - 1)) != 0) {
    return InvalidArgument("PJRT-R038", kCaller, ": unaligned data; expected a multiple of ",
                           limits_.alignment, " bytes");
  }
  OnHostBufferDone on_release;
  if (on_delete_callback) {
    on_release = [call = std::move(on_delete_callback)]() mutable { call(); };
  }
  PJRT_ASSIGN_OR_RETURN(RawBufferRef raw,
                        backend_->Import(space->index(), device_ptr, type->bytes,
                                         /*is_writable=*/false, std::move(on_release)));
  return std::make_unique<CommonPjRtBuffer>(space, std::move(type), std::move(raw),
                                            absl::OkStatus());
}

}  // namespace pjrt
