// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/run/turned_tiles.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {
namespace {

// A tile has so many bytes of a row of the source and of a row of the target, or up to an eighth
// more; longer ones of the target, where it would have fewer than kSmallTurnedTile. Those that are
// streamed are smaller: turned so, 64x128x128x128 bf16, all dims exchanged, took 45 ms on an
// Emerald Rapids instead of 52 (by columns 38), but 2x128x128x128 bytes would take 0.92 instead of
// 0.75.
constexpr int64_t kFromRow = 384, kToRow = 256, kStreamedToRow = 128, kSmallTurnedTile = 4096;
constexpr int64_t kShortestGroup = 16;
// Matrices of bytes that have so few rows or columns are shuffled by vectors of kWideShuffle bytes,
// two at least: squares are quicker for less. Fewer ones are dealt out.
constexpr size_t kFewest = 5, kMostFew = 6, kWideShuffle = 64;
// Runs of the source are read by pieces of so many bytes. A tile that is one run of up to kOneRun
// bytes, a part of the first cache, may stay where it is.
constexpr int64_t kReadBytes = 512, kOneRun = 16 * 1024;
constexpr int64_t kBufferBytes = TurnScratch::kBufferBytes;
// Elements of a row of the source alone, each a row of the target's buffer.
static_assert(kFromRow * 9 / 8 * 3 * kCacheLine <= kBufferBytes);

// Too much for the stacks of some threads.
TurnScratch& ThreadTurnScratch() {
  thread_local const std::unique_ptr<TurnScratch> scratch = std::make_unique<TurnScratch>();
  scratch->read = nullptr;
  return *scratch;
}

bool IsPowerOfTwo(int size) { return (size & (size - 1)) == 0; }

}  // namespace

TurnedTiles::TurnedTiles(const DimList& dims, int size, bool is_streamed,
                         const BlockKernels& kernels)
    : kernels_(&kernels), size_(size), is_streamed_(is_streamed) {
  const auto fits = [&](const Sizes& sizes) {
    return SideOf(dims, &Dim::from, sizes, sizes).buffer_bytes <= kBufferBytes &&
           SideOf(dims, &Dim::to, sizes, sizes).buffer_bytes <= kBufferBytes;
  };
  if (is_streamed && TakeColumns(dims)) return;
  int64_t to_row = is_streamed ? kStreamedToRow : kToRow;
  Sizes tile = TileFor(dims, kFromRow, to_row);
  while (!fits(tile)) tile = TileFor(dims, kFromRow, to_row /= 2);
  for (; BytesOf(tile) < kSmallTurnedTile && to_row < kBufferBytes; to_row *= 2) {
    const Sizes larger = TileFor(dims, kFromRow, 2 * to_row);
    if (!fits(larger)) break;
    tile = larger;
  }
  MakeShapes(dims, tile);
}

int64_t TurnedTiles::BytesOf(const Sizes& sizes) const {
  int64_t bytes = size_;
  for (int64_t n : sizes) bytes *= n;
  return bytes;
}

void TurnedTiles::MakeShapes(const DimList& dims, const Sizes& tile) {
  tile_bytes_ = BytesOf(tile);
  MakeLoops(dims, tile);
  for (size_t shape = 0; shape < size_t{1} << ends_.size(); ++shape) {
    Sizes sizes = tile;
    for (size_t i = 0; i < ends_.size(); ++i) {
      const size_t d = ends_[i].dim;
      if ((shape >> i & 1) != 0) sizes[d] = dims[d].size % tile[d];
    }
    shapes_.push_back(ShapeOf(dims, tile, sizes));
  }
}

TurnedTiles::Sizes TurnedTiles::TileFor(const DimList& dims, int64_t from_run,
                                        int64_t to_run) const {
  Sizes tile(dims.size(), 1);
  const auto take_row = [&](int64_t Dim::*stride, int64_t limit) {
    for (int64_t row = size_; 2 * row <= limit;) {
      size_t d = 0;
      while (d < dims.size() && dims[d].*stride != row) ++d;
      if (d == dims.size()) return;
      int64_t taken = std::min(dims[d].size, limit / row);
      // One more, where that is much less.
      if (taken < dims[d].size && 4 * taken * row < 3 * limit) ++taken;
      // Of whole lines, where not all of the dim, and equal parts of it.
      const int64_t lines = kCacheLine / std::gcd(kCacheLine, row);
      const int64_t unit = taken > lines ? lines : 1;
      if (taken < dims[d].size) {
        taken -= taken % unit;
        const int64_t parts = CeilDiv(dims[d].size, taken);
        taken = CeilDiv(CeilDiv(dims[d].size, parts), unit) * unit;
      }
      tile[d] = std::max(tile[d], taken);
      if (taken < dims[d].size) return;
      row *= taken;
    }
  };
  take_row(&Dim::from, from_run);
  take_row(&Dim::to, to_run);
  return tile;
}

