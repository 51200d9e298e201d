// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/block_code.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "src/core/base/error.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/loop/block_chain.h"
#include "src/cpu_device/loop/narrow_functions.h"

namespace pjrt::cpu {
namespace {

class BlockLowering {
 public:
  BlockLowering(const LoopProgram& program, const BlockKernels& kernels,
                const std::vector<Access>& input_access, const std::vector<Access>& store_access)
      : p_(program), k_(kernels), input_access_(input_access), store_access_(store_access) {}

  absl::StatusOr<BlockCode> Run(absl::Span<const LoopValue> blocks, bool chains_of_one) {
    code_.value_slot.assign(p_.instrs.size(), -1);
    code_.value_scalar.assign(p_.instrs.size(), 0);
    code_.input_last_read.assign(p_.inputs.size(), -1);
    code_.store_first_write.assign(p_.stores.size(), -1);
    filled_.assign(p_.instrs.size(), -1);
    PlanDirectStores();
    for (size_t i = 0; i < p_.instrs.size(); ++i) {
      absl::Status status = LowerInstr(static_cast<LoopValue>(i));
      if (!status.ok()) return status;
    }
    for (size_t i = 0; i < p_.stores.size(); ++i) LowerStore(static_cast<int>(i));
    // What the caller reads after the last instruction.
    for (LoopValue v : blocks) code_.block_slots.push_back(Block(v));
    for (LoopValue v : p_.results) code_.block_slots.push_back(Block(v));
    for (int slot : code_.block_slots) slots_[slot].keep = true;
    // A body is called on any number of elements.
    const int64_t points =
        p_.results.empty() ? p_.ElementCount() : std::numeric_limits<int64_t>::max();
    JoinNarrowFunctions(k_, &slots_, &code_);
    FormChains(k_, slots_, points, chains_of_one, &code_);
    AssignRegisters();
    RecordAccesses();
    code_.num_slots = static_cast<int>(slots_.size());
    return std::move(code_);
  }

 private:
  int NewSlot(int size) {
    slots_.push_back({});
    slots_.back().size = size;
    return static_cast<int>(slots_.size()) - 1;
  }
  int NewRegister(int size) {
    const int slot = NewSlot(size);
    slots_[slot].in_register = true;
    return slot;
  }
  // The slot of `bytes` bytes.
  int NewConstant(int element_size, const void* data, int64_t bytes) {
    const int slot = NewSlot(element_size);
    const char* const from = static_cast<const char*>(data);
    while (code_.constants.size() % 16 != 0) code_.constants.push_back(0);
    code_.constant_slots.emplace_back(slot, static_cast<int32_t>(code_.constants.size()));
    code_.constants.insert(code_.constants.end(), from, from + bytes);
    return slot;
  }
  static int SizeOf(CType type) { return kCTypeSize[static_cast<int>(type)]; }
  CType TypeOf(LoopValue v) const { return p_.instrs[v].type; }

  // A value whose own instruction can write its store's memory needs no register: the first store,
  // contiguous and without conversion, of a value that an instruction computes or converts from its
  // memory type.
  void PlanDirectStores() {
    direct_store_.assign(p_.instrs.size(), -1);
    for (size_t i = 0; i < p_.stores.size(); ++i) {
      const LoopStore& store = p_.stores[i];
      const LoopInstr& instr = p_.instrs[store.value];
      const bool computes =
          instr.kind == LoopInstr::kOp || instr.kind == LoopInstr::kConvert ||
          instr.kind == LoopInstr::kIota || instr.kind == LoopInstr::kCompareIota ||
          instr.kind == LoopInstr::kGather || instr.kind == LoopInstr::kReducePrecision ||
          instr.kind == LoopInstr::kRoundTo || instr.kind == LoopInstr::kLookUp ||
          (instr.kind == LoopInstr::kInput && (k_.load[p_.inputs[instr.index].type] != nullptr ||
                                               input_access_[instr.index] == Access::kMove));
      if (computes && store_access_[i] == Access::kPointer && k_.store[store.type] == nullptr &&
          direct_store_[store.value] < 0) {
        direct_store_[store.value] = static_cast<int>(i);
      }
    }
  }

  int StoreSlot(int store) {
    const int slot = NewSlot(ByteWidth(p_.stores[store].type));
    slots_[slot].store = store;
    code_.store_slots.emplace_back(slot, store);
    return slot;
  }

