// SPDX-License-Identifier: Apache-2.0
//
// pjrt bench: measures workloads and checks their outputs. One line of JSON each.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"
#include "pjrt/ir/verifier.h"
#include "pjrt/program.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/execution.h"
#include "tools/pjrt/measure.h"
#include "tools/pjrt/program_file.h"

namespace pjrt::tool {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Three digits after the point are a nanosecond of a time in microseconds.
double Rounded(double value) { return std::round(value * 1000) / 1000; }

// Fills `line`. `wrong` is set when the outputs aren't right.
absl::Status BenchWorkload(const BenchOptions& options, PjRtClient* client,
                           const std::string& folder, OrderedJson* line, bool* wrong) {
  if (!IsFolder(folder)) {
    return InvalidArgument("PJRT-T011", folder, ": is no folder; expected a workload");
  }
  PJRT_ASSIGN_OR_RETURN(const ProgramFile program, ReadProgram(folder, options.bytecode));
  const Workload& workload = *program.workload;
  (*line)["name"] = workload.name;
  if (workload.parse_only) {
    PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<ir::Module> module,
                          ParseProgram(program.name, program.bytes));
    PJRT_RETURN_IF_ERROR(ir::VerifyModule(*module));
    (*line)["ok"] = true;
    (*line)["max_err"] = 0;
    return absl::OkStatus();
  }
  if (workload.partitions > client->addressable_device_count()) {
    return InvalidArgument("PJRT-T015", folder, ": is for ", workload.partitions,
                           " devices; expected --devices ", workload.partitions);
  }
  CompileOptions compile_options;
  compile_options.executable_build_options.set_num_partitions(workload.partitions);
  const auto compile = [&] { return client->Compile(PjRtProgram(program.bytes), compile_options); };

  PJRT_ASSIGN_OR_RETURN(const CompileTimes compiled, MeasureCompile(compile));
  PJRT_ASSIGN_OR_RETURN(std::vector<Literal> inputs, MakeInputs(workload));
  PJRT_ASSIGN_OR_RETURN(Measurement measurement,
                        Measurement::Start(client, compiled.executable.get(), std::move(inputs)));
  if (options.no_check) {
    (*line)["ok"] = nullptr;
    (*line)["max_err"] = nullptr;
  } else {
    PJRT_ASSIGN_OR_RETURN(const auto results, ToHost(measurement.first_outputs()));
    std::vector<const LiteralBase*> views;
    for (const std::shared_ptr<Literal>& result : results) views.push_back(result.get());
    PJRT_ASSIGN_OR_RETURN(const Verdict verdict, CheckOutputs(workload, views));
    (*line)["ok"] = verdict.ok;
    (*line)["max_err"] =
        std::isfinite(verdict.max_error) ? OrderedJson(verdict.max_error) : OrderedJson(nullptr);
    if (!verdict.ok) {
      *wrong = true;
      (*line)["error"] = "the outputs are wrong";
      (*line)["mismatches"] = verdict.mismatches;
      (*line)["first_mismatch"] = verdict.first_mismatch;
    }
  }
  measurement.DropFirstOutputs();
  PJRT_ASSIGN_OR_RETURN(const RunTimes times, measurement.Run(options.seconds));
  (*line)["compile_ms"] = Rounded(compiled.median_us / 1000);
  (*line)["compile_first_ms"] = Rounded(compiled.first_us / 1000);
  (*line)["first_run_us"] = Rounded(measurement.first_run_us());
  (*line)["run_us"] = Rounded(times.median_us);
  (*line)["run_min_us"] = Rounded(times.least_us);
  if (times.pipeline_us > 0) (*line)["pipeline_us"] = Rounded(times.pipeline_us);
  (*line)["runs"] = times.runs;
  return absl::OkStatus();
}

absl::Status BenchGuarded(const BenchOptions& options, PjRtClient* client,
                          const std::string& folder, OrderedJson* line, bool* wrong) {
  try {
    return BenchWorkload(options, client, folder, line, wrong);
  } catch (const std::bad_alloc&) {
    return ResourceExhausted("PJRT-T002", folder, ": out of memory");
  }
}

}  // namespace

int Bench(const BenchOptions& options) {
  const absl::StatusOr<std::unique_ptr<PjRtClient>> client = MakeClient(options.common);
  if (!client.ok()) return Report(client.status());
  int exit_code = kOk;
  for (std::string folder : options.workloads) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    OrderedJson line = {{"name", std::filesystem::path(folder).filename().string()},
                        {"runtime", "pjrt"}};
    bool wrong = false;
    const absl::Status status = BenchGuarded(options, client->get(), folder, &line, &wrong);
    if (!status.ok()) {
      line = {{"name", line["name"]}, {"runtime", "pjrt"}, {"ok", false}};
      line["error"] = std::string(status.message());
      if (exit_code == kOk) exit_code = ExitCodeOf(status);
    }
    if (wrong) exit_code = kFailed;
    std::printf("%s\n", line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace).c_str());
    std::fflush(stdout);
  }
  return exit_code;
}

}  // namespace pjrt::tool
