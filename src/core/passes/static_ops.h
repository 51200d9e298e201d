// SPDX-License-Identifier: Apache-2.0
//
// From ops whose shapes are given by operands to their static counterparts, for RefineShapes.
#ifndef PJRT_CORE_PASSES_STATIC_OPS_H_
#define PJRT_CORE_PASSES_STATIC_OPS_H_

#include <optional>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/op_attributes.h"

namespace pjrt::ir {

// The id of errors about shapes that contradict each other.
inline constexpr char kContradiction[] = "PJRT-I033";

using ShapeValues = absl::InlinedVector<Value*, 5>;

// The values that decide the shape of an op's results: output_shape of dynamic_reshape, and so on;
// of a custom call the operands that its target, or the attribute indices_of_shape_operands, says;
// of a real_dynamic_slice from `start` to `start + sizes` the sizes, wherever it starts. Empty for
// other ops. (get_dimension_size reads a type, no value.)
ShapeValues DecidingValues(const Op& op);

// Writes an op with shape operands, dynamic_* and the like, as a static one, whose result types may
// be more dynamic than inference says: for the caller to refine. The op itself must be one whose
// shape operands are constants, or whose result types are static: then the rest of its operands
// may be computed at run time.
//
// Returns the op that took its place, which is `op` itself where there is nothing to rewrite.
// INVALID_ARGUMENT [PJRT-I033] when the operands contradict the op's types.
absl::StatusOr<Op*> MakeStatic(Op* op);

// The integers of a constant, row-major; nullopt when `value` is none, or a large one.
std::optional<DimList> ConstantIntegers(const Value* value);

// static_values.cc: the forms for operands that are computed at run time. Each makes ops before
// `op` and returns the value that is the result's, which has `op`'s static result type. Null when
// the operands' element type is none that a device computes with (index).
Value* PadAtRunTime(Op* op, Value* operand, Value* padding, Value* low, Value* interior,
                    Type result);
Value* SliceAtRunTime(Op* op, Type result);
// real_dynamic_slice by strides of 1, with these sizes: as dynamic_slice does it, which moves the
// start so that the slice fits.
Value* SliceOfSizes(Op* op, absl::Span<const int64_t> sizes);
// dynamic_conv.
Value* ConvolveAtRunTime(Op* op, Type result);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_PASSES_STATIC_OPS_H_
