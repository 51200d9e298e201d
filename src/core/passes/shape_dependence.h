// SPDX-License-Identifier: Apache-2.0
#ifndef PJRT_CORE_PASSES_SHAPE_DEPENDENCE_H_
#define PJRT_CORE_PASSES_SHAPE_DEPENDENCE_H_

#include "pjrt/ir/module.h"

namespace pjrt::ir {

// Whether an op is an assertion about shapes: a custom call of the target "shape_assertion".
bool IsShapeAssertion(const Op& op);

// Some part of the type has a size that is not known.
bool IsDynamicType(Type type);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_SHAPE_DEPENDENCE_H_
