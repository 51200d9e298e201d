// SPDX-License-Identifier: Apache-2.0
//
// Tiles of small elements that are streamed by columns: tall matrices, whose rows are parts of rows
// of the source and whose columns are parts of rows of the target.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/turned_tiles.h"

namespace pjrt::cpu {
namespace {

// So many bytes of a column and of a row; of copies kCopiedColumn, where these are lines, and
// kCopiedRow. On an Emerald Rapids 256 MiB of bytes, all of four dims in the opposite order, take
// 41 ms instead of 52, and 44 instead of 55 with odd dims; copies of 128x256 would take 48.
// Elements of 4 bytes are quicker so if they are not copied, those of 8 not at all.
constexpr int64_t kColumn = 192, kRow = 384, kCopiedColumn = kCacheLine, kCopiedRow = 256;
constexpr int kWidest = 4, kWidestCopied = 2;
constexpr int64_t kShortestRow = 16;
// Lines so far apart share a set of the first cache, of which kFromSet may be of the same column.
constexpr int64_t kSetsBytes = 4096, kFromSet = 8;
// Up to an eighth more.
static_assert(kColumn * 9 / 8 <= TurnedShape::kColumnBytes);
static_assert(kColumn * 9 / 8 * (kCopiedRow * 9 / 8 + 3 * kCacheLine) <= TurnScratch::kBufferBytes);
static_assert(kRow * 9 / 8 <= TurnedShape::kMostColumns &&
              TurnedShape::kMostColumns * kCacheLine <= TurnScratch::kBufferBytes);

// The places of what stands at `at`, `size` times, each time `stride` further.
template <typename T>
void AddDim(int64_t size, int64_t stride, std::vector<T>* at) {
  const size_t n = at->size();
  for (int64_t i = 1; i < size; ++i) {
    for (size_t k = 0; k < n; ++k) at->push_back((*at)[k] + static_cast<T>(i * stride));
  }
}

}  // namespace

int64_t TurnedTiles::BytesOf(const Order& order, const Sizes& sizes) const {
  int64_t bytes = size_;
  for (size_t d : order) bytes *= sizes[d];
  return bytes;
}

// A dim that follows in both arrays belongs to that where it comes first, all others to one.
bool TurnedTiles::SplitTile(const DimList& dims, const Sizes& tile) {
  const Order from = SideOf(dims, &Dim::from, tile, tile).run;
  const Order to = SideOf(dims, &Dim::to, tile, tile).run;
  if (to.empty()) return false;
  cols_.assign(from.begin(), std::find(from.begin(), from.end(), to[0]));
  const auto is_col = [&](size_t d) {
    return std::find(cols_.begin(), cols_.end(), d) != cols_.end();
  };
  rows_.assign(to.begin(), std::find_if(to.begin(), to.end(), is_col));
  const auto count = std::count_if(tile.begin(), tile.end(), [](int64_t n) { return n > 1; });
  return !rows_.empty() && !cols_.empty() &&
         static_cast<int64_t>(rows_.size() + cols_.size()) == count;
}

// The smallest tile that is left at ends.
TurnedTiles::Sizes TurnedTiles::LeastOf(const DimList& dims, const Sizes& tile) const {
  Sizes least = tile;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d].size % tile[d] != 0) least[d] = dims[d].size % tile[d];
  }
  return least;
}

bool TurnedTiles::ColumnsAreLines(const DimList& dims, const Sizes& tile) const {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (std::find(rows_.begin(), rows_.end(), d) == rows_.end() && dims[d].to % kCacheLine != 0)
      return false;
  }
  return BytesOf(rows_, tile) % kCacheLine == 0 &&
         BytesOf(rows_, LeastOf(dims, tile)) % kCacheLine == 0;
}

// Makes tiles somewhat smaller, if nearly nothing would be left behind whole lines.
void TurnedTiles::LeaveEnough(const DimList& dims, const Order& order, int64_t bytes,
                              Sizes* tile) const {
  int64_t& part = (*tile)[order.back()];
  while (part > 1 && BytesOf(order, LeastOf(dims, *tile)) < bytes) --part;
}

// Rows of the source stay where they are unless they fall on too few places of the first cache.
// What is copied is small enough to stay there while more is read.
bool TurnedTiles::TakeColumns(const DimList& dims) {
  // 3 bytes are no element of a kernel.
  if (!kernels_->streams_columns || size_ > kWidest || size_ == 3) return false;
  Sizes tile = TileFor(dims, kRow, kColumn);
  if (!SplitTile(dims, tile)) return false;
  int64_t span = 0;
  for (size_t d : rows_) span += (tile[d] - 1) * std::abs(dims[d].from);
  const int64_t sets = kSetsBytes / std::max(std::gcd(dims[rows_[0]].from, kSetsBytes), kCacheLine);
  stays_ = BytesOf(rows_, tile) / size_ <= kFromSet * sets &&
           span <= std::numeric_limits<int32_t>::max();
  if (!stays_) {
    if (size_ > kWidestCopied) return false;
    tile = TileFor(dims, kCopiedRow, kCopiedColumn);
    if (!SplitTile(dims, tile)) return false;
  }
  are_lines_ = ColumnsAreLines(dims, tile);
  if (!are_lines_) {
    if (!stays_) tile = TileFor(dims, kCopiedRow, kColumn);
    if (!SplitTile(dims, tile)) return false;
    LeaveEnough(dims, rows_, kCacheLine, &tile);
  }
  LeaveEnough(dims, cols_, kShortestRow, &tile);
  const Sizes least = LeastOf(dims, tile);
  if (BytesOf(cols_, least) < kShortestRow || BytesOf(rows_, least) < kCacheLine) return false;
  by_columns_ = true;
  MakeShapes(dims, tile);
  return true;
}

// Where rows begin, in the source if they stay there, and columns in the target.
void TurnedTiles::FindColumns(const DimList& dims, const Sizes& sizes, Shape* shape) const {
  shape->row_at = {0};
  for (size_t d : rows_)
    AddDim(sizes[d], stays_ ? dims[d].from : shape->from.strides[d], &shape->row_at);
  shape->columns = {0};
  for (size_t d : cols_) AddDim(sizes[d], dims[d].to, &shape->columns);
  shape->matrices = {{0, 0}};
}

}  // namespace pjrt::cpu
