// SPDX-License-Identifier: Apache-2.0
//
// HostTransfer: converts between an array in host memory and the bytes of a device.
#ifndef PJRT_CORE_RUNTIME_HOST_TRANSFER_H_
#define PJRT_CORE_RUNTIME_HOST_TRANSFER_H_

#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "pjrt/base/layout.h"
#include "pjrt/base/shape.h"
#include "src/core/runtime/buffer_type.h"

namespace pjrt {

class Executor;

// Byte strides of a dense array whose dimensions lie in the order `minor_to_major`.
DimensionVector DenseStrides(absl::Span<const int64_t> sizes,
                             absl::Span<const int64_t> minor_to_major, int element_bytes);

// How to convert between an unpacked array in host memory and a buffer. Immutable.
class HostTransfer {
 public:
  // `strides` are those of the host array in bytes; `sizes` the logical sizes, at most those of the
  // type.
  HostTransfer(const BufferType& type, absl::Span<const int64_t> sizes, DimensionVector strides);

  // Whether the bytes are the same on both sides.
  bool IsPlainCopy() const { return is_plain_; }
  size_t elements_bytes() const { return elements_bytes_; }

  // `threads`, the calling one counted, may share the work of changing the order of elements: those
  // of `executor`, which may be null. The call never waits for a task that hasn't begun, so it may
  // be made on a thread of the executor, too.
  void ToDevice(const void* host, void* device, Executor* executor = nullptr,
                int threads = 1) const;
  void ToHost(const void* device, void* host) const;

 private:
  void Reorder(const void* source, const DimensionVector& source_strides, void* destination,
               const DimensionVector& destination_strides, Executor* executor, int threads) const;

  PrimitiveType type_;
  DimensionVector sizes_;
  DimensionVector host_strides_;
  DimensionVector device_strides_;  // unpacked
  int packed_bits_;                 // 0: not packed
  size_t elements_bytes_;           // on the device
  size_t element_count_;
  bool is_plain_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_HOST_TRANSFER_H_
