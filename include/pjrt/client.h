// SPDX-License-Identifier: Apache-2.0
//
// PjRtClient: the way into a platform. Devices, memory, compilation and data all start here. Spec:
// PJRT C++ API, section 1.1.
#ifndef PJRT_CLIENT_H_
#define PJRT_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/async_transfer.h"
#include "pjrt/base/future.h"
#include "pjrt/base/layout.h"
#include "pjrt/base/primitive_type.h"
#include "pjrt/base/shape.h"
#include "pjrt/buffer.h"
#include "pjrt/compile_options.h"
#include "pjrt/cross_host.h"
#include "pjrt/device.h"
#include "pjrt/device_assignment.h"
#include "pjrt/executable.h"
#include "pjrt/ids.h"
#include "pjrt/memory_space.h"
#include "pjrt/program.h"
#include "pjrt/support_report.h"

namespace pjrt {

class HostMemoryAllocator;
class KeyValueStoreInterface;
class LiteralSlice;
class PjRtHostMemoryForDeviceManager;
class PjRtTopologyDescription;

// What a plugin says about itself.
struct PjRtPluginAttributes {
  int64_t pjrt_c_api_major_version = 0;
  int64_t pjrt_c_api_minor_version = 0;
  absl::flat_hash_map<std::string, PjRtValueType> attributes;
};

// Fulfils an alias buffer, once: with the buffer whose memory and contents it stands for, or with
// an error.
using PjRtFulfillAliasBufferCallback =
    absl::AnyInvocable<absl::Status(absl::StatusOr<PjRtBuffer*> source)>;

// A platform as one process sees it: its devices, their memory, and the means to put data and
// programs there.
//
//   pjrt::CpuClientOptions options;
//   auto client = pjrt::GetCpuClient(options);
//   auto executable = (*client)->Compile(text, pjrt::CompileOptions());
//
// Ownership: the caller owns the client and keeps it alive longer than every buffer, executable and
// transfer manager obtained from it; devices and memory spaces belong to it. Several clients may
// live side by side. A device, memory space or buffer of another client as an argument is
// INVALID_ARGUMENT, unless a method says otherwise.
// Threads: all methods may be called from any thread. Compiling blocks; moving data doesn't, unless
// a method says so. Copies between devices make progress in the order in which they were enqueued:
// one may hold scarce resources only when those before it are done or certain to finish. No more
// fairness than that is promised.
class PjRtClient {
 public:
  // The type and sizes of an array without its layout.
  struct ShapeSpec {
    PrimitiveType element_type;
    DimensionVector dims;
  };

  // How long the runtime may use the host memory that a buffer is made from; strictest first.
  enum class HostBufferSemantics {
    // Only during the call. The caller may change or free the memory as soon as the call returns;
    // the callback runs before that.
    kImmutableOnlyDuringCall,
    // Until the copy is done. The memory must stay alive and unchanged until the callback has run
    // (or the buffer is seen to be ready); the callback runs on any thread.
    kImmutableUntilTransferCompletes,
    // For the life of the buffer: the buffer may be the memory itself, and never writes it (an
    // output that is aliased with it gets memory of its own). The memory must stay alive and
    // unchanged until the callback, which runs at the last use: after the buffer is deleted *and*
    // the executions that read it have ended. Where the memory can't be used (not aligned for the
    // device, another layout, packed types) it is copied, as by kImmutableUntilTransferCompletes.
    kImmutableZeroCopy,
    // The same, and the runtime may write the memory: a program that the buffer is donated to may
    // put its output there.
    kMutableZeroCopy,
  };

  PjRtClient();
  // `host_memory_for_device_manager` converts between host and device layouts; may be null.
  explicit PjRtClient(
      std::unique_ptr<PjRtHostMemoryForDeviceManager> host_memory_for_device_manager);
  virtual ~PjRtClient();
  PjRtClient(const PjRtClient&) = delete;
  PjRtClient& operator=(const PjRtClient&) = delete;

  // ----- What a backend must override -----

  // The index of this process among those of a distributed computation; 0 when alone.
  virtual int process_index() const = 0;

