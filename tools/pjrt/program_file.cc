// SPDX-License-Identifier: Apache-2.0
#include "tools/pjrt/program_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "pjrt/ir/parser.h"
#include "pjrt/program.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/tensor_shape.h"

namespace pjrt::tool {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFileBytes = size_t{4} << 30;

absl::StatusOr<std::string> ReadStream(std::FILE* file, absl::string_view name) {
  std::string bytes;
  char buffer[1 << 16];
  size_t count;
  while ((count = std::fread(buffer, 1, sizeof(buffer), file)) > 0) {
    if (bytes.size() + count > kMaxFileBytes) {
      return InvalidArgument("PJRT-T007", name, ": larger than 4 GiB");
    }
    bytes.append(buffer, count);
  }
  if (std::ferror(file) != 0) {
    return Unknown("PJRT-T006", name, ": reading failed: ", std::strerror(errno));
  }
  return bytes;
}

// `first_line` is the number of the text's first line, for messages.
absl::StatusOr<std::unique_ptr<ir::Module>> ParseText(absl::string_view name,
                                                      absl::string_view text, size_t first_line) {
  ir::ParseOptions options;
  options.source_name = std::string(name);
  if (first_line == 1) return ir::ParseModule(text, options);
  return ir::ParseModule(absl::StrCat(std::string(first_line - 1, '\n'), text), options);
}

}  // namespace

bool IsFolder(const std::string& path) {
  std::error_code error;
  return path != "-" && fs::is_directory(path, error);
}

absl::StatusOr<std::string> ReadInputFile(const std::string& path) {
  if (path == "-") return ReadStream(stdin, "<stdin>");
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    return InvalidArgument("PJRT-T007", path, ": is a folder; expected a file");
  }
  if (fs::is_character_file(status) || fs::is_block_file(status)) {
    return InvalidArgument("PJRT-T007", path, ": is a device; expected a file");
  }
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) {
    return NotFound("PJRT-T006", path, ": can't be opened: ", std::strerror(errno));
  }
  absl::StatusOr<std::string> bytes = ReadStream(file, path);
  std::fclose(file);
  return bytes;
}

absl::Status WriteOutputFile(const std::string& path, absl::string_view bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  bool written =
      file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  const int error = errno;
  if (file != nullptr && std::fclose(file) != 0) written = false;
  if (written) return absl::OkStatus();
  return Unknown("PJRT-T008", path, ": can't be written: ", std::strerror(error));
}

absl::StatusOr<ProgramFile> ReadProgram(const std::string& path, bool bytecode) {
  ProgramFile program;
  std::string file = path;
  if (IsFolder(path)) {
    PJRT_ASSIGN_OR_RETURN(program.workload, ReadWorkload(path));
    file = (fs::path(path) / (bytecode ? "program.mlirbc" : "program.mlir")).string();
  }
  program.name = path == "-" ? "<stdin>" : file;
  PJRT_ASSIGN_OR_RETURN(program.bytes, ReadInputFile(file));
  return program;
}

absl::StatusOr<std::unique_ptr<ir::Module>> ParseProgram(absl::string_view name,
                                                         absl::string_view bytes) {
  const absl::StatusOr<ProgramFormat> format = DetectProgramFormat(bytes);
  if (!format.ok()) return WithContext(format.status(), name);
  if (*format == ProgramFormat::kText) return ParseText(name, bytes, /*first_line=*/1);
  absl::StatusOr<std::unique_ptr<ir::Module>> module = PjRtProgram(bytes, *format).TakeModule();
  if (!module.ok()) return WithContext(module.status(), name);
  return module;
}

std::vector<absl::StatusOr<std::unique_ptr<ir::Module>>> ParseChunks(const ProgramFile& program) {
  std::vector<absl::StatusOr<std::unique_ptr<ir::Module>>> modules;
  const std::vector<ir::Chunk> chunks = ir::SplitChunks(program.bytes);
  if (chunks.size() == 1) {
    modules.push_back(ParseProgram(program.name, program.bytes));
    return modules;
  }
  for (const ir::Chunk& chunk : chunks) {
    modules.push_back(ParseText(program.name, chunk.text, chunk.first_line));
  }
  return modules;
}

absl::StatusOr<std::vector<Shape>> ParameterShapes(const ir::Module& module) {
  const ir::Function entry = module.EntryFunction();
  if (!entry || entry.body() == nullptr) {
    return InvalidArgument("PJRT-T009", module.source_name(),
                           ": has no function to run; expected one called main, or just one "
                           "that is not private, with a body");
  }
  std::vector<Shape> shapes;
  for (const ir::Type type : entry.type().inputs()) {
    const Shape shape = type.IsTensor() ? TensorShape(type) : Shape();
    if (!shape.IsArray()) {
      return Unimplemented("PJRT-T010", module.source_name(), ": argument ", shapes.size(),
                           " has the type ", type.ToString(),
                           "; inputs can be made for tensors only");
    }
    shapes.push_back(shape);
  }
  return shapes;
}

}  // namespace pjrt::tool
