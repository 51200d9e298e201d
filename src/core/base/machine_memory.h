// SPDX-License-Identifier: Apache-2.0
//
// How much memory the machine has. A system may promise more, and end the process that uses it; so
// who allocates as much as a program says asks here first.
#ifndef PJRT_CORE_BASE_MACHINE_MEMORY_H_
#define PJRT_CORE_BASE_MACHINE_MEMORY_H_

#include <cstdint>

namespace pjrt {

// Bytes of memory and swap, of memory no more than the process's control group may use. The same
// number at each call; the first one reads files.
int64_t MachineMemory();

}  // namespace pjrt

#endif  // PJRT_CORE_BASE_MACHINE_MEMORY_H_
