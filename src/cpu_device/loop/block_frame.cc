// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/block_frame.h"

#include <algorithm>
#include <cstring>

#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/element_size.h"

namespace pjrt::cpu {
namespace {

// Registers together should leave room in a 32 KiB L1 cache for the memory that flows through it.
constexpr int64_t kRegisterBudget = 20 * 1024;
constexpr int64_t kMaxBlock = 1024;
constexpr int64_t kMinBlock = 128;
// Rows at least this long are worth a block each: the calls of a block then cost less than the
// elements.
constexpr int64_t kRowModeLength = 64;

int64_t AlignUp(int64_t n, int64_t alignment) {
  return (n + alignment - 1) / alignment * alignment;
}

bool IsDense(const LoopView& view, const Dims& dims) {
  int64_t stride = 1;
  for (int d = static_cast<int>(dims.size()) - 1; d >= 0; --d) {
    if (dims[d] != 1 && view.strides[d] != stride) return false;
    stride *= dims[d];
  }
  return true;
}

bool IsScalarView(const LoopView& view, const Dims& dims) {
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != 1 && view.strides[d] != 0) return false;
  }
  return true;
}

}  // namespace

void BlockFrame::ChooseMode(int64_t flat_rows) {
  const Dims& dims = program_.dims;
  if (flat_rows > 0) {
    row_mode_ = false;
  } else {
    row_mode_ = dims.size() <= 1 || dims.back() >= kRowModeLength;
  }
  row_length_ = dims.empty() ? 1 : dims.back();
}

Access BlockFrame::AccessOf(const LoopView& view) const {
  const Dims& dims = program_.dims;
  if (dims.empty()) return Access::kPointer;  // a block of one element
  if (row_mode_) {
    if (view.strides.back() == 0) return Access::kScalar;
    return view.strides.back() == 1 ? Access::kPointer : Access::kMove;
  }
  if (IsDense(view, dims)) return Access::kPointer;
  return IsScalarView(view, dims) ? Access::kScalar : Access::kMove;
}

absl::Status BlockFrame::Lower(absl::Span<const LoopValue> blocks) {
  for (const LoopInput& input : program_.inputs) input_access_.push_back(AccessOf(input.view));
  for (const LoopStore& store : program_.stores) {
    const Access access = AccessOf(store.view);
    store_access_.push_back(access == Access::kScalar ? Access::kMove : access);
  }
  PJRT_ASSIGN_OR_RETURN(code_,
                        LowerToBlocks(program_, kernels_, input_access_, store_access_, blocks));
  const int64_t registers = std::max(code_.num_registers, 1);
  block_size_ = std::clamp(kRegisterBudget / (registers * code_.max_element_size) / 64 * 64,
                           kMinBlock, kMaxBlock);
  if (row_mode_ && !program_.dims.empty() && row_length_ > 0) {
    // Equal blocks in a row.
    const int64_t blocks_in_row = (row_length_ + block_size_ - 1) / block_size_;
    block_size_ =
        std::min(block_size_, AlignUp((row_length_ + blocks_in_row - 1) / blocks_in_row, 16));
  }
  const int64_t points =
      std::max<int64_t>(program_.dims.empty() && program_.results.empty() ? 1 : block_size_, 1);
  int64_t group = 1, chain_bytes = 0;
  for (const BlockChain& chain : code_.chains) {
    group = std::max<int64_t>(group, chain.group);
    int64_t bytes = AlignUp(code_.num_slots * static_cast<int64_t>(sizeof(char*)), 64);
    for (const BlockChain::Outside& outside : chain.outside) bytes += chain.group * outside.size;
    chain_bytes = std::max(chain_bytes, bytes);
  }
  register_bytes_ = AlignUp(AlignUp(points, group) * code_.max_element_size, 64);
  scratch_bytes_ = AlignUp(code_.num_slots * static_cast<int64_t>(sizeof(char*)), 64) +
                   register_bytes_ * code_.num_registers + AlignUp(chain_bytes, 64);
  return absl::OkStatus();
}

int64_t BlockFrame::PartOfRow(int64_t points) const {
  const int64_t blocks = std::max<int64_t>(points / block_size_, 1);
  return blocks * block_size_;
}

