// SPDX-License-Identifier: Apache-2.0
//
// Kernels of sliding windows: reductions over windows, also those that grow, and convolutions of
// channels by themselves.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_WINDOW_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_WINDOW_H_

#include <cstdint>

#include "src/cpu_device/kernels/block_ops.h"

namespace pjrt::cpu {

// out[i] = rows[0][i] op rows[1][i] op ..., from the left, for i < n; count >= 1. `out` may be
// rows[0]. The bits of an element depend on its operands alone.
using FoldRowsFn = void (*)(void* out, const void* const* rows, int64_t count, int64_t n);

// A window of `taps` elements, tap_stride apart, at places that are place_stride apart; at each
// `inner` elements stand side by side: out[p * inner + i] = init op in[p * place_stride + i] op
// in[p * place_stride + tap_stride + i] op ..., from the left, for p < places, i < inner. Strides
// in elements; `init` is one element, or null to go on from what `out` holds; taps >= 0.
using FoldWindowFn = void (*)(void* out, const void* in, int64_t places, int64_t place_stride,
                              int64_t taps, int64_t tap_stride, int64_t inner, const void* init);

// What a scan writes past the caches; BlockKernels::end_stream comes after.
struct ScanStream {
  // Its results, of which `out` is whole cache lines, where WindowKernels::scans_stream: those of
  // as many lines as a vector has cells.
  bool results = false;
  // And `bytes` from `from` on to the cache lines at `to`, for each of which it asks for one at
  // `next`. They are moved behind what the scan came to.
  char* to = nullptr;
  const char *from = nullptr, *next = nullptr;
  int64_t bytes = 0;
};

// Along lines of n neighbours each element becomes all that was folded up to it: out[l * out_stride
// + i] = running[l] = running[l] op in[l * in_stride + i], for l < lines and i from 0 to n - 1, or
// back from n - 1 to 0. Strides in elements. `out` may be `in` where the strides are equal.
// `stream` may be null.
using ScanRowsFn = void (*)(void* out, int64_t out_stride, const void* in, int64_t in_stride,
                            void* running, int64_t lines, int64_t n, bool is_reverse,
                            ScanStream* stream);

// Channels side by side, each with a window and weights of its own: out[p * out_stride + j] = sum
// over t < taps, in order, of in[p * in_stride + offsets[t] + j] * weights[t * weight_stride + j],
// for p < places, j < lanes. Strides and offsets in elements; lanes is a multiple of
// WindowKernels::channel_lanes.
using ChannelConvFn = void (*)(void* out, int64_t out_stride, const void* in, int64_t in_stride,
                               const int64_t* offsets, const void* weights, int64_t weight_stride,
                               int64_t taps, int64_t places, int64_t lanes);

// Places side by side, with the same weights, for a few features: out[r * out_stride + j] = sum
// over t < taps, in order, of in[offsets[t] + j] * weights[t * weight_stride + r], for r < rows, j
// < places. Strides and offsets in elements; places is a multiple of WindowKernels::channel_lanes,
// rows at least 1 and at most WindowKernels::plane_rows.
using PlaneConvFn = void (*)(void* out, int64_t out_stride, const void* in, const int64_t* offsets,
                             const void* weights, int64_t weight_stride, int64_t taps, int rows,
                             int64_t places);

// One kernel level's functions; null where there is none.
struct WindowKernels {
  FoldRowsFn fold_rows[kNumMonoids][kNumCTypes];
  FoldWindowFn fold_window[kNumMonoids][kNumCTypes];
  ScanRowsFn scan_rows[kNumMonoids][kNumCTypes];  // types of 4 and 8 bytes that are not complex
  // Of elements as they lie in memory, where `running` is f32: rounded after each operation.
  ScanRowsFn scan_bf16_rows[kNumMonoids];
  ScanRowsFn scan_f16_rows[kNumMonoids];
  bool scans_stream;  // whether a vector is a cache line, so that they can write past the caches
  BlockFn fold_bf16[kNumMonoids];  // the same for one operation on each of n elements
  BlockFn fold_f16[kNumMonoids];
  ChannelConvFn channel_conv[kNumCTypes];  // f32, f64 and integers of 32 and 64 bits
  int channel_lanes[kNumCTypes];
  PlaneConvFn plane_conv[kNumCTypes];  // of the same types
  int plane_rows;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_WINDOW_H_
