// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/loop_program.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pjrt::cpu {

LoopInstr LoopInstr::Op(BlockOp op, CType type, CType operand_type, LoopValue a, LoopValue b,
                        LoopValue c) {
  LoopInstr instr;
  instr.kind = kOp;
  instr.op = op;
  instr.type = type;
  instr.operand_type = operand_type;
  instr.args[0] = a;
  instr.args[1] = b;
  instr.args[2] = c;
  return instr;
}

namespace {

// Nanoseconds per element and operation on one thread with AVX2, by class; only their relation
// matters. Too much is worse than too little: units of work so short that they are no longer
// streams of memory made logarithms of c128 on two threads as slow as on one.
double OpCostNs(BlockOp op, CType type) {
  const bool complex = type == CType::kC64 || type == CType::kC128;
  const double width = kCTypeSize[static_cast<int>(type)] / 4.0 * (complex ? 2 : 1);
  switch (op) {
    case BlockOp::kSqrt:
    case BlockOp::kRsqrt:
    case BlockOp::kDivide:
      return 0.15 * width;
    case BlockOp::kExp:
    case BlockOp::kLog:
      return 0.3 * width;
    case BlockOp::kLogistic:
    case BlockOp::kTanh:
    case BlockOp::kErf:
    case BlockOp::kExpm1:
    case BlockOp::kLog1p:
    case BlockOp::kSin:
    case BlockOp::kCos:
    case BlockOp::kTan:
    case BlockOp::kCbrt:
    case BlockOp::kAtan2:
    case BlockOp::kNarrowAtan2:
    case BlockOp::kRemainder:
      return 0.5 * width;
    case BlockOp::kErfc:
    case BlockOp::kPower:
    case BlockOp::kNarrowPower:
      return width;
    default:
      return 0.03 * width;
  }
}

// Removes dim d of the iteration space; the views drop its stride.
void DropDim(LoopProgram* p, int d) {
  p->dims.erase(p->dims.begin() + d);
  if (d < p->num_outer) {
    --p->num_outer;
  } else if (d < p->num_outer + p->num_reduced) {
    --p->num_reduced;
  }
  ForEachView(p, [d](LoopView* view) { view->strides.erase(view->strides.begin() + d); });
}

bool CanMerge(LoopProgram* p, int d) {
  // Outer, reduced and inner dims stay apart.
  if (d + 1 == p->num_outer || d + 1 == p->num_outer + p->num_reduced) return false;
  bool ok = true;
  const int64_t inner = p->dims[d + 1];
  ForEachView(p, [&](LoopView* view) { ok &= view->strides[d] == view->strides[d + 1] * inner; });
  return ok;
}

void DropUnused(LoopProgram* p) {
  std::vector<char> used(p->instrs.size(), 0);
  for (const LoopStore& store : p->stores) used[store.value] = 1;
  for (const LoopReduce& reduce : p->reduces) {
    for (LoopValue v : reduce.values) used[v] = 1;
  }
  for (LoopValue v : p->results) used[v] = 1;
  for (int i = static_cast<int>(p->instrs.size()) - 1; i >= 0; --i) {
    if (!used[i]) continue;
    for (LoopValue arg : p->instrs[i].args) {
      if (arg >= 0) used[arg] = 1;
    }
  }
  std::vector<LoopValue> renumbered(p->instrs.size(), -1);
  std::vector<LoopInstr> kept;
  kept.reserve(p->instrs.size());
  for (size_t i = 0; i < p->instrs.size(); ++i) {
    if (!used[i]) continue;
    renumbered[i] = static_cast<LoopValue>(kept.size());
    kept.push_back(std::move(p->instrs[i]));
    for (LoopValue& arg : kept.back().args) {
      if (arg >= 0) arg = renumbered[arg];
    }
  }
  p->instrs = std::move(kept);
  for (LoopStore& store : p->stores) store.value = renumbered[store.value];
  for (LoopReduce& reduce : p->reduces) {
    for (LoopValue& v : reduce.values) v = renumbered[v];
  }
  for (LoopValue& v : p->results) v = renumbered[v];
}

// A view that is not used would keep dims from being merged.
void DropUnusedIotas(LoopProgram* p) {
  std::vector<LoopView> kept;
  std::vector<int32_t> renumbered(p->iotas.size(), -1);
  const auto keep = [&](int32_t* iota) {
    if (renumbered[*iota] < 0) {
      renumbered[*iota] = static_cast<int32_t>(kept.size());
      kept.push_back(std::move(p->iotas[*iota]));
    }
    *iota = renumbered[*iota];
  };
  for (LoopInstr& instr : p->instrs) {
    if (instr.kind == LoopInstr::kIota || instr.kind == LoopInstr::kCompareIota) keep(&instr.index);
  }
  for (LoopReduce& reduce : p->reduces) {
    if (reduce.choice.has_value() && reduce.choice->counted_by >= 0)
      keep(&reduce.choice->counted_by);
  }
  p->iotas = std::move(kept);
}

// A store rounds to its type itself.
void DropRounding(LoopProgram* p) {
  for (LoopStore& store : p->stores) {
    const LoopInstr& instr = p->instrs[store.value];
    if (instr.kind == LoopInstr::kRoundTo && instr.memory_type == store.type)
      store.value = instr.args[0];
  }
}

}  // namespace

