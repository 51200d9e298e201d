// SPDX-License-Identifier: Apache-2.0
//
// What a method answers that a backend left out.
#ifndef PJRT_CORE_RUNTIME_UNIMPLEMENTED_H_
#define PJRT_CORE_RUNTIME_UNIMPLEMENTED_H_

#include "absl/strings/string_view.h"
#include "src/core/base/error.h"

namespace pjrt {

// UNIMPLEMENTED naming the method, "PjRtClient::DmaMap".
inline absl::Status UnimplementedMethod(absl::string_view class_and_method) {
  return Unimplemented("PJRT-R013", class_and_method, " isn't implemented by this backend");
}

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_UNIMPLEMENTED_H_
