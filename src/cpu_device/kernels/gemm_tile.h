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

struct GemmTile {
  GemmTileFn fn = nullptr;  // null: no products in this type
  int mr = 0;               // rows of a panel of A
  int nr = 0;               // columns of a panel of B
};

struct GemmKernels {
  GemmTile tile[kNumCTypes];
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_GEMM_TILE_H_
