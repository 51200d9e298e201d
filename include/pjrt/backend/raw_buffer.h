// SPDX-License-Identifier: Apache-2.0
//
// RawBuffer: a piece of a device's memory, counted by reference. Spec: PJRT C++ API, section 1.20.
//
// Raw buffers are what a backend deals in: bytes in a memory space, without shape, readiness or
// owner. The common client puts those around them.
#ifndef PJRT_BACKEND_RAW_BUFFER_H_
#define PJRT_BACKEND_RAW_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace pjrt {

// A piece of memory. A backend derives its own class, with whatever it needs to free the memory,
// and frees it in Destroy() or in the destructor.
//
// Ownership: begins with one reference, which belongs to the maker (RawBufferRef::Adopt takes it).
// Threads: the fields never change; AddRef and Release may be called from any thread. The bytes are
// guarded by the common client's ordering of operations, not here.
class RawBuffer {
 public:
  RawBuffer(const RawBuffer&) = delete;
  RawBuffer& operator=(const RawBuffer&) = delete;

  // Which memory the bytes are in: an index into Backend::memories().
  int memory() const { return memory_; }
  size_t size() const { return size_; }
  // The address on the device. For a size of 0 it may be null.
  void* device_pointer() const { return device_pointer_; }
  // The address for the host's own loads and stores; null when the host can't reach the memory.
  void* host_pointer() const { return host_pointer_; }
  // False for imported memory that must never be written.
  bool is_writable() const { return is_writable_; }

  void AddRef() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void Release() {
    // The last owner skips the read-modify-write: nobody else can add a reference to what only it
    // has.
    if (refs_.load(std::memory_order_acquire) == 1 ||
        refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Destroy();
    }
  }
  // Whether the caller's reference is the only one.
  bool IsUnique() const { return refs_.load(std::memory_order_acquire) == 1; }

 protected:
  RawBuffer(int memory, size_t size, void* device_pointer, void* host_pointer,
            bool is_writable = true)
      : memory_(memory),
        is_writable_(is_writable),
        size_(size),
        device_pointer_(device_pointer),
        host_pointer_(host_pointer) {}
  virtual ~RawBuffer() = default;

  // Called when the last reference goes, on whichever thread that is. Must not block. A backend
  // whose objects lie in memory of its own (for example in front of the bytes) overrides it and
  // calls the destructor itself.
  virtual void Destroy() { delete this; }

 private:
  std::atomic<uint32_t> refs_{1};
  int memory_;
  bool is_writable_;
  size_t size_;
  void* device_pointer_;
  void* host_pointer_;
};

// A counted reference to a RawBuffer, or null.
class RawBufferRef {
 public:
  constexpr RawBufferRef() = default;
  // Adds a reference.
  explicit RawBufferRef(RawBuffer* buffer) : buffer_(buffer) {
    if (buffer_ != nullptr) buffer_->AddRef();
  }
  // Takes over the reference that the caller has.
  static RawBufferRef Adopt(RawBuffer* buffer) {
    RawBufferRef ref;
    ref.buffer_ = buffer;
    return ref;
  }
  RawBufferRef(const RawBufferRef& other) : RawBufferRef(other.buffer_) {}
  RawBufferRef(RawBufferRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  RawBufferRef& operator=(RawBufferRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~RawBufferRef() {
    if (buffer_ != nullptr) buffer_->Release();
  }

  RawBuffer* get() const { return buffer_; }
  RawBuffer* operator->() const { return buffer_; }
  RawBuffer& operator*() const { return *buffer_; }
  explicit operator bool() const { return buffer_ != nullptr; }

 private:
  RawBuffer* buffer_ = nullptr;
};

}  // namespace pjrt

#endif  // PJRT_BACKEND_RAW_BUFFER_H_
