// SPDX-License-Identifier: Apache-2.0
//
// MemoryRef: a reference to memory that may not be allocated yet.
#ifndef PJRT_CORE_RUNTIME_MEMORY_REF_H_
#define PJRT_CORE_RUNTIME_MEMORY_REF_H_

#include <memory>
#include <tuple>
#include <utility>

#include "absl/status/status.h"
#include "pjrt/backend/raw_buffer.h"
#include "pjrt/base/future.h"

namespace pjrt {

// Memory whose address comes later: the result of a program that waits for its inputs, or what an
// alias buffer stands for. One producer fulfils or fails it, once.
class DelayedMemory {
 public:
  DelayedMemory() { std::tie(promise_, allocated_) = MakePromise<>(); }

  void Fulfil(RawBufferRef raw) {
    raw_ = std::move(raw);
    promise_.Set();
  }
  void Fail(absl::Status error) { promise_.Set(std::move(error)); }

  // Ready when the memory is there, or will never be.
  const Future<>& allocated() const { return allocated_; }
  // Only after allocated() is OK.
  const RawBufferRef& raw() const { return raw_; }

 private:
  RawBufferRef raw_;
  Promise<> promise_;
  Future<> allocated_;
};

struct MemoryRef {
  RawBufferRef raw;                        // null while the memory is delayed
  std::shared_ptr<DelayedMemory> delayed;  // null when the memory was there from the start

  // The memory; null for that of a buffer born in error. Only once it is allocated, which it is
  // when the buffer is defined.
  RawBuffer* get() const { return Ref().get(); }
  const RawBufferRef& Ref() const { return delayed == nullptr ? raw : delayed->raw(); }

  // Ready when get() may be called.
  Future<> Allocated() const {
    return delayed == nullptr ? Future<>(absl::OkStatus()) : delayed->allocated();
  }
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_MEMORY_REF_H_
