// SPDX-License-Identifier: Apache-2.0
//
// The CPU as a Backend.
#ifndef PJRT_SRC_CPU_DEVICE_BACKEND_CPU_BACKEND_H_
#define PJRT_SRC_CPU_DEVICE_BACKEND_CPU_BACKEND_H_

#include <memory>
#include <vector>

#include "pjrt/backend/backend.h"
#include "pjrt/cpu/cpu_client.h"
#include "src/cpu_device/backend/cpu_memory.h"
#include "src/cpu_device/backend/thread_pool.h"
#include "src/cpu_device/kernels/kernel_level.h"
#include "src/cpu_device/loop/loop_engine.h"

namespace pjrt::cpu {

class CpuBackend final : public Backend {
 public:
  // `threads` >= 1; with 1 and no executor, everything runs on the calling thread.
  CpuBackend(const CpuClientOptions& options, const Kernels* kernels, int threads);
  ~CpuBackend() override;

  absl::string_view platform_name() const override { return "cpu"; }
  absl::string_view platform_version() const override { return "cpu"; }
  absl::Span<const BackendDevice> devices() const override { return devices_; }
  absl::Span<const BackendMemory> memories() const override { return memories_; }
  const BackendLimits& limits() const override { return limits_; }

  absl::StatusOr<RawBufferRef> Allocate(int memory, size_t size) override;
  absl::StatusOr<RawBufferRef> Import(int memory, void* data, size_t size, bool is_writable,
                                      absl::AnyInvocable<void() &&> on_release) override;
  absl::StatusOr<std::shared_ptr<const DeviceProgram>> Compile(
      std::unique_ptr<ir::Module> module, const CompileOptions& options,
      const ResolvedAssignment& assignment) override;
  ir::PassOptions pass_options() const override;
  Future<> Launch(const LaunchArgs& args) override;
  Executor* executor() override { return executor_; }
  absl::StatusOr<AllocatorStats> GetAllocatorStats(int) const override {
    return allocator_->stats();
  }
  absl::Status ClearMemoryStats(int) override {
    allocator_->ClearPeak();
    return absl::OkStatus();
  }

  const Kernels& kernels() const { return *kernels_; }
  int threads() const { return threads_; }

 private:
  const Kernels* kernels_;
  const int threads_;
  const bool keep_f32_;
  const std::function<void(CompileOptions&)> customize_;
  const std::shared_ptr<const CustomCallRegistry> custom_calls_;
  std::vector<BackendDevice> devices_;
  std::vector<BackendMemory> memories_;
  BackendLimits limits_;
  std::unique_ptr<LoopEngine> engine_;
  std::shared_ptr<CachingAllocator> allocator_;
  Executor* executor_ = nullptr;
  std::unique_ptr<ThreadPool> pool_;  // last: its threads use the rest
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_BACKEND_CPU_BACKEND_H_
