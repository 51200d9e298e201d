// SPDX-License-Identifier: Apache-2.0
//
// What Future::OnReady and Future::Map put on a state's list, and the type rules of Map. Internal
// to future.h.
#ifndef PJRT_BASE_INTERNAL_FUTURE_MAP_H_
#define PJRT_BASE_INTERNAL_FUTURE_MAP_H_

#include <optional>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "pjrt/base/executor.h"
#include "pjrt/base/internal/future_state.h"

namespace pjrt {

template <typename T = void>
class Future;
template <typename T = void>
class Promise;
template <typename T = void>
class PromiseOnce;

namespace internal {

template <typename T>
struct IsStatus : std::is_same<T, absl::Status> {};
template <typename T>
struct IsStatusOr : std::false_type {};
template <typename T>
struct IsStatusOr<absl::StatusOr<T>> : std::true_type {};
template <typename T>
struct IsFuture : std::false_type {};
template <typename T>
struct IsFuture<Future<T>> : std::true_type {};

// Base class that makes its heirs copyable, or only movable.
template <bool kCopyable>
struct CopyableIf {};
template <>
struct CopyableIf<false> {
  CopyableIf() = default;
  CopyableIf(const CopyableIf&) = delete;
  CopyableIf& operator=(const CopyableIf&) = delete;
  CopyableIf(CopyableIf&&) = default;
  CopyableIf& operator=(CopyableIf&&) = default;
};

// Whether a Future<T> or the promise of one can be given a U.
template <typename U, typename T>
constexpr bool kIsFutureValue =
    std::conjunction_v<std::negation<std::is_same<std::decay_t<U>, Future<T>>>,
                       std::is_convertible<U&&, FutureValue<T>>>;

// `value` as Status or StatusOr<T>; an OK status is no value.
template <typename T, typename U>
FutureValue<T> ToFutureValue(U&& value) {
  if constexpr (!std::is_void_v<T> && IsStatus<std::decay_t<U>>::value) {
    if (value.ok()) return FutureValue<T>(MissingValueError());
  }
  return std::forward<U>(value);
}

// A ready state, with one reference for the caller.
template <typename T, typename U>
FutureState* NewReadyState(U&& value) {
  FutureValue<T> v = ToFutureValue<T>(std::forward<U>(value));
  if constexpr (std::is_void_v<T>) {
    if (v.ok()) return OkState();
  }
  return new ValueState<T>(std::move(v), 1);
}

// A context with the executor of `base` and the hooks of both; either may be null. The caller owns
// it.
FutureContext* MergeContexts(const FutureContext* base, const FutureContext* more);

// The private doors of Future and Promise.
struct FutureAccess {
  template <typename T>
  static Future<T> Wrap(FutureState* state, FutureContext* context) {
    return Future<T>(FutureHandle(state, context));
  }
  template <typename T>
  static const FutureHandle& Handle(const Future<T>& future) {
    return future.handle_;
  }
  // The state of a future, or its stand-in if it is invalid.
  template <typename T>
  static FutureState* State(const Future<T>& future) {
    return Future<T>::StateOf(future.handle_);
  }
  // `future` as the result of a Map: with its hooks alone, and ready with an error if it is
  // invalid.
  template <typename T>
  static Future<T> WithoutExecutor(Future<T> future) {
    if (!future.IsValid()) return Future<T>(absl::Status(InvalidFutureError()));
    FutureContext* context = future.handle_.context();
    if (ExecutorOf(context) == nullptr) return future;
    FutureState* state = future.handle_.state();
    state->AddRef();
    return Wrap<T>(state, HooksOf(context));
  }

