// SPDX-License-Identifier: Apache-2.0
//
// A step that runs a batch of matrix products.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_GEMM_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_GEMM_STEP_H_

#include <memory>
#include <string>

#include "src/cpu_device/kernels/gemm.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

// Where the matrices of a batch begin: at offset + the coordinates of the batch entry times
// strides, in bytes.
struct BatchView {
  BufferId buffer = kNoBuffer;
  int64_t offset = 0;
  Dims strides;
};

// Runs all phases of a product over the context's team. `shared`: a buffer of gemm.shared_bytes(),
// kNoBuffer when that is 0.
void RunGemm(const Gemm& gemm, const Gemm::Batch& batch, BufferId shared,
             const RunContext& context);

class GemmStep final : public Step {
 public:
  // `gemm` was made for `problem`; `shared` is a buffer of gemm->shared_bytes(), kNoBuffer when
  // that is 0.
  GemmStep(const GemmProblem& problem, std::unique_ptr<Gemm> gemm, Dims batch_dims, BatchView a,
           BatchView b, BatchView c, BufferId shared);
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override { return gemm_->description(); }
  double cost_ns() const override { return gemm_->cost_ns(); }
  int64_t scratch_bytes() const override { return gemm_->scratch_bytes(); }
  bool EmitScalar(ScalarAssembler* assembler) const override;

 private:
  const GemmProblem problem_;
  std::unique_ptr<Gemm> gemm_;
  Dims batch_dims_;
  BatchView a_, b_, c_;
  BufferId shared_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_GEMM_STEP_H_
