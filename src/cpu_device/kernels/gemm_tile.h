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

// A group of tiny products whose operands and results fit into two vectors each. Lane l of the
// result is the sum over p < k of a[a_lane[p][l]] * b[b_lane[p][l]], in order of p; a group's
// operands are read, and its results written, as one run of elements.
struct GemmTinyGroup {
  static constexpr int kMaxLanes = 32;  // of two vectors
  static constexpr int kMaxK = 16;
  int k = 0;
  int entries = 0;                                // products in a group
  int64_t a_step = 0, b_step = 0, c_step = 0;     // elements from an entry to the next
  int64_t a_count = 0, b_count = 0, c_count = 0;  // elements that an entry spans
  uint8_t a_lane[kMaxK][kMaxLanes] = {}, b_lane[kMaxK][kMaxLanes] = {};
};
// Entries from the given ones on, so many.
using GemmTinyFn = void (*)(void* c, const void* a, const void* b, const GemmTinyGroup& group,
                            int64_t entries);
struct GemmTinyKernel {
  GemmTinyFn fn = nullptr;  // null: not in this type or at this level
  int lanes = 0;            // of one vector
};

struct GemmKernels {
  GemmTile tile[kNumCTypes];
  GemmTile small[kNumSmallInts][kNumSmallInts];  // of A, of B
  GemmTile bf16;                                 // of two bf16 operands, summed in f32; may be null
  GemmRowKernels rows[kNumCTypes];
  GemmTinyKernel tiny[kNumCTypes];
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TILE_H_
