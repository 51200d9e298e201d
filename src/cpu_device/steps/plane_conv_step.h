// SPDX-License-Identifier: Apache-2.0
//
// Convolution with few features: the places of a plane side by side, each with the same weights.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_PLANE_CONV_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_PLANE_CONV_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/type_change.h"
#include "src/cpu_device/kernels/window.h"
#include "src/cpu_device/steps/conv_step.h"

namespace pjrt::cpu {

// The input that a block of places sees is laid out a channel at a time, with zeros for padding.
// Places that a stride skips are kept apart: a plane has the input elements of one remainder by the
// strides, so that a tap of the window, for all places of the block, is one run of a plane. The
// run goes on over the ends of lines; what it computes there is dropped.
class PlaneConvStep final : public Step {
 public:
  // Base dilations of `params` must be 1 and there is a spatial dim. Its kernel is dense, of the
  // type that `compute` has in memory: [group][channel][window...][feature]; of its output only the
  // buffer and type are used.
  PlaneConvStep(ConvParams params, ConvOutput output, CType compute, const Kernels& kernels);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override;

  // Whether the step can run the convolution with reasonable memory.
  static bool Can(const ConvParams& params, CType compute, const Kernels& kernels);

 private:
  struct DimPlan {
    absl::InlinedVector<int64_t, 4> remainders;  // of input places by the stride, that taps see
    int64_t reach = 0;   // places of a plane beyond its own that a place sees
    int64_t places = 1;  // of a block
    int64_t extent = 1;  // of a plane: places and reach
    int64_t blocks = 1;  // that the output falls into
  };
  using DimPlans = absl::InlinedVector<DimPlan, 3>;
  struct Block {
    int64_t batch = 0, group = 0;
    absl::InlinedVector<int64_t, 3> first, count;
  };
  struct Scratch {
    char *staged, *results, *line, *between;
  };

  struct Shown {
    int64_t begin, end;  // in the plane
    int64_t offset;      // of the first in the input
  };

  static DimPlans PlanDims(const ConvParams& params);
  Block BlockOf(int64_t unit) const;
  void RunBlock(const RunContext& context, int64_t unit, char* scratch) const;
  void FillInput(const char* input, const Block& block, const Scratch& scratch) const;
  Shown ShownOf(const Block& block, int d, int64_t remainder) const;
  void FillLines(const char* from, int64_t from_stride, int64_t lines, int64_t count, char* to,
                 const Scratch& scratch) const;
  void StoreLine(const char* from, int64_t stride, int rows, int64_t count, char* to,
                 const Scratch& scratch) const;
  void StoreLines(const Block& block, int64_t stride, int rows, char* to,
                  const Scratch& scratch) const;

  const ConvParams p_;
  const ConvOutput output_;
  const int size_;  // of an element of the compute type
  const PlaneConvFn kernel_;
  const BlockKernels& block_kernels_;
  const TypeChange load_, store_;
  DimPlans dims_;
  int64_t lanes_ = 1;       // places are computed by so many
  int64_t rows_ = 1;        // features that are computed together
  int64_t planes_ = 1;      // of a channel
  int64_t plane_size_ = 1;  // elements
  int64_t num_units_ = 1;
  std::vector<int64_t> offsets_;  // of the taps in the staged input
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_PLANE_CONV_STEP_H_
