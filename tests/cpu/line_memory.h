// SPDX-License-Identifier: Apache-2.0
//
// Memory that begins a cache line, as buffers do.
#ifndef PJRT_TESTS_CPU_LINE_MEMORY_H_
#define PJRT_TESTS_CPU_LINE_MEMORY_H_

#include <cstdint>
#include <vector>

#include "src/cpu_device/kernels/round_up.h"

namespace pjrt::cpu {

class LineMemory {
 public:
  explicit LineMemory(int64_t bytes) : bytes_(bytes + kAlignment), size_(bytes) {
    const auto address = reinterpret_cast<intptr_t>(bytes_.data());
    begin_ = bytes_.data() + (AlignUp(address) - address);
  }
  char* data() { return begin_; }
  int64_t size() const { return size_; }

 private:
  std::vector<char> bytes_;
  char* begin_;
  int64_t size_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_LINE_MEMORY_H_
