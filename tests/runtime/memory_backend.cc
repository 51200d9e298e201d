// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/memory_backend.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "pjrt/base/future_join.h"
#include "pjrt/host_memory_spaces.h"
#include "pjrt/ir/module.h"

namespace pjrt::testing {

TestPool::TestPool(int threads) {
  for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

TestPool::~TestPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void TestPool::Execute(Task task) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void TestPool::Work() {
  while (true) {
    Task task;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return is_closing_ || !tasks_.empty(); });
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    std::move(task)();
  }
}

namespace {

class OwnedMemory final : public RawBuffer {
 public:
  OwnedMemory(int memory, size_t size, void* data, bool is_host_accessible,
              std::atomic<int64_t>* bytes_in_use)
      : RawBuffer(memory, size, data, is_host_accessible ? data : nullptr),
        bytes_in_use_(bytes_in_use) {
    bytes_in_use_->fetch_add(static_cast<int64_t>(size));
  }

 private:
  ~OwnedMemory() override {
    bytes_in_use_->fetch_sub(static_cast<int64_t>(size()));
    std::free(device_pointer());
  }

  std::atomic<int64_t>* bytes_in_use_;
};

class ForeignMemory final : public RawBuffer {
 public:
  ForeignMemory(int memory, size_t size, void* data, bool is_host_accessible, bool is_writable,
                absl::AnyInvocable<void() &&> on_release)
      : RawBuffer(memory, size, data, is_host_accessible ? data : nullptr, is_writable),
        on_release_(std::move(on_release)) {}

 private:
  ~ForeignMemory() override {
    if (on_release_) std::move(on_release_)();
  }

  absl::AnyInvocable<void() &&> on_release_;
};

}  // namespace

MemoryBackend::MemoryBackend(MemoryBackendOptions options) : options_(options) {
  const int n = options.num_devices + options.num_foreign_devices;
  for (int i = 0; i < n; ++i) {
    BackendDevice device;
    device.id = i;
    device.is_addressable = i < options.num_devices;
    device.process_index = device.is_addressable ? 0 : 1;
    device.local_device_id = device.is_addressable ? i : -1;
    device.local_hardware_id = device.local_device_id;
    device.kind = "memory";
    device.to_string = absl::StrCat("MemoryDevice(id=", i, ")");
    device.debug_string = absl::StrCat("memory:", i);
    devices_.push_back(std::move(device));
    if (i >= options.num_devices) continue;
    int next_id = 2 * i;
    for (const char* kind : {"device", "pinned_host"}) {
      BackendMemory memory;
      memory.id = next_id++;
      memory.device = i;
      memory.kind = kind;
      memory.kind_id = FingerprintKind(kind);
      memory.is_host_accessible = options.is_host_accessible;
      memory.to_string = absl::StrCat(kind, "_", i);
      memory.debug_string = absl::StrCat("MemorySpace(", kind, ", ", i, ")");
      memories_.push_back(std::move(memory));
    }
  }
  if (options.threads > 0) pool_ = std::make_unique<TestPool>(options.threads);
}

MemoryBackend::~MemoryBackend() = default;

absl::StatusOr<RawBufferRef> MemoryBackend::Allocate(int memory, size_t size) {
  if (static_cast<size_t>(bytes_in_use_.load()) + size > options_.max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("Out of memory allocating ", size, " bytes."));
  }
  num_allocations_.fetch_add(1);
  void* data = std::aligned_alloc(64, (size + 64) / 64 * 64);
  return RawBufferRef::Adopt(
      new OwnedMemory(memory, size, data, options_.is_host_accessible, &bytes_in_use_));
}

absl::StatusOr<RawBufferRef> MemoryBackend::Import(int memory, void* data, size_t size,
                                                   bool is_writable,
                                                   absl::AnyInvocable<void() &&> on_release) {
  return RawBufferRef::Adopt(new ForeignMemory(memory, size, data, options_.is_host_accessible,
                                               is_writable, std::move(on_release)));
}

