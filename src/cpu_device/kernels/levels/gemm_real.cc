// SPDX-License-Identifier: Apache-2.0
//
// Tiles of real types. Floats fill the register file: 16 registers hold 6 x 2 accumulators (4 x 2
// with SSE, whose multiply and add need a register more), AVX-512's 32 hold 14 x 2.
#include "src/cpu_device/kernels/gemm_tile-inl.h"
#include "src/cpu_device/kernels/level_tables.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int kMr = 14;
#elif defined(__AVX__)
constexpr int kMr = 6;
#else
constexpr int kMr = 4;
#endif
constexpr int kVectors = 2;

template <typename T, int kRows>
void Rows(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
          int64_t tile_stride, bool accumulate) {
  RunTile<T, kRows, kMr, kVectors>(k, static_cast<const T*>(a), static_cast<const T*>(b), b_stride,
                                   static_cast<T*>(tile), tile_stride, accumulate);
}

template <typename T>
void Tile(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
          int64_t tile_stride, int rows, bool accumulate) {
  using Fn = void (*)(int64_t, const void*, const void*, int64_t, void*, int64_t, bool);
  static constexpr Fn kRows[kMr] = {
    Rows<T, 1>,
    Rows<T, 2>,
    Rows<T, 3>,
    Rows<T, 4>,
#if defined(__AVX__)
    Rows<T, 5>,
    Rows<T, 6>,
#endif
#if defined(__AVX512F__)
    Rows<T, 7>,
    Rows<T, 8>,
    Rows<T, 9>,
    Rows<T, 10>,
    Rows<T, 11>,
    Rows<T, 12>,
    Rows<T, 13>,
    Rows<T, 14>,
#endif
  };
  kRows[rows - 1](k, a, b, b_stride, tile, tile_stride, accumulate);
}

template <typename T>
void Set(GemmKernels* kernels) {
  kernels->tile[static_cast<int>(kCType<T>)] = {Tile<T>, kMr, kVectors * kLanes<T>};
}

}  // namespace

void FillRealTiles(GemmKernels* kernels) {
  Set<float>(kernels);
  Set<double>(kernels);
  Set<int32_t>(kernels);
  Set<uint32_t>(kernels);
  Set<int64_t>(kernels);
  Set<uint64_t>(kernels);
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
