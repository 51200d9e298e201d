// SPDX-License-Identifier: Apache-2.0
//
// Large boxes whose innermost dims differ between source and target, copied tile by tile.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_TURNED_TILES_H_
#define PJRT_SRC_CPU_DEVICE_RUN_TURNED_TILES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/turned_tile.h"

namespace pjrt::cpu {

// A tile is what a run of the source and a run of the target reach. It is brought to a buffer by
// runs of the source, turned to another one, and written by runs of the target, all of it by
// one call of a kernel, which reads the next tile meanwhile. Tiles follow each other along a run of
// the target where they can, so that the lines in which one ends are written once. Immutable; any
// number of threads may run it at once.
class TurnedTiles {
 public:
  struct Dim {
    int64_t size, from, to;  // strides in bytes
  };
  using DimList = absl::InlinedVector<Dim, 6>;

  // Sizes are over 1. A dim of the source has the stride `size`, the bytes of an element, up to
  // 16, and another one of the target. Streamed ones are written past the caches. `kernels` must
  // outlive the tiles.
  TurnedTiles(const DimList& dims, int size, bool is_streamed, const BlockKernels& kernels);

  int64_t num_tiles() const { return num_tiles_; }
  int64_t tile_bytes() const { return tile_bytes_; }
  // True for streamed tiles of small elements that are tall matrices, each of whose columns becomes
  // a piece of a row of the target: the quickest.
  bool by_columns() const { return by_columns_; }
  // Copies tiles, and leaves a stream open.
  void Run(int64_t begin, int64_t end, const char* from, char* to) const;
  std::string Describe() const;

 private:
  using Sizes = absl::InlinedVector<int64_t, 6>;  // by dim
  using Order = absl::InlinedVector<size_t, 6>;   // dims, innermost first
  // How a tile stands in one of the arrays and in its buffer: rows that are a loop with strides
  // around each of some places.
  struct Side {
    int64_t bytes = 0, rows = 1, stride = 0;
    int64_t pitch = 0;  // bytes from row to row of the buffer
    int64_t buffer_bytes = 0;
    std::vector<TurnedShape::Place> places;
    Order run;      // dims of a row
    Sizes strides;  // of all dims, in the buffer
  };
  // What is done for tiles of one shape.
  struct Shape {
    Side from, to;
    int64_t group = 0;  // as a TurnedShape has it
    std::vector<int32_t> row_at, col_at;
    std::vector<TurnedShape::Matrix> matrices;
    std::vector<TurnedShape::Run> runs;  // of the source
    bool is_one_run = false;
    std::vector<int64_t> columns;  // in the target, if tiles are streamed by columns
    // What is shuffled, if anything.
    int64_t num_blocks = 0, at_once = 0, block_from = 0, block_to = 0;
    std::vector<TurnedShape::Shuffle> shuffles;
    std::vector<TurnedShape::Matrix> blocks;
  };
  TurnedShape ViewOf(const Shape& shape) const;

  Sizes TileFor(const DimList& dims, int64_t from_run, int64_t to_run) const;
  int64_t BytesOf(const Sizes& sizes) const;
  void MakeShapes(const DimList& dims, const Sizes& tile);
  void MakeLoops(const DimList& dims, const Sizes& tile);
  Side SideOf(const DimList& dims, int64_t Dim::*stride, const Sizes& tile,
              const Sizes& sizes) const;
  Shape ShapeOf(const DimList& dims, const Sizes& tile, const Sizes& sizes) const;
  void FindMatrices(const Sizes& sizes, Shape* shape) const;
  int64_t GroupOf(const Sizes& sizes, const Shape& shape) const;
  void FindBlocks(const Sizes& tile, const Sizes& sizes, Shape* shape) const;
  void FindFew(const Sizes& sizes, Shape* shape) const;
  void Shuffle(const std::vector<int64_t>& source, int64_t to, Shape* shape) const;

  // In turned_columns.cc. False: tiles are not streamed by columns.
  bool TakeColumns(const DimList& dims);
  bool SplitTile(const DimList& dims, const Sizes& tile);
  Sizes LeastOf(const DimList& dims, const Sizes& tile) const;
  void LeaveEnough(const DimList& dims, const Order& order, int64_t bytes, Sizes* tile) const;
  bool ColumnsAreLines(const DimList& dims, const Sizes& tile) const;
  int64_t BytesOf(const Order& order, const Sizes& sizes) const;
  void FindColumns(const DimList& dims, const Sizes& sizes, Shape* shape) const;

  const BlockKernels* kernels_;
  int size_;
  bool is_streamed_;
  // As a TurnedShape has them, and the dims of rows and columns, innermost first.
  bool by_columns_ = false, stays_ = false, are_lines_ = false;
  Order rows_, cols_;
  int64_t num_tiles_ = 1, tile_bytes_;
  DimList outer_;         // the loops around a tile, outermost first
  bool carries_ = false;  // the last of them goes along rows of the target
  // The whole tile, then that at the end of the first dim that tiles do not divide, of the second,
  // and of both.
  std::vector<Shape> shapes_;
  struct End {
    size_t place, dim;  // among outer_; among the dims
  };
  absl::InlinedVector<End, 2> ends_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_TURNED_TILES_H_
