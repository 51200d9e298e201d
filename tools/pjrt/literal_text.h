// SPDX-License-Identifier: Apache-2.0
//
// Arrays written on the command line: `3.5`, `[[1,2],[3,4]]`, `[true,false]`, `(1,-2)` (complex).
#ifndef PJRT_TOOLS_PJRT_LITERAL_TEXT_H_
#define PJRT_TOOLS_PJRT_LITERAL_TEXT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/literal.h"
#include "pjrt/base/shape.h"

namespace pjrt::tool {

// Whether an array of these sizes is one of `shape`: of any size, up to the bound if there is one,
// where that is dynamic.
bool HasSizesOf(absl::Span<const int64_t> sizes, const Shape& shape);

// Reads an array of `shape`; where that is dynamic, the text says the size. INVALID_ARGUMENT: text
// that is no array [PJRT-T004]; another shape, or a value that the element type doesn't have, such
// as 3.5 or 300 for s8 [PJRT-T005]. Floats are rounded to the type.
absl::StatusOr<Literal> ParseLiteralText(absl::string_view text, const Shape& shape);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_LITERAL_TEXT_H_
