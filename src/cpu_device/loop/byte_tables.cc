// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/byte_tables.h"

#include <algorithm>
#include <utility>

namespace pjrt::cpu {
namespace {

// Fewer points are computed sooner than tables are made.
constexpr int64_t kLeastPoints = 16 * 1024;
// About what converting an element between memory and its compute type takes, where that is more
// than a copy.
constexpr double kConvertNs = 0.1;

bool IsByte(PrimitiveType type) { return type != PRED && ByteWidth(type) == 1; }

// The only input that the program's instructions read; -1 where there is none, or where they depend
// on more than inputs and constants.
int32_t OnlyInput(const LoopProgram& program) {
  int32_t only = -1;
  for (const LoopInstr& instr : program.instrs) {
    switch (instr.kind) {
      case LoopInstr::kInput:
        if (only >= 0 && instr.index != only) return -1;
        only = instr.index;
        break;
      case LoopInstr::kConstant:
      case LoopInstr::kOp:
      case LoopInstr::kConvert:
      case LoopInstr::kRoundTo:
      case LoopInstr::kReducePrecision:
        break;
      default:
        return -1;
    }
  }
  return only;
}

}  // namespace

bool IsWorthTables(const LoopProgram& program, const BlockKernels& kernels) {
  if (program.stores.empty() || !program.reduces.empty() || !program.results.empty() ||
      program.ElementCount() < kLeastPoints)
    return false;
  const int32_t input = OnlyInput(program);
  if (input < 0 || !IsByte(program.inputs[input].type)) return false;
  const Dims& strides = program.inputs[input].view.strides;
  if (std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; }))
    return false;
  // Integers of a byte are computed 64 at a time; what is wider takes longer.
  const bool widens = std::any_of(
      program.instrs.begin(), program.instrs.end(),
      [](const LoopInstr& instr) { return kCTypeSize[static_cast<int>(instr.type)] > 1; });
  if (!widens) return false;
  double ns = ElementCostNs(program);
  if (kernels.load[program.inputs[input].type] != nullptr) ns += kConvertNs;
  for (const LoopStore& store : program.stores) {
    if (ByteWidth(store.type) != 1) return false;
    if (kernels.store[store.type] != nullptr) ns += kConvertNs;
  }
  return kernels.look_up_ns * static_cast<double>(program.stores.size()) < ns;
}

LoopProgram OnAllBytes(const LoopProgram& program) {
  LoopProgram all = program;
  const LoopView each = {0, {1}};
  all.dims = {std::tuple_size_v<ByteTable>};
  all.num_outer = 1;
  ForEachView(&all, [&](LoopView* view) { *view = each; });
  return all;
}

void LookUp(std::vector<ByteTable> tables, LoopProgram* program) {
  const int32_t input = OnlyInput(*program);
  program->inputs[input].type = U8;
  program->instrs.clear();
  LoopInstr byte;
  byte.kind = LoopInstr::kInput;
  byte.type = CType::kU8;
  byte.index = input;
  program->instrs.push_back(byte);
  for (size_t i = 0; i < tables.size(); ++i) {
    LoopInstr look_up;
    look_up.kind = LoopInstr::kLookUp;
    look_up.type = CType::kU8;
    look_up.index = static_cast<int32_t>(i);
    look_up.args[0] = 0;
    program->stores[i].type = U8;
    program->stores[i].value = static_cast<LoopValue>(program->instrs.size());
    program->instrs.push_back(look_up);
  }
  program->tables = std::move(tables);
}

}  // namespace pjrt::cpu
