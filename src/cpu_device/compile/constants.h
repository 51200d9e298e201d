// SPDX-License-Identifier: Apache-2.0
//
// Constants of a program as arrays.
#ifndef PJRT_SRC_CPU_DEVICE_COMPILE_CONSTANTS_H_
#define PJRT_SRC_CPU_DEVICE_COMPILE_CONSTANTS_H_

#include "absl/status/statusor.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/ir/module.h"
#include "src/cpu_device/compile/array_view.h"
#include "src/cpu_device/compile/plan_builder.h"

namespace pjrt::cpu {

// One element of memory type `type` at `from` as its compute type at `to` (16 bytes).
void ToComputeType(PrimitiveType type, const char* from, char* to);

// The value of a stablehlo.constant: a splat where all elements are the same, else data in the
// plan's constants. UNIMPLEMENTED for types that no tensor computes with.
absl::StatusOr<ArrayView> ConstantView(const ir::Op& op, PlanBuilder* plan);
// Only when it is a splat: needs no plan.
std::optional<ArrayView> SplatConstant(const ir::Op& op);
// A constant, or one that is broadcast, of 32- or 64-bit integers that grow evenly along each dim,
// as passes leave a short stablehlo.iota.
std::optional<ArrayView> IotaConstant(const ir::Value& value);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_COMPILE_CONSTANTS_H_
