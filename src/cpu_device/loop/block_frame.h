// SPDX-License-Identifier: Apache-2.0
//
// Running block code over an iteration space: how inputs and stores are reached, and evaluating one
// block.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FRAME_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FRAME_H_

#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "src/cpu_device/loop/block_code.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

class BlockFrame {
 public:
  BlockFrame(LoopProgram program, const BlockKernels& kernels)
      : program_(std::move(program)), kernels_(kernels) {}

  const LoopProgram& program() const { return program_; }
  const BlockCode& code() const { return code_; }
  const BlockKernels& kernels() const { return kernels_; }

  // Row mode when the innermost dim is long enough, or when everything is dense anyway. `flat_rows`
  // > 0 asks for blocks that cross rows (flat mode) because the caller's blocks are that many rows
  // of a short reduction.
  void ChooseMode(int64_t flat_rows);
  // Lowers the program's instructions; `blocks` as in LowerToBlocks.
  absl::Status Lower(absl::Span<const LoopValue> blocks);

  bool row_mode() const { return row_mode_; }
  int64_t row_length() const { return row_length_; }
  int64_t block_size() const { return block_size_; }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // A length of at most `points`, and at least a block, that divides a row into nearly equal
  // blocks.
  int64_t PartOfRow(int64_t points) const;
  // The size of the block that begins at `from` and may reach to `to`.
  int64_t BlockAt(int64_t from, int64_t to) const {
    int64_t n = to - from < block_size_ ? to - from : block_size_;
    if (row_mode_) {
      const int64_t left = row_length_ - from % row_length_;
      n = n < left ? n : left;
    }
    return n;
  }
  bool CanShare(int input, int output) const;

  // The pointers of one thread that runs the kernel.
  class State {
   public:
    State(const BlockFrame& frame, const char* const* inputs, char* const* outputs, char* scratch);
    // Computes the n points from number `from` on and stores what the program stores.
    void Evaluate(int64_t from, int64_t n);
    // A body: parameters and results are given as pointers.
    void Call(const char* const* params, char* const* results, int64_t n);
    // Behind Evaluate: the block of the i-th value of Lower's `blocks`.
    char* block(size_t i) const { return slots_[frame_.code_.block_slots[i]]; }

   private:
    void Execute(int64_t from, int64_t n);
    int64_t OffsetAt(const LoopView& view, int64_t from) const;
    void Move(const LoopView& view, int size_log2, const char* array, char* block, int64_t from,
              int64_t n, bool store) const;
    void RunChain(const BlockChain& chain, int64_t n);
    void Iota(const LoopInstr& instr, char* dst, int64_t from, int64_t n) const;

    const BlockFrame& frame_;
    const char* const* inputs_;
    char* const* outputs_;
    char** slots_;
    char* chain_scratch_;
  };

 private:
  friend class State;
  Access AccessOf(const LoopView& view) const;

  LoopProgram program_;
  const BlockKernels& kernels_;
  BlockCode code_;
  std::vector<Access> input_access_, store_access_;
  bool row_mode_ = true;
  int64_t row_length_ = 1;
  int64_t block_size_ = 1024;
  int64_t register_bytes_ = 0;
  int64_t scratch_bytes_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FRAME_H_
