// SPDX-License-Identifier: Apache-2.0
//
// PendingLaunch: a launch that waits for its inputs.
#ifndef PJRT_CORE_RUNTIME_PENDING_LAUNCH_H_
#define PJRT_CORE_RUNTIME_PENDING_LAUNCH_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "pjrt/backend/backend.h"
#include "pjrt/base/future.h"
#include "src/core/runtime/common_client_impl.h"
#include "src/core/runtime/common_device.h"
#include "src/core/runtime/memory_ref.h"

namespace pjrt {

// All that a launch needs once Execute has returned. Always owned by a shared_ptr, which the future
// of the inputs and then that of the run keep.
struct PendingLaunch {
  CommonPjRtClient* client = nullptr;
  CommonDevice* device = nullptr;
  std::shared_ptr<const DeviceProgram> program;
  std::shared_ptr<const DeviceAssignment> assignment;  // null for a portable executable
  ExecuteOptions options;
  LaunchMode mode = LaunchMode::kBackendDecides;
  int64_t run_id = 0;
  int replica = 0;
  int partition = 0;

  std::vector<MemoryRef> inputs;
  std::vector<bool> donated;
  std::vector<std::shared_ptr<DelayedMemory>> outputs;

  // Whether the outputs are defined: set at the end, or before by PoisonExecution.
  PromiseOnce<> defined;
  // Set when the run is over, whatever became of the outputs.
  Promise<> ended;
  // The same, for the launch of collectives that this is a part of.
  Promise<> collective_ended;

  // Runs the launches, which are those of one computation, with the status of their inputs.
  static void Run(const std::vector<std::shared_ptr<PendingLaunch>>& launches,
                  const absl::Status& inputs_status, bool as_a_gang);

 private:
  // The arguments for the backend; they point into `raw_inputs` and `raw_outputs`.
  LaunchArgs MakeArgs();
  // The backend has returned from Launch; the run may go on.
  static void Follow(const std::shared_ptr<PendingLaunch>& launch, const Future<>& done);
  void Finish(const absl::Status& status);

  bool was_dispatched_ = false;  // of no interest here
  std::vector<LaunchInput> raw_inputs_;
  std::vector<RawBufferRef> raw_outputs_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_PENDING_LAUNCH_H_
