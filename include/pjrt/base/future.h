// SPDX-License-Identifier: Apache-2.0
//
// Future<T> and Promise<T>: values that come later. Spec: PJRT C++ API, section 1.12.
//
//   auto [promise, future] = pjrt::MakePromise<int>();
//   pjrt::Future<std::string> text = future.Map([](int x) { return std::to_string(x); });
//   promise.Set(42);                      // From any thread, now or later.
//   absl::StatusOr<std::string> s = text.Await();
//
// A Future<T> carries an absl::StatusOr<T>; a Future<> (= Future<void>) carries an absl::Status.
// Futures have no thread of their own: what waits for a future runs on the thread that fulfils it,
// or on an Executor that the caller names.
//
// Thread safety: different Future objects may share one state and be used by different threads at
// will. One Future object follows the usual rule: const members may run concurrently, the others
// not.
//
// Nothing here aborts. A future without a state (default-constructed, moved from or consumed) is
// invalid and behaves like one that is ready with INVALID_ARGUMENT [PJRT-B023]; setting a promise a
// second time has no effect. Callbacks must not throw.
//
// Cost: an OK Future<> allocates nothing, IsReady is one atomic load, MakePromise without hooks is
// one allocation, and so is a Map or OnReady on a pending future. Await on a ready future takes no
// lock.
//
// Joining several futures: pjrt/base/future_join.h.
#ifndef PJRT_BASE_FUTURE_H_
#define PJRT_BASE_FUTURE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/base/executor.h"
#include "pjrt/base/internal/future_map.h"
#include "pjrt/base/internal/future_state.h"

namespace pjrt {

// Hooks around a blocking Await, for profilers and for clients that let a waiting thread do queued
// work instead of sleeping.
class FutureHelpers {
 public:
  // What an OnBlockStart hands to its OnBlockEnd.
  struct ProfilingKeys {
    uint64_t traceme_context_id = static_cast<uint64_t>(-1);
  };

  // Runs on the thread that calls Await, if the future is pending, before the thread parks. It may
  // do work that fulfils the future; the future is looked at again after it has returned.
  using OnBlockStart = std::function<ProfilingKeys()>;
  // Runs on the same thread after the wait, once for each OnBlockStart, with what that returned.
  using OnBlockEnd = std::function<void(ProfilingKeys)>;

  // A pair of hooks made once and shared by any number of futures: a copy costs one reference
  // count, where two std::functions would be copied otherwise. Either function may be null.
  // Immutable.
  class BlockHooks {
   public:
    // No hooks.
    BlockHooks() = default;
    explicit BlockHooks(OnBlockStart on_block_start, OnBlockEnd on_block_end = nullptr);

   private:
    friend struct internal::FutureAccess;

    internal::FutureHandle handle_;
  };

  // `future` with the hooks added to those that it has. An invalid future stays invalid.
  template <typename T>
  static Future<T> WithProfiling(Future<T> future, const BlockHooks& hooks) {
    return internal::FutureAccess::WithHooks(std::move(future), hooks);
  }
  template <typename T>
  static Future<T> WithProfiling(Future<T> future, OnBlockStart on_block_start,
                                 OnBlockEnd on_block_end) {
    return WithProfiling(std::move(future),
                         BlockHooks(std::move(on_block_start), std::move(on_block_end)));
  }

  // `future` with the hooks of `source` added to those that it has: for a promise that some
  // callback of `source` sets, whose waiters should help along as those of `source` do. What Map
  // and JoinFutures return has the hooks already.
  template <typename T, typename U>
  static Future<T> WithHooksOf(Future<T> future, const Future<U>& source) {
    return internal::FutureAccess::WithContext(std::move(future),
                                               internal::FutureAccess::Handle(source).context());
  }
};

// A value or an error that is there now or comes later.
//
// If T can be copied, so can the future, and the copies share one value. If T can only be moved, so
// can the future, and the members with && hand the value itself over. A vector, tuple or pair of
// what can only be moved counts as such. T is neither a Status, a StatusOr, a reference nor const.
template <typename T>
class Future : private internal::CopyableIf<std::is_void_v<T> || internal::IsCopyable<T>::value> {
  static_assert(!internal::IsStatus<T>::value && !internal::IsStatusOr<T>::value,
                "Future<T> carries a status already: T is neither Status nor StatusOr");
  static_assert(!std::is_reference_v<T> && !std::is_const_v<T>, "T is a plain value type");

