// SPDX-License-Identifier: Apache-2.0
//
// Makers of error statuses. Every message of the library begins with a stable id, so that a user
// can look it up in docs/errors.md and a program can tell two errors with the same code apart:
//
//   return InvalidArgument("PJRT-B005", "dimension ", i, " is ", size, "; expected at least 0");
//
// gives INVALID_ARGUMENT with the message "[PJRT-B005] dimension 1 is -4; expected at least 0". The
// letter names the area: B base values, P parser, I IR and builder, V verifier, R runtime, C
// compilation on a device, K custom calls, T tool.
#ifndef PJRT_CORE_BASE_ERROR_H_
#define PJRT_CORE_BASE_ERROR_H_

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace pjrt {

// A status of the given code whose message is "[id] message". `code` must not be kOk.
absl::Status MakeError(absl::StatusCode code, absl::string_view id, absl::string_view message);

// The id at the start of an error's message ("PJRT-B005"), or an empty view when it has none. The
// view points into `status`.
absl::string_view ErrorId(const absl::Status& status);

// `status` with "context: " put after the id of its message; OK stays OK. Payloads are kept.
absl::Status WithContext(const absl::Status& status, absl::string_view context);

// `text`, or its beginning and "..." when it is longer than `longest` characters: for what comes
// from a user and may be of any length.
std::string Shorten(absl::string_view text, size_t longest = 200);

#define PJRT_DEFINE_ERROR_MAKER_(Name, code)                             \
  template <typename... Args>                                            \
  absl::Status Name(absl::string_view id, const Args&... args) {         \
    return MakeError(absl::StatusCode::code, id, absl::StrCat(args...)); \
  }

// Each takes the id and then anything that absl::StrCat takes.
PJRT_DEFINE_ERROR_MAKER_(InvalidArgument, kInvalidArgument)
PJRT_DEFINE_ERROR_MAKER_(Unimplemented, kUnimplemented)
PJRT_DEFINE_ERROR_MAKER_(FailedPrecondition, kFailedPrecondition)
PJRT_DEFINE_ERROR_MAKER_(Internal, kInternal)
PJRT_DEFINE_ERROR_MAKER_(NotFound, kNotFound)
PJRT_DEFINE_ERROR_MAKER_(ResourceExhausted, kResourceExhausted)
PJRT_DEFINE_ERROR_MAKER_(AlreadyExists, kAlreadyExists)
PJRT_DEFINE_ERROR_MAKER_(Cancelled, kCancelled)
PJRT_DEFINE_ERROR_MAKER_(Unknown, kUnknown)

#undef PJRT_DEFINE_ERROR_MAKER_

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_ERROR_H_
