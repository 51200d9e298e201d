// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/host_transfer.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "src/core/base/strided_copy.h"
#include "src/core/runtime/pack_bits.h"

namespace pjrt {
namespace {

// Whether an array with strides `a` lies in memory as one with strides `b` does: strides of
// dimensions of size 1, and of empty arrays, don't matter.
bool SameStrides(absl::Span<const int64_t> sizes, absl::Span<const int64_t> a,
                 absl::Span<const int64_t> b) {
  bool same = true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] > 1 && a[i] != b[i]) same = false;
  }
  return same;
}

}  // namespace

DimensionVector DenseStrides(absl::Span<const int64_t> sizes,
                             absl::Span<const int64_t> minor_to_major, int element_bytes) {
  DimensionVector strides(sizes.size());
  int64_t stride = element_bytes;
  for (int64_t d : minor_to_major) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= std::max<int64_t>(sizes[static_cast<size_t>(d)], 1);
  }
  return strides;
}

HostTransfer::HostTransfer(const BufferType& type, absl::Span<const int64_t> sizes,
                           DimensionVector strides)
    : type_(type.shape.element_type()),
      sizes_(sizes.begin(), sizes.end()),
      host_strides_(std::move(strides)),
      device_strides_(DenseStrides(sizes, type.shape.layout().minor_to_major(), ByteWidth(type_))),
      element_count_(static_cast<size_t>(ElementCount(sizes))) {
  const int64_t bits = type.shape.layout().element_size_in_bits();
  packed_bits_ = bits > 0 && bits < 8 ? static_cast<int>(bits) : 0;
  elements_bytes_ = packed_bits_ == 0
                        ? element_count_ * static_cast<size_t>(ByteWidth(type_))
                        : (element_count_ * static_cast<size_t>(packed_bits_) + 7) / 8;
  is_plain_ = packed_bits_ == 0 && SameStrides(sizes_, host_strides_, device_strides_);
}

void HostTransfer::ToDevice(const void* host, void* device) const {
  if (is_plain_) {
    if (elements_bytes_ != 0) std::memcpy(device, host, elements_bytes_);
  } else if (packed_bits_ == 0) {
    StridedCopy(ByteWidth(type_), sizes_, host, host_strides_, device, device_strides_);
  } else if (SameStrides(sizes_, host_strides_, device_strides_)) {
    PackBits(static_cast<const uint8_t*>(host), element_count_, packed_bits_,
             static_cast<uint8_t*>(device));
  } else {
    std::vector<uint8_t> ordered(element_count_);
    StridedCopy(1, sizes_, host, host_strides_, ordered.data(), device_strides_);
    PackBits(ordered.data(), element_count_, packed_bits_, static_cast<uint8_t*>(device));
  }
}

void HostTransfer::ToHost(const void* device, void* host) const {
  if (is_plain_) {
    if (elements_bytes_ != 0) std::memcpy(host, device, elements_bytes_);
  } else if (packed_bits_ == 0) {
    StridedCopy(ByteWidth(type_), sizes_, device, device_strides_, host, host_strides_);
  } else if (SameStrides(sizes_, host_strides_, device_strides_)) {
    UnpackBits(static_cast<const uint8_t*>(device), element_count_, packed_bits_,
               IsSignedInteger(type_), static_cast<uint8_t*>(host));
  } else {
    std::vector<uint8_t> ordered(element_count_);
    UnpackBits(static_cast<const uint8_t*>(device), element_count_, packed_bits_,
               IsSignedInteger(type_), ordered.data());
    StridedCopy(1, sizes_, ordered.data(), device_strides_, host, host_strides_);
  }
}

}  // namespace pjrt
