// SPDX-License-Identifier: Apache-2.0
//
// The iteration space is outer x reduced x inner (the names of LoopProgram). Blocks of values are
// computed as in a map, then folded into accumulators.
//
// * inner == 1, long reduction: each outer point alone, in blocks along the reduced dims. A block
//   folds to one element, the blocks fold one after the other.
// * inner == 1, short reduction: a block holds several whole rows; each folds to one element.
// * Long inner: a block lies along the innermost dim and folds element by element into a block of
//   accumulators, which begin as the initial value.
// * Short inner: a block holds several reduced points of `inner` elements each. Few fold in order,
//   from the initial value on, many pairwise; a body folds neighbours.
// * Many short inner: a block lies along all inner dims and crosses their rows, else as for a long
//   inner.
// * Short inner, folded by a body: outer dims become inner ones first. A body is called for a block
//   of accumulators, and a call costs as much as it takes to fold a hundred of them.
// * Where there is nothing to compute but the fold, a long inner, or one that folds in order, is
//   read where it lies, several reduced points at a time; so are the pieces of a long reduction.
//
// Each order of folding depends on the sizes alone, so that a result has the same bits however the
// work is split. Folds with a body (rather than a monoid) keep the order of the elements, as an
// associative function may demand.
#include "src/cpu_device/loop/block_reduce.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/element_size.h"
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
// Values that lie in an input, in rows with gaps, are folded from so many rows at a time, a piece
// of each after the other: memory gives several streams sooner than one that is broken off again
// and again. 1024 x 4096 folded over its first dim took 1060 us and takes 250.
constexpr int64_t kStreams = 8;
constexpr int64_t kPiece = 256;
// So long an inner dim is folded one point after the other over this many reduced points, too.
constexpr int64_t kOrderedInner = 128;
constexpr int64_t kOrderedPoints = 1024;
constexpr int64_t kAlign = 64;
int64_t AlignUp(int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }

// One LoopReduce, with the kernels that fold its values.
struct Fold {
  const LoopReduce* reduce = nullptr;
  std::unique_ptr<BodyKernel> body;  // null with a monoid
  BlockFn op = nullptr;              // a monoid: elementwise
  ReduceRowsFn rows = nullptr;       // a monoid: along contiguous elements
  size_t first_block = 0;            // of its values, among the frame's blocks
  size_t first_output = 0;           // among the program's outputs
  int64_t stream_stride = 0;         // bytes between reduced points of values that lie in an input
  std::vector<int> sizes;            // of the values' elements
  std::vector<int> accumulators;     // offsets in the fold's scratch
};

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
  ReduceKernel(LoopProgram program, const BlockKernels& kernels)
      : frame_(WithManyAccumulators(std::move(program)), kernels), k_(kernels) {}

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
    frame_.ChooseMode(inner_ == 1 ? (short_rows ? 1 : 0) : (long_inner_ ? 0 : 1));
    std::vector<LoopValue> blocks;
    size_t output = p.stores.size();
    for (const LoopReduce& reduce : p.reduces) {
      Fold fold;
      fold.reduce = &reduce;
      fold.first_block = blocks.size();
      fold.first_output = output;
      output += reduce.outputs.size();
      for (LoopValue v : reduce.values) {
        blocks.push_back(v);
        fold.sizes.push_back(kCTypeSize[static_cast<int>(p.instrs[v].type)]);
      }
      if (reduce.has_monoid) {
        const int type = static_cast<int>(p.instrs[reduce.values[0]].type);
        fold.op = k_.op[static_cast<int>(MonoidOp(reduce.monoid))][type][0];
        fold.rows = k_.reduce_rows[static_cast<int>(reduce.monoid)][type];
        if (fold.op == nullptr || fold.rows == nullptr) {
          return Unimplemented(
              "PJRT-C013", absl::StrCat("no kernel for reduction ", static_cast<int>(reduce.monoid),
                                        " of compute type ", type));
        }
      } else {
        PJRT_ASSIGN_OR_RETURN(fold.body, engine.CompileBody(*reduce.body));
      }
      folds_.push_back(std::move(fold));
    }
    PJRT_RETURN_IF_ERROR(frame_.Lower(blocks));
    for (const Fold& fold : folds_) {
      if (fold.body != nullptr) block_ = std::min(block_, fold.body->max_block());
    }
    block_ = std::min(block_, frame_.block_size());
    row_ = long_inner_ ? p.dims.back() : inner_;
    columns_ = inner_ != 1 && (long_inner_ || inner_ > block_);
    in_order_ = reduced_ <= kFewPoints || (inner_ >= kOrderedInner && reduced_ <= kOrderedPoints);
    PlanStreams();
    LayOutScratch();
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
        for (int64_t o = from; o < std::min(from + outer_per_unit_, outer_); ++o)
          RunShortInner(&w, o);
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

  // Scratch behind the frame's: for each fold and value an accumulator block, two temporary blocks
  // and a result block; the largest body's scratch.
  void LayOutScratch() {
    const int64_t block_bytes = AlignUp(std::max(block_, inner_per_block()) * 16);
    int64_t at = 0;
    for (Fold& fold : folds_) {
      for (size_t i = 0; i < fold.sizes.size(); ++i) {
        fold.accumulators.push_back(static_cast<int>(at));
        at += block_bytes;
      }
    }
    block_bytes_ = block_bytes;
    size_t most_values = 0;
    int64_t body_bytes = 0;
    for (const Fold& fold : folds_) {
      most_values = std::max(most_values, fold.sizes.size());
      if (fold.body != nullptr) body_bytes = std::max(body_bytes, fold.body->scratch_bytes());
    }
    left_ = at;
    right_ = left_ + block_bytes * static_cast<int64_t>(most_values);
    result_ = right_ + block_bytes * static_cast<int64_t>(most_values);
    body_scratch_ = result_ + block_bytes * static_cast<int64_t>(most_values);
    scratch_bytes_ = AlignUp(frame_.scratch_bytes()) + body_scratch_ + AlignUp(body_bytes);
  }

  // Whether there is nothing to compute but folds of values that lie in inputs, in steps along dim
  // d.
  bool FindStreams(int d) {
    const LoopProgram& p = frame_.program();
    for (Fold& fold : folds_) {
      const int input = fold.body == nullptr ? frame_.InputOfBlock(fold.first_block) : -1;
      if (input < 0) return false;
      fold.stream_stride = p.inputs[input].view.strides[d] * fold.sizes[0];
    }
    return p.stores.empty();
  }
  void PlanStreams() {
    const LoopProgram& p = frame_.program();
    if (inner_ == 1) {
      streams_ = frame_.row_mode() && p.num_reduced == 2 && p.dims.back() <= block_ &&
                 static_cast<int>(p.dims.size()) == p.num_outer + 2 && FindStreams(p.num_outer);
    } else if (p.num_reduced == 1 && (columns_ || (in_order_ && inner_ >= kOrderedInner))) {
      streams_ = FindStreams(p.num_outer);
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
    if (inner_ == 1 && reduced_ > 0 && reduced_ < block_) {
      const int64_t rows = block_ / reduced_;
      outer_per_unit_ = (outer_per_unit_ + rows - 1) / rows * rows;
    }
    units_ = (outer_ + outer_per_unit_ - 1) / outer_per_unit_;
  }

  char* Accumulator(const Work& w, const Fold& fold, size_t i) const {
    return w.memory + fold.accumulators[i];
  }
  char* Temporary(const Work& w, int64_t base, size_t i) const {
    return w.memory + base + block_bytes_ * static_cast<int64_t>(i);
  }

  // accumulators[at..at + n) = fold(accumulators, values), element by element; the first time the
  // values are copied.
  void Accumulate(const Work& w, const Fold& fold, const char* const* values, int64_t n, bool first,
                  int64_t at = 0) const {
    const auto accumulator = [&](size_t i) { return Accumulator(w, fold, i) + at * fold.sizes[i]; };
    if (first) {
      for (size_t i = 0; i < fold.sizes.size(); ++i)
        std::memcpy(accumulator(i), values[i], n * fold.sizes[i]);
      return;
    }
    if (fold.body == nullptr) {
      char* acc = accumulator(0);
      fold.op(acc, acc, values[0], nullptr, n);
      return;
    }
    absl::InlinedVector<const char*, 8> params;
    absl::InlinedVector<char*, 4> results;
    for (size_t i = 0; i < fold.sizes.size(); ++i) params.push_back(accumulator(i));
    for (size_t i = 0; i < fold.sizes.size(); ++i) {
      params.push_back(values[i]);
      results.push_back(Temporary(w, result_, i));
    }
    fold.body->Call(params.data(), results.data(), n, w.memory + body_scratch_);
    for (size_t i = 0; i < fold.sizes.size(); ++i)
      std::memcpy(accumulator(i), results[i], n * fold.sizes[i]);
  }

  // Folds n contiguous elements of each value to one, in order, at out[i].
  void FoldRow(const Work& w, const Fold& fold, const char* const* values, int64_t n,
               char* const* out) const {
    if (fold.body == nullptr) {
      fold.rows(out[0], values[0], 1, n);
    } else {
      FoldPoints(w, fold, values, n, 1, out);
    }
  }

  // Folds n points of `inner` contiguous elements of each value to one by the body, in order, at
  // out[i]: a binary tree over neighbours, even points with odd ones, until one is left.
  void FoldPoints(const Work& w, const Fold& fold, const char* const* values, int64_t n,
                  int64_t inner, char* const* out) const {
    const size_t count = fold.sizes.size();
    absl::InlinedVector<const char*, 8> params(2 * count);
    absl::InlinedVector<char*, 4> results(count);
    absl::InlinedVector<const char*, 4> from(values, values + count);
    for (size_t i = 0; i < count; ++i) {
      params[i] = Temporary(w, left_, i);
      params[count + i] = Temporary(w, right_, i);
      results[i] = Temporary(w, result_, i);
    }
    while (n > 1) {
      const int64_t half = n / 2;
      for (size_t i = 0; i < count; ++i) {
        const int64_t point = fold.sizes[i] * inner;
        char *left = Temporary(w, left_, i), *right = Temporary(w, right_, i);
        if (inner == 1) {
          k_.gather_stride[SizeLog2(fold.sizes[i])](left, from[i], 2, half);
          k_.gather_stride[SizeLog2(fold.sizes[i])](right, from[i] + point, 2, half);
          continue;
        }
        for (int64_t j = 0; j < half; ++j) {
          std::memcpy(left + j * point, from[i] + 2 * j * point, point);
          std::memcpy(right + j * point, from[i] + (2 * j + 1) * point, point);
        }
      }
      // The odd one out moves along; its place in `results` is behind the half that the call
      // writes.
      for (size_t i = 0; i < count && n % 2 != 0; ++i) {
        const int64_t point = fold.sizes[i] * inner;
        std::memcpy(results[i] + half * point, from[i] + (n - 1) * point, point);
      }
      fold.body->Call(params.data(), results.data(), half * inner, w.memory + body_scratch_);
      for (size_t i = 0; i < count; ++i) from[i] = results[i];
      n = half + n % 2;
    }
    for (size_t i = 0; i < count; ++i) std::memcpy(out[i], from[i], fold.sizes[i] * inner);
  }

  static bool HasInit(const Fold& fold) { return !fold.reduce->init_inputs.empty(); }

  // n copies of the i-th initial value.
  void FillInit(const Work& w, const Fold& fold, size_t i, char* block, int64_t n) const {
    const int32_t input = fold.reduce->init_inputs[i];
    const LoopInput& init = frame_.program().inputs[input];
    const char* source = w.inputs[input] + init.view.offset * ByteWidth(init.type);
    alignas(16) char one[16];
    if (ConvertFn load = k_.load[init.type]; load != nullptr) {
      load(one, source, 1);
      source = one;
    }
    k_.fill[SizeLog2(fold.sizes[i])](block, source, n);
  }

  // The accumulators at the initial value, where there is one.
  void Begin(const Work& w, const Fold& fold, int64_t n) const {
    for (size_t i = 0; HasInit(fold) && i < fold.sizes.size(); ++i)
      FillInit(w, fold, i, Accumulator(w, fold, i), n);
  }

  // The initial value folded with the accumulators, to the outputs.
  void Finish(const Work& w, const Fold& fold, int64_t point, int64_t n) const {
    const size_t count = fold.sizes.size();
    if (HasInit(fold)) {
      absl::InlinedVector<const char*, 8> params(2 * count);
      absl::InlinedVector<char*, 4> results(count);
      for (size_t i = 0; i < count; ++i) {
        FillInit(w, fold, i, Temporary(w, left_, i), n);
        params[i] = Temporary(w, left_, i);
        params[count + i] = Accumulator(w, fold, i);
        results[i] = Temporary(w, result_, i);
      }
      if (fold.body == nullptr) {
        fold.op(results[0], params[0], params[1], nullptr, n);
      } else {
        fold.body->Call(params.data(), results.data(), n, w.memory + body_scratch_);
      }
      for (size_t i = 0; i < count; ++i)
        std::memcpy(Accumulator(w, fold, i), results[i], n * fold.sizes[i]);
    }
    Store(w, fold, point, n);
  }

  // The accumulators to the outputs: n outputs, the first at the program's point number `point`.
  void Store(const Work& w, const Fold& fold, int64_t point, int64_t n) const {
    for (size_t i = 0; i < fold.sizes.size(); ++i) {
      const LoopReduce::Output& output = fold.reduce->outputs[i];
      const char* from = Accumulator(w, fold, i);
      if (ConvertFn store = k_.store[output.type]; store != nullptr) {
        store(Temporary(w, left_, i), from, n);
        from = Temporary(w, left_, i);
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

  absl::InlinedVector<const char*, 4> Blocks(const Work& w, const Fold& fold,
                                             int64_t element) const {
    absl::InlinedVector<const char*, 4> values;
    for (size_t i = 0; i < fold.sizes.size(); ++i)
      values.push_back(w.state->block(fold.first_block + i) + element * fold.sizes[i]);
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
        for (const Fold& fold : folds_) FoldRows(*w, fold, count);
        for (const Fold& fold : folds_) Finish(*w, fold, o * reduced_, count);
      }
      return;
    }
    // The results of some rows are written together: one by one it took a fifth of the time of a
    // softmax of rows of 1024.
    for (int64_t o = from; o < to; o += block_) {
      const int64_t rows = std::min(block_, to - o);
      for (int64_t row = 0; row < rows; ++row) FoldLongRow(w, o + row, row);
      for (const Fold& fold : folds_) Finish(*w, fold, o * reduced_, rows);
    }
  }

  // inner == 1: outer point o, in as many blocks as it takes, to element `row` of the accumulators.
  void FoldLongRow(Work* w, int64_t o, int64_t row) const {
    const int64_t begin = o * reduced_, end = begin + reduced_;
    for (int64_t at = begin; at < end;) {
      const int64_t n = std::min(frame_.BlockAt(at, end), block_);
      if (!streams_ || at == begin) w->state->Evaluate(at, n);
      for (const Fold& fold : folds_) {
        if (fold.body == nullptr) {
          char* const accumulator = Accumulator(*w, fold, 0) + row * fold.sizes[0];
          const char* values = w->state->block(fold.first_block);
          if (streams_) values += (at - begin) / n * fold.stream_stride;
          alignas(16) char folded[16];
          fold.rows(at == begin ? accumulator : folded, values, 1, n);
          if (at != begin) fold.op(accumulator, accumulator, folded, nullptr, 1);
          continue;
        }
        auto values = Blocks(*w, fold, 0);
        absl::InlinedVector<char, 64> memory(fold.sizes.size() * 16);
        absl::InlinedVector<char*, 4> out;
        absl::InlinedVector<const char*, 4> folded;
        for (size_t i = 0; i < fold.sizes.size(); ++i) {
          out.push_back(memory.data() + 16 * i);
          folded.push_back(out.back());
        }
        FoldRow(*w, fold, values.data(), n, out.data());
        Accumulate(*w, fold, folded.data(), 1, at == begin, row);
      }
      at += n;
    }
  }

  // `rows` rows of a block, each folded into its accumulator.
  void FoldRows(const Work& w, const Fold& fold, int64_t rows) const {
    if (fold.body == nullptr) {
      fold.rows(Accumulator(w, fold, 0), Blocks(w, fold, 0)[0], rows, reduced_);
      return;
    }
    if (rows >= 8) {
      // Across rows: element r of every row at once.
      for (int64_t r = 0; r < reduced_; ++r) {
        auto values = Blocks(w, fold, r);
        for (size_t i = 0; i < fold.sizes.size(); ++i) {
          k_.gather_stride[SizeLog2(fold.sizes[i])](Temporary(w, right_, i), values[i], reduced_,
                                                    rows);
          values[i] = Temporary(w, right_, i);
        }
        Accumulate(w, fold, values.data(), rows, r == 0);
      }
      return;
    }
    for (int64_t row = 0; row < rows; ++row) {
      auto values = Blocks(w, fold, row * reduced_);
      absl::InlinedVector<char*, 4> out;
      for (size_t i = 0; i < fold.sizes.size(); ++i)
        out.push_back(Accumulator(w, fold, i) + row * fold.sizes[i]);
      FoldRow(w, fold, values.data(), reduced_, out.data());
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
    for (const Fold& fold : folds_) Begin(*w, fold, n);
    if (streams_) {
      w->state->Evaluate(first, n);
      for (const Fold& fold : folds_) {
        FoldStreams(*w, fold, n);
        Store(*w, fold, first, n);
      }
      return;
    }
    for (int64_t r = 0; r < reduced_; ++r) {
      w->state->Evaluate(first + r * inner_, n);
      for (const Fold& fold : folds_)
        Accumulate(*w, fold, Blocks(*w, fold, 0).data(), n, r == 0 && !HasInit(fold));
    }
    for (const Fold& fold : folds_) Store(*w, fold, first, n);
  }

  // All reduced points of n inner ones, the first of which the block shows.
  void FoldStreams(const Work& w, const Fold& fold, int64_t n) const {
    char* const accumulator = Accumulator(w, fold, 0);
    const char* from = w.state->block(fold.first_block);
    const int64_t size = fold.sizes[0];
    const bool has_gaps = fold.stream_stride != n * size;
    const int64_t streams = has_gaps ? kStreams : 1, piece = has_gaps ? kPiece : n;
    int64_t r = 0;
    if (!HasInit(fold)) {
      std::memcpy(accumulator, from, n * size);
      from += fold.stream_stride;
      ++r;
    }
    for (; r < reduced_; r += streams, from += streams * fold.stream_stride) {
      const int64_t points = std::min(streams, reduced_ - r);
      for (int64_t i = 0; i < n; i += piece) {
        char* const to = accumulator + i * size;
        for (int64_t k = 0; k < points; ++k)
          fold.op(to, to, from + k * fold.stream_stride + i * size, nullptr,
                  std::min(piece, n - i));
      }
    }
  }

  // Short inner dims: a block holds `rows` reduced points of inner_ elements.
  void RunShortInner(Work* w, int64_t o) const {
    if (reduced_ == 0) {
      FinishEmpty(w, o, inner_);
      return;
    }
    const int64_t rows = std::max<int64_t>(block_ / inner_, 1);
    const int64_t first = o * reduced_ * inner_;
    for (const Fold& fold : folds_) Begin(*w, fold, inner_);
    for (int64_t r = 0; r < reduced_; r += rows) {
      int64_t count = std::min(rows, reduced_ - r);
      w->state->Evaluate(first + r * inner_, count * inner_);
      for (const Fold& fold : folds_) {
        auto values = Blocks(*w, fold, 0);
        int64_t left = count;
        if (fold.body == nullptr && !in_order_) {
          // The upper half of the points onto the lower, until one is left.
          const char* block = values[0];
          char* folded = Temporary(*w, left_, 0);
          const int64_t row = inner_ * fold.sizes[0];
          while (left > 1) {
            const int64_t half = left / 2;
            fold.op(folded, block, block + (left - half) * row, nullptr, half * inner_);
            if (left % 2 != 0 && block != folded)
              std::memcpy(folded + half * row, block + half * row, row);
            block = folded;
            left -= half;
          }
          Accumulate(*w, fold, &block, inner_, r == 0 && !HasInit(fold));
        } else if (fold.body != nullptr && inner_ < kFewAccumulators && count >= kTreePoints) {
          absl::InlinedVector<char*, 4> folded;
          for (size_t i = 0; i < fold.sizes.size(); ++i) folded.push_back(Temporary(*w, left_, i));
          FoldPoints(*w, fold, values.data(), count, inner_, folded.data());
          Accumulate(*w, fold, folded.data(), inner_, r == 0 && !HasInit(fold));
        } else {
          for (int64_t j = 0; j < count; ++j)
            Accumulate(*w, fold, Blocks(*w, fold, j * inner_).data(), inner_,
                       r == 0 && j == 0 && !HasInit(fold));
        }
      }
    }
    for (const Fold& fold : folds_) Store(*w, fold, first, inner_);
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
  const BlockKernels& k_;
  std::vector<Fold> folds_;
  int64_t outer_ = 1, reduced_ = 1, inner_ = 1;
  bool long_inner_ = false;  // the innermost dim is long
  bool columns_ = false;     // blocks lie along rows of row_ inner points
  bool in_order_ = false;    // a short inner is folded one reduced point after the other
  bool streams_ = false;     // values are folded where they lie
  int64_t row_ = 1;
  int64_t block_ = 1024;
  int64_t outer_per_unit_ = 1, blocks_per_row_ = 1, units_ = 0;
  int64_t block_bytes_ = 0, left_ = 0, right_ = 0, result_ = 0, body_scratch_ = 0,
          scratch_bytes_ = 0;
  double cost_ns_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<LoopKernel>> MakeReduceKernel(LoopProgram program,
                                                             const BlockKernels& kernels,
                                                             const LoopEngine& engine) {
  auto kernel = std::make_unique<ReduceKernel>(std::move(program), kernels);
  PJRT_RETURN_IF_ERROR(kernel->Init(engine));
  return std::unique_ptr<LoopKernel>(std::move(kernel));
}

}  // namespace pjrt::cpu