// Tiles follow each other as they stand in the source, but first of all along rows of the target;
// those by columns as they stand there.
void TurnedTiles::MakeLoops(const DimList& dims, const Sizes& tile) {
  Order order(dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const Side to = SideOf(dims, &Dim::to, tile, tile);
  const int64_t bytes = by_columns_ ? BytesOf(rows_, tile) : to.bytes;
  const auto goes_along = [&](size_t d) {
    return bytes >= kCacheLine && tile[d] < dims[d].size && dims[d].to * tile[d] == bytes;
  };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    if (goes_along(a) != goes_along(b)) return goes_along(b);
    if (by_columns_) return std::abs(dims[a].to) > std::abs(dims[b].to);
    return std::abs(dims[a].from) > std::abs(dims[b].from);
  });
  for (size_t d : order) {
    const int64_t places = CeilDiv(dims[d].size, tile[d]);
    if (places == 1) continue;
    if (dims[d].size % tile[d] != 0) ends_.push_back({outer_.size(), d});
    outer_.push_back({places, dims[d].from * tile[d], dims[d].to * tile[d]});
    num_tiles_ *= places;
    carries_ = goes_along(d);
  }
}

// Strides in the buffer are those of the whole `tile`, whatever the sizes, so that rows are where
// they were.
TurnedTiles::Side TurnedTiles::SideOf(const DimList& dims, int64_t Dim::*stride, const Sizes& tile,
                                      const Sizes& sizes) const {
  Order order(dims.size());
  std::iota(order.begin(), order.end(), size_t{0});
  // What is repeated is no row.
  const auto distance = [&](size_t d) {
    const int64_t bytes = std::abs(dims[d].*stride);
    return bytes == 0 ? std::numeric_limits<int64_t>::max() : bytes;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return distance(a) < distance(b); });
  Side side;
  side.strides.resize(dims.size());
  side.bytes = size_;
  side.places = {{0, 0}};
  int64_t at = size_;
  bool is_cut = false;  // tiles at the end have less of a run
  for (size_t d : order) {
    if (tile[d] == 1) continue;
    if (side.pitch == 0 && !is_cut && dims[d].*stride == at) {
      side.run.push_back(d);
      side.bytes *= sizes[d];
      is_cut = tile[d] < dims[d].size;
    } else if (side.pitch == 0) {
      // An odd number of lines, so that rows do not fall on the same places of a cache; with room
      // for what is carried.
      side.pitch = at = AlignUp(at + kCacheLine) | kCacheLine;
      side.rows = sizes[d];
      side.stride = dims[d].*stride;
    } else {
      const size_t places = side.places.size();
      for (int64_t i = 1; i < sizes[d]; ++i) {
        for (size_t p = 0; p < places; ++p) {
          const TurnedShape::Place place = side.places[p];
          side.places.push_back({place.at + i * dims[d].*stride, place.buffer_at + i * at});
        }
      }
    }
    side.strides[d] = at;
    at *= tile[d];
  }
  side.buffer_bytes = at;
  return side;
}

TurnedTiles::Shape TurnedTiles::ShapeOf(const DimList& dims, const Sizes& tile,
                                        const Sizes& sizes) const {
  Shape shape;
  shape.from = SideOf(dims, &Dim::from, tile, sizes);
  shape.to = SideOf(dims, &Dim::to, tile, sizes);
  if (by_columns_) {
    FindColumns(dims, sizes, &shape);
  } else {
    FindMatrices(sizes, &shape);
    FindBlocks(tile, sizes, &shape);
    FindFew(sizes, &shape);
  }
  for (const TurnedShape::Place& place : shape.from.places) {
    for (int64_t row = 0; row < shape.from.rows; ++row) {
      for (int64_t i = 0; i < shape.from.bytes; i += kReadBytes) {
        shape.runs.push_back({place.at + row * shape.from.stride + i,
                              static_cast<int32_t>(place.buffer_at + row * shape.from.pitch + i),
                              static_cast<int32_t>(std::min(kReadBytes, shape.from.bytes - i))});
      }
    }
  }
  shape.is_one_run =
      shape.from.places.size() == 1 && shape.from.rows == 1 && shape.from.bytes <= kOneRun;
  return shape;
}

