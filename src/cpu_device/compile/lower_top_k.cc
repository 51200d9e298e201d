// SPDX-License-Identifier: Apache-2.0
//
// chlo.top_k, and what the device claims of ops that core could expand.
#include "pjrt/cpu/custom_call.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/steps/top_k_step.h"

namespace pjrt::cpu {

bool ClaimsOp(const ir::Op& op, const CustomCallRegistry* custom_calls) {
  const auto is_registered = [&](absl::string_view name) {
    return custom_calls != nullptr && custom_calls->Find(name) != nullptr;
  };
  switch (op.opcode()) {
    case ir::OpCode::kCustomCall:
      return is_registered(op.StringAttr("call_target_name"));
    case ir::OpCode::kComposite:
      return is_registered(op.StringAttr("name"));
    case ir::OpCode::kChloTopK: {
      const ir::Type x = op.operand_type(0);
      return x.IsTensor() && x.HasStaticShape() && x.rank() > 0 &&
             op.result_type(1).primitive_type() == S32 &&
             TopKStep::Takes(x.primitive_type(), x.dims().back(), op.IntAttr("k"));
    }
    case ir::OpCode::kChloErf:
    case ir::OpCode::kChloErfc: {
      // Others than these are written with elementary functions.
      const PrimitiveType type = op.operand_type(0).primitive_type();
      return type == F64 || type == F32 || type == F16 || type == BF16;
    }
    default:
      return false;
  }
}

absl::Status LowerTopK(Lowering& lowering, const ir::Op& op, Steps* steps) {
  if (!ClaimsOp(op, nullptr)) return UnsupportedOp(op, "it is not of a form that is selected");
  PJRT_ASSIGN_OR_RETURN(const ArrayView x, lowering.Dense(lowering.view(op.operand(0)), steps));
  const ArrayView values = lowering.NewArray(op.result_type(0));
  const ArrayView indices = lowering.NewArray(op.result_type(1));
  lowering.Bind(op.result(0), values);
  lowering.Bind(op.result(1), indices);
  const int64_t length = x.dims.back();
  const int64_t lines = x.ElementCount() / length;
  if (lines == 0) return absl::OkStatus();
  lowering.plan().Emit(steps,
                       std::make_unique<TopKStep>(x.type, lines, length, op.IntAttr("k"), x.buffer,
                                                  values.buffer, indices.buffer),
                       {x.buffer}, {values.buffer, indices.buffer});
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
