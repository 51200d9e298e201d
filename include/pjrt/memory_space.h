// SPDX-License-Identifier: Apache-2.0
//
// PjRtMemorySpace: a place that holds buffers, such as a device's own memory or pinned host memory.
// Spec: PJRT C++ API, section 1.4.
//
// A memory space is where data is put; a device is what computes. A buffer belongs to one memory
// space, and a memory space is attached to one or more devices that can compute on what lies in it.
#ifndef PJRT_MEMORY_SPACE_H_
#define PJRT_MEMORY_SPACE_H_

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace pjrt {

class PjRtClient;
class PjRtDevice;

// One memory space of a client.
//
// Ownership: the client owns its memory spaces; pointers to them stay valid as long as the client
// lives.
// Threads: all methods may be called from any thread and none blocks.
class PjRtMemorySpace {
 public:
  virtual ~PjRtMemorySpace() = default;

  // The client that owns this memory space.
  virtual PjRtClient* client() const = 0;

  // The devices that this memory space is attached to, in no particular order. Memory spaces of the
  // host class below, and all of the CPU device's, are attached to exactly one device.
  virtual absl::Span<PjRtDevice* const> devices() const = 0;

  // A number that no other memory space of the same client has.
  virtual int id() const = 0;

  // What kind of memory this is, for example "device" or "pinned_host". Kinds are named by the
  // platform; programs and layouts refer to memory by kind.
  virtual absl::string_view kind() const = 0;

  // A number for the kind. Two memory spaces of a client have the same kind_id() exactly when they
  // have the same kind().
  virtual int kind_id() const = 0;

  // A description for logs, such as "CpuDeviceMemory(id=0, process_index=0, client=cpu)". Not
  // stable across releases.
  virtual absl::string_view DebugString() const = 0;

  // A short name for people, such as "CPU_DEVICE_0".
  virtual absl::string_view ToString() const = 0;
};

}  // namespace pjrt

#endif  // PJRT_MEMORY_SPACE_H_
