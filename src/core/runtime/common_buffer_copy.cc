// SPDX-License-Identifier: Apache-2.0
//
// Making one buffer of another: copies, moves, bitcasts.
#include <functional>
#include <utility>

#include "pjrt/async_transfer.h"
#include "pjrt/base/future_join.h"
#include "pjrt/base/literal.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/common_buffer.h"
#include "src/core/runtime/future_util.h"

namespace pjrt {

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtBuffer::CopyToMemorySpace(
    PjRtMemorySpace* dst) {
  if (dst == nullptr) {
    return InvalidArgument("PJRT-R027", "CopyToMemorySpace needs a memory space; given null");
  }
  if (IsDeleted()) return DeletedBufferError();
  if (dst->client() != client()) return CopyToOtherClient(dst);
  auto* space = static_cast<CommonMemorySpace*>(dst);
  PJRT_ASSIGN_OR_RETURN(RawBufferRef target, common_client()->Allocate(space, type_->bytes));
  PJRT_ASSIGN_OR_RETURN(Future<> copied, Read([client = common_client(), bytes = type_->bytes,
                                               target](const RawBufferRef& raw) {
                          return client->CopyRaw(raw, target, bytes);
                        }));
  return std::make_unique<CommonPjRtBuffer>(space, type_, std::move(target), std::move(copied));
}

// Through a literal, by what every client can do.
absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtBuffer::CopyToOtherClient(
    PjRtMemorySpace* dst) {
  const PjRtClient::ShapeSpec spec = {element_type(),
                                      DimensionVector(dimensions().begin(), dimensions().end())};
  const std::optional<Layout> layout = Layout(type_->shape.layout().minor_to_major());
  PJRT_ASSIGN_OR_RETURN(std::shared_ptr<AsyncHostToDeviceTransferManager> manager,
                        dst->client()->CreateBuffersForAsyncHostToDevice(
                            absl::MakeConstSpan(&spec, 1), absl::MakeConstSpan(&layout, 1), dst));
  std::unique_ptr<PjRtBuffer> copy = manager->RetrieveBuffer(0);
  ToLiteral().OnReady([manager](const absl::StatusOr<std::shared_ptr<Literal>>& literal) {
    absl::Status status = literal.status();
    if (status.ok()) {
      // The callback keeps the literal until it has been read.
      status = manager->TransferLiteralToBuffer(0, **literal, [kept = *literal, manager] {});
    }
    if (!status.ok()) manager->SetBufferError(0, std::move(status));
  });
  return copy;
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtBuffer::CopyToMemorySpace(
    PjRtBuffer* donated_dst) {
  constexpr absl::string_view kCaller = "CopyToMemorySpace with a donated destination";
  PJRT_ASSIGN_OR_RETURN(CommonPjRtBuffer* const target,
                        common_client()->CheckBuffer(donated_dst, kCaller));
  if (target->type_->bytes != type_->bytes) {
    return InvalidArgument("PJRT-R028", kCaller, ": the destination has ", target->type_->bytes,
                           " bytes; expected ", type_->bytes);
  }
  if (target == this) {
    PJRT_RETURN_IF_ERROR(HoldForDonation(kCaller));
    return std::make_unique<CommonPjRtBuffer>(space_, type_, ConfirmDonation());
  }
  // Always in the order of addresses, so that two copies in opposite directions can't block each
  // other.
  ParkingLot& lot = common_client()->parking_lot();
  const bool source_first = std::less<CommonPjRtBuffer*>()(this, target);
  if (!source_first) PJRT_RETURN_IF_ERROR(target->HoldForDonation(kCaller));
  if (holds_.Usage(lot) != HoldState::Result::kHeld) {
    if (!source_first) target->holds_.DropDonation(lot);
    return DeletedBufferError();
  }
  absl::Status held = source_first ? target->HoldForDonation(kCaller) : absl::OkStatus();
  if (held.ok() && target->contents_.HasExternalReference()) {
    target->holds_.DropDonation(lot);
    held = InvalidArgument("PJRT-R029", kCaller,
                           ": Donation requested for buffer with external reference");
  }
  RawBufferRef fresh;
  if (held.ok()) {
    // Imported memory that must not be written is given up all the same; the copy goes elsewhere.
    const RawBuffer* raw = target->contents_.memory.raw.get();
    if (raw != nullptr && !raw->is_writable()) {
      absl::StatusOr<RawBufferRef> allocated =
          common_client()->Allocate(target->space_, type_->bytes);
      if (allocated.ok()) {
        fresh = *std::move(allocated);
      } else {
        target->holds_.DropDonation(lot);
        held = allocated.status();
      }
    }
  }
  if (!held.ok()) {
    holds_.DropUsage(lot);
    return held;
  }
  BufferContents taken = target->ConfirmDonation();
  const Future<> ready = JoinFutures({contents_.definition, taken.Idle()});
  BufferContents contents;
  contents.memory = taken.memory;
  if (fresh) contents.memory = MemoryRef{std::move(fresh), nullptr};
  contents.definition = ready.Map([client = common_client(), bytes = type_->bytes,
                                   from = contents_.memory, to = contents.memory]() -> Future<> {
    if (to.get() == nullptr || !to.get()->is_writable()) {
      return InvalidArgument("PJRT-R028", "the donated destination's memory can't be written");
    }
    return client->CopyRaw(from.Ref(), to.Ref(), bytes);
  });
  AddUsage(contents.definition);
  holds_.DropUsage(lot);
  return std::make_unique<CommonPjRtBuffer>(target->space_, type_, std::move(contents));
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtBuffer::Bitcast(
    PrimitiveType element_type, absl::Span<const int64_t> dims, const Layout* device_layout) {
  const Shape shape = MakeShape(element_type, dims);
  if (!type_->shape.IsArray() || !shape.IsArray() || !type_->shape.is_static()) {
    return InvalidArgument("PJRT-R030", "Bitcast is for arrays of static sizes; given ",
                           type_->shape.ToString(), " and ", shape.ToString());
  }
  PJRT_ASSIGN_OR_RETURN(BufferTypeRef type,
                        common_client()->MakeBufferType(shape, device_layout, "Bitcast"));
  if (type->bytes != type_->bytes) {
    return InvalidArgument("PJRT-R030", "Bitcast from ", type_->shape.ToString(), " of ",
                           type_->bytes, " bytes to ", type->shape.ToString(), " of ", type->bytes,
                           " bytes");
  }
  PJRT_RETURN_IF_ERROR(HoldForDonation("Bitcast"));
  return std::make_unique<CommonPjRtBuffer>(space_, std::move(type), ConfirmDonation());
}

absl::StatusOr<std::unique_ptr<PjRtBuffer>> CommonPjRtBuffer::DonateWithControlDependency(
    Future<> dependency) {
  PJRT_RETURN_IF_ERROR(HoldForDonation("DonateWithControlDependency"));
  BufferContents contents = ConfirmDonation();
  contents.definition = JoinFutures({contents.definition, std::move(dependency)});
  return std::make_unique<CommonPjRtBuffer>(space_, type_, std::move(contents));
}

}  // namespace pjrt
