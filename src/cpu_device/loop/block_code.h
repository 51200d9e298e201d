// SPDX-License-Identifier: Apache-2.0
//
// The straight-line part of a loop program, lowered to calls of block kernels: the block engine's
// machine code.
//
// Values are pointers in a table that the engine fills for each block. A value is a block of n
// elements or, when all elements of a block share it, one element ("scalar"). Registers are blocks
// of scratch memory that stay in the L1 cache.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_CODE_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_CODE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/chain_ops.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// How an input or output is reached within a block.
enum class Access : uint8_t {
  kPointer,  // its elements are contiguous: a pointer into the array
  kRepeat,   // a short pattern again and again: a pointer into a block of copies
  kScalar,   // one element for the whole block
  kMove,     // copied element by element (or piece by piece) through a register
};

struct BlockInstr {
  enum Kind : uint8_t {
    kOp,           // op(dst, a, b, c, n)
    kConvert,      // convert(dst, a, n)
    kFill,         // dst[0..n) = a[0]
    kIota,         // instruction `index` of the loop program
    kCompareIota,  // likewise
    kReducePrecision,
    kGather,  // dst[i] = input `index` at a[i], of `type`
    kLoad,    // dst = input `index`, moved
    kStore,   // store `index` = a, moved
    kChain,   // chain `index`
  };
  Kind kind = kOp;
  bool scalar = false;  // n = 1
  int32_t index = 0;
  int32_t dst = -1, a = -1, b = -1, c = -1;  // slots of the pointer table; -1: null
  BlockFn op = nullptr;
  ConvertFn convert = nullptr;
  // kOp: which function `op` is, and of what; of kU16 or kU8 for those of narrow
  // floats (narrow_functions.h). kConvert of compute types: from `type`.
  BlockOp block_op = BlockOp::kCopy;
  CType type = CType::kF32;
  Scalars form = Scalars::kNone;
  // Not `op`, but a << b | a >> c for one element b and c: in chains only.
  bool shifts_both = false;
};

// Several operations in one pass (block_chain.h).
struct BlockChain {
  struct Access {
    int32_t slot, position;  // of the instruction in `code`
  };
  // A slot that stands for the program's memory. Where a block does not fill its last group, and
  // there is no `rest`, the chain works on copies of these; registers have room for whole groups.
  struct Outside {
    int32_t slot;
    int size;  // of an element
    bool read, written;
  };
  std::vector<ChainInstr> code;
  ChainFn run = nullptr;
  ChainRestFn rest = nullptr;         // on what is left of a group; null for none
  ChainRowsFn run_rows = nullptr;     // on rows
  int group = 1;                      // elements
  std::vector<Access> reads, writes;  // of blocks
  std::vector<Outside> outside;
  std::vector<std::pair<int32_t, int>> inside;  // registers that it touches, and an element's size
};

struct BlockCode {
  std::vector<BlockInstr> instrs;
  std::vector<BlockChain> chains;
  int num_slots = 0;
  // Slots set once: constants (offset into `constants`), tables of the program (number), registers
  // (number).
  std::vector<std::pair<int32_t, int32_t>> constant_slots;
  std::vector<std::pair<int32_t, int32_t>> table_slots;
  std::vector<std::pair<int32_t, int32_t>> register_slots;
  // Slots set for each block: inputs that are no kMove, stores that are pointers, iota
  // values.
  std::vector<std::pair<int32_t, int32_t>> input_slots;  // slot, input
  std::vector<std::pair<int32_t, int32_t>> store_slots;  // slot, store
  std::vector<std::pair<int32_t, int32_t>> parameter_slots;
  std::vector<char> constants;
  int num_registers = 0;
  int max_element_size = 1;
  // The slots of `blocks`, then of the program's results, as blocks of n elements.
  std::vector<int32_t> block_slots;
  // For each value of the loop program its slot (-1: none) and whether it is scalar.
  std::vector<int32_t> value_slot;
  std::vector<char> value_scalar;
  // For sharing memory between inputs and stores: when an input is last read, and a store first
  // written, counted in instructions and those of chains.
  std::vector<int32_t> input_last_read;
  std::vector<int32_t> store_first_write;
  // True of a time when each element is read before it is written.
  std::vector<char> reads_first;
};

// Lowers `program`. `input_access` and `store_access` say how each input and store is reached; the
// values `blocks` (those that are reduced) are made blocks of n elements even when scalar.
// `chains_of_one` as in FormChains. UNIMPLEMENTED for an instruction that the kernels lack.
absl::StatusOr<BlockCode> LowerToBlocks(const LoopProgram& program, const BlockKernels& kernels,
                                        const std::vector<Access>& input_access,
                                        const std::vector<Access>& store_access,
                                        absl::Span<const LoopValue> blocks, bool chains_of_one);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_CODE_H_
