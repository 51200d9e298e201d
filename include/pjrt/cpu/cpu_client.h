// SPDX-License-Identifier: Apache-2.0
//
// The CPU client: runs programs on the cores of this machine. Spec: PJRT C++ API, section 3.
#ifndef PJRT_CPU_CPU_CLIENT_H_
#define PJRT_CPU_CPU_CLIENT_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "pjrt/client.h"

namespace pjrt {

struct CompileOptions;
class CustomCallRegistry;
class Executor;
class PjRtTopologyDescription;

// A piece of host memory; destroying it frees it. May be destroyed on any thread.
class CpuMemory {
 public:
  virtual ~CpuMemory() = default;
  virtual void* base() const = 0;
  virtual size_t size_bytes() const = 0;
};

// Options of a CPU client. The defaults use the whole machine as one device.
struct CpuClientOptions {
  // false: programs run on the calling thread when their inputs are ready. true: only small ones
  // do, and Execute returns before the others have run. A launch over several devices is always
  // dispatched to the pool, if there is one.
  bool asynchronous = true;

  // The number of devices, 1 when unset. They share the machine's cores and memory; more than one
  // is for programs that are written for several.
  std::optional<int> cpu_device_count;

  // While this many asynchronous executions are in flight on the device, Execute blocks; a program
  // whose inputs are ready runs in the call instead, unless it was asked for asynchronously. At
  // least 1.
  int max_inflight_computations_per_device = 32;

  // The index of this process in a distributed computation.
  int process_id = 0;

  // How many threads compute at the same time: 0 for one a core; 1 for no thread but the caller's,
  // and then everything runs on the calling thread, or on the one that makes the inputs ready.
  // Ignored when `executor` is set.
  int threads = 0;

  // A pool of the application's to run on in place of the client's own. Not owned; must outlive the
  // client. It must run tasks on at least one other thread, since tasks may wait for each other.
  Executor* executor = nullptr;
  // How many tasks of `executor` run at the same time; work is split for that many. 0 for one a
  // core.
  int executor_concurrency = 0;

  // Allocates memory of buffers and temporaries, aligned as asked; RESOURCE_EXHAUSTED when there is
  // none. Null for the client's own caching allocator.
  std::function<absl::StatusOr<std::unique_ptr<CpuMemory>>(size_t size_bytes, size_t alignment)>
      allocator;

  // Freed memory that the client's own allocator keeps for reuse, at most; 0 keeps none. Buffers
  // and temporaries above this are returned to the system at once, and sizes that were not asked
  // for for long (not in 16 times as many bytes) make room for others.
  size_t max_cached_bytes = size_t{256} << 20;

  // How many threads one transfer that has to transpose may use. At least 1.
  int max_transpose_threads = 8;

  // The devices of all processes, for distributed computations; null for those of this process
  // alone. Not owned, needed only during the call. INVALID_ARGUMENT when its number of devices
  // isn't cpu_device_count.
  const PjRtTopologyDescription* topology = nullptr;

  // Called on the options of each compilation before it begins, on the thread that compiles; may
  // change them, and must be safe to call from several threads. Null for none.
  std::function<void(CompileOptions&)> customize_compile_options;

  // The functions that programs can call by name, beside the built-in ones: see
  // pjrt/cpu/custom_call.h. Not to be changed once the client is made. Null for none.
  std::shared_ptr<const CustomCallRegistry> custom_calls;

  // The instruction set to compute with, by name: "baseline", "avx2", "avx512", "neon". Empty for
  // the best that the machine has. INVALID_ARGUMENT for one that it hasn't or this build doesn't
  // contain.
  std::string kernel_level;

  // Whether bf16 values may stay in f32 inside a fused loop, instead of being rounded after each
  // operation as those of all other types are.
  bool keep_f32_in_fusions = true;
};

// Makes a CPU client. INVALID_ARGUMENT, naming the option, for a value out of its range. Its
// devices have the attributes "kernel_level" ("avx2"), "kernel_level_needs" (the instruction sets
// that the level is made of, as text) and "threads" (how many compute at the same time, 64-bit
// integer). stablehlo.rng draws from ExecuteOptions::seed alone: executions with equal seeds, 0
// included, give equal numbers, while the ops of a program, and the iterations of its loops, give
// different ones.
absl::StatusOr<std::unique_ptr<PjRtClient>> GetCpuClient(
    CpuClientOptions options = CpuClientOptions());

// The names that existing code uses.
inline absl::StatusOr<std::unique_ptr<PjRtClient>> GetPjRtCpuClient(CpuClientOptions options) {
  return GetCpuClient(std::move(options));
}
inline absl::StatusOr<std::unique_ptr<PjRtClient>> GetXlaPjrtCpuClient(CpuClientOptions options) {
  return GetCpuClient(std::move(options));
}

}  // namespace pjrt

#endif  // PJRT_CPU_CPU_CLIENT_H_
