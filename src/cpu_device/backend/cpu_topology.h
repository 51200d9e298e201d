// SPDX-License-Identifier: Apache-2.0
//
// How CPU devices and their memories are numbered and named.
#ifndef PJRT_SRC_CPU_DEVICE_BACKEND_CPU_TOPOLOGY_H_
#define PJRT_SRC_CPU_DEVICE_BACKEND_CPU_TOPOLOGY_H_

#include <vector>

#include "pjrt/backend/backend.h"

namespace pjrt::cpu {

// Devices of one process: global id 2048 * process + local id, "CpuDevice(id=N)".
std::vector<BackendDevice> MakeCpuDevices(int process_id, int device_count);

// Three memories a device, labels for the same physical memory: device (the default), pinned_host,
// unpinned_host. Ids 3 * device id + {0, 1, 2}.
std::vector<BackendMemory> MakeCpuMemories(const std::vector<BackendDevice>& devices);

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_BACKEND_CPU_TOPOLOGY_H_
