// SPDX-License-Identifier: Apache-2.0
//
// BufferType: what buffers of the same shape share, and the table of those made last.
#ifndef PJRT_CORE_RUNTIME_BUFFER_TYPE_H_
#define PJRT_CORE_RUNTIME_BUFFER_TYPE_H_

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

#include "absl/types/span.h"
#include "pjrt/base/shape.h"
#include "pjrt/pjrt_layout.h"

namespace pjrt {

// Immutable. An executable makes one for each result, so that executing copies no shapes.
struct BufferType {
  Shape shape;            // an array with layout, or a token
  size_t bytes;           // in the device's memory, sizes of dynamic dimensions included
  size_t elements_bytes;  // of the elements alone
  std::shared_ptr<const PjRtLayout> layout;

  // `is_packed`: sub-byte elements take their bits, not a byte. `shape` must be valid.
  BufferType(Shape the_shape, bool is_packed);
};
using BufferTypeRef = std::shared_ptr<const BufferType>;

// The types of static arrays in default layout that a client made last. Programs are given the same
// few shapes over and over: finding their types here makes a small buffer in half the time (155
// instead of 312 ns on a Zen 4), and equal shapes share an address, which is how a program with
// dynamic shapes recognises its arguments. Thread-safe.
class BufferTypeTable {
 public:
  // Null where there is none.
  BufferTypeRef Find(PrimitiveType element_type, absl::Span<const int64_t> dimensions) const;
  // The type equal to `type` that is there, or else `type`, put in the place of another.
  BufferTypeRef FindOrAdd(BufferTypeRef type);

 private:
  static constexpr size_t kSlots = 128;
  static size_t SlotOf(PrimitiveType element_type, absl::Span<const int64_t> dimensions);

  mutable std::mutex mutex_;
  std::array<BufferTypeRef, kSlots> slots_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_BUFFER_TYPE_H_
