// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/run/nd_copy.h"

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "absl/base/attributes.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/kernels/stream_transpose.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Where a piece of rows has tiles, those of a run of the source are copied one after the other, so
// that its lines are read once: they may all fall on the same place of the cache. Not where they
// are fewer than this.
constexpr int64_t kFewRows = 8;
// So many lines of the next tile are asked for at a time.
constexpr int64_t kAskedLines = 16;

// Too much for the stacks of some threads.
StreamTransposeScratch& ThreadTransposeScratch() {
  thread_local const auto scratch = std::make_unique<StreamTransposeScratch>();
  scratch->is_read = scratch->has_carried = false;
  return *scratch;
}

}  // namespace

void NdCopy::RunPiece(const char* from, char* to, int64_t part, int64_t tile,
                      const char* next) const {
  const int64_t begin = part * part_;
  if (cut_inner_) {
    Move(from + begin * from_inner_, to + begin * to_inner_, rows_, std::min(part_, inner_ - begin),
         next);
    return;
  }
  from += begin * from_row_;
  to += begin * to_row_;
  const int64_t rows = std::min(part_, rows_ - begin);
  if (tile == 1) {
    Move(from, to, rows, inner_, next);
  } else if (inner_ >= kShortestTurned && inner_ <= kLongestTurned && to_row_ == inner_ &&
             tiled_.from == inner_) {
    kernels_->transpose_short(to, tiled_.to, from, from_row_, rows, tile, inner_);
  } else if (tile <= 2 * rows && (tiled_.from != inner_ || tile < kFewRows)) {
    for (int64_t i = 0; i < tile; ++i, from += tiled_.from, to += tiled_.to)
      kernels_->copy_rows(to, to_row_, from, from_row_, inner_, rows);
  } else {
    for (int64_t i = 0; i < rows; ++i, from += from_row_, to += to_row_)
      kernels_->copy_rows(to, tiled_.to, from, tiled_.from, inner_, tile);
  }
}

void NdCopy::Move(const char* from, char* to, int64_t rows, int64_t inner, const char* next) const {
  switch (pattern_) {
    case kRows:
      if (from_row_ == inner && to_row_ == inner) {
        inner *= rows;
        rows = 1;
      }
      (is_streamed_ ? kernels_->stream_rows : kernels_->copy_rows)(to, to_row_, from, from_row_,
                                                                   inner, rows);
      return;
    case kTranspose:
      if (is_streamed_) {
        kernels_->stream_transpose_2d[SizeLog2(size_)](to, to_row_ / size_, from,
                                                       from_inner_ / size_, inner, rows, next);
      } else {
        kernels_->transpose_2d[SizeLog2(size_)](to, to_row_ / size_, from, from_inner_ / size_,
                                                inner, rows);
      }
      return;
    case kStaged:
    case kTurned:
      return;
    case kStrided:
      kernels_->move_box[SizeLog2(size_)](to, to_row_ / size_, to_inner_ / size_, from,
                                          from_row_ / size_, from_inner_ / size_, rows, inner);
  }
}

NdCopy::Place NdCopy::PlaceAt(int64_t place, const char* from, char* to) const {
  Place result{absl::InlinedVector<int64_t, 6>(outer_.size()), from, to};
  for (size_t d = outer_.size(); d-- > 0;) {
    result.at[d] = place % outer_[d].size;
    place /= outer_[d].size;
    result.from += result.at[d] * outer_[d].from;
    result.to += result.at[d] * outer_[d].to;
  }
  return result;
}

ABSL_ATTRIBUTE_ALWAYS_INLINE inline void NdCopy::Advance(Place* place) const {
  int64_t* const at = place->at.data();
  const Dim* const dims = outer_.data();
  for (size_t d = outer_.size(); d-- > 0;) {
    place->from += dims[d].from;
    place->to += dims[d].to;
    if (++at[d] < dims[d].size) return;
    place->from -= dims[d].from * dims[d].size;
    place->to -= dims[d].to * dims[d].size;
    at[d] = 0;
  }
}

void NdCopy::RunPieces(int64_t begin, int64_t end, const char* from, char* to) const {
  int64_t part = begin % parts_;
  Place place = PlaceAt(begin / parts_, from, to);
  // What lies next to each other comes by itself.
  const bool asks_next = bytes() >= kStreamBytes && std::abs(from_inner_) >= kCacheLine;
  const int64_t from_part = part_ * (cut_inner_ ? from_inner_ : from_row_);
  for (int64_t piece = begin; piece < end; ++piece) {
    const int64_t tile = tile_ == 1 ? 1 : std::min(tile_, tiled_.size - place.at.back() * tile_);
    const char* const from_piece = place.from;
    char* const to_piece = place.to;
    const int64_t this_part = part;
    if (++part == parts_) {
      part = 0;
      Advance(&place);
    }
    const bool has_next = asks_next && piece + 1 < end;
    RunPiece(from_piece, to_piece, this_part, tile,
             has_next ? place.from + part * from_part : nullptr);
  }
}

