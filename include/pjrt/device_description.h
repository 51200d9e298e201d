// SPDX-License-Identifier: Apache-2.0
//
// PjRtDeviceDescription: what is known of a device without a client that can command it. Spec: PJRT
// C++ API, section 1.3.
#ifndef PJRT_DEVICE_DESCRIPTION_H_
#define PJRT_DEVICE_DESCRIPTION_H_

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/ids.h"

namespace pjrt {

// The kind of a memory space that a device has, by name and number. A plain value.
class PjRtMemorySpaceDescription {
 public:
  // `kind` must outlive the description (kinds are string literals or belong to the topology).
  PjRtMemorySpaceDescription(absl::string_view kind, int kind_id)
      : kind_(kind), kind_id_(kind_id) {}

  absl::string_view kind() const { return kind_; }
  int kind_id() const { return kind_id_; }

 private:
  absl::string_view kind_;
  int kind_id_;
};

// A device as a topology knows it: identity, kind and attributes, but nothing that needs the
// hardware at hand. A PjRtDevice carries one; a PjRtTopologyDescription makes them without any
// client.
//
// Threads: immutable, so every method may be called from any thread. None blocks.
class PjRtDeviceDescription {
 public:
  virtual ~PjRtDeviceDescription() = default;

  // The number of the device, unique among all devices of its platform in all processes. This is
  // the number that a DeviceAssignment holds.
  virtual int id() const = 0;

  // The process that the device is addressable from.
  virtual int process_index() const = 0;

  // The kind of hardware, for example "cpu" or a product name. Devices of the same kind run the
  // same compiled programs.
  virtual absl::string_view device_kind() const = 0;

  // A short text for logs ("cpu:0") and one for people ("CpuDevice(id=0)").
  virtual absl::string_view DebugString() const = 0;
  virtual absl::string_view ToString() const = 0;

  // Vendor attributes by name, such as coordinates or core counts. The reference and what is in it
  // stay valid as long as the description.
  virtual const absl::flat_hash_map<std::string, PjRtDeviceAttribute>& Attributes() const = 0;

  // The kinds of memory that the device has. Empty unless a backend says otherwise.
  virtual absl::Span<const PjRtMemorySpaceDescription* const> memory_spaces() const { return {}; }

  // The kind of memory that buffers go to when nobody says where. UNIMPLEMENTED by default.
  virtual absl::StatusOr<const PjRtMemorySpaceDescription*> default_memory_space() const;
};

}  // namespace pjrt

#endif  // PJRT_DEVICE_DESCRIPTION_H_
