// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/error.h"

#include <string>

#include "absl/strings/cord.h"

namespace pjrt {

absl::Status MakeError(absl::StatusCode code, absl::string_view id, absl::string_view message) {
  return absl::Status(code, absl::StrCat("[", id, "] ", message));
}

absl::string_view ErrorId(const absl::Status& status) {
  absl::string_view message = status.message();
  if (message.substr(0, 6) != "[PJRT-") return {};
  const auto end = message.find(']');
  if (end == absl::string_view::npos) return {};
  return message.substr(1, end - 1);
}

std::string Shorten(absl::string_view text, size_t longest) {
  if (text.size() <= longest) return std::string(text);
  return absl::StrCat(text.substr(0, longest), "...");
}

absl::Status WithContext(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  const absl::string_view id = ErrorId(status);
  absl::string_view rest = status.message();
  std::string message;
  if (id.empty()) {
    message = absl::StrCat(context, ": ", rest);
  } else {
    rest.remove_prefix(id.size() + 2);
    if (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    message = absl::StrCat("[", id, "] ", context, ": ", rest);
  }
  absl::Status result(status.code(), message);
  status.ForEachPayload([&result](absl::string_view url, const absl::Cord& payload) {
    result.SetPayload(url, payload);
  });
  return result;
}

}  // namespace pjrt
