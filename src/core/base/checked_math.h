// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on sizes that come from files and may be anything.
#ifndef PJRT_CORE_BASE_CHECKED_MATH_H_
#define PJRT_CORE_BASE_CHECKED_MATH_H_

#include <cstdint>
#include <limits>

namespace pjrt {

// a * b and a + b for a, b >= 0; INT64_MAX when the result does not fit.
constexpr int64_t SaturatingMultiply(int64_t a, int64_t b) {
  return a != 0 && b > std::numeric_limits<int64_t>::max() / a ? std::numeric_limits<int64_t>::max()
                                                               : a * b;
}
constexpr int64_t SaturatingAdd(int64_t a, int64_t b) {
  return b > std::numeric_limits<int64_t>::max() - a ? std::numeric_limits<int64_t>::max() : a + b;
}

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_CHECKED_MATH_H_
