// SPDX-License-Identifier: Apache-2.0
//
// Functions of the application that a running program calls. Spec: PJRT C++ API, section 1.11.
//
// They are given by ExecuteOptions and called on any thread, possibly several at a time. They must
// outlive the execution.
#ifndef PJRT_CALLBACKS_H_
#define PJRT_CALLBACKS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "pjrt/base/shape.h"
#include "pjrt/chunk.h"

namespace pjrt {

class Literal;

// What is known of the data that a callback sees.
struct PjRtTransferMetadata {
  // The shape of the data, with the device's layout. Unspecified if
  // ExecuteOptions::use_major_to_minor_data_layout_for_callbacks is set.
  Shape device_shape;
};

// Receives what a Send op of the program sends to the host.
struct SendCallback {
  // The channel id of the Send ops that it serves.
  int64_t channel_id = 0;
  // Called once for each execution of such an op, with all its data: `done` is true and the chunk
  // has `total_size_in_bytes` bytes, unless a backend splits large transfers. Calls for different
  // Send ops come in no particular order. If it returns an error, the runtime fails the execution,
  // or ignores the error and goes on with undefined results.
  std::function<absl::Status(const PjRtTransferMetadata& metadata, PjRtChunk chunk,
                             size_t total_size_in_bytes, bool done)>
      callback;
};

// Provides what a Recv op of the program receives from the host.
struct RecvCallback {
  // The channel id of the Recv ops that it serves.
  int64_t channel_id = 0;
  // Called once for each execution of such an op. It, or whoever it passes the stream to, adds
  // chunks until the stream is complete; it need not do so before it returns.
  std::function<void(const PjRtTransferMetadata& metadata,
                     std::unique_ptr<CopyToDeviceStream> stream)>
      callback;
};

// Sees values of the program while it runs.
struct HloOutputCallback {
  // Names the op of the program that reports.
  int64_t callback_id = 0;
  // How many values the op reports.
  int num_operands = 0;
  // Called with them, and with the place in the device assignment that reports. An operand that
  // this place doesn't have is null.
  std::function<void(int64_t replica_id, int64_t partition_id,
                     absl::Span<const std::shared_ptr<const Literal>> operands)>
      callback;
};

}  // namespace pjrt

#endif  // PJRT_CALLBACKS_H_