// A matrix has the dims of a row of the source as columns, those of a row of the target as rows. A
// dim that both have goes to the shorter one.
void TurnedTiles::FindMatrices(const Sizes& sizes, Shape* shape) const {
  const Order &to = shape->to.run, &from = shape->from.run;
  Order taken;
  size_t rows = 0, cols = 0;
  const auto is_free = [&](const Order& run, size_t i) {
    return i < run.size() && std::find(taken.begin(), taken.end(), run[i]) == taken.end();
  };
  const auto take = [&](size_t d, const Sizes& strides, std::vector<int32_t>* at) {
    const size_t n = at->size();
    for (int64_t i = 1; i < sizes[d]; ++i) {
      for (size_t k = 0; k < n; ++k) at->push_back((*at)[k] + static_cast<int32_t>(i * strides[d]));
    }
    taken.push_back(d);
  };
  shape->row_at = shape->col_at = {0};
  for (;;) {
    const bool has_row = is_free(to, rows), has_col = is_free(from, cols);
    if (!has_row && !has_col) break;
    if (has_row && (!has_col || shape->row_at.size() <= shape->col_at.size())) {
      take(to[rows++], shape->from.strides, &shape->row_at);
    } else {
      take(from[cols++], shape->to.strides, &shape->col_at);
    }
  }
  if (rows > 0) shape->group = GroupOf(sizes, *shape);
  shape->matrices = {{0, 0}};
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (std::find(taken.begin(), taken.end(), d) != taken.end()) continue;
    const size_t n = shape->matrices.size();
    for (int64_t i = 1; i < sizes[d]; ++i) {
      for (size_t m = 0; m < n; ++m) {
        const TurnedShape::Matrix matrix = shape->matrices[m];
        shape->matrices.push_back({matrix.src_at + static_cast<int32_t>(i * shape->from.strides[d]),
                                   matrix.dst_at + static_cast<int32_t>(i * shape->to.strides[d])});
      }
    }
  }
}

// Rows of the first dim follow each other where one begins at the end of the columns. Groups of
// less than kShortestGroup bytes a column are no quicker than squares.
int64_t TurnedTiles::GroupOf(const Sizes& sizes, const Shape& shape) const {
  const size_t first = shape.to.run[0];
  const std::vector<int32_t>& at = shape.col_at;
  if (size_ > 7 || at.size() < 2 || at.size() > 4 || sizes[first] * size_ < kShortestGroup ||
      shape.from.strides[first] != size_ * static_cast<int64_t>(at.size()))
    return 0;
  for (size_t c = 2; c < at.size(); ++c) {
    if (at[c] - at[c - 1] != at[1] - at[0]) return 0;
  }
  return (at[1] - at[0]) % size_ == 0 ? sizes[first] : 0;
}

