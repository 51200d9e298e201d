// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/compile/packed_arrays.h"

#include <algorithm>

namespace pjrt::cpu {
namespace {

// Fewer elements are as quickly unpacked by a step, and loops of very few are scalar programs,
// which read bytes.
constexpr int64_t kMinPackedElements = 1024;
constexpr int kMostInByte = 8;

// Whether a view shows an array's elements in the loop's order.
bool IsInOrder(const LoopView& view, const Dims& dims) {
  return view.offset == 0 && IsDense(view, dims);
}

// Whether each row begins a byte of a packed array, so that no two threads write to one byte.
bool RowsBeginBytes(const LoopProgram& program) {
  LoopProgram simplified = program;
  Simplify(&simplified);
  return simplified.dims.size() == 1 || simplified.dims.back() % kMostInByte == 0;
}

}  // namespace

void PackedArrays::AddArgument(PrimitiveType type, BufferId packed, BufferId bytes,
                               const Step* unpack) {
  arguments_.push_back({type, packed, bytes, unpack});
}

void PackedArrays::AddResult(PrimitiveType type, int32_t index, BufferId bytes) {
  results_.push_back({type, index, bytes});
}

void PackedArrays::UseIn(PlanBuilder* plan, LoopProgram* program, std::vector<BufferId>* inputs,
                         std::vector<BufferId>* outputs) {
  const int64_t count = program->ElementCount();
  if ((arguments_.empty() && results_.empty()) || count < kMinPackedElements ||
      !program->reduces.empty())
    return;
  std::vector<char> is_gathered(inputs->size(), 0);
  for (const LoopInstr& instr : program->instrs) {
    if (instr.kind == LoopInstr::kGather) is_gathered[instr.index] = 1;
  }
  for (size_t i = 0; i < inputs->size(); ++i) {
    LoopInput& input = program->inputs[i];
    const auto argument =
        std::find_if(arguments_.begin(), arguments_.end(),
                     [&](const Argument& each) { return each.bytes == (*inputs)[i]; });
    if (argument == arguments_.end() || is_gathered[i] || plan->bytes(argument->bytes) != count ||
        !IsInOrder(input.view, program->dims))
      continue;
    input.packed = argument->type;
    (*inputs)[i] = argument->packed;
  }
  for (size_t i = 0; i < program->stores.size(); ++i) {
    LoopStore& store = program->stores[i];
    const auto result = std::find_if(results_.begin(), results_.end(), [&](const Result& each) {
      return each.bytes == (*outputs)[i];
    });
    if (result == results_.end() || !IsInOrder(store.view, program->dims) ||
        !RowsBeginBytes(*program))
      continue;
    store.packed = result->type;
    const int in_byte = 8 / BitWidth(result->type);
    (*outputs)[i] = plan->Result(result->index, (count + in_byte - 1) / in_byte);
    result->written = true;
  }
}

bool PackedArrays::IsWritten(int32_t result) const {
  return std::any_of(results_.begin(), results_.end(),
                     [result](const Result& each) { return each.index == result && each.written; });
}

void PackedArrays::DropUnread(PlanBuilder* plan, Steps* steps) const {
  for (const Argument& argument : arguments_) {
    if (!plan->DropUnread(argument.bytes)) continue;
    steps->erase(std::find_if(steps->begin(), steps->end(), [&](const std::unique_ptr<Step>& step) {
      return step.get() == argument.unpack;
    }));
  }
}

}  // namespace pjrt::cpu
