// SPDX-License-Identifier: Apache-2.0
//
// Version tokens that say whether a serialized executable fits a runtime. Spec: PJRT C++ API,
// section 1.18.
#ifndef PJRT_ABI_VERSION_H_
#define PJRT_ABI_VERSION_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/ids.h"

namespace pjrt {

// What an executable needs of the runtime that is to load it. Immutable; may be used from any
// thread.
class PjRtExecutableAbiVersion {
 public:
  virtual ~PjRtExecutableAbiVersion() = default;
  virtual PjRtPlatformId platform_id() const = 0;
  // Bytes that the same platform reads back, equal for equal versions.
  virtual absl::StatusOr<std::string> Serialize() const = 0;
};

// What a runtime offers. Immutable; may be used from any thread.
class PjRtRuntimeAbiVersion {
 public:
  virtual ~PjRtRuntimeAbiVersion() = default;
  virtual PjRtPlatformId platform_id() const = 0;
  virtual absl::StatusOr<std::string> Serialize() const = 0;
  // OK when executables made for `runtime` load here; otherwise FAILED_PRECONDITION saying what
  // differs.
  virtual absl::Status IsCompatibleWith(const PjRtRuntimeAbiVersion& runtime) const = 0;
  // OK when `executable` loads here; otherwise FAILED_PRECONDITION saying what differs.
  virtual absl::Status IsCompatibleWith(const PjRtExecutableAbiVersion& executable) const = 0;
};

}  // namespace pjrt

#endif  // PJRT_ABI_VERSION_H_
