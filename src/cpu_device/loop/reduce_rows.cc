// SPDX-License-Identifier: Apache-2.0
//
// Reductions of rows, each to one element: nothing lies behind the reduced dims.
//
// * Long rows: each alone, in blocks along the reduced dims. A block folds to one element, the
//   blocks fold one after the other. Where the blocks of a row lie apart, those of some
//   neighbouring rows take turns.
// * Short rows: a block holds several whole rows; each folds to one element.
// * Where there is nothing to compute but the fold, rows are read where they lie, many at a time.
//   Of rows that lie in pieces, the pieces are folded with each other first, element by element.
// * A body that is a choice folds a long row by its largest value and the place of that, and many
//   short ones at a time in vector registers.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/reduce_kernel.h"

namespace pjrt::cpu {
namespace {

// Longer rows of blocks get blocks of their own.
constexpr int64_t kSharedRow = 256;
// A call of a body for so many rows at a time is worth turning them.
constexpr int64_t kTurnedRows = 8;
// Where the pieces of rows lie apart, those of so many neighbouring rows are folded together that
// this many bytes are read in a run, as far as that leaves so many units.
constexpr double kRunBytes = 16 * 1024;
constexpr int64_t kLeastUnits = 8;
// So many rows of pieces are folded at a time.
constexpr int64_t kPieceRows = 64;
// So many elements that lie in place are read at a time.
constexpr int64_t kInPlace = 1024;
// The same where nothing depends on the order.
constexpr int64_t kInPlaceInAnyOrder = 16384;
// Rows of bytes up to this are turned where their points are numbered: it takes longer to find a
// number in each. Longer elements fill as many registers with fewer rows.
constexpr int64_t kNumberedBytes = kMostPlaces;
// A choice reads a row twice, so that it must stay in the L1 cache.
constexpr int64_t kChoiceRow = 4096;
// Rows of so many bytes are asked for ahead. Longer ones, which AVX2 takes longer to fold than to
// read, came a tenth later.
constexpr int64_t kAskedRow = 4096;
// So much is chosen from at a time.
constexpr int64_t kChoiceBytes = 64 * 1024;

class RowReduction final : public ReduceKernel {
 public:
  using ReduceKernel::ReduceKernel;

 private:
  int64_t FlatRows() const override {
    const LoopProgram& p = program();
    // Rows cross blocks when several fit in one, or when the innermost reduced dim alone is short.
    const bool is_short = !p.dims.empty() && p.dims.back() < kLongRow;
    if (reduced_ < kSharedRow || (is_short && !PiecesFollowEachOther())) return 1;
    // Pieces of rows that need no computing are read where they lie.
    return p.num_reduced >= 2 && OnlyReads() ? -1 : 0;
  }

  // Whether the values are inputs as they are.
  bool OnlyReads() const {
    const LoopProgram& p = program();
    return p.stores.empty() &&
           std::all_of(p.instrs.begin(), p.instrs.end(),
                       [](const LoopInstr& instr) { return instr.kind == LoopInstr::kInput; });
  }
  // Whether rows lie in pieces and monoids fold those of neighbouring rows in one run, so that it
  // doesn't matter how short they are.
  bool PiecesFollowEachOther() const {
    const LoopProgram& p = program();
    if (p.num_outer != 1 || p.num_reduced != 2 || !OnlyReads()) return false;
    return std::all_of(p.reduces.begin(), p.reduces.end(),
                       [](const LoopReduce& reduce) { return reduce.has_monoid; }) &&
           std::all_of(p.instrs.begin(), p.instrs.end(), [&](const LoopInstr& instr) {
             const Dims& strides = p.inputs[instr.index].view.strides;
             return strides.back() == 1 && strides[0] == p.dims.back();
           });
  }

  int64_t ChooseWay() override {
    const LoopProgram& p = program();
    in_pieces_ = frame_.row_mode() && p.num_reduced >= 2;
    piece_ = in_pieces_ ? frame_.row_length() : reduced_;
    const bool one_choice_a_row = p.num_reduced == 1 && reduced_ <= kChoiceRow;
    in_place_ = reduced_ > 0 && (p.num_reduced == 1 || (in_pieces_ && p.num_reduced == 2)) &&
                (has_monoids_ || one_choice_a_row) && FindStreams(p.num_outer);
    if (!in_place_) return block_;
    if (has_monoids_) block_ = kInPlace;
    bool follow = p.num_outer <= 1;
    for (const Fold& fold : folds_)
      follow &= p.num_outer == 0 || fold.outer_stride == piece_ * fold.value_sizes[fold.value()];
    if (!follow && frame_.row_mode()) return block_;
    if (in_pieces_ || piece_ > kInPlace) {
      together_ = std::max<int64_t>(block_ / piece_, 1);
      return block_;
    }
    together_ = block_;
    for (const Fold& fold : folds_) {
      if (fold.choice != nullptr)
        together_ = std::clamp<int64_t>(kChoiceBytes / RowBytes(fold), 1, together_);
    }
    return block_;
  }