bool BlockFrame::CanShare(int input, int output) const {
  if (output >= static_cast<int>(program_.stores.size())) return false;
  const LoopInput& in = program_.inputs[input];
  const LoopStore& out = program_.stores[output];
  if (input_access_[input] != Access::kPointer || store_access_[output] != Access::kPointer)
    return false;
  if (ByteWidth(in.type) != ByteWidth(out.type) || in.view.offset != out.view.offset ||
      in.view.strides != out.view.strides)
    return false;
  for (const LoopInstr& instr : program_.instrs) {
    if (instr.kind == LoopInstr::kGather && instr.index == input) return false;
  }
  const int32_t read = code_.input_last_read[input];
  const int32_t write = code_.store_first_write[output];
  if (read != write) return read < write;
  return code_.reads_first[read];
}

BlockFrame::State::State(const BlockFrame& frame, const char* const* inputs, char* const* outputs,
                         char* scratch)
    : frame_(frame), inputs_(inputs), outputs_(outputs), slots_(reinterpret_cast<char**>(scratch)) {
  const BlockCode& code = frame.code_;
  char* registers = scratch + AlignUp(code.num_slots * static_cast<int64_t>(sizeof(char*)), 64);
  for (const auto& [slot, offset] : code.constant_slots)
    slots_[slot] = const_cast<char*>(code.constants.data()) + offset;
  for (const auto& [slot, number] : code.register_slots)
    slots_[slot] = registers + number * frame.register_bytes_;
  chain_scratch_ = registers + frame.register_bytes_ * code.num_registers;
}

int64_t BlockFrame::State::OffsetAt(const LoopView& view, int64_t from) const {
  const Dims& dims = frame_.program_.dims;
  int64_t offset = view.offset;
  const int rank = static_cast<int>(dims.size());
  if (rank == 1) return offset + from * view.strides[0];
  for (int d = rank - 1; d > 0; --d) {
    const int64_t q = from / dims[d];
    offset += (from - q * dims[d]) * view.strides[d];
    from = q;
  }
  return rank == 0 ? offset : offset + from * view.strides[0];
}

// Copies the elements that `view` shows of points [from, from + n) between the array and a dense
// block.
void BlockFrame::State::Move(const LoopView& view, int size_log2, const char* array, char* block,
                             int64_t from, int64_t n, bool store) const {
  const Dims& dims = frame_.program_.dims;
  const int64_t inner = dims.empty() ? 1 : dims.back();
  const int64_t stride = dims.empty() ? 0 : view.strides.back();
  while (n > 0) {
    const int64_t column = dims.empty() ? 0 : from % inner;
    const int64_t piece = std::min(n, inner - column);
    const char* at = array + (OffsetAt(view, from) << size_log2);
    if (store) {
      frame_.kernels_.scatter_stride[size_log2](const_cast<char*>(at), block, stride, piece);
    } else if (stride == 1) {
      std::memcpy(block, at, static_cast<size_t>(piece) << size_log2);
    } else if (stride == 0) {
      frame_.kernels_.fill[size_log2](block, at, piece);
    } else {
      frame_.kernels_.gather_stride[size_log2](block, at, stride, piece);
    }
    block += piece << size_log2;
    from += piece;
    n -= piece;
  }
}

void BlockFrame::State::Iota(const LoopInstr& instr, char* dst, int64_t from, int64_t n) const {
  const LoopView& view = frame_.program_.iotas[instr.index];
  const Dims& dims = frame_.program_.dims;
  const int64_t inner = dims.empty() ? 1 : dims.back();
  const int64_t stride = dims.empty() ? 0 : view.strides.back();
  const IotaFn iota = frame_.kernels_.iota[static_cast<int>(instr.type)];
  const int size = kCTypeSize[static_cast<int>(instr.type)];
  while (n > 0) {
    const int64_t column = dims.empty() ? 0 : from % inner;
    const int64_t piece = std::min(n, inner - column);
    iota(dst, OffsetAt(view, from), stride, piece);
    dst += piece * size;
    from += piece;
    n -= piece;
  }
}

