// SPDX-License-Identifier: Apache-2.0
//
// What the compiler says of a program that it cannot run.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_DIAGNOSTICS_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_DIAGNOSTICS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "pjrt/ir/module.h"

namespace pjrt::cpu {

// "name:line:column: 'stablehlo.op' (tensor<..>, ..) -> tensor<..>"
std::string Place(const ir::Op& op);

// UNIMPLEMENTED [PJRT-C003] with place, types and reason.
absl::Status UnsupportedOp(const ir::Op& op, absl::string_view reason);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_DIAGNOSTICS_H_
