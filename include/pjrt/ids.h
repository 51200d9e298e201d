// SPDX-License-Identifier: Apache-2.0
//
// The ids and small value types of the runtime. Spec: PJRT C++ API, section 1.0.
#ifndef PJRT_IDS_H_
#define PJRT_IDS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "pjrt/strong_id.h"

namespace pjrt {

// A device among those of all processes; the id that a DeviceAssignment holds.
using GlobalDeviceId = StrongId<struct GlobalDeviceIdTag, int32_t>;
// A device among those of its process; -1 means undefined.
using LocalDeviceId = StrongId<struct LocalDeviceIdTag, int32_t>;
// A piece of hardware among those of its process; several devices may share it; -1 means undefined.
using LocalChipId = StrongId<struct LocalChipIdTag, int32_t>;
// A piece of hardware among those of all processes.
using GlobalChipId = StrongId<struct GlobalChipIdTag, int32_t>;
// A process of a distributed program, from 0.
using ProcessId = StrongId<struct ProcessIdTag, int32_t>;
// One transfer between hosts; agreed on by sender and receiver.
using CrossHostTransferKey = StrongId<struct CrossHostTransferKeyTag, int64_t>;
// One life of a process: a restarted process gets a new one from the coordination service.
using IncarnationId = StrongId<struct IncarnationIdTag, uint64_t>;

// The names of older PJRT code.
using PjRtGlobalDeviceId = GlobalDeviceId;
using PjRtLocalDeviceId = LocalDeviceId;
using PjRtLocalHardwareId = LocalChipId;

// A platform, as a fingerprint of its name: the same in all processes and releases.
using PjRtPlatformId = uint64_t;

// The fingerprint of any platform name: how a vendor makes the id of a new platform. FNV-1a, 64
// bits.
PjRtPlatformId PlatformIdFromName(absl::string_view name);

// The names of the known platforms: "cpu", "cuda", "rocm", "oneapi", "tpu", "interpreter"; "sycl"
// is an older name for "oneapi" and SyclName() returns the latter.
absl::string_view CpuName();
absl::string_view CudaName();
absl::string_view RocmName();
absl::string_view OneapiName();
absl::string_view SyclName();
absl::string_view TpuName();
absl::string_view InterpreterName();

// The ids of those names.
PjRtPlatformId CpuId();
PjRtPlatformId CudaId();
PjRtPlatformId RocmId();
PjRtPlatformId OneapiId();
PjRtPlatformId SyclId();
PjRtPlatformId TpuId();
PjRtPlatformId InterpreterId();

bool IsCpuId(PjRtPlatformId id);
// CUDA, ROCm or oneAPI.
bool IsGpuId(PjRtPlatformId id);
bool IsTpuId(PjRtPlatformId id);
bool IsInterpreterId(PjRtPlatformId id);

// The value of an attribute of a device, topology, client or executable. The order of the
// alternatives is part of the interface.
using PjRtValueType = std::variant<std::string, bool, int64_t, std::vector<int64_t>, float>;
using PjRtDeviceAttribute = PjRtValueType;

// The value as text: a string as it is, true or false, decimal numbers, vectors as [1,2,3].
std::string ValueTypeToString(const PjRtValueType& value);

// Where a platform keeps the runtime sizes of an array with dynamic dimensions: nowhere (it has no
// such arrays), in front of the data, or behind it, one int32 a dimension.
enum class PjRtDynamicShapeKind { kNotSupported, kPrefix, kSuffix };

// A short list of ids, without allocation up to four.
template <typename Id>
using PjRtIdContainer = absl::InlinedVector<Id, 4>;

// The `size` ids start, start+1, ...; none if size <= 0. Id is a StrongId.
template <typename Id>
PjRtIdContainer<Id> MakeContinuousIds(int start, int size) {
  PjRtIdContainer<Id> ids;
  ids.reserve(static_cast<size_t>(std::max(size, 0)));
  for (int i = 0; i < size; ++i) {
    ids.push_back(Id(static_cast<typename Id::ValueType>(start + i)));
  }
  return ids;
}

// "0,1,2", for messages. Of a list longer than first + last only its `first` first and `last` last
// elements are shown, with "..." between: "0,1,2,3,4,5,6,7,...,98,99". Negative counts are taken as
// 0.
std::string HumanReadableDevices(absl::Span<const GlobalDeviceId> devices,
                                 absl::string_view separator = ",", int first = 8, int last = 2);
std::string HumanReadableDevices(absl::Span<const LocalDeviceId> devices,
                                 absl::string_view separator = ",", int first = 8, int last = 2);
std::string HumanReadableDevices(absl::Span<const int64_t> devices,
                                 absl::string_view separator = ",", int first = 8, int last = 2);

}  // namespace pjrt

#endif  // PJRT_IDS_H_