  int64_t CutInUnits() override {
    const double outer_ns = std::max(PointNs() * static_cast<double>(reduced_), 1.0);
    outer_per_unit_ = std::max<int64_t>(1, static_cast<int64_t>(kUnitNs / outer_ns));
    if (in_pieces_) {
      const double piece_bytes = BytesPerPoint() * static_cast<double>(piece_);
      const int64_t together = static_cast<int64_t>(kRunBytes / std::max(piece_bytes, 1.0));
      outer_per_unit_ = std::max(outer_per_unit_, std::min(together, outer_ / kLeastUnits));
    }
    if (reduced_ > 0 && reduced_ < block_) {
      const int64_t rows = in_place_ && !has_monoids_ ? together_ : block_ / reduced_;
      outer_per_unit_ = AlignUp(outer_per_unit_, rows);
    }
    return CeilDiv(outer_, outer_per_unit_);
  }

  void RunUnit(Work* w, int64_t unit) const override {
    const int64_t from = unit * outer_per_unit_, to = std::min(from + outer_per_unit_, outer_);
    if (reduced_ == 0) {
      for (int64_t o = from; o < to; ++o) FinishEmpty(*w, o, 0, 1);
      return;
    }
    const bool share_blocks = !in_place_ && !frame_.row_mode() && reduced_ <= block_;
    // The results of some rows are written together: one by one it took a fifth of the time of a
    // softmax of rows of 1024.
    const int64_t most = share_blocks               ? block_ / reduced_
                         : in_pieces_ && !in_place_ ? std::min(block_, kPieceRows)
                                                    : block_;
    for (int64_t o = from; o < to; o += most) {
      const int64_t rows = std::min(most, to - o);
      if (in_place_) {
        for (const Fold& fold : folds_) {
          for (int64_t row = 0; row < rows; row += together_)
            FoldInPlace(*w, fold, o + row, std::min(together_, rows - row), row);
        }
      } else if (share_blocks) {
        w->state->Evaluate(o * reduced_, rows * reduced_);
        for (const Fold& fold : folds_) FoldRows(*w, fold, o * reduced_, rows, 0);
      } else if (in_pieces_) {
        for (int64_t r = 0; r < reduced_;) {
          int64_t n = 0;
          for (int64_t row = 0; row < rows; ++row) n = FoldBlock(w, o + row, r, row);
          r += n;
        }
      } else {
        for (int64_t row = 0; row < rows; ++row) {
          for (int64_t r = 0; r < reduced_;) r += FoldBlock(w, o + row, r, row);
        }
      }
      for (const Fold& fold : folds_) Finish(*w, fold, o * reduced_, rows);
    }
  }

  // The block from reduced point r on of outer point o, to element `row` of the accumulators.
  // Returns the size of the block.
  int64_t FoldBlock(Work* w, int64_t o, int64_t r, int64_t row) const {
    const int64_t at = o * reduced_ + r;
    const int64_t n = std::min(frame_.BlockAt(at, (o + 1) * reduced_), block_);
    w->state->Evaluate(at, n);
    for (const Fold& fold : folds_) {
      const Blocks values = BlocksAt(*w, fold);
      if (r == 0) {
        folder_.FoldRows(w->memory, fold, values.data(), 1, n, Accumulators(*w, fold, row).data(),
                         at);
        continue;
      }
      absl::InlinedVector<char, 64> memory(fold.sizes.size() * 16);
      Folder::Pointers out;
      Blocks folded;
      for (size_t i = 0; i < fold.sizes.size(); ++i) {
        out.push_back(memory.data() + 16 * i);
        folded.push_back(out.back());
      }
      folder_.FoldRows(w->memory, fold, values.data(), 1, n, out.data(), at);
      folder_.AccumulateFolded(w->memory, fold, folded.data(), row);
    }
    return n;
  }

