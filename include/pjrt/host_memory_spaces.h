// SPDX-License-Identifier: Apache-2.0
//
// Ready-made memory spaces that lie in the host's memory. Backends construct them; applications see
// them through PjRtMemorySpace. Spec: PJRT C++ API, section 1.4.
#ifndef PJRT_HOST_MEMORY_SPACES_H_
#define PJRT_HOST_MEMORY_SPACES_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/memory_space.h"

namespace pjrt {

// The number that stands for a kind of memory: the low 32 bits of a 64-bit FNV-1a hash of its name,
// with the sign bit cleared. The same name gives the same number in every process and release.
constexpr int FingerprintKind(absl::string_view kind) {
  unsigned long long hash = 14695981039346656037ULL;
  for (char c : kind) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  return static_cast<int>(hash & 0x7fffffffULL);
}

// What the three classes below share: a memory space of fixed kind that is attached to one device.
class HostMemorySpaceBase : public PjRtMemorySpace {
 public:
  PjRtClient* client() const override;
  absl::Span<PjRtDevice* const> devices() const override;
  int id() const override { return id_; }
  absl::string_view kind() const override { return kind_; }
  int kind_id() const override { return kind_id_; }
  absl::string_view DebugString() const override { return debug_string_; }
  absl::string_view ToString() const override { return to_string_; }

 protected:
  // `device` must be able to answer client() and process_index() already, and outlive the memory
  // space. `kind` must be a string literal. The texts become "<short_name>_<id>" and
  // "<long_name>(id=..., process_index=..., client=...)".
  HostMemorySpaceBase(int id, PjRtDevice* device, absl::string_view kind, int kind_id,
                      absl::string_view short_name, absl::string_view long_name);

 private:
  int id_;
  PjRtDevice* device_;
  absl::string_view kind_;
  int kind_id_;
  std::string debug_string_;
  std::string to_string_;
};

// The memory that a CPU device computes in.
class CpuDeviceMemorySpace : public HostMemorySpaceBase {
 public:
  static constexpr absl::string_view kKind = "device";
  static constexpr int kKindId = FingerprintKind(kKind);
  CpuDeviceMemorySpace(int id, PjRtDevice* device);
};

// Host memory that is pinned, so that a device can reach it by DMA.
class PinnedHostMemorySpace : public HostMemorySpaceBase {
 public:
  static constexpr absl::string_view kKind = "pinned_host";
  static constexpr int kKindId = FingerprintKind(kKind);
  PinnedHostMemorySpace(int id, PjRtDevice* device);
};

// Ordinary host memory.
class UnpinnedHostMemorySpace : public HostMemorySpaceBase {
 public:
  static constexpr absl::string_view kKind = "unpinned_host";
  static constexpr int kKindId = FingerprintKind(kKind);
  UnpinnedHostMemorySpace(int id, PjRtDevice* device);
};

}  // namespace pjrt

#endif  // PJRT_HOST_MEMORY_SPACES_H_
