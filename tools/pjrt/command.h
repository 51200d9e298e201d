// SPDX-License-Identifier: Apache-2.0
//
// The commands of `pjrt`, and what they share: exit codes, options, and the client.
#ifndef PJRT_TOOLS_PJRT_COMMAND_H_
#define PJRT_TOOLS_PJRT_COMMAND_H_

#include <memory>
#include <string>
#include <vector>

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

// The commands, and what each is told. They return the exit code, or the status that has one.

struct RunOptions {
  CommonOptions common;
  std::string program;
  std::vector<std::string> inputs;
  std::string output_dir;  // empty: results are printed
  bool print = false;      // even so
};
absl::Status Run(const RunOptions& options);

struct BenchOptions {
  CommonOptions common;
  std::vector<std::string> workloads;
  double seconds = 1;
  bool no_check = false;
  bool bytecode = false;
};
int Bench(const BenchOptions& options);

struct CheckOptions {
  CommonOptions common;
  std::vector<std::string> files;
};
int CheckFiles(const CheckOptions& options);

struct VerifyOptions {
  std::vector<std::string> files;
  bool expect_diagnostics = false;
  bool quiet = false;
};
int Verify(const VerifyOptions& options);

struct ConvertOptions {
  std::string to;  // "text", the one form that there is
  std::string input;
  std::string output;  // empty: stdout
};
absl::Status Convert(const ConvertOptions& options);

struct InspectOptions {
  CommonOptions common;
  std::string program;
  std::string after;  // a pass; empty: all
  bool memory = false;
};
absl::Status Inspect(const InspectOptions& options);

int Info(const CommonOptions& options);

struct OpsOptions {
  CommonOptions common;
  bool reasons = false;
};
int Ops(const OpsOptions& options);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_COMMAND_H_
