// SPDX-License-Identifier: Apache-2.0
//
// Loops that write large results past the caches, and the same ones that do not.
#ifndef PJRT_TESTS_CPU_STREAMING_TEST_H_
#define PJRT_TESTS_CPU_STREAMING_TEST_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/kernels/round_up.h"
#include "src/cpu_device/loop/loop_engine.h"

namespace pjrt::cpu {

// Memory that begins a cache line, as buffers do.
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

class StreamingTest : public testing::TestWithParam<const Kernels*> {
 protected:
  void SetUp() override {
    if (!GetParam()->supported())
      GTEST_SKIP() << "this machine lacks some of " << GetParam()->required;
    for (const bool streams : {false, true}) {
      blocks_[streams] = *GetParam()->block;
      blocks_[streams].stores_read_lines = streams;
      kernels_[streams] = *GetParam();
      kernels_[streams].block = &blocks_[streams];
      engines_[streams] = MakeBlockEngine(kernels_[streams]);
    }
  }

  BlockKernels blocks_[2];  // [1] of those that do
  Kernels kernels_[2];
  std::unique_ptr<LoopEngine> engines_[2];
};

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_STREAMING_TEST_H_
