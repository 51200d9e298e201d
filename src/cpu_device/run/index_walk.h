// SPDX-License-Identifier: Apache-2.0
//
// The walk over the index vectors of gather and scatter: where in the indexed array each one
// points, a block of vectors at a time.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_INDEX_WALK_H_
#define PJRT_SRC_CPU_DEVICE_RUN_INDEX_WALK_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/index_ops.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// The points of an index space (the batch dims of gather and scatter), with where each stands in
// several arrays. Points are numbered in row-major order.
struct IndexSpace {
  Dims dims;
  Dims index_strides;   // in the array of indices
  Dims window_strides;  // in the array that holds the windows: gather's result, scatter's updates
  Dims array_strides;   // in the array that is indexed: of batching dims, 0 for others
};

// One component of an index vector.
struct IndexComponent {
  int64_t index_offset = 0;  // where it stands from the vector's first component, in elements
  int64_t limit = 0;         // the largest start at which the window lies within the array
  int64_t stride = 0;        // of the array's dim
};

class IndexWalk {
 public:
  // What becomes of an index outside of [0, limit].
  enum Bounds : uint8_t {
    kClamp,  // it is moved to the nearest that is inside
    kCheck,  // the vector's offset is -1
  };

  // `index_type` is an integer type (or PRED); `kernels` must outlive the walk.
  IndexWalk(IndexSpace space, std::vector<IndexComponent> components, PrimitiveType index_type,
            Bounds bounds, const IndexKernels& kernels);

  int64_t num_points() const { return num_points_; }
  const std::vector<IndexComponent>& components() const { return components_; }
  PrimitiveType index_type() const { return index_type_; }

  static constexpr int64_t kBlock = 512;  // points that a Block has at most

  // Some points next to each other. Point i < n has its index vector at index + i * index_stride
  // (elements of the array of indices), its window at window + i * window_stride (elements of the
  // windows' array), and points to `offsets[i]`, in elements of the indexed array; `base` and
  // `array_stride` are the part of it that batching dims give.
  struct Block {
    int64_t n = 0;
    int64_t index = 0, index_stride = 0;
    int64_t window = 0, window_stride = 0;
    int64_t base = 0, array_stride = 0;
    const int64_t* offsets = nullptr;
  };
  // Calls fn on blocks that cover points [begin, end), in order. `indices`: the first index vector.
  void ForEachBlock(const char* indices, int64_t begin, int64_t end,
                    absl::FunctionRef<void(const Block&)> fn) const;

 private:
  IndexSpace space_;
  std::vector<IndexComponent> components_;
  std::vector<AddIndexFn> add_;  // by component
  PrimitiveType index_type_;
  int64_t index_size_;
  int64_t num_points_ = 1;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_INDEX_WALK_H_
