// SPDX-License-Identifier: Apache-2.0
//
// Blocks of several rows that lie apart: when they are better than rows one by one or blocks that
// cross rows, and how chains reach them.
#include <algorithm>

#include "src/core/base/status_macros.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/block_frame.h"

namespace pjrt::cpu {
namespace {

// What a block of several rows costs beside its elements.
constexpr double kRowsNs = 30;
// Fewer elements need no such blocks.
constexpr int64_t kMinGrouped = 2048;

}  // namespace

absl::StatusOr<bool> BlockFrame::LowerToRows() {
  const int64_t bytes = row_length_ * 8, vector = kernels_.chain_vector_bytes;
  if (program_.dims.size() < 2 || program_.ElementCount() < kMinGrouped || bytes < vector ||
      bytes > 2 * kChainVectors * vector)
    return false;
  const int64_t points = std::min(row_length_ * program_.dims.end()[-2], kMaxBlock);
  if (MovingNs(points, /*iotas=*/false) <= (row_mode_ ? 0 : kRowsNs)) return false;
  // What is moved in any case is quicker moved by large blocks.
  const bool strided =
      std::any_of(program_.inputs.begin(), program_.inputs.end(),
                  [](const LoopInput& in) { return in.view.strides.back() > 1; }) ||
      std::any_of(program_.stores.begin(), program_.stores.end(),
                  [](const LoopStore& store) { return store.view.strides.back() != 1; });
  if (strided && points < kMaxBlock) return false;
  const bool row_mode = row_mode_;
  row_mode_ = true;
  rows_together_ = 1;
  PJRT_RETURN_IF_ERROR(LowerCode({}));
  if (GroupRows()) {
    LayOut();
    return true;
  }
  row_mode_ = row_mode;
  rows_together_ = 0;
  return false;
}

bool BlockFrame::GroupRows() {
  const auto row_stride = [](const LoopView& view) { return view.strides.end()[-2]; };
  // By slot: from a row to the next one. What follows each other has a row's length, and what is
  // one element for all 0.
  row_strides_.assign(code_.num_slots, row_length_);
  std::vector<char> is_scalar(code_.num_slots, 0);
  const auto set_scalar = [&](int slot, int64_t stride) {
    row_strides_[slot] = stride;
    is_scalar[slot] = 1;
  };
  for (const auto& [slot, offset] : code_.constant_slots) set_scalar(slot, 0);
  for (const auto& [slot, table] : code_.table_slots) set_scalar(slot, 0);
  for (const auto& [slot, input] : code_.input_slots) {
    row_strides_[slot] = row_stride(program_.inputs[input].view);
    is_scalar[slot] = input_access_[input] == Access::kScalar;
  }
  for (const auto& [slot, store] : code_.store_slots)
    row_strides_[slot] = row_stride(program_.stores[store].view);
  for (const BlockInstr& instr : code_.instrs) {
    if (instr.scalar) set_scalar(instr.dst, 0);
  }
  const auto is_plain = [&](int slot) {
    return slot < 0 || row_strides_[slot] == (is_scalar[slot] ? 0 : row_length_);
  };
  for (const BlockInstr& instr : code_.instrs) {
    if (instr.kind == BlockInstr::kChain) continue;
    const bool fills = instr.kind == BlockInstr::kFill && !instr.scalar;
    if (!((fills || is_plain(instr.a)) && is_plain(instr.b) && is_plain(instr.c) &&
          is_plain(instr.dst)))
      return false;
  }
  chain_rows_.clear();
  for (const BlockChain& chain : code_.chains) {
    const int64_t lanes = chain.group * kernels_.chain_vector_bytes / kernels_.chain_group_bytes;
    const int64_t vectors = CeilDiv(row_length_, lanes);
    if (row_length_ < lanes || vectors > kChainVectors) return false;
    const bool fills_vectors = row_length_ % lanes == 0;
    const int64_t together = kChainVectors / vectors;
    rows_together_ = std::max(rows_together_, together);  // powers of two
    for (const ChainInstr& instr : chain.code) {
      // Predicates are read and written by groups, and numbers of bf16 by two vectors.
      const bool is_mask = instr.op >= ChainOp::kLoadMask && instr.op <= ChainOp::kXorMask;
      const bool shifts =
          instr.op == ChainOp::kShiftLeftScalar || instr.op == ChainOp::kShiftRightLogicalScalar ||
          instr.op == ChainOp::kShiftRightArithmeticScalar || instr.op == ChainOp::kShiftBoth;
      if (((is_mask || shifts) && !is_plain(instr.slot)) ||
          (is_mask && (!fills_vectors || kChainVectors % vectors != 0)) ||
          (instr.op == ChainOp::kStoreBf16 && (!fills_vectors || vectors % 2 != 0)))
        return false;
    }
    std::vector<ChainRows> all(code_.num_slots);
    for (int slot = 0; slot < code_.num_slots; ++slot) {
      all[slot].step = together * row_strides_[slot];
      // A row's last vector ends with it, though it repeats some of the one before, and vectors
      // that are left repeat the first ones.
      for (int64_t i = 0; i < kChainVectors; ++i) {
        const int64_t vector = i % (together * vectors);
        const int64_t in_row = std::min(vector % vectors * lanes, row_length_ - lanes);
        all[slot].at[i] = vector / vectors * row_strides_[slot] + (is_scalar[slot] ? 0 : in_row);
      }
    }
    chain_rows_.emplace_back(together, std::move(all));
  }
  return !chain_rows_.empty() && program_.dims.end()[-2] >= rows_together_;
}

int64_t BlockFrame::RowsAt(int64_t row, int64_t most) const {
  const int64_t rows = program_.dims.end()[-2];
  most = std::min(most, rows - row % rows);
  return most - most % rows_together_;
}

}  // namespace pjrt::cpu
