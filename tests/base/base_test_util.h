// SPDX-License-Identifier: Apache-2.0
//
// What several tests of this folder use.
#ifndef PJRT_TESTS_BASE_BASE_TEST_UTIL_H_
#define PJRT_TESTS_BASE_BASE_TEST_UTIL_H_

#include <cstdint>
#include <limits>
#include <string>

#include "absl/status/status.h"

namespace pjrt {

inline constexpr double kInf = std::numeric_limits<double>::infinity();
inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr int64_t kMaxInt64 = std::numeric_limits<int64_t>::max();

inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

}  // namespace pjrt

#endif  // PJRT_TESTS_BASE_BASE_TEST_UTIL_H_
