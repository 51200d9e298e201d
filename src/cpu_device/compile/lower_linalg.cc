// SPDX-License-Identifier: Apache-2.0
//
// cholesky and triangular_solve. Types narrower than f32 are solved in f32.
#include "pjrt/ir/op_attributes.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/linalg_step.h"

namespace pjrt::cpu {
namespace {

PrimitiveType SolveType(PrimitiveType type) {
  return IsFloating(type) && BitWidth(type) < 32 ? F32 : type;
}

// A dense array of `type` with the values of `from`; both compute in the same type.
absl::StatusOr<ArrayView> AsType(Lowering& lowering, const ArrayView& from, PrimitiveType type,
                                 Steps* steps) {
  if (from.type == type) return lowering.Dense(from, steps);
  const ArrayView to = lowering.NewArray(type, from.dims);
  PJRT_RETURN_IF_ERROR(lowering.Convert(from, to, steps));
  return to;
}

int64_t BatchOf(const ArrayView& matrices) {
  int64_t batch = 1;
  for (size_t d = 0; d + 2 < matrices.dims.size(); ++d) batch *= matrices.dims[d];
  return batch;
}

absl::Status Finish(Lowering& lowering, const ir::Op& op, const ArrayView& solution, Steps* steps) {
  const PrimitiveType type = op.result_type().primitive_type();
  if (solution.type == type) {
    lowering.Bind(op.result(), solution);
    return absl::OkStatus();
  }
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  return lowering.Convert(solution, result, steps);
}

}  // namespace

absl::Status LowerCholesky(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const PrimitiveType type = SolveType(op.result_type().primitive_type());
  PJRT_ASSIGN_OR_RETURN(const ArrayView a,
                        AsType(lowering, lowering.view(op.operand(0)), type, steps));
  const ArrayView factor = lowering.NewArray(type, a.dims);
  if (factor.ElementCount() > 0) {
    lowering.plan().Emit(
        steps,
        std::make_unique<CholeskyStep>(lowering.kernels(), type, BatchOf(a), a.dims.back(),
                                       op.BoolAttr("lower"), a.buffer, factor.buffer),
        {a.buffer}, {factor.buffer});
  }
  return Finish(lowering, op, factor, steps);
}

absl::Status LowerTriangularSolve(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const PrimitiveType type = SolveType(op.result_type().primitive_type());
  const std::optional<ir::Transpose> transpose =
      ir::EnumFrom<ir::Transpose>(op.attr("transpose_a"));
  if (!transpose.has_value()) return UnsupportedOp(op, "its transpose_a cannot be read");
  TrsmOptions options;
  options.left = op.BoolAttr("left_side");
  options.lower = op.BoolAttr("lower");
  options.unit_diagonal = op.BoolAttr("unit_diagonal");
  options.transpose =
      *transpose == ir::Transpose::kTranspose || *transpose == ir::Transpose::kAdjoint;
  options.conjugate = *transpose == ir::Transpose::kAdjoint;
  PJRT_ASSIGN_OR_RETURN(const ArrayView a,
                        AsType(lowering, lowering.view(op.operand(0)), type, steps));
  const ArrayView& b = lowering.view(op.operand(1));
  const ArrayView x = lowering.NewArray(type, b.dims);
  if (x.ElementCount() > 0) {
    PJRT_RETURN_IF_ERROR(b.type == type ? lowering.Copy(b, x, steps)
                                        : lowering.Convert(b, x, steps));
    const size_t rank = b.dims.size();
    lowering.plan().Emit(steps,
                         std::make_unique<TriangularSolveStep>(lowering.kernels(), type, BatchOf(x),
                                                               b.dims[rank - 2], b.dims[rank - 1],
                                                               options, a.buffer, x.buffer),
                         {a.buffer}, {x.buffer});
  }
  return Finish(lowering, op, x, steps);
}

}  // namespace pjrt::cpu
