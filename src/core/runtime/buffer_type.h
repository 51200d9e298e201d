// SPDX-License-Identifier: Apache-2.0
//
// BufferType: what buffers of the same shape share.
#ifndef PJRT_CORE_RUNTIME_BUFFER_TYPE_H_
#define PJRT_CORE_RUNTIME_BUFFER_TYPE_H_

#include <cstddef>
#include <memory>
#include <utility>

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

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_BUFFER_TYPE_H_
