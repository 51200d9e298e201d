// SPDX-License-Identifier: Apache-2.0
//
// Running programs at each kernel level.
#ifndef PJRT_TESTS_CPU_LEVEL_TEST_H_
#define PJRT_TESTS_CPU_LEVEL_TEST_H_

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "tests/cpu/cpu_test_util.h"

namespace pjrt::cpu {

// A client that runs everything on the calling thread, by the kernels of a level that this machine
// supports.
inline std::unique_ptr<PjRtClient> MakeClientOf(const Kernels& level) {
  CpuClientOptions options = WithThreads(1);
  options.kernel_level = level.name;
  return MakeClient(std::move(options));
}

// Tests of programs at a level, for INSTANTIATE_TEST_SUITE_P(Levels, ..., EachLevel(), LevelName).
// Those that this machine lacks are skipped.
class LevelTest : public testing::TestWithParam<const Kernels*> {
 protected:
  void SetUp() override {
    if (!GetParam()->supported())
      GTEST_SKIP() << "this machine lacks some of " << GetParam()->required;
    client_ = MakeClientOf(*GetParam());
  }

  // Runs everything on the calling thread, at the level.
  PjRtClient& client() { return *client_; }

 private:
  std::unique_ptr<PjRtClient> client_;
};

inline auto EachLevel() { return testing::ValuesIn(AllKernels()); }
inline std::string LevelName(const testing::TestParamInfo<const Kernels*>& level) {
  return std::string(level.param->name);
}

}  // namespace pjrt::cpu

#endif  // PJRT_TESTS_CPU_LEVEL_TEST_H_
