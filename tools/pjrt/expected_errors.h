// SPDX-License-Identifier: Apache-2.0
//
// The comments by which a test file says that a program must be rejected, and where:
//
//   // expected-error@+1 {{operand and result types must match}}
#ifndef PJRT_TOOLS_PJRT_EXPECTED_ERRORS_H_
#define PJRT_TOOLS_PJRT_EXPECTED_ERRORS_H_

#include <cstddef>
#include <vector>

#include "absl/strings/string_view.h"

namespace pjrt::tool {

// The lines, counted from `first_line`, that the comments name: `@+N` or `@below` lines below the
// comment, `@-N` or `@above` above it, the comment's own without either. Empty when there is no
// comment.
std::vector<size_t> ExpectedErrorLines(absl::string_view text, size_t first_line);

// The line in a message that has "name:line:column" in it; 0 when it has none.
size_t LineOfMessage(absl::string_view message, absl::string_view name);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_EXPECTED_ERRORS_H_
