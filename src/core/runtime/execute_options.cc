// SPDX-License-Identifier: Apache-2.0
#include "pjrt/execute_options.h"

#include <algorithm>
#include <limits>

#include "pjrt/callbacks.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/option_text.h"

namespace pjrt {
namespace {

constexpr absl::string_view kExecuteOptionsKind = "pjrt.execute_options.v1";

absl::Status ReadExecuteOption(ExecuteOptions* options, absl::string_view name,
                               absl::string_view value) {
  if (name == "launch_id") return ReadInt(value, &options->launch_id);
  if (name == "strict_shape_checking") return ReadBool(value, &options->strict_shape_checking);
  if (name == "use_major_to_minor_data_layout_for_callbacks") {
    return ReadBool(value, &options->use_major_to_minor_data_layout_for_callbacks);
  }
  if (name == "execution_mode") {
    int mode;
    PJRT_RETURN_IF_ERROR(ReadInt(value, &mode));
    if (mode < 0 || mode > static_cast<int>(ExecuteOptions::ExecutionMode::kAsynchronous)) {
      return Unimplemented("PJRT-R067", "execution mode ", mode, " isn't known to this release");
    }
    options->execution_mode = static_cast<ExecuteOptions::ExecutionMode>(mode);
    return absl::OkStatus();
  }
  if (name == "non_donatable_input_indices") {
    std::vector<int64_t> indices;
    PJRT_RETURN_IF_ERROR(ReadInts(value, &indices));
    for (const int64_t index : indices) {
      if (index < 0 || index > std::numeric_limits<int>::max()) {
        return InvalidArgument("PJRT-R064", "argument index ", index);
      }
      options->non_donatable_input_indices.insert(static_cast<int>(index));
    }
    return absl::OkStatus();
  }
  if (name == "seed") return ReadInt(value, &options->seed);
  if (name == "use_output_arena") return ReadBool(value, &options->use_output_arena);
  return InvalidArgument("PJRT-R064", "unknown option ", name);
}

}  // namespace

absl::StatusOr<std::string> ExecuteOptions::Serialize() const {
  if (context != nullptr || multi_slice_config != nullptr || !send_callbacks.empty() ||
      !recv_callbacks.empty() || !hlo_output_callbacks.empty() || execution_profile != nullptr) {
    return Unimplemented("PJRT-R067",
                         "execute options with a context, multi-slice configuration, callbacks or "
                         "profile can't be serialized");
  }
  OptionWriter writer(kExecuteOptionsKind);
  writer.AddInt("launch_id", launch_id, 0);
  writer.AddBool("strict_shape_checking", strict_shape_checking, false);
  writer.AddBool("use_major_to_minor_data_layout_for_callbacks",
                 use_major_to_minor_data_layout_for_callbacks, false);
  writer.AddInt("execution_mode", static_cast<int>(execution_mode), 0);
  std::vector<int64_t> indices(non_donatable_input_indices.begin(),
                               non_donatable_input_indices.end());
  std::sort(indices.begin(), indices.end());
  writer.AddInts("non_donatable_input_indices", indices);
  writer.AddInt("seed", seed, 0);
  writer.AddBool("use_output_arena", use_output_arena, false);
  return writer.Take();
}

absl::StatusOr<ExecuteOptions> ExecuteOptions::Deserialize(absl::string_view text) {
  ExecuteOptions options;
  PJRT_RETURN_IF_ERROR(
      ReadOptions(text, kExecuteOptionsKind, [&](absl::string_view name, absl::string_view value) {
        return ReadExecuteOption(&options, name, value);
      }));
  return options;
}

}  // namespace pjrt