  template <typename Hooks>
  static FutureContext* Context(Executor* executor, const Hooks& hooks) {
    return NewContext(executor, hooks.handle_.context());
  }
  template <typename T, typename Hooks>
  static Future<T> WithHooks(Future<T> future, const Hooks& hooks) {
    return WithContext(std::move(future), hooks.handle_.context());
  }
  // `future` with the hooks of `more` as well.
  template <typename T>
  static Future<T> WithContext(Future<T> future, const FutureContext* more) {
    if (!future.IsValid() || more == nullptr) return future;
    FutureState* state = future.handle_.state();
    state->AddRef();
    return Wrap<T>(state, MergeContexts(future.handle_.context(), more));
  }
  // Takes `context` over.
  template <typename T>
  static std::pair<Promise<T>, Future<T>> Make(FutureContext* context) {
    auto* state = new ValueState<T>(2);
    if (context != nullptr) AddRef(context);
    return {Promise<T>(FutureHandle(state, context)), Wrap<T>(state, context)};
  }
  template <typename T>
  static PromiseOnce<T> Once(Promise<T> promise) {
    return PromiseOnce<T>(std::move(promise));
  }
};

// The argument of Map that stands for "what the function returns".
struct Deduce;

// What a callback of Map returns.
template <typename F, typename T, bool kConsume>
struct MapInvokeOf {
  using type = std::invoke_result_t<F, std::conditional_t<kConsume, T&&, const T&>>;
};
template <typename F, bool kConsume>
struct MapInvokeOf<F, void, kConsume> {
  using type = std::invoke_result_t<F>;
};
template <typename F, typename T, bool kConsume>
using MapInvoke = typename MapInvokeOf<F, T, kConsume>::type;

// The T of the Future<T> that Map returns: R if given, else deduced from what the function returns.
template <typename Returned>
struct Deduced {
  using type = Returned;
};
template <>
struct Deduced<absl::Status> {
  using type = void;
};
template <typename R>
struct Deduced<absl::StatusOr<R>> {
  using type = R;
};
template <typename R>
struct Deduced<Future<R>> {
  using type = R;
};
template <typename R, typename Returned>
struct MapResult {
  using type = R;
};
template <typename Returned>
struct MapResult<Deduce, Returned> : Deduced<std::decay_t<Returned>> {};

// Calls `f` with the value of a ready, OK state.
template <typename T, bool kConsume, typename F>
decltype(auto) InvokeWithValue(F& f, FutureState* source) {
  if constexpr (std::is_void_v<T>) {
    return std::move(f)();
  } else if constexpr (kConsume) {
    auto value = static_cast<ValueState<T>*>(source)->Take();
    return std::move(f)(*std::move(value));
  } else {
    return std::move(f)(*static_cast<ValueState<T>*>(source)->value());
  }
}

// Calls `call` and returns its result as Status or StatusOr<R>; not for results that are futures.
template <typename R, typename Call>
FutureValue<R> ResultOf(Call&& call) {
  using Returned = decltype(call());
  if constexpr (std::is_void_v<Returned>) {
    call();
    return absl::OkStatus();
  } else {
    return ToFutureValue<R>(call());
  }
}

// A callback of OnReady.
template <typename T, bool kConsume, typename F>
class CallbackNode final : public Continuation {
 public:
  template <typename G>
  CallbackNode(Executor* executor, G&& f)
      : Continuation(executor != nullptr ? &Dispatch : &Run),
        executor_(executor),
        f_(std::forward<G>(f)) {}

  // Calls `f` with the Status or StatusOr of a ready state.
  static void Call(F& f, FutureState* source) {
    if constexpr (std::is_void_v<T>) {
      std::move(f)(source->status());
    } else if constexpr (kConsume) {
      std::move(f)(static_cast<ValueState<T>*>(source)->Take());
    } else {
      std::move(f)(static_cast<const ValueState<T>*>(source)->value());
    }
  }

 private:
  static FutureState* Dispatch(Continuation* self, FutureState* source) {
    auto* node = static_cast<CallbackNode*>(self);
    node->run = &Run;
    RunOn(*node->executor_, node, source);
    return nullptr;
  }
  static FutureState* Run(Continuation* self, FutureState* source) {
    auto* node = static_cast<CallbackNode*>(self);
    if (source != nullptr) Call(node->f_, source);
    delete node;
    return nullptr;
  }

  Executor* const executor_;
  F f_;
};

template <typename T, bool kConsume, typename F>
void AddCallback(FutureState* state, Executor* executor, F&& f) {
  using Node = CallbackNode<T, kConsume, std::decay_t<F>>;
  if (executor == nullptr && state->IsReady()) {
    Node::Call(f, state);
    return;
  }
  Continuation* node = new Node(executor, std::forward<F>(f));
  if (state->AddContinuation(node)) return;
  // A node with an executor hands itself over; one without was overtaken by the value.
  node->run(node, state);
}

// The state of a mapped future, which is also the continuation that makes its value: one
// allocation. The continuation owns one reference to the state.
template <typename R, typename T, bool kConsume, typename F>
class MapNode final : public ValueState<R>, public Continuation {
  using Returned = MapInvoke<F, T, kConsume>;

