// SPDX-License-Identifier: Apache-2.0
//
// The custom calls of programs that test themselves: check.expect_eq, check.expect_almost_eq,
// check.expect_close and check.eq.
#ifndef PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_CHECKS_H_
#define PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_CHECKS_H_

#include "absl/strings/string_view.h"
#include "pjrt/cpu/custom_call.h"

namespace pjrt::cpu {

// Null for other names. A check that does not hold fails the execution with INVALID_ARGUMENT
// [PJRT-B012], which names the first element that differs.
custom_call::Factory FindCheck(absl::string_view target);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_CHECKS_H_
