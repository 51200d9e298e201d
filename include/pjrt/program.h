// SPDX-License-Identifier: Apache-2.0
//
// PjRtProgram: a program on its way to a compiler. Spec: PJRT C++ API, section 1.9.
#ifndef PJRT_PROGRAM_H_
#define PJRT_PROGRAM_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pjrt {

namespace ir {
class Module;
}  // namespace ir

// In which form a program's bytes are.
enum class ProgramFormat {
  kAuto,      // find out from the first bytes
  kText,      // StableHLO in MLIR's text
  kBytecode,  // StableHLO or VHLO in MLIR's bytecode, such as a portable artifact
  kHloText,   // XLA's HLO text
  kHloProto,  // XLA's HloModuleProto or HloProto
  kModule,    // not bytes: an ir::Module
};

// "text", "bytecode", ...
absl::string_view ProgramFormatName(ProgramFormat format);

// Which format the bytes are in, by their first few: never kAuto or kModule. Looks only, so it is
// no promise that the bytes are well-formed. INVALID_ARGUMENT when they look like none of the
// formats.
absl::StatusOr<ProgramFormat> DetectProgramFormat(absl::string_view bytes);

// A program: bytes with their format, or a module in memory. Move-only; owns what it holds. Nothing
// is parsed until TakeModule, so making one never fails.
//
//   auto executable = client->Compile(PjRtProgram(text), CompileOptions());
class PjRtProgram {
 public:
  // Takes the bytes. The constructors from text are implicit, so that text can be passed where a
  // program is wanted.
  PjRtProgram(std::string bytes, ProgramFormat format = ProgramFormat::kAuto);        // NOLINT
  PjRtProgram(const char* text, ProgramFormat format = ProgramFormat::kAuto);         // NOLINT
  PjRtProgram(absl::string_view bytes, ProgramFormat format = ProgramFormat::kAuto);  // NOLINT
  // Takes the module; it must not be null.
  PjRtProgram(std::unique_ptr<ir::Module> module);  // NOLINT
  // Takes a copy of the module.
  explicit PjRtProgram(const ir::Module& module);

  PjRtProgram(PjRtProgram&&) noexcept;
  PjRtProgram& operator=(PjRtProgram&&) noexcept;
  ~PjRtProgram();

  ProgramFormat format() const { return format_; }
  // The bytes; empty for kModule. Valid as long as the object.
  absl::string_view bytes() const { return bytes_; }
  // The module; null unless format() is kModule.
  const ir::Module* module() const { return module_.get(); }

  // The program as a module: parses the bytes, or gives the module away. May be called once.
  // INVALID_ARGUMENT with line and column for a program that can't be read; UNIMPLEMENTED for a
  // format that this build doesn't read.
  absl::StatusOr<std::unique_ptr<ir::Module>> TakeModule() &&;

 private:
  ProgramFormat format_;
  std::string bytes_;
  std::unique_ptr<ir::Module> module_;
};

}  // namespace pjrt

#endif  // PJRT_PROGRAM_H_
