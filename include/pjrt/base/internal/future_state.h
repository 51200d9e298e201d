// SPDX-License-Identifier: Apache-2.0
//
// The shared state behind Future and Promise. Nothing here is meant for users of the library; the
// templates of future.h need it. How it works is told at the top of src/core/base/future.cc.
#ifndef PJRT_BASE_INTERNAL_FUTURE_STATE_H_
#define PJRT_BASE_INTERNAL_FUTURE_STATE_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/base/executor.h"

namespace pjrt::internal {

class FutureState;

// Work that waits for a state. `run` is called once, with the completed state, and disposes of the
// continuation. It returns a state whose value it has just stored (with a reference that the caller
// takes over), whose own continuations are still to be run; or null. `source` is null when an
// executor dropped the work instead of running it. A continuation without `run` is a parked thread.
struct Continuation {
  using RunFn = FutureState* (*)(Continuation* self, FutureState* source);

  explicit Continuation(RunFn run_fn) : run(run_fn) {}

  RunFn run;
  Continuation* next = nullptr;
  FutureState* source = nullptr;  // Holds a reference, from the completion of the source on.
};

// Executor and blocking hooks that a future carries; defined in future.cc. Immutable and counted.
class FutureContext;
void AddRef(FutureContext* context);
void Release(FutureContext* context);

// Ref-counted state without its value: pending, with a lock-free list of continuations, or ready.
class FutureState {
 public:
  FutureState(const FutureState&) = delete;
  FutureState& operator=(const FutureState&) = delete;

  // The status of the value; OK when there is one. Only for ready states.
  virtual const absl::Status& status() const = 0;

  bool IsReady() const { return head_.load(std::memory_order_acquire) == kReady; }

  // True for the first caller, who may then store the value and must publish it.
  bool Claim() { return !claimed_.exchange(true, std::memory_order_acq_rel); }
  bool IsClaimed() const { return claimed_.load(std::memory_order_acquire); }

  void AddRef(uint32_t count = 1) {
    if (!immortal_) refs_.fetch_add(count, std::memory_order_relaxed);
  }
  void Release() {
    if (!immortal_ && refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }

  // True if the caller's reference is the only one and nothing waits for the state.
  bool IsUnobserved() const { return IsUnique() && head_.load(std::memory_order_acquire) == 0; }
  bool IsUnique() const { return !immortal_ && refs_.load(std::memory_order_acquire) == 1; }
  bool immortal() const { return immortal_; }

  // Adds a continuation to a pending state and returns true, or returns false if the state is
  // ready.
  bool AddContinuation(Continuation* continuation);

  // Makes the stored value visible, wakes the waiting threads and runs the continuations. The
  // caller holds a reference.
  void Complete();

  // Blocks until the state is ready, with the hooks of `context` (which may be null).
  void Wait(const FutureContext* context);

  // First half of Complete: returns the continuations in the order of their registration, each with
  // its source set.
  Continuation* Publish();

 protected:
  enum class Kind { kPending, kReady, kImmortal };

  // `refs` counts the references handed out by the maker.
  FutureState(Kind kind, uint32_t refs)
      : head_(kind == Kind::kPending ? 0 : kReady),
        refs_(refs),
        claimed_(kind != Kind::kPending),
        immortal_(kind == Kind::kImmortal) {}
  virtual ~FutureState() = default;

 private:
  static constexpr uintptr_t kReady = 1;

  std::atomic<uintptr_t>
      head_;  // 0: pending and nobody waits; kReady; else the newest continuation.
  std::atomic<uint32_t> refs_;
  std::atomic<bool> claimed_;
  const bool immortal_;
};

// The state of an OK Future<>: one for all, never counted.
FutureState* OkState();
// The state that stands in for that of an invalid Future<>.
FutureState* InvalidVoidState();
// What an invalid future answers.
const absl::Status& InvalidFutureError();
// What a future answers whose producer is gone; `producer` is "Promise" or "PromiseOnce".
absl::Status BrokenPromiseError(const char* producer);
// What a future answers whose executor destroyed the task that was to make the value.
absl::Status DroppedTaskError();
// What becomes of an OK status given where a value is due.
absl::Status MissingValueError();

// Runs the continuations of a list, each with its source set, and all that follows from them.
void RunContinuations(Continuation* list);
// Hands a continuation to `executor`; `source` (already completed) is kept alive until it has run.
void RunOn(Executor& executor, Continuation* continuation, FutureState* source);

// Whether a T can be copied. Unlike std::is_copy_constructible, this doesn't believe a container
// (or tuple, or pair) whose elements can only be moved.
template <typename T, typename = void>
struct IsCopyable : std::is_copy_constructible<T> {};
template <typename T>
struct IsCopyable<T, std::void_t<typename T::value_type>>
    : std::conjunction<std::is_copy_constructible<T>,
                       std::disjunction<std::is_same<T, typename T::value_type>,
                                        IsCopyable<typename T::value_type>>> {};
template <typename T, typename U>
struct IsCopyable<std::pair<T, U>> : std::conjunction<IsCopyable<T>, IsCopyable<U>> {};
template <typename... Ts>
struct IsCopyable<std::tuple<Ts...>> : std::conjunction<IsCopyable<Ts>...> {};

template <typename T>
using FutureValue = std::conditional_t<std::is_void_v<T>, absl::Status, absl::StatusOr<T>>;

// State with its value: Status for void, else StatusOr<T>.
template <typename T>
class ValueState : public FutureState {
 public:
  using V = FutureValue<T>;