// Blocks are what is inside of a dim that is the outermost one of both sides; small ones are taken
// several at a time. Each vector, from the last one on, is put together of runs of the source as
// long, from the first byte on that is not there yet.
void TurnedTiles::FindBlocks(const Sizes& tile, const Sizes& sizes, Shape* shape) const {
  const Side &from = shape->from, &to = shape->to;
  if (kernels_->shuffle_bytes == 0 || from.places.size() > 1 || from.rows > 1 ||
      to.places.size() > 1 || to.rows > 1)
    return;
  size_t outer = tile.size();
  for (size_t d = 0; d < tile.size(); ++d) {
    if (tile[d] > 1 && (outer == tile.size() || from.strides[d] > from.strides[outer])) outer = d;
  }
  const int64_t block = from.strides[outer];
  if (block != to.strides[outer] || block > kernels_->largest_block) return;
  int64_t inside = size_;
  for (size_t d = 0; d < tile.size(); ++d) inside *= d == outer ? 1 : tile[d];
  if (inside != block) return;
  const int64_t together = std::max<int64_t>(kernels_->shuffle_bytes / block, 1);
  if (sizes[outer] < together) return;
  // Where the bytes of the target stand in the source.
  std::vector<int64_t> source(static_cast<size_t>(together * block));
  const int64_t elements = together * block / size_;
  for (int64_t i = 0; i < elements; ++i) {
    int64_t rest = i, from_at = 0, to_at = 0;
    for (size_t d = 0; d < tile.size(); ++d) {
      if (tile[d] == 1 || d == outer) continue;
      from_at += rest % tile[d] * from.strides[d];
      to_at += rest % tile[d] * to.strides[d];
      rest /= tile[d];
    }
    for (int64_t byte = 0; byte < size_; ++byte)
      source[static_cast<size_t>(to_at + rest * block + byte)] = from_at + rest * block + byte;
  }
  shape->num_blocks = sizes[outer];
  shape->at_once = together;
  shape->block_from = shape->block_to = block;
  shape->blocks = {{0, 0}};
  Shuffle(source, 0, shape);
}

// Matrices of few rows or few columns of bytes that all follow each other in one of the buffers:
// vectors of columns, or of rows, are put together at once. Five planes of bytes take 74 ns a KB in
// place of 96 or, the other way, 110.
void TurnedTiles::FindFew(const Sizes& sizes, Shape* shape) const {
  const Side &from = shape->from, &to = shape->to;
  const size_t rows = shape->row_at.size(), cols = shape->col_at.size(), once = kWideShuffle;
  if (size_ > 1 || kernels_->shuffle_bytes != static_cast<int64_t>(once) ||
      !shape->shuffles.empty() || from.run.empty() || to.run.empty())
    return;
  const auto is_few = [&](size_t few, size_t many, const Side& dense, size_t dim) {
    return few >= kFewest && few <= kMostFew && many >= 2 * once &&
           static_cast<int64_t>(many) == sizes[dim] &&
           dense.strides[dim] == static_cast<int64_t>(few);
  };
  const bool are_cols = is_few(cols, rows, from, to.run[0]);
  if (!are_cols && !is_few(rows, cols, to, from.run[0])) return;
  shape->blocks = shape->matrices;
  shape->at_once = static_cast<int64_t>(once);
  shape->num_blocks = static_cast<int64_t>(are_cols ? rows : cols);
  shape->block_from = are_cols ? static_cast<int64_t>(cols) : 1;
  shape->block_to = are_cols ? 1 : static_cast<int64_t>(rows);
  std::vector<int64_t> source;
  for (size_t c = 0; c < (are_cols ? cols : once); ++c) {
    for (size_t r = 0; r < (are_cols ? once : rows); ++r)
      source.push_back(shape->row_at[r] + static_cast<int64_t>(c));
    if (are_cols) Shuffle(std::exchange(source, {}), shape->col_at[c], shape);
  }
  if (!are_cols) Shuffle(source, 0, shape);
}

// Vectors of bytes that stand at `source`, to be stored from `to` on, the last one first.
void TurnedTiles::Shuffle(const std::vector<int64_t>& source, int64_t to, Shape* shape) const {
  const size_t width = static_cast<size_t>(kernels_->shuffle_bytes);
  for (size_t begin = (source.size() - 1) / width * width + width; begin > 0;) {
    begin -= width;
    const size_t end = std::min(begin + width, source.size());
    std::vector<size_t> left(end - begin);
    std::iota(left.begin(), left.end(), begin);
    while (!left.empty()) {
      TurnedShape::Shuffle& shuffle = shape->shuffles.emplace_back();
      std::fill_n(shuffle.places, width, uint8_t{128});
      const auto is_before = [&](size_t a, size_t b) { return source[a] < source[b]; };
      const int64_t first = source[*std::min_element(left.begin(), left.end(), is_before)];
      shuffle.from = static_cast<int32_t>(first);
      shuffle.to = static_cast<int32_t>(to + static_cast<int64_t>(begin));
      std::vector<size_t> others;
      for (size_t i : left) {
        if (source[i] < first + kernels_->shuffle_bytes) {
          shuffle.places[i - begin] = static_cast<uint8_t>(source[i] - first);
          shuffle.used |= uint64_t{1} << (i - begin);
        } else {
          others.push_back(i);
        }
      }
      left = std::move(others);
      shuffle.ends = left.empty();
    }
  }
}

