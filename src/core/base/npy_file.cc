// SPDX-License-Identifier: Apache-2.0
//
// .npy files on disk.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "pjrt/base/npy.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"

namespace pjrt {
namespace {

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

absl::StatusOr<File> Open(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  if (file == nullptr) {
    return NotFound("PJRT-B021", "cannot open ", path, ": ", std::strerror(errno));
  }
  return file;
}

absl::Status IoError(absl::string_view what, const std::string& path) {
  return Unknown("PJRT-B022", "cannot ", what, " ", path, ": ", std::strerror(errno));
}

absl::StatusOr<std::string> ReadAll(const std::string& path) {
  PJRT_ASSIGN_OR_RETURN(const File file, Open(path, "rb"));
  // Pipes have no size: the content decides. The size, where there is one, saves copies.
  size_t step = size_t{1} << 16;
  if (std::fseek(file.get(), 0, SEEK_END) == 0) {
    const long size = std::ftell(file.get());  // NOLINT(runtime/int)
    if (size > 0 && size < (int64_t{1} << 36)) step = static_cast<size_t>(size) + 1;
    std::rewind(file.get());
  }
  std::string content;
  size_t used = 0;
  while (true) {
    content.resize(used + step);
    const size_t got = std::fread(&content[used], 1, step, file.get());
    used += got;
    if (got < step) break;
  }
  if (std::ferror(file.get()) != 0) return IoError("read", path);
  content.resize(used);
  return content;
}

}  // namespace

absl::StatusOr<Literal> ReadNpyFile(const std::string& path, std::optional<PrimitiveType> type) {
  PJRT_ASSIGN_OR_RETURN(const std::string content, ReadAll(path));
  absl::StatusOr<Literal> literal = LiteralFromNpy(content, type);
  if (!literal.ok()) return WithContext(literal.status(), path);
  return literal;
}

absl::Status WriteNpyFile(const std::string& path, const LiteralBase& literal) {
  const absl::StatusOr<std::string> content = LiteralToNpy(literal);
  if (!content.ok()) return WithContext(content.status(), path);
  PJRT_ASSIGN_OR_RETURN(File file, Open(path, "wb"));
  const bool written =
      std::fwrite(content->data(), 1, content->size(), file.get()) == content->size();
  if (!written) return IoError("write", path);
  // What is still buffered is written now; only then is it known to be there.
  if (std::fclose(file.release()) != 0) return IoError("write", path);
  return absl::OkStatus();
}

}  // namespace pjrt
