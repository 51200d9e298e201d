// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/launch_tracker.h"

#include <algorithm>

namespace pjrt {

void LaunchTracker::WaitForRoom() {
  std::unique_lock<std::mutex> lock(mutex_);
  room_.wait(lock, [this] { return !IsFull(); });
}

void LaunchTracker::WaitUntilIdle() {
  std::unique_lock<std::mutex> lock(mutex_);
  room_.wait(lock, [this] { return in_flight_.load(std::memory_order_relaxed) == 0; });
}

void LaunchTracker::Enter(const void* launch, int32_t launch_id, const PromiseOnce<>& defined) {
  std::lock_guard<std::mutex> lock(mutex_);
  in_flight_.fetch_add(1, std::memory_order_relaxed);
  if (launch_id != 0) poisonable_.push_back({launch, launch_id, defined});
}

void LaunchTracker::Leave(const void* launch) {
  // Destroyed without the lock: the last copy of a promise runs what waits for it.
  PromiseOnce<> defined;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    in_flight_.fetch_sub(1, std::memory_order_relaxed);
    const auto it = std::find_if(poisonable_.begin(), poisonable_.end(),
                                 [&](const Poisonable& p) { return p.launch == launch; });
    if (it != poisonable_.end()) {
      defined = std::move(it->defined);
      poisonable_.erase(it);
    }
    // With the lock, since whoever waits for the last launch may destroy the tracker then.
    room_.notify_all();
  }
}

Future<> LaunchTracker::ExchangeStreamEnd(int64_t stream_id, Future<> ended) {
  std::lock_guard<std::mutex> lock(mutex_);
  // Streams that have come to rest aren't worth remembering.
  if (stream_ends_.size() > 64) {
    absl::erase_if(stream_ends_, [](const auto& entry) { return entry.second.IsReady(); });
  }
  Future<>& end = stream_ends_[stream_id];
  return std::exchange(end, std::move(ended));
}

bool LaunchTracker::IsStreamBusy(int64_t stream_id) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto it = stream_ends_.find(stream_id);
  return it != stream_ends_.end() && !it->second.IsReady();
}

bool LaunchTracker::Poison(int32_t launch_id, const absl::Status& error) {
  std::vector<PromiseOnce<>> found;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    for (const Poisonable& p : poisonable_) {
      if (p.launch_id == launch_id) found.push_back(p.defined);
    }
  }
  // Without the lock, since setting a promise runs what waits for it.
  bool poisoned = false;
  for (const PromiseOnce<>& defined : found) poisoned |= defined.Set(error);
  return poisoned;
}

}  // namespace pjrt
