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
    if (count > ScalarAssembler::kMaxElements ||
        count * static_cast<int64_t>(p_.instrs.size() + p_.reduces.size()) > kMaxWork)
      return false;
    for (const LoopReduce& reduce : p_.reduces) {
      if (count == 0 || !CanFold(reduce)) return false;
    }
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
    for (const LoopReduce& reduce : p_.reduces)
      last_use_[reduce.values[0]] = static_cast<int>(p_.instrs.size());
    const int64_t count = p_.ElementCount();
    point_.assign(p_.dims.size(), 0);
    folds_.resize(p_.reduces.size());
    for (int64_t i = 0; i < count; ++i) {
      if (!EmitPoint() || !Fold()) return false;
      for (int d = static_cast<int>(p_.dims.size()) - 1; d >= 0; --d) {
        if (++point_[d] < p_.dims[d]) break;
        point_[d] = 0;
      }
    }
    WriteFolds();
    return true;
  }

 private:
  // Of one value by an operation, in a type that is stored as it is computed.
  bool CanFold(const LoopReduce& reduce) const {
    if (!reduce.has_monoid || reduce.values.size() != 1) return false;
    const CType type = p_.instrs[reduce.values[0]].type;
    const auto is_native = [&](PrimitiveType stored) {
      return ComputeTypeOf(stored) == type && a_.kernels().load[stored] == nullptr &&
             a_.kernels().store[stored] == nullptr;
    };
    const int32_t init = reduce.init_inputs.empty() ? -1 : reduce.init_inputs[0];
    return !IsWide(type) && is_native(reduce.outputs[0].type) &&
           (init < 0 || is_native(p_.inputs[init].type));
  }

  // Takes the point's values to what has been folded for the same result, in the order of points.
  bool Fold() {
    for (size_t r = 0; r < p_.reduces.size(); ++r) {
      const LoopReduce& reduce = p_.reduces[r];
      const CType type = p_.instrs[reduce.values[0]].type;
      Reg value = values_[reduce.values[0]];
      if (reduce.of_squares) value = a_.Op(BlockOp::kMultiply, type, type, value, value, kNoReg);
      if (value == kNoReg) return false;
      const int64_t at = At(reduce.outputs[0].view);
      auto fold = std::find_if(folds_[r].begin(), folds_[r].end(),
                               [&](const Folded& f) { return f.at == at; });
      if (fold == folds_[r].end()) {
        const int32_t init = reduce.init_inputs.empty() ? -1 : reduce.init_inputs[0];
        if (init < 0) {
          folds_[r].push_back({at, a_.Copied(value)});
          continue;
        }
        const LoopInput& input = p_.inputs[init];
        const int size = ByteWidth(input.type);
        folds_[r].push_back({at, a_.Read(inputs_[init], input.view.offset * size, size)});
        fold = folds_[r].end() - 1;
      }
      fold->value = a_.Op(MonoidOp(reduce.monoid), type, type, fold->value, value, kNoReg);
      if (fold->value == kNoReg) return false;
    }
    return true;
  }

  // Their results stand behind the stores' buffers.
  void WriteFolds() {
    for (size_t r = 0; r < p_.reduces.size(); ++r) {
      const int size = ByteWidth(p_.reduces[r].outputs[0].type);
      for (const Folded& fold : folds_[r])
        a_.Write(outputs_[p_.stores.size() + r], fold.at * size, size, fold.value);
    }
  }

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
  // A result of a reduction, so far.
  struct Folded {
    int64_t at;  // in the result's array
    Reg value;
  };
  std::vector<std::vector<Folded>> folds_;  // by reduction
};

}  // namespace

bool EmitScalarLoop(const LoopProgram& program, absl::Span<const BufferId> inputs,
                    absl::Span<const BufferId> outputs, ScalarAssembler* assembler) {
  return LoopEmitter(program, inputs, outputs, assembler).Run();
}

}  // namespace pjrt::cpu
