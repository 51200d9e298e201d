// SPDX-License-Identifier: Apache-2.0
//
// Folding blocks of values into accumulators: what all ways through a reduction's iteration space
// have in common.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FOLD_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FOLD_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/fold_ops.h"
#include "src/cpu_device/loop/loop_engine.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// Takes what can be done without out of a program's instructions: companions of choices that count
// reduced points, squares that are nothing but added up, and the loading of narrow floats that are
// nothing but reduced. Returns, for each reduction, the memory type in which it reads values, or
// PRIMITIVE_TYPE_INVALID for the compute type.
std::vector<PrimitiveType> SimplifyValues(const FoldKernels& kernels, LoopProgram* program);

// One LoopReduce, with the kernels that fold its values.
struct Fold {
  const LoopReduce* reduce = nullptr;
  std::unique_ptr<BodyKernel> body;  // null with a monoid
  // A monoid: accumulators among themselves, values onto accumulators, rows of values, several runs
  // of values onto accumulators, rows of accumulators.
  BlockFn op = nullptr, value_op = nullptr;
  ReduceRowsFn rows = nullptr;
  FoldPointsFn points = nullptr;
  ReduceRowsFn accumulator_rows = nullptr;
  ConvertFn load = nullptr;    // values to accumulators; null where they are the same
  BlockFn multiply = nullptr;  // of accumulators, where squares of the values are folded
  // A choice: `rows` is the maximum or minimum of values, least_rows the other one of accumulators;
  // the body serves for initial values.
  const ChoiceKernels* choice = nullptr;
  ReduceRowsFn least_rows = nullptr;
  TakePlacesFn take_places = nullptr;
  ConvertFn store = nullptr;  // of values that `load` loads
  bool value_is_float = false;
  bool rows_share_companions = false;  // those that are counted are the same at all outer points
  size_t first_block = 0;              // of its values, among the frame's blocks
  size_t first_output = 0;             // among the program's outputs
  // Bytes between reduced points, and points of the outermost dim, of values that lie in an input.
  int64_t stream_stride = 0, outer_stride = 0;
  std::vector<int> sizes;         // of the accumulators' elements
  std::vector<int> value_sizes;   // of the values' elements
  std::vector<int> accumulators;  // offsets in the folds' scratch
  int places = 0;                 // the same, where companions are counted

  // Whether companions are not in blocks, but follow from the number of the point.
  bool CountsCompanions() const { return choice != nullptr && reduce->choice->counted_by >= 0; }
  // Which one of its values decides.
  size_t value() const { return choice != nullptr ? reduce->choice->value : 0; }
  // Makes accumulators of n values of a monoid, or of n values that decide a choice.
  void Load(char* to, const char* values, int64_t n) const;
  // Folds `count` points of n contiguous values of a monoid each, `stride` bytes apart, onto n
  // accumulators: one after the other if `in_order`, else in an order that follows from the
  // numbers.
  void Onto(char* to, const char* from, int64_t count, int64_t n, int64_t stride,
            bool in_order) const;
  bool HasInit() const { return !reduce->init_inputs.empty(); }
  // Whether accumulators are the initial value at first. A choice compares companions by the order
  // in which they come; an initial one has no place in it.
  bool BeginsWithInit() const { return HasInit() && choice == nullptr; }
};

// The folds of a program's reductions. Its functions work in a thread's scratch `memory`, where
// each fold and value has a block of accumulators and temporary blocks.
class Folder {
 public:
  using Pointers = absl::InlinedVector<char*, 4>;
  // An element of a block has room for any type.
  static constexpr int64_t kElementBytes = 16;

  Folder(const Kernels& kernels, const LoopProgram& program);

  // The program's reductions, of which those that `reads_narrow` names have values as they lie in
  // memory, of the type it says. UNIMPLEMENTED for one without a kernel.
  absl::Status Init(const LoopEngine& engine, absl::Span<const PrimitiveType> reads_narrow);
  const std::vector<Fold>& folds() const { return folds_; }
  std::vector<Fold>& folds() { return folds_; }

  // Chooses the places of blocks of `block` elements of any type; returns the bytes of scratch.
  int64_t LayOut(int64_t block);

