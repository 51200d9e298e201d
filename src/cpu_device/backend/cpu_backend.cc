// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/backend/cpu_backend.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "pjrt/backend/common_client.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/passes.h"
#include "pjrt/topology.h"
#include "src/core/base/error.h"
#include "src/core/base/memory_guard.h"
#include "src/core/base/status_macros.h"
#include "src/cpu_device/backend/cpu_program.h"
#include "src/cpu_device/backend/cpu_topology.h"
#include "src/cpu_device/compile/lowering.h"

namespace pjrt::cpu {
namespace {

// Programs estimated to take less run on the calling thread: handing them over, and waking whoever
// waits, costs 10 to 40 us. Estimates are some four times too high where arrays stay in the caches:
// this is about 100 us.
constexpr double kInlineNs = 400000;

// Work handed to the pool. Whoever comes first runs it: a thread of the pool, or the thread that
// waits for the result, which would otherwise sleep until a pool thread has woken up and then be
// woken itself.
class PendingExecution {
 public:
  PendingExecution(Execution execution, Executor* executor, int threads)
      : execution_(std::move(execution)), executor_(executor), threads_(threads) {}
  void set_promise(Promise<> promise) { promise_ = std::move(promise); }

  void RunOnce() {
    if (claimed_.exchange(true, std::memory_order_acq_rel)) return;
    promise_.Set(execution_.Run(executor_, threads_));
  }

 private:
  std::atomic<bool> claimed_{false};
  Execution execution_;
  Executor* executor_;
  int threads_;
  Promise<> promise_;
};

}  // namespace

CpuBackend::CpuBackend(const CpuClientOptions& options, const Kernels* kernels, int threads)
    : kernels_(kernels),
      threads_(threads),
      keep_f32_(options.keep_f32_in_fusions),
      customize_(options.customize_compile_options),
      custom_calls_(options.custom_calls),
      devices_(MakeCpuDevices(options.process_id, options.cpu_device_count.value_or(1))),
      memories_(MakeCpuMemories(devices_)),
      engine_(MakeBlockEngine(*kernels)),
      allocator_(std::make_shared<CachingAllocator>(options.max_cached_bytes, options.allocator)) {
  // Kernels need no more than the alignment of an element; this is what zero-copy imports are held
  // to.
  limits_.alignment = 16;
  for (BackendDevice& device : devices_) {
    device.attributes["kernel_level"] = std::string(kernels->name);
    device.attributes["kernel_level_needs"] = std::string(kernels->required);
    device.attributes["threads"] = int64_t{threads};
  }
  if (options.executor != nullptr) {
    executor_ = options.executor;
  } else if (threads > 1) {
    pool_ = std::make_unique<ThreadPool>(threads);
    executor_ = pool_.get();
  }
}

CpuBackend::~CpuBackend() = default;

absl::StatusOr<RawBufferRef> CpuBackend::Allocate(int memory, size_t size) {
  return CpuRawBuffer::Allocate(allocator_, memory, size);
}

absl::StatusOr<RawBufferRef> CpuBackend::Import(int memory, void* data, size_t size,
                                                bool is_writable,
                                                absl::AnyInvocable<void() &&> on_release) {
  return RawBufferRef::Adopt(
      new ImportedRawBuffer(memory, data, size, is_writable, std::move(on_release)));
}

ir::PassOptions CpuBackend::pass_options() const {
  ir::PassOptions options;
  options.claims = [calls = custom_calls_](const ir::Op& op) { return ClaimsOp(op, calls.get()); };
  return options;
}

absl::StatusOr<std::shared_ptr<const DeviceProgram>> CpuBackend::Compile(
    std::unique_ptr<ir::Module> module, const CompileOptions& options,
    const ResolvedAssignment& assignment) {
  if (assignment.num_replicas * assignment.num_partitions > 1) {
    return Unimplemented("PJRT-C033",
                         absl::StrCat("programs for several devices (", assignment.num_replicas,
                                      " replicas x ", assignment.num_partitions,
                                      " partitions) are not supported by the CPU device"));
  }
  LoweringOptions lowering;
  lowering.keep_f32 = keep_f32_;
  lowering.custom_calls = custom_calls_.get();
  CompileOptions customized = options;
  if (customize_) customize_(customized);
  PJRT_ASSIGN_OR_RETURN(CompiledModule compiled, WithMemoryGuard("compiling the program", [&] {
                          return CompileModule(std::move(module), customized, *kernels_, *engine_,
                                               lowering);
                        }));
  return std::shared_ptr<const DeviceProgram>(
      std::make_shared<CpuProgram>(std::move(compiled), allocator_));
}

Future<> CpuBackend::Launch(const LaunchArgs& args) {
  const int default_memory = 3 * args.device;
  absl::StatusOr<Execution> execution = Execution::Prepare(args, allocator_, default_memory);
  if (!execution.ok()) return Future<>(execution.status());
  const double cost_ns = static_cast<const CpuProgram*>(args.program)->plan().cost_ns;
  const bool is_inline = executor_ == nullptr || args.mode == LaunchMode::kInline ||
                         (args.mode == LaunchMode::kBackendDecides && cost_ns < kInlineNs);
  if (is_inline) return Future<>(execution->Run(executor_, threads_));
  if (args.was_dispatched != nullptr) *args.was_dispatched = true;
  auto pending = std::make_shared<PendingExecution>(*std::move(execution), executor_, threads_);
  auto [promise, future] = MakePromise<>([weak = std::weak_ptr<PendingExecution>(pending)] {
    if (std::shared_ptr<PendingExecution> work = weak.lock()) work->RunOnce();
    return FutureHelpers::ProfilingKeys();
  });
  pending->set_promise(std::move(promise));
  executor_->Execute([pending = std::move(pending)] { pending->RunOnce(); });
  return std::move(future);
}

}  // namespace pjrt::cpu