  static constexpr bool kIsVoid = std::is_void_v<T>;
  static constexpr bool kMoveOnly = !kIsVoid && !internal::IsCopyable<T>::value;

 public:
  // absl::Status for void, else absl::StatusOr<T>.
  using V = internal::FutureValue<T>;

  // An invalid future.
  Future() = default;

  // A future that is ready: from a Status for Future<>; from a T, a StatusOr<T>, a non-OK Status,
  // or what converts to T for Future<T>. An OK status where a value is due becomes INTERNAL
  // [PJRT-B025]. Implicit, so that a function that returns a Future may return a Status or a value.
  template <typename U = std::conditional_t<kIsVoid, absl::Status, T>,
            std::enable_if_t<internal::kIsFutureValue<U, T>, int> = 0>
  Future(U&& value)  // NOLINT(google-explicit-constructor)
      : handle_(internal::NewReadyState<T>(std::forward<U>(value)), nullptr) {}

  // Whether the future has a state.
  bool IsValid() const { return handle_.state() != nullptr; }
  explicit operator bool() const { return IsValid(); }

  // Whether the value is there: if so, Await doesn't block. Never blocks. True for an invalid
  // future.
  bool IsReady() const { return !IsValid() || handle_.state()->IsReady(); }
  // The same. (Separate in PJRT, where IsReady may ask a remote machine.)
  bool IsKnownReady() const { return IsReady(); }

  // Blocks until the future is ready and returns its status or value. The reference lives as long
  // as this object, or any copy of it, is neither destroyed, assigned nor consumed.
  //
  // May be called by any thread, callbacks of other futures included: a thread that waits inside a
  // callback first runs the callbacks that are due on this thread.
  const V& Await() const& {
    if (!IsReady()) handle_.state()->Wait(handle_.context());
    return Value();
  }
  // The same for a future that is no longer needed: consumes it and returns the value, moved if it
  // cannot be copied or nobody else can see it, else copied.
  V Await() && {
    if (!IsReady()) handle_.state()->Wait(handle_.context());
    const Future self = std::move(*this);
    if constexpr (kIsVoid) {
      return self.Value();
    } else {
      return self.TypedState()->Take();
    }
  }

  // For Future<>: waits by calling `block(*this)` instead of parking the thread, and returns the
  // status. `block` is called only if the future is pending, with the hooks of the future around
  // it; if it returns too early, the call goes on waiting as Await does.
  template <typename U = T, std::enable_if_t<std::is_void_v<U>, int> = 0>
  absl::Status BlockUntilReady(absl::FunctionRef<void(const Future<>&)> block) const {
    if (!IsReady()) {
      internal::BlockWith(handle_, [&] { block(*this); });
    }
    return Await();
  }

  // Calls `f` once with the Status or StatusOr<T> as soon as the future is ready: on the calling
  // thread before OnReady returns if it is ready now, else on the thread that fulfils it; or as a
  // task of `executor`, or of the executor given to Detach or MakePromise, in both cases. Callbacks
  // of one future start in the order in which they were added, unless an executor reorders them.
  // They run without any lock held, and the thread that fulfils a promise waits for them: long work
  // belongs on an executor. If an executor drops its task, `f` is destroyed without a call.
  //
  // The first two forms pass `const V&`. The consuming forms do so too if T can be copied; if not,
  // they pass the value itself as `V&&`, so that `f` may take it. Invalid future: `f` gets the
  // error.
  //
  // A chain of any length is resolved without recursion where callbacks were made by Map; callbacks
  // that fulfil further promises are nested up to a fixed depth, beyond which they run after the
  // inner Set has returned, on the same thread.
  template <typename F>
  void OnReady(F&& f) const& {
    AddCallback<false>(handle_, internal::ExecutorOf(handle_.context()), std::forward<F>(f));
  }
  template <typename F>
  void OnReady(Executor& executor, F&& f) const& {
    AddCallback<false>(handle_, &executor, std::forward<F>(f));
  }
  template <typename F>
  void OnReady(F&& f) && {
    const internal::FutureHandle handle = std::move(handle_);
    AddCallback<kMoveOnly>(handle, internal::ExecutorOf(handle.context()), std::forward<F>(f));
  }
  template <typename F>
  void OnReady(Executor& executor, F&& f) && {
    const internal::FutureHandle handle = std::move(handle_);
    AddCallback<kMoveOnly>(handle, &executor, std::forward<F>(f));
  }

