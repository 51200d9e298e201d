// SPDX-License-Identifier: Apache-2.0
//
// What block_complex_math.cc and the other sources of complex functions have for each other. See
// level-inl.h for who may include this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_COMPLETE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_COMPLETE_INL_H_

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

// Vector loops, at levels with fused multiply-add.
void FillComplexExp(BlockKernels* kernels);
void FillComplexLog(BlockKernels* kernels);
void FillComplexRootsC128(BlockKernels* kernels);
void FillComplexPower(BlockKernels* kernels);
void FillComplexAtan2(BlockKernels* kernels);
void FillComplexTablesC128(BlockKernels* kernels);
void FillComplexLogC128(BlockKernels* kernels);
void FillComplexPowerC128(BlockKernels* kernels);
void FillComplexAtan2C128(BlockKernels* kernels);
void FillComplexTanhC128(BlockKernels* kernels);

namespace complexes {

// Complete functions, for the arguments that those loops leave.
C64 CompleteExp(C64 z);
C64 CompleteExpm1(C64 z);
C64 CompleteSin(C64 z);
C64 CompleteCos(C64 z);
C64 CompleteTan(C64 z);
C64 CompleteTanh(C64 z);
C64 CompleteLogistic(C64 z);
C64 CompleteSqrt(C64 z);
C64 CompleteRsqrt(C64 z);
float CompleteAbs(C64 z);
C64 CompleteSign(C64 z);
C64 CompleteLog(C64 z);
C64 CompleteLog1p(C64 z);
C64 CompleteCbrt(C64 z);
C64 CompletePower(C64 a, C64 b);
C64 CompleteAtan2(C64 y, C64 x);

C128 CompleteSign(C128 z);
C128 CompleteSqrt(C128 z);
C128 CompleteLog(C128 z);
C128 CompleteLog1p(C128 z);
C128 CompleteRsqrt(C128 z);
C128 CompleteCbrt(C128 z);
C128 CompleteExp(C128 z);
C128 CompleteExpm1(C128 z);
C128 CompleteLogistic(C128 z);
C128 CompleteTanh(C128 z);
C128 CompleteTan(C128 z);
C128 CompleteSin(C128 z);
C128 CompleteCos(C128 z);
C128 CompletePower(C128 a, C128 b);
C128 CompleteAtan2(C128 y, C128 x);

}  // namespace complexes
}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_COMPLEX_COMPLETE_INL_H_
