// SPDX-License-Identifier: Apache-2.0
#include "src/core/runtime/specialization_cache.h"

namespace pjrt {

absl::StatusOr<SpecializationCache::Program> SpecializationCache::Get(
    const SpecializationKey& key, absl::FunctionRef<absl::StatusOr<Program>()> make) {
  std::shared_ptr<Entry> entry;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto it = by_key_.find(key);
    if (it != by_key_.end()) {
      entries_.splice(entries_.begin(), entries_, it->second);
      entry = entries_.front();
    } else {
      entry = std::make_shared<Entry>(key);
      entries_.push_front(entry);
      by_key_[key] = entries_.begin();
      if (entries_.size() > capacity_) {
        by_key_.erase(entries_.back()->key);
        entries_.pop_back();
      }
    }
  }
  std::call_once(entry->once, [&] { entry->program = make(); });
  std::lock_guard<std::mutex> lock(mutex_);
  if (entry->program.ok()) {
    latest_ = *entry->program;
    return latest_;
  }
  const auto it = by_key_.find(key);
  if (it != by_key_.end() && *it->second == entry) {
    entries_.erase(it->second);
    by_key_.erase(it);
  }
  return entry->program.status();
}

SpecializationCache::Program SpecializationCache::latest() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return latest_;
}

size_t SpecializationCache::size() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return entries_.size();
}

}  // namespace pjrt