  // The future of `f(value)` (of `f()` for Future<>). `f` runs where a callback of OnReady would,
  // if this future turns out well; an error goes straight to the result, and `f` is destroyed
  // without a call. So it is too, if at the time the value arrives nobody holds the result or waits
  // for it.
  //
  // The result type follows from what `f` returns: void and Status give Future<>, StatusOr<R> and
  // Future<R> give Future<R> (a returned future is waited for), anything else R gives Future<R>.
  // With Map<R> it is Future<R>, and `f` returns R, StatusOr<R>, Status, Future<R> or what
  // converts.
  //
  // Arguments are passed as in OnReady: `const T&`, or `T&&` from a consumed move-only future. The
  // result inherits the blocking hooks of this future, not its executor.
  template <typename R = internal::Deduce, typename F>
  auto Map(F&& f) const& {
    return MapImpl<R, false>(handle_, internal::ExecutorOf(handle_.context()), std::forward<F>(f));
  }
  template <typename R = internal::Deduce, typename F>
  auto Map(Executor& executor, F&& f) const& {
    return MapImpl<R, false>(handle_, &executor, std::forward<F>(f));
  }
  template <typename R = internal::Deduce, typename F>
  auto Map(F&& f) && {
    const internal::FutureHandle handle = std::move(handle_);
    return MapImpl<R, kMoveOnly>(handle, internal::ExecutorOf(handle.context()),
                                 std::forward<F>(f));
  }
  template <typename R = internal::Deduce, typename F>
  auto Map(Executor& executor, F&& f) && {
    const internal::FutureHandle handle = std::move(handle_);
    return MapImpl<R, kMoveOnly>(handle, &executor, std::forward<F>(f));
  }

  // For Future<>: the future of `value`, there when this one is ready and OK.
  template <typename R, typename U = T, std::enable_if_t<std::is_void_v<U>, int> = 0>
  Future<std::decay_t<R>> MapTo(R&& value) const {
    using D = std::decay_t<R>;
    return Map<D>([v = D(std::forward<R>(value))]() mutable -> D { return std::move(v); });
  }

  // For a Future<Future<U>>: the Future<U> that is ready when the inner one is.
  template <typename U = T, std::enable_if_t<internal::IsFuture<U>::value, int> = 0>
  U Flatten() const& {
    return Map([](const U& inner) { return inner; });
  }
  template <typename U = T, std::enable_if_t<internal::IsFuture<U>::value, int> = 0>
  U Flatten() && {
    return std::move(*this).Map(
        [](auto&& inner) -> U { return std::forward<decltype(inner)>(inner); });
  }

  // The same value, whose later callbacks run as tasks of `executor` unless they name another one.
  // Shares the state, copies no value, and gives the executor nothing to do by itself.
  Future Detach(Executor& executor) const& {
    static_assert(!kMoveOnly, "a move-only future is detached with std::move(future).Detach(...)");
    return Future(*this).DetachSelf(executor);
  }
  Future Detach(Executor& executor) && { return std::move(*this).DetachSelf(executor); }

  // The status of this future alone, ready when it is. Shares the state, which keeps the value
  // alive.
  Future<> GetReadyFuture() const { return Future<>(internal::FutureHandle(handle_)); }

 private:
  template <typename U>
  friend class Future;
  template <typename U>
  friend class Promise;
  friend struct internal::FutureAccess;

  explicit Future(internal::FutureHandle handle) : handle_(std::move(handle)) {}

  static internal::FutureState* StateOf(const internal::FutureHandle& handle) {
    if (handle.state() != nullptr) return handle.state();
    if constexpr (kIsVoid) {
      return internal::InvalidVoidState();
    } else {
      return internal::InvalidState<T>();
    }
  }
  internal::ValueState<T>* TypedState() const {
    return static_cast<internal::ValueState<T>*>(StateOf(handle_));
  }
  const V& Value() const {
    if constexpr (kIsVoid) {
      return StateOf(handle_)->status();
    } else {
      return TypedState()->value();
    }
  }

  template <bool kConsume, typename F>
  static void AddCallback(const internal::FutureHandle& handle, Executor* executor, F&& f) {
    internal::AddCallback<T, kConsume>(StateOf(handle), executor, std::forward<F>(f));
  }

