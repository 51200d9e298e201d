// SPDX-License-Identifier: Apache-2.0
//
// Checks an op, or what is to become one, against its row of the op table.
#ifndef PJRT_CORE_IR_ROW_CHECKS_H_
#define PJRT_CORE_IR_ROW_CHECKS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "pjrt/ir/op_set.h"

namespace pjrt::ir {

// Operands, attributes and the number of regions.
absl::Status CheckInputs(const OpInfo& info, const InferInput& in);
// An attribute of an op, null when it has none.
absl::Status CheckAttribute(const AttrSpec& spec, Attribute attr);
// The number of results and their types.
absl::Status CheckResults(const OpInfo& info, absl::Span<const Type> results,
                          Attribute segment_sizes);
// Declared results against inferred ones.
absl::Status CheckInferred(const OpInfo& info, absl::Span<const Type> inferred,
                           absl::Span<const Type> declared);

// What a tensor type must keep by itself. Other types pass.
// One bound a dimension, on dynamic dimensions only.
absl::Status CheckBounds(Type type);
// Besides, zero points that can be stored, and as many scales as its quantized elements need.
absl::Status CheckTensor(Type type);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_ROW_CHECKS_H_
