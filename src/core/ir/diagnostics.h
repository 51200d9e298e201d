// SPDX-License-Identifier: Apache-2.0
//
// Where in the program an error is.
#ifndef PJRT_CORE_IR_DIAGNOSTICS_H_
#define PJRT_CORE_IR_DIAGNOSTICS_H_

#include <string>

#include "absl/status/status.h"
#include "pjrt/ir/module.h"

namespace pjrt::ir {

// "model.mlir:12:3: 'stablehlo.add' op"; "in @main: 'stablehlo.add' op" for an op that was not read
// from text.
std::string DescribeOp(const Op& op);

// An error with the op's description put after its id; OK stays OK.
absl::Status AtOp(const Op& op, const absl::Status& status);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_DIAGNOSTICS_H_
