// SPDX-License-Identifier: Apache-2.0
//
// Pieces of host memory on their way to or from a device. Spec: PJRT C++ API, section 1.5.
#ifndef PJRT_CHUNK_H_
#define PJRT_CHUNK_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/base/future.h"

namespace pjrt {

class Shape;

// A block of bytes with the function that frees it. Move-only; frees its memory when destroyed. Not
// synchronized.
class PjRtChunk {
 public:
  // An empty chunk: no data, size 0.
  PjRtChunk() = default;
  // Takes `size` bytes at `data` over; `deleter(data)` is called once at the end. A null deleter
  // frees nothing.
  PjRtChunk(void* data, size_t size, std::function<void(void*)> deleter);
  PjRtChunk(PjRtChunk&& other) noexcept;
  PjRtChunk& operator=(PjRtChunk&& other) noexcept;
  ~PjRtChunk();

  // `size` uninitialized bytes, aligned to 64. If the memory cannot be had, data() is null and
  // size() is 0; so it is for a size of 0.
  static PjRtChunk AllocateDefault(size_t size);

  const uint8_t* data() const { return data_; }
  uint8_t* data() { return data_; }
  int64_t size() const { return static_cast<int64_t>(size_); }
  const std::function<void(void*)>& deleter() const { return deleter_; }

  // Forgets the memory without freeing it: the caller frees it with the deleter(), taken before.
  // The chunk is empty afterwards.
  void release();

 private:
  void Free();

  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  std::function<void(void*)> deleter_;
};

// A stream of chunks that make up one buffer on a device; a backend subclasses it.
//
// Thread safety: all methods may be called by any thread. Chunks are laid down in the order in
// which AddChunk accepted them.
class CopyToDeviceStream {
 public:
  // A stream for `total_bytes` in chunks that are each a multiple of `granule_bytes`. Negative
  // totals count as 0 and granules below 1 as 1.
  CopyToDeviceStream(int64_t total_bytes, int64_t granule_bytes);
  virtual ~CopyToDeviceStream();

  // Sends a chunk; the future is ready when it has arrived on the device. Doesn't block. An error
  // future without effect, INVALID_ARGUMENT [PJRT-R008], if the stream is complete, the chunk
  // would exceed the total, or its size isn't a multiple of the granule.
  virtual Future<> AddChunk(PjRtChunk chunk) = 0;

  int64_t total_bytes() const { return total_bytes_; }
  int64_t granule_size_in_bytes() const { return granule_bytes_; }
  // Bytes accepted so far.
  int64_t current_bytes() const;
  // Whether all bytes were accepted; stays true from then on. True at once if the total is 0.
  bool IsComplete() const;
  // Whether nothing was accepted so far.
  bool empty() const { return current_bytes() == 0; }

 protected:
  // What AddChunk of a subclass calls first: checks the rules above and, if they hold, counts the
  // chunk. Returns the offset of the chunk in the buffer, in bytes.
  absl::StatusOr<int64_t> Accept(const PjRtChunk& chunk);

 private:
  const int64_t total_bytes_;
  const int64_t granule_bytes_;
  mutable std::mutex mutex_;
  int64_t current_bytes_ = 0;  // Guarded by mutex_.
};

// Converts host data between the host's layout and the device's; a backend whose layouts differ
// subclasses it. Thread-safe. The shapes given to a call differ in their layouts alone.
class PjRtHostMemoryForDeviceManager {
 public:
  virtual ~PjRtHostMemoryForDeviceManager() = default;

  // A chunk with `src_size` bytes at `src_data`, an array of `host_shape`, rearranged to
  // `device_shape`.
  virtual absl::StatusOr<PjRtChunk> ToDeviceLayout(const void* src_data, size_t src_size,
                                                   const Shape& host_shape,
                                                   const Shape& device_shape) = 0;

  // Rearranges `src_size` bytes of `src_shape` at `src_data` into `dst_size` bytes of `dst_shape`
  // at `dst_data`.
  virtual absl::Status ToHostLayout(const void* src_data, size_t src_size, const Shape& src_shape,
                                    void* dst_data, size_t dst_size, const Shape& dst_shape) = 0;
};

}  // namespace pjrt

#endif  // PJRT_CHUNK_H_
