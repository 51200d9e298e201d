// SPDX-License-Identifier: Apache-2.0
//
// The attribute #complex.number<:f32 1.0, 2.0> of MLIR, which the parser keeps as text.
#ifndef PJRT_CORE_IR_COMPLEX_NUMBER_H_
#define PJRT_CORE_IR_COMPLEX_NUMBER_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "pjrt/ir/attributes.h"

namespace pjrt::ir {

struct ComplexNumber {
  absl::string_view part_type;  // "f32"; points into the attribute
  double real = 0;
  double imaginary = 0;
};

// Nothing for any other attribute.
std::optional<ComplexNumber> ReadComplexNumber(Attribute attr);

}  // namespace pjrt::ir

#endif  // PJRT_CORE_IR_COMPLEX_NUMBER_H_
