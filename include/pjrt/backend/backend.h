// SPDX-License-Identifier: Apache-2.0
//
// Backend: what a new device has to be able to do.
//
// There are two doors for new hardware. One is to implement the abstract classes (PjRtClient,
// PjRtBuffer, ...) whole. This is the other: a backend describes its devices, allocates memory,
// copies bytes, compiles a module and launches the result. CommonPjRtClient (common_client.h) makes
// a complete PjRtClient of that: holds, donation, error poisoning, readiness, layouts, strides,
// asynchronous transfers, argument checks, launches over several devices.
//
//   class MyBackend : public pjrt::Backend { ... };
//   auto client = pjrt::MakeCommonPjRtClient(std::make_unique<MyBackend>(), {});
//
// What the common client promises a backend:
//   * An operation is called only when what it reads is defined and what it writes may be written;
//     launches alone may come earlier, if the backend says in its limits that it queues work.
//   * Raw buffers and programs given to an operation stay alive until the future that the operation
//     returned is ready.
//   * No lock is held while the backend is called. A backend may complete its futures on any
//     thread.
#ifndef PJRT_BACKEND_BACKEND_H_
#define PJRT_BACKEND_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/allocator_stats.h"
#include "pjrt/backend/device_program.h"
#include "pjrt/backend/raw_buffer.h"
#include "pjrt/base/future.h"
#include "pjrt/base/layout.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/compile_options.h"
#include "pjrt/device_assignment.h"
#include "pjrt/execute_options.h"
#include "pjrt/ids.h"
#include "pjrt/support_report.h"

namespace pjrt {

class Executor;
class LiteralSlice;
class MutableBorrowingLiteral;
class PjRtTopologyDescription;

namespace ir {
class Module;
struct PassOptions;
}  // namespace ir

// A memory space of a backend.
struct BackendMemory {
  int id = 0;        // unique in the client
  int device = 0;    // the device that it is attached to: an index into Backend::devices()
  std::string kind;  // "device"
  int kind_id = 0;   // equal exactly for equal kinds: FingerprintKind (host_memory_spaces.h)
  bool is_host_accessible = true;  // whether its raw buffers have a host_pointer()
  std::string to_string;           // see PjRtMemorySpace
  std::string debug_string;
};

// A device of a backend.
struct BackendDevice {
  int id = 0;  // unique in all processes
  int process_index = 0;
  bool is_addressable = true;
  int local_device_id = -1;
  int local_hardware_id = -1;
  std::string kind;       // "cpu"
  std::string to_string;  // see PjRtDeviceDescription
  std::string debug_string;
  absl::flat_hash_map<std::string, PjRtDeviceAttribute> attributes;
};

// What a backend can and can't do.
struct BackendLimits {
  // The alignment, in bytes, of every allocation, and what imported memory must have to be used in
  // place; a power of two.
  size_t alignment = 64;

  // Whether the memory of host buffers can be imported as device memory.
  bool supports_zero_copy = true;

  // Whether sub-byte types (1, 2, 4 bits; not the 6-bit floats) are packed on the device, the first
  // element in the lowest bits. Otherwise each takes a byte.
  bool packs_sub_byte_types = true;

  // Copies of at least this many bytes between host and device, where the caller's semantics allow
  // it, run on the backend's executor instead of in the call. Only for memory that the host can
  // reach.
  size_t async_copy_bytes = 100 * 1024;

  // What Execute does with an argument to be donated that has an external reference: true, the
  // program runs on it without donation, and results get memory of their own; false,
  // INVALID_ARGUMENT.
  bool copies_when_donation_is_blocked = true;

  // Whether the backend has queues of its own: then launches are given to it before what they
  // depend on is done, along with the futures to wait for (LaunchArgs::after), and it fails those
  // whose dependencies failed, with the error of the dependency.
  bool queues_work = false;

