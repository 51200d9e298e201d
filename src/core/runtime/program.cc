// SPDX-License-Identifier: Apache-2.0
#include "pjrt/program.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/parser.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"

namespace pjrt {
namespace {

// The magic number that begins every MLIR bytecode file.
constexpr absl::string_view kBytecodeMagic("ML\xefR", 4);

// Drops blanks, `//` comments and HLO text's `/* */` comments from the front.
absl::string_view SkipBlanks(absl::string_view text) {
  while (true) {
    text = absl::StripLeadingAsciiWhitespace(text);
    size_t end;
    if (absl::StartsWith(text, "//")) {
      end = text.find('\n');
    } else if (absl::StartsWith(text, "/*")) {
      end = text.find("*/", 2);
      if (end != absl::string_view::npos) ++end;
    } else {
      return text;
    }
    if (end == absl::string_view::npos) return absl::string_view();
    text.remove_prefix(end + 1);
  }
}

bool LooksLikeText(absl::string_view bytes) {
  for (char c : bytes.substr(0, 256)) {
    if (static_cast<unsigned char>(c) < 0x20 && !absl::ascii_isspace(c)) return false;
  }
  return true;
}

}  // namespace

absl::string_view ProgramFormatName(ProgramFormat format) {
  switch (format) {
    case ProgramFormat::kAuto:
      return "auto";
    case ProgramFormat::kText:
      return "text";
    case ProgramFormat::kBytecode:
      return "bytecode";
    case ProgramFormat::kHloText:
      return "hlo-text";
    case ProgramFormat::kHloProto:
      return "hlo-proto";
    case ProgramFormat::kModule:
      return "module";
  }
  return "unknown";
}

absl::StatusOr<ProgramFormat> DetectProgramFormat(absl::string_view bytes) {
  if (absl::StartsWith(bytes, kBytecodeMagic)) return ProgramFormat::kBytecode;
  if (LooksLikeText(bytes)) {
    const absl::string_view start = SkipBlanks(bytes);
    if (start.empty()) return InvalidArgument("PJRT-R020", "the program is empty");
    return absl::StartsWith(start, "HloModule") ? ProgramFormat::kHloText : ProgramFormat::kText;
  }
  // A protocol buffer whose first field is a message or string, numbers 1 to 15.
  const auto tag = static_cast<unsigned char>(bytes.front());
  if ((tag & 7) == 2 && tag >= 8 && tag < 128) return ProgramFormat::kHloProto;
  return InvalidArgument("PJRT-R020",
                         "the program's first bytes are of no known format; expected StableHLO "
                         "text, MLIR bytecode, HLO text or an HLO protocol buffer");
}

PjRtProgram::PjRtProgram(std::string bytes, ProgramFormat format)
    : format_(format), bytes_(std::move(bytes)) {}
PjRtProgram::PjRtProgram(const char* text, ProgramFormat format) : format_(format), bytes_(text) {}
PjRtProgram::PjRtProgram(absl::string_view bytes, ProgramFormat format)
    : format_(format), bytes_(bytes) {}
PjRtProgram::PjRtProgram(std::unique_ptr<ir::Module> module)
    : format_(ProgramFormat::kModule), module_(std::move(module)) {}
PjRtProgram::PjRtProgram(const ir::Module& module) : PjRtProgram(module.Clone()) {}
PjRtProgram::PjRtProgram(PjRtProgram&&) noexcept = default;
PjRtProgram& PjRtProgram::operator=(PjRtProgram&&) noexcept = default;
PjRtProgram::~PjRtProgram() = default;

absl::StatusOr<std::unique_ptr<ir::Module>> PjRtProgram::TakeModule() && {
  ProgramFormat format = format_;
  if (format == ProgramFormat::kModule) {
    if (module_ == nullptr) {
      return InvalidArgument("PJRT-R020",
                             "the program has no module: none was given, or it was taken");
    }
    return std::move(module_);
  }
  if (format == ProgramFormat::kAuto) {
    PJRT_ASSIGN_OR_RETURN(format, DetectProgramFormat(bytes_));
  }
  if (format == ProgramFormat::kText) return ir::ParseModule(bytes_);
  return Unimplemented("PJRT-R021", "programs of format ", ProgramFormatName(format),
                       " can't be read by this build; expected StableHLO text");
}

}  // namespace pjrt