  // The slot that value v's instruction writes.
  int Destination(LoopValue v, bool scalar) {
    if (!scalar && direct_store_[v] >= 0) return StoreSlot(direct_store_[v]);
    return NewRegister(SizeOf(TypeOf(v)));
  }

  // The slot of v as a block of n elements.
  int Block(LoopValue v) {
    if (!code_.value_scalar[v]) return code_.value_slot[v];
    if (filled_[v] < 0) {
      BlockInstr fill;
      fill.kind = BlockInstr::kFill;
      fill.a = code_.value_slot[v];
      fill.index = SizeLog2(SizeOf(TypeOf(v)));
      fill.dst = filled_[v] = NewRegister(SizeOf(TypeOf(v)));
      code_.instrs.push_back(fill);
    }
    return filled_[v];
  }

  void Define(LoopValue v, int slot, bool scalar) {
    code_.value_slot[v] = slot;
    code_.value_scalar[v] = scalar;
    slots_[slot].scalar = scalar;
  }

  // Whether the value has the bits of its instruction's operand.
  bool KeepsBits(const LoopInstr& instr) const {
    if (instr.kind == LoopInstr::kOp)
      return instr.op == BlockOp::kCopy && SizeOf(instr.type) == SizeOf(instr.operand_type);
    if (instr.kind == LoopInstr::kRoundTo) return k_.round_to[instr.memory_type] == nullptr;
    const auto is_integer = [](CType type) { return type >= CType::kS8 && type <= CType::kU64; };
    return instr.kind == LoopInstr::kConvert && is_integer(instr.type) &&
           is_integer(TypeOf(instr.args[0])) && SizeOf(instr.type) == SizeOf(TypeOf(instr.args[0]));
  }

  absl::Status LowerInstr(LoopValue v) {
    const LoopInstr& instr = p_.instrs[v];
    if (KeepsBits(instr)) {
      Define(v, code_.value_slot[instr.args[0]], code_.value_scalar[instr.args[0]]);
      return absl::OkStatus();
    }
    switch (instr.kind) {
      case LoopInstr::kInput:
        LowerInput(v);
        return absl::OkStatus();
      case LoopInstr::kParameter: {
        const int slot = NewSlot(SizeOf(instr.type));
        code_.parameter_slots.emplace_back(slot, instr.index);
        Define(v, slot, false);
        return absl::OkStatus();
      }
      case LoopInstr::kConstant:
        Define(v, NewConstant(SizeOf(instr.type), instr.bits, 16), true);
        return absl::OkStatus();
      case LoopInstr::kIota:
      case LoopInstr::kCompareIota: {
        BlockInstr out;
        out.kind = instr.kind == LoopInstr::kIota ? BlockInstr::kIota : BlockInstr::kCompareIota;
        out.index = v;
        out.dst = Destination(v, false);
        code_.instrs.push_back(out);
        Define(v, out.dst, false);
        return absl::OkStatus();
      }
      case LoopInstr::kOp:
        return LowerOp(v);
      case LoopInstr::kConvert: {
        const CType from = TypeOf(instr.args[0]);
        ConvertFn fn = k_.convert[static_cast<int>(instr.type)][static_cast<int>(from)];
        if (fn == nullptr)
          return Unimplemented("PJRT-C010", absl::StrCat("no conversion kernel from compute type ",
                                                         from, " to ", instr.type));
        EmitConvert(v, fn);
        return absl::OkStatus();
      }
      case LoopInstr::kRoundTo:
        EmitConvert(v, k_.round_to[instr.memory_type]);
        return absl::OkStatus();
      case LoopInstr::kReducePrecision: {
        BlockInstr out;
        out.kind = BlockInstr::kReducePrecision;
        out.index = v;
        out.scalar = code_.value_scalar[instr.args[0]];
        out.a = code_.value_slot[instr.args[0]];
        out.dst = Destination(v, out.scalar);
        code_.instrs.push_back(out);
        Define(v, out.dst, out.scalar);
        return absl::OkStatus();
      }
      case LoopInstr::kLookUp: {
        const int bytes = SizeOf(instr.type);
        BlockInstr out;
        out.kind = BlockInstr::kOp;
        out.op = k_.look_up[bytes / 2];
        out.type = instr.type;
        out.scalar = code_.value_scalar[instr.args[0]];
        out.a = code_.value_slot[instr.args[0]];
        out.b = NewSlot(bytes);
        code_.table_slots.emplace_back(out.b, instr.index);
        out.dst = Destination(v, out.scalar);
        code_.instrs.push_back(out);
        Define(v, out.dst, out.scalar);
        return absl::OkStatus();
      }
      case LoopInstr::kGather: {
        // The memory type's bits are gathered, then converted.
        const PrimitiveType memory = p_.inputs[instr.index].type;
        BlockInstr out;
        out.kind = BlockInstr::kGather;
        out.index = instr.index;
        out.scalar = code_.value_scalar[instr.args[0]];
        out.a = code_.value_slot[instr.args[0]];
        out.type = TypeOf(instr.args[0]);
        ConvertFn load = k_.load[memory];
        out.dst = load == nullptr ? Destination(v, out.scalar) : NewRegister(ByteWidth(memory));
        code_.instrs.push_back(out);
        FinishLoad(v, out.dst, load, out.scalar);
        return absl::OkStatus();
      }
    }
    return Internal("PJRT-C011", "unknown instruction in a loop program");
  }

