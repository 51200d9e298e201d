// SPDX-License-Identifier: Apache-2.0
//
// The vector instructions of x86-64, where the level has AVX2. See level-inl.h for who may include
// this.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_INTRINSICS_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_INTRINSICS_INL_H_

#if defined(__AVX2__)
// gcc's own header leaves the lanes that a full mask does not ask for undefined, and gcc 12 warns.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#endif

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_INTRINSICS_INL_H_
