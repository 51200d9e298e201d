// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/buffer_type.h"

namespace pjrt {

BufferType::BufferType(Shape the_shape, bool is_packed)
    : shape(std::move(the_shape)),
      elements_bytes(static_cast<size_t>(is_packed ? PackedByteSize(shape) : ByteSize(shape))),
      layout(std::make_shared<const PjRtLayout>(shape.layout())) {
  // The run-time sizes of dynamic dimensions follow the elements, an int32 each.
  bytes = elements_bytes + (shape.is_dynamic() ? 4 * static_cast<size_t>(shape.rank()) : 0);
}

}  // namespace pjrt