  explicit ValueState(uint32_t refs) : FutureState(Kind::kPending, refs) {}
  ValueState(V value, uint32_t refs, bool is_immortal = false)
      : FutureState(is_immortal ? Kind::kImmortal : Kind::kReady, refs), value_(std::move(value)) {}

  const absl::Status& status() const override {
    if constexpr (std::is_void_v<T>) {
      return value_;
    } else {
      return value_.status();
    }
  }

  const V& value() const { return value_; }
  void Store(V value) { value_ = std::move(value); }

  // The value, moved out if nobody else can see it or if it cannot be copied. An error is copied,
  // so that other views of the state keep their status.
  V Take() {
    if (!status().ok()) return V(status());
    if constexpr (std::is_void_v<T>) {
      return value_;
    } else if constexpr (!IsCopyable<T>::value) {
      return std::move(value_);
    } else {
      return IsUnique() ? V(std::move(value_)) : V(value_);
    }
  }

 private:
  V value_;
};

// A T that is made on first use, as a static variable of a function, and never destroyed: threads
// may still need it while the program ends.
template <typename T>
class Immortal {
 public:
  template <typename... Args>
  explicit Immortal(Args&&... args) : object_(new (storage_) T(std::forward<Args>(args)...)) {}
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;

  T* get() const { return object_; }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
  T* const object_;
};

// The state that stands in for that of an invalid Future<T>.
template <typename T>
ValueState<T>* InvalidState() {
  static const Immortal<ValueState<T>> state(absl::StatusOr<T>(InvalidFutureError()), 1u, true);
  return state.get();
}

// An owned reference to a state and a context: what a Future or a Promise is made of.
class FutureHandle {
 public:
  FutureHandle() = default;
  // Takes both references over.
  FutureHandle(FutureState* state, FutureContext* context) : state_(state), context_(context) {}
  FutureHandle(const FutureHandle& other) : state_(other.state_), context_(other.context_) {
    if (state_ != nullptr) state_->AddRef();
    if (context_ != nullptr) internal::AddRef(context_);
  }
  FutureHandle(FutureHandle&& other) noexcept
      : state_(std::exchange(other.state_, nullptr)),
        context_(std::exchange(other.context_, nullptr)) {}
  FutureHandle& operator=(FutureHandle other) noexcept {
    std::swap(state_, other.state_);
    std::swap(context_, other.context_);
    return *this;
  }
  ~FutureHandle() {
    if (state_ != nullptr) state_->Release();
    if (context_ != nullptr) internal::Release(context_);
  }

  FutureState* state() const { return state_; }
  FutureContext* context() const { return context_; }

 private:
  FutureState* state_ = nullptr;
  FutureContext* context_ = nullptr;
};

// Each returns a reference that the caller owns, or null for "neither executor nor hooks".
FutureContext* NewContext(Executor* executor, const FutureContext* hooks);
FutureContext* WithExecutor(Executor& executor, const FutureContext* context);
// The hooks of `context` without its executor: what the future of a mapped value inherits.
FutureContext* HooksOf(const FutureContext* context);
// The executor of `context`, or null. `context` may be null.
Executor* ExecutorOf(const FutureContext* context);

}  // namespace pjrt::internal

#endif  // PJRT_BASE_INTERNAL_FUTURE_STATE_H_
