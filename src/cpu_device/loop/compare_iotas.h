// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of sequences, as masks of triangles, bands and diagonals make them.
#ifndef PJRT_SRC_CPU_DEVICE_LOOP_COMPARE_IOTAS_H_
#define PJRT_SRC_CPU_DEVICE_LOOP_COMPARE_IOTAS_H_

#include <cstdint>

#include "src/cpu_device/loop/loop_program.h"

namespace pjrt::cpu {

// Makes kCompareIota of comparisons between integers that follow from coordinates alone: sequences,
// sums and differences of them, and constants, where nothing wraps around. To be followed by
// Simplify, which drops what is no longer used.
void CompareIotas(LoopProgram* program);

// dst[i] = op(first + i * stride, 0) for i < count, where op is a comparison and no number leaves
// int64.
void FillComparison(char* dst, BlockOp op, int64_t first, int64_t stride, int64_t count);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_LOOP_COMPARE_IOTAS_H_
