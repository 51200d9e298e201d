// SPDX-License-Identifier: Apache-2.0
//
// Sizes of elements. Tables of kernels that move elements are indexed by the logarithm of the size.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_ELEMENT_SIZE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_ELEMENT_SIZE_H_

#include <cstdint>

namespace pjrt::cpu {

// Bytes that an element takes at most, in memory or as it is computed with.
inline constexpr int64_t kMaxElementBytes = 16;

// log2 of a size of 1, 2, 4, 8 or 16 bytes.
constexpr int SizeLog2(int bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_ELEMENT_SIZE_H_
