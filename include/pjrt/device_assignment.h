// SPDX-License-Identifier: Apache-2.0
//
// DeviceAssignment: which device runs which replica and partition of a program, and
// ComputationPlacer, the default choice. Spec: PJRT C++ API, section 1.14.
#ifndef PJRT_DEVICE_ASSIGNMENT_H_
#define PJRT_DEVICE_ASSIGNMENT_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "pjrt/ids.h"

namespace pjrt {

// A matrix of global device ids: a row for each replica, a column for each computation (partition).
// An unset entry is -1. A value type without synchronization of its own: const members may run
// concurrently.
class DeviceAssignment {
 public:
  // A place in the matrix.
  struct LogicalID {
    int replica_id = 0;
    int computation_id = 0;

    friend bool operator==(const LogicalID& a, const LogicalID& b) {
      return a.replica_id == b.replica_id && a.computation_id == b.computation_id;
    }
    friend bool operator!=(const LogicalID& a, const LogicalID& b) { return !(a == b); }
  };

  // The 0 x 0 assignment.
  DeviceAssignment() = default;

  // An assignment of the given size with all entries -1. Counts below 1, or whose product is not an
  // int32, give INVALID_ARGUMENT [PJRT-R002].
  static absl::StatusOr<DeviceAssignment> Create(int replica_count, int computation_count);

  // An assignment with the given ids in row-major order (all computations of replica 0 first),
  // whose number must be the product of the counts. Errors as above.
  static absl::StatusOr<DeviceAssignment> Create(int replica_count, int computation_count,
                                                 absl::Span<const int64_t> device_ids);

  int replica_count() const { return replica_count_; }
  int computation_count() const { return computation_count_; }
  int64_t num_elements() const { return static_cast<int64_t>(ids_.size()); }

  // The global device id at a place. Precondition: 0 <= replica < replica_count() and
  // 0 <= computation < computation_count().
  int64_t operator()(int replica, int computation) const {
    return ids_[Index(replica, computation)];
  }
  int64_t& operator()(int replica, int computation) { return ids_[Index(replica, computation)]; }
  // The same as an id; -1 for a place outside of the matrix.
  GlobalDeviceId DeviceId(int replica, int computation) const;

  // All ids in row-major order. Valid until the assignment is changed.
  absl::Span<const int64_t> device_ids() const { return ids_; }

  // The place of a device. INTERNAL [PJRT-R003] if the device is absent, or present more than once.
  absl::StatusOr<LogicalID> LogicalIdForDevice(GlobalDeviceId device) const;
  absl::StatusOr<int> ReplicaIdForDevice(GlobalDeviceId device) const;
  absl::StatusOr<int> PartitionIdForDevice(GlobalDeviceId device) const;

  // The places of all devices, keyed by GlobalDeviceId::value(); a repeated device has its last
  // one.
  std::unordered_map<int64_t, LogicalID> GetDeviceToLogicalIdMap() const;

  // True if the ids, in row-major order, are consecutive from the first on; of the empty matrix
  // too.
  bool IsIota() const;
  // True if every id is `value`; of the empty matrix too.
  bool IsAll(int64_t value) const;

  // A stable text form, "2x2:0,1,2,3": replicas, computations, the ids in row-major order.
  std::string Serialize() const;
  // Reads that back. Malformed text, counts below 1 or a wrong number of ids give INVALID_ARGUMENT
  // [PJRT-R002].
  static absl::StatusOr<DeviceAssignment> Deserialize(absl::string_view text);

  // For people: the counts and, for each computation, the device of each replica.
  std::string ToString() const;

  friend bool operator==(const DeviceAssignment& a, const DeviceAssignment& b) {
    return a.replica_count_ == b.replica_count_ && a.computation_count_ == b.computation_count_ &&
           a.ids_ == b.ids_;
  }
  friend bool operator!=(const DeviceAssignment& a, const DeviceAssignment& b) { return !(a == b); }
  friend std::ostream& operator<<(std::ostream& os, const DeviceAssignment& a) {
    return os << a.ToString();
  }

 private:
  size_t Index(int replica, int computation) const {
    return static_cast<size_t>(replica) * static_cast<size_t>(computation_count_) +
           static_cast<size_t>(computation);
  }

  int replica_count_ = 0;
  int computation_count_ = 0;
  std::vector<int64_t> ids_;  // Row-major.
};

// Chooses devices for programs that don't. A subclass may choose otherwise. Thread-safe.
class ComputationPlacer {
 public:
  virtual ~ComputationPlacer() = default;

  // The device of one replica and computation: computation * replica_count + replica. Ids outside
  // of the counts give INVALID_ARGUMENT [PJRT-R002].
  virtual absl::StatusOr<int> DeviceId(int replica, int computation, int replica_count,
                                       int computation_count) const;

  // The assignment with DeviceId at each place. Errors as DeviceAssignment::Create.
  virtual absl::StatusOr<DeviceAssignment> AssignDevices(int replica_count,
                                                         int computation_count) const;
};

}  // namespace pjrt

#endif  // PJRT_DEVICE_ASSIGNMENT_H_