bool IsScalarView(const LoopView& view, const Dims& dims) {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != 1 && view.strides[d] != 0) return false;
  }
  return true;
}

bool IsDense(const LoopView& view, const Dims& dims) {
  int64_t stride = 1;
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    if (dims[d] != 1 && view.strides[d] != stride) return false;
    stride *= dims[d];
  }
  return true;
}

void ForEachView(LoopProgram* program, absl::FunctionRef<void(LoopView*)> fn) {
  for (LoopInput& input : program->inputs) fn(&input.view);
  for (LoopView& iota : program->iotas) fn(&iota);
  for (LoopStore& store : program->stores) fn(&store.view);
  for (LoopReduce& reduce : program->reduces) {
    for (LoopReduce::Output& output : reduce.outputs) fn(&output.view);
  }
}

int64_t LoopProgram::ElementCount() const {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  return count;
}

void Simplify(LoopProgram* program) {
  DropRounding(program);
  DropUnused(program);
  DropUnusedIotas(program);
  for (int d = static_cast<int>(program->dims.size()) - 1; d >= 0; --d) {
    if (program->dims[d] == 1) DropDim(program, d);
  }
  for (int d = static_cast<int>(program->dims.size()) - 2; d >= 0; --d) {
    if (!CanMerge(program, d)) continue;
    program->dims[d + 1] *= program->dims[d];
    DropDim(program, d);
  }
}

double ElementMemoryNs(const LoopProgram& program) {
  double bytes = 0;
  for (const LoopInput& input : program.inputs) bytes += ByteWidth(input.type);
  for (const LoopStore& store : program.stores) bytes += ByteWidth(store.type);
  return bytes / kMemoryBytesPerNs;
}

double ElementCostNs(const LoopProgram& program) {
  if (program.called != nullptr) return 1000;
  double cost = 0.05;
  for (const LoopInstr& instr : program.instrs) {
    switch (instr.kind) {
      case LoopInstr::kOp:
        cost += OpCostNs(instr.op, instr.operand_type);
        break;
      case LoopInstr::kConstant:
        break;
      case LoopInstr::kInput:
      case LoopInstr::kCompareIota:
      case LoopInstr::kConvert:
      case LoopInstr::kRoundTo:
        cost += 0.05;
        break;
      case LoopInstr::kGather:
        cost += 1;
        break;
      default:
        cost += 0.15;
    }
  }
  for (const LoopReduce& reduce : program.reduces) {
    cost += reduce.body != nullptr && !reduce.choice.has_value() ? 2 * ElementCostNs(*reduce.body)
                                                                 : 0.1;
  }
  return cost;
}

std::string LoopProgram::ToString() const {
  std::string out = absl::StrCat("loop [", absl::StrJoin(dims, ","), "] outer ", num_outer,
                                 " reduced ", num_reduced, "\n");
  for (size_t i = 0; i < inputs.size(); ++i) {
    absl::StrAppend(&out, "  in", i, ": ", GetPrimitiveTypeInfo(inputs[i].type).name, " +",
                    inputs[i].view.offset, " [", absl::StrJoin(inputs[i].view.strides, ","), "]\n");
  }
  static constexpr const char* kKinds[] = {
      "input",   "parameter", "constant",         "iota",    "compare_iota", "op",
      "convert", "round_to",  "reduce_precision", "look_up", "gather"};
  static constexpr const char* kOps[] = {
#define PJRT_X(name) #name,
      PJRT_UNARY_BLOCK_OPS(PJRT_X) PJRT_BINARY_BLOCK_OPS(PJRT_X) PJRT_TERNARY_BLOCK_OPS(PJRT_X)
#undef PJRT_X
  };
  for (size_t i = 0; i < instrs.size(); ++i) {
    const LoopInstr& instr = instrs[i];
    absl::StrAppend(&out, "  v", i, " = ", kKinds[instr.kind]);
    if (instr.kind == LoopInstr::kOp || instr.kind == LoopInstr::kCompareIota)
      absl::StrAppend(&out, " ", kOps[static_cast<int>(instr.op)]);
    if (instr.kind == LoopInstr::kInput || instr.kind == LoopInstr::kParameter ||
        instr.kind == LoopInstr::kLookUp || instr.kind == LoopInstr::kGather) {
      absl::StrAppend(&out, " ", instr.index);
    }
    for (LoopValue arg : instr.args) {
      if (arg >= 0) absl::StrAppend(&out, " v", arg);
    }
    absl::StrAppend(&out, "\n");
  }
  for (const LoopStore& store : stores) {
    absl::StrAppend(&out, "  store v", store.value, ": ", GetPrimitiveTypeInfo(store.type).name,
                    " [", absl::StrJoin(store.view.strides, ","), "]\n");
  }
  for (const LoopReduce& reduce : reduces) {
    absl::StrAppend(&out, reduce.of_squares ? "  reduce squares of v" : "  reduce v",
                    absl::StrJoin(reduce.values, " v"), "\n");
    if (reduce.body != nullptr) absl::StrAppend(&out, "  body ", reduce.body->ToString());
  }
  return out;
}

}  // namespace pjrt::cpu