void NdCopy::RunMatrices(int64_t begin, int64_t end, const char* from, char* to) const {
  const int64_t places = pieces_ / parts_;
  const auto matrix_of = [&](int64_t piece) {
    const Place place = PlaceAt(goes_on_ ? piece % places : piece / parts_, from, to);
    const int64_t at = (goes_on_ ? piece / places : piece % parts_) * part_;
    StreamedMatrix matrix = {place.from, place.to, from_inner_, to_row_, inner_, rows_ * size_};
    if (cut_inner_) {
      matrix.src += at * from_inner_;
      matrix.dst += at * to_inner_;
      matrix.rows = std::min(part_, inner_ - at);
    } else {
      matrix.src += at * from_row_;
      matrix.dst += at * to_row_;
      matrix.row_bytes = std::min(part_, rows_ - at) * size_;
    }
    return matrix;
  };
  const StreamTransposeFn transpose = kernels_->stream_transpose[SizeLog2(size_)];
  StreamTransposeScratch& scratch = ThreadTransposeScratch();
  StreamedMatrix matrix = matrix_of(begin);
  for (int64_t piece = begin + 1; piece < end; ++piece) {
    const StreamedMatrix next = matrix_of(piece);
    transpose(matrix, &next, &scratch);
    matrix = next;
  }
  transpose(matrix, nullptr, &scratch);
}

void NdCopy::RunStages(int64_t begin, int64_t end, const char* from, char* to) const {
  alignas(kCacheLine) char buffer[kStageBytes];
  Place place = PlaceAt(begin, from, to);
  for (int64_t piece = begin; piece < end; ++piece) {
    size_t shape = 0;
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (place.at[ends_[i].place] == outer_[ends_[i].place].size - 1) shape |= size_t{1} << i;
    }
    const NdCopy &read = stages_[2 * shape], &write = stages_[2 * shape + 1];
    const char* const from_tile = place.from;
    char* const to_tile = place.to;
    Advance(&place);
    // A few lines of the next tile at a time, to the second cache: the first one has the buffer.
    const int64_t lines = piece + 1 < end ? static_cast<int64_t>(lines_.size()) : 0;
    const int64_t groups = std::clamp(lines / kAskedLines, int64_t{1}, read.pieces_);
    for (int64_t g = 0; g < groups; ++g) {
      read.RunRange(read.pieces_ * g / groups, read.pieces_ * (g + 1) / groups, from_tile, buffer);
      for (int64_t line = lines * g / groups; line < lines * (g + 1) / groups; ++line)
        __builtin_prefetch(place.from + lines_[static_cast<size_t>(line)], 0, 2);
    }
    write.RunRange(0, write.pieces_, buffer, to_tile);
  }
}

void NdCopy::RunRange(int64_t begin, int64_t end, const char* from, char* to) const {
  if (count_ == 0) return;
  if (pattern_ == kStaged) {
    RunStages(begin, end, from, to);
  } else if (pattern_ == kTurned) {
    turned_[0].Run(begin, end, from, to);
  } else if (IsWide()) {
    RunMatrices(begin, end, from, to);
  } else if (pieces_ == 1) {
    RunPiece(from, to, 0, tile_, nullptr);
  } else {
    RunPieces(begin, end, from, to);
  }
}

void NdCopy::Run(const char* from, char* to) const { RunUnits(0, units_, from, to); }

void NdCopy::Run(const char* from, char* to, Team* team) const {
  if (units_ <= 1 || team == nullptr) return Run(from, to);
  team->ParallelFor(units_, [&](int64_t unit, int) { RunUnit(unit, from, to); });
}

void NdCopy::RunUnit(int64_t unit, const char* from, char* to) const {
  RunUnits(unit, unit + 1, from, to);
}

void NdCopy::RunUnits(int64_t begin, int64_t end, const char* from, char* to) const {
  RunRange(begin * pieces_per_unit_, std::min(end * pieces_per_unit_, pieces_), from, to);
  if (is_streamed_) kernels_->end_stream();
}

double NdCopy::cost_ns() const {
  const double bytes = static_cast<double>(count_ * element_size_);
  const double moves = bytes / static_cast<double>(size_);
  const double base = static_cast<double>(pieces_) * 5 + bytes / 8;
  switch (pattern_) {
    case kRows:
      return is_contiguous() ? base : base + bytes / static_cast<double>(inner_);
    case kTranspose:
    case kStaged:
    case kTurned:
      return base + moves * 0.1;
    case kStrided:
      break;
  }
  return base + moves * 0.5;
}

std::string NdCopy::Describe() const {
  switch (pattern_) {
    case kRows:
      return absl::StrCat("rows of ", inner_, " bytes");
    case kTranspose:
      return absl::StrCat("transposes of ", rows_, "x", inner_, " elements of ", size_, " bytes");
    case kStaged:
      return absl::StrCat("tiles: ", stages_[0].Describe(), ", then ", stages_[1].Describe());
    case kTurned:
      return turned_[0].Describe();
    case kStrided:
      break;
  }
  return absl::StrCat("elements of ", size_, " bytes, ", from_inner_, " to ", to_inner_,
                      " bytes apart");
}

}  // namespace pjrt::cpu
