// SPDX-License-Identifier: Apache-2.0
//
// The store proper is a State that the store, its pending gets and its blocked Gets share, so that
// each may outlive the others. A pending get is answered by whoever claims it first: a Set, a
// Cancel, a timeout or the destructor.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "pjrt/key_value_store.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace {

absl::Status NoValueError(absl::string_view key) {
  return NotFound("PJRT-R005", "key '", key, "' has no value");
}

}  // namespace

class InMemoryKeyValueStore::PendingGet : public KeyValueStoreInterface::CallOptions {
 public:
  PendingGet(std::weak_ptr<State> state, absl::string_view key, GetCallback done)
      : state_(std::move(state)), key_(key), done_(std::move(done)) {}

  const std::string& key() const { return key_; }

  // Calls the callback, unless somebody else has. No lock may be held.
  void Answer(absl::StatusOr<std::string> result) {
    if (claimed_.exchange(true)) return;
    GetCallback done = std::move(done_);
    std::move(done)(std::move(result));
  }

  void StartCancel() override;

 private:
  const std::weak_ptr<State> state_;
  const std::string key_;
  std::atomic<bool> claimed_{false};
  GetCallback done_;
};

struct InMemoryKeyValueStore::State {
  using PendingList = std::vector<std::shared_ptr<PendingGet>>;

  explicit State(bool overwrite) : allow_overwrite(overwrite) {}

  const bool allow_overwrite;
  std::mutex mutex;
  std::map<std::string, std::string> values;   // Guarded by mutex.
  std::map<std::string, PendingList> pending;  // Guarded by mutex; no list is empty.

  // Answers the get at once or adds it to those that wait.
  void Start(const std::shared_ptr<PendingGet>& get) {
    std::string value;
    {
      std::lock_guard<std::mutex> lock(mutex);
      const auto found = values.find(get->key());
      if (found == values.end()) {
        pending[get->key()].push_back(get);
        return;
      }
      value = found->second;
    }
    get->Answer(std::move(value));
  }

  void Forget(const PendingGet* get) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = pending.find(get->key());
    if (found == pending.end()) return;
    PendingList& list = found->second;
    list.erase(std::remove_if(list.begin(), list.end(),
                              [get](const auto& other) { return other.get() == get; }),
               list.end());
    if (list.empty()) pending.erase(found);
  }
};

void InMemoryKeyValueStore::PendingGet::StartCancel() {
  if (const std::shared_ptr<State> state = state_.lock()) state->Forget(this);
  Answer(Cancelled("PJRT-R007", "the read of key '", key_, "' was cancelled"));
}

InMemoryKeyValueStore::InMemoryKeyValueStore(bool allow_overwrite)
    : state_(std::make_shared<State>(allow_overwrite)) {}

InMemoryKeyValueStore::~InMemoryKeyValueStore() {
  std::map<std::string, State::PendingList> pending;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    pending.swap(state_->pending);
  }
  for (auto& [key, list] : pending) {
    for (const std::shared_ptr<PendingGet>& get : list) {
      get->Answer(Cancelled("PJRT-R007", "the store was destroyed before key '", key, "' was set"));
    }
  }
}

absl::StatusOr<std::string> InMemoryKeyValueStore::Get(absl::string_view key,
                                                       absl::Duration timeout) {
  struct Result {
    std::mutex mutex;
    std::condition_variable there;
    absl::StatusOr<std::string> value = absl::UnknownError("");
    bool is_there = false;
  };
  // The callback owns the result too: it may be running when the time is over.
  const auto result = std::make_shared<Result>();
  const auto get =
      std::make_shared<PendingGet>(state_, key, [result](absl::StatusOr<std::string> value) {
        std::lock_guard<std::mutex> lock(result->mutex);
        result->value = std::move(value);
        result->is_there = true;
        result->there.notify_all();
      });
  const std::shared_ptr<State> state = state_;  // The store may be destroyed while this waits.
  state->Start(get);

  // Longer than any program runs, and short enough for the clock's arithmetic.
  constexpr absl::Duration kForever = absl::Hours(24 * 365 * 10);
  const auto is_there = [&result] { return result->is_there; };
  {
    std::unique_lock<std::mutex> lock(result->mutex);
    if (result->there.wait_for(lock, absl::ToChronoNanoseconds(std::min(timeout, kForever)),
                               is_there)) {
      return std::move(result->value);
    }
  }
  state->Forget(get.get());
  get->Answer(
      NotFound("PJRT-R005", "key '", key, "' got no value in ", absl::FormatDuration(timeout)));
  // That was the answer, or another thread has begun to give one.
  std::unique_lock<std::mutex> lock(result->mutex);
  result->there.wait(lock, is_there);
  return std::move(result->value);
}

absl::StatusOr<std::string> InMemoryKeyValueStore::TryGet(absl::string_view key) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  const auto found = state_->values.find(std::string(key));
  if (found == state_->values.end()) return NoValueError(key);
  return found->second;
}

absl::Status InMemoryKeyValueStore::Set(absl::string_view key, absl::string_view value) {
  State::PendingList answered;
  {
    std::lock_guard<std::mutex> lock(state_->mutex);
    const auto [entry, inserted] = state_->values.try_emplace(std::string(key), value);
    if (!inserted) {
      if (!state_->allow_overwrite) {
        return AlreadyExists("PJRT-R006", "key '", key, "' has a value already");
      }
      entry->second = std::string(value);
    }
    const auto waiting = state_->pending.find(entry->first);
    if (waiting != state_->pending.end()) {
      answered = std::move(waiting->second);
      state_->pending.erase(waiting);
    }
  }
  for (const std::shared_ptr<PendingGet>& get : answered) get->Answer(std::string(value));
  return absl::OkStatus();
}

absl::Status InMemoryKeyValueStore::Delete(absl::string_view key) {
  const std::string name(key);
  std::lock_guard<std::mutex> lock(state_->mutex);
  std::map<std::string, std::string>& values = state_->values;
  values.erase(name);
  // All that begins with "name/"; '0' is the character after '/'.
  values.erase(values.lower_bound(name + "/"), values.lower_bound(name + "0"));
  return absl::OkStatus();
}

std::shared_ptr<KeyValueStoreInterface::CallOptions> InMemoryKeyValueStore::AsyncGet(
    absl::string_view key, GetCallback done) {
  auto get = std::make_shared<PendingGet>(state_, key, std::move(done));
  state_->Start(get);
  return get;
}

}  // namespace pjrt
