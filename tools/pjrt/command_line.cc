// SPDX-License-Identifier: Apache-2.0
//
// Each command with its options. The one source that includes CLI11: each that does takes seconds
// to compile.
#include "tools/pjrt/command_line.h"

#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "fmt/format.h"
#include "pjrt/ir/passes.h"
#include "pjrt/version.h"
#include "src/core/base/error.h"
#include "tools/pjrt/command.h"

namespace pjrt::tool {
namespace {

// What the command line asks for; returns the exit code.
using Action = std::function<int()>;

// The exit code of a command that reported what failed, and of one that returns it.
int ReportIfBad(int code) { return code; }
int ReportIfBad(const absl::Status& status) { return status.ok() ? kOk : Report(status); }

// Adds a command that has `action` run `run`, and gives what it is told, which lives as long.
template <typename Options, typename Result>
std::pair<CLI::App*, Options*> AddCommand(CLI::App* app, Action* action, const char* name,
                                          const char* help, Result (*run)(const Options&)) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app->add_subcommand(name, help);
  command->callback([=] { *action = [=] { return ReportIfBad(run(*options)); }; });
  return {command, options.get()};
}

// --threads, --device, --devices, --isa, --quiet.
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

void AddRun(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddCommand(app, action, "run", "Compile a program and execute it once", Run);
  command->add_option("program", options->program, "PROGRAM or WORKLOAD")->required();
  command
      ->add_option("--input", options->inputs,
                   "An input, in order, one option each: a .npy file, a literal such as 3.5 or "
                   "[[1,2],[3,4]], zeros, ones, iota, or random:SEED (floats -1..1, signed "
                   "integers -1 or 0, unsigned ones 0 or 1). A WORKLOAD has its own")
      ->allow_extra_args(false)
      ->type_name("X");
  command->add_option("--output-dir", options->output_dir,
                      "Write the results to out0.npy, out1.npy, ... in this folder");
  command->add_flag("--print", options->print, "Print the results even with --output-dir");
  AddCommonOptions(command, &options->common);
}

void AddBench(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddCommand(app, action, "bench",
                 "Measure workloads and check their outputs; a line of JSON each", Bench);
  command->add_option("workloads", options->workloads, "WORKLOAD...")
      ->required()
      ->type_name("WORKLOAD");
  command->add_option("--seconds", options->seconds, "Time to measure executions for (default: 1)")
      ->check(CLI::Range(0.0, 3600.0));
  command->add_flag("--no-check", options->no_check, "Don't compare the outputs");
  command->add_flag("--bytecode", options->bytecode,
                    "Compile program.mlirbc instead of program.mlir");
  AddCommonOptions(command, &options->common);
}

void AddCheck(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddCommand(app, action, "check",
                 "Run programs that test themselves with check.* ops or custom calls", CheckFiles);
  command->add_option("files", options->files, "PROGRAM...; every function without arguments runs")
      ->required()
      ->type_name("FILE");
  AddCommonOptions(command, &options->common);
}

void AddVerify(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddCommand(app, action, "verify", "Parse and verify programs", Verify);
  command->add_option("files", options->files, "PROGRAM...; chunks between `// -----` lines count")
      ->required()
      ->type_name("FILE");
  command->add_flag("--expect-diagnostics", options->expect_diagnostics,
                    "Chunks with expected-error comments must be rejected, the others accepted");
  command->add_flag("--quiet", options->quiet, "Print only failures and the last line");
}

void AddConvert(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddCommand(app, action, "convert", "Rewrite a program in another form", Convert);
  command->add_option("--to", options->to, "The form to write: text")
      ->required()
      ->check(CLI::IsMember({"text"}));
  command->add_option("input", options->input, "PROGRAM")->required()->type_name("IN");
  command->add_option("-o", options->output, "The file to write (default: stdout)")
      ->type_name("OUT");
}

void AddInspect(CLI::App* app, Action* action) {
  const auto [command, options] = AddCommand(
      app, action, "inspect", "Show the program as it is after the compiler's passes", Inspect);
  command->add_option("program", options->program, "PROGRAM")->required()->type_name("PROGRAM");
  std::string help = "Stop after this pass. In order: verify";
  for (const ir::Pass& pass : ir::StandardPasses()) absl::StrAppend(&help, ", ", pass.name);
  command->add_option("--after", options->after, help)->type_name("PASS");
  command->add_flag("--memory", options->memory,
                    "Show what memory the compiled program needs, too");
  AddCommonOptions(command, &options->common);
}

void AddInfo(CLI::App* app, Action* action) {
  const auto [command, options] =
      AddCommand(app, action, "info", "Print version, CPU, kernel level and devices", Info);
  AddCommonOptions(command, options);
}

void AddOps(CLI::App* app, Action* action) {
  const auto [command, options] = AddCommand(
      app, action, "ops", "Print, as Markdown, which ops run on which element types", Ops);
  command->add_flag("--reasons", options->reasons,
                    "Print instead a line for each combination that is invalid or refused");
  AddCommonOptions(command, &options->common);
}

}  // namespace

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
    AddRun(&app, &action);
    AddCheck(&app, &action);
    AddVerify(&app, &action);
    AddConvert(&app, &action);
    AddBench(&app, &action);
    AddInspect(&app, &action);
    AddInfo(&app, &action);
    AddOps(&app, &action);
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
