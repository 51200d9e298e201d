// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/run/index_walk.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pjrt::cpu {
namespace {

// How indices of a type lie in memory: see ReadIndex.
IndexType IndexTypeOf(PrimitiveType type) {
  switch (type) {
    case S16:
      return IndexType::kS16;
    case U16:
      return IndexType::kU16;
    case S32:
      return IndexType::kS32;
    case U32:
      return IndexType::kU32;
    case S64:
      return IndexType::kS64;
    case U64:
      return IndexType::kU64;
    case U1:
    case U2:
    case U4:
    case U8:
    case PRED:
      return IndexType::kU8;
    default:
      return IndexType::kS8;
  }
}

// Drops dims of size 1 and merges those that all arrays walk as one.
IndexSpace Simplified(const IndexSpace& space) {
  IndexSpace s;
  for (size_t d = 0; d < space.dims.size(); ++d) {
    const int64_t size = space.dims[d];
    if (size == 1) continue;
    const auto continues = [&](const Dims& outer, const Dims& inner) {
      return outer.back() == inner[d] * size;
    };
    if (!s.dims.empty() && continues(s.index_strides, space.index_strides) &&
        continues(s.window_strides, space.window_strides) &&
        continues(s.array_strides, space.array_strides)) {
      s.dims.back() *= size;
      s.index_strides.back() = space.index_strides[d];
      s.window_strides.back() = space.window_strides[d];
      s.array_strides.back() = space.array_strides[d];
    } else {
      s.dims.push_back(size);
      s.index_strides.push_back(space.index_strides[d]);
      s.window_strides.push_back(space.window_strides[d]);
      s.array_strides.push_back(space.array_strides[d]);
    }
  }
  if (s.dims.empty()) s = {{1}, {0}, {0}, {0}};
  return s;
}

}  // namespace

IndexWalk::IndexWalk(IndexSpace space, std::vector<IndexComponent> components,
                     PrimitiveType index_type, Bounds bounds, const IndexKernels& kernels)
    : space_(Simplified(space)),
      components_(std::move(components)),
      index_type_(index_type),
      index_size_(ByteWidth(index_type)) {
  for (int64_t d : space_.dims) num_points_ *= d;
  const int type = static_cast<int>(IndexTypeOf(index_type));
  for (const IndexComponent& component : components_) {
    // A dim of size 1 clamps every index to 0.
    const bool fixed = bounds == kClamp && component.limit == 0;
    add_.push_back(fixed              ? nullptr
                   : bounds == kClamp ? kernels.add_clamped[type]
                                      : kernels.add_checked[type]);
  }
}

void IndexWalk::ForEachBlock(const char* indices, int64_t begin, int64_t end,
                             absl::FunctionRef<void(const Block&)> fn) const {
  int64_t offsets[kBlock];
  const size_t inner = space_.dims.size() - 1;
  const int64_t length = space_.dims[inner];
  Block block;
  block.index_stride = space_.index_strides[inner];
  block.window_stride = space_.window_strides[inner];
  block.array_stride = space_.array_strides[inner];
  block.offsets = offsets;
  for (int64_t point = begin; point < end; point += block.n) {
    // Divisions for a block, not for a point.
    int64_t rest = point / length;
    const int64_t first = point % length;
    block.n = std::min({kBlock, length - first, end - point});
    block.index = first * block.index_stride;
    block.window = first * block.window_stride;
    block.base = first * block.array_stride;
    for (size_t d = inner; d-- > 0 && rest > 0;) {
      const int64_t at = rest % space_.dims[d];
      rest /= space_.dims[d];
      block.index += at * space_.index_strides[d];
      block.window += at * space_.window_strides[d];
      block.base += at * space_.array_strides[d];
    }
    if (block.base == 0 && block.array_stride == 0) {
      std::memset(offsets, 0, block.n * sizeof(int64_t));
    } else {
      for (int64_t i = 0; i < block.n; ++i) offsets[i] = block.base + i * block.array_stride;
    }
    for (size_t k = 0; k < components_.size(); ++k) {
      if (add_[k] == nullptr) continue;
      const IndexComponent& c = components_[k];
      add_[k](offsets, indices + (block.index + c.index_offset) * index_size_, block.index_stride,
              c.limit, c.stride, block.n);
    }
    fn(block);
  }
}

}  // namespace pjrt::cpu
