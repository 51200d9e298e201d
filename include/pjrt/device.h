// SPDX-License-Identifier: Apache-2.0
//
// PjRtDevice: one device of a client. Spec: PJRT C++ API, section 1.2.
#ifndef PJRT_DEVICE_H_
#define PJRT_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/allocator_stats.h"
#include "pjrt/base/future.h"
#include "pjrt/device_description.h"
#include "pjrt/ids.h"

namespace pjrt {

class LiteralSlice;
class MutableBorrowingLiteral;
class PjRtClient;
class PjRtMemorySpace;

// A scope of work that a profiler or scheduler may want to follow: it begins when the object is
// made, ends when it is destroyed and every future added to it is ready.
class ScopedAsyncTrackingEvent {
 public:
  virtual ~ScopedAsyncTrackingEvent() = default;

  // Extends the event until `future` is ready. Doesn't block.
  template <typename T>
  void AddDependency(const Future<T>& future) {
    AddDependencyImpl(future.GetReadyFuture());
  }

 private:
  virtual void AddDependencyImpl(Future<> dependency) = 0;
};

// One device of a client: what programs run on.
//
// Ownership: the client owns its devices; pointers to them stay valid as long as the client lives.
// Threads: all methods may be called from any thread. Only the infeed and outfeed calls block.
class PjRtDevice {
 public:
  virtual ~PjRtDevice() = default;

  // ----- What a backend must override -----

  // The client that owns the device.
  virtual PjRtClient* client() const = 0;

  // Whether this process may command the device: put buffers on it and run programs. The others are
  // there to be named in device assignments.
  virtual bool IsAddressable() const = 0;

  // The device's description; valid as long as the device.
  virtual const PjRtDeviceDescription& description() const = 0;

  // The hardware's own number, -1 when there is none. Several devices may share one piece of
  // hardware.
  virtual LocalChipId local_hardware_id() const = 0;

  // The memory spaces attached to this device, in no particular order; empty for a device that
  // isn't addressable.
  virtual absl::Span<PjRtMemorySpace* const> memory_spaces() const = 0;

  // Where buffers of this device go when nobody says where. FAILED_PRECONDITION for a device that
  // isn't addressable.
  virtual absl::StatusOr<PjRtMemorySpace*> default_memory_space() const = 0;

  // ----- Derived from the above -----

  // The id that a DeviceAssignment holds; the description's.
  virtual GlobalDeviceId global_device_id() const { return GlobalDeviceId(description().id()); }

  // The index of the device within this process, -1 when undefined; the hardware's number unless
  // overridden.
  virtual LocalDeviceId local_device_id() const {
    return LocalDeviceId(local_hardware_id().value());
  }

  // An older name of global_device_id().value().
  virtual int id() const { return global_device_id().value(); }

  virtual int process_index() const { return description().process_index(); }
  virtual absl::string_view device_kind() const { return description().device_kind(); }
  virtual absl::string_view DebugString() const { return description().DebugString(); }
  virtual absl::string_view ToString() const { return description().ToString(); }

  // Attributes of the description and, where a backend has them, of the running device. The
  // reference stays valid as long as the device.
  virtual const absl::flat_hash_map<std::string, PjRtDeviceAttribute>& Attributes() const {
    return description().Attributes();
  }

  // The memory space of this device of the given kind. INTERNAL naming the kind when there is none.
  virtual absl::StatusOr<PjRtMemorySpace*> memory_space_by_kind(absl::string_view kind) const;

  // ----- What a backend may leave out -----

  // Begins an event for profilers, or null when the backend doesn't follow events (the default).
  virtual std::unique_ptr<ScopedAsyncTrackingEvent> CreateAsyncTrackingEvent(
      absl::string_view description) const;

  // Puts `literal` into the device's infeed queue. Blocks while the queue is full. UNIMPLEMENTED by
  // default.
  virtual absl::Status TransferToInfeed(const LiteralSlice& literal);

  // Takes the next value of the device's outfeed queue into `literal`, whose shape must be that of
  // the program's outfeed. Blocks until there is one. UNIMPLEMENTED by default.
  virtual absl::Status TransferFromOutfeed(MutableBorrowingLiteral literal);

  // How much memory of the device's default space is in use. UNIMPLEMENTED by default.
  virtual absl::StatusOr<AllocatorStats> GetAllocatorStats() const;

  // Sets the peaks in GetAllocatorStats() back to what is in use now. UNIMPLEMENTED by default.
  virtual absl::Status ClearMemoryStats();

  // A handle of the stream on which outsiders may wait for or signal events. UNIMPLEMENTED by
  // default.
  virtual absl::StatusOr<intptr_t> GetStreamForExternalReadyEvents() const;

  // Turns an execution with that `launch_id` on this device, enqueued and not finished, into an
  // error: its outputs and its future get `error` with code and payloads, whatever the kernels do
  // afterwards. Returns true when there was one, false when there is none (unknown id, already
  // finished, or run inline by Execute). `error` must not be OK (INVALID_ARGUMENT). UNIMPLEMENTED
  // by default.
  virtual absl::StatusOr<bool> PoisonExecution(int32_t launch_id, absl::Status error);
};

}  // namespace pjrt

#endif  // PJRT_DEVICE_H_
