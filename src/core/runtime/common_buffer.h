// SPDX-License-Identifier: Apache-2.0
//
// CommonPjRtBuffer: PjRtBuffer of the common client.
#ifndef PJRT_CORE_RUNTIME_COMMON_BUFFER_H_
#define PJRT_CORE_RUNTIME_COMMON_BUFFER_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "pjrt/buffer.h"
#include "src/core/runtime/buffer_type.h"
#include "src/core/runtime/common_client_impl.h"
#include "src/core/runtime/common_device.h"
#include "src/core/runtime/hold_state.h"
#include "src/core/runtime/memory_ref.h"

namespace pjrt {

// What a buffer has and a donation takes: its memory, when its contents are defined, and what still
// uses it.
struct BufferContents {
  MemoryRef memory;
  Future<> definition;
  // Futures of operations in flight that read the memory; their errors don't matter.
  absl::InlinedVector<Future<>, 1> usages;
  // How many external references there are; null when there never was one. Outlives the buffer.
  std::shared_ptr<std::atomic<int>> external_references;

  bool HasExternalReference() const {
    return external_references != nullptr && external_references->load() > 0;
  }
  // Ready, always OK, when nothing uses the memory any more: when it is defined, or failed to be,
  // and all usages have ended.
  Future<> Idle() const;
};

class CommonPjRtBuffer final : public PjRtBuffer {
 public:
  CommonPjRtBuffer(CommonMemorySpace* space, BufferTypeRef type, BufferContents contents)
      : space_(space), type_(std::move(type)), contents_(std::move(contents)) {}
  // Memory that is there.
  CommonPjRtBuffer(CommonMemorySpace* space, BufferTypeRef type, RawBufferRef raw,
                   Future<> definition)
      : space_(space), type_(std::move(type)) {
    contents_.memory.raw = std::move(raw);
    contents_.definition = std::move(definition);
  }
  ~CommonPjRtBuffer() override { Delete(); }

  // ----- PjRtBuffer -----
  const Shape& on_device_shape() const override { return type_->shape; }
  PjRtMemorySpace* memory_space() const override { return space_; }
  PjRtDevice* device() const override { return space_->common_device(); }
  PjRtClient* client() const override;
  std::shared_ptr<const PjRtLayout> layout() const override { return type_->layout; }
  absl::StatusOr<size_t> GetOnDeviceSizeInBytes() const override;
  bool IsOnCpu() const override;
  void Delete() override;
  bool IsDeleted() const override { return holds_.IsDead(); }
  Future<> GetReadyFuture() override;

  absl::StatusOr<std::vector<int64_t>> logical_dimensions() override;
  Future<> ToLiteral(MutableLiteralBase* literal) override;
  Future<std::shared_ptr<Literal>> ToLiteral() override;
  Future<> LazyToLiteral(absl::AnyInvocable<Future<MutableLiteralBase*>() &&> generator) override;
  Future<> CopyRawToHost(void* dst, int64_t offset, int64_t size) override;
  Future<> CopyRawToHostFuture(Future<void*> dst, int64_t offset, int64_t size) override;

  absl::StatusOr<std::unique_ptr<ExternalReference>> AcquireExternalReference() override;
  absl::StatusOr<std::unique_ptr<ExternalReference>> ReleaseDeviceMemoryOwnership(
      bool wait_for_operations_to_complete) override;

  absl::StatusOr<std::unique_ptr<PjRtBuffer>> CopyToMemorySpace(PjRtMemorySpace* dst) override;
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> CopyToMemorySpace(PjRtBuffer* donated_dst) override;
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> Bitcast(PrimitiveType element_type,
                                                      absl::Span<const int64_t> dims,
                                                      const Layout* device_layout) override;
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> DonateWithControlDependency(
      Future<> dependency) override;

  // ----- For the other parts of the common client -----
  CommonPjRtClient* common_client() const;
  CommonMemorySpace* common_space() const { return space_; }
  const BufferTypeRef& type() const { return type_; }

  HoldState& holds() { return holds_; }
  // Under a usage or donation hold.
  const BufferContents& contents() const { return contents_; }

  // Under a usage or donation hold: whether its first bytes are these, of a buffer that has as
  // many, where this takes no waiting: its contents are there and the host can read them where they
  // lie. False otherwise.
  bool BeginsWithNow(absl::Span<const char> bytes) const {
    const Future<>& definition = contents_.definition;
    if (!definition.IsReady() || !definition.Await().ok()) return false;
    const void* const own = contents_.memory.get()->host_pointer();
    return own != nullptr && std::memcmp(own, bytes.data(), bytes.size()) == 0;
  }

  // Under a usage hold: `ended` becomes ready when the operation no longer needs the memory.
  void AddUsage(Future<> ended);
  // Under a donation hold, which ends: the buffer is dead and its contents are the caller's.
  BufferContents ConfirmDonation();
  // Takes a donation hold, waiting for others to drop theirs. `action` is what failed, for the
  // message of the INVALID_ARGUMENT for a dead buffer.
  absl::Status HoldForDonation(absl::string_view action);

 private:
  // Runs `read` on the memory once the buffer is defined: now, if it is. The memory is marked as
  // used until the result of `read` is ready; `read` itself must keep it alive. An error of the
  // definition is the result. The status is that of a deleted buffer.
  absl::StatusOr<Future<>> Read(absl::AnyInvocable<Future<>(const RawBufferRef&) &&> read);
  absl::Status CheckRange(int64_t offset, int64_t size) const;
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> CopyToOtherClient(PjRtMemorySpace* dst);

  CommonMemorySpace* const space_;
  const BufferTypeRef type_;
  HoldState holds_;
  BufferContents contents_;
  std::mutex usage_mutex_;  // guards usages and external_references under usage holds
};

// The error of everything that needs a buffer that is gone.
absl::Status DeletedBufferError();

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_COMMON_BUFFER_H_
