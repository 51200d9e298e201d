// SPDX-License-Identifier: Apache-2.0
//
// What shapes are bounded by.
#ifndef PJRT_CORE_BASE_SHAPE_LIMITS_H_
#define PJRT_CORE_BASE_SHAPE_LIMITS_H_

namespace pjrt {

// Levels of tuples: functions that go through a shape call themselves for each.
inline constexpr int kDeepestTuple = 100;

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_SHAPE_LIMITS_H_
