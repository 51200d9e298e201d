// SPDX-License-Identifier: Apache-2.0
//
// Memory that is handed out piece by piece and freed all at once.
#ifndef PJRT_CORE_IR_ARENA_H_
#define PJRT_CORE_IR_ARENA_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace pjrt::ir {

// A bump allocator. Destructors of what lives in it are never run. Freeing it costs one call a
// chunk; chunks begin at 64 KiB and grow, so that there are few of them.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // Uninitialised memory. `alignment` is a power of two, at most 16.
  void* Allocate(size_t bytes, size_t alignment) {
    const uintptr_t start = (next_ + (alignment - 1)) & ~static_cast<uintptr_t>(alignment - 1);
    if (start <= end_ && bytes <= end_ - start) {
      next_ = start + bytes;
      return reinterpret_cast<void*>(start);
    }
    return AllocateSlow(bytes);
  }

 private:
  static constexpr size_t kFirstChunk = size_t{64} << 10;
  static constexpr size_t kLargestChunk = size_t{4} << 20;

  void* AllocateSlow(size_t bytes);

  uintptr_t next_ = 0;
  uintptr_t end_ = 0;
  size_t chunk_size_ = kFirstChunk;
  std::vector<std::unique_ptr<char[]>> chunks_;
};

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_ARENA_H_
