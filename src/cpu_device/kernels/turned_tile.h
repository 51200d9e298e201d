// SPDX-License-Identifier: Apache-2.0
//
// A box of elements, small enough for the first caches, whose dims change their order.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_TURNED_TILE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_TURNED_TILE_H_

#include <cstdint>

namespace pjrt::cpu {

// Matrices whose rows are contiguous in src and whose columns are contiguous in dst, wherever they
// begin: element c of row r goes from src + src_at + row_at[r] + c elements to dst + dst_at +
// col_at[c] + r elements. Offsets in bytes; counts are positive. Bytes may be elements of
// `together` bytes, 3, 5, 6 or 7; it is 1 where they are not, and for elements of other sizes.
struct TurnedTile {
  struct Matrix {
    int32_t src_at, dst_at;
  };
  // Two to four columns of elements of up to 4 bytes, equally far apart in dst: rows come in groups
  // of so many that follow each other in src without gaps. 0 for any other tile.
  int64_t group;
  const int32_t* row_at;
  const int32_t* col_at;
  const Matrix* matrices;
  int64_t rows, cols, num_matrices, together;
  // Lines that are read after this, bytes from `next`.
  const int64_t* lines;
  int64_t num_lines;
  const char* next;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_TURNED_TILE_H_
