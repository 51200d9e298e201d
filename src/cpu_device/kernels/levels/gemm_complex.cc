// SPDX-License-Identifier: Apache-2.0
//
// Tiles of complex types, and the level's table of tiles.
#include "src/cpu_device/kernels/gemm_tile-inl.h"
#include "src/cpu_device/kernels/level_tables.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

#if defined(__AVX512F__)
constexpr int kMr = 6;
#else
constexpr int kMr = 3;
#endif
constexpr int kVectors = 2;

template <typename R, int kRows>
void Rows(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
          int64_t tile_stride, bool accumulate) {
  RunComplexTile<R, kRows, kMr, kVectors>(k, static_cast<const R*>(a), static_cast<const R*>(b),
                                          b_stride, static_cast<R*>(tile), tile_stride, accumulate);
}

template <typename R>
void Tile(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
          int64_t tile_stride, int rows, bool accumulate) {
  using Fn = void (*)(int64_t, const void*, const void*, int64_t, void*, int64_t, bool);
  static constexpr Fn kRows[kMr] = {
    Rows<R, 1>,
    Rows<R, 2>,
    Rows<R, 3>,
#if defined(__AVX512F__)
    Rows<R, 4>,
    Rows<R, 5>,
    Rows<R, 6>,
#endif
  };
  kRows[rows - 1](k, a, b, b_stride, tile, tile_stride, accumulate);
}

template <typename R>
void Set(GemmKernels* kernels) {
  kernels->tile[static_cast<int>(kCType<Complex<R>>)] = {Tile<R>, kMr, kVectors * kLanes<R> / 2};
}

}  // namespace

void FillComplexTiles(GemmKernels* kernels) {
  Set<float>(kernels);
  Set<double>(kernels);
}

const GemmKernels* GetGemmKernels() {
  static const GemmKernels kernels = [] {
    GemmKernels k;
    FillRealTiles(&k);
    FillComplexTiles(&k);
    FillSmallIntTiles(&k);
    FillBf16Tiles(&k);
    FillRowKernels(&k);
    FillTinyKernels(&k);
    return k;
  }();
  return &kernels;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
