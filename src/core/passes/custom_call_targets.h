// SPDX-License-Identifier: Apache-2.0
//
// What the names of custom calls say.
#ifndef PJRT_CORE_PASSES_CUSTOM_CALL_TARGETS_H_
#define PJRT_CORE_PASSES_CUSTOM_CALL_TARGETS_H_

#include "absl/strings/string_view.h"

namespace pjrt::ir {

// The platform that a program with a call of this name was lowered for: "cuda", "rocm", "gpu"
// (either), "oneapi", "tpu"; empty when the name tells nothing.
absl::string_view TargetPlatform(absl::string_view target);

// True for a call back into the Python process that made the program: of a function that is not
// part of it.
bool IsPythonCallback(absl::string_view target);

// True for a call that divides values among devices, or asks the exporting process how to.
bool IsPartitioning(absl::string_view target);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_CUSTOM_CALL_TARGETS_H_
