// SPDX-License-Identifier: Apache-2.0
//
// How a box is copied: what one kernel copies, and in which order.
#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/kernels/stream_transpose.h"
#include "src/cpu_device/run/nd_copy.h"

namespace pjrt::cpu {
namespace {

// One thread copies a unit in some 20 us.
constexpr int64_t kUnitBytes = 256 * 1024;
// Parts of a transposed piece are a multiple of this many rows: whole cache lines.
constexpr int64_t kTransposeRows = 64;
// What streaming kernels transpose at a time: so many bytes of each row of the target; more where
// rows do not begin with a cache line and the ends of a band are costly.
constexpr int64_t kStreamBand = 512, kWideBand = 1024, kUnalignedBand = 2048;
// Rows of up to so many bytes are copied in tiles, which reach so far on either side.
constexpr int64_t kTileBytes = 512;
// A tile of rows, which may have up to kStagedRow, has runs of at most so many bytes of the source
// and of the target: four rows at least, and eight, of which the source's reaches up to kRowsTo.
constexpr int64_t kStagedRow = 512, kRowsFrom = 256, kRowsTo = 1024;
// One that is smaller than this, as both runs are along the same dims, has a longer one still.
constexpr int64_t kSmallTile = 4096;
// Matrices with fewer rows or columns have kernels of their own; so have wide elements, of
// kWideElement bytes, in rows of the source with fewer than kNarrowWide.
constexpr int64_t kNarrowMatrix = 5, kNarrowWide = 8, kWideElement = 4;
// Boxes of less than kTurnedBytes are never turned. Larger ones are where pieces have up to
// kSmallPiece bytes, where runs are shorter than a line in a box that the second cache does not
// hold, of kFarBytes, or where so many lines collide in the first cache, or in the second, as they
// are a multiple of `stride` apart. From kStreamedTurnedBytes on they are streamed, which saves to
// read what is written.
constexpr int64_t kTurnedBytes = 256 * 1024, kFarBytes = 2 * 1024 * 1024, kSmallPiece = 512;
constexpr int64_t kStreamedTurnedBytes = kStreamBytes / 2;
struct Collision {
  int64_t run, lines, stride;
};
constexpr Collision kFirst = {64, 16, 4096}, kSecond = {256, 64, 16384};
// Boxes of small blocks are shuffled from so many bytes on.
constexpr int64_t kShuffledBytes = 8192;
// Rows of so many bytes are streamed.
constexpr int64_t kStreamedRow = 256;
// Rows of up to so many bytes are elements of turned tiles.
constexpr int64_t kLongestElement = 15;
// Pieces of a tile, between which some lines of the next one are asked for.
constexpr int64_t kStagePiece = 4096;
// Turned tiles of a unit, and matrices, follow each other where they are streamed.
constexpr int64_t kLongUnitBytes = 4 * kUnitBytes;

}  // namespace

NdCopy::NdCopy(absl::Span<const int64_t> dims, absl::Span<const int64_t> from_strides,
               absl::Span<const int64_t> to_strides, int element_size, const BlockKernels& kernels)
    : kernels_(&kernels), size_(element_size), element_size_(element_size) {
  DimList walked;
  for (size_t d = 0; d < dims.size(); ++d) {
    count_ *= dims[d];
    if (dims[d] != 1)
      walked.push_back({dims[d], from_strides[d] * element_size, to_strides[d] * element_size});
  }
  is_streamed_ = bytes() >= kStreamBytes;
  if (count_ > 0) Plan(std::move(walked));
}

void NdCopy::Plan(DimList walked) {
  // In the target's order, dims that continue each other come together.
  std::stable_sort(walked.begin(), walked.end(),
                   [](const Dim& a, const Dim& b) { return std::abs(a.to) > std::abs(b.to); });
  DimList merged;
  for (const Dim& dim : walked) {
    if (!merged.empty() && merged.back().from == dim.from * dim.size &&
        merged.back().to == dim.to * dim.size) {
      merged.back() = {merged.back().size * dim.size, dim.from, dim.to};
    } else {
      merged.push_back(dim);
    }
  }
  dims_ = merged;
  ChoosePattern(std::move(merged));
  if (is_streamed_ && pattern_ == kTranspose) {
    TurnedTiles tiles = MakeTurnedTiles();
    if (tiles.by_columns()) return Turn(std::move(tiles));
  }
  if (HasSmallBlocks() || (bytes() < kStreamBytes ? Collides() : IsScattered())) {
    if (IsStaged()) return MakeStages();
    is_streamed_ = bytes() >= kStreamedTurnedBytes;
    return Turn(MakeTurnedTiles());
  }
  // Pieces follow each other as they stand in the source: what is written need not be waited for.
  std::stable_sort(outer_.begin(), outer_.end(),
                   [](const Dim& a, const Dim& b) { return std::abs(a.from) > std::abs(b.from); });
  if (pattern_ == kRows) MakeTiles();
  if (IsWide()) LetRowsGoOn();
  SplitIntoUnits();
}

// Takes the dims of a piece out of `dims`; the rest are loops.
void NdCopy::ChoosePattern(DimList dims) {
  const auto contiguous = [&] {
    return !dims.empty() && dims.back().from == size_ && dims.back().to == size_;
  };
  const auto take_inner = [&](size_t d) {
    inner_ = dims[d].size;
    from_inner_ = dims[d].from;
    to_inner_ = dims[d].to;
    dims.erase(dims.begin() + static_cast<int64_t>(d));
  };
  const auto take_rows = [&](size_t d) {
    rows_ = dims[d].size;
    from_row_ = dims[d].from;
    to_row_ = dims[d].to;
    dims.erase(dims.begin() + static_cast<int64_t>(d));
  };
  // A few elements that stay together are moved as one wider element, in whose width all strides
  // can be counted.
  if (contiguous()) {
    const int64_t run = dims.back().size * size_;
    const bool counts = std::all_of(dims.begin(), dims.end() - 1, [&](const Dim& dim) {
      return dim.from % run == 0 && dim.to % run == 0;
    });
    if (counts && (run == 2 || run == 4 || run == 8 || run == 16)) {
      size_ = static_cast<int>(run);
      dims.pop_back();
    }
  }
  if (dims.empty() || contiguous()) {
    pattern_ = kRows;
    inner_ = size_;
    if (!dims.empty()) {
      inner_ *= dims.back().size;
      dims.pop_back();
    }
    size_ = 1;
    from_inner_ = to_inner_ = 1;
    if (dims.empty()) {
      // Rows of one byte behind each other, so that it can be cut anywhere.
      rows_ = std::exchange(inner_, 1);
      from_row_ = to_row_ = 1;
    } else {
      take_rows(dims.size() - 1);
    }
    outer_ = std::move(dims);
    return;
  }
  const auto source =
      std::find_if(dims.begin(), dims.end(), [&](const Dim& dim) { return dim.from == size_; });
  if (dims.back().to == size_ && source != dims.end()) {
    pattern_ = kTranspose;
    take_inner(dims.size() - 1);
    take_rows(static_cast<size_t>(source - dims.begin()));
    outer_ = std::move(dims);
    return;
  }
  pattern_ = kStrided;
  take_inner(dims.size() - 1);
  if (!dims.empty()) take_rows(dims.size() - 1);
  outer_ = std::move(dims);
}

// Short rows that are neighbours in the target have their neighbours in the source elsewhere.
// Copied as tiles of both, they fill cache lines on either side while those are at hand; and a few
// rows alone are not worth a piece.
void NdCopy::MakeTiles() {
  if (inner_ >= 2 * kCacheLine) return;
  auto near = outer_.end();
  for (auto dim = outer_.begin(); dim != outer_.end(); ++dim) {
    if (dim->from != 0) near = dim;
  }
  if (near == outer_.end()) return;
  if (std::abs(near->from) >= std::abs(from_row_) && rows_ * inner_ >= kTileBytes) return;
  tiled_ = *near;
  tile_ = std::min(tiled_.size, std::max<int64_t>(kTileBytes / inner_, 1));
  outer_.erase(near);
  outer_.push_back({CeilDiv(tiled_.size, tile_), tiled_.from * tile_, tiled_.to * tile_});
}

// True where rows of pieces to transpose have less than `limit` bytes in the source or the target,
// and others lie apart from them there.
bool NdCopy::HasShortRowsApart(int64_t limit) const {
  const int64_t from_run = rows_ * size_, to_run = inner_ * size_;
  return (from_run < limit && std::abs(from_inner_) != from_run) ||
         (to_run < limit && std::abs(to_row_) != to_run);
}

// True for boxes too large for the caches where rows of pieces to transpose are short in the source
// or the target, unless they are few or have few elements and lie close together; and where short
// rows that are copied have a run of others behind them in the target, and of yet others in the
// source.
bool NdCopy::IsScattered() const {
  if (pattern_ == kRows) {
    const auto goes_on = [&](int64_t Dim::*stride, int64_t run) {
      return std::any_of(outer_.begin(), outer_.end(),
                         [&](const Dim& dim) { return dim.*stride == run; });
    };
    const int64_t run = rows_ * inner_;
    return inner_ <= kStagedRow && to_row_ == inner_ && goes_on(&Dim::from, inner_) &&
           (run >= kStreamedRow || goes_on(&Dim::to, run));
  }
  if (pattern_ != kTranspose) return false;
  const int64_t from_run = rows_ * size_, to_run = inner_ * size_;
  const bool are_apart = std::abs(from_inner_) != from_run && std::abs(to_row_) != to_run;
  return HasShortRowsApart(kStreamedRow) ||
         (std::max(from_run, to_run) <= kStreamedRow && are_apart) ||
         (std::min(from_run, to_run) < kStreamedRow && inner_ >= kNarrowMatrix &&
          rows_ >= (size_ < kWideElement || to_run < kStreamedRow ? kNarrowMatrix : kNarrowWide));
}

// True for boxes that caches may hold where pieces are so small that each costs more than it moves,
// where they read or write parts of lines that come from far, or of lines of which more fall on the
// same place of a cache than it has room for: 2x128x128x128 bytes, all dims exchanged, took 5000 ns
// a KB, and take 60.
bool NdCopy::Collides() const {
  if (pattern_ != kTranspose || bytes() < kTurnedBytes) return false;
  if (size_ == 1 && rows_ * inner_ <= kSmallPiece) return true;
  const int64_t from_run = rows_ * size_, to_run = inner_ * size_;
  const auto collide = [](const Collision& limit, int64_t lines, int64_t stride) {
    return lines >= limit.lines && stride != 0 && stride % limit.stride == 0;
  };
  if (bytes() >= kFarBytes && HasShortRowsApart(kCacheLine)) return true;
  // Short runs of the source are written in parts of lines, too.
  return (from_run <= kFirst.run && collide(kFirst, inner_, from_inner_)) ||
         (std::min(from_run, to_run) <= kFirst.run && collide(kFirst, rows_, to_row_)) ||
         (from_run < kSecond.run && collide(kSecond, inner_, from_inner_)) ||
         (to_run < kSecond.run && collide(kSecond, rows_, to_row_));
}

// True where many blocks of few bytes, in which all elements stay, follow each other.
bool NdCopy::HasSmallBlocks() const {
  if (pattern_ != kTranspose || bytes() < kShuffledBytes) return false;
  return std::any_of(dims_.begin(), dims_.end(), [&](const Dim& outer) {
    if (outer.from != outer.to || outer.to > kernels_->largest_block ||
        outer.size * outer.to < kSmallPiece)
      return false;
    int64_t block = element_size_;
    for (const Dim& dim : dims_) {
      if (dim.to >= outer.to) continue;
      if (dim.from >= outer.to || dim.from <= 0 || dim.to <= 0) return false;
      block *= dim.size;
    }
    return block == outer.to;
  });
}

// True where rows to copy are too long to be turned as elements, or short, but have a long run of
// others behind them in the target, and in the source at least a line. Elements of three bytes turn
// four at a time, which is quicker where runs are long.
bool NdCopy::IsStaged() const {
  if (pattern_ != kRows || inner_ > kLongestElement) return pattern_ == kRows;
  const int64_t run = rows_ * inner_;
  if (inner_ > kLongestTurned || run < kStreamedRow ||
      (inner_ == kShortestTurned && run >= kRowsTo))
    return false;
  return std::none_of(outer_.begin(), outer_.end(), [&](const Dim& dim) {
    return dim.from == inner_ && dim.size * inner_ < kCacheLine;
  });
}

// True for large matrices of small elements to transpose whose rows are long on both sides.
bool NdCopy::IsWide() const {
  return is_streamed_ && pattern_ == kTranspose && size_ <= 4 &&
         std::min(rows_, inner_) * size_ >= StreamedMatrix::kShortest;
}

// Where rows of the target begin within lines and one piece goes on where another one ends, that is
// the next one.
void NdCopy::LetRowsGoOn() {
  const int64_t run = inner_ * size_;
  const auto behind =
      std::find_if(outer_.begin(), outer_.end(), [&](const Dim& dim) { return dim.to == run; });
  if (behind == outer_.end() || run % kCacheLine == 0 || run > kUnalignedBand) return;
  std::rotate(behind, behind + 1, outer_.end());
  goes_on_ = true;
}

// A copy of a tile to the buffer or from it, by itself: whoever runs it ends the stream.
NdCopy NdCopy::Stage(const DimList& dims, bool is_streamed) const {
  NdCopy stage;
  stage.kernels_ = kernels_;
  stage.size_ = stage.element_size_ = size_;
  stage.is_streamed_ = is_streamed;
  DimList walked;
  for (const Dim& dim : dims) {
    stage.count_ *= dim.size;
    if (dim.size != 1) walked.push_back(dim);
  }
  if (!is_streamed) stage.piece_bytes_ = kStagePiece;
  stage.Plan(std::move(walked));
  return stage;
}

// A tile is what a run of the source and a run of the target reach along dims that continue each
// other. The result has the sizes of `dims` within it.
NdCopy::DimList NdCopy::TileOf(const DimList& dims) const {
  DimList tile = dims;
  for (Dim& dim : tile) dim.size = 1;
  const auto take_run = [&](int64_t Dim::*stride, int64_t limit) {
    for (int64_t run = size_; 2 * run <= limit;) {
      size_t d = 0;
      while (d < dims.size() && dims[d].*stride != run) ++d;
      if (d == dims.size()) return;
      int64_t taken = std::min(dims[d].size, limit / run);
      // Of whole lines, where not all of the dim.
      const int64_t lines = kCacheLine / std::gcd(kCacheLine, run);
      if (taken > lines && taken < dims[d].size) taken -= taken % lines;
      tile[d].size = std::max(tile[d].size, taken);
      if (taken < dims[d].size) return;
      run *= taken;
    }
  };
  const int64_t from_limit = std::max(std::clamp(8 * inner_, kRowsFrom, kRowsTo), 4 * inner_);
  take_run(&Dim::from, from_limit);
  for (int64_t limit = std::min(std::max(kRowsTo, 8 * inner_), kStageBytes / from_limit * inner_);
       BytesOf(tile) < kSmallTile && limit <= kStageBytes; limit *= 2)
    take_run(&Dim::to, limit);
  return tile;
}

int64_t NdCopy::BytesOf(const DimList& dims) const {
  int64_t bytes = size_;
  for (const Dim& dim : dims) bytes *= dim.size;
  return bytes;
}

TurnedTiles NdCopy::MakeTurnedTiles() const {
  DimList dims = outer_;
  dims.push_back({rows_, from_row_, to_row_});
  // Short rows are elements.
  if (pattern_ != kRows) dims.push_back({inner_, from_inner_, to_inner_});
  const int bytes = pattern_ == kRows ? static_cast<int>(inner_) : size_;
  return TurnedTiles(dims, bytes, is_streamed_, *kernels_);
}

void NdCopy::Turn(TurnedTiles tiles) {
  pattern_ = kTurned;
  pieces_ = tiles.num_tiles();
  const int64_t unit = is_streamed_ ? kLongUnitBytes : kUnitBytes;
  pieces_per_unit_ = std::max<int64_t>(unit / tiles.tile_bytes(), 1);
  units_ = CeilDiv(pieces_, pieces_per_unit_);
  turned_.push_back(std::move(tiles));
}

// Rows are put together in the order of the target, so that longer ones are streamed.
void NdCopy::MakeStages() {
  DimList dims = outer_;
  dims.push_back({rows_, from_row_, to_row_});
  dims.push_back({inner_, from_inner_, to_inner_});
  const DimList tile = TileOf(dims);
  std::vector<size_t> order(dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto sort_by = [&](int64_t Dim::*stride) {
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::abs(dims[a].*stride) > std::abs(dims[b].*stride);
    });
  };
  sort_by(&Dim::from);
  outer_.clear();
  for (size_t d : order) {
    const int64_t size = tile[d].size, places = CeilDiv(dims[d].size, size);
    if (places == 1) continue;
    if (dims[d].size % size != 0) ends_.push_back({outer_.size(), d});
    outer_.push_back({places, dims[d].from * size, dims[d].to * size});
  }
  pieces_ = 1;
  for (const Dim& dim : outer_) pieces_ *= dim.size;
  sort_by(&Dim::to);
  for (size_t shape = 0; shape < size_t{1} << ends_.size(); ++shape) {
    DimList stage = tile;
    for (size_t i = 0; i < ends_.size(); ++i) {
      const size_t d = ends_[i].dim;
      if ((shape >> i & 1) != 0) stage[d].size = dims[d].size % stage[d].size;
    }
    int64_t stride = size_;
    for (size_t i = order.size(); i-- > 0;) {
      stage[order[i]].to = stride;
      stride *= stage[order[i]].size;
    }
    stages_.push_back(Stage(stage, false));
    for (size_t d = 0; d < stage.size(); ++d) {
      stage[d].from = stage[d].to;
      stage[d].to = dims[d].to;
    }
    stages_.push_back(Stage(stage, true));
  }
  pattern_ = kStaged;
  FindLines(tile);
  pieces_per_unit_ = std::max<int64_t>(kUnitBytes / BytesOf(tile), 1);
  units_ = CeilDiv(pieces_, pieces_per_unit_);
}

