// SPDX-License-Identifier: Apache-2.0
//
// Steps that do linear algebra on a batch of matrices.
#ifndef PJRT_SRC_CPU_DEVICE_STEPS_LINALG_STEP_H_
#define PJRT_SRC_CPU_DEVICE_STEPS_LINALG_STEP_H_

#include <string>

#include "src/cpu_device/kernels/linalg.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

class CholeskyStep final : public Step {
 public:
  CholeskyStep(const Kernels& kernels, PrimitiveType type, int64_t batch, int64_t n, bool lower,
               BufferId from, BufferId to)
      : kernels_(kernels), type_(type), batch_(batch), n_(n), lower_(lower), from_(from), to_(to) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;

 private:
  const Kernels& kernels_;
  PrimitiveType type_;
  int64_t batch_, n_;
  bool lower_;
  BufferId from_, to_;
};

// Solves in place of b.
class TriangularSolveStep final : public Step {
 public:
  TriangularSolveStep(const Kernels& kernels, PrimitiveType type, int64_t batch, int64_t rows,
                      int64_t columns, const TrsmOptions& options, BufferId a, BufferId b)
      : kernels_(kernels),
        type_(type),
        batch_(batch),
        rows_(rows),
        columns_(columns),
        options_(options),
        a_(a),
        b_(b) {}
  absl::Status Run(const RunContext& context) const override;
  std::string Describe() const override;
  double cost_ns() const override;

 private:
  const Kernels& kernels_;
  PrimitiveType type_;
  int64_t batch_, rows_, columns_;
  TrsmOptions options_;
  BufferId a_, b_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_STEPS_LINALG_STEP_H_
