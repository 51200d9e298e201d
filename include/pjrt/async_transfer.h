// SPDX-License-Identifier: Apache-2.0
//
// AsyncHostToDeviceTransferManager: buffers whose contents arrive later and in pieces. Spec: PJRT
// C++ API, section 1.1.
#ifndef PJRT_ASYNC_TRANSFER_H_
#define PJRT_ASYNC_TRANSFER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace pjrt {

class LiteralSlice;
class PjRtBuffer;
class PjRtDevice;

// A set of buffers, allocated together, that the host fills by transfers. Made by
// PjRtClient::CreateBuffersForAsyncHostToDevice.
//
// A buffer may be retrieved and used (as an argument of Execute, or to be read) before its data
// arrives; it becomes ready when its last transfer was issued and no transfer to it is in flight.
// `on_done` of a transfer runs exactly once if the call returned OK, when the source is no longer
// needed, before the buffer becomes ready, on any thread; it may destroy the manager. It isn't
// called when the call fails.
//
// Ownership: the caller owns the manager and the retrieved buffers; the manager may go first.
// Destroying it blocks for transfers in flight and puts every buffer that wasn't fully transferred
// in error: INTERNAL "Async transfer object was deleted before transfers completed.".
// Threads: all methods may be called from any thread. Transfers never wait for each other; a small
// one may be finished when the call returns.
//
// Every method that takes a `buffer_index` fails with INVALID_ARGUMENT, or for methods without a
// status returns null or zero or does nothing, when it isn't in 0 .. buffer_count() - 1.
class AsyncHostToDeviceTransferManager {
 public:
  virtual ~AsyncHostToDeviceTransferManager() = default;

  // The number of buffers.
  virtual size_t buffer_count() const = 0;

  // The device whose memory the buffers are in.
  virtual PjRtDevice* device() const = 0;

  // Hands out buffer `buffer_index`; null when it was handed out before. Transfers to it may still
  // be issued.
  virtual std::unique_ptr<PjRtBuffer> RetrieveBuffer(int buffer_index) = 0;

  // The bytes of the buffer on the device.
  virtual size_t buffer_size(int buffer_index) const = 0;

  // Transfers the whole of a buffer, as its only or last transfer. `literal` must stay alive until
  // `on_done`, must have the buffer's type and dimensions (INVALID_ARGUMENT) and may have any
  // layout. INVALID_ARGUMENT after the last transfer.
  virtual absl::Status TransferLiteralToBuffer(int buffer_index, const LiteralSlice& literal,
                                               absl::AnyInvocable<void() &&> on_done) = 0;

  // Transfers bytes in the device's format, buffer_size() of them, as the buffer's only or last
  // transfer. `data` must stay alive until `on_done`.
  virtual absl::Status TransferRawDataToBuffer(int buffer_index, absl::string_view data,
                                               absl::AnyInvocable<void() &&> on_done) = 0;

  // Transfers `transfer_size` bytes in the device's format to the given byte offset. Pieces may be
  // issued in any order and may complete out of order; the one issued last says `is_last_transfer`.
  // INVALID_ARGUMENT when the range isn't within the buffer or the last transfer was issued before.
  virtual absl::Status TransferRawDataToSubBuffer(int buffer_index, const void* data,
                                                  int64_t offset, int64_t transfer_size,
                                                  bool is_last_transfer,
                                                  absl::AnyInvocable<void() &&> on_done) = 0;

  // Puts the buffer in error. Later transfers to it fail. Ignored when the buffer's last transfer
  // was issued, when it is in error already, or when `error` is OK.
  virtual void SetBufferError(int buffer_index, absl::Status error) = 0;

  // Tags for debugging and profiling tools, which a backend may ignore.
  using TransferMetadata = absl::flat_hash_map<std::string, std::string>;
  virtual void AddTransferMetadata(const TransferMetadata& metadata) = 0;
};

}  // namespace pjrt

#endif  // PJRT_ASYNC_TRANSFER_H_
