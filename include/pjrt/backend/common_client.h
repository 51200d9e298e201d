// SPDX-License-Identifier: Apache-2.0
//
// CommonPjRtClient: a complete PjRtClient over a Backend. Spec: PJRT C++ API, section 1.20.
#ifndef PJRT_BACKEND_COMMON_CLIENT_H_
#define PJRT_BACKEND_COMMON_CLIENT_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "pjrt/backend/backend.h"
#include "pjrt/client.h"

namespace pjrt {

struct CommonClientOptions {
  // What ExecuteOptions::ExecutionMode::kDefault means for a launch whose inputs are ready: true,
  // small programs run in the call and the rest on the backend's threads; false, all run in the
  // call.
  bool asynchronous = true;

  // While this many executions are in flight on the device, Execute blocks; a program whose inputs
  // are ready runs in the call instead, unless it was asked for asynchronously. At least 1.
  int max_inflight_computations_per_device = 32;

  int process_index = 0;

  // How many threads of the backend's executor one transfer may use that has to change a layout. At
  // least 1.
  int max_transpose_threads = 8;
};

// Makes a client of a backend. INVALID_ARGUMENT when the backend's devices, memories or limits
// contradict each other or an option is out of range.
absl::StatusOr<std::unique_ptr<PjRtClient>> MakeCommonPjRtClient(std::unique_ptr<Backend> backend,
                                                                 CommonClientOptions options);

// What backends, and tests of them, may do with such a client besides PjRtClient's own methods.
// `client` must come from MakeCommonPjRtClient.

// The backend that `client` was made of.
Backend* GetBackend(PjRtClient* client);

// A loaded executable of a program that the backend made by other means than PjRtClient::Compile.
// Errors as those of Compile for its device assignment.
absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> LoadDeviceProgram(
    PjRtClient* client, std::shared_ptr<const DeviceProgram> program, CompileOptions options);

}  // namespace pjrt

#endif  // PJRT_BACKEND_COMMON_CLIENT_H_
