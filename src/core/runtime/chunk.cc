// SPDX-License-Identifier: Apache-2.0
#include "pjrt/chunk.h"

#include <algorithm>
#include <new>
#include <utility>

#include "src/core/base/error.h"
#include "src/core/base/machine_memory.h"

namespace pjrt {
namespace {

constexpr std::align_val_t kAlignment{64};

}  // namespace

PjRtChunk::PjRtChunk(void* data, size_t size, std::function<void(void*)> deleter)
    : data_(static_cast<uint8_t*>(data)), size_(size), deleter_(std::move(deleter)) {}

PjRtChunk::PjRtChunk(PjRtChunk&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)),
      deleter_(std::exchange(other.deleter_, nullptr)) {}

PjRtChunk& PjRtChunk::operator=(PjRtChunk&& other) noexcept {
  if (this != &other) {
    Free();
    data_ = std::exchange(other.data_, nullptr);
    size_ = std::exchange(other.size_, 0);
    deleter_ = std::exchange(other.deleter_, nullptr);
  }
  return *this;
}

PjRtChunk::~PjRtChunk() { Free(); }

PjRtChunk PjRtChunk::AllocateDefault(size_t size) {
  if (size == 0 || size > static_cast<size_t>(MachineMemory())) return PjRtChunk();
  void* data = ::operator new(size, kAlignment, std::nothrow);
  if (data == nullptr) return PjRtChunk();
  return PjRtChunk(data, size, [](void* p) { ::operator delete(p, kAlignment); });
}

void PjRtChunk::release() {
  data_ = nullptr;
  size_ = 0;
  deleter_ = nullptr;
}

void PjRtChunk::Free() {
  if (deleter_) deleter_(data_);
}

CopyToDeviceStream::CopyToDeviceStream(int64_t total_bytes, int64_t granule_bytes)
    : total_bytes_(std::max<int64_t>(total_bytes, 0)),
      granule_bytes_(std::max<int64_t>(granule_bytes, 1)) {}

CopyToDeviceStream::~CopyToDeviceStream() = default;

int64_t CopyToDeviceStream::current_bytes() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return current_bytes_;
}

bool CopyToDeviceStream::IsComplete() const { return current_bytes() == total_bytes_; }

absl::StatusOr<int64_t> CopyToDeviceStream::Accept(const PjRtChunk& chunk) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (current_bytes_ == total_bytes_) {
    return InvalidArgument("PJRT-R008", "a chunk of ", chunk.size(),
                           " bytes for a stream that is complete with ", total_bytes_, " bytes");
  }
  if (chunk.size() % granule_bytes_ != 0) {
    return InvalidArgument("PJRT-R008", "a chunk of ", chunk.size(),
                           " bytes; expected a multiple of the granule, ", granule_bytes_);
  }
  if (chunk.size() > total_bytes_ - current_bytes_) {
    return InvalidArgument("PJRT-R008", "a chunk of ", chunk.size(), " bytes after ",
                           current_bytes_, "; the stream takes ", total_bytes_);
  }
  return std::exchange(current_bytes_, current_bytes_ + chunk.size());
}

}  // namespace pjrt
