// SPDX-License-Identifier: Apache-2.0
//
// Default methods of PjRtTopologyDescription.
#include "pjrt/topology.h"

#include <map>
#include <mutex>
#include <utility>

#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"
#include "src/core/runtime/unimplemented.h"

namespace pjrt {
namespace {

absl::StatusOr<int> Product(absl::StatusOr<int> a, absl::StatusOr<int> b) {
  PJRT_RETURN_IF_ERROR(a.status());
  PJRT_RETURN_IF_ERROR(b.status());
  return *a * *b;
}

}  // namespace

const absl::flat_hash_map<std::string, PjRtDeviceAttribute>& PjRtTopologyDescription::Attributes()
    const {
  static const auto* const kNone = new absl::flat_hash_map<std::string, PjRtDeviceAttribute>();
  return *kNone;
}

absl::Span<const int> PjRtTopologyDescription::GetMemorySpaceKindIds() const {
  static constexpr int kUnknown[] = {-1};
  return kUnknown;
}

absl::StatusOr<int> PjRtTopologyDescription::ChipCount() const {
  return Product(ProcessCount(), ChipsPerProcess());
}
absl::StatusOr<int> PjRtTopologyDescription::CoreCountOfDefaultTypePerProcess() const {
  return Product(ChipsPerProcess(), CoreCountOfDefaultTypePerChip());
}
absl::StatusOr<int> PjRtTopologyDescription::CoreCountOfDefaultType() const {
  return Product(ProcessCount(), CoreCountOfDefaultTypePerProcess());
}
absl::StatusOr<int> PjRtTopologyDescription::LogicalDeviceCountOfDefaultTypePerProcess() const {
  return Product(ChipsPerProcess(), LogicalDeviceCountOfDefaultTypePerChip());
}
absl::StatusOr<int> PjRtTopologyDescription::LogicalDeviceCountOfDefaultType() const {
  return Product(ProcessCount(), LogicalDeviceCountOfDefaultTypePerProcess());
}

#define PJRT_LEFT_OUT_(Result, Method, ...)                                   \
  absl::StatusOr<Result> PjRtTopologyDescription::Method(__VA_ARGS__) const { \
    return UnimplementedMethod("PjRtTopologyDescription::" #Method);          \
  }

using DeviceCoordinate = std::pair<PjRtDeviceDimensions, int>;
using ProcessPlace = std::pair<ProcessId, int>;

PJRT_LEFT_OUT_(uint64_t, Fingerprint)
PJRT_LEFT_OUT_(std::string, Serialize)
PJRT_LEFT_OUT_(Shape, MakeCanonicalShapeForMemorySpace, int, Shape, const Layout*)
PJRT_LEFT_OUT_(DeviceAssignment, GetDefaultDeviceAssignment, int, int, std::optional<int>, int,
               const MultiSliceConfig*)
PJRT_LEFT_OUT_(std::unique_ptr<PjRtTopologyDescription>, Subslice, const PjRtDeviceDimensions&,
               const PjRtDeviceDimensions&)
PJRT_LEFT_OUT_(int, ProcessCount)
PJRT_LEFT_OUT_(int, ChipsPerProcess)
PJRT_LEFT_OUT_(int, CoreCountOfDefaultTypePerChip)
PJRT_LEFT_OUT_(int, LogicalDeviceCountOfDefaultTypePerChip)
PJRT_LEFT_OUT_(PjRtIdContainer<ProcessId>, ProcessIds)
PJRT_LEFT_OUT_(PjRtIdContainer<GlobalDeviceId>, LogicalDeviceOfDefaultTypeIdsOnProcess, ProcessId)
PJRT_LEFT_OUT_(ProcessPlace, ProcessIdAndIndexOnProcessForChip, GlobalChipId)
PJRT_LEFT_OUT_(ProcessPlace, ProcessIdAndIndexOnProcessForLogicalDeviceOfDefaultType,
               GlobalDeviceId)
PJRT_LEFT_OUT_(PjRtDeviceDimensions, ProcessCoordFromId, ProcessId)
PJRT_LEFT_OUT_(GlobalChipId, ChipIdFromCoord, const PjRtDeviceDimensions&)
PJRT_LEFT_OUT_(GlobalDeviceId, LogicalDeviceOfDefaultTypeIdFromChipCoordAndCoreIndex,
               const PjRtDeviceDimensions&, int)
PJRT_LEFT_OUT_(DeviceCoordinate, ChipCoordAndCoreIndexForLogicalDeviceOfDefaultType, GlobalDeviceId)
PJRT_LEFT_OUT_(PjRtDeviceDimensions, ChipsPerProcessBounds)
PJRT_LEFT_OUT_(PjRtDeviceDimensions, ChipBounds)
PJRT_LEFT_OUT_(PjRtDeviceDimensions, ProcessBounds)

#undef PJRT_LEFT_OUT_

struct PjRtTopologyDescriptionRegistry::Impl {
  mutable std::mutex mutex;
  std::map<PjRtPlatformId, Deserializer> deserializers;
};

PjRtTopologyDescriptionRegistry::PjRtTopologyDescriptionRegistry()
    : impl_(std::make_unique<Impl>()) {}
PjRtTopologyDescriptionRegistry::~PjRtTopologyDescriptionRegistry() = default;

absl::Status PjRtTopologyDescriptionRegistry::Register(absl::string_view platform_name,
                                                       Deserializer deserializer) {
  if (deserializer == nullptr) {
    return InvalidArgument("PJRT-R068", "null topology deserializer for platform: ", platform_name);
  }
  std::lock_guard<std::mutex> lock(impl_->mutex);
  const bool is_new =
      impl_->deserializers.emplace(PlatformIdFromName(platform_name), std::move(deserializer))
          .second;
  if (is_new) return absl::OkStatus();
  return AlreadyExists("PJRT-R068",
                       "there is a topology deserializer for platform: ", platform_name);
}

absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>>
PjRtTopologyDescriptionRegistry::Deserialize(absl::string_view platform_name,
                                             absl::string_view serialized) const {
  return Deserialize(PlatformIdFromName(platform_name), serialized);
}

absl::StatusOr<std::unique_ptr<PjRtTopologyDescription>>
PjRtTopologyDescriptionRegistry::Deserialize(PjRtPlatformId platform_id,
                                             absl::string_view serialized) const {
  Deserializer deserializer;
  {
    std::lock_guard<std::mutex> lock(impl_->mutex);
    const auto it = impl_->deserializers.find(platform_id);
    if (it != impl_->deserializers.end()) deserializer = it->second;
  }
  if (deserializer == nullptr) {
    return NotFound("PJRT-R068", "No topology deserializer for platform id: ", platform_id);
  }
  return deserializer(serialized);
}

}  // namespace pjrt
