// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/command.h"

#include <cstdio>
#include <exception>
#include <new>
#include <utility>

#include "fmt/format.h"
#include "pjrt/cpu/cpu_client.h"
#include "pjrt/version.h"
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

void AddCommonOptions(CLI::App* command, CommonOptions* options) {
  command->add_option("--threads", options->threads, "Threads that compute; 0: one a core")
      ->check(CLI::Range(0, 4096));
  command->add_option("--device", options->device, "The platform to run on (default: cpu)");
  command->add_option("--devices", options->devices, "CPU devices in the client")
      ->check(CLI::Range(1, 2048));
  command->add_option("--isa", options->isa,
                      "The kernel level to compute with: baseline, avx2, avx512 or neon");
  command->add_flag("--quiet", options->quiet, "Print only what was asked for and what failed");
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

int Main(int argc, const char* const* argv) {
  try {
    CLI::App app("Runs, checks and measures StableHLO programs.", "pjrt");
    app.set_version_flag("--version", fmt::format("pjrt {}", LibraryVersionString()));
    app.require_subcommand(1);
    app.failure_message([&app](const CLI::App* at, const CLI::Error& error) {
      const bool is_unknown =
          at == &app && app.get_subcommands().empty() && !app.remaining().empty();
      return is_unknown ? fmt::format("pjrt: there is no command '{}'; pjrt --help lists them\n",
                                      app.remaining().front())
                        : CLI::FailureMessage::simple(at, error);
    });
    app.footer(
        "PROGRAM is a file of StableHLO text, or - for stdin, or a WORKLOAD: a folder with\n"
        "workload.json and program.mlir.\n"
        "Exit status: 0 it worked; 1 a check failed; 2 bad usage or bad input; 3 the program is\n"
        "valid but not supported.");
    Action action;
    AddRunCommand(&app, &action);
    AddCheckCommand(&app, &action);
    AddVerifyCommand(&app, &action);
    AddConvertCommand(&app, &action);
    AddBenchCommand(&app, &action);
    AddInspectCommand(&app, &action);
    AddInfoCommand(&app, &action);
    AddOpsCommand(&app, &action);
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error) == 0 ? kOk : kBadInput;
    }
    return action();
  } catch (const std::bad_alloc&) {
    return Report(ResourceExhausted("PJRT-T002", "out of memory"));
  } catch (const std::exception& error) {
    return Report(Internal("PJRT-T002", error.what()));
  }
}

}  // namespace pjrt::tool
