// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/linalg_step.h"

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

void ForEachMatrix(const RunContext& context, int64_t batch, absl::FunctionRef<void(int64_t)> fn) {
  if (context.team == nullptr || batch <= 1) {
    for (int64_t i = 0; i < batch; ++i) fn(i);
    return;
  }
  context.team->ParallelFor(batch, [&](int64_t i, int) { fn(i); });
}

}  // namespace

absl::Status CholeskyStep::Run(const RunContext& context) const {
  const int64_t bytes = n_ * n_ * ByteWidth(type_);
  ForEachMatrix(context, batch_, [&](int64_t i) {
    Cholesky(kernels_, type_, context.buffer(from_) + i * bytes, context.buffer(to_) + i * bytes,
             n_, lower_);
  });
  return absl::OkStatus();
}

std::string CholeskyStep::Describe() const {
  return absl::StrCat("cholesky ", batch_, " x ", n_, "x", n_);
}
double CholeskyStep::cost_ns() const {
  const double n = static_cast<double>(n_);
  return 200 + static_cast<double>(batch_) * n * n * (0.5 + n / 100);
}

absl::Status TriangularSolveStep::Run(const RunContext& context) const {
  const int64_t n = options_.left ? rows_ : columns_;
  const int64_t a_bytes = n * n * ByteWidth(type_);
  const int64_t b_bytes = rows_ * columns_ * ByteWidth(type_);
  ForEachMatrix(context, batch_, [&](int64_t i) {
    TriangularSolve(kernels_, type_, context.buffer(a_) + i * a_bytes,
                    context.buffer(b_) + i * b_bytes, rows_, columns_, options_);
  });
  return absl::OkStatus();
}

std::string TriangularSolveStep::Describe() const {
  return absl::StrCat("triangular_solve ", batch_, " x ", rows_, "x", columns_);
}
double TriangularSolveStep::cost_ns() const {
  const double n = static_cast<double>(options_.left ? rows_ : columns_);
  return 200 +
         static_cast<double>(batch_) * (n * n / 3 + n * static_cast<double>(rows_ * columns_) / 80);
}

}  // namespace pjrt::cpu
