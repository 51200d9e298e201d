// SPDX-License-Identifier: Apache-2.0
//
// Elements gathered at places that are given: loads and stores of single elements, which no
// instruction set makes quicker, so that there is one function for all levels.
#ifndef PJRT_SRC_CPU_DEVICE_KERNELS_GATHER_AT_H_
#define PJRT_SRC_CPU_DEVICE_KERNELS_GATHER_AT_H_

#include <cstdint>
#include <cstring>

namespace pjrt::cpu {

// dst[i] = src[at[i]], elements of kSize bytes, aligned or not. Loops of one element take a fifth
// longer where they happen to lie across two lines of code.
template <int kSize, typename I>
void GatherAtBySize(char* dst, const char* src, const I* at, int64_t n) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(dst + i * kSize, src + static_cast<int64_t>(at[i]) * kSize, kSize);
}

// The same for elements of 1, 2, 4, 8 or 16 bytes.
template <typename I>
void GatherAt(int size, char* dst, const char* src, const I* at, int64_t n) {
  switch (size) {
    case 1:
      return GatherAtBySize<1>(dst, src, at, n);
    case 2:
      return GatherAtBySize<2>(dst, src, at, n);
    case 4:
      return GatherAtBySize<4>(dst, src, at, n);
    case 8:
      return GatherAtBySize<8>(dst, src, at, n);
    default:
      return GatherAtBySize<16>(dst, src, at, n);
  }
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_KERNELS_GATHER_AT_H_
