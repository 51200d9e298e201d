// SPDX-License-Identifier: Apache-2.0
//
// Convolution as a product of patches and kernels. The matrix of patches never exists: the product
// asks for a tile of it when it packs one.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_CONV_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_CONV_STEP_H_

#include <memory>
#include <string>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/gemm.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// What a block of a convolution without patches sees should stay in a 512 KiB L2, with its results.
inline constexpr int64_t kConvBlockBytes = 192 * 1024;
// A vector is multiplied and added in a cycle. For estimates only.
inline constexpr double kCyclesPerNs = 3;

// A convolution with batch, groups and channels sorted out. Input element (batch b, group g,
// channel c of the group, spatial i...) stands at input_offset + b * batch_stride + g *
// group_stride + c * channel_stride + sum i * spatial strides. All in elements.
struct ConvParams {
  PrimitiveType type = F32;                     // of the input
  int64_t batch = 1, groups = 1, channels = 1;  // input channels of a group
  int64_t batch_stride = 0, group_stride = 0, channel_stride = 1;
  struct Spatial {
    int64_t input_size = 1, input_stride = 1;
    int64_t output_size = 1;
    int64_t window = 1;
    int64_t stride = 1, padding_low = 0, base_dilation = 1, window_dilation = 1;
  };
  absl::InlinedVector<Spatial, 3> spatial;

  // Rows of the matrix of patches are the places of the window in each batch entry: (batch,
  // place) in this order, or the other way round.
  bool batch_is_minor = false;
  // How a patch is laid out: (window elements, channels), or the other way round.
  bool channels_are_major = false;
  // By rows, or p-major: then neighbouring rows are neighbours in the input, and base_dilation is 1
  // in the last spatial dimension unless batch_is_minor.
  GemmProblem::Source source = GemmProblem::kRows;

  // Kernel of a group: a patch length x features matrix at g * kernel_group_stride, in elements.
  int64_t features = 1;
  int64_t kernel_group_stride = 0;
  // Output: row r of the matrix of patches makes row r of a matrix with `output_row_stride`; group
  // g's features begin at column g * features.
  int64_t output_row_stride = 1;
  BufferId input = kNoBuffer, kernel = kNoBuffer, output = kNoBuffer;
  int64_t input_offset = 0, kernel_offset = 0;
  PrimitiveType kernel_type = F32, output_type = F32;

  int64_t Places() const;       // of the window, in a batch entry
  int64_t PatchLength() const;  // window elements times channels
  // Whether the batch entries of a place, and those of the next place along the last spatial dim,
  // are one run of the input.
  bool BatchRunsOverPlaces() const {
    return !spatial.empty() && spatial.back().base_dilation == 1 && batch_stride == 1 &&
           spatial.back().stride * spatial.back().input_stride == batch;
  }
};

// Where results go: (batch b, place i..., feature f) at offset + b * batch_stride + sum i *
// space_strides + f * feature_stride, in elements.
struct ConvOutput {
  int64_t offset = 0, batch_stride = 0, feature_stride = 1;
  Dims space_strides;
};

class ConvStep final : public Step {
 public:
  // `gemm` multiplies, for each group, all patches by the group's kernel. `shared` is a buffer of
  // gemm->shared_bytes(), kNoBuffer when that is 0.
  ConvStep(ConvParams params, std::unique_ptr<Gemm> gemm, BufferId shared);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override { return 1.2 * gemm_->cost_ns(); }
  int64_t scratch_bytes() const override { return gemm_->scratch_bytes(); }

 private:
  class Patches;
  ConvParams p_;
  std::unique_ptr<Gemm> gemm_;
  BufferId shared_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_CONV_STEP_H_
