// SPDX-License-Identifier: Apache-2.0
//
// HostMemoryAllocator: host memory that a device can reach quickly. Spec: PJRT C++ API, section
// 1.17.
#ifndef PJRT_HOST_MEMORY_ALLOCATOR_H_
#define PJRT_HOST_MEMORY_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/ids.h"

namespace pjrt {

// Allocates host memory for transfers: aligned and, where the platform has it, pinned. May be used
// from any thread.
class HostMemoryAllocator {
 public:
  virtual ~HostMemoryAllocator() = default;

  // How a platform makes one.
  struct Options {
    size_t alignment = 64;
    // Called on each piece of memory that the allocator takes from the system, and before it gives
    // it back.
    std::function<absl::Status(std::optional<LocalDeviceId>, void* data, size_t size)> map_fn;
    std::function<absl::Status(std::optional<LocalDeviceId>, void* data, size_t size)> unmap_fn;
  };
  using Factory = std::function<absl::StatusOr<std::unique_ptr<HostMemoryAllocator>>(Options)>;

  struct AllocateOptions {
    int numa_node = -1;  // -1: any
    std::optional<LocalDeviceId> local_device_id;
  };

  // Gives memory back; may run after the allocator is gone.
  using Deleter = std::function<void(uint8_t*)>;
  using OwnedPtr = std::unique_ptr<uint8_t[], Deleter>;

  // Memory of at least `size` bytes with Options::alignment; null when there is none left. For size
  // 0 the pointer may be null as well.
  virtual OwnedPtr Allocate(size_t size, const AllocateOptions& options) = 0;
  OwnedPtr Allocate(size_t size) { return Allocate(size, AllocateOptions()); }
};

}  // namespace pjrt

#endif  // PJRT_HOST_MEMORY_ALLOCATOR_H_
