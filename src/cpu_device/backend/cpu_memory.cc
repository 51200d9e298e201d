// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/backend/cpu_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "src/core/base/machine_memory.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
// In front of a buffer's bytes, for the object itself; a multiple of the alignment.
constexpr size_t kHeader = 128;
// Sizes are stale when this many times what may be kept was asked for since they were used. A
// program that takes its sizes in turn, and needs more than may be kept, comes to each before that.
constexpr int64_t kStale = 16;
// Smaller blocks do not count.
constexpr size_t kCountedBytes = 64 * 1024;
static_assert(sizeof(CpuRawBuffer) <= kHeader, "the header must hold the object");

absl::Status OutOfMemory(size_t bytes) {
  return ResourceExhausted("PJRT-C020",
                           absl::StrCat("Out of memory allocating ", bytes, " bytes."));
}

}  // namespace

// Classes: 64 bytes times 1, 1.25, 1.5, 1.75 times a power of two, so that at most a fifth of a
// block is unused.
int CachingAllocator::ClassOf(size_t bytes, size_t* rounded) {
  bytes = std::max(bytes, size_t{256});
  int power = 63 - __builtin_clzll(bytes);
  size_t step = (size_t{1} << power) / 4;
  size_t quarters = (bytes - (size_t{1} << power) + step - 1) / step;
  if (quarters == 4) {
    ++power;
    step *= 2;
    quarters = 0;
  }
  *rounded = (size_t{1} << power) + quarters * step;
  return (power - 8) * 4 + static_cast<int>(quarters);
}

size_t CachingAllocator::SizeOf(int index) {
  const size_t power = size_t{256} << (index / 4);
  return power + power / 4 * (index % 4);
}

CachingAllocator::~CachingAllocator() {
  for (Class& c : classes_) {
    for (char* block : c.free) std::free(block);
  }
}

void CachingAllocator::Count(int64_t bytes) {
  const int64_t in_use = in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (bytes < 0) return;
  allocations_.fetch_add(1, std::memory_order_relaxed);
  if (in_use > peak_.load(std::memory_order_relaxed))
    peak_.store(in_use, std::memory_order_relaxed);
  if (bytes > largest_.load(std::memory_order_relaxed))
    largest_.store(bytes, std::memory_order_relaxed);
}

absl::StatusOr<CachingAllocator::Block> CachingAllocator::Allocate(size_t bytes) {
  if (bytes > (size_t{1} << 47)) return OutOfMemory(bytes);
  Block block;
  if (custom_) {
    PJRT_ASSIGN_OR_RETURN(std::unique_ptr<CpuMemory> memory, custom_(bytes, kAlignment));
    if (memory == nullptr || memory->base() == nullptr || memory->size_bytes() < bytes ||
        reinterpret_cast<uintptr_t>(memory->base()) % kAlignment != 0) {
      return OutOfMemory(bytes);
    }
    block.data = static_cast<char*>(memory->base());
    block.bytes = bytes;
    block.custom = memory.release();
    Count(static_cast<int64_t>(bytes));
    return block;
  }
  const int index = ClassOf(bytes, &block.bytes);
  Class& c = classes_[index];
  {
    std::lock_guard<std::mutex> lock(c.mutex);
    if (!c.free.empty()) {
      block.data = c.free.back();
      c.free.pop_back();
      const int64_t now = clock_.load(std::memory_order_relaxed);
      c.last_use.store(c.free.empty() ? kEmpty : now, std::memory_order_relaxed);
    }
  }
  if (block.data != nullptr) {
    cached_bytes_.fetch_sub(block.bytes, std::memory_order_relaxed);
  } else {
    if (bytes > static_cast<size_t>(MachineMemory())) return OutOfMemory(bytes);
    const size_t alignment = block.bytes >= kHugePage ? kHugePage : kAlignment;
    block.data = static_cast<char*>(
        std::aligned_alloc(alignment, (block.bytes + alignment - 1) / alignment * alignment));
    if (block.data == nullptr) return OutOfMemory(bytes);
    if (block.bytes >= kHugePage) madvise(block.data, block.bytes, MADV_HUGEPAGE);
  }
  if (block.bytes >= kCountedBytes)
    clock_.fetch_add(static_cast<int64_t>(block.bytes), std::memory_order_relaxed);
  Count(static_cast<int64_t>(block.bytes));
  return block;
}

