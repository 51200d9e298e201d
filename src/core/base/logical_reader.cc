// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/logical_reader.h"

#include <algorithm>
#include <cstring>

namespace pjrt {

DimensionVector MultiIndexOf(absl::Span<const int64_t> dimensions, int64_t linear_index) {
  DimensionVector index(dimensions.size(), 0);
  for (int64_t i = static_cast<int64_t>(dimensions.size()) - 1; i >= 0; --i) {
    index[i] = linear_index % dimensions[i];
    linear_index /= dimensions[i];
  }
  return index;
}

LogicalReader::LogicalReader(const Shape& shape, const void* data)
    : element_bytes_(ByteWidth(shape.element_type())),
      data_(static_cast<const char*>(data)),
      sizes_(shape.dimensions()) {
  if (IsMonotonicWithDim0Major(shape.layout())) return;
  strides_ = ByteStrides(shape);
  index_.assign(sizes_.size(), 0);
  block_ = std::make_unique<char[]>(static_cast<size_t>(kBlock * element_bytes_));
}

const void* LogicalReader::Next(int64_t count) {
  const char* result = data_;
  if (strides_.empty()) {
    data_ += count * element_bytes_;
    return result;
  }
  char* out = block_.get();
  const int last = static_cast<int>(sizes_.size()) - 1;
  while (count > 0) {
    // A run along the last dimension, then on to the next row.
    const int64_t run = std::min(count, sizes_[last] - index_[last]);
    for (int64_t i = 0; i < run; ++i) {
      std::memcpy(out, data_, static_cast<size_t>(element_bytes_));
      out += element_bytes_;
      data_ += strides_[last];
    }
    count -= run;
    index_[last] += run;
    for (int d = last; d > 0 && index_[d] == sizes_[d]; --d) {
      data_ += strides_[d - 1] - strides_[d] * sizes_[d];
      index_[d] = 0;
      ++index_[d - 1];
    }
  }
  return block_.get();
}

bool SameElements(const Shape& a_shape, const void* a, const Shape& b_shape, const void* b) {
  const auto bytes = static_cast<size_t>(ByteSize(a_shape));
  if (bytes == 0) return true;
  if (a_shape.layout() == b_shape.layout()) return std::memcmp(a, b, bytes) == 0;
  LogicalReader a_reader(a_shape, a);
  LogicalReader b_reader(b_shape, b);
  const int64_t count = ElementCount(a_shape);
  const int width = ByteWidth(a_shape.element_type());
  for (int64_t done = 0; done < count; done += LogicalReader::kBlock) {
    const int64_t block = std::min(LogicalReader::kBlock, count - done);
    const void* a_block = a_reader.Next(block);
    const void* b_block = b_reader.Next(block);
    if (std::memcmp(a_block, b_block, static_cast<size_t>(block * width)) != 0) return false;
  }
  return true;
}

}  // namespace pjrt
