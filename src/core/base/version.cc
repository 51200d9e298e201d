// SPDX-License-Identifier: Apache-2.0
#include "pjrt/version.h"

#define PJRT_STRINGIFY_ARGUMENT(x) #x
#define PJRT_STRINGIFY(x) PJRT_STRINGIFY_ARGUMENT(x)

namespace pjrt {

Version LibraryVersion() { return kVersion; }

const char* LibraryVersionString() {
  return PJRT_STRINGIFY(PJRT_VERSION_MAJOR) "." PJRT_STRINGIFY(
      PJRT_VERSION_MINOR) "." PJRT_STRINGIFY(PJRT_VERSION_PATCH);
}

}  // namespace pjrt
