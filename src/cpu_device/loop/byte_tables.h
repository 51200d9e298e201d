// SPDX-License-Identifier: Apache-2.0
//
// Loops whose results depend, at each point, on one byte of one array: functions of 8-bit floats,
// of pixels. A byte has 256 values, so the loop is run on these when it is compiled, and looks its
// results up.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_BYTE_TABLES_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_BYTE_TABLES_H_

#include <vector>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// Whether `program` is such a loop, stores bytes alone, and takes longer than tables would.
bool IsWorthTables(const LoopProgram& program, const BlockKernels& kernels);

// The program on 256 bytes, one after the other, with each store likewise.
LoopProgram OnAllBytes(const LoopProgram& program);

// Has a program that is worth tables look up what store i stores in tables[i].
void LookUp(std::vector<ByteTable> tables, LoopProgram* program);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_BYTE_TABLES_H_
