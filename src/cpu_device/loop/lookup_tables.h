// SPDX-License-Identifier: Apache-2.0
//
// Loops whose results depend, at each point, on one element of one array, of 8 or 16 bits:
// functions of narrow floats, of pixels. These have 256 or 65,536 values, so the loop is run on all
// of them when it is compiled, and looks its results up.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_LOOKUP_TABLES_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_LOOKUP_TABLES_H_

#include <vector>

#include "src/cpu_device/kernels/block_ops.h"
#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// Whether `program` is such a loop, all that it stores has the same size, and it takes longer than
// tables would.
bool IsWorthTables(const LoopProgram& program, const BlockKernels& kernels);

// The elements that a program which is worth tables may read, one after the other.
std::vector<char> AllElements(const LoopProgram& program);

// The program on these, with each store likewise.
LoopProgram OnAllElements(const LoopProgram& program);

// Has a program that is worth tables look up what store i stores in tables[i].
void LookUp(std::vector<LookupTable> tables, LoopProgram* program);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_LOOKUP_TABLES_H_
