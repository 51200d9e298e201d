// SPDX-License-Identifier: Apache-2.0
#include "pjrt/host_callback.h"

#include <cstring>
#include <utility>

#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"

namespace pjrt {
namespace {

int& HostCallbackDepth() {
  static thread_local int depth = 0;
  return depth;
}

absl::StatusOr<PjRtChunk> AllocateZeroed(int64_t size) {
  PjRtChunk chunk = PjRtChunk::AllocateDefault(static_cast<size_t>(size));
  if (chunk.size() != size) {
    return ResourceExhausted("PJRT-R012", "no memory for ", size, " bytes of a host callback");
  }
  if (size > 0) std::memset(chunk.data(), 0, static_cast<size_t>(size));
  return chunk;
}

}  // namespace

HostCallbackScope::HostCallbackScope() { EnterHostCallback(); }
HostCallbackScope::~HostCallbackScope() { LeaveHostCallback(); }
bool ThisThreadIsInsideHostCallback() { return HostCallbackDepth() > 0; }
void EnterHostCallback() { ++HostCallbackDepth(); }
void LeaveHostCallback() { --HostCallbackDepth(); }

void ThreadSafePjRtChunkQueue::Push(PjRtChunk chunk) {
  Promise<PjRtChunk> promise;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (promises_.empty()) {
      chunks_.push_back(std::move(chunk));
      return;
    }
    promise = std::move(promises_.front());
    promises_.pop_front();
  }
  promise.Set(std::move(chunk));
}

Future<PjRtChunk> ThreadSafePjRtChunkQueue::Pop() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!chunks_.empty()) {
    Future<PjRtChunk> chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return chunk;
  }
  auto [promise, future] = MakePromise<PjRtChunk>();
  promises_.push_back(std::move(promise));
  return std::move(future);
}

HostCallbackContext::HostCallbackContext(
    HostCallback host_callback, bool use_major_to_minor_data_layout_for_callbacks,
    PjRtHostMemoryForDeviceManager* host_memory_for_device_manager)
    : host_callback_(std::move(host_callback)),
      row_major_chunks_(use_major_to_minor_data_layout_for_callbacks),
      host_memory_for_device_manager_(host_memory_for_device_manager),
      operands_(host_callback_.operands.size()),
      missing_operands_(host_callback_.operands.size()) {
  for (size_t i = 0; i < host_callback_.results.size(); ++i) {
    results_.push_back(std::make_unique<ThreadSafePjRtChunkQueue>());
  }
}

absl::StatusOr<PjRtChunk> HostCallbackContext::ToHost(int operand_index,
                                                      const PjRtTransferMetadata& metadata,
                                                      PjRtChunk chunk) const {
  const Shape& shape = host_callback_.operands[operand_index].shape;
  const int64_t size = ByteSize(shape);
  if (row_major_chunks_) {
    if (chunk.size() != size) {
      return InvalidArgument("PJRT-R010", "operand ", operand_index, " of a host callback has ",
                             chunk.size(), " bytes; expected ", size, " for ", shape.ToString());
    }
    return chunk;
  }
  if (host_memory_for_device_manager_ == nullptr) {
    return InvalidArgument("PJRT-R010", "operand ", operand_index,
                           " of a host callback is in the device's layout, and there is no ",
                           "PjRtHostMemoryForDeviceManager to convert it");
  }
  PJRT_ASSIGN_OR_RETURN(PjRtChunk host, AllocateZeroed(size));
  PJRT_RETURN_IF_ERROR(host_memory_for_device_manager_->ToHostLayout(
      chunk.data(), static_cast<size_t>(chunk.size()), metadata.device_shape, host.data(),
      static_cast<size_t>(size), shape));
  return host;
}

absl::Status HostCallbackContext::OnSend(int operand_index, const PjRtTransferMetadata& metadata,
                                         PjRtChunk chunk) {
  if (operand_index < 0 || operand_index >= static_cast<int>(operands_.size())) {
    return InvalidArgument("PJRT-R010", "operand ", operand_index, " of a host callback with ",
                           operands_.size(), " operands");
  }
  absl::StatusOr<PjRtChunk> host = ToHost(operand_index, metadata, std::move(chunk));
  absl::Status error = host.status();
  if (host.ok()) {
    operands_[operand_index] = *std::move(host);
  } else {
    std::lock_guard<std::mutex> lock(mutex_);
    error_.Update(error);
  }
  if (missing_operands_.fetch_sub(1, std::memory_order_acq_rel) != 1) return error;

  // The next call may begin as soon as this one's results are out.
  missing_operands_.store(static_cast<int>(operands_.size()), std::memory_order_relaxed);
  return RunCallback();
}

