// SPDX-License-Identifier: Apache-2.0
#ifndef PJRT_CORE_PASSES_REFINE_CUSTOM_CALL_H_
#define PJRT_CORE_PASSES_REFINE_CUSTOM_CALL_H_

#include "absl/status/status.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_set.h"

namespace pjrt::ir {

// The result types of a custom call, where they follow: from the constants that the attribute
// indices_of_shape_operands points at, from what is known of its target (the stablehlo.dynamic_*
// ones; those that return their operands; ops of CHLO and MHLO by name). `out` stays empty where
// they don't. INVALID_ARGUMENT [PJRT-I033] for sizes that make no shape.
absl::Status InferCustomCall(const Op& op, TypeList* out);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_REFINE_CUSTOM_CALL_H_
