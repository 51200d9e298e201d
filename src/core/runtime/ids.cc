// SPDX-License-Identifier: Apache-2.0
#include "pjrt/ids.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace pjrt {
namespace {

constexpr PjRtPlatformId Fingerprint(const char* data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; ++i) {
    hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3u;
  }
  return hash;
}

template <size_t kSize>
constexpr PjRtPlatformId Fingerprint(const char (&name)[kSize]) {
  return Fingerprint(name, kSize - 1);
}

constexpr PjRtPlatformId kCpuId = Fingerprint("cpu");
constexpr PjRtPlatformId kCudaId = Fingerprint("cuda");
constexpr PjRtPlatformId kRocmId = Fingerprint("rocm");
constexpr PjRtPlatformId kOneapiId = Fingerprint("oneapi");
constexpr PjRtPlatformId kTpuId = Fingerprint("tpu");
constexpr PjRtPlatformId kInterpreterId = Fingerprint("interpreter");

int64_t NumberOf(int64_t id) { return id; }
template <typename Tag, typename Rep>
int64_t NumberOf(StrongId<Tag, Rep> id) {
  return id.value();
}

template <typename Id>
std::string JoinDevices(absl::Span<const Id> devices, absl::string_view separator, int first,
                        int last) {
  const size_t head = static_cast<size_t>(std::max(first, 0));
  const size_t tail = static_cast<size_t>(std::max(last, 0));
  const auto append = [](std::string* out, Id id) { absl::StrAppend(out, NumberOf(id)); };
  if (devices.size() <= head + tail) return absl::StrJoin(devices, separator, append);

  std::string text = absl::StrJoin(devices.subspan(0, head), separator, append);
  absl::StrAppend(&text, head > 0 ? separator : "", "...");
  if (tail > 0) {
    absl::StrAppend(&text, separator,
                    absl::StrJoin(devices.subspan(devices.size() - tail), separator, append));
  }
  return text;
}

}  // namespace

PjRtPlatformId PlatformIdFromName(absl::string_view name) {
  return Fingerprint(name.data(), name.size());
}

absl::string_view CpuName() { return "cpu"; }
absl::string_view CudaName() { return "cuda"; }
absl::string_view RocmName() { return "rocm"; }
absl::string_view OneapiName() { return "oneapi"; }
absl::string_view SyclName() { return OneapiName(); }
absl::string_view TpuName() { return "tpu"; }
absl::string_view InterpreterName() { return "interpreter"; }

PjRtPlatformId CpuId() { return kCpuId; }
PjRtPlatformId CudaId() { return kCudaId; }
PjRtPlatformId RocmId() { return kRocmId; }
PjRtPlatformId OneapiId() { return kOneapiId; }
PjRtPlatformId SyclId() { return kOneapiId; }
PjRtPlatformId TpuId() { return kTpuId; }
PjRtPlatformId InterpreterId() { return kInterpreterId; }

bool IsCpuId(PjRtPlatformId id) { return id == kCpuId; }
bool IsGpuId(PjRtPlatformId id) { return id == kCudaId || id == kRocmId || id == kOneapiId; }
bool IsTpuId(PjRtPlatformId id) { return id == kTpuId; }
bool IsInterpreterId(PjRtPlatformId id) { return id == kInterpreterId; }

std::string ValueTypeToString(const PjRtValueType& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string>) {
          return v;
        } else if constexpr (std::is_same_v<T, bool>) {
          return v ? "true" : "false";
        } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          return absl::StrCat("[", absl::StrJoin(v, ","), "]");
        } else {
          return absl::StrCat(v);
        }
      },
      value);
}

std::string HumanReadableDevices(absl::Span<const GlobalDeviceId> devices,
                                 absl::string_view separator, int first, int last) {
  return JoinDevices(devices, separator, first, last);
}
std::string HumanReadableDevices(absl::Span<const LocalDeviceId> devices,
                                 absl::string_view separator, int first, int last) {
  return JoinDevices(devices, separator, first, last);
}
std::string HumanReadableDevices(absl::Span<const int64_t> devices, absl::string_view separator,
                                 int first, int last) {
  return JoinDevices(devices, separator, first, last);
}

}  // namespace pjrt