  // `rows` rows that follow each other, the first of which begins with point number `first`, to the
  // accumulators from element `at` on. In memory, `follow` more rows follow, if they are worth
  // asking for.
  void FoldRows(const Work& w, const Fold& fold, int64_t first, int64_t rows, int64_t at,
                int64_t follow = 0) const {
    Blocks values = BlocksAt(w, fold);
    if (folder_.CanChooseRows(fold, rows, reduced_)) {
      folder_.ChooseRows(w.memory, fold, values[fold.value()], rows, reduced_, first, at);
      return;
    }
    const bool are_numbered_bytes = fold.CountsCompanions() && fold.value_sizes[fold.value()] == 1;
    const bool is_long = are_numbered_bytes ? reduced_ > kNumberedBytes : reduced_ >= kLongRow;
    if (fold.body == nullptr || rows < kTurnedRows || is_long ||
        rows * RowBytes(fold) > block_ * Folder::kElementBytes ||
        (fold.CountsCompanions() && !fold.rows_share_companions)) {
      folder_.FoldRows(w.memory, fold, values.data(), rows, reduced_,
                       Accumulators(w, fold, at).data(), first, follow);
      return;
    }
    // Across rows: element r of every row at once.
    for (size_t i = 0; i < fold.sizes.size(); ++i) {
      if (fold.CountsCompanions() && i != fold.value()) continue;
      k_.transpose_2d[SizeLog2(fold.value_sizes[i])](folder_.Gathered(w.memory, i), rows, values[i],
                                                     reduced_, rows, reduced_);
      values[i] = folder_.Gathered(w.memory, i);
    }
    folder_.Start(w.memory, fold, values.data(), rows, first, at);
    if (fold.CountsCompanions()) {
      const int64_t bytes = rows * fold.value_sizes[fold.value()];
      folder_.Choose(w.memory, fold, values[fold.value()] + bytes, reduced_ - 1, rows, bytes,
                     first + 1, at);
      return;
    }
    for (int64_t r = 1; r < reduced_; ++r) {
      for (size_t i = 0; i < fold.sizes.size(); ++i) values[i] += rows * fold.sizes[i];
      folder_.Accumulate(w.memory, fold, values.data(), rows, at);
    }
  }

  // `rows` rows from outer point o on, which follow each other, to the accumulators from element
  // `at` on. There is one where a row is longer than a block.
  void FoldInPlace(const Work& w, const Fold& fold, int64_t o, int64_t rows, int64_t at) const {
    const int64_t first = o * reduced_;
    w.state->Evaluate(first, 1);
    if (fold.choice != nullptr) {
      const bool asks =
          together_ > 1 && RowBytes(fold) <= kAskedRow && outer_ * RowBytes(fold) >= kStreamBytes;
      FoldRows(w, fold, first, rows, at, asks ? outer_ - o - rows : 0);
      return;
    }
    const char* const values = w.state->block(fold.first_block);
    char* const accumulators = Accumulators(w, fold, at)[0];
    const Monoid monoid = fold.reduce->monoid;
    const bool in_any_order = monoid == Monoid::kMaximum || monoid == Monoid::kMinimum;
    const int64_t most = in_any_order && !in_pieces_ ? kInPlaceInAnyOrder : kInPlace;
    for (int64_t i = 0; i < piece_; i += most) {
      const int64_t n = std::min(most, piece_ - i);
      const char* const from = values + i * fold.value_sizes[0];
      alignas(16) char folded[16];
      char* const to = i == 0 ? accumulators : folded;
      if (in_pieces_) {
        char* const sums = folder_.Temporary(w.memory, 0);
        fold.Load(sums, from, rows * n);
        fold.Onto(sums, from + fold.stream_stride, reduced_ / piece_ - 1, rows * n,
                  fold.stream_stride, false);
        fold.accumulator_rows(to, sums, rows, n);
      } else {
        fold.rows(to, from, rows, n);
      }
      if (i != 0) fold.op(accumulators, accumulators, folded, nullptr, 1);
    }
  }

  Folder::Pointers Accumulators(const Work& w, const Fold& fold, int64_t at) const {
    Folder::Pointers accumulators;
    for (size_t i = 0; i < fold.sizes.size(); ++i)
      accumulators.push_back(folder_.Accumulator(w.memory, fold, i) + at * fold.sizes[i]);
    return accumulators;
  }

  int64_t RowBytes(const Fold& fold) const { return reduced_ * fold.value_sizes[fold.value()]; }

  bool in_pieces_ = false;  // the values of a row lie in several pieces
  bool in_place_ = false;   // values are folded where they lie
  int64_t piece_ = 1;
  int64_t together_ = 1;  // so many rows follow each other and are folded in place at a time
  int64_t outer_per_unit_ = 1;
};

}  // namespace

std::unique_ptr<ReduceKernel> MakeRowReduction(LoopProgram program,
                                               std::vector<PrimitiveType> reads_narrow,
                                               const Kernels& kernels) {
  return std::make_unique<RowReduction>(std::move(program), std::move(reads_narrow), kernels);
}

}  // namespace pjrt::cpu
