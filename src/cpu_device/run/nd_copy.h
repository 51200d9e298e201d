// SPDX-License-Identifier: Apache-2.0
//
// Copies an n-dimensional box of elements between two strided arrays: transposes, slices,
// reversals, pieces of concatenations, gathered windows.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_ND_COPY_H_
#define PJRT_SRC_CPU_DEVICE_RUN_ND_COPY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/run/turned_tiles.h"

namespace pjrt::cpu {

class Team;

// A box with its walk fixed. Dims of size 1 are dropped and dims that both sides walk as one are
// merged, in whatever order suits; what is left is a two-dimensional piece that one kernel copies,
// inside of loops over the other dims. Immutable; any number of threads may run it at once.
class NdCopy {
 public:
  NdCopy() = default;
  // Strides in elements of `element_size` bytes: 1, 2, 4, 8 or 16. They may be negative, and 0 in
  // `from`. `kernels` must outlive the copy.
  NdCopy(absl::Span<const int64_t> dims, absl::Span<const int64_t> from_strides,
         absl::Span<const int64_t> to_strides, int element_size, const BlockKernels& kernels);

  // Copies the box whose elements of lowest index stand at `from` and `to`. The two must not
  // overlap.
  void Run(const char* from, char* to) const;
  // The same, shared by `team`, which may be null, where the box is large.
  void Run(const char* from, char* to, Team* team) const;

  // A large box falls into units that may be copied in any order and at the same time.
  int64_t num_units() const { return units_; }
  void RunUnit(int64_t unit, const char* from, char* to) const;

  int64_t bytes() const { return count_ * element_size_; }
  int64_t count() const { return count_; }
  // True when the box is one run of contiguous bytes on both sides.
  bool is_contiguous() const {
    return pattern_ == kRows && outer_.empty() &&
           (rows_ == 1 || (from_row_ == inner_ && to_row_ == inner_));
  }
  // Estimated time of Run on one thread.
  double cost_ns() const;
  // Calls fn(from_offset, to_offset), in elements, for each element of the box, for callers that do
  // something else than copy.
  template <typename Fn>
  void ForEachElement(Fn fn) const;
  // How it is copied, for people: "rows of 256 bytes".
  std::string Describe() const;

 private:
  enum Pattern : uint8_t {
    kRows,       // rows of `inner_` contiguous bytes (size_ is 1)
    kTranspose,  // the source is contiguous along the rows' dim, the target along the inner one
    kStrided,    // elements apart on one side or both
    kStaged,     // tiles of rows put together in a buffer, and written from there
    kTurned,     // tiles turned between two buffers
  };
  using Dim = TurnedTiles::Dim;
  using DimList = TurnedTiles::DimList;

  // Rows of so many bytes are transposed in registers.
  static constexpr int64_t kShortestTurned = 3, kLongestTurned = 7;
  static constexpr int64_t kStageBytes = 64 * 1024;

  // nd_copy_plan.cc
  void Plan(DimList walked);
  void ChoosePattern(DimList dims);
  bool HasShortRowsApart(int64_t limit) const;
  bool IsScattered() const;
  bool Collides() const;
  bool HasSmallBlocks() const;
  bool IsStaged() const;
  bool IsWide() const;
  void LetRowsGoOn();
  DimList TileOf(const DimList& dims) const;
  int64_t BytesOf(const DimList& dims) const;
  TurnedTiles MakeTurnedTiles() const;
  void Turn(TurnedTiles tiles);
  void MakeStages();
  void FindLines(DimList tile);
  NdCopy Stage(const DimList& dims, bool is_streamed) const;
  void MakeTiles();
  void SplitIntoUnits();

  void RunUnits(int64_t begin, int64_t end, const char* from, char* to) const;
  // Pieces, by what the pattern asks for; the stream is left open.
  void RunRange(int64_t begin, int64_t end, const char* from, char* to) const;
  void RunPieces(int64_t begin, int64_t end, const char* from, char* to) const;
  void RunMatrices(int64_t begin, int64_t end, const char* from, char* to) const;
  void RunStages(int64_t begin, int64_t end, const char* from, char* to) const;
  // Of what is transposed next the source begins at `next`, which may be null.
  void RunPiece(const char* from, char* to, int64_t part, int64_t tile, const char* next) const;
  void Move(const char* from, char* to, int64_t rows, int64_t inner, const char* next) const;
  // Where the outer loops are, and the first elements there.
  struct Place {
    absl::InlinedVector<int64_t, 6> at;
    const char* from;
    char* to;
  };
  Place PlaceAt(int64_t place, const char* from, char* to) const;
  void Advance(Place* place) const;

  const BlockKernels* kernels_ = nullptr;
  Pattern pattern_ = kRows;
  bool is_streamed_ = false;  // too much for the caches
  int size_ = 1;  // of the elements that are moved: several of the array's when they stay together
  int element_size_ = 1;
  int64_t count_ = 1;  // elements of the arrays
  DimList dims_;       // all that were not merged, outermost first
  DimList outer_;      // the loops around a piece, outermost first; the last one in tiles
  // A piece: rows_ x inner_, strides in bytes.
  int64_t rows_ = 1, from_row_ = 0, to_row_ = 0;
  int64_t inner_ = 1, from_inner_ = 0, to_inner_ = 0;
  // A piece of rows has so many places of a dim that the last loop goes through in such steps.
  Dim tiled_ = {1, 0, 0};
  int64_t tile_ = 1;
  int64_t piece_bytes_ = 64 * 1024;  // what one call of a kernel copies
  // A piece is cut into parts, between its rows or along them; parts of one place are next to each
  // other in the order of pieces.
  bool cut_inner_ = false;
  // Places follow each other first instead: rows of the target go on from place to place.
  bool goes_on_ = false;
  int64_t part_ = 1, parts_ = 1, pieces_ = 1, pieces_per_unit_ = 1, units_ = 1;
  // Tiles are pieces. Each shape of staged ones has two stages, to the buffer and to the target:
  // the whole tile, then that at the end of the first dim that tiles do not divide, of the second,
  // and of both.
  std::vector<NdCopy> stages_;
  struct End {
    size_t place, dim;  // among outer_; among the dims that are tiled
  };
  absl::InlinedVector<End, 2> ends_;
  std::vector<int64_t> lines_;       // what is asked for of a tile, bytes from its first element
  std::vector<TurnedTiles> turned_;  // one, if any
};

template <typename Fn>
void NdCopy::ForEachElement(Fn fn) const {
  for (int64_t i = 0; i < count_; ++i) {
    int64_t rest = i, from = 0, to = 0;
    for (size_t d = dims_.size(); d-- > 0;) {
      const int64_t at = rest % dims_[d].size;
      rest /= dims_[d].size;
      from += at * dims_[d].from;
      to += at * dims_[d].to;
    }
    fn(from / element_size_, to / element_size_);
  }
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_ND_COPY_H_