  // All devices, and those that this process may command, in the order of their local ids.
  virtual absl::Span<PjRtDevice* const> devices() const = 0;
  virtual absl::Span<PjRtDevice* const> addressable_devices() const = 0;

  // All memory spaces, in no particular order.
  virtual absl::Span<PjRtMemorySpace* const> memory_spaces() const = 0;

  // The platform by number (the fingerprint of its name), by name ("cpu"), and its version in free
  // form.
  virtual PjRtPlatformId platform_id() const = 0;
  virtual absl::string_view platform_name() const = 0;
  virtual absl::string_view platform_version() const = 0;

  // Makes a buffer in `memory_space` from an array in host memory.
  //
  // `dims` are the sizes; `byte_strides` the distance in bytes from one index of a dimension to the
  // next, and without them the array is dense and row-major. Strides may be 0 (broadcast) and
  // negative, and `data` then points at the element with all indices 0. Sub-byte types take one
  // byte an element on the host and are packed on the device. `device_layout` null means the
  // default layout; UNIMPLEMENTED for a layout that the device doesn't have. How long `data` is
  // used is told by `host_buffer_semantics`; `dims`, `byte_strides` and `device_layout` only during
  // the call. `on_done_with_host_buffer` may be null; it runs exactly once if the call returns OK,
  // and never otherwise.
  //
  // INVALID_ARGUMENT: negative sizes, a type that isn't an array's, null `data` with elements,
  // strides not one a dimension; RESOURCE_EXHAUSTED (from the call or through the buffer): no
  // memory.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> BufferFromHostBuffer(
      const void* data, PrimitiveType type, absl::Span<const int64_t> dims,
      std::optional<absl::Span<const int64_t>> byte_strides,
      HostBufferSemantics host_buffer_semantics,
      absl::AnyInvocable<void() &&> on_done_with_host_buffer, PjRtMemorySpace* memory_space,
      const Layout* device_layout) = 0;

  // Compiles a program and loads the result. `program` may be text: Compile(text, options).
  //
  // Arguments and results of quantized types are buffers of their stored integers: S8 for
  // tensor<2x!quant.uniform<i8:f32, 0.5:3>>. Scales and zero points are the program's.
  //
  // INVALID_ARGUMENT for a malformed program (with the place in it) or options that don't fit;
  // UNIMPLEMENTED, listing each op and type, for a valid program outside the platform's support.
  virtual absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> CompileAndLoad(
      PjRtProgram program, CompileOptions options) = 0;

  // ----- Derived from the above -----

  // CompileAndLoad under its shorter name.
  absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> Compile(PjRtProgram program,
                                                                CompileOptions options);

  virtual int device_count() const { return static_cast<int>(devices().size()); }
  virtual int addressable_device_count() const {
    return static_cast<int>(addressable_devices().size());
  }

  // The device with that id. INVALID_ARGUMENT "No matching device found for device_id N" when there
  // is none.
  virtual absl::StatusOr<PjRtDevice*> LookupDevice(GlobalDeviceId global_device_id) const;
  // The addressable device with that local id. INVALID_ARGUMENT when there is none.
  virtual absl::StatusOr<PjRtDevice*> LookupAddressableDevice(LocalDeviceId local_device_id) const;

  // ----- What a backend may leave out: UNIMPLEMENTED by default, unless said otherwise -----

  // What serialized executables must be compatible with.
  virtual absl::StatusOr<std::unique_ptr<PjRtRuntimeAbiVersion>> RuntimeAbiVersion() const;

  // The store through which the processes of a computation found each other. nullopt by default.
  virtual std::optional<std::shared_ptr<KeyValueStoreInterface>> key_value_store() const;

  // nullopt by default.
  virtual std::optional<PjRtPluginAttributes> plugin_attributes() const;

  // The devices that run num_replicas x num_partitions when the caller doesn't say.
  // INVALID_ARGUMENT for counts below 1 or a product that overflows.
  virtual absl::StatusOr<DeviceAssignment> GetDefaultDeviceAssignment(int num_replicas,
                                                                      int num_partitions) const;
  virtual absl::StatusOr<DeviceAssignment> GetDefaultDeviceAssignment(
      int num_replicas, std::optional<int> num_replicas_per_slice, int num_partitions,
      const MultiSliceConfig* multi_slice_config) const;

