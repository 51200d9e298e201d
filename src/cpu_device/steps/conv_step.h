// SPDX-License-Identifier: Apache-2.0
//
// Convolution as matrix products over patches, a block of output places at a time.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_CONV_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_CONV_STEP_H_

#include <memory>
#include <string>

#include "pjrt/base/primitive_type.h"
#include "src/cpu_device/kernels/gemm.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// A convolution with batch, groups and channels sorted out. Input element (batch b, group g,
// channel c of the group, spatial i...) stands at b * batch_stride + g * group_stride + c *
// channel_stride + sum i * spatial strides. All in elements.
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
  // Kernel of a group: a (window elements * channels) x features matrix at g * kernel_group_stride,
  // in elements.
  int64_t features = 1;
  int64_t kernel_group_stride = 0;
  // Output: place (b, o...) is row b * places + o of a matrix with `output_row_stride`; group g's
  // features begin at column g * features.
  int64_t output_row_stride = 1;
  BufferId input = kNoBuffer, kernel = kNoBuffer, output = kNoBuffer;
  int64_t input_offset = 0, kernel_offset = 0;
  PrimitiveType kernel_type = F32, output_type = F32;
};

class ConvStep final : public Step {
 public:
  // `gemm` multiplies a block of `rows` patches by a group's kernel; `last` does for the rest of a
  // batch entry's places (null when there is none).
  ConvStep(ConvParams params, std::unique_ptr<Gemm> gemm, std::unique_ptr<Gemm> last, int64_t rows);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;
  int64_t scratch_bytes() const override { return scratch_bytes_; }

  // How many output places make a block.
  static int64_t RowsPerBlock(const ConvParams& params);
  static int64_t Places(const ConvParams& params);
  static int64_t PatchLength(const ConvParams& params);

 private:
  void RunBlock(const RunContext& context, int64_t unit, char* scratch) const;
  void FillPatches(const char* input, int64_t first, int64_t rows, char* patches) const;
  ConvParams p_;
  std::unique_ptr<Gemm> gemm_, last_;
  int64_t rows_, places_, blocks_, patch_length_;
  int64_t patch_bytes_, shared_bytes_, scratch_bytes_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_CONV_STEP_H_
