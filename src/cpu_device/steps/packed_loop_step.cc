// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/steps/packed_loop_step.h"

#include <algorithm>
#include <utility>

#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {
namespace {

// Elements of a piece, which begin a byte; what is unpacked stays in the L1 cache. Pieces of a unit
// of work.
constexpr int64_t kPiece = 8 * 1024;
constexpr int64_t kUnit = 32;

bool IsPointwise(const LoopInstr& instr) {
  switch (instr.kind) {
    case LoopInstr::kInput:
    case LoopInstr::kConstant:
    case LoopInstr::kOp:
    case LoopInstr::kConvert:
    case LoopInstr::kRoundTo:
    case LoopInstr::kReducePrecision:
    case LoopInstr::kLookUp:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool PackedLoopStep::Serves(const LoopProgram& program) {
  return program.dims.size() == 1 && program.dims[0] >= 2 * kPiece && program.reduces.empty() &&
         program.results.empty() &&
         std::all_of(program.instrs.begin(), program.instrs.end(), IsPointwise);
}

absl::StatusOr<std::unique_ptr<PackedLoopStep>> PackedLoopStep::Make(
    const LoopEngine& engine, const LoopProgram& program, std::vector<Array> inputs,
    std::vector<Array> outputs, double cost_ns, std::string what) {
  std::unique_ptr<PackedLoopStep> step(new PackedLoopStep);
  step->count_ = program.dims[0];
  step->cost_ns_ = cost_ns;
  step->what_ = std::move(what);
  LoopProgram piece = program;
  piece.dims[0] = kPiece;
  PJRT_ASSIGN_OR_RETURN(step->whole_, engine.Compile(piece));
  step->kernel_scratch_bytes_ = step->whole_->scratch_bytes();
  if (const int64_t rest = step->count_ % kPiece; rest != 0) {
    piece.dims[0] = rest;
    PJRT_ASSIGN_OR_RETURN(step->rest_, engine.Compile(piece));
    step->kernel_scratch_bytes_ =
        std::max(step->kernel_scratch_bytes_, step->rest_->scratch_bytes());
  }
  step->kernel_scratch_bytes_ = AlignUp(step->kernel_scratch_bytes_);
  const auto add = [&](const Array& array, PrimitiveType type, const LoopView& view,
                       std::vector<Operand>* operands) {
    operands->push_back({array, view.strides[0] * ByteWidth(type)});
    if (array.bits != 0) step->scratch_bytes_ += kPiece;
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    add(inputs[i], program.inputs[i].type, program.inputs[i].view, &step->inputs_);
  for (size_t i = 0; i < outputs.size(); ++i)
    add(outputs[i], program.stores[i].type, program.stores[i].view, &step->outputs_);
  step->scratch_bytes_ += step->kernel_scratch_bytes_ +
                          static_cast<int64_t>((inputs.size() + outputs.size()) * sizeof(char*));
  return step;
}

// Scratch: the kernel's, pieces of the packed arrays, then the base pointers.
void PackedLoopStep::RunPiece(const RunContext& context, int64_t first, int64_t n,
                              char* scratch) const {
  char* piece = scratch + kernel_scratch_bytes_;
  char** const inputs = reinterpret_cast<char**>(
      scratch + scratch_bytes_ - (inputs_.size() + outputs_.size()) * sizeof(char*));
  char** const outputs = inputs + inputs_.size();
  const auto place = [&](const Operand& operand) {
    if (operand.array.bits == 0) return context.buffer(operand.array.buffer) + first * operand.step;
    return std::exchange(piece, piece + kPiece);
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Array& array = inputs_[i].array;
    inputs[i] = place(inputs_[i]);
    if (array.bits != 0)
      array.convert(inputs[i], context.buffer(array.buffer) + first * array.bits / 8, n);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) outputs[i] = place(outputs_[i]);
  const LoopKernel& kernel = n == kPiece ? *whole_ : *rest_;
  kernel.Run(inputs, outputs, 0, kernel.num_units(), scratch);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const Array& array = outputs_[i].array;
    if (array.bits != 0)
      array.convert(context.buffer(array.buffer) + first * array.bits / 8, outputs[i], n);
  }
}

absl::Status PackedLoopStep::Run(const RunContext& context) const {
  const auto run = [&](int64_t unit, int member) {
    const int64_t end = std::min(count_, (unit + 1) * kUnit * kPiece);
    for (int64_t first = unit * kUnit * kPiece; first < end; first += kPiece)
      RunPiece(context, first, std::min(kPiece, end - first), context.member_scratch(member));
  };
  const int64_t units = CeilDiv(count_, kUnit * kPiece);
  if (units > 1 && context.team != nullptr) {
    context.team->ParallelFor(units, run);
  } else {
    for (int64_t unit = 0; unit < units; ++unit) run(unit, 0);
  }
  return absl::OkStatus();
}

}  // namespace pjrt::cpu
