// SPDX-License-Identifier: Apache-2.0
//
// Maximum and minimum of floats. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_FLOAT_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_FLOAT_INL_H_

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL::floats {

// A NaN wins, the first of two. Of zeros, which compare equal, the maximum has the sign bits' and,
// the minimum their or; other equal numbers have equal bits.
struct Maximum {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    const T larger = a > b ? a : b;
    const T same = BitCast<T>(ToBits(a) & ToBits(b));
    const T ordered = a == b ? same : larger;
    return a != a ? a : ordered;
  }
};
struct Minimum {
  template <typename T>
  PJRT_INLINE T Run(T a, T b) {
    const T smaller = a < b ? a : b;
    const T same = BitCast<T>(ToBits(a) | ToBits(b));
    const T ordered = a == b ? same : smaller;
    return a != a ? a : ordered;
  }
};

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL::floats

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_FLOAT_INL_H_
