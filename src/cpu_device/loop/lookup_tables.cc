// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/lookup_tables.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/cpu_device/loop/narrow_functions.h"

namespace pjrt::cpu {
namespace {

// Elements of one byte or two; other sizes have no tables.
struct Size {
  int bytes;
  int64_t values;
  int64_t least_points;  // fewer are computed sooner than tables are made
};
constexpr Size kSizes[] = {{1, 256, 16 * 1024}, {2, 65536, 256 * 1024}};
const Size* SizeOf(PrimitiveType type) {
  for (const Size& size : kSizes) {
    if (type != PRED && ByteWidth(type) == size.bytes) return &size;
  }
  return nullptr;
}

// About what converting an element between memory and its compute type takes, where that is more
// than a copy.
constexpr double kConvertNs = 0.1;

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

// Whether the program does nothing but what has a kernel for elements in memory.
bool IsOneFunction(const LoopProgram& program, PrimitiveType type, const BlockKernels& kernels) {
  const LoopInstr* only = nullptr;
  for (const LoopInstr& instr : program.instrs) {
    if (instr.kind == LoopInstr::kInput) continue;
    if (instr.kind != LoopInstr::kOp || only != nullptr) return false;
    only = &instr;
  }
  return only != nullptr && program.stores.size() == 1 && program.stores[0].type == type &&
         HasNarrowFunction(kernels, type, only->op);
}

}  // namespace

bool IsWorthTables(const LoopProgram& program, const BlockKernels& kernels) {
  if (program.stores.empty() || !program.reduces.empty() || !program.results.empty()) return false;
  const int32_t input = OnlyInput(program);
  if (input < 0) return false;
  const PrimitiveType type = program.inputs[input].type;
  const Size* const size = SizeOf(type);
  if (size == nullptr || program.ElementCount() < size->least_points) return false;
  const Dims& strides = program.inputs[input].view.strides;
  if (std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; }))
    return false;
  // Integers of this size are computed a vector at a time; what is wider takes longer.
  const bool widens =
      std::any_of(program.instrs.begin(), program.instrs.end(), [&](const LoopInstr& instr) {
        return kCTypeSize[static_cast<int>(instr.type)] > size->bytes;
      });
  if (!widens) return false;
  double ns = ElementCostNs(program);
  if (kernels.load[type] != nullptr) ns += kConvertNs;
  for (const LoopStore& store : program.stores) {
    if (ByteWidth(store.type) != size->bytes) return false;
    if (kernels.store[store.type] != nullptr) ns += kConvertNs;
  }
  // Such kernels take longer than looking up bytes.
  if (size->bytes == 2 && IsOneFunction(program, type, kernels)) return false;
  return kernels.look_up_ns[size->bytes / 2] * static_cast<double>(program.stores.size()) < ns;
}

std::vector<char> AllElements(const LoopProgram& program) {
  const Size& size = *SizeOf(program.inputs[OnlyInput(program)].type);
  std::vector<char> elements(size.values * size.bytes);
  for (int64_t i = 0; i < size.values; ++i)
    std::memcpy(&elements[i * size.bytes], &i, size.bytes);  // little-endian
  return elements;
}

LoopProgram OnAllElements(const LoopProgram& program) {
  LoopProgram all = program;
  const LoopView each = {0, {1}};
  all.dims = {SizeOf(program.inputs[OnlyInput(program)].type)->values};
  all.num_outer = 1;
  for (LoopInput& input : all.inputs) input.packed = INVALID;
  for (LoopStore& store : all.stores) store.packed = INVALID;
  ForEachView(&all, [&](LoopView* view) { *view = each; });
  return all;
}

void LookUp(std::vector<LookupTable> tables, LoopProgram* program) {
  const int32_t input = OnlyInput(*program);
  const bool bytes = SizeOf(program->inputs[input].type)->bytes == 1;
  const PrimitiveType type = bytes ? U8 : U16;
  const CType compute_type = bytes ? CType::kU8 : CType::kU16;
  program->inputs[input].type = type;
  program->instrs.clear();
  LoopInstr element;
  element.kind = LoopInstr::kInput;
  element.type = compute_type;
  element.index = input;
  program->instrs.push_back(element);
  for (size_t i = 0; i < tables.size(); ++i) {
    LoopInstr look_up;
    look_up.kind = LoopInstr::kLookUp;
    look_up.type = compute_type;
    look_up.index = static_cast<int32_t>(i);
    look_up.args[0] = 0;
    program->stores[i].type = type;
    program->stores[i].value = static_cast<LoopValue>(program->instrs.size());
    program->instrs.push_back(look_up);
  }
  program->tables = std::move(tables);
}

}  // namespace pjrt::cpu
