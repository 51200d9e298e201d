// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/backend/cpu_topology.h"

#include "absl/strings/str_cat.h"
#include "pjrt/host_memory_spaces.h"

namespace pjrt::cpu {

std::vector<BackendDevice> MakeCpuDevices(int process_id, int device_count) {
  std::vector<BackendDevice> devices(device_count);
  for (int i = 0; i < device_count; ++i) {
    BackendDevice& device = devices[i];
    device.id = 2048 * process_id + i;
    device.process_index = process_id;
    device.local_device_id = i;
    device.local_hardware_id = i;
    device.kind = "cpu";
    device.to_string = absl::StrCat("CpuDevice(id=", device.id, ")");
    device.debug_string = absl::StrCat("cpu:", device.id);
  }
  return devices;
}

std::vector<BackendMemory> MakeCpuMemories(const std::vector<BackendDevice>& devices) {
  static constexpr struct {
    const char* kind;
    const char* label;
    const char* debug_name;
  } kKinds[] = {{"device", "CPU_DEVICE_", "CpuDeviceMemory"},
                {"pinned_host", "PINNED_HOST_", "PinnedHostMemory"},
                {"unpinned_host", "UNPINNED_HOST_", "UnpinnedHostMemorySpace"}};
  std::vector<BackendMemory> memories;
  for (size_t d = 0; d < devices.size(); ++d) {
    for (int k = 0; k < 3; ++k) {
      BackendMemory memory;
      memory.id = 3 * devices[d].id + k;
      memory.device = static_cast<int>(d);
      memory.kind = kKinds[k].kind;
      memory.kind_id = FingerprintKind(kKinds[k].kind);
      memory.to_string = absl::StrCat(kKinds[k].label, memory.id);
      memory.debug_string =
          absl::StrCat(kKinds[k].debug_name, "(id=", memory.id,
                       ", process_index=", devices[d].process_index, ", client=cpu)");
      memories.push_back(std::move(memory));
    }
  }
  return memories;
}

}  // namespace pjrt::cpu
