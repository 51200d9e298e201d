// SPDX-License-Identifier: Apache-2.0
//
// How often a loop runs, where that can be read off.
#ifndef PJRT_CORE_PASSES_TRIP_COUNT_H_
#define PJRT_CORE_PASSES_TRIP_COUNT_H_

#include <cstdint>
#include <optional>

#include "pjrt/ir/module.h"
#include "pjrt/ir/op_attributes.h"

namespace pjrt::ir {

// The number of times that the body of a stablehlo.while runs, when it counts: one of its integer
// values begins at a constant, grows or shrinks by a constant each time without wrapping around,
// and is compared with a constant to go on. nullopt for every other loop, endless ones included.
std::optional<int64_t> TripCount(const Op& loop);

// What `counter`, carried by a loop, grows by when its next value is `next`, where that is a
// constant.
std::optional<int64_t> StepOf(const Value* next, const Value* counter);

// The comparison that holds for b and a when `direction` holds for a and b.
ComparisonDirection Mirrored(ComparisonDirection direction);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_TRIP_COUNT_H_