  void FinishLoad(LoopValue v, int raw, ConvertFn load, bool scalar) {
    if (load == nullptr) {
      Define(v, raw, scalar);
      return;
    }
    BlockInstr convert;
    convert.kind = BlockInstr::kConvert;
    convert.convert = load;
    convert.scalar = scalar;
    convert.a = raw;
    convert.dst = Destination(v, scalar);
    code_.instrs.push_back(convert);
    Define(v, convert.dst, scalar);
  }

  void LowerInput(LoopValue v) {
    const int input = p_.instrs[v].index;
    const PrimitiveType memory = p_.inputs[input].type;
    const ConvertFn convert = k_.load[memory];
    const Access access = input_access_[input];
    int raw;
    if (access == Access::kMove) {
      BlockInstr load;
      load.kind = BlockInstr::kLoad;
      load.index = input;
      load.dst = raw = convert == nullptr ? Destination(v, false) : NewRegister(ByteWidth(memory));
      code_.instrs.push_back(load);
    } else {
      raw = NewSlot(ByteWidth(memory));
      slots_[raw].input = input;
      code_.input_slots.emplace_back(raw, input);
    }
    FinishLoad(v, raw, convert, access == Access::kScalar);
  }

  void EmitConvert(LoopValue v, ConvertFn fn) {
    const LoopValue arg = p_.instrs[v].args[0];
    BlockInstr out;
    out.kind = BlockInstr::kConvert;
    out.convert = fn;
    out.type = TypeOf(arg);
    out.scalar = code_.value_scalar[arg];
    out.a = code_.value_slot[arg];
    out.dst = Destination(v, out.scalar);
    code_.instrs.push_back(out);
    Define(v, out.dst, out.scalar);
  }

  absl::Status LowerOp(LoopValue v) {
    const LoopInstr& instr = p_.instrs[v];
    const BlockFn* forms = k_.op[static_cast<int>(instr.op)][static_cast<int>(instr.operand_type)];
    if (forms[0] == nullptr) {
      return Unimplemented(
          "PJRT-C012", absl::StrCat("no block kernel for instruction ", static_cast<int>(instr.op),
                                    " on compute type ", instr.operand_type));
    }
    int count = 0;
    bool scalar[3] = {false, false, false};
    bool all_scalar = true;
    for (; count < 3 && instr.args[count] >= 0; ++count) {
      scalar[count] = code_.value_scalar[instr.args[count]];
      all_scalar &= scalar[count];
    }
    BlockInstr out;
    out.kind = BlockInstr::kOp;
    out.scalar = all_scalar;
    Scalars form = Scalars::kNone;
    if (!all_scalar && count == 2) {
      form = scalar[0] ? Scalars::kFirst : scalar[1] ? Scalars::kSecond : Scalars::kNone;
    } else if (!all_scalar && instr.op == BlockOp::kClamp) {
      if (scalar[0] && scalar[2]) form = Scalars::kBounds;
    } else if (!all_scalar && count == 3 && !scalar[0]) {
      form = scalar[1] && scalar[2] ? Scalars::kBoth
             : scalar[1]            ? Scalars::kSecond
             : scalar[2]            ? Scalars::kThird
                                    : Scalars::kNone;
    } else if (!all_scalar && count == 3 && !scalar[1] && !scalar[2]) {
      form = Scalars::kFirst;
    }
    if (forms[static_cast<int>(form)] == nullptr) form = Scalars::kNone;
    out.op = forms[static_cast<int>(form)];
    out.block_op = instr.op;
    out.type = instr.operand_type;
    out.form = form;
    const bool may_be_scalar[3] = {
        form == Scalars::kFirst || form == Scalars::kBounds,
        form == Scalars::kSecond || form == Scalars::kBoth,
        form == Scalars::kBoth || form == Scalars::kThird || form == Scalars::kBounds};
    int32_t* const operands[3] = {&out.a, &out.b, &out.c};
    for (int i = 0; i < count; ++i) {
      const LoopValue arg = instr.args[i];
      *operands[i] =
          all_scalar || (scalar[i] && may_be_scalar[i]) ? code_.value_slot[arg] : Block(arg);
    }
    out.dst = Destination(v, all_scalar);
    code_.instrs.push_back(out);
    Define(v, out.dst, all_scalar);
    return absl::OkStatus();
  }