void BlockFrame::State::Execute(int64_t from, int64_t n) {
  const BlockCode& code = frame_.code_;
  char** const s = slots_;
  for (const BlockInstr& instr : code.instrs) {
    const int64_t count = instr.scalar ? 1 : n;
    switch (instr.kind) {
      case BlockInstr::kOp:
        instr.op(s[instr.dst], s[instr.a], instr.b >= 0 ? s[instr.b] : nullptr,
                 instr.c >= 0 ? s[instr.c] : nullptr, count);
        break;
      case BlockInstr::kConvert:
        instr.convert(s[instr.dst], s[instr.a], count);
        break;
      case BlockInstr::kChain:
        RunChain(code.chains[instr.index], n);
        break;
      case BlockInstr::kFill:
        frame_.kernels_.fill[instr.index](s[instr.dst], s[instr.a], n);
        break;
      case BlockInstr::kIota:
        Iota(frame_.program_.instrs[instr.index], s[instr.dst], from, n);
        break;
      case BlockInstr::kReducePrecision: {
        const LoopInstr& loop = frame_.program_.instrs[instr.index];
        if (loop.type == CType::kF64) {
          frame_.kernels_.reduce_precision_f64(reinterpret_cast<double*>(s[instr.dst]),
                                               reinterpret_cast<const double*>(s[instr.a]),
                                               loop.exponent_bits, loop.mantissa_bits, count);
        } else {
          frame_.kernels_.reduce_precision_f32(reinterpret_cast<float*>(s[instr.dst]),
                                               reinterpret_cast<const float*>(s[instr.a]),
                                               loop.exponent_bits, loop.mantissa_bits, count);
        }
        break;
      }
      case BlockInstr::kGather: {
        const LoopInput& input = frame_.program_.inputs[instr.index];
        const int size = ByteWidth(input.type);
        const char* base = inputs_[instr.index] + input.view.offset * size;
        const int64_t* at = reinterpret_cast<const int64_t*>(s[instr.a]);
        char* dst = s[instr.dst];
        for (int64_t i = 0; i < count; ++i) std::memcpy(dst + i * size, base + at[i] * size, size);
        break;
      }
      case BlockInstr::kLoad: {
        const LoopInput& input = frame_.program_.inputs[instr.index];
        Move(input.view, SizeLog2(ByteWidth(input.type)), inputs_[instr.index], s[instr.dst], from,
             n,
             /*store=*/false);
        break;
      }
      case BlockInstr::kStore: {
        const LoopStore& store = frame_.program_.stores[instr.index];
        Move(store.view, SizeLog2(ByteWidth(store.type)), outputs_[instr.index], s[instr.a], from,
             n,
             /*store=*/true);
        break;
      }
    }
  }
}

// Whole groups where they are. What is left is run as a group that ends in copies.
void BlockFrame::State::RunChain(const BlockChain& chain, int64_t n) {
  const int64_t groups = n / chain.group;
  chain.run(chain.code.data(), slots_, groups);
  const int64_t done = groups * chain.group, rest = n - done;
  if (rest == 0) return;
  char** const table = reinterpret_cast<char**>(chain_scratch_);
  const int64_t table_bytes =
      AlignUp(frame_.code_.num_slots * static_cast<int64_t>(sizeof(char*)), 64);
  std::memcpy(table, slots_, frame_.code_.num_slots * sizeof(char*));
  for (const auto& [slot, size] : chain.inside) table[slot] += done * size;
  char* copy = chain_scratch_ + table_bytes;
  for (const BlockChain::Outside& outside : chain.outside) {
    table[outside.slot] = copy;
    if (outside.read)
      std::memcpy(copy, slots_[outside.slot] + done * outside.size, rest * outside.size);
    copy += chain.group * outside.size;
  }
  chain.run(chain.code.data(), table, 1);
  for (const BlockChain::Outside& outside : chain.outside) {
    if (outside.written) {
      std::memcpy(slots_[outside.slot] + done * outside.size, table[outside.slot],
                  rest * outside.size);
    }
  }
}

void BlockFrame::State::Evaluate(int64_t from, int64_t n) {
  const BlockCode& code = frame_.code_;
  for (const auto& [slot, input] : code.input_slots) {
    const LoopInput& in = frame_.program_.inputs[input];
    slots_[slot] = const_cast<char*>(inputs_[input]) + OffsetAt(in.view, from) * ByteWidth(in.type);
  }
  for (const auto& [slot, store] : code.store_slots) {
    const LoopStore& out = frame_.program_.stores[store];
    slots_[slot] = outputs_[store] + OffsetAt(out.view, from) * ByteWidth(out.type);
  }
  Execute(from, n);
}

void BlockFrame::State::Call(const char* const* params, char* const* results, int64_t n) {
  const BlockCode& code = frame_.code_;
  for (const auto& [slot, param] : code.parameter_slots)
    slots_[slot] = const_cast<char*>(params[param]);
  Execute(0, n);
  for (size_t i = 0; i < code.block_slots.size(); ++i) {
    const int size =
        kCTypeSize[static_cast<int>(frame_.program_.instrs[frame_.program_.results[i]].type)];
    std::memcpy(results[i], slots_[code.block_slots[i]], n * size);
  }
}

}  // namespace pjrt::cpu
