// SPDX-License-Identifier: Apache-2.0
#include "tests/support/shared_dir.h"

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

namespace pjrt::testing {
namespace {

std::optional<std::string> ExistingPath(const char* variable) {
  const char* value = std::getenv(variable);
  std::error_code error;
  if (value == nullptr || *value == '\0' || !std::filesystem::exists(value, error)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<std::string> SharedDir() { return ExistingPath("PJRT_SHARED_DIR"); }

std::optional<std::string> SourceDir() { return ExistingPath("PJRT_SOURCE_DIR"); }

std::optional<std::string> ToolPath() { return ExistingPath("PJRT_TOOL"); }

}  // namespace pjrt::testing
