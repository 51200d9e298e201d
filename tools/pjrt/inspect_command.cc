// SPDX-License-Identifier: Apache-2.0
//
// pjrt inspect: shows what the compiler makes of a program.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "fmt/format.h"
#include "pjrt/ir/passes.h"
#include "pjrt/ir/printer.h"
#include "pjrt/ir/verifier.h"
#include "pjrt/program.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/program_file.h"

namespace pjrt::tool {
namespace {

// The passes of the pipeline up to the one of that name, all of them for "", none for "verify".
absl::StatusOr<absl::Span<const ir::Pass>> PassesUpTo(absl::string_view name) {
  const absl::Span<const ir::Pass> passes = ir::StandardPasses();
  if (name.empty()) return passes;
  if (name == "verify") return passes.subspan(0, 0);
  for (size_t i = 0; i < passes.size(); ++i) {
    if (passes[i].name == name) return passes.subspan(0, i + 1);
  }
  return InvalidArgument("PJRT-T020", "--after: there is no pass '", Shorten(name),
                         "'; expected verify, ",
                         absl::StrJoin(passes, ", ", [](std::string* out, const ir::Pass& pass) {
                           absl::StrAppend(out, pass.name);
                         }));
}

absl::Status PrintMemory(const CommonOptions& options, std::unique_ptr<ir::Module> module) {
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtClient> client, MakeClient(options));
  PJRT_ASSIGN_OR_RETURN(const std::unique_ptr<PjRtLoadedExecutable> executable,
                        client->CompileAndLoad(PjRtProgram(std::move(module)), CompileOptions()));
  PJRT_ASSIGN_OR_RETURN(const CompiledMemoryStats stats, executable->GetCompiledMemoryStats());
  fmt::print(
      "// bytes: arguments {}, results {}, of these in arguments' memory {}, temporaries {}, "
      "constants {}, peak {}\n",
      stats.argument_size_in_bytes, stats.output_size_in_bytes, stats.alias_size_in_bytes,
      stats.temp_size_in_bytes, stats.generated_code_size_in_bytes, stats.peak_memory_in_bytes);
  return absl::OkStatus();
}

}  // namespace

absl::Status Inspect(const InspectOptions& options) {
  PJRT_ASSIGN_OR_RETURN(const absl::Span<const ir::Pass> passes, PassesUpTo(options.after));
  PJRT_ASSIGN_OR_RETURN(const ProgramFile program, ReadProgram(options.program));
  PJRT_ASSIGN_OR_RETURN(std::unique_ptr<ir::Module> module,
                        ParseProgram(program.name, program.bytes));
  PJRT_RETURN_IF_ERROR(ir::VerifyModule(*module));
  std::unique_ptr<ir::Module> original;
  if (options.memory) original = module->Clone();
  PJRT_RETURN_IF_ERROR(ir::RunPasses(module.get(), passes));
  std::string text = ir::PrintModule(*module);
  if (text.empty() || text.back() != '\n') text += '\n';
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (options.memory) PJRT_RETURN_IF_ERROR(PrintMemory(options.common, std::move(original)));
  return absl::OkStatus();
}

}  // namespace pjrt::tool
