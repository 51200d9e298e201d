// SPDX-License-Identifier: Apache-2.0
//
// Loop programs of a few elements as scalar instructions.
#include <algorithm>
#include <cstring>
#include <vector>

#include "src/cpu_device/steps/scalar_assembler.h"

namespace pjrt::cpu {
namespace {

using Reg = ScalarAssembler::Reg;
constexpr Reg kNoReg = ScalarAssembler::kNoReg;

// Elements times instructions: beyond this a loop is better run by the block engine.
constexpr int64_t kMaxWork = 256;

bool IsWide(CType type) { return kCTypeSize[static_cast<int>(type)] > 8; }

class LoopEmitter {
 public:
  LoopEmitter(const LoopProgram& program, absl::Span<const BufferId> inputs,
              absl::Span<const BufferId> outputs, ScalarAssembler* assembler)
      : p_(program), inputs_(inputs), outputs_(outputs), a_(*assembler) {}

  bool CanEmit() const {
    const int64_t count = p_.ElementCount();
    if (!p_.reduces.empty() || count > ScalarAssembler::kMaxElements ||
        count * static_cast<int64_t>(p_.instrs.size()) > kMaxWork)
      return false;
    for (const LoopInstr& instr : p_.instrs) {
      if (instr.kind == LoopInstr::kParameter || instr.kind == LoopInstr::kReducePrecision ||
          IsWide(instr.type) || (instr.kind == LoopInstr::kOp && IsWide(instr.operand_type)))
        return false;
    }
    return std::all_of(p_.stores.begin(), p_.stores.end(),
                       [](const LoopStore& store) { return ByteWidth(store.type) <= 8; });
  }

  bool Run() {
    if (!CanEmit()) return false;
    last_use_.assign(p_.instrs.size(), -1);
    for (size_t i = 0; i < p_.instrs.size(); ++i) {
      for (LoopValue arg : p_.instrs[i].args) {
        if (arg >= 0) last_use_[arg] = static_cast<int>(i);
      }
    }
    const int64_t count = p_.ElementCount();
    point_.assign(p_.dims.size(), 0);
    for (int64_t i = 0; i < count; ++i) {
      if (!EmitPoint()) return false;
      for (int d = static_cast<int>(p_.dims.size()) - 1; d >= 0; --d) {
        if (++point_[d] < p_.dims[d]) break;
        point_[d] = 0;
      }
    }
    return true;
  }

 private:
  int64_t At(const LoopView& view) const {
    int64_t offset = view.offset;
    for (size_t d = 0; d < point_.size(); ++d) offset += point_[d] * view.strides[d];
    return offset;
  }

  bool EmitPoint() {
    values_.assign(p_.instrs.size(), kNoReg);
    // Where a store's register can be written by the instruction that computes its value: when
    // nothing reads what it held from then on.
    direct_.assign(p_.instrs.size(), kNoReg);
    targets_.assign(p_.stores.size(), kNoReg);
    for (size_t s = 0; s < p_.stores.size(); ++s) {
      const LoopStore& store = p_.stores[s];
      const int size = ByteWidth(store.type);
      targets_[s] = a_.Target(outputs_[s], At(store.view) * size, size);
    }
    for (size_t i = 0; i < p_.instrs.size(); ++i) {
      if (p_.instrs[i].kind == LoopInstr::kInput) values_[i] = Load(p_.instrs[i]);
    }
    for (size_t s = 0; s < p_.stores.size(); ++s) {
      const LoopStore& store = p_.stores[s];
      if (targets_[s] != kNoReg && a_.kernels().store[store.type] == nullptr &&
          direct_[store.value] == kNoReg && IsFree(targets_[s], store.value))
        direct_[store.value] = targets_[s];
    }
    for (size_t i = 0; i < p_.instrs.size(); ++i) {
      if (p_.instrs[i].kind == LoopInstr::kInput) continue;
      values_[i] = Compute(p_.instrs[i], direct_[i]);
      if (values_[i] == kNoReg) return false;
    }
    Store();
    return true;
  }

