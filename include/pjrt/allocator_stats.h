// SPDX-License-Identifier: Apache-2.0
//
// AllocatorStats: what PjRtDevice::GetAllocatorStats answers. Spec: PJRT C++ API, section 1.2.
#ifndef PJRT_ALLOCATOR_STATS_H_
#define PJRT_ALLOCATOR_STATS_H_

#include <cstdint>
#include <optional>
#include <string>

namespace pjrt {

// Counters of a device's allocator at one moment. A plain value; sizes in bytes.
struct AllocatorStats {
  int64_t num_allocs = 0;            // Allocations made so far.
  int64_t bytes_in_use = 0;          // Allocated now.
  int64_t peak_bytes_in_use = 0;     // The most ever, or since PjRtDevice::ClearMemoryStats.
  int64_t largest_alloc_size = 0;    // The largest single allocation.
  int64_t peak_allocated_bytes = 0;  // The most ever taken from the system, caches included.

  // What may be in use at most; unset if nobody knows.
  std::optional<int64_t> bytes_limit;

  // Memory held back, for instance for the program stack; its peak and its limit.
  int64_t bytes_reserved = 0;
  int64_t peak_bytes_reserved = 0;
  std::optional<int64_t> bytes_reservable_limit;

  // The largest block that could be allocated now; 0 if nobody knows.
  int64_t largest_free_block_bytes = 0;

  // Memory that a pool holds, in use or not; unset for allocators without a pool.
  std::optional<int64_t> pool_bytes;
  std::optional<int64_t> peak_pool_bytes;

  // The counters with their names, one a line. Unset ones are left out.
  std::string DebugString() const;
};

}  // namespace pjrt

#endif  // PJRT_ALLOCATOR_STATS_H_
