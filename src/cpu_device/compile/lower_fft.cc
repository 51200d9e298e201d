// SPDX-License-Identifier: Apache-2.0
//
// fft: one step for each transformed dimension.
#include "pjrt/ir/op_attributes.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/fft_step.h"

namespace pjrt::cpu {
namespace {

constexpr int64_t kMaxLength = int64_t{1} << 31;

// Transforms `from` to `to` along dimension `dim`; `shape` has the dims of the array that is
// complex on both sides, or of the real one.
void EmitFft(Lowering& lowering, FftParams::Kind kind, absl::Span<const int64_t> shape, size_t dim,
             double scale, const ArrayView& from, const ArrayView& to, Steps* steps) {
  FftParams p;
  p.kind = kind;
  p.is_double = from.type == F64 || from.type == C128;
  p.length = shape[dim];
  for (size_t d = 0; d < shape.size(); ++d) {
    if (d != dim) p.lines *= shape[d];
    if (d > dim) p.inner *= shape[d];
  }
  p.scale = scale;
  p.from = from.buffer;
  p.to = to.buffer;
  lowering.plan().Emit(steps, MakeFftStep(p, lowering.kernels()), {p.from}, {p.to});
}

}  // namespace

absl::Status LowerFft(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const std::optional<ir::FftType> type = ir::EnumFrom<ir::FftType>(op.attr("fft_type"));
  if (!type.has_value()) return UnsupportedOp(op, "its fft_type cannot be read");
  const size_t transformed = op.IntsAttr("fft_length").size();
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  if (result.ElementCount() == 0) return absl::OkStatus();
  for (const int64_t length : op.IntsAttr("fft_length")) {
    if (length > kMaxLength) {
      return ResourceExhausted("PJRT-C005", Place(op), " needs the roots of unity for a line of ",
                               length, " elements; at most ", kMaxLength, " are allowed");
    }
  }
  PJRT_ASSIGN_OR_RETURN(const ArrayView operand,
                        lowering.Dense(lowering.view(op.operand(0)), steps));
  if (*type != ir::FftType::kRfft && !IsComplex(operand.type))
    return UnsupportedOp(op, "its operand must be complex");
  const size_t rank = result.dims.size(), last = rank - 1, first = rank - transformed;
  double scale = 1;
  if (*type == ir::FftType::kIfft || *type == ir::FftType::kIrfft) {
    for (size_t d = first; d < rank; ++d) scale /= static_cast<double>(result.dims[d]);
  }
  if (*type == ir::FftType::kIrfft) {
    // The outer dimensions first: real numbers come last.
    ArrayView from = operand;
    if (first < last) {
      const ArrayView complex = lowering.NewArray(operand.type, operand.dims);
      for (size_t d = first; d < last; ++d) {
        EmitFft(lowering, FftParams::kInverse, operand.dims, d, 1, from, complex, steps);
        from = complex;
      }
    }
    EmitFft(lowering, FftParams::kComplexToReal, result.dims, last, scale, from, result, steps);
    return absl::OkStatus();
  }
  const FftParams::Kind kind =
      *type == ir::FftType::kIfft ? FftParams::kInverse : FftParams::kForward;
  if (*type == ir::FftType::kRfft) {
    EmitFft(lowering, FftParams::kRealToComplex, operand.dims, last, 1, operand, result, steps);
  } else {
    EmitFft(lowering, kind, result.dims, last, scale, operand, result, steps);
  }
  for (size_t d = last; d > first; --d)
    EmitFft(lowering, kind, result.dims, d - 1, 1, result, result, steps);
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
