// SPDX-License-Identifier: Apache-2.0
//
// What the loaded executables of the common client have in common: where they run, and whether they
// still may.
#ifndef PJRT_CORE_RUNTIME_ASSIGNED_EXECUTABLE_H_
#define PJRT_CORE_RUNTIME_ASSIGNED_EXECUTABLE_H_

#include <atomic>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/executable.h"
#include "src/core/runtime/common_client_impl.h"

namespace pjrt {

// A device of an assignment that this process can reach, and its place in it.
struct AddressablePart {
  CommonDevice* device = nullptr;
  int replica = 0;
  int partition = 0;
};

class AssignedExecutable : public PjRtLoadedExecutable {
 public:
  PjRtClient* client() const final { return client_; }
  const DeviceAssignment& device_assignment() const final { return *device_assignment_; }
  absl::Span<const LogicalDeviceIds> addressable_device_logical_ids() const final {
    return logical_ids_;
  }
  absl::Span<PjRtDevice* const> addressable_devices() const final { return devices_; }
  void Delete() final { is_deleted_.store(true, std::memory_order_release); }
  bool IsDeleted() const final { return is_deleted_.load(std::memory_order_acquire); }

 protected:
  AssignedExecutable(CommonPjRtClient* client, ResolvedAssignment assignment);

  // Finds the devices; returns them, replica-major. To be called once, before anything else.
  // NOT_FOUND or INVALID_ARGUMENT for devices that the client lacks.
  absl::StatusOr<std::vector<AddressablePart>> FindDevices();

  // FAILED_PRECONDITION [PJRT-R058], naming the caller, once deleted.
  absl::Status CheckAlive(absl::string_view caller) const;
  // The same, and INVALID_ARGUMENT [PJRT-R059] for a portable executable.
  absl::Status CheckAssigned(absl::string_view caller) const;
  // The same, and [PJRT-R060] for another number of argument lists than there are devices.
  absl::Status CheckLists(absl::string_view caller, size_t lists) const {
    // A portable executable has no devices.
    const bool is_fine = !IsDeleted() && lists == devices_.size() && lists != 0;
    return is_fine ? absl::OkStatus() : ListsError(caller, lists);
  }

  bool has_assignment() const { return resolved_.device_assignment != nullptr; }

  CommonPjRtClient* const client_;
  const ResolvedAssignment resolved_;
  // 0 x 0 for a portable executable.
  const std::shared_ptr<const DeviceAssignment> device_assignment_;

 private:
  // Which of its checks it is that CheckLists found to fail.
  absl::Status ListsError(absl::string_view caller, size_t lists) const;

  std::vector<LogicalDeviceIds> logical_ids_;
  std::vector<PjRtDevice*> devices_;
  std::atomic<bool> is_deleted_{false};
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_ASSIGNED_EXECUTABLE_H_
