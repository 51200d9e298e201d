// SPDX-License-Identifier: Apache-2.0
//
// Copies of runs that are too short for a call.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_COPY_BYTES_H_
#define PJRT_SRC_CPU_DEVICE_RUN_COPY_BYTES_H_

#include <cstdint>
#include <cstring>

namespace pjrt::cpu {

// Copies short runs; most are of a size between two vector registers.
inline void CopyBytes(char* to, const char* from, int64_t bytes) {
  if (bytes > 128) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= 16) {
    for (int64_t i = 0; i + 16 < bytes; i += 16) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + bytes - 16, from + bytes - 16, 16);
  } else if (bytes >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + bytes - 8, from + bytes - 8, 8);
  } else if (bytes >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + bytes - 4, from + bytes - 4, 4);
  } else {
    for (int64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_COPY_BYTES_H_
