// SPDX-License-Identifier: Apache-2.0
//
// Running block code over an iteration space: how inputs and stores are reached, and evaluating one
// block.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FRAME_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FRAME_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/cpu_device/loop/block_code.h"
#include "src/cpu_device/loop/loop_program.h"
#include "src/cpu_device/loop/view_walk.h"

namespace pjrt::cpu {

class BlockFrame {
 public:
  BlockFrame(LoopProgram program, const BlockKernels& kernels)
      : program_(std::move(program)), kernels_(kernels) {}

  const LoopProgram& program() const { return program_; }
  const BlockCode& code() const { return code_; }
  const BlockKernels& kernels() const { return kernels_; }

  // Row mode when the innermost dim is long enough and blocks that cross its rows (flat mode) are
  // no better. `flat_rows` > 0 asks for flat mode because the caller's blocks are that many rows of
  // a short reduction; < 0 for row mode, however short rows are.
  void ChooseMode(int64_t flat_rows);
  // Instead of Lower, where a block can be several rows that lie apart and this is better than the
  // mode chosen; false where it is not.
  absl::StatusOr<bool> LowerToRows();
  // Lowers the program's instructions; `blocks` as in LowerToBlocks.
  absl::Status Lower(absl::Span<const LoopValue> blocks);

  bool row_mode() const { return row_mode_; }
  int64_t row_length() const { return row_length_; }
  int64_t block_size() const { return block_size_; }
  int64_t scratch_bytes() const { return scratch_bytes_; }
  // Work is not split finer: a block, or less where blocks are large.
  int64_t smallest_unit() const { return std::min(block_size_, kMaxBlock); }
  // A length of at most `points`, and at least the smallest unit, that divides a row into nearly
  // equal blocks.
  int64_t PartOfRow(int64_t points) const;
  // The size of the block that begins at `from` and may reach to `to`.
  int64_t BlockAt(int64_t from, int64_t to) const {
    int64_t n = to - from < block_size_ ? to - from : block_size_;
    if (row_mode_) {
      const int64_t left = row_length_ - from % row_length_;
      if (rows_together_ > 0 && left == row_length_ && n > row_length_) {
        if (const int64_t rows = RowsAt(from / row_length_, n / row_length_); rows > 0)
          return rows * row_length_;
      }
      n = n < left ? n : left;
    }
    return n;
  }
  bool CanShare(int input, int output) const;
  // Whether something is written past the caches: a thread ends with BlockKernels::end_stream.
  bool streams() const { return streams_; }
  // The input in whose memory the i-th block lies, its points next to each other; -1 for none.
  int InputOfBlock(size_t i) const;

  // The pointers of one thread that runs the kernel.
  class State {
   public:
    State(const BlockFrame& frame, const char* const* inputs, char* const* outputs, char* scratch);
    // Computes the n points from number `from` on and stores what the program stores.
    void Evaluate(int64_t from, int64_t n);
    // The same for the points [from, to) of one row or, in flat mode, of any, block by block.
    void EvaluateInRow(int64_t from, int64_t to);
    // A body: parameters and results are given as pointers.
    void Call(const char* const* params, char* const* results, int64_t n);
    // Behind Evaluate: the block of the i-th value of Lower's `blocks`.
    char* block(size_t i) const { return slots_[frame_.code_.block_slots[i]]; }

   private:
    void FindPoint(int64_t from);
    void FindInPlace(int64_t from);
    void FindRepeats(int64_t from, int64_t n);
    void Execute(int64_t from, int64_t n);
    void ExecuteOther(const BlockInstr& instr, int64_t from, int64_t n, int64_t count);
    void ChooseStreamed();
    bool AsksAhead() const { return asked_.empty() && !frame_.ahead_.empty(); }
    // Of the lines of a block behind this one a share, before the instruction with number `instr`,
    // where no store asks for them.
    void AskAhead(int64_t instr, int64_t n) const;
    // Points `asked_` behind the block of n points at hand.
    void AimAsked(int64_t n);
    void Load(int input, char* block, int64_t from, int64_t n) const;
    void Store(int store, const char* block, int64_t from, int64_t n);
    bool IsStreamed(int store) const { return frame_.streams_ && is_streamed_[store]; }
    // Writes what a block stores past the caches, and asks for what is read further on.
    void Stream(int store, char* to, const char* from, int64_t bytes) {
      const int64_t asked = store == asking_store_ ? static_cast<int64_t>(asked_.size()) : 0;
      frame_.kernels_.stream_asking(to, from, bytes, asked_.data(), asked);
    }
    // Has the block at `from` written to `to` beside the next one, and gives memory for that one.
    char* StartBeside(char* to, const char* from, int64_t bytes, Beside* beside) const;
    // What nobody has come to.
    void FinishBeside(const Beside& beside) const {
      if (beside.done == beside.bytes) return;
      frame_.kernels_.stream_asking(beside.to + beside.done, beside.from + beside.done,
                                    beside.bytes - beside.done, nullptr, 0);
    }
    void Unpack(int input, char* block, int64_t from, int64_t n) const;
    void Pack(int store, const char* block, int64_t from, int64_t n);
    char* RepeatAt(size_t repeat, int64_t from, int64_t n);
    void Fill(const BlockInstr& instr, int64_t n) const;
    void RunChain(int32_t index, int64_t n);
    void Iota(const LoopInstr& instr, char* dst, int64_t from, int64_t n) const;
    void CompareIota(const LoopInstr& instr, char* dst, int64_t from, int64_t n) const;

