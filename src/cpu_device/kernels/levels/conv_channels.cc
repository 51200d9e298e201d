// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of channels by themselves. Neighbouring places share the weights that are loaded, as
// many of them as leave the accumulators in registers.
#include "src/cpu_device/kernels/gemm_tile-inl.h"
#include "src/cpu_device/kernels/window-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

constexpr int kPlaces = 4;

template <typename T, int kRows, int kVectors>
PJRT_INLINE void Tile(T* out, int64_t out_stride, const T* in, int64_t in_stride,
                      const int64_t* offsets, const T* weights, int64_t weight_stride,
                      int64_t taps) {
  using V = typename VectorOf<T>::Type;
  using U = typename VectorOf<T>::Unaligned;
  constexpr int kWidth = kLanes<T>;
  V sums[kRows][kVectors];
  ClearTile(sums);
  for (int64_t t = 0; t < taps; ++t) {
    const T* const w = weights + t * weight_stride;
    const T* const x = in + offsets[t];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) {
      const V weight = *reinterpret_cast<const U*>(w + v * kWidth);
#pragma GCC unroll 4
      for (int p = 0; p < kRows; ++p)
        sums[p][v] += *reinterpret_cast<const U*>(x + p * in_stride + v * kWidth) * weight;
    }
  }
  StoreTile(sums, out, out_stride);
}

template <typename T, int kRows>
void Rows(T* out, int64_t out_stride, const T* in, int64_t in_stride, const int64_t* offsets,
          const T* weights, int64_t weight_stride, int64_t taps, int64_t lanes) {
  constexpr int kWidth = kLanes<T>;
  int64_t j = 0;
  for (; j + 2 * kWidth <= lanes; j += 2 * kWidth)
    Tile<T, kRows, 2>(out + j, out_stride, in + j, in_stride, offsets, weights + j, weight_stride,
                      taps);
  for (; j < lanes; j += kWidth)
    Tile<T, kRows, 1>(out + j, out_stride, in + j, in_stride, offsets, weights + j, weight_stride,
                      taps);
}

template <typename T>
void Convolve(void* out, int64_t out_stride, const void* in, int64_t in_stride,
              const int64_t* offsets, const void* weights, int64_t weight_stride, int64_t taps,
              int64_t places, int64_t lanes) {
  T* d = static_cast<T*>(out);
  const T* s = static_cast<const T*>(in);
  const T* const w = static_cast<const T*>(weights);
  for (; places >= kPlaces; places -= kPlaces) {
    Rows<T, kPlaces>(d, out_stride, s, in_stride, offsets, w, weight_stride, taps, lanes);
    d += kPlaces * out_stride;
    s += kPlaces * in_stride;
  }
  for (; places > 0; --places) {
    Rows<T, 1>(d, out_stride, s, in_stride, offsets, w, weight_stride, taps, lanes);
    d += out_stride;
    s += in_stride;
  }
}

}  // namespace

void FillChannelConvolutions(WindowKernels* kernels) {
  ForEachProductType([&](CType type, auto zero) {
    kernels->channel_conv[static_cast<int>(type)] = Convolve<decltype(zero)>;
    kernels->channel_lanes[static_cast<int>(type)] = kLanes<decltype(zero)>;
  });
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
