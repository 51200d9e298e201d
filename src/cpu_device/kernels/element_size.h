// SPDX-License-Identifier: Apache-2.0
//
// Tables of kernels that move elements are indexed by the logarithm of the element's size.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_ELEMENT_SIZE_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_ELEMENT_SIZE_H_

namespace pjrt::cpu {

// log2 of a size of 1, 2, 4, 8 or 16 bytes.
constexpr int SizeLog2(int bytes) {
  return bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : 4;
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_ELEMENT_SIZE_H_
