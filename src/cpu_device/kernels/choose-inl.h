// SPDX-License-Identifier: Apache-2.0
//
// What levels/block_choose.cc contributes to a level's folds. See level-inl.h for who may include
// it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_CHOOSE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_CHOOSE_INL_H_

#include "src/cpu_device/kernels/fold_ops.h"
#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

void FillChoose(FoldKernels* kernels);

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_CHOOSE_INL_H_
