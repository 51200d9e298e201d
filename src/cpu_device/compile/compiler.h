// SPDX-License-Identifier: Apache-2.0
//
// Compiles a module to a CPU program: passes, lowering, plan.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_COMPILER_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_COMPILER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "pjrt/backend/device_program.h"
#include "pjrt/compile_options.h"
#include "pjrt/ir/module.h"
#include "src/cpu_device/compile/lowering.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/run/plan.h"

namespace pjrt::cpu {

struct CompiledModule {
  Plan plan;
  ProgramInfo info;
};

// `module` has passed the verifier. UNIMPLEMENTED for ops, types, layouts and options that the
// device lacks; INVALID_ARGUMENT for a module without an entry function.
absl::StatusOr<CompiledModule> CompileModule(std::unique_ptr<ir::Module> module,
                                             const CompileOptions& options, const Kernels& kernels,
                                             const LoopEngine& engine,
                                             const LoweringOptions& lowering_options);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_COMPILER_H_
