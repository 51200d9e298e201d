// SPDX-License-Identifier: Apache-2.0
//
// Loops for functions with arguments that are too rare to slow the others down. Op::Run is for
// vectors, Op::IsRare tells the arguments that it does not serve, and Op::RunRare serves them, one
// at a time. See level-inl.h for who may include it.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_RARE_INL_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_RARE_INL_H_

#include "src/cpu_device/kernels/level-inl.h"

namespace pjrt::cpu::PJRT_KERNEL_LEVEL {

// Elements that are looked at together.
constexpr int64_t kRarePiece = 128;

template <class Op, typename T>
void UnaryLoopWithRare(void* dst, const void* a, const void*, const void*, int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  for (; n > 0; n -= kRarePiece, d += kRarePiece, x += kRarePiece) {
    const int64_t count = n < kRarePiece ? n : kRarePiece;
    int rare = 0;
    for (int64_t i = 0; i < count; ++i) rare |= Op::IsRare(x[i]);
    if (rare != 0) {
      for (int64_t i = 0; i < count; ++i)
        d[i] = Op::IsRare(x[i]) ? Op::RunRare(x[i]) : Op::Run(x[i]);
    } else {
      PJRT_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < count; ++i) d[i] = Op::Run(x[i]);
    }
  }
}

// kScalar: b is one element.
template <class Op, typename T, bool kScalar>
void BinaryLoopWithRare(void* dst, const void* a, const void* b, const void*, int64_t n) {
  T* d = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  if (n <= 0) return;
  const T y0 = *y;
  for (; n > 0; n -= kRarePiece, d += kRarePiece, x += kRarePiece, y += kScalar ? 0 : kRarePiece) {
    const int64_t count = n < kRarePiece ? n : kRarePiece;
    int rare = 0;
    for (int64_t i = 0; i < count; ++i) rare |= Op::IsRare(x[i], kScalar ? y0 : y[i]);
    if (rare != 0) {
      for (int64_t i = 0; i < count; ++i) {
        const T z = kScalar ? y0 : y[i];
        d[i] = Op::IsRare(x[i], z) ? Op::RunRare(x[i], z) : Op::Run(x[i], z);
      }
    } else {
      PJRT_INDEPENDENT_ITERATIONS
      for (int64_t i = 0; i < count; ++i) d[i] = Op::Run(x[i], kScalar ? y0 : y[i]);
    }
  }
}

}  // namespace pjrt::cpu::PJRT_KERNEL_LEVEL

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_RARE_INL_H_
