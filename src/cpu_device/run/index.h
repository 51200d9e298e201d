// SPDX-License-Identifier: Apache-2.0
//
// Reading indices of any integer type.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_INDEX_H_
#define PJRT_SRC_CPU_DEVICE_RUN_INDEX_H_

#include <cstdint>
#include <limits>

#include "pjrt/base/primitive_type.h"

namespace pjrt::cpu {

// Element i of an array of an integer type (or PRED), as an int64. Values of U64 beyond it become
// its maximum: no array is that large.
inline int64_t ReadIndex(PrimitiveType type, const char* array, int64_t i) {
  switch (type) {
    case S32:
      return reinterpret_cast<const int32_t*>(array)[i];
    case S64:
      return reinterpret_cast<const int64_t*>(array)[i];
    case U32:
      return reinterpret_cast<const uint32_t*>(array)[i];
    case U64: {
      const uint64_t value = reinterpret_cast<const uint64_t*>(array)[i];
      return value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
                 ? std::numeric_limits<int64_t>::max()
                 : static_cast<int64_t>(value);
    }
    case S16:
      return reinterpret_cast<const int16_t*>(array)[i];
    case U16:
      return reinterpret_cast<const uint16_t*>(array)[i];
    case U1:
    case U2:
    case U4:
    case U8:
    case PRED:
      return reinterpret_cast<const uint8_t*>(array)[i];
    default:
      return reinterpret_cast<const int8_t*>(array)[i];
  }
}

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_INDEX_H_
