// SPDX-License-Identifier: Apache-2.0
//
// CompiledMemoryStats: how much memory an executable needs. Spec: PJRT C++ API, section 1.16.
#ifndef PJRT_COMPILED_MEMORY_STATS_H_
#define PJRT_COMPILED_MEMORY_STATS_H_

#include <cstdint>
#include <ostream>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace pjrt {

// Sizes in bytes of one run of a compiled program; what a backend doesn't know stays 0. A plain
// value. The host_ fields count the host's memory on devices that have memory of their own; on a
// CPU device all memory is counted in the others.
struct CompiledMemoryStats {
  // The code, constants included.
  int64_t generated_code_size_in_bytes = 0;
  // Arguments and results. Memory that is both, by aliasing, is counted in both and in alias_size.
  int64_t argument_size_in_bytes = 0;
  int64_t output_size_in_bytes = 0;
  int64_t alias_size_in_bytes = 0;
  // Temporary memory of one run.
  int64_t temp_size_in_bytes = 0;
  // The most memory in use at one time, arguments and results included.
  int64_t peak_memory_in_bytes = 0;
  // All allocations, whatever they hold.
  int64_t total_allocation_bytes = 0;
  // Allocations that outlive a run.
  int64_t indefinite_allocations = 0;
  // As peak_memory_in_bytes, without padding for alignment and tiles.
  int64_t peak_unpadded_heap_bytes = 0;
  int64_t total_size_in_bytes = 0;

  int64_t host_generated_code_size_in_bytes = 0;
  int64_t host_argument_size_in_bytes = 0;
  int64_t host_output_size_in_bytes = 0;
  int64_t host_alias_size_in_bytes = 0;
  int64_t host_temp_size_in_bytes = 0;

  // The backend's own account of its buffers, opaque bytes; may be empty.
  std::string serialized_buffer_assignment;

  // A lower bound of the device memory that a run needs: code + arguments + results - aliases +
  // temp.
  int64_t RequiredBytes() const {
    return generated_code_size_in_bytes + argument_size_in_bytes + output_size_in_bytes -
           alias_size_in_bytes + temp_size_in_bytes;
  }

  // One line for people: the fields that are not 0, with their names.
  std::string DebugString() const;

  // A stable text form: the line "pjrt.compiled_memory_stats.v1", then a line `name=value` for each
  // field that isn't 0 or empty; serialized_buffer_assignment is written in hex.
  std::string Serialize() const;
  // Reads that back. Anything else gives INVALID_ARGUMENT [PJRT-R004] with the line.
  static absl::StatusOr<CompiledMemoryStats> Deserialize(absl::string_view text);

  friend bool operator==(const CompiledMemoryStats& a, const CompiledMemoryStats& b);
  friend bool operator!=(const CompiledMemoryStats& a, const CompiledMemoryStats& b) {
    return !(a == b);
  }
  friend std::ostream& operator<<(std::ostream& os, const CompiledMemoryStats& stats) {
    return os << stats.DebugString();
  }
};

}  // namespace pjrt

#endif  // PJRT_COMPILED_MEMORY_STATS_H_