  // The layout that an array gets when none is asked for. INVALID_ARGUMENT for types that aren't
  // arrays.
  virtual absl::StatusOr<Layout> GetDefaultLayout(PrimitiveType element_type,
                                                  absl::Span<const int64_t> dims);

  // What a program would cost to run: see CostMap. Called GetHloCostAnalysis in XLA, where it
  // returns a visitor.
  virtual absl::StatusOr<CostMap> GetCostAnalysis(const ir::Module& module) const;

  // Whether a program can be compiled, and if not, each reason.
  virtual absl::StatusOr<SupportReport> QuerySupport(const ir::Module& module,
                                                     SupportEffort effort) const;

  // Compiles without loading; Load makes the result run. Named Compile in XLA.
  virtual absl::StatusOr<std::unique_ptr<PjRtExecutable>> CompileUnloaded(PjRtProgram program,
                                                                          CompileOptions options);

  // Reads what SerializeExecutable wrote. `options`, when given, replace those stored in it, for
  // example to use other devices. INVALID_ARGUMENT for bytes that aren't an executable of this
  // platform, FAILED_PRECONDITION for one of an incompatible version.
  virtual absl::StatusOr<std::unique_ptr<PjRtExecutable>> DeserializeExecutable(
      absl::string_view serialized, std::optional<CompileOptions> options);
  virtual absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> LoadSerializedExecutable(
      absl::string_view serialized, std::optional<CompileOptions> options,
      const LoadOptions& load_options);

  // Loads an executable. May be called repeatedly with the same one. INVALID_ARGUMENT when it isn't
  // of this platform.
  virtual absl::StatusOr<std::unique_ptr<PjRtLoadedExecutable>> Load(
      std::shared_ptr<PjRtExecutable> executable, const LoadOptions& load_options);

