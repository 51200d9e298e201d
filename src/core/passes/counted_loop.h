// SPDX-License-Identifier: Apache-2.0
//
// Writing a loop that runs a number of times known beforehand.
#ifndef PJRT_CORE_PASSES_COUNTED_LOOP_H_
#define PJRT_CORE_PASSES_COUNTED_LOOP_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "src/core/passes/emitter.h"

namespace pjrt::ir {

using ValueList = std::vector<Value*>;

// What a loop does at each count: takes what is carried, returns its next values.
using LoopBody = std::function<ValueList(Emitter& emit, Term count, const ValueList& carried)>;

// A while that counts from 0 to `trips` (s64, rank 0). Returns what is carried at the end.
ValueList CountedLoop(Emitter& emit, int64_t trips, const ValueList& inits, const LoopBody& body);

// x[..., at, ...] without the dimension.
Term SliceAt(Term x, Term at, int64_t dimension);
// x with x[..., at, ...] set.
Term UpdateAt(Term x, Term slice, Term at, int64_t dimension);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_COUNTED_LOOP_H_