  void LowerStore(int index) {
    const LoopStore& store = p_.stores[index];
    const LoopValue v = store.value;
    if (!code_.value_scalar[v] && direct_store_[v] == index &&
        slots_[code_.value_slot[v]].store == index)
      return;
    int raw = code_.value_slot[v];
    bool scalar = code_.value_scalar[v];
    const int size = ByteWidth(store.type);
    // Packing takes the low bits alone.
    const bool wraps = store.packed != INVALID && IsInteger(store.type);
    if (ConvertFn convert = k_.store[store.type]; convert != nullptr && !wraps) {
      BlockInstr out;
      out.kind = BlockInstr::kConvert;
      out.convert = convert;
      out.scalar = scalar;
      out.a = raw;
      const bool direct = !scalar && store_access_[index] == Access::kPointer;
      out.dst = raw = direct ? StoreSlot(index) : NewRegister(size);
      code_.instrs.push_back(out);
      if (direct) return;
    }
    if (store_access_[index] == Access::kPointer) {
      BlockInstr out;
      out.kind = scalar ? BlockInstr::kFill : BlockInstr::kOp;
      out.index = SizeLog2(size);
      out.a = raw;
      if (!scalar)
        out.op = k_.op[static_cast<int>(BlockOp::kCopy)][static_cast<int>(CopyType(size))][0];
      out.type = CopyType(size);
      out.dst = StoreSlot(index);
      code_.instrs.push_back(out);
      return;
    }
    if (scalar) {
      BlockInstr fill;
      fill.kind = BlockInstr::kFill;
      fill.index = SizeLog2(size);
      fill.a = raw;
      fill.dst = raw = NewRegister(size);
      code_.instrs.push_back(fill);
    }
    BlockInstr out;
    out.kind = BlockInstr::kStore;
    out.index = index;
    out.a = raw;
    code_.instrs.push_back(out);
  }

  static CType CopyType(int size) {
    return size == 1   ? CType::kU8
           : size == 2 ? CType::kU16
           : size == 4 ? CType::kU32
           : size == 8 ? CType::kU64
                       : CType::kC128;
  }

  // Linear scan. An op may write over an operand of its own element size that ends with it; nothing
  // else may.
  void AssignRegisters() {
    const int count = static_cast<int>(code_.instrs.size());
    std::vector<int> last_use(slots_.size(), -1);
    for (int i = 0; i < count; ++i) {
      const BlockInstr& instr = code_.instrs[i];
      for (int slot : {instr.a, instr.b, instr.c, instr.dst}) {
        if (slot >= 0) last_use[slot] = i;
      }
      if (instr.kind != BlockInstr::kChain) continue;
      const BlockChain& chain = code_.chains[instr.index];
      for (const BlockChain::Access& read : chain.reads) last_use[read.slot] = i;
      for (const BlockChain::Access& write : chain.writes) last_use[write.slot] = i;
      for (const ChainInstr& in : chain.code) {
        if (slots_[in.slot].scalar) last_use[in.slot] = i;
      }
    }
    for (size_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].keep) last_use[s] = count;
    }
    std::vector<int> free_registers;
    std::vector<int> assigned(slots_.size(), -1);
    std::vector<std::vector<int>> ends(count + 1);
    for (size_t s = 0; s < slots_.size(); ++s) {
      if (slots_[s].in_register && last_use[s] >= 0)
        ends[last_use[s]].push_back(static_cast<int>(s));
      if (slots_[s].in_register)
        code_.max_element_size = std::max(code_.max_element_size, slots_[s].size);
    }
    for (int i = 0; i < count; ++i) {
      const BlockInstr& instr = code_.instrs[i];
      auto release = [&](int slot) {
        if (assigned[slot] >= 0 && last_use[slot] == i) {
          free_registers.push_back(assigned[slot]);
          assigned[slot] = -2 - assigned[slot];  // released; the number stays readable
        }
      };
      const auto assign = [&](int slot) {
        if (free_registers.empty()) {
          assigned[slot] = code_.num_registers++;
        } else {
          assigned[slot] = free_registers.back();
          free_registers.pop_back();
        }
        code_.register_slots.emplace_back(slot, assigned[slot]);
      };
      const auto needs_register = [&](int slot) {
        return slot >= 0 && slots_[slot].in_register && assigned[slot] == -1;
      };
      if (instr.kind == BlockInstr::kChain) {
        for (const BlockChain::Access& write : code_.chains[instr.index].writes) {
          if (needs_register(write.slot)) assign(write.slot);
        }
      }
      const int dst = instr.dst;
      const bool needs = needs_register(dst);
      if (needs && instr.kind == BlockInstr::kOp) {
        // In place only when no operand that ends here has another size than the result.
        for (int slot : {instr.a, instr.b, instr.c}) {
          if (slot >= 0 && slots_[slot].in_register && slots_[slot].size == slots_[dst].size &&
              !IsScalarOperand(instr, slot))
            release(slot);
        }
      }
      if (needs) assign(dst);
      for (int slot : ends[i]) release(slot);
    }
  }

