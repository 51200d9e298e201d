// SPDX-License-Identifier: Apache-2.0
//
// The commonest bodies of reductions, windows and scatters.
#ifndef PJRT_CORE_IR_REDUCER_H_
#define PJRT_CORE_IR_REDUCER_H_

#include "pjrt/ir/module.h"

namespace pjrt::ir {

// The op of a body that returns add, multiply, maximum, minimum, and, or or xor of its two
// arguments, in either order, and does nothing else; null for any other body.
const Op* ReducerOp(const Block& body);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_REDUCER_H_