// The runs of the source that `tile` consists of, a line at a time. One that begins within a line
// ends in one more.
void NdCopy::FindLines(DimList tile) {
  std::sort(tile.begin(), tile.end(),
            [](const Dim& a, const Dim& b) { return std::abs(a.from) < std::abs(b.from); });
  int64_t run = size_;
  size_t d = 0;
  for (; d < tile.size() && (tile[d].size == 1 || tile[d].from == run); ++d) run *= tile[d].size;
  for (int64_t line = 0; line < run; line += kCacheLine) lines_.push_back(line);
  const auto is_within = [](const Dim& dim) { return dim.from % kCacheLine != 0; };
  if (std::any_of(tile.begin() + static_cast<int64_t>(d), tile.end(), is_within) ||
      std::any_of(outer_.begin(), outer_.end(), is_within))
    lines_.push_back(run - 1);
  for (; d < tile.size(); ++d) {
    const size_t lines = lines_.size();
    for (int64_t i = 1; i < tile[d].size; ++i) {
      for (size_t line = 0; line < lines; ++line) lines_.push_back(lines_[line] + i * tile[d].from);
    }
  }
}

void NdCopy::SplitIntoUnits() {
  int64_t places = 1;
  for (const Dim& dim : outer_) places *= dim.size;
  const int64_t row_bytes = std::max<int64_t>(inner_ * size_, 1);
  // Few long rows are cut along their length, others between rows. A streaming kernel has the lines
  // of the source to itself as far as they reach, so that it can ask for what comes next.
  const bool in_bands = is_streamed_ && pattern_ == kTranspose;
  const bool is_ragged = to_row_ % kCacheLine != 0 || goes_on_;
  const int64_t band = is_ragged ? kUnalignedBand : IsWide() ? kWideBand : kStreamBand;
  cut_inner_ = in_bands ? row_bytes > band
                        : pattern_ != kRows && rows_ <= kTransposeRows && row_bytes > piece_bytes_;
  const int64_t extent = cut_inner_ ? inner_ : rows_;
  const int64_t bytes_each = cut_inner_ ? rows_ * size_ : row_bytes * tile_;
  part_ = std::max<int64_t>(piece_bytes_ / bytes_each, 1);
  if (tile_ < tiled_.size) part_ = std::max<int64_t>(kTileBytes / row_bytes, 1);
  if (in_bands) part_ = cut_inner_ ? band / size_ : std::max(4 * part_, kStreamBand);
  if (goes_on_) {
    const int64_t parts = CeilDiv(extent, StreamTransposeScratch::kMostColumns);
    part_ = CeilDiv(extent, parts * kTransposeRows) * kTransposeRows;
  }
  if (pattern_ == kTranspose) part_ = std::max(part_ / kTransposeRows, int64_t{1}) * kTransposeRows;
  part_ = std::min(part_, extent);
  parts_ = CeilDiv(extent, part_);
  pieces_ = places * parts_;
  pieces_per_unit_ =
      std::max<int64_t>((IsWide() ? kLongUnitBytes : kUnitBytes) / (part_ * bytes_each), 1);
  units_ = CeilDiv(pieces_, pieces_per_unit_);
}

}  // namespace pjrt::cpu