TurnedShape TurnedTiles::ViewOf(const Shape& shape) const {
  const auto count = [](const auto& list) { return static_cast<int64_t>(list.size()); };
  TurnedShape view;
  view.runs = shape.runs.data();
  view.num_runs = count(shape.runs);
  view.is_one_run = shape.is_one_run;
  view.stays = by_columns_ && stays_;
  view.matrices = shape.matrices.data();
  view.row_at = shape.row_at.data();
  view.col_at = shape.col_at.data();
  view.num_matrices = count(shape.matrices);
  view.rows = count(shape.row_at);
  view.cols = by_columns_ ? count(shape.columns) : count(shape.col_at);
  view.together = IsPowerOfTwo(size_) ? 1 : size_;
  view.group = shape.group;
  view.shuffle_bytes = kernels_->shuffle_bytes;
  view.num_shuffles = count(shape.shuffles);
  view.num_blocks = shape.num_blocks;
  view.at_once = shape.at_once;
  view.block_from = shape.block_from;
  view.block_to = shape.block_to;
  view.shuffles = shape.shuffles.data();
  view.blocks = shape.blocks.data();
  view.num_block_places = count(shape.blocks);
  view.columns = by_columns_ ? shape.columns.data() : nullptr;
  view.are_lines = are_lines_;
  view.is_streamed = is_streamed_;
  view.places = shape.to.places.data();
  view.num_places = count(shape.to.places);
  view.to_rows = shape.to.rows;
  view.to_stride = shape.to.stride;
  view.to_pitch = shape.to.pitch;
  view.to_bytes = by_columns_ ? view.rows * size_ : shape.to.bytes;
  return view;
}

void TurnedTiles::Run(int64_t begin, int64_t end, const char* from, char* to) const {
  absl::InlinedVector<TurnedShape, 4> shapes;
  for (const Shape& shape : shapes_) shapes.push_back(ViewOf(shape));
  Sizes at(outer_.size());
  int64_t rest = begin;
  for (size_t d = outer_.size(); d-- > 0;) {
    at[d] = rest % outer_[d].size;
    rest /= outer_[d].size;
    from += at[d] * outer_[d].from;
    to += at[d] * outer_[d].to;
  }
  int64_t place = begin;
  const auto next_tile = [&]() -> TurnedTile {
    if (place == end) return {};
    size_t index = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (at[ends_[i].place] == outer_[ends_[i].place].size - 1) index |= size_t{1} << i;
    }
    const bool begins = !carries_ || place == begin || at.back() == 0;
    const bool ends = !carries_ || place + 1 == end || at.back() == outer_.back().size - 1;
    const TurnedTile tile = {&shapes[index], from, to, begins, ends};
    ++place;
    for (size_t d = outer_.size(); d-- > 0;) {
      from += outer_[d].from;
      to += outer_[d].to;
      if (++at[d] < outer_[d].size) break;
      from -= outer_[d].from * outer_[d].size;
      to -= outer_[d].to * outer_[d].size;
      at[d] = 0;
    }
    return tile;
  };
  const TurnTileFn turn_tile = kernels_->turn_tile[IsPowerOfTwo(size_) ? SizeLog2(size_) : 0];
  TurnScratch& scratch = ThreadTurnScratch();
  TurnedTile tile = next_tile(), next = next_tile(), after = next_tile();
  while (tile.shape != nullptr) {
    turn_tile(tile, next, after, &scratch);
    tile = std::exchange(next, after);
    after = next_tile();
  }
}

std::string TurnedTiles::Describe() const {
  const Shape& shape = shapes_[0];
  const TurnedShape view = ViewOf(shape);
  return absl::StrCat("tiles of ", tile_bytes_, " bytes, rows of ", shape.from.bytes,
                      " to rows of ", view.to_bytes, ": ", view.num_matrices, " transposes of ",
                      view.rows, "x", view.cols, " elements of ", size_, " bytes",
                      !by_columns_ ? ""
                      : are_lines_ ? ", by columns of lines"
                                   : ", by columns",
                      !by_columns_ ? ""
                      : stays_     ? " where they are"
                                   : " of copies");
}

}  // namespace pjrt::cpu
