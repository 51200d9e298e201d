// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/run/nd_copy.h"

#include <cstring>

namespace pjrt::cpu {
namespace {

template <typename T>
void CopyRun(const char* from, int64_t from_stride, char* to, int64_t to_stride, int64_t n) {
  const T* source = reinterpret_cast<const T*>(from);
  T* target = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) target[i * to_stride] = source[i * from_stride];
}

struct Bytes16 {
  uint64_t low, high;
};

}  // namespace

NdCopy::NdCopy(absl::Span<const int64_t> dims, absl::Span<const int64_t> from_strides,
               absl::Span<const int64_t> to_strides, int element_size)
    : size_(element_size) {
  bool first = true;
  for (size_t d = dims.size(); d-- > 0;) {
    count_ *= dims[d];
    if (dims[d] == 1) continue;
    if (first) {
      inner_ = dims[d];
      from_inner_ = from_strides[d];
      to_inner_ = to_strides[d];
      first = false;
      continue;
    }
    if (dims_.empty() && from_strides[d] == from_inner_ * inner_ &&
        to_strides[d] == to_inner_ * inner_) {
      inner_ *= dims[d];
      continue;
    }
    if (!dims_.empty() && from_strides[d] == from_strides_.front() * dims_.front() &&
        to_strides[d] == to_strides_.front() * dims_.front()) {
      dims_.front() *= dims[d];
      continue;
    }
    dims_.insert(dims_.begin(), dims[d]);
    from_strides_.insert(from_strides_.begin(), from_strides[d]);
    to_strides_.insert(to_strides_.begin(), to_strides[d]);
  }
}

void NdCopy::Run(const char* from, char* to) const {
  ForEachRun(
      [&](int64_t from_at, int64_t from_stride, int64_t to_at, int64_t to_stride, int64_t n) {
        const char* source = from + from_at * size_;
        char* target = to + to_at * size_;
        if (from_stride == 1 && to_stride == 1) {
          std::memcpy(target, source, n * size_);
          return;
        }
        switch (size_) {
          case 1:
            return CopyRun<uint8_t>(source, from_stride, target, to_stride, n);
          case 2:
            return CopyRun<uint16_t>(source, from_stride, target, to_stride, n);
          case 4:
            return CopyRun<uint32_t>(source, from_stride, target, to_stride, n);
          case 8:
            return CopyRun<uint64_t>(source, from_stride, target, to_stride, n);
          default:
            return CopyRun<Bytes16>(source, from_stride, target, to_stride, n);
        }
      });
}

}  // namespace pjrt::cpu
