// SPDX-License-Identifier: Apache-2.0
//
// Runs of simple operations in block code, as chains (kernels/block_ops.h): what lies between two
// of them stays in vector registers instead of going through memory.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_CHAIN_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_CHAIN_H_

#include <vector>

#include "absl/types/span.h"
#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/block_code.h"

namespace pjrt::cpu {

// What there is to know of a slot of block code.
struct BlockSlot {
  int size = 1;  // bytes of an element
  bool in_register = false;
  int input = -1, store = -1;  // of the program, that it stands for
  bool keep = false;           // read behind the last instruction
  bool scalar = false;         // one element
};

// Joins operations of `code` into chains, moving them together where their operands allow it.
// Registers must not have been assigned yet. The code runs on `points` elements at most: where a
// chain does whole groups only, on copies of what is no whole group, operations on fewer are
// quicker alone. With `of_one`, operations that a chain can hold become one even alone.
void FormChains(const BlockKernels& kernels, absl::Span<const BlockSlot> slots, int64_t points,
                bool of_one, BlockCode* code);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_BLOCK_CHAIN_H_
