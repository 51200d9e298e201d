// SPDX-License-Identifier: Apache-2.0
//
// What reductions of rows and of columns have in common: the frame that computes blocks of values,
// the folds, and the way of their accumulators to the outputs.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_REDUCE_KERNEL_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_REDUCE_KERNEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/loop/block_fold.h"
#include "src/cpu_device/loop/block_frame.h"
#include "src/cpu_device/loop/loop_engine.h"

namespace pjrt::cpu {

// The iteration space is outer x reduced x inner (the names of LoopProgram).
class ReduceKernel : public LoopKernel {
 public:
  // So few reduced points are folded by monoids one after the other.
  static constexpr int64_t kFewPoints = 64;
  // So few accumulators are not worth a call of a body.
  static constexpr int64_t kFewAccumulators = 64;
  // Reduced rows shorter than this share blocks, and are not worth a call of a body each.
  static constexpr int64_t kLongRow = 64;

  // `program` as SimplifyValues leaves it, which returned `reads_narrow`.
  ReduceKernel(LoopProgram program, std::vector<PrimitiveType> reads_narrow,
               const Kernels& kernels);
  absl::Status Init(const LoopEngine& engine);

  int64_t num_units() const override { return units_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  double cost_ns() const override { return cost_ns_; }
  const LoopProgram& program() const override { return frame_.program(); }
  bool CanShare(int input, int output) const override { return frame_.CanShare(input, output); }
  void Run(const char* const* inputs, char* const* outputs, int64_t begin, int64_t end,
           char* scratch) const override;

 protected:
  using Blocks = absl::InlinedVector<const char*, 4>;
  struct Work {
    const char* const* inputs;
    char* const* outputs;
    char* memory;  // accumulators, temporaries, the bodies' scratch
    BlockFrame::State* state;
  };

  static constexpr double kUnitNs = 20000;

  // The argument of BlockFrame::ChooseMode.
  virtual int64_t FlatRows() const = 0;
  // Chooses the way through the iteration space. Returns how many elements of a value, and
  // accumulators, a block has at most.
  virtual int64_t ChooseWay() = 0;
  // The number of units, where there are results.
  virtual int64_t CutInUnits() = 0;
  virtual void RunUnit(Work* w, int64_t unit) const = 0;

  // Whether there is nothing to compute but folds of values that lie in inputs. Their steps along
  // dim d become the folds' stream_stride.
  bool FindStreams(int d);
  // Of all inputs.
  double BytesPerPoint() const;
  double PointNs() const;

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
  void Store(const Work& w, const Fold& fold, int64_t point, int64_t n) const;
  // A reduction over nothing gives the initial value: n outputs from inner point i of outer point o
  // on.
  void FinishEmpty(const Work& w, int64_t o, int64_t i, int64_t n) const;

  // The values from element `element` of their blocks on.
  Blocks BlocksAt(const Work& w, const Fold& fold, int64_t element = 0) const;

  BlockFrame frame_;
  const BlockKernels& k_;
  Folder folder_;
  std::vector<Fold>& folds_;  // the folder's
  int64_t outer_ = 1, reduced_ = 1, inner_ = 1;
  bool has_monoids_ = false;  // no fold has a body
  int64_t block_ = 1024;      // so many points at most are computed at a time

 private:
  void Scatter(const LoopReduce::Output& output, char* array, const char* from, int64_t point,
               int64_t n) const;

  const std::vector<PrimitiveType> reads_narrow_;
  bool streams_ = false;  // results are written past the caches
  int64_t units_ = 0;
  int64_t scratch_bytes_ = 0;
  double cost_ns_ = 0;
};

// inner == 1: rows are reduced, each to one element.
std::unique_ptr<ReduceKernel> MakeRowReduction(LoopProgram program,
                                               std::vector<PrimitiveType> reads_narrow,
                                               const Kernels& kernels);
// inner != 1.
std::unique_ptr<ReduceKernel> MakeColumnReduction(LoopProgram program,
                                                  std::vector<PrimitiveType> reads_narrow,
                                                  const Kernels& kernels);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_REDUCE_KERNEL_H_
