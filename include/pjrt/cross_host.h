// SPDX-License-Identifier: Apache-2.0
//
// Types of the calls that move buffers between hosts. Spec: PJRT C++ API, section 1.1.
#ifndef PJRT_CROSS_HOST_H_
#define PJRT_CROSS_HOST_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pjrt {

// Names one receive buffer to the sending host; opaque bytes.
struct PjRtCrossHostRecvDescriptors {
  absl::InlinedVector<std::string, 1> serialized_descriptors;
};

// Tells the receiver that a descriptor's sender won't send, and why; `on_canceled` is called once
// the receive is cancelled, with the status of the cancelling.
using PjRtCrossHostSendCancelNotifier =
    std::function<void(absl::string_view serialized_descriptor, absl::Status reason,
                       std::function<void(absl::Status)> on_canceled)>;

struct PjRtCrossHostRecvState {
  std::vector<PjRtCrossHostRecvDescriptors> descriptors;  // one a buffer
  PjRtCrossHostSendCancelNotifier cancel_notifier;
};

// Called once with the descriptors when MakeCrossHostReceiveBuffers succeeded, and never otherwise.
using PjRtCrossHostRecvNotifier = std::function<void(absl::StatusOr<PjRtCrossHostRecvState>)>;

}  // namespace pjrt

#endif  // PJRT_CROSS_HOST_H_
