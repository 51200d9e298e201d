// SPDX-License-Identifier: Apache-2.0
//
// Kernels of gather and scatter: a block of index vectors becomes a block of offsets, and elements
// or rows are then moved or combined at those offsets.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_INDEX_OPS_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_INDEX_OPS_H_

#include <cstdint>

#include "src/cpu_device/kernels/block_ops.h"

namespace pjrt::cpu {

// The integers that indices are, as they lie in memory.
enum class IndexType : uint8_t { kS8, kU8, kS16, kU16, kS32, kU32, kS64, kU64 };
inline constexpr int kNumIndexTypes = 8;

// Adds what one component of n index vectors contributes: index[i * index_stride] * step. Clamped
// kernels take an index between 0 and limit; checked ones leave -1 where the offset was negative
// already, or the index is below 0 or above limit. limit >= 0.
using AddIndexFn = void (*)(int64_t* offsets, const void* index, int64_t index_stride,
                            int64_t limit, int64_t step, int64_t n);

// dst[i * dst_stride] = src[offsets[i]], strides and offsets in elements.
using GatherPointsFn = void (*)(void* dst, int64_t dst_stride, const void* src,
                                const int64_t* offsets, int64_t n);
// The row of `bytes` at dst + i * dst_stride is that at src + offsets[i] * size; dst_stride in
// bytes.
using GatherRowsFn = void (*)(void* dst, int64_t dst_stride, const void* src,
                              const int64_t* offsets, int64_t size, int64_t bytes, int64_t n);
// For each i in order whose offset is not negative: row i of the updates, `length` elements at
// updates + i * update_stride, goes into the row at dst + offsets[i] (all in elements), replacing
// what is there or combined with it: dst[k] = op(dst[k], update[k]).
using ScatterRowsFn = void (*)(void* dst, const int64_t* offsets, const void* updates,
                               int64_t update_stride, int64_t length, int64_t n);

struct IndexKernels {
  AddIndexFn add_clamped[kNumIndexTypes];
  AddIndexFn add_checked[kNumIndexTypes];
  GatherPointsFn gather_points[5];  // by log2 of the element size
  GatherRowsFn gather_rows;
  GatherRowsFn stream_gather_rows;  // for results much larger than the caches
  ScatterRowsFn replace_rows[5];
  // Null for combinations that StableHLO does not have.
  ScatterRowsFn combine_rows[kNumMonoids][kNumCTypes];
  // The same in memory types that compute in f32.
  ScatterRowsFn combine_bf16_rows[kNumMonoids], combine_f16_rows[kNumMonoids];
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_INDEX_OPS_H_