  // Whether Execute may be called from within a callback of a running program.
  bool allows_recursion = true;
};

// Who does the work of a launch.
enum class LaunchMode : uint8_t {
  kBackendDecides,  // small work on the calling thread, the rest on the backend's own threads
  kInline,          // the calling thread: the future is ready when Launch returns
  kAsync,           // the backend's own threads, if it has any
};

// An argument of a launch.
struct LaunchInput {
  RawBuffer* buffer = nullptr;
  // Nobody else will look at the bytes any more: the program may overwrite them, or return the
  // buffer itself as a result. Only ever true for a buffer that is_writable().
  bool is_donated = false;
};

// One launch of a program on one device. Valid only during the call to Launch: a backend that goes
// on asynchronously copies what it needs (the raw buffers and the program are kept alive for it).
struct LaunchArgs {
  const DeviceProgram* program = nullptr;
  int device = 0;  // index into Backend::devices()

  absl::Span<const LaunchInput> inputs;

  // One a result, all null. The backend puts a buffer into each before it returns: a fresh one or a
  // donated input, with a size of at least the result's bytes. It need not when the launch fails in
  // the call.
  absl::Span<RawBufferRef> outputs;

  LaunchMode mode = LaunchMode::kBackendDecides;

  // What the launches of one computation on several devices have in common; never 0.
  int64_t run_id = 0;
  int replica = 0;
  int partition = 0;
  // Null for a portable executable.
  const DeviceAssignment* device_assignment = nullptr;

  // The caller's options: seed, context, callbacks, profile.
  const ExecuteOptions* options = nullptr;

  // Set to true by a backend that hands the work to another thread or queue. It tells a failure in
  // the call, which Execute returns, from one that came so soon after it that the future is ready
  // already, which the results carry. Never null.
  bool* was_dispatched = nullptr;

  // With BackendLimits::queues_work: what must be done before the inputs may be read. Otherwise
  // empty.
  absl::Span<const Future<>> after;
};

// A device, or several of a kind, with their memory.
//
// Ownership: belongs to the client that is made of it, and is destroyed with it, when no operation
// is in flight.
// Threads: every method may be called from any thread, several at a time.
class Backend {
 public:
  virtual ~Backend() = default;

  // ----- What there is. Never changes. -----

  virtual absl::string_view platform_name() const = 0;
  virtual absl::string_view platform_version() const = 0;
  virtual absl::Span<const BackendDevice> devices() const = 0;
  // All memories of addressable devices. The first of each device is its default one.
  virtual absl::Span<const BackendMemory> memories() const = 0;
  virtual const BackendLimits& limits() const = 0;

  // ----- Memory -----

  // Allocates `size` bytes, indeterminate, in a memory (an index into memories()). Doesn't wait for
  // memory to become free. RESOURCE_EXHAUSTED "Out of memory allocating N bytes." when there is
  // none.
  virtual absl::StatusOr<RawBufferRef> Allocate(int memory, size_t size) = 0;

  // Wraps memory that somebody else owns. `on_release` (which may be null) runs once, when the last
  // reference goes, if this succeeds. INVALID_ARGUMENT for memory that the device can't use; the
  // alignment has been checked.
  virtual absl::StatusOr<RawBufferRef> Import(int memory, void* data, size_t size, bool is_writable,
                                              absl::AnyInvocable<void() &&> on_release) = 0;

  // ----- Copies: of bytes, between what the caller says; ranges have been checked -----
  //
  // Only for memory without a host_pointer(): where there is one the common client copies by
  // itself, and a backend that has no other memory can leave these out (by default UNIMPLEMENTED).

  // The host memory stays valid until the future is ready.
  virtual Future<> CopyHostToDevice(const void* source, RawBuffer* destination, size_t offset,
                                    size_t size);
  virtual Future<> CopyDeviceToHost(RawBuffer* source, size_t offset, size_t size,
                                    void* destination);
  // All of `source` to the beginning of `destination`; one of the two may have a host_pointer().
  virtual Future<> CopyDeviceToDevice(RawBuffer* source, RawBuffer* destination);

