// SPDX-License-Identifier: Apache-2.0
//
// Reading a layout in the middle of another text.
#ifndef PJRT_CORE_BASE_LAYOUT_PARSER_H_
#define PJRT_CORE_BASE_LAYOUT_PARSER_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/base/layout.h"
#include "src/core/base/text_scanner.h"

namespace pjrt {

// Reads `{...}` at the cursor and leaves the cursor behind it. Errors have the given id and say
// what `what` is read.
absl::StatusOr<Layout> ParseLayout(TextScanner& scanner, absl::string_view id,
                                   absl::string_view what);

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_LAYOUT_PARSER_H_
