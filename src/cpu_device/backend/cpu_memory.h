// SPDX-License-Identifier: Apache-2.0
//
// The CPU device's memory: raw buffers over a caching allocator.
#ifndef PJRT_SRC_CPU_DEVICE_BACKEND_CPU_MEMORY_H_
#define PJRT_SRC_CPU_DEVICE_BACKEND_CPU_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "pjrt/allocator_stats.h"
#include "pjrt/backend/raw_buffer.h"
#include "pjrt/cpu/cpu_client.h"

namespace pjrt::cpu {

// Keeps freed blocks by size class for reuse, so that large results do not pay for fresh pages
// (over 1 us for each 4 KiB on a virtual machine) at every call. Blocks of 2 MiB and more ask for
// huge pages. All methods may be called from any thread.
class CachingAllocator {
 public:
  using CustomFn = std::function<absl::StatusOr<std::unique_ptr<CpuMemory>>(size_t size_bytes,
                                                                            size_t alignment)>;
  // `custom` (may be null) takes the place of the system and the cache.
  CachingAllocator(size_t max_cached_bytes, CustomFn custom)
      : max_cached_bytes_(max_cached_bytes), custom_(std::move(custom)) {}
  ~CachingAllocator();

  struct Block {
    char* data = nullptr;
    size_t bytes = 0;             // of the block: the size asked for, rounded up to its class
    CpuMemory* custom = nullptr;  // owned by the block
  };
  // 64-byte aligned. RESOURCE_EXHAUSTED "Out of memory allocating N bytes."
  absl::StatusOr<Block> Allocate(size_t bytes);
  void Free(Block block);

  AllocatorStats stats() const;
  void ClearPeak();

 private:
  static constexpr int kClasses = 4 * 48;
  static constexpr int64_t kEmpty = INT64_MAX;
  struct Class {
    std::mutex mutex;
    std::vector<char*> free;
    // `clock_` when a block was last taken or kept; kEmpty where none is kept. Written under the
    // mutex.
    std::atomic<int64_t> last_use{kEmpty};
  };
  static int ClassOf(size_t bytes, size_t* rounded);
  static size_t SizeOf(int index);
  // Gives the blocks of the class that was not used for longest back to the system, where that is
  // very long; false where it is not.
  bool Evict();
  void Count(int64_t bytes);

  const size_t max_cached_bytes_;
  const CustomFn custom_;
  Class classes_[kClasses];
  // Bytes of the large blocks ever asked for.
  std::atomic<int64_t> clock_{0};
  std::atomic<size_t> cached_bytes_{0};
  std::atomic<int64_t> in_use_{0}, peak_{0}, allocations_{0}, largest_{0};
};

// Memory of the allocator's. The object lies in the first 64 bytes of its own block.
class CpuRawBuffer final : public RawBuffer {
 public:
  static absl::StatusOr<RawBufferRef> Allocate(std::shared_ptr<CachingAllocator> allocator,
                                               int memory, size_t size);

 private:
  CpuRawBuffer(std::shared_ptr<CachingAllocator> allocator, CachingAllocator::Block block,
               int memory, size_t size, void* data)
      : RawBuffer(memory, size, data, data), allocator_(std::move(allocator)), block_(block) {}
  void Destroy() override;

  std::shared_ptr<CachingAllocator> allocator_;
  CachingAllocator::Block block_;
};

// Memory of somebody else's.
class ImportedRawBuffer final : public RawBuffer {
 public:
  ImportedRawBuffer(int memory, void* data, size_t size, bool is_writable,
                    absl::AnyInvocable<void() &&> on_release)
      : RawBuffer(memory, size, data, data, is_writable), on_release_(std::move(on_release)) {}

 private:
  ~ImportedRawBuffer() override {
    if (on_release_) std::move(on_release_)();
  }
  absl::AnyInvocable<void() &&> on_release_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_BACKEND_CPU_MEMORY_H_