  // ----- Programs -----

  // Compiles a module, which has passed the verifier and whose shapes are static (programs with
  // dynamic ones are specialised before), for the devices of `assignment` (null inside: for any
  // device). Ops on dynamic shapes (dynamic_*, real_dynamic_slice, get_dimension_size) are gone but
  // where they take operands of element type `index` from run time. Blocks. UNIMPLEMENTED, listing
  // each op and type, for a program that the backend can't run; INVALID_ARGUMENT for options that
  // it doesn't know.
  virtual absl::StatusOr<std::shared_ptr<const DeviceProgram>> Compile(
      std::unique_ptr<ir::Module> module, const CompileOptions& options,
      const ResolvedAssignment& assignment) = 0;

  // What the backend wants of the passes that run before Compile, on programs with dynamic shapes:
  // composites that it claims reach it as such. Claims nothing by default.
  virtual ir::PassOptions pass_options() const;

  // Runs a program. The future becomes ready when all results are written, or with the error of the
  // run; it may be ready on return, which is the cheap way for small programs. Never waits for a
  // device to be free.
  virtual Future<> Launch(const LaunchArgs& args) = 0;

  // Launches one computation on several devices of this process; `completions` has one place a
  // launch. By default launches one after the other, in order. A backend whose launches run in the
  // call (or might not all run at once) has to override this if it supports programs with
  // collectives.
  virtual void LaunchAll(absl::Span<const LaunchArgs> launches, absl::Span<Future<>> completions);

  // ----- What may be left out: UNIMPLEMENTED by default, unless said otherwise -----

  // Where the common client may run copies of its own, and other work of a backend whose memory the
  // host can reach. Null (the default): on the thread at hand.
  virtual Executor* executor() { return nullptr; }

  // The layout that an array gets when none is asked for: row-major by default, with the packing of
  // the limits. A function of its arguments alone: an answer may be kept.
  virtual absl::StatusOr<Layout> GetDefaultLayout(PrimitiveType type,
                                                  absl::Span<const int64_t> dims) const;

  // Whether the device can hold arrays in this layout: by default any order of dimensions without
  // tiles.
  virtual absl::Status CheckLayout(PrimitiveType type, absl::Span<const int64_t> dims,
                                   const Layout& layout) const;

  // The devices that run num_replicas x num_partitions when nobody says. By default the first that
  // many devices, or where there are fewer, ids by the formula of ComputationPlacer.
  virtual absl::StatusOr<DeviceAssignment> GetDefaultDeviceAssignment(int num_replicas,
                                                                      int num_partitions) const;

  // What DeviceProgram::Serialize wrote.
  virtual absl::StatusOr<std::shared_ptr<const DeviceProgram>> DeserializeProgram(
      absl::string_view serialized, const CompileOptions& options,
      const ResolvedAssignment& assignment);

  virtual absl::StatusOr<SupportReport> QuerySupport(const ir::Module& module,
                                                     SupportEffort effort) const;
  virtual absl::StatusOr<CostMap> GetCostAnalysis(const ir::Module& module) const;

  // Null by default.
  virtual const PjRtTopologyDescription* topology() const { return nullptr; }

  // Of a device's default memory.
  virtual absl::StatusOr<AllocatorStats> GetAllocatorStats(int device) const;
  virtual absl::Status ClearMemoryStats(int device);

  virtual absl::Status TransferToInfeed(int device, const LiteralSlice& literal);
  virtual absl::Status TransferFromOutfeed(int device, MutableBorrowingLiteral literal);

  virtual absl::Status DmaMap(void* data, size_t size);
  virtual absl::Status DmaUnmap(void* data);
};

}  // namespace pjrt

#endif  // PJRT_BACKEND_BACKEND_H_
