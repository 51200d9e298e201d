// SPDX-License-Identifier: Apache-2.0
//
// Transposes of matrices much larger than the caches, written past them. Memory is what they wait
// for: rows of the source lie far apart, which no machine foresees, and where they are a power of
// two apart they fall on the same few places of the caches. So tiles are read to a buffer, some
// lines of a row at a time that are asked for ahead, while the tile before is transposed and
// written: 256x1024x1024 bytes, the first and the last dim exchanged, take 74 ns a KB on a Zen 5
// where reading, transposing and writing one after the other take 125, and a copy 50.
#include <utility>

#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/stream-inl.h"
#include "src/cpu_device/kernels/stream_transpose.h"
#include "src/cpu_device/kernels/transpose-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {
namespace {

using Scratch = StreamTransposeScratch;

// Rows that are asked for before they are read: as many as places of the first cache have ways. The
// second cache is no place to wait in: what falls together there depends on where pages lie, and
// 640x640x640 bytes took 80 ns a KB or 140, from one hour to the next.
constexpr int64_t kAhead = 12;
// Steps in which the columns of a block are written.
constexpr int64_t kWriteSteps = 16;

// A tile has so many rows, and so many bytes of each; a bit more where little would be left. Short
// runs cost up to twice the time: of the source, as machines fetch lines behind them in vain, and
// of the target. Where there is no AVX-512 they are as a Zen 3 likes them: it reads 256 MiB by runs
// of 256 bytes, 16 KiB apart, in 51 to 60 ms, by runs of 512 in 69 to 78.
template <typename T>
struct Shape {
  static constexpr int64_t kSize = static_cast<int64_t>(sizeof(T)), kSide = kLine / kSize;
  static constexpr int64_t kRows = kSize <= 2 ? 128 : 64, kMostRows = kRows + 16;
  static constexpr int64_t kRun = PJRT_VECTOR_BYTES < kLine ? 256 : 512, kLongestRun = kRun + kLine;
  // From row to row of a buffer, an odd number of lines, so that not all rows fall on the same
  // places of a cache. The target's has room for the bytes before a row.
  static constexpr int64_t kPitch = kLongestRun;
  static constexpr int64_t kTargetPitch = (kMostRows * kSize / kLine + 2) / 2 * 2 * kLine + kLine;
  static_assert(kMostRows * kPitch <= Scratch::kTileBytes);
  static_assert(kLongestRun / kSize <= Scratch::kMostColumns);
  static_assert(kSide * kTargetPitch + kLine <= Scratch::kTargetBytes);
};

constexpr int64_t Least(int64_t a, int64_t b) { return a < b ? a : b; }

// Of `size`, cut into equal parts of kPart or, where what is left would be little, up to kMost.
template <int64_t kPart, int64_t kMost>
int64_t EqualPart(int64_t size) {
  int64_t parts = (size + kPart - 1) / kPart;
  if (parts > 1 && size <= (parts - 1) * kMost) --parts;
  return (size + parts - 1) / parts;
}

// A tile of a matrix or of the one behind it. Tiles follow each other along the rows of the target.
template <typename T>
class Tile {
 public:
  using S = Shape<T>;

  Tile() = default;
  explicit Tile(const StreamedMatrix& matrix) : matrix_(&matrix) {
    most_rows_ = EqualPart<S::kRows, S::kMostRows>(matrix.rows);
    // Whole lines of the target, unless little is left.
    if (most_rows_ < S::kRows && ((matrix.rows - 1) % S::kRows + 1) * S::kSize >= kLine)
      most_rows_ = S::kRows;
    const int64_t lines = (matrix.row_bytes + kLine - 1) / kLine;
    most_bytes_ = EqualPart<S::kRun / kLine, S::kLongestRun / kLine>(lines) * kLine;
  }
  Tile Next(const StreamedMatrix* behind) const {
    Tile next = *this;
    if (matrix_ == nullptr) return next;
    next.row_ += most_rows_;
    if (next.row_ < matrix_->rows) return next;
    next.row_ = 0;
    next.byte_ += most_bytes_;
    if (next.byte_ < matrix_->row_bytes) return next;
    return behind == nullptr || matrix_ == behind ? Tile() : Tile(*behind);
  }

