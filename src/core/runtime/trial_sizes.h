// SPDX-License-Identifier: Apache-2.0
//
// Sizes that a program with dynamic shapes takes: for trying whether it can be compiled, before
// anybody says for which sizes.
#ifndef PJRT_CORE_RUNTIME_TRIAL_SIZES_H_
#define PJRT_CORE_RUNTIME_TRIAL_SIZES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "pjrt/ir/module.h"

namespace pjrt {

// A size of a dimension, or a value, that an execution's arguments decide.
struct UnknownSize {
  int argument = 0;
  int64_t dimension = -1;  // -1: an element of the argument's value
  bool is_scalar = false;  // that value has but one
  int64_t most = 0;        // bound of the dimension
};

// Looks for a choice of all `unknown` sizes of a program, beginning with `start`, for which `left`
// returns 0. `left` says how much of the program contradicts a choice, or comes after what does.
// Returns the choice with the least left.
//
// Sizes that the program's assertions say are equal are chosen together; the values tried are small
// ones, what many numbers divide, and the sizes and integers that the program itself names. It is a
// search uphill with a bounded number of steps, which is the less the larger the program is.
std::vector<int64_t> FindSizes(const ir::Module& module, absl::Span<const UnknownSize> unknown,
                               std::vector<int64_t> start,
                               absl::FunctionRef<int64_t(absl::Span<const int64_t>)> left);

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_TRIAL_SIZES_H_
