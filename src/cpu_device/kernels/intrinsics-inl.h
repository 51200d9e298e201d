// SPDX-License-Identifier: Apache-2.0
//
// The vector instructions of x86-64, where the level has AVX2. See level-inl.h for who may include
// this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_INTRINSICS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_INTRINSICS_INL_H_

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_INTRINSICS_INL_H_