  char* Accumulator(char* memory, const Fold& fold, size_t i) const {
    return memory + fold.accumulators[i];
  }
  // A block that no function below leaves anything in.
  char* Temporary(char* memory, size_t i) const { return Block(memory, left_, i); }
  // The same, which FoldPoints alone writes to besides.
  char* Gathered(char* memory, size_t i) const { return Block(memory, right_, i); }

  // accumulators[at..at + n) = values, which are those of point number `point`.
  void Start(char* memory, const Fold& fold, const char* const* values, int64_t n, int64_t point,
             int64_t at = 0) const;
  // accumulators[at..at + n) = fold(accumulators, values), element by element, where companions are
  // not counted.
  void Accumulate(char* memory, const Fold& fold, const char* const* values, int64_t n,
                  int64_t at = 0) const;
  // The same for one element that FoldRows made of values.
  void AccumulateFolded(char* memory, const Fold& fold, const char* const* folded,
                        int64_t at) const;
  // The same for a choice that counts companions, of `points` reduced points `stride` bytes apart,
  // one after the other, the first of which is point number `point` of the iteration space.
  void Choose(char* memory, const Fold& fold, const char* values, int64_t points, int64_t n,
              int64_t stride, int64_t point, int64_t at = 0) const;
  // The same step by step. From point number `point` on, so many reduced points can be chosen from
  // by their places, counted from 1 on and up to `most`, between ClearPlaces and TakePlaces of that
  // point.
  int64_t PlacesFrom(int64_t point, int64_t most = kMostPlaces) const;
  void ClearPlaces(char* memory, const Fold& fold, int64_t n) const;
  void ChoosePlaces(char* memory, const Fold& fold, const char* values, int64_t first_place,
                    int64_t points, int64_t n, int64_t stride, int64_t at = 0) const;
  void TakePlaces(char* memory, const Fold& fold, int64_t n, int64_t point, int64_t at = 0) const;
  // Whether ChooseRows can choose from so many rows of n values.
  bool CanChooseRows(const Fold& fold, int64_t rows, int64_t n) const;
  // accumulators[at..at + rows) = what is chosen from each of `rows` rows of n contiguous values,
  // the first of which is that of point number `point`.
  void ChooseRows(char* memory, const Fold& fold, const char* values, int64_t rows, int64_t n,
                  int64_t point, int64_t at) const;
  // Folds `rows` runs of n contiguous elements of each value to one each, in order, from out[i] on.
  // The first element is that of the iteration space's point number `point`. A choice, which reads
  // rows twice, asks for some of the next `follow` rows behind them meanwhile.
  void FoldRows(char* memory, const Fold& fold, const char* const* values, int64_t rows, int64_t n,
                char* const* out, int64_t point, int64_t follow = 0) const;
  // Folds n points of `inner` contiguous elements of each value to one by the body, in order, at
  // out[i]: a binary tree over neighbours, even points with odd ones, until one is left.
  void FoldPoints(char* memory, const Fold& fold, const char* const* values, int64_t n,
                  int64_t inner, char* const* out) const;
  // The first n accumulators at the initial value, where there is one and it comes first.
  void Begin(char* memory, const char* const* inputs, const Fold& fold, int64_t n) const;
  // The first n accumulators folded with the initial value.
  void Finish(char* memory, const char* const* inputs, const Fold& fold, int64_t n) const;

 private:
  absl::Status Add(const LoopReduce& reduce, const LoopEngine& engine, PrimitiveType narrow);
  void SetChoice(Fold* fold, PrimitiveType narrow) const;
  char* Block(char* memory, int64_t base, size_t i) const {
    return memory + base + block_bytes_ * static_cast<int64_t>(i);
  }
  int64_t CompanionOf(const Fold& fold, int64_t point) const;
  void SetCompanion(const Fold& fold, int64_t companion, char* to) const;
  int64_t PlaceInRow(const Fold& fold, const char* values, int64_t n, char* out) const;
  bool InitLoses(char* memory, const char* const* inputs, const Fold& fold, int64_t n) const;
  void FillInit(const char* const* inputs, const Fold& fold, size_t i, char* block,
                int64_t n) const;

  const BlockKernels& k_;
  const FoldKernels& fold_kernels_;  // of the same level
  const LoopProgram& p_;
  std::vector<Fold> folds_;
  int64_t block_bytes_ = 0, left_ = 0, right_ = 0, result_ = 0, body_scratch_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FOLD_H_
