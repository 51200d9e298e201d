// SPDX-License-Identifier: Apache-2.0
//
// Reductions over dims that others lie behind.
//
// * Long inner: a block lies along the innermost dim and folds element by element into a block of
//   accumulators, which begin as the initial value.
// * Short inner: a block holds several reduced points of `inner` elements each, of several outer
//   points if they fit. Few fold in order, from the initial value on, many in parts; a
//   body folds neighbours.
// * Many short inner: a block lies along all inner dims and crosses their rows, else as for a long
//   inner.
// * Where there is nothing to compute but the fold, the values are read where they lie, several
//   reduced points at a time.
// * A body that is a choice folds in order, a block of accumulators by comparing and selecting:
//   values along with the numbers of their points, where those say what the companions are.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/reduce_kernel.h"

namespace pjrt::cpu {
namespace {

// Below this, a call of a kernel for a row takes longer than what it computes: 64 x 128 x 64 folded
// over its middle took 460 us row by row and takes 214 several rows at a time.
constexpr int64_t kLongInner = 384;
// So many points with few accumulators each fold in fewer calls of a body as a tree.
constexpr int64_t kTreeCalls = 4;
// So long an inner dim is folded one point after the other over this many reduced points, too.
constexpr int64_t kOrderedInner = 128;
constexpr int64_t kOrderedPoints = 1024;

class ColumnReduction final : public ReduceKernel {
 public:
  using ReduceKernel::ReduceKernel;

 private:
  int64_t FlatRows() const override { return HasLongInner() ? 0 : 1; }

  int64_t ChooseWay() override {
    const LoopProgram& p = program();
    row_ = HasLongInner() ? p.dims.back() : inner_;
    columns_ = HasLongInner() || inner_ > block_;
    const bool only_choices = std::all_of(folds_.begin(), folds_.end(),
                                          [](const Fold& fold) { return fold.choice != nullptr; });
    in_order_ = columns_ || reduced_ <= kFewPoints || only_choices ||
                (inner_ >= kOrderedInner && reduced_ <= kOrderedPoints);
    outers_share_blocks_ =
        !columns_ && reduced_ > 0 && 2 * reduced_ * inner_ <= block_ && has_monoids_;
    if (p.num_reduced == 1 && !outers_share_blocks_ &&
        (columns_ || has_monoids_ || (in_order_ && inner_ >= kOrderedInner))) {
      streams_ = FindStreams(p.num_outer);
      columns_ |= streams_;
    }
    return columns_ ? block_ : std::max(block_, inner_);
  }

  int64_t CutInUnits() override {
    if (columns_) {
      // One block of a row, over all reduced points, is a unit.
      blocks_per_row_ = CeilDiv(row_, block_);
      return outer_ * (inner_ / row_) * blocks_per_row_;
    }
    const double outer_ns =
        std::max(PointNs() * static_cast<double>(reduced_) * static_cast<double>(inner_), 1.0);
    outer_per_unit_ = std::max<int64_t>(1, static_cast<int64_t>(kUnitNs / outer_ns));
    return CeilDiv(outer_, outer_per_unit_);
  }

  void RunUnit(Work* w, int64_t unit) const override {
    if (columns_) return RunColumns(w, unit);
    const int64_t from = unit * outer_per_unit_;
    const int64_t to = std::min(from + outer_per_unit_, outer_);
    if (outers_share_blocks_) return RunShortOuters(w, from, to);
    for (int64_t o = from; o < to; ++o) RunShortInner(w, o);
  }

  bool HasLongInner() const {
    const LoopProgram& p = program();
    return static_cast<int>(p.dims.size()) > p.num_outer + p.num_reduced &&
           p.dims.back() >= kLongInner;
  }

  // A block of a row over all reduced points.
  void RunColumns(Work* w, int64_t unit) const {
    const int64_t column = unit % blocks_per_row_ * block_;
    const int64_t n = std::min(block_, row_ - column);
    unit /= blocks_per_row_;
    const int64_t rows_in_inner = inner_ / row_;
    const int64_t o = unit / rows_in_inner;
    const int64_t i = unit % rows_in_inner * row_ + column;
    const int64_t first = o * reduced_ * inner_ + i;
    if (reduced_ == 0) {
      FinishEmpty(*w, o, i, n);
      return;
    }
    for (const Fold& fold : folds_) folder_.Begin(w->memory, w->inputs, fold, n);
    if (streams_) {
      w->state->Evaluate(first, n);
      for (const Fold& fold : folds_) {
        FoldColumns(*w, fold, first, n);
        FinishBegun(*w, fold, first, n);
      }
      return;
    }
    // Companions are counted a stretch of reduced points at a time.
    for (int64_t r = 0, end = 0; r < reduced_; r = end) {
      end = std::min(reduced_, r + folder_.PlacesFrom(first + r * inner_));
      for (const Fold& fold : folds_) {
        if (fold.CountsCompanions()) folder_.ClearPlaces(w->memory, fold, n);
      }
      for (int64_t k = r; k < end; ++k) {
        w->state->Evaluate(first + k * inner_, n);
        for (const Fold& fold : folds_) {
          const Blocks values = BlocksAt(*w, fold);
          if (k == 0 && !fold.BeginsWithInit()) {
            folder_.Start(w->memory, fold, values.data(), n, first);
          } else if (fold.CountsCompanions()) {
            folder_.ChoosePlaces(w->memory, fold, values[fold.value()], 1 + k - r, 1, n, 0);
          } else {
            folder_.Accumulate(w->memory, fold, values.data(), n);
          }
        }
      }
      for (const Fold& fold : folds_) {
        if (fold.CountsCompanions()) folder_.TakePlaces(w->memory, fold, n, first + r * inner_);
      }
    }
    for (const Fold& fold : folds_) FinishBegun(*w, fold, first, n);
  }

