// SPDX-License-Identifier: Apache-2.0
//
// A cursor over short one-line texts: shapes, layouts, headers of .npy files.
#ifndef PJRT_CORE_BASE_TEXT_SCANNER_H_
#define PJRT_CORE_BASE_TEXT_SCANNER_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace pjrt {

class TextScanner {
 public:
  // `text` must outlive the scanner.
  explicit TextScanner(absl::string_view text) : text_(text) {}

  // Each of these first skips blanks and /* comments */.

  // True, and the cursor moves on, when `c` (`token`) comes next.
  bool Consume(char c);
  bool Consume(absl::string_view token);
  // What comes next; '\0' at the end.
  char Peek();
  bool AtEnd();
  // Letters, digits and underscores; empty when none comes next.
  absl::string_view ConsumeWord();
  // A decimal number with an optional minus. Nothing moves when there is none or it does not fit.
  std::optional<int64_t> ConsumeInteger();
  // A Python or C string in single or double quotes, without escapes; the view is what is inside.
  std::optional<absl::string_view> ConsumeQuoted();

  size_t position() const { return position_; }
  absl::string_view text() const { return text_; }

  // INVALID_ARGUMENT: `[id] WHAT "TEXT", character 7: expected EXPECTED, found "x"`. Long texts are
  // cut.
  absl::Status Error(absl::string_view id, absl::string_view what, absl::string_view expected);

 private:
  void SkipBlanks();

  absl::string_view text_;
  size_t position_ = 0;
};

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_TEXT_SCANNER_H_
