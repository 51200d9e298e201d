// SPDX-License-Identifier: Apache-2.0
//
// PjRtTopologyDescription: a set of devices to compile for, with no need to have them at hand.
// Spec: PJRT C++ API, section 1.13.
#ifndef PJRT_TOPOLOGY_H_
#define PJRT_TOPOLOGY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/base/layout.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/base/shape.h"
#include "pjrt/device_assignment.h"
#include "pjrt/device_description.h"
#include "pjrt/device_dimensions.h"
#include "pjrt/ids.h"

namespace pjrt {

class MultiSliceConfig;
class PjRtCompiler;

// The devices of a platform, how they are connected, and how they lay out data: all that a compiler
// has to know.
//
// Threads: immutable; all methods may be called from any thread. None blocks.
class PjRtTopologyDescription {
 public:
  virtual ~PjRtTopologyDescription() = default;

  // ----- What a backend must override -----

  virtual PjRtPlatformId platform_id() const = 0;
  virtual absl::string_view platform_name() const = 0;
  virtual absl::string_view platform_version() const = 0;

  // All devices, by id.
  virtual std::vector<std::unique_ptr<const PjRtDeviceDescription>> DeviceDescriptions() const = 0;

  // The layout that an array gets when none is asked for. INVALID_ARGUMENT for types that aren't
  // arrays.
  virtual absl::StatusOr<Layout> GetDefaultLayout(PrimitiveType element_type,
                                                  absl::Span<const int64_t> dims) const = 0;

  // ----- What a backend may leave out: UNIMPLEMENTED by default, unless said otherwise -----

  // A compiler that is to be used in place of the registered ones; nullopt by default.
  virtual std::optional<PjRtCompiler*> compiler() const { return std::nullopt; }

  // Vendor attributes by name. Empty by default.
  virtual const absl::flat_hash_map<std::string, PjRtDeviceAttribute>& Attributes() const;

  // A number that is equal for equal topologies; for caches. Changes between releases.
  virtual absl::StatusOr<uint64_t> Fingerprint() const;

  // Bytes that the platform's compiler reads back
  // (PjRtCompiler::DeserializePjRtTopologyDescription).
  virtual absl::StatusOr<std::string> Serialize() const;

  // The shape, with layout, that a buffer will have when it is asked for with this shape and layout
  // (null: default) in memory of this kind.
  virtual absl::StatusOr<Shape> MakeCanonicalShapeForMemorySpace(int memory_space_kind_id,
                                                                 Shape shape,
                                                                 const Layout* layout) const;

  // The devices that run num_replicas x num_partitions when the caller doesn't say. `process_index`
  // is that of the asking process; `num_replicas_per_slice` and `multi_slice_config` are for
  // platforms with slices.
  virtual absl::StatusOr<DeviceAssignment> GetDefaultDeviceAssignment(
      int process_index, int num_replicas, std::optional<int> num_replicas_per_slice,
      int num_partitions, const MultiSliceConfig* multi_slice_config) const;

  // The kinds of memory, the default one first. {-1} by default: not known.
  virtual absl::Span<const int> GetMemorySpaceKindIds() const;
  int GetDefaultMemorySpaceKindId() const { return GetMemorySpaceKindIds().front(); }

  // Whether this is a part of a larger topology.
  virtual bool is_subslice_topology() const { return false; }
  virtual absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>> Subslice(
      const PjRtDeviceDimensions& chips_per_host_bounds,
      const PjRtDeviceDimensions& host_bounds) const;

  // Counts. A process has chips, a chip has cores, and one or more cores make a logical device,
  // which is what PjRtDevice stands for. Those without a body here are derived as products: counts
  // of all are processes times counts per process, and counts per process are chips per process
  // times counts per chip.
  virtual absl::StatusOr<int> ProcessCount() const;
  virtual absl::StatusOr<int> ChipsPerProcess() const;
  virtual absl::StatusOr<int> CoreCountOfDefaultTypePerChip() const;
  virtual absl::StatusOr<int> LogicalDeviceCountOfDefaultTypePerChip() const;
  virtual absl::StatusOr<int> ChipCount() const;
  virtual absl::StatusOr<int> CoreCountOfDefaultTypePerProcess() const;
  virtual absl::StatusOr<int> CoreCountOfDefaultType() const;
  virtual absl::StatusOr<int> LogicalDeviceCountOfDefaultTypePerProcess() const;
  virtual absl::StatusOr<int> LogicalDeviceCountOfDefaultType() const;

  // Where things are. Indices on a process count from 0; coordinates are in the mesh that the
  // bounds give.
  virtual absl::StatusOr<PjRtIdContainer<ProcessId>> ProcessIds() const;
  virtual absl::StatusOr<PjRtIdContainer<GlobalDeviceId>> LogicalDeviceOfDefaultTypeIdsOnProcess(
      ProcessId process) const;
  virtual absl::StatusOr<std::pair<ProcessId, int>> ProcessIdAndIndexOnProcessForChip(
      GlobalChipId chip) const;
  virtual absl::StatusOr<std::pair<ProcessId, int>>
  ProcessIdAndIndexOnProcessForLogicalDeviceOfDefaultType(GlobalDeviceId device) const;
  virtual absl::StatusOr<PjRtDeviceDimensions> ProcessCoordFromId(ProcessId process) const;
  virtual absl::StatusOr<GlobalChipId> ChipIdFromCoord(const PjRtDeviceDimensions& chip) const;
  virtual absl::StatusOr<GlobalDeviceId> LogicalDeviceOfDefaultTypeIdFromChipCoordAndCoreIndex(
      const PjRtDeviceDimensions& chip, int core_index) const;
  virtual absl::StatusOr<std::pair<PjRtDeviceDimensions, int>>
  ChipCoordAndCoreIndexForLogicalDeviceOfDefaultType(GlobalDeviceId device) const;
  virtual absl::StatusOr<PjRtDeviceDimensions> ChipsPerProcessBounds() const;
  virtual absl::StatusOr<PjRtDeviceDimensions> ChipBounds() const;
  virtual absl::StatusOr<PjRtDeviceDimensions> ProcessBounds() const;
};

// How to read serialized topologies, by platform. As with compilers, the application makes one and
// passes it on; there is no registry behind anyone's back.
//
// Threads: all methods may be called from any thread. Deserializers run without a lock held.
class PjRtTopologyDescriptionRegistry {
 public:
  // Reads what PjRtTopologyDescription::Serialize of the platform wrote.
  using Deserializer = std::function<absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>>(
      absl::string_view serialized)>;

  PjRtTopologyDescriptionRegistry();
  ~PjRtTopologyDescriptionRegistry();
  PjRtTopologyDescriptionRegistry(const PjRtTopologyDescriptionRegistry&) = delete;
  PjRtTopologyDescriptionRegistry& operator=(const PjRtTopologyDescriptionRegistry&) = delete;

  // ALREADY_EXISTS when the platform has one; INVALID_ARGUMENT for null.
  absl::Status Register(absl::string_view platform_name, Deserializer deserializer);

  // NOT_FOUND when nothing is registered for the platform; otherwise what its deserializer says.
  absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>> Deserialize(
      absl::string_view platform_name, absl::string_view serialized) const;
  // The same by the platform's number (PlatformIdFromName).
  absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>> Deserialize(
      PjRtPlatformId platform_id, absl::string_view serialized) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pjrt

#endif  // PJRT_TOPOLOGY_H_
