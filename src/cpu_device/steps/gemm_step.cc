// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/gemm_step.h"

#include <utility>

#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

class StepBatch final : public Gemm::Batch {
 public:
  StepBatch(const Dims& dims, const BatchView& a, const BatchView& b, const BatchView& c,
            const RunContext& context)
      : dims_(dims),
        a_(a),
        b_(b),
        c_(c),
        a_base_(context.buffer(a.buffer) + a.offset),
        b_base_(context.buffer(b.buffer) + b.offset),
        c_base_(context.buffer(c.buffer) + c.offset) {}

  Gemm::Operands operands(int64_t i) const override {
    Gemm::Operands at{a_base_, b_base_, c_base_};
    for (size_t d = dims_.size(); d-- > 0;) {
      const int64_t q = d == 0 ? 0 : i / dims_[d];
      const int64_t coordinate = i - q * dims_[d];
      at.a += coordinate * a_.strides[d];
      at.b += coordinate * b_.strides[d];
      at.c += coordinate * c_.strides[d];
      i = q;
    }
    return at;
  }

 private:
  const Dims& dims_;
  const BatchView &a_, &b_, &c_;
  const char* a_base_;
  const char* b_base_;
  char* c_base_;
};

}  // namespace

void RunGemm(const Gemm& gemm, const Gemm::Batch& batch, BufferId shared_buffer,
             const RunContext& context) {
  char* const shared = shared_buffer == kNoBuffer ? nullptr : context.buffer(shared_buffer);
  for (int phase = 0; phase < gemm.num_phases(); ++phase) {
    const int64_t units = gemm.num_units(phase);
    if (context.team == nullptr || units <= 1) {
      for (int64_t unit = 0; unit < units; ++unit)
        gemm.Run(batch, phase, unit, shared, context.member_scratch(0));
      continue;
    }
    context.team->ParallelFor(units, [&](int64_t unit, int member) {
      gemm.Run(batch, phase, unit, shared, context.member_scratch(member));
    });
  }
}

GemmStep::GemmStep(std::unique_ptr<Gemm> gemm, Dims batch_dims, BatchView a, BatchView b,
                   BatchView c, BufferId shared)
    : gemm_(std::move(gemm)),
      batch_dims_(std::move(batch_dims)),
      a_(std::move(a)),
      b_(std::move(b)),
      c_(std::move(c)),
      shared_(shared) {}

absl::Status GemmStep::Run(const RunContext& context) const {
  const StepBatch batch(batch_dims_, a_, b_, c_, context);
  RunGemm(*gemm_, batch, shared_, context);
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