  // A buffer whose contents are whatever the memory holds. Ready when the memory is allocated.
  // INVALID_ARGUMENT for a tuple.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> CreateUninitializedBuffer(
      const Shape& shape, PjRtMemorySpace* memory_space);

  // A buffer that stands for one that isn't there yet, and a callback that says which. The buffer
  // may be used at once; what uses it waits. Calling the callback with a buffer of exactly this
  // shape (layout included) in this memory space takes that buffer's memory over (it is deleted);
  // with an error, puts the alias in error and returns the error. INVALID_ARGUMENT for another
  // shape or memory space, and the alias is then in error too; so it is, with INTERNAL, when the
  // callback is destroyed without having been called. Calling it twice is INVALID_ARGUMENT.
  virtual absl::StatusOr<std::pair<std::unique_ptr<PjRtBuffer>, PjRtFulfillAliasBufferCallback>>
  CreateAliasBuffer(const Shape& shape, PjRtMemorySpace* memory_space);

  // A buffer that is born in error, with `error`'s payloads. INVALID_ARGUMENT when `error` is OK.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> CreateErrorBuffer(
      absl::Status error, const Shape& shape, PjRtMemorySpace* memory_space);

  // The devices as a topology; valid as long as the client.
  virtual absl::StatusOr<const PjRtTopologyDescription*> GetTopologyDescription() const;

  // Host memory that transfers like best. Null by default. Belongs to the client.
  virtual HostMemoryAllocator* GetHostMemoryAllocator() const { return nullptr; }

  // Allocates buffers to be filled by transfers, see AsyncHostToDeviceTransferManager.
  // `device_layouts`, if given, has one entry a shape (nullopt: the default layout); otherwise
  // INVALID_ARGUMENT.
  virtual absl::StatusOr<std::unique_ptr<AsyncHostToDeviceTransferManager>>
  CreateBuffersForAsyncHostToDevice(
      absl::Span<const ShapeSpec> shape_specs,
      std::optional<absl::Span<const std::optional<Layout>>> device_layouts,
      PjRtMemorySpace* memory_space);
  // The same from shapes, whose layouts are not looked at. Forwards.
  virtual absl::StatusOr<std::unique_ptr<AsyncHostToDeviceTransferManager>>
  CreateBuffersForAsyncHostToDevice(absl::Span<const Shape> shapes, PjRtMemorySpace* memory_space);

  // BufferFromHostBuffer into the storage of `donated_dst`, a buffer of this client with the size
  // that the new buffer needs, which is deleted by this; the copy waits for earlier users of that
  // storage. INVALID_ARGUMENT when it is null, foreign, deleted or of another size; it then stays
  // as it is.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> BufferFromHostBuffer(
      const void* data, PrimitiveType type, absl::Span<const int64_t> dims,
      std::optional<absl::Span<const int64_t>> byte_strides,
      HostBufferSemantics host_buffer_semantics,
      absl::AnyInvocable<void() &&> on_done_with_host_buffer, PjRtBuffer* donated_dst,
      const Layout* device_layout);

  // Makes a buffer from a literal, which must stay alive and unchanged until the buffer is ready.
  // `device_layout` null means the default layout, whatever the literal's. INVALID_ARGUMENT for a
  // tuple.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> BufferFromHostLiteral(
      const LiteralSlice& literal, PjRtMemorySpace* memory_space, const Layout* device_layout);
  absl::StatusOr<std::unique_ptr<PjRtBuffer>> BufferFromHostLiteral(const LiteralSlice& literal,
                                                                    PjRtMemorySpace* memory_space) {
    return BufferFromHostLiteral(literal, memory_space, nullptr);
  }

  // Makes a buffer of memory that somebody else owns and has filled. It is never written: a program
  // that it is donated to puts its output elsewhere. `on_delete_callback` may be null; it is called
  // exactly once, when the runtime has done its last work on the memory, if the call returned OK.
  // `stream` is where the memory's contents are being made, on platforms that have streams.
  // INVALID_ARGUMENT "unaligned data" for a pointer that the device can't use.
  virtual absl::StatusOr<std::unique_ptr<PjRtBuffer>> CreateViewOfDeviceBuffer(
      void* device_ptr, const Shape& shape, PjRtMemorySpace* memory_space,
      std::function<void()> on_delete_callback, std::optional<intptr_t> stream = std::nullopt);

  // The address of a buffer's memory, valid while the buffer isn't deleted. Blocks until the memory
  // is allocated. By default from PjRtBuffer::AcquireExternalReference.
  virtual absl::StatusOr<uintptr_t> UnsafeBufferPointer(PjRtBuffer* buffer);

  // Buffers that other hosts send to with PjRtBuffer::CopyToRemoteDevice.
  virtual absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> MakeCrossHostReceiveBuffers(
      absl::Span<const Shape> shapes, PjRtDevice* device, PjRtCrossHostRecvNotifier notifier);

  // Sends and receives between hosts that agree on keys: buffer i goes to device
  // `dst_global_device_ids[i]` under `transfer_keys[i]`, and is received from there under the same
  // key. Each future says when a send is done.
  virtual absl::StatusOr<std::vector<Future<>>> CrossHostSendBuffers(
      absl::Span<PjRtBuffer* const> buffers, absl::Span<const GlobalDeviceId> dst_global_device_ids,
      std::vector<CrossHostTransferKey> transfer_keys);
  virtual absl::StatusOr<std::vector<std::unique_ptr<PjRtBuffer>>> CrossHostReceiveBuffers(
      PjRtDevice* device, absl::Span<const Shape> shapes,
      absl::Span<const GlobalDeviceId> src_global_device_ids,
      std::vector<CrossHostTransferKey> transfer_keys);

  // Converts between host and device layouts on behalf of send and receive callbacks; may be null.
  PjRtHostMemoryForDeviceManager* GetPjRtHostMemoryForDeviceManager() const {
    return host_memory_for_device_manager_.get();
  }

  // Makes a range of host memory fit for DMA, and undoes it. No transfer may use the range while it
  // is unmapped.
  virtual absl::Status DmaMap(void* data, size_t size);
  virtual absl::Status DmaUnmap(void* data);

 private:
  std::unique_ptr<PjRtHostMemoryForDeviceManager> host_memory_for_device_manager_;
};

}  // namespace pjrt

#endif  // PJRT_CLIENT_H_
