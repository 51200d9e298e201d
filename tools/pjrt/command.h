// SPDX-License-Identifier: Apache-2.0
//
// What the commands of `pjrt` share: exit codes, options, and the client.
#ifndef PJRT_TOOLS_PJRT_COMMAND_H_
#define PJRT_TOOLS_PJRT_COMMAND_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/client.h"

namespace pjrt::tool {

// The exit codes, which scripts rely on.
inline constexpr int kOk = 0;
inline constexpr int kFailed = 1;       // a check or test failed
inline constexpr int kBadInput = 2;     // bad usage or bad input; a message is on stderr
inline constexpr int kUnsupported = 3;  // the program is valid but not supported

// UNIMPLEMENTED is kUnsupported, every other error kBadInput.
int ExitCodeOf(const absl::Status& status);

// Prints "pjrt: message" on stderr and returns ExitCodeOf(status).
int Report(const absl::Status& status);

struct CommonOptions {
  int threads = 0;  // 0: one a core
  int devices = 1;
  std::string device = "cpu";
  std::string isa;  // empty: the best that the machine has
  bool quiet = false;
};

absl::StatusOr<std::unique_ptr<PjRtClient>> MakeClient(const CommonOptions& options);

// The whole of the tool: parses the command line and runs the command.
int Main(int argc, const char* const* argv);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_COMMAND_H_
