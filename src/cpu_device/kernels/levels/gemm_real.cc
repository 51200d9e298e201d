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

template <typename T, int kRows, int kColumns>
void Rows(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
          int64_t tile_stride, bool accumulate) {
  RunTile<T, kRows, kMr, kColumns>(k, static_cast<const T*>(a), static_cast<const T*>(b), b_stride,
                                   static_cast<T*>(tile), tile_stride, accumulate);
}

template <typename T, int kRows, int kColumns>
void RowsInPlace(int64_t k, const void* a, int64_t a_row_stride, const void* b, int64_t b_stride,
                 void* tile, int64_t tile_stride, bool accumulate) {
  RunRowTile<T, kRows, kColumns>(k, static_cast<const T*>(a), a_row_stride,
                                 static_cast<const T*>(b), b_stride, static_cast<T*>(tile),
                                 tile_stride, accumulate);
}

// A list of kFn<T, 1, kColumns>, ... kFn<T, kMr, kColumns>.
#if defined(__AVX512F__)
#define PJRT_EACH_ROW_COUNT(fn, columns)                                                         \
  fn<T, 1, columns>, fn<T, 2, columns>, fn<T, 3, columns>, fn<T, 4, columns>, fn<T, 5, columns>, \
      fn<T, 6, columns>, fn<T, 7, columns>, fn<T, 8, columns>, fn<T, 9, columns>,                \
      fn<T, 10, columns>, fn<T, 11, columns>, fn<T, 12, columns>, fn<T, 13, columns>,            \
      fn<T, 14, columns>
#elif defined(__AVX__)
#define PJRT_EACH_ROW_COUNT(fn, columns)                                                         \
  fn<T, 1, columns>, fn<T, 2, columns>, fn<T, 3, columns>, fn<T, 4, columns>, fn<T, 5, columns>, \
      fn<T, 6, columns>
#else
#define PJRT_EACH_ROW_COUNT(fn, columns) \
  fn<T, 1, columns>, fn<T, 2, columns>, fn<T, 3, columns>, fn<T, 4, columns>
#endif

template <typename T, int kColumns>
void Tile(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
          int64_t tile_stride, int rows, bool accumulate) {
  using Fn = void (*)(int64_t, const void*, const void*, int64_t, void*, int64_t, bool);
  static constexpr Fn kRows[kMr] = {PJRT_EACH_ROW_COUNT(Rows, kColumns)};
  kRows[rows - 1](k, a, b, b_stride, tile, tile_stride, accumulate);
}

template <typename T, int kColumns>
void RowTile(int64_t k, const void* a, int64_t a_row_stride, const void* b, int64_t b_stride,
             void* tile, int64_t tile_stride, int rows, bool accumulate) {
  using Fn = void (*)(int64_t, const void*, int64_t, const void*, int64_t, void*, int64_t, bool);
  static constexpr Fn kRows[kMr] = {PJRT_EACH_ROW_COUNT(RowsInPlace, kColumns)};
  kRows[rows - 1](k, a, a_row_stride, b, b_stride, tile, tile_stride, accumulate);
}

template <typename T>
void Set(GemmKernels* kernels, CType type) {
  GemmTile& tile = kernels->tile[static_cast<int>(type)];
  tile.fn = Tile<T, kVectors>;
  tile.mr = kMr;
  tile.nr = kVectors * kLanes<T>;
  // Rare types do without.
  if constexpr (std::is_floating_point_v<T>) {
    tile.half = Tile<T, kVectors / 2>;
    tile.in_place = RowTile<T, kVectors>;
    tile.half_in_place = RowTile<T, kVectors / 2>;
  }
}

}  // namespace

void FillRealTiles(GemmKernels* kernels) {
  ForEachProductType([&](CType type, auto zero) { Set<decltype(zero)>(kernels, type); });
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
