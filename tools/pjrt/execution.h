// SPDX-License-Identifier: Apache-2.0
//
// Host arrays to the device and back, and executing in between.
#ifndef PJRT_TOOLS_PJRT_EXECUTION_H_
#define PJRT_TOOLS_PJRT_EXECUTION_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pjrt/base/literal.h"
#include "pjrt/buffer.h"
#include "pjrt/client.h"
#include "pjrt/executable.h"

namespace pjrt::tool {

using Buffers = std::vector<std::unique_ptr<PjRtBuffer>>;

// A buffer on the client's first device, ready.
absl::StatusOr<std::unique_ptr<PjRtBuffer>> ToDevice(PjRtClient* client, const Literal& literal);
absl::StatusOr<Buffers> ToDevice(PjRtClient* client, absl::Span<const Literal> literals);

// The buffers as Execute takes them.
std::vector<PjRtBuffer*> Handles(const Buffers& buffers);

// Executes on one device. The results may not be ready yet.
absl::StatusOr<Buffers> Execute(const PjRtLoadedExecutable& executable,
                                const std::vector<PjRtBuffer*>& arguments);

// The same until the execution has ended; its error, even of a program without results.
absl::StatusOr<Buffers> ExecuteToEnd(const PjRtLoadedExecutable& executable,
                                     const std::vector<PjRtBuffer*>& arguments);

// Waits for each; the first error among them.
absl::Status AwaitAll(const Buffers& buffers);

// Copies each to the host. Tokens give token literals.
absl::StatusOr<std::vector<std::shared_ptr<Literal>>> ToHost(const Buffers& buffers);

}  // namespace pjrt::tool

#endif  // PJRT_TOOLS_PJRT_EXECUTION_H_
