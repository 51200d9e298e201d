// SPDX-License-Identifier: Apache-2.0
//
// Key-value stores, by which the processes of a distributed program find each other. Spec: PJRT C++
// API, section 1.19.
#ifndef PJRT_KEY_VALUE_STORE_H_
#define PJRT_KEY_VALUE_STORE_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace pjrt {

// A map from keys to values shared by several processes, or by the threads of one. Keys form
// directories at '/': "a/b" lies in "a". Values are any bytes.
//
// Thread safety: all methods may be called by any thread.
class KeyValueStoreInterface {
 public:
  // One AsyncGet that is under way.
  class CallOptions {
   public:
    virtual ~CallOptions() = default;

    // Gives the call up: its callback gets CANCELLED, on this thread, before StartCancel returns.
    // Has no effect once the callback was called. Thread-safe.
    virtual void StartCancel() = 0;
  };

  // Called once, with the value or an error, on any thread, without any lock held.
  using GetCallback = absl::AnyInvocable<void(absl::StatusOr<std::string>) &&>;

  virtual ~KeyValueStoreInterface() = default;

  // The value of `key`, for which it waits up to `timeout` (absl::InfiniteDuration() for ever).
  // When the time is over: NOT_FOUND [PJRT-R005]. When the store is destroyed meanwhile: CANCELLED.
  virtual absl::StatusOr<std::string> Get(absl::string_view key, absl::Duration timeout) = 0;

  // The value of `key`, or NOT_FOUND [PJRT-R005] at once.
  virtual absl::StatusOr<std::string> TryGet(absl::string_view key) = 0;

  // Sets `key` to `value` and answers those who wait for it. A store may forbid that a key is set
  // twice: ALREADY_EXISTS [PJRT-R006].
  virtual absl::Status Set(absl::string_view key, absl::string_view value) = 0;

  // Removes `key`, and if it is a directory all that lies in it: "a" removes "a" and "a/b", not
  // "ab". OK if there is nothing to remove. Pending Gets go on waiting.
  virtual absl::Status Delete(absl::string_view key) = 0;

  // Calls `done` with the value of `key` as soon as there is one: before AsyncGet returns if it is
  // there, else on the thread that sets it. The returned handle can cancel the call, and may be
  // dropped. When the store is destroyed first, `done` gets CANCELLED [PJRT-R007].
  virtual std::shared_ptr<CallOptions> AsyncGet(absl::string_view key, GetCallback done) = 0;
};

// What a client of a distributed program needs to find the others.
struct MultiProcessKeyValueStore {
  std::shared_ptr<KeyValueStoreInterface> kv_store;
  int process_index = 0;
  int process_count = 1;
};

// A store in the memory of one process, for tests and for programs whose "processes" are threads.
// The destructor cancels what is pending; no other call may run at that time, but handles of
// AsyncGet may outlive the store.
class InMemoryKeyValueStore final : public KeyValueStoreInterface {
 public:
  // With `allow_overwrite` false, setting a key that has a value gives ALREADY_EXISTS [PJRT-R006].
  explicit InMemoryKeyValueStore(bool allow_overwrite = true);
  ~InMemoryKeyValueStore() override;
  InMemoryKeyValueStore(const InMemoryKeyValueStore&) = delete;
  InMemoryKeyValueStore& operator=(const InMemoryKeyValueStore&) = delete;

  absl::StatusOr<std::string> Get(absl::string_view key, absl::Duration timeout) override;
  absl::StatusOr<std::string> TryGet(absl::string_view key) override;
  absl::Status Set(absl::string_view key, absl::string_view value) override;
  absl::Status Delete(absl::string_view key) override;
  std::shared_ptr<CallOptions> AsyncGet(absl::string_view key, GetCallback done) override;

 private:
  class PendingGet;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace pjrt

#endif  // PJRT_KEY_VALUE_STORE_H_