  // True when register `target` holds no input that is read by an instruction behind `value`'s, or
  // by a store.
  bool IsFree(Reg target, LoopValue value) const {
    if (p_.instrs[value].kind == LoopInstr::kInput) return false;
    for (size_t i = 0; i < p_.instrs.size(); ++i) {
      if (values_[i] == target && last_use_[i] > value) return false;
    }
    return std::none_of(p_.stores.begin(), p_.stores.end(),
                        [&](const LoopStore& store) { return values_[store.value] == target; });
  }

  Reg Load(const LoopInstr& instr) {
    const LoopInput& input = p_.inputs[instr.index];
    const int size = ByteWidth(input.type);
    const Reg raw = a_.Read(inputs_[instr.index], At(input.view) * size, size);
    return Loaded(instr, input.type, raw);
  }

  Reg Loaded(const LoopInstr& instr, PrimitiveType type, Reg raw) {
    const ConvertFn load = a_.kernels().load[type];
    return load == nullptr ? raw
                           : a_.CallConvert(load, raw, kCTypeSize[static_cast<int>(instr.type)]);
  }

  Reg Compute(const LoopInstr& instr, Reg dst) {
    const int size = kCTypeSize[static_cast<int>(instr.type)];
    const auto arg = [&](int k) { return instr.args[k] < 0 ? kNoReg : values_[instr.args[k]]; };
    switch (instr.kind) {
      case LoopInstr::kConstant:
        return a_.Constant(instr.bits, size);
      case LoopInstr::kIota: {
        uint64_t bits = 0;
        a_.kernels().iota[static_cast<int>(instr.type)](&bits, At(p_.iotas[instr.index]), 0, 1);
        return a_.Constant(&bits, size);
      }
      case LoopInstr::kOp:
        return a_.Op(instr.op, instr.type, instr.operand_type, arg(0), arg(1), arg(2), dst);
      case LoopInstr::kConvert:
        return a_.Convert(instr.type, p_.instrs[instr.args[0]].type, arg(0), dst);
      case LoopInstr::kRoundTo: {
        const ConvertFn round = a_.kernels().round_to[instr.memory_type];
        return round == nullptr ? arg(0) : a_.CallConvert(round, arg(0), size, dst);
      }
      case LoopInstr::kGather: {
        const LoopInput& input = p_.inputs[instr.index];
        const int bytes = ByteWidth(input.type);
        const CType type = p_.instrs[instr.args[0]].type;
        const Reg index = type == CType::kS64 ? arg(0) : a_.Convert(CType::kS64, type, arg(0));
        const Reg at = a_.MulAdd(index, bytes, a_.Integer(0));
        return Loaded(instr, input.type,
                      a_.ReadAt(inputs_[instr.index], input.view.offset * bytes, at, bytes));
      }
      default:
        return kNoReg;
    }
  }

  // All values are read before the first is written.
  void Store() {
    for (size_t s = 0; s < p_.stores.size(); ++s) {
      const LoopStore& store = p_.stores[s];
      Reg& value = stored_.emplace_back(values_[store.value]);
      if (const ConvertFn convert = a_.kernels().store[store.type]; convert != nullptr) {
        value = a_.CallConvert(convert, value, ByteWidth(store.type));
      } else if (value != targets_[s] &&
                 std::find(targets_.begin(), targets_.end(), value) != targets_.end() &&
                 direct_[store.value] != value) {
        value = a_.Copied(value);
      }
    }
    for (size_t s = 0; s < p_.stores.size(); ++s) {
      const int size = ByteWidth(p_.stores[s].type);
      a_.Write(outputs_[s], At(p_.stores[s].view) * size, size, stored_[s]);
    }
    stored_.clear();
  }

  const LoopProgram& p_;
  const absl::Span<const BufferId> inputs_, outputs_;
  ScalarAssembler& a_;
  std::vector<int> last_use_;
  Dims point_;
  std::vector<Reg> values_, direct_, targets_, stored_;
};

}  // namespace

bool EmitScalarLoop(const LoopProgram& program, absl::Span<const BufferId> inputs,
                    absl::Span<const BufferId> outputs, ScalarAssembler* assembler) {
  return LoopEmitter(program, inputs, outputs, assembler).Run();
}

}  // namespace pjrt::cpu
