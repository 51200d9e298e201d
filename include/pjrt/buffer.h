// SPDX-License-Identifier: Apache-2.0
//
// PjRtBuffer: an array in a device's memory. Spec: PJRT C++ API, section 1.6.
#ifndef PJRT_BUFFER_H_
#define PJRT_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pjrt/base/future.h"
#include "pjrt/base/primitive_type.h"

namespace pjrt {

class Layout;
class Literal;
class MutableLiteralBase;
class PjRtClient;
class PjRtDevice;
class PjRtLayout;
class PjRtMemorySpace;
class Shape;

// An array (or token) in one memory space of a client.
//
// Life of a buffer. A buffer is made before its contents are there: the contents are *defined* when
// the copy or the program that writes them has finished, and GetReadyFuture() says when. A buffer
// whose definition failed is *in error*; whatever reads it gets the error, and programs that take
// it as an argument put their outputs in error. A buffer ends by Delete(), by being given away as a
// donation to a program or a copy, or by ReleaseDeviceMemoryOwnership(); then IsDeleted() is true,
// its shape can still be asked for, and everything that needs the contents fails with
// INVALID_ARGUMENT ("Buffer has been deleted or donated"). The memory itself is freed when all work
// that was enqueued on it has finished, so a buffer may be deleted as soon as its last use is
// enqueued.
//
// Ownership: the caller owns the object. It must be destroyed before its client; destroying it is
// Delete() as well.
// Threads: all methods may be called from any thread. Methods that return a Future never wait for
// the contents; they may wait shortly while another thread is in the middle of enqueuing a donation
// of this buffer.
class PjRtBuffer {
 public:
  // A reference to a buffer's memory that keeps it alive. While one exists the buffer can't be
  // donated (a program that would donate it gets a copy or fails, as the backend documents);
  // deleting the buffer is allowed, and the memory stays readable until the reference goes.
  class ExternalReference {
   public:
    virtual ~ExternalReference() = default;
    ExternalReference(const ExternalReference&) = delete;
    ExternalReference& operator=(const ExternalReference&) = delete;

    // The address of the memory on the device; on host platforms an ordinary pointer. What it
    // points to may be read when the buffer is ready.
    void* OpaqueDeviceMemoryDataPointer() const { return data_ptr_; }

    // Makes `stream` (a platform handle) wait until the buffer is ready. UNIMPLEMENTED unless the
    // platform has streams.
    virtual absl::Status WaitUntilBufferReadyOnStream(intptr_t stream);

   protected:
    ExternalReference() = default;
    explicit ExternalReference(void* data_ptr) : data_ptr_(data_ptr) {}
    void* data_ptr_ = nullptr;
  };

  PjRtBuffer() = default;
  virtual ~PjRtBuffer() = default;
  PjRtBuffer(const PjRtBuffer&) = delete;
  PjRtBuffer& operator=(const PjRtBuffer&) = delete;

  // ----- What a backend must override -----

  // The shape of the buffer on the device: element type, dimensions (their bounds where they are
  // dynamic) and layout. Valid as long as the object, also after Delete().
  virtual const Shape& on_device_shape() const = 0;

  // Where the buffer lies. `device()` is the device that the memory space is attached to, or the
  // first of them.
  virtual PjRtMemorySpace* memory_space() const = 0;
  virtual PjRtDevice* device() const = 0;
  virtual PjRtClient* client() const = 0;

  // Copies the contents into `literal`, whose shape must be compatible with HostShape(); the copy
  // honours the literal's layout, whatever the buffer's. `literal` must stay alive and untouched
  // until the future is ready. Never blocks. Errors, all through the future: the buffer's own
  // error, INVALID_ARGUMENT when it is deleted, INTERNAL when the shapes don't match.
  virtual Future<> ToLiteral(MutableLiteralBase* literal) = 0;

  // The bytes that the array takes on the device, with the packing of sub-byte types and the sizes
  // of dynamic dimensions. Known from the shape, so it works before the contents are there.
  // INVALID_ARGUMENT after Delete().
  virtual absl::StatusOr<size_t> GetOnDeviceSizeInBytes() const = 0;

  // Gives the buffer up. Idempotent. The memory is freed once all work enqueued on it has finished;
  // never waits for that work.
  virtual void Delete() = 0;

  // True after Delete(), a donation, or ReleaseDeviceMemoryOwnership().
  virtual bool IsDeleted() const = 0;

  // Copies to `dst`, which may be any memory space of this client (its own space too, which makes a
  // second buffer) or of another one. Returns at once; the new buffer becomes ready, or gets this
  // buffer's error, later. Deleting this buffer meanwhile is fine. INVALID_ARGUMENT when this
  // buffer is deleted or `dst` is null.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> CopyToMemorySpace(PjRtMemorySpace* dst) = 0;

  // Becomes ready when the contents are defined: OK, or the error of what defines them, with its
  // payloads. A future taken before Delete() still resolves so. INVALID_ARGUMENT at once when the
  // buffer is already deleted. Copies share one state, so calling this often is cheap.
  virtual Future<> GetReadyFuture() = 0;

  // Whether the host may read the memory through its address.
  virtual bool IsOnCpu() const = 0;

  // ----- Derived from the above; valid also after Delete() -----

  virtual PrimitiveType element_type() const;

  // Sizes (bounds where dynamic), major to minor; empty for a token. The span is valid as long as
  // the object.
  virtual absl::Span<const int64_t> dimensions() const;

