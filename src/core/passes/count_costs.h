// SPDX-License-Identifier: Apache-2.0
#ifndef PJRT_CORE_PASSES_COUNT_COSTS_H_
#define PJRT_CORE_PASSES_COUNT_COSTS_H_

#include "pjrt/ir/module.h"

namespace pjrt::ir {

// What a program of static shapes computes and must move, whatever device runs it.
struct Costs {
  double flops = 0;            // additions, comparisons, conversions and the like
  double transcendentals = 0;  // values of exp, sin, sqrt, power and the like
  double bytes_accessed = 0;   // of the arguments and the results
};

// Counts loops as one iteration and branches as if all were taken. Sorts, Fourier transforms and
// custom calls count as nothing.
Costs CountCosts(const Module& module);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_COUNT_COSTS_H_
