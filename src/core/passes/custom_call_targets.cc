// SPDX-License-Identifier: Apache-2.0
#include "src/core/passes/custom_call_targets.h"

#include "absl/strings/match.h"

namespace pjrt::ir {

absl::string_view TargetPlatform(absl::string_view target) {
  struct Row {
    absl::string_view prefix, platform;
  };
  // Longer prefixes first where one begins another.
  static constexpr Row kRows[] = {
      {"cusolver_", "cuda"},
      {"cusparse_", "cuda"},
      {"cublas_", "cuda"},
      {"cudnn_", "cuda"},
      {"cuhybrid_", "cuda"},
      {"cu_", "cuda"},
      {"cuda_", "cuda"},
      {"__cudnn$", "cuda"},
      {"__cublas$", "cuda"},
      {"__gpu$", "gpu"},
      {"triton_kernel_call", "gpu"},
      {"mosaic_gpu", "gpu"},
      {"xla_python_gpu", "gpu"},
      {"xla_ffi_python_gpu", "gpu"},
      {"hip", "rocm"},
      {"miopen_", "rocm"},
      {"oneapi", "oneapi"},
      {"tpu_custom_call", "tpu"},
      {"X64Combine", "tpu"},
      {"X64SplitLow", "tpu"},
      {"X64SplitHigh", "tpu"},
      {"xla_ffi_partitioned_python_gpu", "gpu"},
  };
  for (const Row& row : kRows) {
    if (absl::StartsWith(target, row.prefix)) return row.platform;
  }
  return {};
}

bool IsPythonCallback(absl::string_view target) {
  return absl::StartsWith(target, "xla_") && absl::StrContains(target, "python_") &&
         absl::EndsWith(target, "_callback");
}

bool IsPartitioning(absl::string_view target) {
  return absl::StartsWith(target, "SPMD") || target == "CustomSPMDPartitioning" ||
         absl::StartsWith(target, "xla.sdy.") || absl::StartsWith(target, "local_xla.sdy.") ||
         target == "ragged_all_to_all";
}

}  // namespace pjrt::ir
