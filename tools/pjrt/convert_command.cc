// SPDX-License-Identifier: Apache-2.0
//
// pjrt convert: rewrites a program in another form.
#include <cstdio>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "pjrt/ir/printer.h"
#include "src/core/base/status_macros.h"
#include "tools/pjrt/command.h"
#include "tools/pjrt/program_file.h"

namespace pjrt::tool {

absl::Status Convert(const ConvertOptions& options) {
  PJRT_ASSIGN_OR_RETURN(const ProgramFile program, ReadProgram(options.input));
  std::string text;
  for (const absl::StatusOr<std::unique_ptr<ir::Module>>& module : ParseChunks(program)) {
    PJRT_RETURN_IF_ERROR(module.status());
    if (!text.empty()) text += "\n// -----\n\n";
    text += ir::PrintModule(**module);
    if (!absl::EndsWith(text, "\n")) text += "\n";
  }
  if (!options.output.empty()) return WriteOutputFile(options.output, text);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return absl::OkStatus();
}

}  // namespace pjrt::tool
