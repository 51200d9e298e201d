// SPDX-License-Identifier: Apache-2.0
#include "pjrt/version.h"

// The outer macro expands its arguments before the inner one makes text of them.
#define PJRT_JOIN(major, minor, patch) #major "." #minor "." #patch
#define PJRT_EXPAND_AND_JOIN(major, minor, patch) PJRT_JOIN(major, minor, patch)

namespace pjrt {

Version LibraryVersion() { return kVersion; }

const char* LibraryVersionString() {
  return PJRT_EXPAND_AND_JOIN(PJRT_VERSION_MAJOR, PJRT_VERSION_MINOR, PJRT_VERSION_PATCH);
}

}  // namespace pjrt