namespace pjrt {
namespace {

absl::Status CheckAtLeast(absl::string_view option, int64_t given, int64_t least) {
  if (given >= least) return absl::OkStatus();
  return InvalidArgument("PJRT-C034", absl::StrCat("CpuClientOptions::", option, " is ", given,
                                                   "; expected at least ", least));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PjRtClient>> GetCpuClient(CpuClientOptions options) {
  PJRT_RETURN_IF_ERROR(CheckAtLeast("cpu_device_count", options.cpu_device_count.value_or(1), 1));
  PJRT_RETURN_IF_ERROR(CheckAtLeast("threads", options.threads, 0));
  PJRT_RETURN_IF_ERROR(CheckAtLeast("executor_concurrency", options.executor_concurrency, 0));
  PJRT_RETURN_IF_ERROR(CheckAtLeast("process_id", options.process_id, 0));
  if (options.cpu_device_count.value_or(1) > 2048) {
    return InvalidArgument("PJRT-C034",
                           absl::StrCat("CpuClientOptions::cpu_device_count is ",
                                        *options.cpu_device_count, "; expected at most 2048"));
  }
  if (options.topology != nullptr) {
    const size_t count = options.topology->DeviceDescriptions().size();
    if (count != static_cast<size_t>(options.cpu_device_count.value_or(1))) {
      return InvalidArgument("PJRT-C035", absl::StrCat("CpuClientOptions::topology has ", count,
                                                       " devices; expected cpu_device_count, ",
                                                       options.cpu_device_count.value_or(1)));
    }
  }
  PJRT_ASSIGN_OR_RETURN(const cpu::Kernels* kernels, cpu::ChooseKernels(options.kernel_level));
  int threads = options.executor != nullptr ? options.executor_concurrency : options.threads;
  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  CommonClientOptions common;
  common.asynchronous = options.asynchronous;
  common.max_inflight_computations_per_device = options.max_inflight_computations_per_device;
  common.process_index = options.process_id;
  common.max_transpose_threads = options.max_transpose_threads;
  return MakeCommonPjRtClient(std::make_unique<cpu::CpuBackend>(options, kernels, threads),
                              std::move(common));
}

}  // namespace pjrt
