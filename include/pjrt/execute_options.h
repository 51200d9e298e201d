// SPDX-License-Identifier: Apache-2.0
//
// What a caller may say about one execution. Spec: PJRT C++ API, section 1.10.
#ifndef PJRT_EXECUTE_OPTIONS_H_
#define PJRT_EXECUTE_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ids.h"

namespace pjrt {

class ExecuteContext;
class MultiSliceConfig;
struct HloOutputCallback;
struct RecvCallback;
struct SendCallback;

// Measurements of one execution, in nanoseconds; what a backend doesn't measure stays 0.
struct ExecutionProfile {
  int64_t compute_time_ns = 0;
  // Compute time and the transfers that the program itself makes.
  int64_t compute_and_transfer_time_ns = 0;
};

// Options of Execute, ExecuteSharded and ExecutePortable. A plain value; what it points to must
// outlive the execution (that is, until the returned future or all outputs are ready), not just the
// call.
struct ExecuteOptions {
  // Non-zero groups the launches of one computation over several devices, and hosts: it becomes the
  // run id, so all participants must pass the same. It is also the key of
  // PjRtDevice::PoisonExecution. 0 makes a fresh id.
  int32_t launch_id = 0;

  // Data of the application that custom calls can see, and per-call overrides. May be null.
  const ExecuteContext* context = nullptr;

  // Whether an argument must have exactly the parameter's element type, dimensions and layout (its
  // memory space is never compared). Otherwise the sizes in bytes must agree, and the bits are
  // taken as the parameter's type.
  bool strict_shape_checking = false;

  // May be null.
  const MultiSliceConfig* multi_slice_config = nullptr;

  // Callbacks for the program's sends and receives, [device][operation]. Empty, or one vector for
  // each addressable device of the executable (for ExecuteSharded and ExecutePortable: one vector).
  absl::Span<const std::vector<SendCallback>> send_callbacks;
  absl::Span<const std::vector<RecvCallback>> recv_callbacks;

  // Callbacks that see values of the program while it runs.
  absl::Span<const HloOutputCallback> hlo_output_callbacks;

  // Whether callbacks see chunks in row-major order instead of in the device's layout.
  bool use_major_to_minor_data_layout_for_callbacks = false;

  // Whose thread does the work, on devices that compute with the host's threads:
  enum class ExecutionMode {
    kDefault,       // as the client's options say; small programs run in the call
    kSynchronous,   // in the call, if the inputs are ready; the outputs are ready then, too
    kAsynchronous,  // on the device's own threads (if it has any): Execute returns at once
  };
  ExecutionMode execution_mode = ExecutionMode::kDefault;

  // Filled when set and the backend measures; must outlive the execution.
  ExecutionProfile* execution_profile = nullptr;

  // Arguments, by index, that must not be donated in this call even though the program would.
  absl::flat_hash_set<int> non_donatable_input_indices;

  // Executions with the same id on a device run in the order in which they were enqueued when both
  // are dispatched asynchronously. Executions with different ids may overlap; so may an execution
  // that runs in the call and has no side effects.
  int64_t execution_stream_id = 0;

  // Where in the application the call is, for diagnostics.
  std::string call_location;

  // The incarnation of each process that takes part, by process id, for platforms that notice
  // restarts.
  absl::flat_hash_map<int, IncarnationId> incarnations;

  // Seed of the program's random numbers; 0 leaves it to the backend. The same seed gives the same
  // numbers.
  int64_t seed = 0;

  // One allocation for all outputs, freed with the last of them. A backend may ignore it.
  bool use_output_arena = false;

  // The options as text that Deserialize reads back: a first line "pjrt.execute_options.v1", then
  // one line `name=value` for each of launch_id, strict_shape_checking,
  // use_major_to_minor_data_layout_for_callbacks, execution_mode, non_donatable_input_indices, seed
  // and use_output_arena that differs from its default, in that order. UNIMPLEMENTED when context,
  // multi_slice_config, callbacks or execution_profile are set. call_location, incarnations and
  // execution_stream_id aren't carried.
  absl::StatusOr<std::string> Serialize() const;
  // INVALID_ARGUMENT, with the line number, for text that Serialize doesn't write; UNIMPLEMENTED
  // for an execution mode that this release doesn't know.
  static absl::StatusOr<ExecuteOptions> Deserialize(absl::string_view text);
};

}  // namespace pjrt

#endif  // PJRT_EXECUTE_OPTIONS_H_
