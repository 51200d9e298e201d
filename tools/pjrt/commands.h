// SPDX-License-Identifier: Apache-2.0
//
// The commands of `pjrt` and what each is told. The command line that says so is in
// command_line.cc.
#ifndef PJRT_TOOLS_PJRT_COMMANDS_H_
#define PJRT_TOOLS_PJRT_COMMANDS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/pjrt/command.h"

namespace pjrt::tool {

// A command returns the exit code, or the status that has one.

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

#endif  // PJRT_TOOLS_PJRT_COMMANDS_H_
