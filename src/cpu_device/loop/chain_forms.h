// SPDX-License-Identifier: Apache-2.0
//
// Which instructions of block code chains have operations for (kernels/chain_ops.h): nullopt or
// null where they have none.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_CHAIN_FORMS_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_CHAIN_FORMS_H_

#include <optional>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/kernels/chain_ops.h"
#include "src/cpu_device/loop/block_code.h"

namespace pjrt::cpu {

// A binary operation in chains, by its form for blocks; those for one element and for B follow it.
struct ChainForms {
  ChainOp forward, reversed;  // `reversed`: with operands the other way; kEnd: none
};
std::optional<ChainForms> FindChainForms(BlockOp op, CType type);
// B = the result of a form for B as operand; kEnd: there is none.
ChainOp FormToSaved(ChainOp block);

// An operation on one operand.
std::optional<ChainOp> FindChainUnary(BlockOp op, CType type);

// An operation on predicates, which chains of all types have. Equality is kXorMask and kNotMask.
std::optional<ChainOp> FindChainLogic(const BlockInstr& instr);

// Conversions between bf16 or f16 in memory and f32.
std::optional<ChainOp> FindChainNarrow(const BlockKernels& kernels, const BlockInstr& instr);

// Conversions between compute types of one width, and of predicates to them.
struct ChainConversion {
  CType to, from;
  ChainOp op;
};
const ChainConversion* FindChainConversion(const BlockKernels& kernels, const BlockInstr& instr);

// The chains that the instruction can be part of.
ChainFn ChainOf(const BlockKernels& kernels, const BlockInstr& instr);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_CHAIN_FORMS_H_
