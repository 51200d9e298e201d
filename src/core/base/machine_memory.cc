// SPDX-License-Identifier: Apache-2.0
#include "src/core/base/machine_memory.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <fstream>

#include "src/core/base/checked_math.h"

namespace pjrt {
namespace {

constexpr int64_t kNoLimit = int64_t{1} << 56;  // no address space is larger

// The limits of control groups of version 2 and 1: a number, or "max".
int64_t GroupLimit() {
  int64_t limit = kNoLimit;
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    int64_t bytes = 0;
    if (std::ifstream(path) >> bytes && bytes > 0) limit = std::min(limit, bytes);
  }
  return limit;
}

int64_t ReadMachineMemory() {
  struct sysinfo info = {};
  if (sysinfo(&info) != 0) return kNoLimit;
  const int64_t unit = info.mem_unit;
  const int64_t memory = SaturatingMultiply(static_cast<int64_t>(info.totalram), unit);
  const int64_t swap = SaturatingMultiply(static_cast<int64_t>(info.totalswap), unit);
  return SaturatingAdd(std::min(memory, GroupLimit()), swap);
}

}  // namespace

int64_t MachineMemory() {
  static const int64_t memory = ReadMachineMemory();
  return memory;
}

}  // namespace pjrt