    const BlockFrame& frame_;
    const char* const* inputs_;
    char* const* outputs_;
    char** slots_;
    char* chain_scratch_;
    char* repeat_scratch_;
    char* pack_scratch_;    // a packed block before it is streamed
    char* beside_scratch_;  // a block that is streamed beside the next, and that one
    absl::InlinedVector<int64_t, 4> held_;  // the stretch whose pattern a repeat's copies are of
    absl::InlinedVector<char, 4> is_streamed_;  // which stores are written past the caches, if any
    // The store that asks for what is read while it is streamed, or -1, and what it asks for.
    int asking_store_ = -1;
    absl::InlinedVector<AskedMemory, 2> asked_;
    Dims at_;  // coordinates of a block or, of whole rows, of the row behind it
    // The rows of the block at hand, where they end, and how many, those included, can be reached
    // by steps.
    int64_t rows_ = 0, next_row_ = -1, rows_left_ = 0;
  };

 private:
  friend class State;
  // An input or a store that is reached in place: where its first element is, and how many bytes
  // further that of the next point, in row mode of the same row.
  struct Place {
    int32_t slot, array;
    int64_t offset, step;
  };
  // An input that shows the same `period` elements again and again for `stretch` points. The
  // pattern is copied until it fills a block and one period more, so that every block finds its
  // part in it.
  struct Repeat {
    int32_t slot, input;
    int64_t period, stretch;
    int64_t scratch;  // where its copies lie
  };

  // An array of which a block further on is asked for while one is computed.
  struct Ahead {
    int32_t slot;
    int size;  // of an element
    bool written;
  };

  static constexpr int64_t kMaxBlock = 1024;

  // Of `most` rows from `row` on, as many as a block may have; 0 where they fill no group.
  int64_t RowsAt(int64_t row, int64_t most) const;
  // Finds out how chains reach groups of rows; false where the code cannot run on them.
  bool GroupRows();
  // What it takes in flat mode to move so many points of what cannot be reached in place, and of
  // iotas that count by rows.
  double MovingNs(int64_t points, bool iotas) const;
  // Fills `code_`, then what follows from it.
  absl::Status LowerCode(absl::Span<const LoopValue> blocks);
  void LayOut();
  // Fills `ahead_`, where there are chains and other instructions: chains compute too little for
  // what they wait for, and memory would rest while the others compute. Kernels of one operation
  // run ahead by themselves. gelu of 256 MiB took 46 ms without and 30 with it. While results are
  // streamed, nothing else asks for what is read next: on a Xeon (Emerald Rapids), which reads
  // lines before it writes them, negating 256 MiB of f32 took 39 ms, 29 streamed and 23 with both;
  // memcpy takes 23.
  void ChooseAhead();
  // Whether a function streams the result's last block while it computes the next one: those that
  // compute for longer than memory takes.
  bool WorksBeside() const;
  bool CanWorkBeside(const BlockInstr& instr) const;
  // Whether computing takes longer than memory.
  bool IsSlow() const;
  void AddPlace(int32_t slot, int32_t array, const LoopView& view, PrimitiveType type);

  Access AccessOf(const LoopView& view) const;
  Access FlatAccessOf(const LoopView& view) const;
  // Whether a store that is packed or reached in place is so large, and has such rows, that it is
  // better streamed.
  bool IsWorthStreaming(const LoopStore& store) const;
  // Elements of a block whose results are streamed.
  int64_t StreamedBlock() const;
  bool FindRepeat(const LoopView& view, Repeat* repeat) const;

  LoopProgram program_;
  const BlockKernels& kernels_;
  BlockCode code_;
  std::vector<Access> input_access_, store_access_;
  std::vector<char> streamed_;  // which stores are written past the caches, if not into an input
  std::vector<ViewWalk> input_walks_, store_walks_, iota_walks_;
  std::vector<Place> places_;  // of inputs, then of stores, then of stores that are streamed
  size_t num_inputs_in_place_ = 0;
  std::vector<int64_t> place_strides_;  // by place and dim, in bytes
  std::vector<Repeat> repeats_;
  std::vector<Ahead> ahead_;
  int64_t far_ = 0;  // AskedMemory::far
  bool streams_ = false;
  bool works_beside_ = false;
  std::vector<int64_t> row_strides_;  // by slot, in elements, where rows are grouped
  // By chain: how many rows a group has, and by slot how it reaches them.
  std::vector<std::pair<int64_t, std::vector<ChainRows>>> chain_rows_;
  int64_t rows_together_ = 0;  // the most rows of a group; 0: rows are blocks of their own
  bool row_mode_ = true;
  int64_t row_length_ = 1;
  int64_t block_size_ = 1024;
  int64_t slot_bytes_ = 0, register_bytes_ = 0;
  int64_t chain_bytes_ = 0;
  int64_t repeat_bytes_ = 0, pack_bytes_ = 0;
  int64_t scratch_bytes_ = 0;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_FRAME_H_