  template <typename R, bool kConsume, typename F>
  static auto MapImpl(const internal::FutureHandle& handle, Executor* executor, F&& f) {
    using Result = internal::MapResult<R, internal::MapInvoke<std::decay_t<F>, T, kConsume>>;
    return internal::Map<typename Result::type, T, kConsume>(StateOf(handle), handle.context(),
                                                             executor, std::forward<F>(f));
  }

  Future DetachSelf(Executor& executor) && {
    if (!IsValid()) return Future();
    internal::FutureState* state = handle_.state();
    state->AddRef();
    Future result(
        internal::FutureHandle(state, internal::WithExecutor(executor, handle_.context())));
    handle_ = internal::FutureHandle();
    return result;
  }

  internal::FutureHandle handle_;
};

// The producer's end: sets the value of the futures that belong to it. Move-only. A promise that is
// destroyed, or assigned to, before it was set fulfils its futures with INTERNAL [PJRT-B024].
//
// Thread safety: Set and the const members may be called concurrently.
template <typename T>
class Promise {
 public:
  using V = internal::FutureValue<T>;

  // A promise without futures; Set has no effect.
  Promise() = default;
  Promise(Promise&& other) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    if (this != &other) {
      Abandon();
      handle_ = std::move(other.handle_);
    }
    return *this;
  }
  ~Promise() { Abandon(); }

  // Whether there is a state to set: false if default-constructed or moved from.
  explicit operator bool() const { return handle_.state() != nullptr; }

  // Fulfils the futures with a value or an error, wakes the threads that wait for them and runs
  // their callbacks on this thread. Returns true, or false without any effect if the promise was
  // set before or is empty. An OK status where a value is due becomes INTERNAL [PJRT-B025].
  //
  // The promise may be destroyed by a callback while Set is running.
  bool Set(V value) { return SetValue(std::move(value)); }
  template <typename U,
            std::enable_if_t<std::is_convertible_v<U&&, V> && !std::is_same_v<std::decay_t<U>, V>,
                             int> = 0>
  bool Set(U&& value) {
    return SetValue(internal::ToFutureValue<T>(std::forward<U>(value)));
  }
  // For Promise<>: fulfils with OK.
  template <typename U = T, std::enable_if_t<std::is_void_v<U>, int> = 0>
  bool Set() {
    return SetValue(absl::OkStatus());
  }

  // Another future of this promise, before or after Set. Only if T can be copied. Without arguments
  // it has the executor and hooks that were given to MakePromise. Empty promise: an invalid future.
  template <typename U = T>
  Future<U> future() const {
    static_assert(std::is_void_v<U> || internal::IsCopyable<U>::value,
                  "the one future of a move-only value comes from MakePromise");
    return Future<U>(internal::FutureHandle(handle_));
  }
  template <typename U = T>
  Future<U> future(const FutureHelpers::BlockHooks& hooks) const {
    return FutureHelpers::WithProfiling(future<U>(), hooks);
  }
  template <typename U = T>
  Future<U> future(FutureHelpers::OnBlockStart on_block_start,
                   FutureHelpers::OnBlockEnd on_block_end = nullptr) const {
    return future<U>(FutureHelpers::BlockHooks(std::move(on_block_start), std::move(on_block_end)));
  }

  // True if no future and no callback is left, so that nobody would see the value: the producer may
  // skip its work. A future made later by future() makes it false again.
  bool IsUniqueReference() const {
    return handle_.state() == nullptr || handle_.state()->IsUnobserved();
  }

  // The promise behind a shared pointer, for capture in a std::function.
  std::shared_ptr<Promise> ToShared() && { return std::make_shared<Promise>(std::move(*this)); }

 private:
  friend struct internal::FutureAccess;
  template <typename U>
  friend class PromiseOnce;

  explicit Promise(internal::FutureHandle handle) : handle_(std::move(handle)) {}

  bool SetValue(V value) {
    if (handle_.state() == nullptr || !handle_.state()->Claim()) return false;
    // The reference keeps the state alive if a callback destroys this promise.
    const internal::FutureHandle keep = handle_;
    auto* state = static_cast<internal::ValueState<T>*>(keep.state());
    state->Store(std::move(value));
    state->Complete();
    return true;
  }
  void Abandon(const char* name = "Promise") {
    if (!IsUniqueReference() && !handle_.state()->IsClaimed()) {
      SetValue(V(internal::BrokenPromiseError(name)));
    }
  }

  internal::FutureHandle handle_;
};