  // A scalar operand of a block instruction is read again for each vector of the block, so the
  // result must not overwrite it.
  bool IsScalarOperand(const BlockInstr& instr, int slot) const {
    return !instr.scalar && slots_[slot].scalar;
  }

  void RecordAccesses() {
    int32_t now = 0;
    const auto read = [&](int slot, int32_t time) {
      if (slot >= 0 && slots_[slot].input >= 0) code_.input_last_read[slots_[slot].input] = time;
    };
    const auto write = [&](int store, int32_t time) {
      if (store >= 0 && code_.store_first_write[store] < 0) code_.store_first_write[store] = time;
    };
    for (const BlockInstr& instr : code_.instrs) {
      if (instr.kind == BlockInstr::kChain) {
        const BlockChain& chain = code_.chains[instr.index];
        for (const BlockChain::Access& access : chain.reads) {
          read(access.slot, std::max(now + access.position, LastRead(access.slot)));
        }
        for (const BlockChain::Access& access : chain.writes)
          write(slots_[access.slot].store, now + access.position);
        now += static_cast<int32_t>(chain.code.size());
        continue;
      }
      for (int slot : {instr.a, instr.b, instr.c}) read(slot, now);
      if (instr.kind == BlockInstr::kLoad || instr.kind == BlockInstr::kGather)
        code_.input_last_read[instr.index] = now;
      write(instr.kind == BlockInstr::kStore ? instr.index
            : instr.dst >= 0                 ? slots_[instr.dst].store
                                             : -1,
            now);
      code_.reads_first.resize(now + 1, 0);
      code_.reads_first[now] = instr.kind == BlockInstr::kOp;
      ++now;
    }
    code_.reads_first.resize(now + 1, 0);
    // What is reduced is read behind the last instruction, and so are the initial values.
    const int32_t end = now;
    for (int slot : code_.block_slots) {
      if (const int input = slots_[slot].input; input >= 0) code_.input_last_read[input] = end;
    }
    for (const LoopReduce& reduce : p_.reduces) {
      for (int32_t input : reduce.init_inputs) code_.input_last_read[input] = end;
    }
  }

  int32_t LastRead(int slot) const {
    const int input = slots_[slot].input;
    return input < 0 ? -1 : code_.input_last_read[input];
  }

  const LoopProgram& p_;
  const BlockKernels& k_;
  const std::vector<Access>& input_access_;
  const std::vector<Access>& store_access_;
  BlockCode code_;
  std::vector<BlockSlot> slots_;
  std::vector<int> filled_;
  std::vector<int> direct_store_;
};

}  // namespace

absl::StatusOr<BlockCode> LowerToBlocks(const LoopProgram& program, const BlockKernels& kernels,
                                        const std::vector<Access>& input_access,
                                        const std::vector<Access>& store_access,
                                        absl::Span<const LoopValue> blocks, bool chains_of_one) {
  return BlockLowering(program, kernels, input_access, store_access).Run(blocks, chains_of_one);
}

}  // namespace pjrt::cpu
