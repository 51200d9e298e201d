// SPDX-License-Identifier: Apache-2.0
//
// CompiledMemoryStats and AllocatorStats as text.
#include <optional>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "pjrt/allocator_stats.h"
#include "pjrt/compiled_memory_stats.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace {

constexpr char kHeader[] = "pjrt.compiled_memory_stats.v1";
constexpr char kAssignmentName[] = "serialized_buffer_assignment";

struct Field {
  const char* name;
  int64_t CompiledMemoryStats::*value;
};

#define PJRT_FIELD_(name) \
  { #name, &CompiledMemoryStats::name }
constexpr Field kFields[] = {
    PJRT_FIELD_(generated_code_size_in_bytes),
    PJRT_FIELD_(argument_size_in_bytes),
    PJRT_FIELD_(output_size_in_bytes),
    PJRT_FIELD_(alias_size_in_bytes),
    PJRT_FIELD_(temp_size_in_bytes),
    PJRT_FIELD_(peak_memory_in_bytes),
    PJRT_FIELD_(total_allocation_bytes),
    PJRT_FIELD_(indefinite_allocations),
    PJRT_FIELD_(peak_unpadded_heap_bytes),
    PJRT_FIELD_(total_size_in_bytes),
    PJRT_FIELD_(host_generated_code_size_in_bytes),
    PJRT_FIELD_(host_argument_size_in_bytes),
    PJRT_FIELD_(host_output_size_in_bytes),
    PJRT_FIELD_(host_alias_size_in_bytes),
    PJRT_FIELD_(host_temp_size_in_bytes),
};
#undef PJRT_FIELD_

// Reads an even number of hex digits.
std::optional<std::string> FromHex(absl::string_view hex) {
  if (hex.size() % 2 != 0 ||
      hex.find_first_not_of("0123456789abcdefABCDEF") != absl::string_view::npos) {
    return std::nullopt;
  }
  return absl::HexStringToBytes(hex);
}

// Sets the field `name`; false if there is none or the value doesn't fit it.
bool SetField(CompiledMemoryStats& stats, absl::string_view name, absl::string_view value) {
  if (name == kAssignmentName) {
    std::optional<std::string> bytes = FromHex(value);
    if (bytes) stats.serialized_buffer_assignment = *std::move(bytes);
    return bytes.has_value();
  }
  for (const Field& field : kFields) {
    if (name == field.name) return absl::SimpleAtoi(value, &(stats.*field.value));
  }
  return false;
}

}  // namespace

std::string CompiledMemoryStats::DebugString() const {
  std::string text = "CompiledMemoryStats(";
  const char* separator = "";
  for (const Field& field : kFields) {
    if (this->*field.value == 0) continue;
    absl::StrAppend(&text, separator, field.name, "=", this->*field.value);
    separator = ", ";
  }
  return absl::StrCat(text, ")");
}

std::string CompiledMemoryStats::Serialize() const {
  std::string text = absl::StrCat(kHeader, "\n");
  for (const Field& field : kFields) {
    if (this->*field.value != 0) absl::StrAppend(&text, field.name, "=", this->*field.value, "\n");
  }
  if (!serialized_buffer_assignment.empty()) {
    absl::StrAppend(&text, kAssignmentName, "=",
                    absl::BytesToHexString(serialized_buffer_assignment), "\n");
  }
  return text;
}

absl::StatusOr<CompiledMemoryStats> CompiledMemoryStats::Deserialize(absl::string_view text) {
  CompiledMemoryStats stats;
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(absl::StripSuffix(text, "\n"), '\n')) {
    ++line_number;
    const size_t equals = line.find('=');
    const bool good = line_number == 1
                          ? line == kHeader
                          : equals != absl::string_view::npos &&
                                SetField(stats, line.substr(0, equals), line.substr(equals + 1));
    if (!good) {
      return InvalidArgument("PJRT-R004", "memory statistics, line ", line_number, ": '",
                             line.substr(0, 80), "'; expected ",
                             line_number == 1 ? kHeader : "name=value with a known name");
    }
  }
  return stats;
}

bool operator==(const CompiledMemoryStats& a, const CompiledMemoryStats& b) {
  for (const Field& field : kFields) {
    if (a.*field.value != b.*field.value) return false;
  }
  return a.serialized_buffer_assignment == b.serialized_buffer_assignment;
}

std::string AllocatorStats::DebugString() const {
  std::string text;
  const auto add = [&text](const char* name, std::optional<int64_t> value) {
    if (value) absl::StrAppend(&text, name, ": ", *value, "\n");
  };
  add("num_allocs", num_allocs);
  add("bytes_in_use", bytes_in_use);
  add("peak_bytes_in_use", peak_bytes_in_use);
  add("largest_alloc_size", largest_alloc_size);
  add("peak_allocated_bytes", peak_allocated_bytes);
  add("bytes_limit", bytes_limit);
  add("bytes_reserved", bytes_reserved);
  add("peak_bytes_reserved", peak_bytes_reserved);
  add("bytes_reservable_limit", bytes_reservable_limit);
  add("largest_free_block_bytes", largest_free_block_bytes);
  add("pool_bytes", pool_bytes);
  add("peak_pool_bytes", peak_pool_bytes);
  return text;
}

}  // namespace pjrt
