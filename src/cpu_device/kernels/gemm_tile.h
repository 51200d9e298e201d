// SPDX-License-Identifier: Apache-2.0
//
// The innermost kernels of matrix products, one a compute type, and the table of them that a kernel
// level has.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TILE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TILE_H_

#include <cstdint>

#include "src/cpu_device/kernels/block_ops.h"

namespace pjrt::cpu {

// Multiplies a packed panel of A by a panel of B: tile[i][j] = sum over p < k of a[p *
// rows_of_panel + i] * b[p * b_stride + j], for i < rows, j < nr. Sums are made in order of p, then
// added to the tile if `accumulate`, else stored. Strides in elements. Reads and writes `nr`
// columns always.
using GemmTileFn = void (*)(int64_t k, const void* a, const void* b, int64_t b_stride, void* tile,
                            int64_t tile_stride, int rows, bool accumulate);

// The same for rows of A where they lie: element (row i, p) at a[i * a_row_stride + p].
using GemmRowTileFn = void (*)(int64_t k, const void* a, int64_t a_row_stride, const void* b,
                               int64_t b_stride, void* tile, int64_t tile_stride, int rows,
                               bool accumulate);

// Packs `lines` rows of A (or columns of B) by `depth` for a tile whose elements are groups of
// small numbers: element (line i, p) of `from` stands at i * line_stride + p * p_stride. Group q
// of line i, four bytes, goes to panel[q * width + i]; what is beyond `lines` and `depth` is zero,
// or has a zero in the other operand.
using GemmPackFn = void (*)(void* panel, const void* from, int64_t line_stride, int64_t p_stride,
                            int64_t lines, int64_t depth, int64_t width);

struct GemmTile {
  GemmTileFn fn = nullptr;  // null: no products in this type
  int mr = 0;               // rows of a panel of A
  int nr = 0;               // columns of a panel of B
  // Tiles of small types: an element of a panel is a group of so many along the inner dimension,
  // and k counts groups. Behind a packed panel stand so many rows more, which only the tile's
  // functions understand.
  int group = 1;
  int extra_a = 0, extra_b = 0;
  GemmPackFn pack_a = nullptr, pack_b = nullptr;  // null when group is 1
  // For the same panels of A and B, the first nr / 2 columns alone; and for rows of A in place, nr
  // columns and nr / 2. Null where a type has none. All make the same sums.
  GemmTileFn half = nullptr;
  GemmRowTileFn in_place = nullptr, half_in_place = nullptr;
};

// The operands of tiles of small integers; sums are of 32 bits and wrap.
enum class SmallInt : uint8_t { kS8, kU8, kS16 };
inline constexpr int kNumSmallInts = 3;

// A few rows times a matrix: c[i][j] (+)= sum over p < k of a[i][p] * b[p][j], for as many rows i
// as the function's place in GemmRowKernels says, and j < n. Rows of a and of b are contiguous;
// strides in elements. The order of a sum depends on the arguments but `c`, `a` and `b` alone.
using GemmRowsFn = void (*)(void* c, int64_t c_stride, const void* a, int64_t a_stride,
                            const void* b, int64_t b_stride, int64_t k, int64_t n, bool accumulate);
// One row times a matrix whose columns are contiguous: c[j] (+)= sum over p < k of a[p] * b[j *
// b_stride + p]. The order of the sum depends on k alone.
using GemmLinesFn = void (*)(void* c, const void* a, const void* b, int64_t b_stride, int64_t k,
                             int64_t n, bool accumulate);
struct GemmRowKernels {
  static constexpr int kMaxRows = 4;
  GemmRowsFn rows[kMaxRows] = {};  // for 1, 2, ... rows; null: not in this type
  GemmLinesFn lines = nullptr;
};

struct GemmKernels {
  GemmTile tile[kNumCTypes];
  GemmTile small[kNumSmallInts][kNumSmallInts];  // of A, of B
  GemmTile bf16;                                 // of two bf16 operands, summed in f32; may be null
  GemmRowKernels rows[kNumCTypes];
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TILE_H_