 public:
  template <typename G>
  MapNode(Executor* executor, G&& f)
      : ValueState<R>(2),
        Continuation(executor != nullptr ? &Dispatch : &Run),
        executor_(executor),
        f_(std::in_place, std::forward<G>(f)) {}

 private:
  static FutureState* Dispatch(Continuation* self, FutureState* source) {
    auto* node = static_cast<MapNode*>(self);
    node->run = &Run;
    // Without a reader or a value there is nothing that the executor could do.
    if (node->IsUnobserved() || !source->status().ok()) return Run(node, source);
    RunOn(*node->executor_, node, source);
    return nullptr;
  }

  static FutureState* Run(Continuation* self, FutureState* source) {
    auto* node = static_cast<MapNode*>(self);
    if (node->IsUnobserved()) {
      node->Release();
      return nullptr;
    }
    if (source == nullptr) return node->Finish(FutureValue<R>(DroppedTaskError()));
    if (!source->status().ok()) return node->Finish(FutureValue<R>(source->status()));
    if constexpr (IsFuture<std::decay_t<Returned>>::value) {
      Future<R> inner = InvokeWithValue<T, kConsume>(*node->f_, source);
      node->f_.reset();
      return node->Follow(std::move(inner));
    } else {
      return node->Finish(ResultOf<R>(
          [&]() -> Returned { return InvokeWithValue<T, kConsume>(*node->f_, source); }));
    }
  }

  // Stores the value and passes the continuation's reference on to the caller, who completes it.
  // The function goes first, so that what it holds is released before anybody sees the value.
  FutureState* Finish(FutureValue<R> value) {
    f_.reset();
    this->Store(std::move(value));
    return this;
  }

  // Waits for the future that the function returned, as a continuation of that one.
  FutureState* Follow(Future<R> inner) {
    this->run = &Forward;
    if (!inner.IsReady() && FutureAccess::State(inner)->AddContinuation(this)) return nullptr;
    return Finish(std::move(inner).Await());
  }
  static FutureState* Forward(Continuation* self, FutureState* source) {
    auto* node = static_cast<MapNode*>(self);
    if constexpr (std::is_void_v<R>) {
      return node->Finish(source->status());
    } else {
      return node->Finish(static_cast<ValueState<R>*>(source)->Take());
    }
  }

  Executor* const executor_;
  std::optional<F> f_;
};

// The future of f(value of `state`), with the hooks of `context`.
template <typename R, typename T, bool kConsume, typename F>
Future<R> Map(FutureState* state, FutureContext* context, Executor* executor, F&& f) {
  using Fn = std::decay_t<F>;
  using Returned = MapInvoke<Fn, T, kConsume>;
  static_assert(
      !IsFuture<std::decay_t<Returned>>::value || std::is_same_v<std::decay_t<Returned>, Future<R>>,
      "the function of Map<R> returns a Future of another type than R");
  if (state->IsReady()) {
    if (!state->status().ok()) return Future<R>(absl::Status(state->status()));
    if (executor == nullptr) {
      Fn& fn = f;
      if constexpr (IsFuture<std::decay_t<Returned>>::value) {
        return FutureAccess::WithoutExecutor<R>(InvokeWithValue<T, kConsume>(fn, state));
      } else {
        return Future<R>(
            ResultOf<R>([&]() -> Returned { return InvokeWithValue<T, kConsume>(fn, state); }));
      }
    }
  }
  auto* node = new MapNode<R, T, kConsume, Fn>(executor, std::forward<F>(f));
  Future<R> result = FutureAccess::Wrap<R>(node, HooksOf(context));
  if (!state->AddContinuation(node)) {
    if (FutureState* completed = node->run(node, state)) {
      completed->Complete();
      completed->Release();
    }
  }
  return result;
}

// Runs `f` and fulfils `promise` with its result, which may be a future.
template <typename R, typename F>
void FulfilWith(Promise<R> promise, F f) {
  using Returned = std::invoke_result_t<F>;
  if constexpr (IsFuture<std::decay_t<Returned>>::value) {
    std::move(f)().OnReady([p = std::move(promise)](auto&& value) mutable {
      p.Set(std::forward<decltype(value)>(value));
    });
  } else {
    promise.Set(ResultOf<R>([&]() -> Returned { return std::move(f)(); }));
  }
}

// Waits for a pending state by calling `block`, with the hooks around it.
void BlockWith(const FutureHandle& handle, absl::FunctionRef<void()> block);

}  // namespace internal
}  // namespace pjrt

#endif  // PJRT_BASE_INTERNAL_FUTURE_MAP_H_