  const StreamedMatrix* matrix() const { return matrix_; }  // null behind the last one
  int64_t row() const { return row_; }
  int64_t byte() const { return byte_; }
  int64_t rows() const { return matrix_ ? Least(most_rows_, matrix_->rows - row_) : 0; }
  int64_t bytes() const { return matrix_ ? Least(most_bytes_, matrix_->row_bytes - byte_) : 0; }
  // About as many as there are while it is transposed and written.
  int64_t Steps() const {
    const int64_t squares = (rows() + S::kSide - 1) / S::kSide;
    const int64_t blocks = (bytes() + kLine - 1) / kLine;
    return blocks * (squares * kTileSteps<T> + Least(S::kSide, kWriteSteps));
  }
  const char* RowAt(int64_t r) const {
    return matrix_->src + (row_ + r) * matrix_->src_stride + byte_;
  }

 private:
  const StreamedMatrix* matrix_ = nullptr;
  int64_t row_ = 0, byte_ = 0, most_rows_ = 0, most_bytes_ = 0;
};

// Rows of a tile, from the next one on.
struct Rows {
  Rows() = default;
  template <typename T>
  Rows(const Tile<T>& tile, int64_t first) {
    if (first >= tile.rows()) return;
    at = tile.RowAt(first);
    stride = tile.matrix()->src_stride;
    bytes = tile.bytes();
    left = tile.rows() - first;
  }
  // A call to what only asks for lines would be one that compilers leave out.
  __attribute__((always_inline)) void Ask() {
    for (int64_t i = 0; i < bytes; i += kLine) __builtin_prefetch(at + i, 0, 3);
    __builtin_prefetch(at + bytes - 1, 0, 3);
    at += stride;
    --left;
  }

  const char* at = nullptr;
  int64_t stride = 0, bytes = 0, left = 0;
};

// Brings a tile to a buffer, row by row in so many steps, and asks for the tile after it.
template <typename T>
class Reader {
 public:
  Reader(char* to, const Tile<T>& tile, const Tile<T>& after, int64_t steps)
      : to_(to),
        read_(tile, 0),
        asked_(tile, kAhead),
        after_(after, 0),
        rows_(tile.rows()),
        steps_(steps) {
    // Some rows of the tile after a short one are asked for, too.
    if (asked_.left == 0) {
      asked_ = Rows(after, rows_ == 0 ? 0 : kAhead - rows_);
      after_ = {};
    }
  }
  void Step() {
    for (due_ += rows_; due_ >= steps_; due_ -= steps_) ReadRow();
  }
  void Rest() {
    while (read_.left > 0) ReadRow();
  }
  // Of the first tile of all.
  static void AskForFirst(const Tile<T>& tile) {
    Rows rows(tile, 0);
    for (int64_t r = 0; r < kAhead && rows.left > 0; ++r) rows.Ask();
  }

 private:
  __attribute__((noinline)) void ReadRow() {
    if (read_.left == 0) return;
    if (asked_.left > 0) {
      asked_.Ask();
      if (asked_.left == 0) asked_ = std::exchange(after_, {});
    }
    const char* const from = read_.at;
    const int64_t bytes = read_.bytes;
    int64_t i = 0;
    for (; i + kLine <= bytes; i += kLine) __builtin_memcpy(to_ + i, from + i, kLine);
    if (i < bytes) CopyInLine(to_ + i, from + i, bytes - i);
    read_.at += read_.stride;
    --read_.left;
    to_ += Shape<T>::kPitch;
  }

  char* to_;
  Rows read_, asked_, after_;
  const int64_t rows_, steps_;
  int64_t due_ = 0;
};

// What a tile has of a row of the target. Where it does not begin the row, the bytes before it
// stand before `row`; where it does not end it, its last line is left for what follows.
PJRT_INLINE void WriteRow(char* to, const char* row, char* carried, int64_t bytes, bool begins,
                          bool ends) {
  int64_t at = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(to) % kLine);
  if (begins && at != 0) {
    at += kLine;
    CopyInLine(to, row, Least(at, bytes));
  }
  for (; at + kLine <= bytes; at += kLine) StreamLine(to + at, row + at);
  if (at >= bytes) return;
  if (ends) {
    CopyInLine(to + at, row + at, bytes - at);
  } else {
    __builtin_memcpy(carried, row + bytes - kLine, kLine);
  }
}

