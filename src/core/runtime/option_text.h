// SPDX-License-Identifier: Apache-2.0
//
// The text form of options: a first line that names the kind, then lines `name=value`.
#ifndef PJRT_CORE_RUNTIME_OPTION_TEXT_H_
#define PJRT_CORE_RUNTIME_OPTION_TEXT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/compile_options.h"

namespace pjrt {

// Collects lines. Each Add writes nothing when the value is the default.
class OptionWriter {
 public:
  explicit OptionWriter(absl::string_view kind) : text_(kind) { text_.push_back('\n'); }

  void AddLine(absl::string_view name, absl::string_view value);
  void AddInt(absl::string_view name, int64_t value, int64_t otherwise);
  void AddBool(absl::string_view name, bool value, bool otherwise);
  void AddString(absl::string_view name, absl::string_view value);
  void AddInts(absl::string_view name, absl::Span<const int64_t> values);

  std::string Take() { return std::move(text_); }

 private:
  std::string text_;
};

// Calls `set` for each line with its name and value. INVALID_ARGUMENT, with the line's number, for
// text of another kind, lines without `=`, and errors of `set`.
absl::Status ReadOptions(
    absl::string_view text, absl::string_view kind,
    absl::FunctionRef<absl::Status(absl::string_view name, absl::string_view value)> set);

absl::Status ReadInt(absl::string_view value, int64_t* result);
absl::Status ReadInt(absl::string_view value, int* result);
absl::Status ReadBool(absl::string_view value, bool* result);
absl::Status ReadString(absl::string_view value, std::string* result);
absl::Status ReadInts(absl::string_view value, std::vector<int64_t>* result);

// "s:\"text\"", "b:true", "i:3", "d:0.5".
std::string OptionValueText(const OptionValue& value);
absl::StatusOr<OptionValue> ParseOptionValue(absl::string_view text);

// A text in quotes, escaped so that it stays on one line.
std::string QuotedText(absl::string_view text);

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_OPTION_TEXT_H_
