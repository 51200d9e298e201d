// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/assigned_executable.h"

#include <utility>

#include "src/core/base/error.h"
#include "src/core/base/status_macros.h"

namespace pjrt {

AssignedExecutable::AssignedExecutable(CommonPjRtClient* client, ResolvedAssignment assignment)
    : client_(client),
      resolved_(std::move(assignment)),
      device_assignment_(resolved_.device_assignment != nullptr
                             ? resolved_.device_assignment
                             : std::make_shared<const DeviceAssignment>()) {}

absl::StatusOr<std::vector<AddressablePart>> AssignedExecutable::FindDevices() {
  std::vector<AddressablePart> parts;
  if (!has_assignment()) return parts;
  for (int r = 0; r < device_assignment_->replica_count(); ++r) {
    for (int p = 0; p < device_assignment_->computation_count(); ++p) {
      PJRT_ASSIGN_OR_RETURN(PjRtDevice * device,
                            client_->LookupDevice(device_assignment_->DeviceId(r, p)));
      if (!device->IsAddressable()) continue;
      parts.push_back({static_cast<CommonDevice*>(device), r, p});
      logical_ids_.push_back({r, p});
      devices_.push_back(device);
    }
  }
  return parts;
}

absl::Status AssignedExecutable::CheckAlive(absl::string_view caller) const {
  if (!IsDeleted()) return absl::OkStatus();
  return FailedPrecondition("PJRT-R058", caller, " of ", name(), ", which has been deleted");
}

absl::Status AssignedExecutable::CheckAssigned(absl::string_view caller) const {
  PJRT_RETURN_IF_ERROR(CheckAlive(caller));
  if (has_assignment()) return absl::OkStatus();
  return InvalidArgument("PJRT-R059", caller, " expects a non-null device_assignment; ", name(),
                         " is portable: use ExecutePortable");
}

absl::Status AssignedExecutable::ListsError(absl::string_view caller, size_t lists) const {
  PJRT_RETURN_IF_ERROR(CheckAssigned(caller));
  if (lists == devices_.size()) return absl::OkStatus();
  return InvalidArgument("PJRT-R060", "Attempted to execute with ", lists, " argument lists when ",
                         devices_.size(), " devices are addressable");
}

}  // namespace pjrt