// Columns of a tile, a line wide at most. Squares that reach beyond the edge move back and overlap.
template <typename T>
PJRT_INLINE void TransposeBlock(char* to, const char* from, int64_t rows, int64_t cols,
                                Reader<T>* reader) {
  using S = Shape<T>;
  for (int64_t i = 0; i < rows; i += S::kSide) {
    const int64_t r = i + S::kSide <= rows || rows < S::kSide ? i : rows - S::kSide;
    T* const dst = reinterpret_cast<T*>(to) + r;
    const T* const src = reinterpret_cast<const T*>(from + r * S::kPitch);
    if (rows >= S::kSide && cols == S::kSide) {
      TransposeTile<T, false>(dst, S::kTargetPitch / S::kSize, src, S::kPitch / S::kSize,
                              [&] { reader->Step(); });
    } else {
      TransposeEdge<T>(dst, S::kTargetPitch / S::kSize, src, S::kPitch / S::kSize,
                       Least(rows - r, S::kSide), cols);
      reader->Step();
    }
  }
}

template <typename T>
void TransposeFrom(const char* from, const Tile<T>& tile, bool has_before, bool has_behind,
                   Reader<T>* reader, Scratch* scratch) {
  using S = Shape<T>;
  const StreamedMatrix& m = *tile.matrix();
  const int64_t rows = tile.rows(), cols = tile.bytes() / S::kSize;
  const bool begins = tile.row() == 0 && !has_before;
  const bool ends = tile.row() + rows == m.rows && !has_behind;
  const int64_t first = tile.byte() / S::kSize;
  char* const target = scratch->target + kLine;
  char* const to = m.dst + first * m.dst_stride + tile.row() * S::kSize;
  const bool is_aligned =
      (reinterpret_cast<uintptr_t>(to) | static_cast<uintptr_t>(m.dst_stride)) % kLine == 0;
  const auto carried = [&](int64_t c) {
    return scratch->carried[(first + c) % Scratch::kMostColumns];
  };
  for (int64_t done = 0; done < cols;) {
    const int64_t width = Least(cols, S::kSide), c = Least(done, cols - width);
    if (!begins && !is_aligned) {
      for (int64_t i = done; i < c + width; ++i)
        __builtin_memcpy(target + (i - c) * S::kTargetPitch - kLine, carried(i), kLine);
    }
    TransposeBlock<T>(target, from + c * S::kSize, rows, width, reader);
    // Lines that are written in part are read first: they are asked for a block ahead.
    if (!is_aligned) {
      const int64_t end = Least(c + width + S::kSide, cols);
      for (int64_t i = c + width; begins && i < end; ++i)
        __builtin_prefetch(to + i * m.dst_stride, 1, 3);
      for (int64_t i = c + width; ends && i < end; ++i)
        __builtin_prefetch(to + i * m.dst_stride + rows * S::kSize - 1, 1, 3);
    }
    for (; done < c + width; ++done) {
      WriteRow(to + done * m.dst_stride, target + (done - c) * S::kTargetPitch, carried(done),
               rows * S::kSize, begins, ends);
      if (S::kSide <= kWriteSteps || done % (S::kSide / kWriteSteps) == 0) reader->Step();
    }
  }
}

// True where rows of the target go on in the next matrix, and are long enough to leave a line.
bool GoesOn(const StreamedMatrix& matrix, const StreamedMatrix& next, int64_t size) {
  return next.dst == matrix.dst + matrix.rows * size && next.dst_stride == matrix.dst_stride &&
         next.row_bytes == matrix.row_bytes && matrix.row_bytes <= Scratch::kMostColumns * size &&
         matrix.rows * size >= kLine;
}

template <typename T>
void StreamTranspose(const StreamedMatrix& matrix, const StreamedMatrix* next, Scratch* scratch) {
  Tile<T> tile(matrix);
  if (!scratch->is_read) {
    Reader<T>::AskForFirst(tile);
    Reader<T>(scratch->source[scratch->current], tile, tile.Next(next), 1).Rest();
  }
  const bool goes_on = next != nullptr && GoesOn(matrix, *next, Shape<T>::kSize);
  while (tile.matrix() == &matrix) {
    const Tile<T> second = tile.Next(next);
    const char* const from = scratch->source[scratch->current];
    scratch->current ^= 1;
    Reader<T> reader(scratch->source[scratch->current], second, second.Next(next), tile.Steps());
    TransposeFrom<T>(from, tile, scratch->has_carried, goes_on, &reader, scratch);
    reader.Rest();
    tile = second;
  }
  scratch->is_read = next != nullptr;
  scratch->has_carried = goes_on;
}

}  // namespace

void FillStreamTranspose(BlockKernels* k) {
  k->stream_transpose[0] = StreamTranspose<uint8_t>;
  k->stream_transpose[1] = StreamTranspose<uint16_t>;
  k->stream_transpose[2] = StreamTranspose<uint32_t>;
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL
