// SPDX-License-Identifier: Apache-2.0
//
// The elements that a view shows of consecutive points, as few pieces as possible: the divisions
// that find coordinates are done once for a run of points, not for each piece.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_VIEW_WALK_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_VIEW_WALK_H_

#include <algorithm>
#include <cstdint>

#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

class ViewWalk {
 public:
  ViewWalk() = default;
  // Of a view of an iteration space of `dims`, none of which is 0 where pieces are asked for.
  ViewWalk(const LoopView& view, const Dims& dims) : offset_(view.offset) {
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == 1) continue;
      if (!dims_.empty() && strides_.back() == view.strides[d] * dims[d]) {
        dims_.back() *= dims[d];
        strides_.back() = view.strides[d];
      } else {
        dims_.push_back(dims[d]);
        strides_.push_back(view.strides[d]);
      }
    }
    if (dims_.empty()) {
      dims_.push_back(1);
      strides_.push_back(0);
    }
  }

  // Calls fn(offset, rows, row_stride, count, stride) for the pieces of points [from, from + n), in
  // order: `rows` rows of `count` elements, the first at `offset`; all in elements.
  template <class F>
  void ForEachPiece(int64_t from, int64_t n, F fn) const {
    const int last = static_cast<int>(dims_.size()) - 1;
    const int64_t *const dims = dims_.data(), *const strides = strides_.data();
    int64_t few[kFewDims];
    Dims many;
    int64_t* at = few;
    if (last >= kFewDims) {
      many.resize(dims_.size());
      at = many.data();
    }
    int64_t offset = offset_;
    for (int d = last; d > 0; --d) {
      const int64_t rest = from / dims[d];
      at[d] = from - rest * dims[d];
      offset += at[d] * strides[d];
      from = rest;
    }
    at[0] = from;
    offset += from * strides[0];
    const int64_t inner = dims[last], stride = strides[last];
    const int64_t row_stride = last > 0 ? strides[last - 1] : 0;
    while (n > 0) {
      const int64_t count = std::min(n, inner - at[last]);
      int64_t rows = 1;
      if (last > 0 && count == inner) rows = std::min(n / inner, dims[last - 1] - at[last - 1]);
      fn(offset, rows, row_stride, count, stride);
      n -= rows * count;
      if (n <= 0 || last == 0) return;
      offset += rows * row_stride - at[last] * stride;
      at[last] = 0;
      at[last - 1] += rows;
      for (int d = last - 1; d > 0 && at[d] == dims[d]; --d) {
        offset += strides[d - 1] - at[d] * strides[d];
        at[d] = 0;
        ++at[d - 1];
      }
    }
  }

 private:
  static constexpr int kFewDims = 6;
  int64_t offset_ = 0;
  Dims dims_, strides_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_VIEW_WALK_H_