Future<> MemoryBackend::RunCopy(std::function<void()> copy) {
  if (pool_ == nullptr) {
    copy();
    return absl::OkStatus();
  }
  return MakeFutureOn(*pool_, std::move(copy));
}

Future<> MemoryBackend::CopyHostToDevice(const void* source, RawBuffer* destination, size_t offset,
                                         size_t size) {
  char* to = static_cast<char*>(destination->device_pointer()) + offset;
  return RunCopy([=] { std::memcpy(to, source, size); });
}

Future<> MemoryBackend::CopyDeviceToHost(RawBuffer* source, size_t offset, size_t size,
                                         void* destination) {
  const char* from = static_cast<const char*>(source->device_pointer()) + offset;
  return RunCopy([=] { std::memcpy(destination, from, size); });
}

Future<> MemoryBackend::CopyDeviceToDevice(RawBuffer* source, RawBuffer* destination) {
  void* to = destination->device_pointer();
  const void* from = source->device_pointer();
  const size_t size = source->size();
  return RunCopy([=] { std::memcpy(to, from, size); });
}

absl::StatusOr<std::shared_ptr<const DeviceProgram>> MemoryBackend::Compile(
    std::unique_ptr<ir::Module> module, const CompileOptions&, const ResolvedAssignment&) {
  if (options_.compile != nullptr) return options_.compile(*module);
  return absl::UnimplementedError("this device runs no ops");
}

absl::StatusOr<std::shared_ptr<const DeviceProgram>> MemoryBackend::DeserializeProgram(
    absl::string_view serialized, const CompileOptions&, const ResolvedAssignment&) {
  for (const auto& program : programs_) {
    if (program->info().name == serialized) return program;
  }
  return absl::InvalidArgumentError(absl::StrCat("no program named ", serialized));
}

Future<> MemoryBackend::Launch(const LaunchArgs& args) {
  const auto* program = static_cast<const KernelProgram*>(args.program);
  const ProgramInfo& info = program->info();
  KernelArgs kernel_args;
  for (const LaunchInput& input : args.inputs) {
    kernel_args.inputs.push_back(input.buffer->device_pointer());
  }
  for (size_t i = 0; i < info.results.size(); ++i) {
    const ProgramResult& result = info.results[i];
    const int alias = result.aliased_parameter;
    if (alias >= 0 && args.inputs[alias].is_donated) {
      args.outputs[i] = RawBufferRef(args.inputs[alias].buffer);
    } else {
      const int memory = 2 * args.device + (result.memory_kind == "pinned_host" ? 1 : 0);
      const auto size = static_cast<size_t>(PackedByteSize(result.shape));
      absl::StatusOr<RawBufferRef> raw =
          Allocate(memory, size + (result.shape.is_dynamic() ? 4 * result.shape.rank() : 0));
      if (!raw.ok()) return raw.status();
      args.outputs[i] = *std::move(raw);
    }
    kernel_args.outputs.push_back(args.outputs[i]->device_pointer());
  }
  const bool is_async =
      pool_ != nullptr && (args.mode == LaunchMode::kAsync || !args.after.empty());
  if (!is_async) {
    kernel_args.launch = &args;
    return program->kernel()(kernel_args);
  }
  *args.was_dispatched = true;
  auto launch = std::make_shared<LaunchArgs>(args);
  launch->inputs = {};
  launch->outputs = {};
  launch->options = nullptr;
  launch->was_dispatched = nullptr;
  kernel_args.launch = launch.get();
  Future<> inputs_ready = JoinFutures(args.after);
  launch->after = {};
  return inputs_ready.Map(*pool_, [program, launch, kernel_args]() -> absl::Status {
    return program->kernel()(kernel_args);
  });
}

absl::StatusOr<AllocatorStats> MemoryBackend::GetAllocatorStats(int) const {
  AllocatorStats stats;
  stats.bytes_in_use = bytes_in_use();
  stats.num_allocs = num_allocations();
  return stats;
}

}  // namespace pjrt::testing
