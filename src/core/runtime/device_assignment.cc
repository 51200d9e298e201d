// SPDX-License-Identifier: Apache-2.0
#include "pjrt/device_assignment.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"

namespace pjrt {
namespace {

absl::Status CheckCounts(int64_t replica_count, int64_t computation_count) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (replica_count < 1 || computation_count < 1 || replica_count > kMax ||
      computation_count > kMax || replica_count > kMax / computation_count) {
    return InvalidArgument("PJRT-R002", "device assignment of ", replica_count, " replicas x ",
                           computation_count,
                           " computations; expected at least 1 of each and an int32 product");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DeviceAssignment> DeviceAssignment::Create(int replica_count,
                                                          int computation_count) {
  PJRT_RETURN_IF_ERROR(CheckCounts(replica_count, computation_count));
  DeviceAssignment assignment;
  assignment.replica_count_ = replica_count;
  assignment.computation_count_ = computation_count;
  assignment.ids_.assign(static_cast<size_t>(replica_count) * computation_count, -1);
  return assignment;
}

absl::StatusOr<DeviceAssignment> DeviceAssignment::Create(int replica_count, int computation_count,
                                                          absl::Span<const int64_t> device_ids) {
  PJRT_RETURN_IF_ERROR(CheckCounts(replica_count, computation_count));
  const int64_t expected = int64_t{replica_count} * computation_count;
  if (static_cast<int64_t>(device_ids.size()) != expected) {
    return InvalidArgument("PJRT-R002", device_ids.size(), " device ids for ", replica_count,
                           " replicas x ", computation_count, " computations; expected ", expected);
  }
  DeviceAssignment assignment;
  assignment.replica_count_ = replica_count;
  assignment.computation_count_ = computation_count;
  assignment.ids_.assign(device_ids.begin(), device_ids.end());
  return assignment;
}

GlobalDeviceId DeviceAssignment::DeviceId(int replica, int computation) const {
  if (replica < 0 || replica >= replica_count_ || computation < 0 ||
      computation >= computation_count_) {
    return GlobalDeviceId(-1);
  }
  return GlobalDeviceId(static_cast<int32_t>((*this)(replica, computation)));
}

absl::StatusOr<DeviceAssignment::LogicalID> DeviceAssignment::LogicalIdForDevice(
    GlobalDeviceId device) const {
  const auto found = std::find(ids_.begin(), ids_.end(), device.value());
  if (found == ids_.end()) {
    return Internal("PJRT-R003", "device ", device.value(), " is not in the assignment ",
                    ToString());
  }
  if (std::find(found + 1, ids_.end(), device.value()) != ids_.end()) {
    return Internal("PJRT-R003", "device ", device.value(), " is more than once in the assignment ",
                    ToString());
  }
  const int index = static_cast<int>(found - ids_.begin());
  return LogicalID{index / computation_count_, index % computation_count_};
}

absl::StatusOr<int> DeviceAssignment::ReplicaIdForDevice(GlobalDeviceId device) const {
  PJRT_ASSIGN_OR_RETURN(const LogicalID id, LogicalIdForDevice(device));
  return id.replica_id;
}

absl::StatusOr<int> DeviceAssignment::PartitionIdForDevice(GlobalDeviceId device) const {
  PJRT_ASSIGN_OR_RETURN(const LogicalID id, LogicalIdForDevice(device));
  return id.computation_id;
}

std::unordered_map<int64_t, DeviceAssignment::LogicalID> DeviceAssignment::GetDeviceToLogicalIdMap()
    const {
  std::unordered_map<int64_t, LogicalID> map;
  map.reserve(ids_.size());
  for (int r = 0; r < replica_count_; ++r) {
    for (int c = 0; c < computation_count_; ++c) map[(*this)(r, c)] = LogicalID{r, c};
  }
  return map;
}

bool DeviceAssignment::IsIota() const {
  for (size_t i = 1; i < ids_.size(); ++i) {
    if (ids_[i - 1] == std::numeric_limits<int64_t>::max() || ids_[i] != ids_[i - 1] + 1) {
      return false;
    }
  }
  return true;
}

bool DeviceAssignment::IsAll(int64_t value) const {
  return std::all_of(ids_.begin(), ids_.end(), [value](int64_t id) { return id == value; });
}

std::string DeviceAssignment::Serialize() const {
  return absl::StrCat(replica_count_, "x", computation_count_, ":", absl::StrJoin(ids_, ","));
}

absl::StatusOr<DeviceAssignment> DeviceAssignment::Deserialize(absl::string_view text) {
  const auto malformed = [&](absl::string_view what) {
    return InvalidArgument("PJRT-R002", "malformed device assignment '", text.substr(0, 80),
                           "': ", what, "; expected text like 2x1:0,1");
  };
  const std::pair<absl::string_view, absl::string_view> parts =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  const std::vector<absl::string_view> counts = absl::StrSplit(parts.first, 'x');
  int replica_count, computation_count;
  if (counts.size() != 2 || !absl::SimpleAtoi(counts[0], &replica_count) ||
      !absl::SimpleAtoi(counts[1], &computation_count)) {
    return malformed("it doesn't begin with the two counts");
  }
  PJRT_RETURN_IF_ERROR(CheckCounts(replica_count, computation_count));
  std::vector<int64_t> ids;
  for (absl::string_view part : absl::StrSplit(parts.second, ',')) {
    int64_t id;
    if (!absl::SimpleAtoi(part, &id)) return malformed(absl::StrCat("'", part, "' is no id"));
    ids.push_back(id);
  }
  return Create(replica_count, computation_count, ids);
}

std::string DeviceAssignment::ToString() const {
  std::string text = absl::StrCat("DeviceAssignment{replicas=", replica_count_,
                                  ", computations=", computation_count_);
  for (int c = 0; c < computation_count_; ++c) {
    absl::StrAppend(&text, ", computation ", c, ": [");
    for (int r = 0; r < replica_count_; ++r) {
      absl::StrAppend(&text, r > 0 ? " " : "", (*this)(r, c));
    }
    absl::StrAppend(&text, "]");
  }
  return absl::StrCat(text, "}");
}

absl::StatusOr<int> ComputationPlacer::DeviceId(int replica, int computation, int replica_count,
                                                int computation_count) const {
  PJRT_RETURN_IF_ERROR(CheckCounts(replica_count, computation_count));
  if (replica < 0 || replica >= replica_count || computation < 0 ||
      computation >= computation_count) {
    return InvalidArgument("PJRT-R002", "replica ", replica, ", computation ", computation,
                           " of a program with ", replica_count, " replicas and ",
                           computation_count, " computations");
  }
  return computation * replica_count + replica;
}

absl::StatusOr<DeviceAssignment> ComputationPlacer::AssignDevices(int replica_count,
                                                                  int computation_count) const {
  PJRT_ASSIGN_OR_RETURN(DeviceAssignment assignment,
                        DeviceAssignment::Create(replica_count, computation_count));
  for (int r = 0; r < replica_count; ++r) {
    for (int c = 0; c < computation_count; ++c) {
      PJRT_ASSIGN_OR_RETURN(assignment(r, c), DeviceId(r, c, replica_count, computation_count));
    }
  }
  return assignment;
}

}  // namespace pjrt
