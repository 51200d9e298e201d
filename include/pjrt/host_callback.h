// SPDX-License-Identifier: Apache-2.0
//
// Host callbacks: a function of the application that a program calls by sending its arguments to
// the host and receiving the results, as Send and Recv ops. Spec: PJRT C++ API, section 1.11.
#ifndef PJRT_HOST_CALLBACK_H_
#define PJRT_HOST_CALLBACK_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/base/future.h"
#include "pjrt/base/shape.h"
#include "pjrt/callbacks.h"
#include "pjrt/chunk.h"

namespace pjrt {

// While one exists, the current thread counts as being inside a host callback; scopes nest. A
// client runs small programs that are executed from there on the calling thread, so that a callback
// that waits for one cannot wait for itself. Created and destroyed on the same thread, in nesting
// order.
class HostCallbackScope {
 public:
  HostCallbackScope();
  ~HostCallbackScope();
  HostCallbackScope(const HostCallbackScope&) = delete;
  HostCallbackScope& operator=(const HostCallbackScope&) = delete;
};

// Whether the current thread is inside a host callback.
bool ThisThreadIsInsideHostCallback();

// The two halves of a HostCallbackScope, for older code. Calls must pair up.
void EnterHostCallback();
void LeaveHostCallback();

// An argument or a result of a host callback.
struct HostCallbackArgInfo {
  // The channel of its Send or Recv op.
  uint16_t channel_id = 0;
  // Its shape on the host.
  Shape shape;
};

// A function of the application and its signature.
struct HostCallback {
  std::vector<HostCallbackArgInfo> operands;
  std::vector<HostCallbackArgInfo> results;
  // Reads one array a pointer of `operands` and fills one a pointer of `results`, both row-major
  // and of the sizes that the shapes say. Result memory is zero beforehand. Called on any thread.
  std::function<absl::Status(void** results, void** operands)> callback;
};

// A queue of chunks whose consumers need not wait: a Pop before its Push is a future. Chunks leave
// in the order in which they came. Thread-safe; doesn't block. Futures still open when the queue is
// destroyed fail with INTERNAL.
class ThreadSafePjRtChunkQueue {
 public:
  // Hands the chunk to the oldest open Pop, whose callbacks run on this thread, or keeps it.
  void Push(PjRtChunk chunk);
  // The next chunk.
  Future<PjRtChunk> Pop();

 private:
  std::mutex mutex_;
  std::deque<PjRtChunk> chunks_;             // Guarded by mutex_; empty if promises_ is not.
  std::deque<Promise<PjRtChunk>> promises_;  // Guarded by mutex_.
};

// One host callback on one device: gathers the operands that the program sends, calls the function
// when all have come, and answers the program's receives. Operands and results of successive calls
// pair up in order.
//
// Thread safety: OnSend and Receive may be called by any thread, in any order; the sends of one
// call must all have come before those of the next.
class HostCallbackContext {
 public:
  // `host_memory_for_device_manager` converts layouts and must outlive the context; it may be null
  // if `use_major_to_minor_data_layout_for_callbacks` is true, which says that chunks are
  // row-major.
  HostCallbackContext(HostCallback host_callback, bool use_major_to_minor_data_layout_for_callbacks,
                      PjRtHostMemoryForDeviceManager* host_memory_for_device_manager);

  // Takes operand `operand_index`. The last one to come calls the function on this thread, inside a
  // HostCallbackScope, and passes its results on. If the function or a conversion fails, the
  // results are passed on all zero, so that the program goes on and sees no stale memory, and the
  // error is returned. INVALID_ARGUMENT [PJRT-R010] for an index that is out of range or a chunk
  // whose size is not that of its shape.
  absl::Status OnSend(int operand_index, const PjRtTransferMetadata& metadata, PjRtChunk chunk);

  // Sends result `result_index` to `stream` as soon as there is one; returns at once. Ignores an
  // index that is out of range. A result that cannot be converted to the device's layout is sent as
  // zeros.
  void Receive(int result_index, const PjRtTransferMetadata& metadata,
               std::unique_ptr<CopyToDeviceStream> stream);

  const HostCallback& host_callback() const { return host_callback_; }

 private:
  absl::StatusOr<PjRtChunk> ToHost(int operand_index, const PjRtTransferMetadata& metadata,
                                   PjRtChunk chunk) const;
  absl::StatusOr<PjRtChunk> ToDevice(int result_index, const Shape& device_shape,
                                     PjRtChunk chunk) const;
  absl::Status RunCallback();

  const HostCallback host_callback_;
  const bool row_major_chunks_;
  PjRtHostMemoryForDeviceManager* const host_memory_for_device_manager_;
  std::vector<PjRtChunk> operands_;
  std::vector<std::unique_ptr<ThreadSafePjRtChunkQueue>> results_;
  std::atomic<int> missing_operands_;  // Of the call under way; the last one to come runs it.
  std::mutex mutex_;
  absl::Status error_;  // The first failed conversion of this call. Guarded by mutex_.
};

// Host callbacks of an execution, in the form that ExecuteOptions takes: [device][operation]. The
// callbacks point to the contexts.
struct HostCallbackStates {
  std::vector<std::vector<std::unique_ptr<HostCallbackContext>>> contexts;
  std::vector<std::vector<SendCallback>> send_callbacks;
  std::vector<std::vector<RecvCallback>> recv_callbacks;
};

// Makes the context of `host_callback` for one device and appends its Send callbacks (one an
// operand) and Recv callbacks (one a result) to the vectors. The context must outlive the
// execution.
std::unique_ptr<HostCallbackContext> CreateHostCallbackStateAndAppendSendRecvCallbacks(
    HostCallback host_callback, PjRtHostMemoryForDeviceManager* host_memory_for_device_manager,
    std::vector<SendCallback>& send_callbacks, std::vector<RecvCallback>& recv_callbacks,
    bool use_major_to_minor_data_layout_for_callbacks);

// Host callbacks that a program calls as custom calls, by their index: attached to an execution as
// user data of ExecuteContext::ffi_context(). The caller owns the array and what it points to.
struct FfiLoadedHostCallbacks {
  void** callbacks = nullptr;
  uint32_t num_callbacks = 0;
};

}  // namespace pjrt

#endif  // PJRT_HOST_CALLBACK_H_
