// SPDX-License-Identifier: Apache-2.0
//
// Reading an array's elements in logical row-major order, whatever its layout.
#ifndef PJRT_CORE_BASE_LOGICAL_READER_H_
#define PJRT_CORE_BASE_LOGICAL_READER_H_

#include <cstdint>
#include <memory>

#include "pjrt/base/shape.h"

namespace pjrt {

// The indices of the element at that place of the row-major order. It must be inside.
DimensionVector MultiIndexOf(absl::Span<const int64_t> dimensions, int64_t linear_index);

// Hands out the elements block by block. Shape and data must outlive the reader.
class LogicalReader {
 public:
  // Blocks are at most this long.
  static constexpr int64_t kBlock = 1024;

  // `shape` is a static array with a layout (tiles not counted).
  LogicalReader(const Shape& shape, const void* data);

  // The next `count` elements (at most kBlock, and no more than are left) one after the other,
  // valid until the next call. It points into the array itself when that is in row-major order.
  const void* Next(int64_t count);

 private:
  const int element_bytes_;
  const char* data_;
  absl::Span<const int64_t> sizes_;
  DimensionVector strides_;  // in bytes; empty for the row-major order
  DimensionVector index_;
  std::unique_ptr<char[]> block_;
};

// True when two arrays of the same element type and sizes hold the same bits.
bool SameElements(const Shape& a_shape, const void* a, const Shape& b_shape, const void* b);

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_LOGICAL_READER_H_
