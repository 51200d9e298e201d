// SPDX-License-Identifier: Apache-2.0
//
// MemoryBackend: a backend for tests, and about what a vendor writes. Its devices are pieces of
// host memory; its programs are C++ functions.
#ifndef PJRT_TESTS_RUNTIME_MEMORY_BACKEND_H_
#define PJRT_TESTS_RUNTIME_MEMORY_BACKEND_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "pjrt/backend/backend.h"
#include "pjrt/base/executor.h"

namespace pjrt::testing {

// A few threads that run tasks in the order in which they come.
class TestPool final : public Executor {
 public:
  explicit TestPool(int threads);
  ~TestPool() override;
  void Execute(Task task) override;

 private:
  void Work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Task> tasks_;
  bool is_closing_ = false;
  std::vector<std::thread> threads_;
};

// What a kernel sees of its launch.
struct KernelArgs {
  const LaunchArgs* launch;  // spans and options are those of the call, and gone by now
  std::vector<const void*> inputs;
  std::vector<void*> outputs;

  template <typename T>
  const T* input(int i) const {
    return static_cast<const T*>(inputs[i]);
  }
  template <typename T>
  T* output(int i) const {
    return static_cast<T*>(outputs[i]);
  }
};
using Kernel = std::function<absl::Status(const KernelArgs&)>;

class KernelProgram final : public DeviceProgram {
 public:
  KernelProgram(ProgramInfo info, Kernel kernel)
      : DeviceProgram(std::move(info)), kernel_(std::move(kernel)) {}
  const Kernel& kernel() const { return kernel_; }
  absl::StatusOr<std::string> Serialize() const override { return info().name; }

 private:
  Kernel kernel_;
};

struct MemoryBackendOptions {
  int num_devices = 1;
  int num_foreign_devices = 0;  // devices of another process
  int threads = 2;              // 0: everything on the calling thread
  bool is_host_accessible = true;
  size_t max_bytes = size_t{1} << 40;
  BackendLimits limits;
  // What Compile makes of a module; without it, Compile is UNIMPLEMENTED.
  std::function<absl::StatusOr<std::shared_ptr<const DeviceProgram>>(const ir::Module&)> compile;
};

class MemoryBackend final : public Backend {
 public:
  explicit MemoryBackend(MemoryBackendOptions options);
  ~MemoryBackend() override;

  // Programs that DeserializeProgram finds by name.
  void AddProgram(std::shared_ptr<const DeviceProgram> program) {
    programs_.push_back(std::move(program));
  }
  int64_t bytes_in_use() const { return bytes_in_use_.load(); }
  int64_t num_allocations() const { return num_allocations_.load(); }

  absl::string_view platform_name() const override { return "memory"; }
  absl::string_view platform_version() const override { return "test"; }
  absl::Span<const BackendDevice> devices() const override { return devices_; }
  absl::Span<const BackendMemory> memories() const override { return memories_; }
  const BackendLimits& limits() const override { return options_.limits; }
  Executor* executor() override { return pool_.get(); }

  absl::StatusOr<RawBufferRef> Allocate(int memory, size_t size) override;
  absl::StatusOr<RawBufferRef> Import(int memory, void* data, size_t size, bool is_writable,
                                      absl::AnyInvocable<void() &&> on_release) override;
  Future<> CopyHostToDevice(const void* source, RawBuffer* destination, size_t offset,
                            size_t size) override;
  Future<> CopyDeviceToHost(RawBuffer* source, size_t offset, size_t size,
                            void* destination) override;
  Future<> CopyDeviceToDevice(RawBuffer* source, RawBuffer* destination) override;

  absl::StatusOr<std::shared_ptr<const DeviceProgram>> Compile(
      std::unique_ptr<ir::Module> module, const CompileOptions& options,
      const ResolvedAssignment& assignment) override;
  absl::StatusOr<std::shared_ptr<const DeviceProgram>> DeserializeProgram(
      absl::string_view serialized, const CompileOptions& options,
      const ResolvedAssignment& assignment) override;
  Future<> Launch(const LaunchArgs& args) override;
  absl::StatusOr<AllocatorStats> GetAllocatorStats(int device) const override;

 private:
  Future<> RunCopy(std::function<void()> copy);

  MemoryBackendOptions options_;
  std::vector<BackendDevice> devices_;
  std::vector<BackendMemory> memories_;
  std::vector<std::shared_ptr<const DeviceProgram>> programs_;
  std::atomic<int64_t> bytes_in_use_{0};
  std::atomic<int64_t> num_allocations_{0};
  std::unique_ptr<TestPool> pool_;
};

}  // namespace pjrt::testing

#endif  // PJRT_TESTS_RUNTIME_MEMORY_BACKEND_H_
