// SPDX-License-Identifier: Apache-2.0
//
// PROGRAM on the command line: a file, stdin, or a workload's folder.
#ifndef PJRT_TOOLS_PJRT_PROGRAM_FILE_H_
#define PJRT_TOOLS_PJRT_PROGRAM_FILE_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/base/shape.h"
#include "pjrt/ir/module.h"
#include "tools/pjrt/workload.h"

namespace pjrt::tool {

// The bytes of a file, or of stdin for "-". NOT_FOUND [PJRT-T006] for what can't be opened,
// INVALID_ARGUMENT [PJRT-T007] for folders, devices and more than 4 GiB.
absl::StatusOr<std::string> ReadInputFile(const std::string& path);

// OK, or UNKNOWN [PJRT-T008] when the file can't be written.
absl::Status WriteOutputFile(const std::string& path, absl::string_view bytes);

bool IsFolder(const std::string& path);

struct ProgramFile {
  std::string name;  // for messages: "-" is "<stdin>"
  std::string bytes;
  std::optional<Workload> workload;  // when the path is a folder
};

// Reads PROGRAM. Of a workload's folder program.mlir, or program.mlirbc when `bytecode`.
absl::StatusOr<ProgramFile> ReadProgram(const std::string& path, bool bytecode = false);

// The program as a module, not yet verified. Messages name the file, line and column.
absl::StatusOr<std::unique_ptr<ir::Module>> ParseProgram(absl::string_view name,
                                                         absl::string_view bytes);

// The same of each chunk of a file of text. Lines count from the file's first; a chunk of nothing
// but comments is an empty module. A program that isn't text is one chunk.
std::vector<absl::StatusOr<std::unique_ptr<ir::Module>>> ParseChunks(const ProgramFile& program);

// What the function that runs takes, dynamic dimensions included; stored integers for quantized
// types. INVALID_ARGUMENT [PJRT-T009] without such a function, UNIMPLEMENTED [PJRT-T010] for
// arguments that no array can be made for: tokens, tuples.
absl::StatusOr<std::vector<Shape>> ParameterShapes(const ir::Module& module);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_PROGRAM_FILE_H_