  // The layout of the elements in memory. Never null for an array; for a token, a layout of rank 0.
  virtual std::shared_ptr<const PjRtLayout> layout() const;

  // Always false for buffers of this library's own runtime: a tuple is as many buffers as it has
  // leaves.
  virtual bool IsTuple() const;

  virtual bool has_dynamic_dimensions() const;

  // One flag a dimension.
  virtual absl::Span<const bool> is_dynamic_dimension() const;

  // ----- Sizes at run time -----

  // The sizes that the dimensions really have. The same as dimensions() unless
  // has_dynamic_dimensions(); then it blocks until the buffer is ready. UNIMPLEMENTED by default
  // for dynamic shapes.
  virtual absl::StatusOr<std::vector<int64_t>> logical_dimensions();

  // on_device_shape() with its dynamic dimensions replaced by logical_dimensions(). Blocks as that
  // does.
  virtual absl::StatusOr<Shape> logical_on_device_shape();

  // The shape of a literal that can hold the contents: the logical dimensions, in this buffer's
  // dimension order, with one element a byte for sub-byte types. Blocks as logical_dimensions()
  // does.
  virtual absl::StatusOr<Shape> HostShape();

  // ----- Reading -----

  // ToLiteral into a literal that is made for it. An allocation failure comes through the future.
  virtual Future<std::shared_ptr<Literal>> ToLiteral();

  // ToLiteral whose destination is asked for late: `generator` is called once, before the contents
  // are read, and may return a future that isn't ready; its error becomes the result. The
  // destination must stay alive until the returned future is ready. UNIMPLEMENTED by default.
  virtual Future<> LazyToLiteral(absl::AnyInvocable<Future<MutableLiteralBase*>() &&> generator);

  // ToLiteral and wait. Blocks until the contents are copied.
  absl::Status ToLiteralSync(MutableLiteralBase* literal);
  absl::StatusOr<std::shared_ptr<Literal>> ToLiteralSync();

  // Copies `size` bytes from `offset` on, as they are on the device, to `dst`, which must stay
  // valid until the future is ready. INVALID_ARGUMENT (through the future) when offset or size is
  // negative or offset + size is past GetOnDeviceSizeInBytes(). UNIMPLEMENTED by default.
  virtual Future<> CopyRawToHost(void* dst, int64_t offset, int64_t size);

  // The same with a destination that is known later. The contents are kept even if the buffer is
  // deleted meanwhile. An error of `dst` is the result, and nothing is copied. UNIMPLEMENTED by
  // default.
  virtual Future<> CopyRawToHostFuture(Future<void*> dst, int64_t offset, int64_t size);

  // ----- Memory -----

  // Takes a reference to the memory. Blocks until the memory is allocated, not until it is defined.
  // INVALID_ARGUMENT when the buffer is deleted. UNIMPLEMENTED by default.
  virtual absl::StatusOr<std::unique_ptr<ExternalReference>> AcquireExternalReference();

  // Deletes the buffer and hands its memory to the caller, who keeps it by the returned reference.
  // With `wait_for_operations_to_complete` blocks until all enqueued work on the memory is done,
  // INTERNAL if the definition failed; otherwise the caller must see to that. OK with null when the
  // buffer is already deleted. UNIMPLEMENTED by default.
  virtual absl::StatusOr<std::unique_ptr<ExternalReference>> ReleaseDeviceMemoryOwnership(
      bool wait_for_operations_to_complete);

  // ----- Making another buffer of this one -----

  // Copies into the storage of `donated_dst`, a buffer of the same client and the same
  // GetOnDeviceSizeInBytes(), which is deleted by this. Waits (not the caller: the copy) for
  // earlier users of that storage. When `donated_dst` is this buffer, its memory moves to the new
  // buffer and nothing is copied. INVALID_ARGUMENT when it is null, foreign, deleted, or of another
  // size; then neither buffer changes. UNIMPLEMENTED by default.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> CopyToMemorySpace(PjRtBuffer* donated_dst);

  // The same memory seen as another type and dimensions of the same number of bytes;
  // `device_layout` null means the default layout. Consumes this buffer: it becomes deleted.
  // INVALID_ARGUMENT when the sizes differ, or either shape isn't an array, or the buffer is
  // deleted; then the buffer stays as it is. UNIMPLEMENTED by default.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> Bitcast(PrimitiveType element_type,
                                                              absl::Span<const int64_t> dims,
                                                              const Layout* device_layout);

  // The same memory and contents, ready only when `dependency` is ready too; an error of either
  // puts the result in error. Consumes this buffer. Never blocks. UNIMPLEMENTED by default.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> DonateWithControlDependency(
      Future<> dependency);

  // Called once with the result of a send, and whether the send was enqueued at all (if not, the
  // receiver has to be told of the failure some other way).
  using RemoteSendCallback = std::function<void(absl::Status status, bool sends_were_enqueued)>;

  // Sends the contents to a buffer that another process made with MakeCrossHostReceiveBuffers,
  // named by the descriptor that it got there. Never blocks. By default calls `on_done` with
  // UNIMPLEMENTED and false.
  virtual void CopyToRemoteDevice(Future<std::string> serialized_descriptor,
                                  RemoteSendCallback on_done);
};

}  // namespace pjrt

#endif  // PJRT_BUFFER_H_
