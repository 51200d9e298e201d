// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/command.h"

#include <cstdio>
#include <utility>

#include "pjrt/cpu/cpu_client.h"
#include "src/core/base/error.h"

namespace pjrt::tool {

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kOk;
  return status.code() == absl::StatusCode::kUnimplemented ? kUnsupported : kBadInput;
}

int Report(const absl::Status& status) {
  const std::string message(status.message());
  std::fprintf(stderr, "pjrt: %s%s", message.c_str(),
               !message.empty() && message.back() == '\n' ? "" : "\n");
  return ExitCodeOf(status);
}

absl::StatusOr<std::unique_ptr<PjRtClient>> MakeClient(const CommonOptions& options) {
  if (options.device != "cpu") {
    return InvalidArgument("PJRT-T001", "--device: there is no platform '", Shorten(options.device),
                           "'; expected cpu");
  }
  CpuClientOptions cpu;
  cpu.threads = options.threads;
  cpu.cpu_device_count = options.devices;
  cpu.kernel_level = options.isa;
  return GetCpuClient(std::move(cpu));
}

}  // namespace pjrt::tool
