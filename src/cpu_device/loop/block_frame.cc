// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/loop/block_frame.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/gather_at.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/compare_iotas.h"

namespace pjrt::cpu {
namespace {

// Registers together should leave room in a 32 KiB L1 cache for the memory that flows through it.
constexpr int64_t kRegisterBudget = 20 * 1024;
// Of narrow elements a block has more: calls cost as much whatever they move.
constexpr int64_t kMaxBlockBytes = 4096;
constexpr int64_t kMinBlock = 128;
// Blocks of one instruction that passes nothing through registers need not stay in a cache. Fewer
// of them cost less: a * x + y of a million f32 takes 137 us by 1024 elements, 117 by 4096 and 112
// by 16384.
constexpr int64_t kInPlaceBlock = 16 * 1024;
// Shorter rows share blocks: the calls of a block cost more than their elements.
constexpr int64_t kRowModeLength = 64;
// Rows below this share blocks where that costs less: a row of its own costs kRowNs beside its
// elements, kCallNs for each iota and gather and, where operations in a chain do not fill its
// groups, kRestNs for each array, or kCopiedRestNs; in shared blocks an input or the like that must
// be moved costs kMoveNs an element.
constexpr int64_t kLongRow = 512;
constexpr double kRowNs = 8, kCallNs = 10, kRestNs = 2, kCopiedRestNs = 3, kMoveNs = 0.055;
// Moves of elements that do not lie next to each other count so often.
constexpr int kStridedMoves = 3;
// A pattern may have this many elements, and must stay the same for this many points, so that
// copying it costs little beside what it is used for.
constexpr int64_t kMaxPeriod = 1024;
constexpr int64_t kMinStretch = 2048;

}  // namespace

void BlockFrame::ChooseMode(int64_t flat_rows) {
  const Dims& dims = program_.dims;
  row_length_ = dims.empty() ? 1 : dims.back();
  row_mode_ =
      flat_rows < 0 || (flat_rows == 0 && (dims.size() <= 1 || dims.back() >= kRowModeLength));
  if (!row_mode_ || flat_rows < 0 || dims.size() <= 1 || dims.back() >= kLongRow) return;
  int arrays = 0, ops = 0, calls = 0;
  for (const LoopInput& input : program_.inputs) arrays += input.view.strides.back() != 0;
  for (const LoopStore& store : program_.stores) arrays += store.view.strides.back() != 0;
  for (const LoopView& iota : program_.iotas) arrays += iota.strides.back() != 0;
  for (const LoopInstr& instr : program_.instrs) {
    ops += instr.kind == LoopInstr::kOp;
    calls += instr.kind == LoopInstr::kGather || instr.kind == LoopInstr::kIota;
  }
  const bool fills_groups = ops <= 1 || row_length_ * 4 % kernels_.chain_group_bytes == 0;
  const bool in_place = kernels_.chain_rest[static_cast<int>(CType::kF32)] != nullptr;
  const double rest_ns = fills_groups ? 0 : arrays * (in_place ? kRestNs : kCopiedRestNs);
  const double row_ns = kRowNs + kCallNs * calls + rest_ns;
  row_mode_ = MovingNs(row_length_, /*iotas=*/true) > row_ns;
}

double BlockFrame::MovingNs(int64_t points, bool iotas) const {
  int moves = 0;
  const auto count = [&](const LoopView& view, bool moved) {
    if (moved) moves += view.strides.back() == 0 || view.strides.back() == 1 ? 1 : kStridedMoves;
  };
  for (const LoopInput& input : program_.inputs)
    count(input.view, FlatAccessOf(input.view) == Access::kMove);
  for (const LoopStore& store : program_.stores)
    count(store.view, FlatAccessOf(store.view) != Access::kPointer);
  for (const LoopView& iota : program_.iotas) count(iota, iotas && !IsDense(iota, program_.dims));
  return kMoveNs * moves * static_cast<double>(points);
}

Access BlockFrame::FlatAccessOf(const LoopView& view) const {
  const Dims& dims = program_.dims;
  if (IsDense(view, dims)) return Access::kPointer;
  if (IsScalarView(view, dims)) return Access::kScalar;
  Repeat repeat;
  return FindRepeat(view, &repeat) ? Access::kRepeat : Access::kMove;
}

Access BlockFrame::AccessOf(const LoopView& view) const {
  const Dims& dims = program_.dims;
  if (dims.empty()) return Access::kPointer;  // a block of one element
  if (!row_mode_) return FlatAccessOf(view);
  if (view.strides.back() == 0) return Access::kScalar;
  return view.strides.back() == 1 ? Access::kPointer : Access::kMove;
}

// The innermost dims up to one that the view repeats them along.
bool BlockFrame::FindRepeat(const LoopView& view, Repeat* repeat) const {
  const Dims& dims = program_.dims;
  int d = static_cast<int>(dims.size()) - 1;
  repeat->period = 1;
  for (; d >= 0 && (repeat->period == 1 || view.strides[d] != 0); --d) repeat->period *= dims[d];
  repeat->stretch = repeat->period;
  for (; d >= 0 && view.strides[d] == 0; --d) repeat->stretch *= dims[d];
  return repeat->period <= kMaxPeriod && repeat->stretch >= kMinStretch &&
         repeat->stretch > repeat->period;
}

absl::Status BlockFrame::Lower(absl::Span<const LoopValue> blocks) {
  PJRT_RETURN_IF_ERROR(LowerCode(blocks));
  LayOut();
  return absl::OkStatus();
}

absl::Status BlockFrame::LowerCode(absl::Span<const LoopValue> blocks) {
  input_access_.clear();
  store_access_.clear();
  streamed_.clear();
  for (const LoopInput& input : program_.inputs)
    input_access_.push_back(input.packed == INVALID ? AccessOf(input.view) : Access::kMove);
  for (const LoopStore& store : program_.stores) {
    const bool in_place = store.packed == INVALID && AccessOf(store.view) == Access::kPointer;
    streamed_.push_back((in_place || store.packed != INVALID) && IsWorthStreaming(store));
    store_access_.push_back(in_place && !streamed_.back() ? Access::kPointer : Access::kMove);
  }
  streams_ = std::find(streamed_.begin(), streamed_.end(), 1) != streamed_.end();
  PJRT_ASSIGN_OR_RETURN(code_, LowerToBlocks(program_, kernels_, input_access_, store_access_,
                                             blocks, /*chains_of_one=*/rows_together_ > 0));
  return absl::OkStatus();
}

void BlockFrame::LayOut() {
  for (const LoopInput& input : program_.inputs)
    input_walks_.emplace_back(input.view, program_.dims);
  for (const LoopStore& store : program_.stores)
    store_walks_.emplace_back(store.view, program_.dims);
  for (const LoopView& iota : program_.iotas) iota_walks_.emplace_back(iota, program_.dims);
  const int64_t registers = std::max(code_.num_registers, 1);
  int64_t widest = code_.max_element_size;
  for (const LoopInput& input : program_.inputs)
    widest = std::max<int64_t>(widest, ByteWidth(input.type));
  for (const LoopStore& store : program_.stores)
    widest = std::max<int64_t>(widest, ByteWidth(store.type));
  block_size_ = std::clamp(kRegisterBudget / (registers * code_.max_element_size) / 64 * 64,
                           kMinBlock, std::max(kMaxBlock, kMaxBlockBytes / widest));
  works_beside_ = WorksBeside();
  if (streams_) block_size_ = std::min(block_size_, StreamedBlock());
  const bool repeats =
      std::find(input_access_.begin(), input_access_.end(), Access::kRepeat) != input_access_.end();
  if (code_.instrs.size() == 1 && code_.num_registers == 0 && code_.block_slots.empty() &&
      program_.results.empty() && !repeats)
    block_size_ = kInPlaceBlock;
  if (rows_together_ > 0) {
    const int64_t group = rows_together_ * row_length_;
    block_size_ = std::max(block_size_ / group, int64_t{1}) * group;
  } else if (row_mode_ && !program_.dims.empty() && row_length_ > 0) {
    // Equal blocks in a row.
    const int64_t blocks_in_row = CeilDiv(row_length_, block_size_);
    block_size_ =
        std::min(block_size_, AlignUp(CeilDiv(row_length_, blocks_in_row), streams_ ? 64 : 16));
  }
  const int64_t points =
      std::max<int64_t>(program_.dims.empty() && program_.results.empty() ? 1 : block_size_, 1);
  int64_t group = 1;
  for (const BlockChain& chain : code_.chains) {
    group = std::max<int64_t>(group, chain.group);
    int64_t bytes = AlignUp(code_.num_slots * static_cast<int64_t>(sizeof(char*)));
    for (const BlockChain::Outside& outside : chain.outside) bytes += chain.group * outside.size;
    chain_bytes_ = std::max(chain_bytes_, AlignUp(bytes));
  }
  register_bytes_ = AlignUp(AlignUp(points, group) * code_.max_element_size);
  // Behind the code's slots one for each store.
  slot_bytes_ = AlignUp((code_.num_slots + static_cast<int64_t>(program_.stores.size())) *
                        static_cast<int64_t>(sizeof(char*)));
  scratch_bytes_ = slot_bytes_ + register_bytes_ * code_.num_registers + chain_bytes_;
  for (const auto& [slot, input] : code_.input_slots) {
    Repeat repeat{slot, input, 0, 0, repeat_bytes_};
    if (input_access_[input] != Access::kRepeat) {
      AddPlace(slot, input, program_.inputs[input].view, program_.inputs[input].type);
    } else if (FindRepeat(program_.inputs[input].view, &repeat)) {
      repeats_.push_back(repeat);
      repeat_bytes_ += AlignUp((points + repeat.period) * ByteWidth(program_.inputs[input].type));
    }
  }
  scratch_bytes_ += repeat_bytes_;
  for (size_t i = 0; i < streamed_.size() && pack_bytes_ == 0; ++i) {
    if (streamed_[i] && program_.stores[i].packed != INVALID) pack_bytes_ = AlignUp(points);
  }
  scratch_bytes_ += pack_bytes_;
  if (works_beside_) scratch_bytes_ += 2 * register_bytes_;
  num_inputs_in_place_ = places_.size();
  for (const auto& [slot, store] : code_.store_slots)
    AddPlace(slot, store, program_.stores[store].view, program_.stores[store].type);
  ChooseAhead();
  for (size_t i = 0; i < streamed_.size() && rows_together_ == 0; ++i) {
    const LoopStore& store = program_.stores[i];
    if (!streamed_[i] || store.packed != INVALID) continue;
    const int32_t array = static_cast<int32_t>(i);
    AddPlace(code_.num_slots + array, array, store.view, store.type);
  }
}

// In flat mode it is dense or one element.
void BlockFrame::AddPlace(int32_t slot, int32_t array, const LoopView& view, PrimitiveType type) {
  const int64_t size = ByteWidth(type);
  const bool is_scalar = IsScalarView(view, program_.dims);
  const bool stays = is_scalar || (row_mode_ && !view.strides.empty() && view.strides.back() == 0);
  places_.push_back({slot, array, view.offset * size, stays ? 0 : size});
  for (const int64_t stride : view.strides) place_strides_.push_back(stride * size);
}

int64_t BlockFrame::PartOfRow(int64_t points) const {
  return std::max<int64_t>(points / smallest_unit(), 1) * smallest_unit();
}

bool BlockFrame::CanShare(int input, int output) const {
  if (output >= static_cast<int>(program_.stores.size())) return false;
  const LoopInput& in = program_.inputs[input];
  const LoopStore& out = program_.stores[output];
  const bool packed = in.packed != INVALID && out.packed != INVALID;
  if (packed ? BitWidth(in.packed) != BitWidth(out.packed)
             : input_access_[input] != Access::kPointer ||
                   (store_access_[output] != Access::kPointer && !streamed_[output]))
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

int BlockFrame::InputOfBlock(size_t i) const {
  for (size_t k = 0; k < num_inputs_in_place_; ++k) {
    const Place& place = places_[k];
    if (place.slot == code_.block_slots[i] && input_access_[place.array] == Access::kPointer)
      return place.array;
  }
  return -1;
}

BlockFrame::State::State(const BlockFrame& frame, const char* const* inputs, char* const* outputs,
                         char* scratch)
    : frame_(frame), inputs_(inputs), outputs_(outputs), slots_(reinterpret_cast<char**>(scratch)) {
  const BlockCode& code = frame.code_;
  char* registers = scratch + frame.slot_bytes_;
  for (const auto& [slot, offset] : code.constant_slots)
    slots_[slot] = const_cast<char*>(code.constants.data()) + offset;
  for (const auto& [slot, table] : code.table_slots)
    slots_[slot] = const_cast<char*>(frame.program().tables[table].data());
  for (const auto& [slot, number] : code.register_slots)
    slots_[slot] = registers + number * frame.register_bytes_;
  chain_scratch_ = registers + frame.register_bytes_ * code.num_registers;
  repeat_scratch_ = chain_scratch_ + frame.chain_bytes_;
  pack_scratch_ = repeat_scratch_ + frame.repeat_bytes_;
  beside_scratch_ = pack_scratch_ + frame.pack_bytes_;
  held_.assign(frame.repeats_.size(), -1);
  at_.resize(frame.program_.dims.size());
  if (frame.streams_) ChooseStreamed();
}

// What is packed lies in the order of points, so that these are the numbers of its elements.
void BlockFrame::State::Unpack(int input, char* block, int64_t from, int64_t n) const {
  const PrimitiveType type = frame_.program_.inputs[input].packed;
  const int bits = BitWidth(type), in_byte = 8 / bits;
  const ConvertFn unpack = frame_.kernels_.unpack[SizeLog2(bits)][IsSignedInteger(type)];
  const char* const byte = inputs_[input] + from / in_byte;
  if (const int64_t skipped = from % in_byte; skipped > 0) {
    char first[8];
    const int64_t count = std::min(in_byte - skipped, n);
    unpack(first, byte, skipped + count);
    std::memcpy(block, first + skipped, count);
    return unpack(block + count, byte + 1, n - count);
  }
  unpack(block, byte, n);
}

// Points begin a byte.
void BlockFrame::State::Pack(int store, const char* block, int64_t from, int64_t n) {
  const int bits = BitWidth(frame_.program_.stores[store].packed);
  char* const to = outputs_[store] + from * bits / 8;
  const BlockKernels& k = frame_.kernels_;
  const ConvertFn pack = k.pack[SizeLog2(bits)];
  if (!IsStreamed(store)) return pack(to, block, n);
  pack(pack_scratch_, block, n);
  Stream(store, to, pack_scratch_, CeilDiv(n * bits, int64_t{8}));
}

// Copies the elements that an input's view shows of points [from, from + n) to a dense block.
void BlockFrame::State::Load(int input, char* block, int64_t from, int64_t n) const {
  if (frame_.program_.inputs[input].packed != INVALID) return Unpack(input, block, from, n);
  const int size = ByteWidth(frame_.program_.inputs[input].type);
  const int size_log2 = SizeLog2(size);
  const BlockKernels& k = frame_.kernels_;
  const char* const array = inputs_[input];
  frame_.input_walks_[input].ForEachPiece(
      from, n,
      [&](int64_t offset, int64_t rows, int64_t row_stride, int64_t count, int64_t stride) {
        const char* const at = array + offset * size;
        const int64_t bytes = count * size;
        if (stride == 1) {
          k.copy_rows(block, bytes, at, row_stride * size, bytes, rows);
        } else {
          k.move_box[size_log2](block, count, 1, at, row_stride, stride, rows, count);
        }
        block += rows * bytes;
      });
}

// The other way round.
void BlockFrame::State::Store(int store, const char* block, int64_t from, int64_t n) {
  if (frame_.program_.stores[store].packed != INVALID) return Pack(store, block, from, n);
  const int size = ByteWidth(frame_.program_.stores[store].type);
  const int size_log2 = SizeLog2(size);
  const BlockKernels& k = frame_.kernels_;
  const bool is_streamed = IsStreamed(store);
  if (is_streamed && frame_.rows_together_ == 0)
    return Stream(store, slots_[frame_.code_.num_slots + store], block, n * size);
  const CopyRowsFn copy_rows = is_streamed ? k.stream_rows : k.copy_rows;
  char* const array = outputs_[store];
  frame_.store_walks_[store].ForEachPiece(
      from, n,
      [&](int64_t offset, int64_t rows, int64_t row_stride, int64_t count, int64_t stride) {
        char* const at = array + offset * size;
        const int64_t bytes = count * size;
        if (stride == 1) {
          copy_rows(at, row_stride * size, block, bytes, bytes, rows);
        } else {
          k.move_box[size_log2](at, row_stride, stride, block, count, 1, rows, count);
        }
        block += rows * bytes;
      });
}

void BlockFrame::State::Iota(const LoopInstr& instr, char* dst, int64_t from, int64_t n) const {
  const IotaFn iota = frame_.kernels_.iota[static_cast<int>(instr.type)];
  const int size = kCTypeSize[static_cast<int>(instr.type)];
  frame_.iota_walks_[instr.index].ForEachPiece(
      from, n,
      [&](int64_t offset, int64_t rows, int64_t row_stride, int64_t count, int64_t stride) {
        for (int64_t row = 0; row < rows; ++row) {
          iota(dst, offset + row * row_stride, stride, count);
          dst += count * size;
        }
      });
}

void BlockFrame::State::CompareIota(const LoopInstr& instr, char* dst, int64_t from,
                                    int64_t n) const {
  frame_.iota_walks_[instr.index].ForEachPiece(
      from, n,
      [&](int64_t offset, int64_t rows, int64_t row_stride, int64_t count, int64_t stride) {
        for (int64_t row = 0; row < rows; ++row) {
          FillComparison(dst, instr.op, offset + row * row_stride, stride, count);
          dst += count;
        }
      });
}

// The n points from number `from` on of an input that repeats.
char* BlockFrame::State::RepeatAt(size_t index, int64_t from, int64_t n) {
  const Repeat& repeat = frame_.repeats_[index];
  char* const copies = repeat_scratch_ + repeat.scratch;
  const int64_t stretch = from / repeat.stretch, point = from - stretch * repeat.stretch;
  if (point + n > repeat.stretch) {
    Load(repeat.input, copies, from, n);
    held_[index] = -1;
    return copies;
  }
  const int size = ByteWidth(frame_.program_.inputs[repeat.input].type);
  if (held_[index] != stretch) {
    Load(repeat.input, copies, stretch * repeat.stretch, repeat.period);
    const int64_t bytes = (frame_.block_size_ + repeat.period) * size;
    for (int64_t have = repeat.period * size; have < bytes; have *= 2)
      std::memcpy(copies + have, copies, std::min(have, bytes - have));
    held_[index] = stretch;
  }
  return copies + point % repeat.period * size;
}

void BlockFrame::State::Execute(int64_t from, int64_t n) {
  char** const s = slots_;
  const bool asks = AsksAhead();
  int64_t number = 0;
  for (const BlockInstr& instr : frame_.code_.instrs) {
    if (asks) AskAhead(number++, n);
    const int64_t count = instr.scalar ? 1 : n;
    if (instr.kind == BlockInstr::kOp) {
      instr.op(s[instr.dst], s[instr.a], instr.b >= 0 ? s[instr.b] : nullptr,
               instr.c >= 0 ? s[instr.c] : nullptr, count);
    } else {
      ExecuteOther(instr, from, n, count);
    }
  }
}

// What is not one operation on blocks.
void BlockFrame::State::ExecuteOther(const BlockInstr& instr, int64_t from, int64_t n,
                                     int64_t count) {
  char** const s = slots_;
  switch (instr.kind) {
    case BlockInstr::kOp:
      break;
    case BlockInstr::kConvert:
      instr.convert(s[instr.dst], s[instr.a], count);
      break;
    case BlockInstr::kChain:
      RunChain(instr.index, n);
      break;
    case BlockInstr::kFill:
      Fill(instr, n);
      break;
    case BlockInstr::kIota:
      Iota(frame_.program_.instrs[instr.index], s[instr.dst], from, n);
      break;
    case BlockInstr::kCompareIota:
      CompareIota(frame_.program_.instrs[instr.index], s[instr.dst], from, n);
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
      if (instr.type == CType::kS64) {
        GatherAt(size, s[instr.dst], base, reinterpret_cast<const int64_t*>(s[instr.a]), count);
      } else {
        GatherAt(size, s[instr.dst], base, reinterpret_cast<const int32_t*>(s[instr.a]), count);
      }
      break;
    }
    case BlockInstr::kLoad:
      Load(instr.index, s[instr.dst], from, n);
      break;
    case BlockInstr::kStore:
      Store(instr.index, s[instr.a], from, n);
      break;
  }
}

// With one element or, for several rows, with one each.
void BlockFrame::State::Fill(const BlockInstr& instr, int64_t n) const {
  const FillFn fill = frame_.kernels_.fill[instr.index];
  const int64_t row = frame_.row_length_;
  if (frame_.rows_together_ == 0 || n <= row) return fill(slots_[instr.dst], slots_[instr.a], n);
  const int64_t stride = frame_.row_strides_[instr.a] << instr.index;
  for (int64_t i = 0; i < n / row; ++i)
    fill(slots_[instr.dst] + (i * row << instr.index), slots_[instr.a] + i * stride, row);
}

// Whole groups where they are. What is left is run in place, where the level can, or as a group
// that ends in copies.
void BlockFrame::State::RunChain(int32_t index, int64_t n) {
  const BlockChain& chain = frame_.code_.chains[index];
  if (frame_.rows_together_ > 0 && n > frame_.row_length_) {
    const auto& [together, rows] = frame_.chain_rows_[index];
    return chain.run_rows(chain.code.data(), slots_, rows.data(),
                          n / (frame_.row_length_ * together));
  }
  const int64_t groups = n / chain.group;
  chain.run(chain.code.data(), slots_, groups);
  const int64_t done = groups * chain.group, rest = n - done;
  if (rest == 0) return;
  if (chain.rest != nullptr) return chain.rest(chain.code.data(), slots_, done, rest);
  char** const table = reinterpret_cast<char**>(chain_scratch_);
  const int64_t table_bytes = AlignUp(frame_.code_.num_slots * static_cast<int64_t>(sizeof(char*)));
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

// Finds the coordinates of the point with number `from`.
void BlockFrame::State::FindPoint(int64_t from) {
  const Dims& dims = frame_.program_.dims;
  int d = static_cast<int>(dims.size()) - 1;
  if (from == next_row_ && d > 0) {
    for (--d; d > 0 && at_[d] == dims[d]; --d) {
      at_[d] = 0;
      ++at_[d - 1];
    }
    return;
  }
  for (; d > 0; --d) {
    const int64_t rest = from / dims[d];
    at_[d] = from - rest * dims[d];
    from = rest;
  }
  if (!dims.empty()) at_[0] = from;
}

void BlockFrame::State::FindRepeats(int64_t from, int64_t n) {
  for (size_t i = 0; i < frame_.repeats_.size(); ++i)
    slots_[frame_.repeats_[i].slot] = RepeatAt(i, from, n);
}

// Points the slots of what is reached in place at the point with number `from`.
void BlockFrame::State::FindInPlace(int64_t from) {
  const bool row_mode = frame_.row_mode_;
  if (row_mode) FindPoint(from);
  const size_t rank = at_.size();
  const int64_t* const at = at_.data();
  const int64_t* strides = frame_.place_strides_.data();
  size_t left = frame_.num_inputs_in_place_;
  for (const Place& place : frame_.places_) {
    const char* const array = left > 0 ? inputs_[place.array] : outputs_[place.array];
    left -= left > 0;
    int64_t sum = place.offset;
    if (row_mode) {
      for (size_t d = 0; d < rank; ++d) sum += at[d] * strides[d];
    } else {
      sum += from * place.step;
    }
    strides += rank;
    slots_[place.slot] = const_cast<char*>(array) + sum;
  }
}

void BlockFrame::State::Evaluate(int64_t from, int64_t n) {
  const int64_t row = frame_.row_length_;
  if (from == next_row_ && rows_left_ > rows_) {
    const size_t rank = at_.size();
    const int64_t* step = frame_.place_strides_.data() + (rank - 2);
    for (const Place& place : frame_.places_) {
      slots_[place.slot] += rows_ * *step;
      step += rank;
    }
    rows_left_ -= rows_;
  } else {
    FindInPlace(from);
    const size_t rank = at_.size();
    rows_left_ = frame_.row_mode_ && rank > 1 ? frame_.program_.dims[rank - 2] - at_[rank - 2] : 0;
  }
  next_row_ = -1;
  if (frame_.row_mode_ && n >= row) {
    rows_ = n == row ? 1 : n / row;
    next_row_ = from + n;
    if (const size_t rank = at_.size(); rank > 1) at_[rank - 2] += rows_;
  }
  AimAsked(n);
  FindRepeats(from, n);
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
