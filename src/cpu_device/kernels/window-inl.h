// SPDX-License-Identifier: Apache-2.0
//
// What the sources of window kernels of a level share.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_WINDOW_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_WINDOW_INL_H_

#include "src/cpu_device/kernels/level-inl.h"
#include "src/cpu_device/kernels/window.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

void FillChannelConvolutions(WindowKernels* kernels);
void FillPlaneConvolutions(WindowKernels* kernels);
void FillScans(WindowKernels* kernels);

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_WINDOW_INL_H_