absl::Status HostCallbackContext::RunCallback() {
  absl::Status status;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    status = std::exchange(error_, absl::OkStatus());
  }
  std::vector<void*> operand_pointers, result_pointers;
  std::vector<PjRtChunk> operands = std::exchange(operands_, {});
  operands_.resize(operands.size());
  for (PjRtChunk& operand : operands) operand_pointers.push_back(operand.data());
  std::vector<PjRtChunk> results;
  for (const HostCallbackArgInfo& result : host_callback_.results) {
    absl::StatusOr<PjRtChunk> chunk = AllocateZeroed(ByteSize(result.shape));
    status.Update(chunk.status());
    results.push_back(chunk.ok() ? *std::move(chunk) : PjRtChunk());
    result_pointers.push_back(results.back().data());
  }
  if (status.ok()) {
    HostCallbackScope scope;
    status = host_callback_.callback(result_pointers.data(), operand_pointers.data());
    if (!status.ok()) {
      // What a failed callback left behind may be half a result.
      for (PjRtChunk& result : results) {
        if (result.size() > 0) std::memset(result.data(), 0, static_cast<size_t>(result.size()));
      }
    }
  }
  for (size_t i = 0; i < results.size(); ++i) results_[i]->Push(std::move(results[i]));
  return status;
}

absl::StatusOr<PjRtChunk> HostCallbackContext::ToDevice(int result_index, const Shape& device_shape,
                                                        PjRtChunk chunk) const {
  if (row_major_chunks_) return chunk;
  if (host_memory_for_device_manager_ == nullptr) {
    return InvalidArgument("PJRT-R010", "result ", result_index,
                           " of a host callback has to be in the device's layout, and there is no ",
                           "PjRtHostMemoryForDeviceManager to convert it");
  }
  return host_memory_for_device_manager_->ToDeviceLayout(
      chunk.data(), static_cast<size_t>(chunk.size()), host_callback_.results[result_index].shape,
      device_shape);
}

void HostCallbackContext::Receive(int result_index, const PjRtTransferMetadata& metadata,
                                  std::unique_ptr<CopyToDeviceStream> stream) {
  if (result_index < 0 || result_index >= static_cast<int>(results_.size())) return;
  results_[result_index]->Pop().OnReady(
      [this, result_index, device_shape = metadata.device_shape,
       s = std::move(stream)](absl::StatusOr<PjRtChunk> result) mutable {
        if (!result.ok() || s->IsComplete()) return;
        absl::StatusOr<PjRtChunk> chunk = ToDevice(result_index, device_shape, *std::move(result));
        if (!chunk.ok()) chunk = AllocateZeroed(s->total_bytes());
        if (!chunk.ok()) return;  // The stream sees that it was dropped before it was complete.
        Future<> sent = s->AddChunk(*std::move(chunk));
        std::move(sent).OnReady([keep = std::move(s)](const absl::Status&) {});
      });
}

std::unique_ptr<HostCallbackContext> CreateHostCallbackStateAndAppendSendRecvCallbacks(
    HostCallback host_callback, PjRtHostMemoryForDeviceManager* host_memory_for_device_manager,
    std::vector<SendCallback>& send_callbacks, std::vector<RecvCallback>& recv_callbacks,
    bool use_major_to_minor_data_layout_for_callbacks) {
  auto owned = std::make_unique<HostCallbackContext>(std::move(host_callback),
                                                     use_major_to_minor_data_layout_for_callbacks,
                                                     host_memory_for_device_manager);
  HostCallbackContext* const context = owned.get();
  const std::vector<HostCallbackArgInfo>& operands = context->host_callback().operands;
  for (int i = 0; i < static_cast<int>(operands.size()); ++i) {
    send_callbacks.push_back(
        {operands[i].channel_id, [context, i](const PjRtTransferMetadata& metadata, PjRtChunk chunk,
                                              size_t /*total_size_in_bytes*/, bool /*done*/) {
           return context->OnSend(i, metadata, std::move(chunk));
         }});
  }
  const std::vector<HostCallbackArgInfo>& results = context->host_callback().results;
  for (int i = 0; i < static_cast<int>(results.size()); ++i) {
    recv_callbacks.push_back(
        {results[i].channel_id, [context, i](const PjRtTransferMetadata& metadata,
                                             std::unique_ptr<CopyToDeviceStream> stream) {
           context->Receive(i, metadata, std::move(stream));
         }});
  }
  return owned;
}

}  // namespace pjrt
