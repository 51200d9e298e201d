// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/buffer_type.h"

namespace pjrt {
namespace {

bool Is(const BufferType& type, PrimitiveType element_type, absl::Span<const int64_t> dimensions) {
  return type.shape.element_type() == element_type && type.shape.dimensions() == dimensions;
}

}  // namespace

BufferType::BufferType(Shape the_shape, bool is_packed)
    : shape(std::move(the_shape)),
      elements_bytes(static_cast<size_t>(is_packed ? PackedByteSize(shape) : ByteSize(shape))),
      layout(std::make_shared<const PjRtLayout>(shape.layout())) {
  // The run-time sizes of dynamic dimensions follow the elements, an int32 each.
  bytes = elements_bytes + (shape.is_dynamic() ? 4 * static_cast<size_t>(shape.rank()) : 0);
}

size_t BufferTypeTable::SlotOf(PrimitiveType element_type, absl::Span<const int64_t> dimensions) {
  auto hash = static_cast<uint64_t>(element_type);
  for (const int64_t size : dimensions) {
    hash = (hash ^ static_cast<uint64_t>(size)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  }
  return hash % kSlots;
}

BufferTypeRef BufferTypeTable::Find(PrimitiveType element_type,
                                    absl::Span<const int64_t> dimensions) const {
  const size_t slot = SlotOf(element_type, dimensions);
  std::lock_guard<std::mutex> lock(mutex_);
  const BufferTypeRef& found = slots_[slot];
  return found != nullptr && Is(*found, element_type, dimensions) ? found : nullptr;
}

BufferTypeRef BufferTypeTable::FindOrAdd(BufferTypeRef type) {
  const Shape& shape = type->shape;
  const size_t slot = SlotOf(shape.element_type(), shape.dimensions());
  std::lock_guard<std::mutex> lock(mutex_);
  BufferTypeRef& found = slots_[slot];
  // What it replaces goes with `type`, when the lock is gone.
  if (found == nullptr || !Is(*found, shape.element_type(), shape.dimensions())) found.swap(type);
  return found;
}

}  // namespace pjrt
