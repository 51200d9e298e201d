// SPDX-License-Identifier: Apache-2.0
//
// The custom calls of linear algebra that exported programs carry: lapack_spotrf_ffi and its kin in
// all their spellings, on the kernels of linalg_*.h.
#ifndef PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_H_
#define PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_H_

#include "absl/strings/string_view.h"
#include "pjrt/cpu/custom_call.h"
#include "src/cpu_device/kernels/kernel_level.h"

namespace pjrt::cpu {

// Null for names that are none of theirs. `kernels` must outlive the factory's kernels.
custom_call::Factory FindLapack(absl::string_view target, const Kernels& kernels);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_CUSTOM_CALLS_LAPACK_H_
