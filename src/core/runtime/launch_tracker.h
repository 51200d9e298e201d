// SPDX-License-Identifier: Apache-2.0
//
// LaunchTracker: the launches in flight on one device. Limits their number, keeps launches with
// side effects in order, and finds them by launch id to poison them.
#ifndef PJRT_CORE_RUNTIME_LAUNCH_TRACKER_H_
#define PJRT_CORE_RUNTIME_LAUNCH_TRACKER_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "pjrt/base/future.h"

namespace pjrt {

// Thread-safe. A launch that runs in the call to Execute never comes here.
class LaunchTracker {
 public:
  explicit LaunchTracker(int max_in_flight) : max_in_flight_(max_in_flight) {}

  bool IsFull() const { return in_flight_.load(std::memory_order_relaxed) >= max_in_flight_; }
  // Blocks while IsFull().
  void WaitForRoom();
  // Blocks until no launch is in flight.
  void WaitUntilIdle();

  // Counts a launch in. With a `launch_id` other than 0, `defined` can be poisoned until it leaves.
  // `launch` is any pointer that tells it from others.
  void Enter(const void* launch, int32_t launch_id, const PromiseOnce<>& defined);
  // Counts it out.
  void Leave(const void* launch);

  // The end of the last launch with side effects in this stream, which `ended` replaces.
  Future<> ExchangeStreamEnd(int64_t stream_id, Future<> ended);
  // Whether such a launch is still running.
  bool IsStreamBusy(int64_t stream_id) const;

  // Puts the unfinished launches of that id in error; false when there is none.
  bool Poison(int32_t launch_id, const absl::Status& error);

 private:
  const int max_in_flight_;
  std::atomic<int> in_flight_{0};
  mutable std::mutex mutex_;
  std::condition_variable room_;
  absl::flat_hash_map<int64_t, Future<>> stream_ends_;
  struct Poisonable {
    const void* launch;
    int32_t launch_id;
    PromiseOnce<> defined;
  };
  std::vector<Poisonable> poisonable_;
};

}  // namespace pjrt

#endif  // PJRT_CORE_RUNTIME_LAUNCH_TRACKER_H_
