// SPDX-License-Identifier: Apache-2.0
//
// Counts and sizes, rounded up.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_ROUND_UP_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_ROUND_UP_H_

#include <cstdint>

namespace pjrt::cpu {

inline constexpr int64_t kCacheLine = 64;
// What is handed out of one piece of memory begins at multiples of this many bytes: a line of the
// cache, and the widest vector.
inline constexpr int64_t kAlignment = 64;

// The least multiple of `to` that is not less than n. n >= 0.
constexpr int64_t AlignUp(int64_t n, int64_t to = kAlignment) { return (n + to - 1) / to * to; }

// The least integer that is not less than a / b. b > 0; often 1, and then nothing is divided.
constexpr int64_t CeilDiv(int64_t a, int64_t b) {
  return b == 1 ? a : a > 0 ? (a + b - 1) / b : a / b;
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_ROUND_UP_H_
