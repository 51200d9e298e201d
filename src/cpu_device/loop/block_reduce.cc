// SPDX-License-Identifier: Apache-2.0
//
// The iteration space is outer x reduced x inner (the names of LoopProgram). Blocks of values are
// computed as in a map, then folded into accumulators.
//
// * inner == 1, long reduction: each outer point alone, in blocks along the reduced dims. A block
//   folds to one element, the blocks fold one after the other. Where the blocks of a row lie apart,
//   those of some neighbouring rows take turns.
// * inner == 1, short reduction: a block holds several whole rows; each folds to one element.
// * Long inner: a block lies along the innermost dim and folds element by element into a block of
//   accumulators, which begin as the initial value.
// * Short inner: a block holds several reduced points of `inner` elements each, of several outer
//   points if they fit. Few fold in order, from the initial value on, many sixteen at a time; a
//   body folds neighbours.
// * Many short inner: a block lies along all inner dims and crosses their rows, else as for a long
//   inner.
// * Short inner, folded by a body: outer dims become inner ones first. A body is called for a block
//   of accumulators, and a call costs as much as it takes to fold a hundred of them.
// * Where there is nothing to compute but the fold, a long inner, or one that folds in order, is
//   read where it lies, several reduced points at a time; so are the pieces of a long reduction.
// * A body that is a choice folds in order: a row by its largest value and the place of that, a
//   block of accumulators by comparing and selecting.
//
// Each order of folding depends on the sizes alone, so that a result has the same bits however the
// work is split. Folds with a body (rather than a monoid) keep the order of the elements, as an
// associative function may demand.
#include "src/cpu_device/loop/block_reduce.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/loop/block_fold.h"
#include "src/cpu_device/loop/block_frame.h"

