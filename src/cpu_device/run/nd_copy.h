// SPDX-License-Identifier: Apache-2.0
//
// Copies an n-dimensional box of elements between two strided arrays.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_ND_COPY_H_
#define PJRT_SRC_CPU_DEVICE_RUN_ND_COPY_H_

#include <cstdint>

#include "absl/types/span.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// A box with its walk fixed: dims that both sides walk as one are merged, dims of size 1 dropped.
// Immutable.
class NdCopy {
 public:
  NdCopy() = default;
  // Strides in elements of `element_size` bytes: 1, 2, 4, 8 or 16.
  NdCopy(absl::Span<const int64_t> dims, absl::Span<const int64_t> from_strides,
         absl::Span<const int64_t> to_strides, int element_size);
  // Copies the box whose first elements are given. The two must not overlap.
  void Run(const char* from, char* to) const;
  int64_t bytes() const { return count_ * size_; }
  int64_t count() const { return count_; }
  // The innermost run and its strides, for callers that do something else than copy.
  template <typename Fn>
  void ForEachRun(Fn fn) const;

 private:
  Dims dims_, from_strides_, to_strides_;  // in elements, without the innermost
  int64_t inner_ = 1, from_inner_ = 1, to_inner_ = 1;
  int64_t count_ = 1;
  int size_ = 4;
};

// fn(from_offset, from_stride, to_offset, to_stride, n), in elements, for each innermost run.
template <typename Fn>
void NdCopy::ForEachRun(Fn fn) const {
  if (count_ == 0) return;
  int64_t from = 0, to = 0;
  absl::InlinedVector<int64_t, 6> at(dims_.size(), 0);
  while (true) {
    fn(from, from_inner_, to, to_inner_, inner_);
    int d = static_cast<int>(dims_.size()) - 1;
    for (; d >= 0; --d) {
      from += from_strides_[d];
      to += to_strides_[d];
      if (++at[d] < dims_[d]) break;
      from -= from_strides_[d] * dims_[d];
      to -= to_strides_[d] * dims_[d];
      at[d] = 0;
    }
    if (d < 0) return;
  }
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_ND_COPY_H_
