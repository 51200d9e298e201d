// SPDX-License-Identifier: Apache-2.0
//
// Small programs that show each op on each element type: what `pjrt ops` compiles to say what a
// device runs, and what tests execute.
#ifndef PJRT_TOOLS_PJRT_OP_PROGRAMS_H_
#define PJRT_TOOLS_PJRT_OP_PROGRAMS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/primitive_type.h"

namespace pjrt::tool {

// A program with a hole for an element type and for a size. In its text
//   $T  is the element type,
//   $P  the type of its parts when it is complex, else itself,
//   $S  tensor<$T>, $X  tensor<{n}x$T>,
//   {n}, {2n}, {n-1}, {3n+2}  are sizes made from the size n.
struct OpProgram {
  absl::string_view op;       // "stablehlo.abs"
  absl::string_view variant;  // what of the op it shows; "" for the plain use
  std::string text;           // of a function @main
  bool has_type = true;       // false: there is no $T in it
  int64_t large = 4096;       // a size n at which the work is worth splitting among threads
};

// All of them, in the order of the op table; most ops have one, some several.
const std::vector<OpProgram>& OpPrograms();

// The text for an element type ("f32") and a size of at least 4.
std::string ProgramText(const OpProgram& program, PrimitiveType type, int64_t size = 4);

// The element types of StableHLO, narrow ones first: i1, i2 ... complex<f64>.
absl::Span<const PrimitiveType> StableHloTypes();

// Families of programs, a file each, appended to `programs` in any order.
void AddElementwisePrograms(std::vector<OpProgram>* programs);
void AddShapePrograms(std::vector<OpProgram>* programs);
void AddComputePrograms(std::vector<OpProgram>* programs);
void AddControlPrograms(std::vector<OpProgram>* programs);
void AddChloPrograms(std::vector<OpProgram>* programs);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_OP_PROGRAMS_H_
