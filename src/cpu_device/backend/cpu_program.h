// SPDX-License-Identifier: Apache-2.0
//
// A compiled program and its launches.
#ifndef PJRT_SRC_CPU_DEVICE_BACKEND_CPU_PROGRAM_H_
#define PJRT_SRC_CPU_DEVICE_BACKEND_CPU_PROGRAM_H_

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "pjrt/backend/backend.h"
#include "pjrt/base/future.h"
#include "src/cpu_device/backend/cpu_memory.h"
#include "src/cpu_device/compile/compiler.h"
#include "src/cpu_device/run/plan.h"
#include "src/cpu_device/run/team.h"

namespace pjrt::cpu {

class CpuProgram final : public DeviceProgram {
 public:
  CpuProgram(CompiledModule compiled, std::shared_ptr<CachingAllocator> allocator)
      : DeviceProgram(std::move(compiled.info)),
        plan_(std::move(compiled.plan)),
        allocator_(std::move(allocator)) {}
  ~CpuProgram() override;

  const Plan& plan() const { return plan_; }

  // Working memory for one execution by up to `threads` threads. The one last returned is kept for
  // the next execution.
  absl::StatusOr<CachingAllocator::Block> TakeWorkspace(int threads) const;
  void ReturnWorkspace(CachingAllocator::Block block) const;

 private:
  const Plan plan_;
  const std::shared_ptr<CachingAllocator> allocator_;
  struct Spare {
    CachingAllocator::Block block;
  };
  mutable std::atomic<Spare*> spare_{nullptr};
};

// One execution: the program's memory and what to run it with.
class Execution {
 public:
  // Allocates the results that do not take over an argument's memory, and puts them into
  // args.outputs.
  static absl::StatusOr<Execution> Prepare(const LaunchArgs& args,
                                           const std::shared_ptr<CachingAllocator>& allocator,
                                           int memory);

  // Runs the plan on the calling thread and up to threads - 1 helpers on `executor`.
  absl::Status Run(Executor* executor, int threads) const;

 private:
  const CpuProgram* program_ = nullptr;
  absl::InlinedVector<const char*, 8> arguments_;
  absl::InlinedVector<char*, 4> results_;
  RunInfo info_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_BACKEND_CPU_PROGRAM_H_
