// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/gemm_step.h"

#include <utility>
#include <vector>

#include "src/cpu_device/run/team.h"
#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

// More products than this are better left to the kernels.
constexpr int64_t kMaxScalarProducts = 32;

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

GemmStep::GemmStep(const GemmProblem& problem, std::unique_ptr<Gemm> gemm, Dims batch_dims,
                   BatchView a, BatchView b, BatchView c, BufferId shared)
    : problem_(problem),
      gemm_(std::move(gemm)),
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

bool GemmStep::EmitScalar(ScalarAssembler* assembler) const {
  const GemmProblem& p = problem_;
  const CType type = p.accumulate;
  const int size = kCTypeSize[static_cast<int>(type)];
  const auto is_native = [&](PrimitiveType element) {
    return ComputeTypeOf(element) == type && assembler->kernels().load[element] == nullptr;
  };
  if (p.batch != 1 || p.k == 0 || size > 8 || p.m * p.n > ScalarAssembler::kMaxElements ||
      p.k > kMaxScalarProducts || p.m * p.n * p.k > kMaxScalarProducts || !is_native(p.a_type) ||
      !is_native(p.b_type) || !is_native(p.c_type))
    return false;
  using Reg = ScalarAssembler::Reg;
  constexpr Reg kNoReg = ScalarAssembler::kNoReg;
  const Reg zero = assembler->Integer(0);
  std::vector<Reg> sums;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      // Products of -0 add up to 0.
      Reg sum = zero;
      for (int64_t q = 0; q < p.k; ++q) {
        const Reg x = assembler->Read(
            a_.buffer, a_.offset + (i * p.a_row_stride + q * p.a_col_stride) * size, size);
        const Reg y = assembler->Read(
            b_.buffer, b_.offset + (q * p.b_row_stride + j * p.b_col_stride) * size, size);
        const Reg product = assembler->Op(BlockOp::kMultiply, type, type, x, y, kNoReg);
        sum = assembler->Op(BlockOp::kAdd, type, type, product, sum, kNoReg);
      }
      sums.push_back(sum);
    }
  }
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j)
      assembler->Write(c_.buffer, c_.offset + (i * p.c_row_stride + j) * size, size,
                       sums[static_cast<size_t>(i * p.n + j)]);
  }
  return true;
}

}  // namespace pjrt::cpu