void CachingAllocator::Free(Block block) {
  Count(-static_cast<int64_t>(block.bytes));
  if (block.custom != nullptr) {
    delete block.custom;
    return;
  }
  const auto has_room = [&] {
    return cached_bytes_.load(std::memory_order_relaxed) + block.bytes <= max_cached_bytes_;
  };
  // Small blocks are soon had, and not worth a search.
  if (block.bytes >= kCountedBytes && block.bytes <= max_cached_bytes_) {
    while (!has_room() && Evict()) {
    }
  }
  if (!has_room()) {
    std::free(block.data);
    return;
  }
  cached_bytes_.fetch_add(block.bytes, std::memory_order_relaxed);
  size_t rounded;
  Class& c = classes_[ClassOf(block.bytes, &rounded)];
  std::lock_guard<std::mutex> lock(c.mutex);
  c.free.push_back(block.data);
  c.last_use.store(clock_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

bool CachingAllocator::Evict() {
  int oldest = 0;
  int64_t oldest_use = kEmpty;
  for (int i = 0; i < kClasses; ++i) {
    const int64_t use = classes_[i].last_use.load(std::memory_order_relaxed);
    if (use < oldest_use) {
      oldest = i;
      oldest_use = use;
    }
  }
  const int64_t age = clock_.load(std::memory_order_relaxed) - oldest_use;
  if (oldest_use == kEmpty || age / kStale < static_cast<int64_t>(max_cached_bytes_)) return false;
  Class& c = classes_[oldest];
  std::vector<char*> stale;
  {
    std::lock_guard<std::mutex> lock(c.mutex);
    stale.swap(c.free);
    c.last_use.store(kEmpty, std::memory_order_relaxed);
  }
  cached_bytes_.fetch_sub(stale.size() * SizeOf(oldest), std::memory_order_relaxed);
  for (char* data : stale) std::free(data);
  return true;
}

AllocatorStats CachingAllocator::stats() const {
  AllocatorStats stats;
  stats.num_allocs = allocations_.load(std::memory_order_relaxed);
  stats.bytes_in_use = in_use_.load(std::memory_order_relaxed);
  stats.peak_bytes_in_use = peak_.load(std::memory_order_relaxed);
  stats.largest_alloc_size = largest_.load(std::memory_order_relaxed);
  stats.bytes_reserved =
      stats.bytes_in_use + static_cast<int64_t>(cached_bytes_.load(std::memory_order_relaxed));
  return stats;
}

void CachingAllocator::ClearPeak() {
  peak_.store(in_use_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  largest_.store(0, std::memory_order_relaxed);
}

absl::StatusOr<RawBufferRef> CpuRawBuffer::Allocate(std::shared_ptr<CachingAllocator> allocator,
                                                    int memory, size_t size) {
  absl::StatusOr<CachingAllocator::Block> block =
      size > SIZE_MAX / 2 ? absl::StatusOr<CachingAllocator::Block>(OutOfMemory(size))
                          : allocator->Allocate(size + kHeader);
  if (!block.ok())
    return block.status().code() == absl::StatusCode::kResourceExhausted ? OutOfMemory(size)
                                                                         : block.status();
  void* data = block->data + kHeader;
  return RawBufferRef::Adopt(new (block->data)
                                 CpuRawBuffer(std::move(allocator), *block, memory, size, data));
}

void CpuRawBuffer::Destroy() {
  std::shared_ptr<CachingAllocator> allocator = std::move(allocator_);
  const CachingAllocator::Block block = block_;
  this->~CpuRawBuffer();
  allocator->Free(block);
}

}  // namespace pjrt::cpu
