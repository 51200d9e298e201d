// SPDX-License-Identifier: Apache-2.0
//
// Regions that are called on elements: as instructions where they are a straight line of scalars,
// else as a plan of their own. And map, where its region is such a plan.
#include "pjrt/ir/op_set.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/compile/diagnostics.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/run/plan_body.h"
#include "src/cpu_device/steps/map_step.h"

namespace pjrt::cpu {
namespace {

// What keeps a region from being run as a plan of its own.
absl::Status CheckCallable(const ir::Block& block) {
  for (const ir::Op* op : block) {
    bool captures = false;
    ForEachInput(*op, [&](ir::Value* value) { captures |= value->block() != &block; });
    if (captures) {
      return UnsupportedOp(*op, "it uses an array from outside its region that is not a constant");
    }
  }
  std::vector<const ir::Block*> blocks = {&block};
  for (size_t b = 0; b < blocks.size(); ++b) {
    for (const ir::Op* op : *blocks[b]) {
      if (op->Is(ir::OpCode::kCustomCall) || ir::GetOpInfo(op->opcode()).Has(ir::kSideEffect))
        return UnsupportedOp(*op, "an op with side effects cannot stand in this region");
      for (size_t r = 0; r < op->num_regions(); ++r) {
        if (op->region(r)->block() != nullptr) blocks.push_back(op->region(r)->block());
      }
    }
  }
  return absl::OkStatus();
}

std::vector<PrimitiveType> TypesOf(absl::Span<ir::Value* const> values) {
  std::vector<PrimitiveType> types;
  for (const ir::Value* value : values) types.push_back(value->type().primitive_type());
  return types;
}

}  // namespace

bool HasKernels(const LoopProgram& program, size_t first, const BlockKernels& kernels) {
  for (size_t i = first; i < program.instrs.size(); ++i) {
    const LoopInstr& instr = program.instrs[i];
    if (instr.kind == LoopInstr::kOp &&
        kernels.op[static_cast<int>(instr.op)][static_cast<int>(instr.operand_type)][0] == nullptr)
      return false;
  }
  return true;
}

absl::Status CheckFolds(const ir::Op& op, const ir::Block& body, size_t first, size_t second) {
  const size_t n = op.num_results();
  for (size_t a = 0; a < body.num_arguments(); ++a) {
    const ir::Type argument = body.argument(a)->type();
    if (!argument.IsTensor() || argument.rank() != 0)
      return UnsupportedOp(op, "its region must take scalars, not arrays");
    const PrimitiveType type = op.result_type(a % n).primitive_type();
    const size_t operand = (a < n ? first : second) + a % n;
    if (argument.primitive_type() != type || op.operand_type(operand).primitive_type() != type) {
      return UnsupportedOp(op, "its region must take scalars of the result's element type");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const LoopProgram>> Lowering::Body(const ir::Block& block,
                                                                  bool keep_f32) {
  absl::StatusOr<std::shared_ptr<const LoopProgram>> straight = BuildBody(block, keep_f32);
  if (straight.ok() && !HasKernels(**straight, 0, *kernels_.block))
    return UnsupportedOp(*block.parent_op(), "its region has an op without a kernel on its types");
  if (straight.ok() || !absl::IsUnimplemented(straight.status())) return straight;
  std::vector<ir::Value*> results;
  for (const ir::Use& use : block.terminator()->operand_uses()) results.push_back(use.value());
  for (const absl::Span<ir::Value* const> values :
       {block.arguments(), absl::Span<ir::Value* const>(results)}) {
    for (const ir::Value* value : values) {
      const ir::Type type = value->type();
      if (!type.IsTensor() || type.rank() != 0 || !IsArrayType(type.primitive_type()))
        return straight;
    }
  }
  PJRT_RETURN_IF_ERROR(CheckCallable(block));
  Lowering inner(module_, kernels_, engine_, options_);
  PJRT_ASSIGN_OR_RETURN(Plan plan, inner.RunBody(block));
  auto program = std::make_shared<LoopProgram>();
  program->called = std::make_shared<PlanBody>(std::move(plan), TypesOf(block.arguments()),
                                               TypesOf(results), *kernels_.block);
  return program;
}

absl::StatusOr<Plan> Lowering::RunBody(const ir::Block& block) {
  Steps steps;
  for (size_t i = 0; i < block.num_arguments(); ++i) {
    const PrimitiveType type = block.argument(i)->type().primitive_type();
    Bind(block.argument(i),
         DenseView(plan_.Argument(static_cast<int32_t>(i), ByteWidth(type)), type, {}));
  }
  PJRT_RETURN_IF_ERROR(LowerBlock(block, &steps));
  PJRT_RETURN_IF_ERROR(PlaceResults(*block.terminator(), /*packed=*/false, &steps));
  return FinishPlan(block, std::move(steps));
}

absl::Status LowerMap(Lowering& lowering, const ir::Op& op, Steps* steps) {
  const ArrayView result = lowering.NewArray(op.result_type());
  lowering.Bind(op.result(), result);
  if (result.ElementCount() == 0) return absl::OkStatus();
  PJRT_ASSIGN_OR_RETURN(const std::shared_ptr<const LoopProgram> body,
                        lowering.Body(*op.region()->block(), lowering.options().keep_f32));
  MapParams p;
  p.count = result.ElementCount();
  p.kernels = lowering.kernels().block;
  p.result_type = result.type;
  p.result = result.buffer;
  PJRT_ASSIGN_OR_RETURN(p.body, lowering.engine().CompileBody(*body));
  std::vector<BufferId> reads;
  for (size_t i = 0; i < op.num_operands(); ++i) {
    PJRT_ASSIGN_OR_RETURN(const ArrayView operand,
                          lowering.Dense(lowering.view(op.operand(i)), steps));
    p.inputs.push_back({operand.type, operand.buffer});
    reads.push_back(operand.buffer);
  }
  lowering.plan().Emit(steps, std::make_unique<MapStep>(std::move(p)), reads, {result.buffer});
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
