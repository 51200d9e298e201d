// SPDX-License-Identifier: Apache-2.0
//
// Results that are written past the caches, and memory that is asked for before it is read.
#include <algorithm>
#include <iterator>
#include <limits>
#include <vector>

#include "src/cpu_device/kernels/element_size.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/block_frame.h"

namespace pjrt::cpu {
namespace {

// Arrays of so many bytes together are not in the caches.
constexpr int64_t kLargeBytes = 16 << 20;

// A block whose results are streamed has so many bytes of the narrowest array. The fewer, the more
// of the writing is done while the next block is computed, up to where calls take as long. What is
// read is asked for kNear bytes behind the next block, and kFar bytes behind it into the second
// cache. On an Emerald Rapids, of memcpy's bandwidth at 256 MiB, 1 KiB instead of 16 made tanh of
// f64 .36 instead of .33, atan2 of f32 .58 instead of .43 and logistic of bf16 .51 instead of .42;
// asking for the second block instead of the next made the exponential of f32 .76 instead of .68,
// of f64 .54 instead of .47, and erfc of f32 .53 instead of .46; asking twice made negate .98
// instead of .82. Asking line by line while lines are written, instead of for a whole block before
// it is computed, made log of f32 .73 instead of .64 and the exponential of f64 .62 instead of .55.
constexpr int64_t kStreamedBytes = 1024;
constexpr int64_t kNear = 1024, kFar = 7168;
// Where more time goes into computing than into memory the machine foresees what is far by itself,
// and to ask for it would be waited for: without, powers of bf16 take 62 ms instead of 68. Those of
// several operands have shorter blocks, so that less is asked for at a time (powers of c64 took 66
// ms instead of 72 before they worked beside), but no fewer elements than make long enough loops.
constexpr int64_t kShortBytes = 512, kFewestElements = 64;

// Functions that stream the last block while they compute the next one (Beside) hide what memory
// takes: without, the arc tangents and powers of c128 took 89 and 83 ms instead of 75 and 71, and
// the powers of f64 69 instead of 57. They may have larger blocks, of which 2 and 4 KiB make no
// difference; asking into the first cache alone was 2 ms slower.
constexpr int64_t kBesideBytes = 2048, kBesideNear = 2048, kBesideFar = 8192;

}  // namespace

bool BlockFrame::IsWorthStreaming(const LoopStore& store) const {
  if (store.packed != INVALID)
    return kernels_.stores_read_lines && program_.dims.size() == 1 &&
           program_.ElementCount() * BitWidth(store.packed) >= 8 * kStreamBytes;
  const int64_t size = ByteWidth(store.type);
  if (!kernels_.stores_read_lines || !program_.reduces.empty() || !program_.results.empty() ||
      program_.ElementCount() * size < kStreamBytes || store.view.offset * size % kCacheLine != 0)
    return false;
  if (!row_mode_ || program_.dims.size() == 1) return true;
  const Dims& strides = store.view.strides;
  return row_length_ * size % kCacheLine == 0 &&
         std::all_of(strides.begin(), strides.end() - 1,
                     [&](int64_t stride) { return stride * size % kCacheLine == 0; });
}

bool BlockFrame::CanWorkBeside(const BlockInstr& instr) const {
  return instr.kind == BlockInstr::kOp && !instr.scalar && instr.c < 0 &&
         kernels_.works_beside[static_cast<int>(instr.block_op)][static_cast<int>(instr.type)];
}

bool BlockFrame::WorksBeside() const {
  if (!streams_ || rows_together_ > 0 || program_.stores.size() != 1 ||
      program_.stores[0].packed != INVALID)
    return false;
  const int size = ByteWidth(program_.stores[0].type);
  int inputs = 0;
  for (const LoopInput& input : program_.inputs) {
    if (IsScalarView(input.view, program_.dims)) continue;
    if (ByteWidth(input.type) != size || input.packed != INVALID || ++inputs > 2) return false;
  }
  const auto& instrs = code_.instrs;
  return std::any_of(instrs.begin(), instrs.end(),
                     [this](const BlockInstr& instr) { return CanWorkBeside(instr); });
}

bool BlockFrame::IsSlow() const { return ElementCostNs(program_) > ElementMemoryNs(program_); }

int64_t BlockFrame::StreamedBlock() const {
  if (works_beside_) return kBesideBytes / ByteWidth(program_.stores[0].type);
  int bits = std::numeric_limits<int>::max();
  const auto count = [&](PrimitiveType type, PrimitiveType packed, const LoopView& view) {
    if (!IsScalarView(view, program_.dims))
      bits = std::min(bits, packed == INVALID ? 8 * ByteWidth(type) : BitWidth(packed));
  };
  for (const LoopInput& input : program_.inputs) count(input.type, input.packed, input.view);
  for (const LoopStore& store : program_.stores) count(store.type, store.packed, store.view);
  if (IsSlow() && program_.inputs.size() > 1)
    return std::max(kFewestElements, 8 * kShortBytes / bits);
  return 8 * kStreamedBytes / bits;
}

void BlockFrame::ChooseAhead() {
  if (!streams_ && (code_.instrs.size() < 2 || code_.chains.empty())) return;
  std::vector<char> written_by_chain(code_.num_slots);
  for (const BlockChain& chain : code_.chains) {
    for (const BlockChain::Outside& outside : chain.outside)
      written_by_chain[outside.slot] |= outside.written;
  }
  int64_t bytes = 0;
  for (size_t i = 0; i < places_.size(); ++i) {
    const bool written = i >= num_inputs_in_place_;
    const int32_t array = places_[i].array;
    const LoopView& view = written ? program_.stores[array].view : program_.inputs[array].view;
    const int size = ByteWidth(written ? program_.stores[array].type : program_.inputs[array].type);
    const bool blocks_follow =
        IsDense(view, program_.dims) ||
        (row_mode_ && view.strides.back() == 1 && row_length_ > 4 * block_size_);
    if (!blocks_follow) continue;
    bytes += size * program_.ElementCount();
    if (!written || written_by_chain[places_[i].slot])
      ahead_.push_back({places_[i].slot, size, written});
  }
  if (bytes < kLargeBytes && !streams_) ahead_.clear();
  far_ = IsSlow() ? 0 : kFar - kNear;
}

void BlockFrame::State::ChooseStreamed() {
  // What takes the place of an input is in the caches.
  const char* const* const end = inputs_ + frame_.program_.inputs.size();
  for (size_t i = 0; i < frame_.streamed_.size(); ++i) {
    is_streamed_.push_back(frame_.streamed_[i] && std::find(inputs_, end, outputs_[i]) == end);
    if (is_streamed_[i] && frame_.rows_together_ == 0) asking_store_ = static_cast<int>(i);
  }
  if (asking_store_ < 0) return;
  const LoopStore& store = frame_.program_.stores[asking_store_];
  const int log2_bits = store.packed != INVALID ? SizeLog2(BitWidth(store.packed))
                                                : 3 + SizeLog2(ByteWidth(store.type));
  for (const Ahead& ahead : frame_.ahead_) {
    if (asked_.size() == kMostAsked) break;
    asked_.push_back({nullptr, frame_.far_, kCacheLine * 8 * ahead.size >> log2_bits});
  }
}

void BlockFrame::State::AimAsked(int64_t n) {
  for (size_t i = 0; i < asked_.size(); ++i) {
    const Ahead& ahead = frame_.ahead_[i];
    asked_[i].next = slots_[ahead.slot] + n * ahead.size + kNear;
  }
}

char* BlockFrame::State::StartBeside(char* to, const char* from, int64_t bytes,
                                     Beside* beside) const {
  *beside = {to, from, {nullptr, nullptr}, kBesideFar, bytes, 0};
  // Behind the next block.
  const size_t count = std::min(frame_.ahead_.size(), std::size(beside->asked));
  for (size_t i = 0; i < count; ++i)
    beside->asked[i] = slots_[frame_.ahead_[i].slot] + 2 * bytes + kBesideNear;
  return beside_scratch_ + (from == beside_scratch_ ? frame_.register_bytes_ : 0);
}

void BlockFrame::State::AskAhead(int64_t instr, int64_t n) const {
  const int64_t parts = static_cast<int64_t>(frame_.code_.instrs.size());
  for (const Ahead& ahead : frame_.ahead_) {
    const int64_t bytes = n * ahead.size;
    const int64_t share = parts == 1 ? bytes : AlignUp(CeilDiv(bytes, parts), kCacheLine);
    const char* next = slots_[ahead.slot] + bytes + (frame_.streams_ ? kNear : 0);
    const char* const end = next + std::min((instr + 1) * share, bytes);
    next += instr * share;
    if (frame_.streams_) {
      for (; next < end; next += kCacheLine) {
        __builtin_prefetch(next, 0);
        if (frame_.far_ > 0) __builtin_prefetch(next + frame_.far_, 0, 2);
      }
    } else if (ahead.written) {
      for (; next < end; next += kCacheLine) __builtin_prefetch(next, 1);
    } else {
      for (; next < end; next += kCacheLine) __builtin_prefetch(next, 0);
    }
  }
}

}  // namespace pjrt::cpu
