// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of planes: neighbouring places share a weight, and a few features share the places
// that are loaded. A tile of sums stays in registers.
#include "src/cpu_device/kernels/gemm_tile-inl.h"
#include "src/cpu_device/kernels/window-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

// Vectors of places by the number of features; with so many sums a register for each is left.
#if defined(__AVX512F__) || defined(__aarch64__)
constexpr int kMaxRows = 8;
constexpr int kVectors[kMaxRows + 1] = {0, 8, 8, 8, 6, 4, 4, 3, 3};
#else
constexpr int kMaxRows = 6;
constexpr int kVectors[kMaxRows + 1] = {0, 8, 5, 4, 3, 2, 2};
#endif

template <typename T, int kRows, int kColumns>
PJRT_INLINE void Tile(T* out, int64_t out_stride, const T* in, const int64_t* offsets,
                      const T* weights, int64_t weight_stride, int64_t taps) {
  using V = typename VectorOf<T>::Type;
  using U = typename VectorOf<T>::Unaligned;
  constexpr int kWidth = kLanes<T>;
  V sums[kRows][kColumns];
  ClearTile(sums);
  for (int64_t t = 0; t < taps; ++t) {
    const T* const x = in + offsets[t];
    const T* const w = weights + t * weight_stride;
    V places[kColumns];
#pragma GCC unroll 8
    for (int v = 0; v < kColumns; ++v) places[v] = *reinterpret_cast<const U*>(x + v * kWidth);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const T weight = w[r];
#pragma GCC unroll 8
      for (int v = 0; v < kColumns; ++v) sums[r][v] += places[v] * weight;
    }
  }
  StoreTile(sums, out, out_stride);
}

template <typename T, int kRows>
void Rows(T* out, int64_t out_stride, const T* in, const int64_t* offsets, const T* weights,
          int64_t weight_stride, int64_t taps, int64_t places) {
  constexpr int kWidth = kLanes<T>, kColumns = kVectors[kRows];
  int64_t j = 0;
  for (; j + kColumns * kWidth <= places; j += kColumns * kWidth)
    Tile<T, kRows, kColumns>(out + j, out_stride, in + j, offsets, weights, weight_stride, taps);
  if constexpr (kColumns > 2) {
    for (; j + 2 * kWidth <= places; j += 2 * kWidth)
      Tile<T, kRows, 2>(out + j, out_stride, in + j, offsets, weights, weight_stride, taps);
  }
  for (; j < places; j += kWidth)
    Tile<T, kRows, 1>(out + j, out_stride, in + j, offsets, weights, weight_stride, taps);
}

template <typename T>
void Convolve(void* out, int64_t out_stride, const void* in, const int64_t* offsets,
              const void* weights, int64_t weight_stride, int64_t taps, int rows, int64_t places) {
  using Fn = void (*)(T*, int64_t, const T*, const int64_t*, const T*, int64_t, int64_t, int64_t);
  static constexpr Fn kFn[] = {
    Rows<T, 1>,
    Rows<T, 2>,
    Rows<T, 3>,
    Rows<T, 4>,
    Rows<T, 5>,
    Rows<T, 6>,
#if defined(__AVX512F__) || defined(__aarch64__)
    Rows<T, 7>,
    Rows<T, 8>,
#endif
  };
  kFn[rows - 1](static_cast<T*>(out), out_stride, static_cast<const T*>(in), offsets,
                static_cast<const T*>(weights), weight_stride, taps, places);
}

}  // namespace

void FillPlaneConvolutions(WindowKernels* kernels) {
  ForEachProductType([&](CType type, auto zero) {
    kernels->plane_conv[static_cast<int>(type)] = Convolve<decltype(zero)>;
  });
  kernels->plane_rows = kMaxRows;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