namespace pjrt::cpu {
namespace {

constexpr double kUnitNs = 20000;
constexpr double kBytesPerNs = 10;
// Below this, a call of a kernel for a row takes longer than what it computes: 64 x 128 x 64 folded
// over its middle took 460 us row by row and takes 214 several rows at a time.
constexpr int64_t kLongInner = 384;
// Reduced rows shorter than this share blocks.
constexpr int64_t kLongRow = 64;
// So few reduced points of a short inner dim are folded one after the other.
constexpr int64_t kFewPoints = 64;
// So many rows of one accumulator each are worth reading along columns.
constexpr int64_t kManyRows = 16;
// So few accumulators are not worth a call of a body.
constexpr int64_t kFewAccumulators = 64;
// So many points with few accumulators each fold in fewer calls of a body as a tree.
constexpr int64_t kTreePoints = 4;
// Values that lie in an input are chosen from so many rows at a time, a piece of each after the
// other: memory gives several streams sooner than one that is broken off again and again.
constexpr int64_t kStreams = 8;
constexpr int64_t kPiece = 256;
// Where the pieces of rows lie apart, those of so many neighbouring rows are folded together that
// this many bytes are read in a run, as far as that leaves so many units.
constexpr double kRunBytes = 16 * 1024;
constexpr int64_t kFewUnits = 8;
// So many rows of pieces are folded at a time.
constexpr int64_t kPieceRows = 64;
// So long an inner dim is folded one point after the other over this many reduced points, too.
constexpr int64_t kOrderedInner = 128;
constexpr int64_t kOrderedPoints = 1024;
constexpr int64_t kAlign = 64;
int64_t AlignUp(int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

// Makes inner dims of the outer ones where a body would be called for a few accumulators at a time.
LoopProgram WithManyAccumulators(LoopProgram program) {
  const int reduced_begin = program.num_outer, reduced_end = reduced_begin + program.num_reduced;
  int64_t outer = 1, reduced = 1, inner = 1;
  for (int d = 0; d < static_cast<int>(program.dims.size()); ++d)
    (d < reduced_begin ? outer : d < reduced_end ? reduced : inner) *= program.dims[d];
  bool has_body = false, has_monoid = false;
  for (const LoopReduce& reduce : program.reduces)
    (reduce.has_monoid ? has_monoid : has_body) = true;
  // Monoids fold many points pairwise, which loses less of a sum.
  if (!has_body || (has_monoid && reduced > kFewPoints)) return program;
  if (outer < 2 || inner >= kFewAccumulators) return program;
  if (inner == 1 && (outer < kManyRows || reduced >= kLongRow)) return program;
  const auto rotate = [&](Dims* dims) {
    std::rotate(dims->begin(), dims->begin() + reduced_begin, dims->begin() + reduced_end);
  };
  rotate(&program.dims);
  ForEachView(&program, [&](LoopView* view) { rotate(&view->strides); });
  program.num_outer = 0;
  Simplify(&program);
  return program;
}

class ReduceKernel final : public LoopKernel {
 public:
  // `program` as SimplifyValues leaves it, which returned `reads_narrow`.
  ReduceKernel(LoopProgram program, std::vector<PrimitiveType> reads_narrow,
               const BlockKernels& kernels)
      : frame_(std::move(program), kernels),
        reads_narrow_(std::move(reads_narrow)),
        k_(kernels),
        folder_(kernels, frame_.program()),
        folds_(folder_.folds()) {}

  absl::Status Init(const LoopEngine& engine) {
    const LoopProgram& p = frame_.program();
    const int rank = static_cast<int>(p.dims.size());
    for (int d = 0; d < rank; ++d) {
      (d < p.num_outer ? outer_ : d < p.num_outer + p.num_reduced ? reduced_ : inner_) *= p.dims[d];
    }
    long_inner_ = rank > p.num_outer + p.num_reduced && p.dims.back() >= kLongInner;
    // Rows cross blocks when several fit in one, or when the innermost reduced dim alone is short.
    const bool short_rows =
        inner_ == 1 && (reduced_ < 256 || (rank > 0 && p.dims.back() < kLongRow));
    // Pieces of rows that need no computing are read where they lie.
    const bool only_reads =
        p.num_reduced >= 2 && p.stores.empty() &&
        std::all_of(p.instrs.begin(), p.instrs.end(),
                    [](const LoopInstr& instr) { return instr.kind == LoopInstr::kInput; });
    frame_.ChooseMode(inner_ == 1 ? (short_rows ? 1 : only_reads ? -1 : 0) : (long_inner_ ? 0 : 1));
    PJRT_RETURN_IF_ERROR(folder_.Init(engine, reads_narrow_));
    std::vector<LoopValue> blocks;
    for (const LoopReduce& reduce : p.reduces)
      blocks.insert(blocks.end(), reduce.values.begin(), reduce.values.end());
    PJRT_RETURN_IF_ERROR(frame_.Lower(blocks));
    for (const Fold& fold : folds_) {
      if (fold.body != nullptr) block_ = std::min(block_, fold.body->max_block());
    }
    block_ = std::min(block_, frame_.block_size());
    row_ = long_inner_ ? p.dims.back() : inner_;
    columns_ = inner_ != 1 && (long_inner_ || inner_ > block_);
    const bool only_choices = std::all_of(folds_.begin(), folds_.end(),
                                          [](const Fold& fold) { return fold.choose != nullptr; });
    in_order_ = columns_ || reduced_ <= kFewPoints || only_choices ||
                (inner_ >= kOrderedInner && reduced_ <= kOrderedPoints);
    in_pieces_ = inner_ == 1 && frame_.row_mode() && p.num_reduced >= 2 &&
                 static_cast<int>(p.dims.size()) == p.num_outer + p.num_reduced;
    has_monoids_ = std::all_of(folds_.begin(), folds_.end(),
                               [](const Fold& fold) { return fold.body == nullptr; });
    outers_share_blocks_ =
        inner_ != 1 && !columns_ && reduced_ > 0 && 2 * reduced_ * inner_ <= block_ && has_monoids_;
    PlanStreams();
    // The folds' scratch lies behind the frame's.
    scratch_bytes_ =
        AlignUp(frame_.scratch_bytes()) + folder_.LayOut(std::max(block_, inner_per_block()));
    PlanUnits();
    return absl::OkStatus();
  }

  int64_t num_units() const override { return units_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  double cost_ns() const override { return cost_ns_; }
  const LoopProgram& program() const override { return frame_.program(); }
  bool CanShare(int input, int output) const override { return frame_.CanShare(input, output); }

  void Run(const char* const* inputs, char* const* outputs, int64_t begin, int64_t end,
           char* scratch) const override {
    BlockFrame::State state(frame_, inputs, outputs, scratch);
    Work w{inputs, outputs, scratch + AlignUp(frame_.scratch_bytes()), &state};
    for (int64_t unit = begin; unit < end; ++unit) {
      if (inner_ == 1) {
        const int64_t from = unit * outer_per_unit_;
        RunRows(&w, from, std::min(from + outer_per_unit_, outer_));
      } else if (columns_) {
        RunColumns(&w, unit);
      } else {
        const int64_t from = unit * outer_per_unit_;
        const int64_t to = std::min(from + outer_per_unit_, outer_);
        if (outers_share_blocks_) {
          RunShortOuters(&w, from, to);
        } else {
          for (int64_t o = from; o < to; ++o) RunShortInner(&w, o);
        }
      }
    }
  }

 private:
  struct Work {
    const char* const* inputs;
    char* const* outputs;
    char* memory;  // accumulators, temporaries, the bodies' scratch
    BlockFrame::State* state;
  };

  // Whether there is nothing to compute but folds of values that lie in inputs, in steps along dim
  // d.
  bool FindStreams(int d) {
    const LoopProgram& p = frame_.program();
    for (Fold& fold : folds_) {
      if (fold.body != nullptr && !fold.CountsCompanions()) return false;
      const int v = fold.choose != nullptr ? fold.reduce->choice->value : 0;
      const int input = frame_.InputOfBlock(fold.first_block + v);
      if (input < 0) return false;
      fold.stream_stride = p.inputs[input].view.strides[d] * fold.value_sizes[v];
    }
    return p.stores.empty();
  }
  void PlanStreams() {
    const LoopProgram& p = frame_.program();
    if (inner_ == 1) {
      streams_ = in_pieces_ && p.num_reduced == 2 && p.dims.back() <= block_ && has_monoids_ &&
                 FindStreams(p.num_outer);
    } else if (p.num_reduced == 1 &&
               (columns_ || has_monoids_ || (in_order_ && inner_ >= kOrderedInner))) {
      streams_ = !outers_share_blocks_ && FindStreams(p.num_outer);
      columns_ |= streams_;
    }
  }

  int64_t inner_per_block() const { return columns_ || inner_ == 1 ? 1 : inner_; }

  void PlanUnits() {
    const LoopProgram& p = frame_.program();
    double bytes = 0;
    for (const LoopInput& input : p.inputs) bytes += ByteWidth(input.type);
    const double point_ns = std::max(ElementCostNs(p), bytes / kBytesPerNs);
    cost_ns_ = static_cast<double>(p.ElementCount()) * point_ns + 50;
    if (outer_ == 0 || inner_ == 0) return;  // no results
    if (columns_) {
      // One block of a row, over all reduced points, is a unit.
      blocks_per_row_ = (row_ + block_ - 1) / block_;
      units_ = outer_ * (inner_ / row_) * blocks_per_row_;
      return;
    }
    const double outer_ns =
        std::max(point_ns * static_cast<double>(reduced_) * static_cast<double>(inner_), 1.0);
    outer_per_unit_ = std::max<int64_t>(1, static_cast<int64_t>(kUnitNs / outer_ns));
    if (in_pieces_) {
      const double piece_bytes = bytes * static_cast<double>(p.dims.back());
      const int64_t together = static_cast<int64_t>(kRunBytes / std::max(piece_bytes, 1.0));
      outer_per_unit_ = std::max(outer_per_unit_, std::min(together, outer_ / kFewUnits));
    }
    if (inner_ == 1 && reduced_ > 0 && reduced_ < block_) {
      const int64_t rows = block_ / reduced_;
      outer_per_unit_ = (outer_per_unit_ + rows - 1) / rows * rows;
    }
    units_ = (outer_ + outer_per_unit_ - 1) / outer_per_unit_;
  }

  // The initial value folded with the accumulators, to the outputs.
  void Finish(const Work& w, const Fold& fold, int64_t point, int64_t n) const {
    folder_.Finish(w.memory, w.inputs, fold, n);
    Store(w, fold, point, n);
  }
  // Accumulators that the initial value may have begun, to the outputs.
  void FinishBegun(const Work& w, const Fold& fold, int64_t point, int64_t n) const {
    if (!fold.BeginsWithInit()) folder_.Finish(w.memory, w.inputs, fold, n);
    Store(w, fold, point, n);
  }

  // The accumulators to the outputs: n outputs, the first at the program's point number `point`.
  void Store(const Work& w, const Fold& fold, int64_t point, int64_t n) const {
    for (size_t i = 0; i < fold.sizes.size(); ++i) {
      const LoopReduce::Output& output = fold.reduce->outputs[i];
      const char* from = folder_.Accumulator(w.memory, fold, i);
      if (ConvertFn store = k_.store[output.type]; store != nullptr) {
        store(folder_.Temporary(w.memory, i), from, n);
        from = folder_.Temporary(w.memory, i);
      }
      Scatter(output, w.outputs[fold.first_output + i], from, point, n);
    }
  }

  // Writes n elements, consecutive over the dims that are not reduced, from point number `point` on
  // (a point with reduced coordinates 0).
  void Scatter(const LoopReduce::Output& output, char* array, const char* from, int64_t point,
               int64_t n) const {
    const int size = ByteWidth(output.type);
    const LoopProgram& p = frame_.program();
    const int rank = static_cast<int>(p.dims.size());
    // Coordinates over the kept dims.
    absl::InlinedVector<int64_t, 6> dims, strides, at;
    int64_t rest = point;
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t q = rest / p.dims[d];
      if (d < p.num_outer || d >= p.num_outer + p.num_reduced) {
        dims.push_back(p.dims[d]);
        strides.push_back(output.view.strides[d]);
        at.push_back(rest - q * p.dims[d]);
      }
      rest = q;
    }
    int64_t offset = output.view.offset;
    for (size_t d = 0; d < dims.size(); ++d) offset += at[d] * strides[d];
    if (dims.empty()) {
      std::memcpy(array + offset * size, from, size);
      return;
    }
    while (n > 0) {
      const int64_t piece = std::min(n, dims[0] - at[0]);
      if (strides[0] == 1) {
        std::memcpy(array + offset * size, from, piece * size);
      } else {
        k_.scatter_stride[SizeLog2(size)](array + offset * size, from, strides[0], piece);
      }
      n -= piece;
      from += piece * size;
      at[0] += piece;
      offset += piece * strides[0];
      for (size_t d = 0; d + 1 < dims.size() && at[d] == dims[d]; ++d) {
        offset += strides[d + 1] - at[d] * strides[d];
        at[d] = 0;
        ++at[d + 1];
      }
    }
  }

  // The values from element `element` of their blocks on, which is that of point number `point`.
  absl::InlinedVector<const char*, 4> Blocks(const Work& w, const Fold& fold, int64_t element,
                                             int64_t point) const {
    absl::InlinedVector<const char*, 4> values;
    for (size_t i = 0; i < fold.sizes.size(); ++i)
      values.push_back(w.state->block(fold.first_block + i) + element * fold.value_sizes[i]);
    if (fold.CountsCompanions())
      values[1 - fold.reduce->choice->value] = folder_.Companion(w.memory, fold, point);
    return values;
  }

  // inner == 1: outer points [from, to).
  void RunRows(Work* w, int64_t from, int64_t to) const {
    if (reduced_ == 0) {
      for (int64_t o = from; o < to; ++o) FinishEmpty(w, o, 1);
      return;
    }
    if (!frame_.row_mode() && reduced_ <= block_) {
      const int64_t rows = block_ / reduced_;
      for (int64_t o = from; o < to; o += rows) {
        const int64_t count = std::min(rows, to - o);
        w->state->Evaluate(o * reduced_, count * reduced_);
        for (const Fold& fold : folds_) FoldRows(*w, fold, o * reduced_, count);
        for (const Fold& fold : folds_) Finish(*w, fold, o * reduced_, count);
      }
      return;
    }
    // The results of some rows are written together: one by one it took a fifth of the time of a
    // softmax of rows of 1024.
    const int64_t most = in_pieces_ ? std::min(block_, kPieceRows) : block_;
    for (int64_t o = from; o < to; o += most) {
      const int64_t rows = std::min(most, to - o);
      if (streams_) {
        for (const Fold& fold : folds_) FoldPieces(w, fold, o, rows);
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

  // inner == 1: the block from reduced point r on of outer point o, to element `row` of the
  // accumulators. Returns the size of the block.
  int64_t FoldBlock(Work* w, int64_t o, int64_t r, int64_t row) const {
    const int64_t at = o * reduced_ + r;
    const int64_t n = std::min(frame_.BlockAt(at, (o + 1) * reduced_), block_);
    w->state->Evaluate(at, n);
    for (const Fold& fold : folds_) {
      if (fold.body == nullptr) {
        char* const accumulator = folder_.Accumulator(w->memory, fold, 0) + row * fold.sizes[0];
        const char* values = w->state->block(fold.first_block);
        alignas(16) char folded[16];
        fold.rows(r == 0 ? accumulator : folded, values, 1, n);
        if (r != 0) fold.op(accumulator, accumulator, folded, nullptr, 1);
        continue;
      }
      absl::InlinedVector<char, 64> memory(fold.sizes.size() * 16);
      Folder::Pointers out;
      absl::InlinedVector<const char*, 4> folded;
      for (size_t i = 0; i < fold.sizes.size(); ++i) {
        out.push_back(memory.data() + 16 * i);
        folded.push_back(out.back());
      }
      folder_.FoldRow(w->memory, fold, Blocks(*w, fold, 0, at).data(), n, out.data(), at);
      folder_.Accumulate(w->memory, fold, folded.data(), 1, r == 0, row);
    }
    return n;
  }

  // inner == 1: `rows` outer points from o on, whose values lie in pieces of one size: a piece of
  // each after the other, all at once where they follow each other.
  void FoldPieces(Work* w, const Fold& fold, int64_t o, int64_t rows) const {
    const int64_t n = frame_.row_length(), pieces = reduced_ / n;
    const int64_t bytes = n * fold.value_sizes[0];
    absl::InlinedVector<const char*, kPieceRows> begins;
    for (int64_t row = 0; row < rows; ++row) {
      w->state->Evaluate((o + row) * reduced_, n);
      begins.push_back(w->state->block(fold.first_block));
    }
    const char* const first = begins[0];
    bool follow = true;
    for (int64_t row = 1; row < rows; ++row) follow &= begins[row] == begins[row - 1] + bytes;
    char* const accumulators = folder_.Accumulator(w->memory, fold, 0);
    char* const folded = folder_.Temporary(w->memory, 0);
    for (int64_t piece = 0; piece < pieces; ++piece) {
      char* const to = piece == 0 ? accumulators : folded;
      if (follow) {
        fold.rows(to, first + piece * fold.stream_stride, rows, n);
      } else {
        for (int64_t row = 0; row < rows; ++row)
          fold.rows(to + row * fold.sizes[0], begins[row] + piece * fold.stream_stride, 1, n);
      }
      if (piece != 0) fold.op(accumulators, accumulators, folded, nullptr, rows);
    }
  }

  // `rows` rows of a block, the first of which begins with point number `first`, each folded into
  // its accumulator.
  void FoldRows(const Work& w, const Fold& fold, int64_t first, int64_t rows) const {
    if (fold.body == nullptr) {
      fold.rows(folder_.Accumulator(w.memory, fold, 0), Blocks(w, fold, 0, first)[0], rows,
                reduced_);
      return;
    }
    if (rows >= 8 && reduced_ < kLongRow && !fold.CountsCompanions()) {
      // Across rows: element r of every row at once.
      for (int64_t r = 0; r < reduced_; ++r) {
        auto values = Blocks(w, fold, r, first + r);
        for (size_t i = 0; i < fold.sizes.size(); ++i) {
          k_.gather_stride[SizeLog2(fold.sizes[i])](folder_.Gathered(w.memory, i), values[i],
                                                    reduced_, rows);
          values[i] = folder_.Gathered(w.memory, i);
        }
        folder_.Accumulate(w.memory, fold, values.data(), rows, r == 0);
      }
      return;
    }
    for (int64_t row = 0; row < rows; ++row) {
      const auto values = Blocks(w, fold, row * reduced_, first + row * reduced_);
      Folder::Pointers out;
      for (size_t i = 0; i < fold.sizes.size(); ++i)
        out.push_back(folder_.Accumulator(w.memory, fold, i) + row * fold.sizes[i]);
      folder_.FoldRow(w.memory, fold, values.data(), reduced_, out.data(), first + row * reduced_);
    }
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
      FinishEmptyAt(w, o, i, n);
      return;
    }
    for (const Fold& fold : folds_) folder_.Begin(w->memory, w->inputs, fold, n);
    if (streams_) {
      w->state->Evaluate(first, n);
      for (const Fold& fold : folds_) {
        FoldStreams(*w, fold, first, n);
        FinishBegun(*w, fold, first, n);
      }
      return;
    }
    for (int64_t r = 0; r < reduced_; ++r) {
      w->state->Evaluate(first + r * inner_, n);
      for (const Fold& fold : folds_)
        folder_.Accumulate(w->memory, fold, Blocks(*w, fold, 0, first + r * inner_).data(), n,
                           r == 0 && !fold.BeginsWithInit());
    }
    for (const Fold& fold : folds_) FinishBegun(*w, fold, first, n);
  }

  // All reduced points of n inner ones, the first of which, number `first`, the block shows.
  void FoldStreams(const Work& w, const Fold& fold, int64_t first, int64_t n) const {
    const int v = fold.choose != nullptr ? fold.reduce->choice->value : 0;
    const char* from = w.state->block(fold.first_block + v);
    int64_t r = 0;
    if (!fold.BeginsWithInit()) {
      folder_.Accumulate(w.memory, fold, Blocks(w, fold, 0, first).data(), n, true);
      from += fold.stream_stride;
      ++r;
    }
    if (fold.choose != nullptr) {
      ChooseStreams(w, fold, from, first, r, n);
      return;
    }
    const int64_t together = std::max<int64_t>(block_ / n / kTreePoints, 1) * kTreePoints;
    for (; r < reduced_; r += together, from += together * fold.stream_stride) {
      fold.points(folder_.Accumulator(w.memory, fold, 0), from, std::min(together, reduced_ - r), n,
                  fold.stream_stride / fold.value_sizes[0], in_order_);
    }
  }

  // The same for a choice, from reduced point r on, whose values lie at `from`.
  void ChooseStreams(const Work& w, const Fold& fold, const char* from, int64_t first, int64_t r,
                     int64_t n) const {
    const int v = fold.reduce->choice->value;
    const int64_t size = fold.sizes[v], companion_size = fold.sizes[1 - v];
    char* const accumulators = folder_.Accumulator(w.memory, fold, v);
    char* const companions = folder_.Accumulator(w.memory, fold, 1 - v);
    for (; r < reduced_; r += kStreams, from += kStreams * fold.stream_stride) {
      const int64_t points = std::min(kStreams, reduced_ - r);
      for (int64_t i = 0; i < n; i += kPiece) {
        for (int64_t k = 0; k < points; ++k) {
          fold.choose_one(fold.reduce->choice->rule, accumulators + i * size,
                          companions + i * companion_size, from + k * fold.stream_stride + i * size,
                          folder_.Companion(w.memory, fold, first + (r + k) * inner_),
                          std::min(kPiece, n - i));
        }
      }
    }
  }

  // Short inner dims: a block holds several reduced points of inner_ elements each.
  void RunShortInner(Work* w, int64_t o) const {
    if (reduced_ == 0) {
      FinishEmpty(w, o, inner_);
      return;
    }
    const int64_t rows = std::max<int64_t>(block_ / inner_, 1);
    const int64_t first = o * reduced_ * inner_;
    for (const Fold& fold : folds_) folder_.Begin(w->memory, w->inputs, fold, inner_);
    for (int64_t r = 0; r < reduced_; r += rows) {
      const int64_t count = std::min(rows, reduced_ - r);
      w->state->Evaluate(first + r * inner_, count * inner_);
      for (const Fold& fold : folds_) {
        const auto values = Blocks(*w, fold, 0, first + r * inner_);
        const bool copies = r == 0 && !fold.BeginsWithInit();
        if (fold.body == nullptr) {
          if (copies) folder_.Accumulate(w->memory, fold, values.data(), inner_, true);
          fold.points(folder_.Accumulator(w->memory, fold, 0),
                      values[0] + (copies ? inner_ * fold.value_sizes[0] : 0), count - copies,
                      inner_, inner_, in_order_);
        } else if (fold.choose == nullptr && inner_ < kFewAccumulators && count >= kTreePoints) {
          Folder::Pointers folded;
          for (size_t i = 0; i < fold.sizes.size(); ++i)
            folded.push_back(folder_.Temporary(w->memory, i));
          folder_.FoldPoints(w->memory, fold, values.data(), count, inner_, folded.data());
          folder_.Accumulate(w->memory, fold, folded.data(), inner_, copies);
        } else {
          for (int64_t j = 0; j < count; ++j)
            folder_.Accumulate(w->memory, fold,
                               Blocks(*w, fold, j * inner_, first + (r + j) * inner_).data(),
                               inner_, copies && j == 0);
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
          if (copies && fold.load != nullptr) {
            fold.load(accumulators, values, inner_);
          } else if (copies) {
            std::memcpy(accumulators, values, inner_ * fold.sizes[0]);
          }
          fold.points(accumulators, values + (copies ? inner_ * fold.value_sizes[0] : 0),
                      reduced_ - copies, inner_, inner_, in_order_);
          accumulators += inner_ * fold.sizes[0];
          values += point * fold.value_sizes[0];
        }
        Store(*w, fold, o * point, count * inner_);
      }
    }
  }

  // A reduction over nothing gives the initial value.
  void FinishEmpty(Work* w, int64_t o, int64_t n) const { FinishEmptyAt(w, o, 0, n); }
  void FinishEmptyAt(Work* w, int64_t o, int64_t i, int64_t n) const {
    const LoopProgram& p = frame_.program();
    for (const Fold& fold : folds_) {
      for (size_t v = 0; v < fold.sizes.size(); ++v) {
        const LoopReduce::Output& output = fold.reduce->outputs[v];
        const int size = ByteWidth(output.type);
        // Initial values have the memory type of the output.
        const LoopInput& init = p.inputs[fold.reduce->init_inputs[v]];
        const char* source =
            w->inputs[fold.reduce->init_inputs[v]] + init.view.offset * ByteWidth(init.type);
        for (int64_t k = 0; k < n; ++k) {
          int64_t rest_outer = o, rest_inner = i + k, offset = output.view.offset;
          for (int d = static_cast<int>(p.dims.size()) - 1; d >= p.num_outer + p.num_reduced; --d) {
            offset += rest_inner % p.dims[d] * output.view.strides[d];
            rest_inner /= p.dims[d];
          }
          for (int d = p.num_outer - 1; d >= 0; --d) {
            offset += rest_outer % p.dims[d] * output.view.strides[d];
            rest_outer /= p.dims[d];
          }
          std::memcpy(w->outputs[fold.first_output + v] + offset * size, source, size);
        }
      }
    }
  }

  BlockFrame frame_;
  const std::vector<PrimitiveType> reads_narrow_;
  const BlockKernels& k_;
  Folder folder_;
  std::vector<Fold>& folds_;  // the folder's
  int64_t outer_ = 1, reduced_ = 1, inner_ = 1;
  bool long_inner_ = false;           // the innermost dim is long
  bool has_monoids_ = false;          // no fold has a body
  bool columns_ = false;              // blocks lie along rows of row_ inner points
  bool in_order_ = false;             // reduced points are folded one after the other
  bool outers_share_blocks_ = false;  // several outer points of a short inner lie in a block
  bool in_pieces_ = false;            // the values of a row lie in several pieces
  bool streams_ = false;              // values are folded where they lie
  int64_t row_ = 1;
  int64_t block_ = 1024;
  int64_t outer_per_unit_ = 1, blocks_per_row_ = 1, units_ = 0;
  int64_t scratch_bytes_ = 0;
  double cost_ns_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LoopKernel>> MakeReduceKernel(LoopProgram program,
                                                             const BlockKernels& kernels,
                                                             const LoopEngine& engine) {
  program = WithManyAccumulators(std::move(program));
  std::vector<PrimitiveType> reads_narrow = SimplifyValues(kernels, &program);
  auto kernel =
      std::make_unique<ReduceKernel>(std::move(program), std::move(reads_narrow), kernels);
  PJRT_RETURN_IF_ERROR(kernel->Init(engine));
  return std::unique_ptr<LoopKernel>(std::move(kernel));
}

}  // namespace pjrt::cpu
