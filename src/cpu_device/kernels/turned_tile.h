// SPDX-License-Identifier: Apache-2.0
//
// A box of elements, small enough for the first caches, whose dims change their order.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_TURNED_TILE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_TURNED_TILE_H_

#include <cstdint>

namespace pjrt::cpu {

// What tiles have in common. They are read to a buffer, turned to another one, and written from
// there; or turned column by column. Offsets and strides in bytes; counts are positive.
struct TurnedShape {
  // Read: runs of bytes of the source.
  struct Run {
    int64_t at;
    int32_t buffer_at, bytes;
  };
  const Run* runs;
  int64_t num_runs;
  bool is_one_run;  // all that is read, in order
  bool stays;       // not read: what is turned is the source itself

  // Turned: matrices whose rows are contiguous in one buffer and whose columns are in the other,
  // wherever they begin. Element c of row r goes from src_at + row_at[r] + c elements to dst_at +
  // col_at[c] + r elements. Bytes may be elements of `together` bytes, up to 15 other than powers
  // of two; it is 1 where they are not, and for elements of other sizes.
  struct Matrix {
    int32_t src_at, dst_at;
  };
  const Matrix* matrices;
  const int32_t* row_at;
  const int32_t* col_at;
  int64_t num_matrices, rows, cols, together;
  // Two to four columns of elements of up to 7 bytes, equally far apart in dst: rows come in groups
  // of so many, 16 bytes of a column at least, that follow each other in src without gaps. 0 for
  // any other shape.
  int64_t group;
  // Shuffled, where num_shuffles is not 0: `num_blocks` blocks, block_from bytes apart in src and
  // block_to in dst, each of which stays together, at each place of `blocks`. Vectors of
  // shuffle_bytes of at_once blocks are put together by steps, up to the one that ends each. What
  // is stored behind a block is where the next one goes.
  struct Shuffle {
    alignas(64) uint8_t places[64];  // of bytes behind `from`; 128 for those of other steps
    uint64_t used;                   // bits of those that are of this step
    int32_t from, to;                // to: of the vector
    bool ends;
  };
  int64_t shuffle_bytes, num_shuffles, num_blocks, at_once, block_from, block_to;
  const Shuffle* shuffles;
  const Matrix* blocks;
  int64_t num_block_places;

  // Turned and streamed by columns, where not null: column c of the one matrix, which is not
  // shuffled, is a row of the target that begins at columns[c] and has to_bytes, 64 to
  // kColumnBytes. There are at least as many columns as have 16 bytes, and at most kMostColumns.
  static constexpr int64_t kColumnBytes = 256, kMostColumns = 1024;
  const int64_t* columns;
  bool are_lines;  // if the target begins with a line, so does each column, and has whole ones

  // Written: rows of `to_bytes` bytes, to_rows of them at each place; past the caches if
  // is_streamed.
  bool is_streamed;
  struct Place {
    int64_t at, buffer_at;
  };
  const Place* places;
  int64_t num_places, to_rows, to_stride, to_pitch, to_bytes;
};

struct TurnedTile {
  const TurnedShape* shape = nullptr;  // null for no tile
  const char* from = nullptr;
  char* to = nullptr;
  // Of the rows that are written. Those that a tile does not end are ended by the tiles after it,
  // which have the same places of the buffer, or the same columns, and do not begin them. Pieces of
  // rows that are not whole have 64 bytes at least, except the last.
  bool begins = false, ends = false;
};

// What a thread keeps from one tile to the next: some 360 KB.
struct TurnScratch {
  // What a buffer holds, and what is read behind it.
  static constexpr int64_t kBufferBytes = 120 * 1024, kSlack = 64;

  alignas(64) char source[2][kBufferBytes + kSlack];
  // With what is carried before the first row, and what is written behind the last one.
  alignas(64) char target[64 + kBufferBytes + kSlack];
  const char* read = nullptr;  // the next tile: in `source` or where it was; null if it is not read
  int current = 0;             // what of `source` is read to next
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_TURNED_TILE_H_
