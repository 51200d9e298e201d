// SPDX-License-Identifier: Apache-2.0
//
// Putting host data into a raw buffer; for BufferFromHostBuffer and the transfer manager.
#ifndef PJRT_CORE_RUNTIME_COMMON_TRANSFER_H_
#define PJRT_CORE_RUNTIME_COMMON_TRANSFER_H_

#include "absl/functional/any_invocable.h"
#include "pjrt/backend/raw_buffer.h"
#include "pjrt/base/future.h"
#include "src/core/runtime/common_client_impl.h"
#include "src/core/runtime/host_transfer.h"

namespace pjrt {

using OnHostBufferDone = absl::AnyInvocable<void() &&>;

// What is to be put on the device.
struct HostSource {
  const void* data;
  HostTransfer transfer;
  bool only_during_call;  // `data` may go when the call returns
};

// Puts `source` into `raw`, which is free to be written. `on_done`, which may be null, runs when
// the host memory is no longer needed, before the result is seen to be ready.
Future<> TransferToRaw(CommonPjRtClient* client, const HostSource& source, RawBufferRef raw,
                       OnHostBufferDone on_done);

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_COMMON_TRANSFER_H_