// A promise that several producers hold: copies share it and the first Set wins. When the last copy
// is destroyed before any Set, the futures fail with INTERNAL [PJRT-B024]. Made by MakePromiseOnce.
//
// Thread safety: as Promise.
template <typename T>
class PromiseOnce {
 public:
  using V = internal::FutureValue<T>;

  // A promise without futures; Set has no effect.
  PromiseOnce() = default;

  explicit operator bool() const { return shared_ != nullptr; }

  // As Promise::Set: true for the call that fulfilled the futures.
  template <typename U = V>
  bool Set(U&& value) const {
    return shared_ != nullptr && shared_->promise.Set(std::forward<U>(value));
  }
  template <typename U = T, std::enable_if_t<std::is_void_v<U>, int> = 0>
  bool Set() const {
    return Set(absl::OkStatus());
  }

  // As Promise::future.
  template <typename U = T>
  Future<U> future() const {
    return shared_ == nullptr ? Future<U>() : shared_->promise.template future<U>();
  }

  // As Promise::IsUniqueReference; other copies of the PromiseOnce don't count.
  bool IsUniqueReference() const {
    return shared_ == nullptr || shared_->promise.IsUniqueReference();
  }

 private:
  friend struct internal::FutureAccess;

  struct Shared {
    explicit Shared(Promise<T> p) : promise(std::move(p)) {}
    ~Shared() { promise.Abandon("PromiseOnce"); }
    Promise<T> promise;
  };

  explicit PromiseOnce(Promise<T> promise)
      : shared_(std::make_shared<Shared>(std::move(promise))) {}

  std::shared_ptr<Shared> shared_;
};

// A promise and its future. The callbacks of the future run as tasks of `executor`, if given; the
// hooks run around a blocking Await. The only way to a future of a move-only value.
template <typename T = void>
std::pair<Promise<T>, Future<T>> MakePromise() {
  return internal::FutureAccess::Make<T>(nullptr);
}
template <typename T = void>
std::pair<Promise<T>, Future<T>> MakePromise(const FutureHelpers::BlockHooks& hooks) {
  return internal::FutureAccess::Make<T>(internal::FutureAccess::Context(nullptr, hooks));
}
template <typename T = void>
std::pair<Promise<T>, Future<T>> MakePromise(FutureHelpers::OnBlockStart on_block_start,
                                             FutureHelpers::OnBlockEnd on_block_end = nullptr) {
  return MakePromise<T>(
      FutureHelpers::BlockHooks(std::move(on_block_start), std::move(on_block_end)));
}
template <typename T = void>
std::pair<Promise<T>, Future<T>> MakePromise(Executor& executor,
                                             const FutureHelpers::BlockHooks& hooks = {}) {
  return internal::FutureAccess::Make<T>(internal::FutureAccess::Context(&executor, hooks));
}
template <typename T = void>
std::pair<Promise<T>, Future<T>> MakePromise(Executor& executor,
                                             FutureHelpers::OnBlockStart on_block_start,
                                             FutureHelpers::OnBlockEnd on_block_end = nullptr) {
  return MakePromise<T>(
      executor, FutureHelpers::BlockHooks(std::move(on_block_start), std::move(on_block_end)));
}

// The same with a promise that can be copied.
template <typename T = void>
std::pair<PromiseOnce<T>, Future<T>> MakePromiseOnce(const FutureHelpers::BlockHooks& hooks = {}) {
  auto [promise, future] = MakePromise<T>(hooks);
  return {internal::FutureAccess::Once(std::move(promise)), std::move(future)};
}

// Runs `f()` as a task of `executor` and returns the future of its result, typed as in Future::Map:
// R is deduced from what `f` returns unless given. `f` runs even if the future is dropped. If the
// executor drops the task, the future fails with INTERNAL [PJRT-B024].
template <typename R = internal::Deduce, typename F>
auto MakeFutureOn(Executor& executor, F&& f) {
  using Result =
      typename internal::MapResult<R, internal::MapInvoke<std::decay_t<F>, void, false>>::type;
  auto [promise, future] = MakePromise<Result>();
  executor.Execute([p = std::move(promise), fn = std::decay_t<F>(std::forward<F>(f))]() mutable {
    internal::FulfilWith<Result>(std::move(p), std::move(fn));
  });
  return std::move(future);
}

// The names of older PJRT code.
template <typename T = void>
using PjRtFuture = Future<T>;
template <typename T = void>
using PjRtPromise = Promise<T>;

}  // namespace pjrt

#endif  // PJRT_BASE_FUTURE_H_