  // All reduced points of n inner ones, the first of which, number `first`, the block shows.
  void FoldColumns(const Work& w, const Fold& fold, int64_t first, int64_t n) const {
    const bool starts = !fold.BeginsWithInit();
    const Blocks values = BlocksAt(w, fold);
    if (starts) folder_.Start(w.memory, fold, values.data(), n, first);
    FoldPoints(w, fold, values[fold.value()] + (starts ? fold.stream_stride : 0), reduced_ - starts,
               n, fold.stream_stride, first + (starts ? inner_ : 0));
  }

  // `points` reduced points, `stride` bytes apart, of n contiguous values that decide, onto the
  // accumulators. The first is point number `point`.
  void FoldPoints(const Work& w, const Fold& fold, const char* values, int64_t points, int64_t n,
                  int64_t stride, int64_t point) const {
    if (fold.CountsCompanions()) {
      folder_.Choose(w.memory, fold, values, points, n, stride, point);
    } else {
      fold.Onto(folder_.Accumulator(w.memory, fold, 0), values, points, n, stride, in_order_);
    }
  }

  // n values that are the first, if they `start`, or come next. Companions are not counted.
  void AccumulateOrStart(const Work& w, const Fold& fold, const char* const* values, int64_t n,
                         bool starts) const {
    if (starts) {
      folder_.Start(w.memory, fold, values, n, 0);
    } else {
      folder_.Accumulate(w.memory, fold, values, n);
    }
  }

  // Short inner dims: a block holds several reduced points of inner_ elements each.
  void RunShortInner(Work* w, int64_t o) const {
    if (reduced_ == 0) {
      FinishEmpty(*w, o, 0, inner_);
      return;
    }
    const int64_t rows = std::max<int64_t>(block_ / inner_, 1);
    const int64_t first = o * reduced_ * inner_;
    for (const Fold& fold : folds_) folder_.Begin(w->memory, w->inputs, fold, inner_);
    for (int64_t r = 0; r < reduced_; r += rows) {
      const int64_t count = std::min(rows, reduced_ - r);
      w->state->Evaluate(first + r * inner_, count * inner_);
      for (const Fold& fold : folds_) {
        const Blocks values = BlocksAt(*w, fold);
        const bool starts = r == 0 && !fold.BeginsWithInit();
        const int64_t point = first + r * inner_;
        if (fold.body == nullptr || fold.CountsCompanions()) {
          const int64_t bytes = inner_ * fold.value_sizes[fold.value()];
          if (starts) folder_.Start(w->memory, fold, values.data(), inner_, point);
          FoldPoints(*w, fold, values[fold.value()] + (starts ? bytes : 0), count - starts, inner_,
                     bytes, point + (starts ? inner_ : 0));
        } else if (fold.choice == nullptr && inner_ < kFewAccumulators && count >= kTreeCalls) {
          Folder::Pointers folded;
          for (size_t i = 0; i < fold.sizes.size(); ++i)
            folded.push_back(folder_.Temporary(w->memory, i));
          folder_.FoldPoints(w->memory, fold, values.data(), count, inner_, folded.data());
          AccumulateOrStart(*w, fold, folded.data(), inner_, starts);
        } else {
          for (int64_t j = 0; j < count; ++j)
            AccumulateOrStart(*w, fold, BlocksAt(*w, fold, j * inner_).data(), inner_,
                              starts && j == 0);
        }
      }
    }
    for (const Fold& fold : folds_) FinishBegun(*w, fold, first, inner_);
  }

  // The same for outer points [from, to), several of which fit in a block.
  void RunShortOuters(Work* w, int64_t from, int64_t to) const {
    const int64_t point = reduced_ * inner_, together = block_ / point;
    for (int64_t o = from; o < to; o += together) {
      const int64_t count = std::min(together, to - o);
      for (const Fold& fold : folds_) folder_.Begin(w->memory, w->inputs, fold, count * inner_);
      w->state->Evaluate(o * point, count * point);
      for (const Fold& fold : folds_) {
        char* accumulators = folder_.Accumulator(w->memory, fold, 0);
        const char* values = w->state->block(fold.first_block);
        for (int64_t k = 0; k < count; ++k) {
          const bool copies = !fold.BeginsWithInit();
          if (copies) fold.Load(accumulators, values, inner_);
          fold.points(accumulators, values + (copies ? inner_ * fold.value_sizes[0] : 0),
                      reduced_ - copies, inner_, inner_, in_order_);
          accumulators += inner_ * fold.sizes[0];
          values += point * fold.value_sizes[0];
        }
        Store(*w, fold, o * point, count * inner_);
      }
    }
  }

  bool columns_ = false;              // blocks lie along rows of row_ inner points
  bool in_order_ = false;             // reduced points are folded one after the other
  bool outers_share_blocks_ = false;  // several outer points of a short inner lie in a block
  bool streams_ = false;              // values are folded where they lie
  int64_t row_ = 1;
  int64_t outer_per_unit_ = 1, blocks_per_row_ = 1;
};

}  // namespace

std::unique_ptr<ReduceKernel> MakeColumnReduction(LoopProgram program,
                                                  std::vector<PrimitiveType> reads_narrow,
                                                  const Kernels& kernels) {
  return std::make_unique<ColumnReduction>(std::move(program), std::move(reads_narrow), kernels);
}

}  // namespace pjrt::cpu
