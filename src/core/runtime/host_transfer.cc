// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/host_transfer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "pjrt/base/executor.h"
#include "src/core/base/pack_bits.h"
#include "src/core/base/strided_copy.h"

namespace pjrt {
namespace {

// Whether an array with strides `a` lies in memory as one with strides `b` does: strides of
// dimensions of size 1, and of empty arrays, don't matter.
bool SameStrides(absl::Span<const int64_t> sizes, absl::Span<const int64_t> a,
                 absl::Span<const int64_t> b) {
  bool same = true;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 0) return true;
    if (sizes[i] > 1 && a[i] != b[i]) same = false;
  }
  return same;
}

// Work under this size isn't worth a second thread.
constexpr int64_t kBytesAPart = 256 * 1024;

// Runs `work` for 0 .. parts - 1, on this thread and on those of `executor` that come to help in
// time. Returns when all parts are done.
void ShareWork(Executor& executor, int parts, absl::FunctionRef<void(int part)> work) {
  struct Shared {
    std::atomic<int> next{0};
    int parts;
    absl::FunctionRef<void(int)> work;  // gone when all parts are done
    std::mutex mutex;
    std::condition_variable changed;
    int done = 0;
    Shared(int n, absl::FunctionRef<void(int)> w) : parts(n), work(w) {}
    void Help() {
      int finished = 0;
      for (int part; (part = next.fetch_add(1)) < parts; ++finished) work(part);
      if (finished == 0) return;
      std::lock_guard<std::mutex> lock(mutex);
      done += finished;
      changed.notify_all();
    }
  };
  const auto shared = std::make_shared<Shared>(parts, work);
  for (int i = 1; i < parts; ++i) executor.Execute([shared] { shared->Help(); });
  shared->Help();
  std::unique_lock<std::mutex> lock(shared->mutex);
  shared->changed.wait(lock, [&] { return shared->done == parts; });
}

}  // namespace

DimensionVector DenseStrides(absl::Span<const int64_t> sizes,
                             absl::Span<const int64_t> minor_to_major, int element_bytes) {
  DimensionVector strides(sizes.size());
  int64_t stride = element_bytes;
  for (int64_t d : minor_to_major) {
    strides[static_cast<size_t>(d)] = stride;
    stride *= std::max<int64_t>(sizes[static_cast<size_t>(d)], 1);
  }
  return strides;
}

HostTransfer::HostTransfer(const BufferType& type, absl::Span<const int64_t> sizes,
                           DimensionVector strides)
    : type_(type.shape.element_type()),
      sizes_(sizes.begin(), sizes.end()),
      host_strides_(std::move(strides)),
      device_strides_(DenseStrides(sizes, type.shape.layout().minor_to_major(), ByteWidth(type_))),
      element_count_(static_cast<size_t>(ElementCount(sizes))) {
  const int64_t bits = type.shape.layout().element_size_in_bits();
  packed_bits_ = bits > 0 && bits < 8 ? static_cast<int>(bits) : 0;
  elements_bytes_ = packed_bits_ == 0
                        ? element_count_ * static_cast<size_t>(ByteWidth(type_))
                        : (element_count_ * static_cast<size_t>(packed_bits_) + 7) / 8;
  is_plain_ = packed_bits_ == 0 && SameStrides(sizes_, host_strides_, device_strides_);
}

void HostTransfer::Reorder(const void* source, const DimensionVector& source_strides,
                           void* destination, const DimensionVector& destination_strides,
                           Executor* executor, int threads) const {
  const int element_bytes = ByteWidth(type_);
  // The slowest dimension of the destination is cut into parts.
  size_t cut = 0;
  for (size_t d = 1; d < sizes_.size(); ++d) {
    if (destination_strides[d] > destination_strides[cut]) cut = d;
  }
  const auto bytes = static_cast<int64_t>(element_count_) * element_bytes;
  const int64_t parts = executor == nullptr || sizes_.empty()
                            ? 1
                            : std::min<int64_t>({threads, bytes / kBytesAPart, sizes_[cut]});
  if (parts <= 1) {
    StridedCopy(element_bytes, sizes_, source, source_strides, destination, destination_strides);
    return;
  }
  ShareWork(*executor, static_cast<int>(parts), [&](int part) {
    const int64_t begin = sizes_[cut] * part / parts;
    const int64_t end = sizes_[cut] * (part + 1) / parts;
    DimensionVector sizes = sizes_;
    sizes[cut] = end - begin;
    StridedCopy(element_bytes, sizes,
                static_cast<const char*>(source) + begin * source_strides[cut], source_strides,
                static_cast<char*>(destination) + begin * destination_strides[cut],
                destination_strides);
  });
}

void HostTransfer::ToDevice(const void* host, void* device, Executor* executor, int threads) const {
  if (is_plain_) {
    if (elements_bytes_ != 0) std::memcpy(device, host, elements_bytes_);
  } else if (packed_bits_ == 0) {
    Reorder(host, host_strides_, device, device_strides_, executor, threads);
  } else if (SameStrides(sizes_, host_strides_, device_strides_)) {
    PackBits(static_cast<const uint8_t*>(host), element_count_, packed_bits_,
             static_cast<uint8_t*>(device));
  } else {
    std::vector<uint8_t> ordered(element_count_);
    Reorder(host, host_strides_, ordered.data(), device_strides_, executor, threads);
    PackBits(ordered.data(), element_count_, packed_bits_, static_cast<uint8_t*>(device));
  }
}

void HostTransfer::ToHost(const void* device, void* host) const {
  if (is_plain_) {
    if (elements_bytes_ != 0) std::memcpy(host, device, elements_bytes_);
  } else if (packed_bits_ == 0) {
    StridedCopy(ByteWidth(type_), sizes_, device, device_strides_, host, host_strides_);
  } else if (SameStrides(sizes_, host_strides_, device_strides_)) {
    UnpackBits(static_cast<const uint8_t*>(device), element_count_, packed_bits_,
               IsSignedInteger(type_), static_cast<uint8_t*>(host));
  } else {
    std::vector<uint8_t> ordered(element_count_);
    UnpackBits(static_cast<const uint8_t*>(device), element_count_, packed_bits_,
               IsSignedInteger(type_), ordered.data());
    StridedCopy(1, sizes_, ordered.data(), device_strides_, host, host_strides_);
  }
}

}  // namespace pjrt
