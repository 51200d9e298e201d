// SPDX-License-Identifier: Apache-2.0
//
// Convolution in many small groups: channels side by side, each with a window of its own.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_CHANNEL_CONV_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_CHANNEL_CONV_STEP_H_

#include <memory>
#include <string>
#include <vector>

#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/type_change.h"
#include "src/cpu_device/kernels/window.h"
#include "src/cpu_device/run/nd_copy.h"
#include "src/cpu_device/steps/conv_step.h"

namespace pjrt::cpu {

// Every feature of every group is a lane. The input that a block of places sees is laid out with
// the lanes innermost, a channel's value in the lane of each feature that reads it, with zeros for
// padding; so one kernel multiplies and adds whatever the layout, type and grouping are.
class ChannelConvStep final : public Step {
 public:
  // Base dilations of `params` must be 1; its kernel is dense, [window...][channel][lane]; of its
  // output only the buffer and types are used; output.feature_stride is 1. `weights` is a buffer of
  // WeightBytes() bytes.
  ChannelConvStep(ConvParams params, ConvOutput output, CType compute, const Kernels& kernels,
                  BufferId weights);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override;

  // Whether the step can run the convolution with reasonable memory, and is faster than products
  // of matrices: groups with few features.
  static bool Suits(const ConvParams& params, CType compute, const Kernels& kernels);
  static int64_t WeightBytes(const ConvParams& params, CType compute, const Kernels& kernels);

 private:
  // A block of the work: places [first, first + count) in each dim, lanes [lane, lane + lanes).
  struct Block {
    int64_t batch = 0, lane = 0, lanes = 0;
    absl::InlinedVector<int64_t, 3> first, count;
  };
  Block BlockOf(int64_t unit) const;
  void PackWeights(const RunContext& context, int64_t row, char* scratch) const;
  void RunBlock(const RunContext& context, int64_t unit, char* scratch) const;
  void FillInput(const char* input, const Block& block, char* staged, char* raw) const;
  void FillLine(const char* from, const Block& block, int64_t x, int64_t pixels, char* to) const;

  const ConvParams p_;
  const ConvOutput output_;
  const int size_;  // of an element of the compute type
  const ChannelConvFn kernel_;
  const BlockKernels& block_kernels_;
  const TypeChange load_, load_weight_, store_;
  const BufferId weights_;
  int64_t lanes_ = 1;         // of all groups
  int64_t padded_lanes_ = 1;  // with those that fill up a vector
  int64_t block_lanes_ = 1;   // of a block
  int64_t taps_ = 1;          // elements of a window, all channels of a group
  absl::InlinedVector<int64_t, 3> block_places_, extent_, units_;  // a spatial dim each
  int64_t pixels_ = 1;  // that a block of places sees, one channel
  int64_t num_units_ = 1, lane_blocks_ = 1;
  std::vector<int64_t> offsets_;       // of the taps in the staged input
  std::vector<int64_t> lane_offsets_;  // of a lane's first channel in the input
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_CHANNEL_CONV_STEP_H_
