// SPDX-License-Identifier: Apache-2.0
//
// The shared state of futures.
//
//   Future ----+                      head_: 0            pending, nobody waits
//   Future ----+--> FutureState              node --> ... pending; the newest continuation first
//   Promise ---+      refs_, head_           1            ready; the value may be read
//
// A continuation is pushed with a compare-and-swap. Complete() exchanges the list for "ready",
// wakes the threads that are parked in it, turns the rest around and runs it. There is no lock
// anywhere, and a continuation that comes too late sees "ready" and runs where it is.
//
// A mapped future is one object, state and continuation at once (MapNode). When it has run, it
// hands its state back to the loop below it, which completes it and goes on with its continuations:
// a chain of Maps is a loop, not a recursion. Only callbacks that set other promises nest. Each
// nesting is a RunLoop on the stack, and the loops of a thread form a list. At kMaxDepth the
// innermost loop takes the new continuations over and runs them when the current one has returned.
//
// A callback may also wait for a future, even for one that depends on a continuation that this very
// thread has still to run. So before it parks, a thread runs what is left in its loops.
#include "pjrt/base/future.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "pjrt/base/future_join.h"
#include "src/core/base/error.h"

namespace pjrt {
namespace internal {

// Either a leaf, with a pair of hooks, or a node with an executor and any number of leaves.
class FutureContext {
 public:
  FutureContext() = default;
  ~FutureContext() {
    for (FutureContext* leaf : leaves) Release(leaf);
  }

  bool is_leaf() const { return executor == nullptr && leaves.empty(); }

  mutable std::atomic<uint32_t> refs{1};
  FutureHelpers::OnBlockStart on_block_start;
  FutureHelpers::OnBlockEnd on_block_end;
  Executor* executor = nullptr;
  std::vector<FutureContext*> leaves;  // Owned references.
};

void AddRef(FutureContext* context) { context->refs.fetch_add(1, std::memory_order_relaxed); }

void Release(FutureContext* context) {
  if (context->refs.fetch_sub(1, std::memory_order_acq_rel) == 1) delete context;
}

namespace {

// A new reference to `context`, which may be null.
FutureContext* Share(const FutureContext* context) {
  auto* shared = const_cast<FutureContext*>(context);
  if (shared != nullptr) AddRef(shared);
  return shared;
}

using LeafVector = std::vector<FutureContext*>;

// Adds the leaves of `context` (which may be null) that are not there yet; borrowed.
void CollectLeaves(const FutureContext* context, LeafVector& leaves) {
  if (context == nullptr) return;
  auto add = [&leaves](FutureContext* leaf) {
    if (std::find(leaves.begin(), leaves.end(), leaf) == leaves.end()) leaves.push_back(leaf);
  };
  if (context->is_leaf()) {
    add(const_cast<FutureContext*>(context));
  } else {
    for (FutureContext* leaf : context->leaves) add(leaf);
  }
}

FutureContext* MakeContext(Executor* executor, const LeafVector& leaves) {
  if (executor == nullptr && leaves.empty()) return nullptr;
  for (FutureContext* leaf : leaves) AddRef(leaf);
  if (executor == nullptr && leaves.size() == 1) return leaves.front();
  auto* context = new FutureContext;
  context->executor = executor;
  context->leaves = leaves;
  return context;
}

// The continuations that a thread is about to run, in order.
class RunLoop {
 public:
  static constexpr int kMaxDepth = 32;

  // The innermost loop of this thread, or null.
  static RunLoop*& Innermost() {
    static thread_local RunLoop* innermost = nullptr;
    return innermost;
  }

  RunLoop() : outer_(Innermost()), depth_(outer_ == nullptr ? 1 : outer_->depth_ + 1) {
    Innermost() = this;
  }
  ~RunLoop() { Innermost() = outer_; }
  RunLoop(const RunLoop&) = delete;
  RunLoop& operator=(const RunLoop&) = delete;

  RunLoop* outer() const { return outer_; }
  int depth() const { return depth_; }

  void Append(Continuation* list) {
    *tail_ = list;
    while (*tail_ != nullptr) tail_ = &(*tail_)->next;
  }
  Continuation* Pop() {
    Continuation* node = head_;
    if (node != nullptr) {
      head_ = node->next;
      if (head_ == nullptr) tail_ = &head_;
      node->next = nullptr;
    }
    return node;
  }

 private:
  RunLoop* const outer_;
  const int depth_;
  Continuation* head_ = nullptr;
  Continuation** tail_ = &head_;
};

// Runs a continuation and queues those of the state that it completed. Needs a RunLoop.
void RunOne(Continuation* node) {
  FutureState* source = node->source;
  if (FutureState* completed = node->run(node, source)) {
    RunLoop::Innermost()->Append(completed->Publish());
    completed->Release();
  }
  source->Release();
}

// Runs what the loops of this thread still have to do until `state` is ready; returns whether it
// is.
bool RunPendingUntilReady(const FutureState& state) {
  for (RunLoop* loop = RunLoop::Innermost(); loop != nullptr && !state.IsReady();) {
    if (Continuation* node = loop->Pop()) {
      RunOne(node);
      loop = RunLoop::Innermost();  // It may have queued more there.
    } else {
      loop = loop->outer();
    }
  }
  return state.IsReady();
}

// A parked thread.
class Waiter : public Continuation {
 public:
  Waiter() : Continuation(nullptr) {}

  void Park() {
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(lock, [this] { return woken_; });
  }
  // Notifies under the lock: once it is given back, the waiter may be gone.
  void Wake() {
    std::lock_guard<std::mutex> lock(mutex_);
    woken_ = true;
    wake_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  bool woken_ = false;
};

// The hooks of a future around a wait.
class HookScope {
 public:
  explicit HookScope(const FutureContext* context) {
    CollectLeaves(context, leaves_);
    keys_.reserve(leaves_.size());
    for (const FutureContext* leaf : leaves_) {
      keys_.push_back(leaf->on_block_start ? leaf->on_block_start()
                                           : FutureHelpers::ProfilingKeys());
    }
  }
  ~HookScope() {
    for (size_t i = leaves_.size(); i-- > 0;) {
      if (leaves_[i]->on_block_end) leaves_[i]->on_block_end(keys_[i]);
    }
  }
  HookScope(const HookScope&) = delete;
  HookScope& operator=(const HookScope&) = delete;

 private:
  LeafVector leaves_;
  std::vector<FutureHelpers::ProfilingKeys> keys_;
};

// A continuation as the task of an executor.
class ExecutorTask {
 public:
  explicit ExecutorTask(Continuation* node) : node_(node) {}
  ExecutorTask(ExecutorTask&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  ExecutorTask& operator=(ExecutorTask&&) = delete;
  ~ExecutorTask() {
    if (node_ == nullptr) return;
    FutureState* source = node_->source;
    if (FutureState* completed = node_->run(node_, nullptr)) {
      completed->Complete();
      completed->Release();
    }
    source->Release();
  }

  void operator()() && { RunContinuations(std::exchange(node_, nullptr)); }

 private:
  Continuation* node_;
};

// The state of a join, with a continuation for each input. The inputs' continuations together own
// one reference.
class JoinState final : public ValueState<void> {
 public:
  explicit JoinState(size_t inputs)
      : ValueState<void>(2), pending_(inputs + 1), nodes_(new Node[inputs]) {}

  // Before the first Add: the error of an input that is ready already.
  void SetEarlierError(const absl::Status& error) {
    failed_.store(true, std::memory_order_relaxed);
    error_ = error;
  }
  void Add(size_t index, FutureState* input) {
    Node& node = nodes_[index];
    node.join = this;
    if (!input->AddContinuation(&node)) Account(input->status());
  }
  // After the last Add: the state itself once all inputs are there, for the caller to complete;
  // with the inputs' reference.
  FutureState* Seal() { return Account(absl::OkStatus()); }

  FutureState* Account(const absl::Status& status) {
    if (!status.ok() && !failed_.exchange(true, std::memory_order_relaxed)) error_ = status;
    if (pending_.fetch_sub(1, std::memory_order_acq_rel) != 1) return nullptr;
    Store(std::move(error_));
    return this;
  }

 private:
  struct Node : Continuation {
    Node() : Continuation(&Run) {}
    static FutureState* Run(Continuation* self, FutureState* source) {
      return static_cast<Node*>(self)->join->Account(source->status());
    }
    JoinState* join = nullptr;
  };

  std::atomic<size_t> pending_;      // Inputs that are not ready, and one until Seal.
  std::atomic<bool> failed_{false};  // Whether somebody has set error_.
  absl::Status error_;
  const std::unique_ptr<Node[]> nodes_;
};

}  // namespace

bool FutureState::AddContinuation(Continuation* continuation) {
  uintptr_t head = head_.load(std::memory_order_acquire);
  do {
    if (head == kReady) return false;
    continuation->next = reinterpret_cast<Continuation*>(head);
  } while (!head_.compare_exchange_weak(head, reinterpret_cast<uintptr_t>(continuation),
                                        std::memory_order_release, std::memory_order_acquire));
  return true;
}

Continuation* FutureState::Publish() {
  auto* node = reinterpret_cast<Continuation*>(head_.exchange(kReady, std::memory_order_acq_rel));
  Continuation* list = nullptr;
  uint32_t count = 0;
  while (node != nullptr) {
    Continuation* next = node->next;  // A waiter is gone once it is woken.
    if (node->run == nullptr) {
      static_cast<Waiter*>(node)->Wake();
    } else {
      node->source = this;
      node->next = list;
      list = node;
      ++count;
    }
    node = next;
  }
  if (count > 0) AddRef(count);
  return list;
}

void FutureState::Complete() { RunContinuations(Publish()); }

void FutureState::Wait(const FutureContext* context) {
  if (RunPendingUntilReady(*this)) return;
  HookScope hooks(context);
  if (RunPendingUntilReady(*this)) return;
  Waiter waiter;
  if (AddContinuation(&waiter)) waiter.Park();
}

void BlockWith(const FutureHandle& handle, absl::FunctionRef<void()> block) {
  if (RunPendingUntilReady(*handle.state())) return;
  HookScope hooks(handle.context());
  if (!RunPendingUntilReady(*handle.state())) block();
}

void RunContinuations(Continuation* list) {
  if (list == nullptr) return;
  RunLoop* innermost = RunLoop::Innermost();
  if (innermost != nullptr && innermost->depth() >= RunLoop::kMaxDepth) {
    innermost->Append(list);
    return;
  }
  RunLoop loop;
  loop.Append(list);
  while (Continuation* node = loop.Pop()) RunOne(node);
}

void RunOn(Executor& executor, Continuation* continuation, FutureState* source) {
  source->AddRef();
  continuation->source = source;
  continuation->next = nullptr;
  executor.Execute(ExecutorTask(continuation));
}

FutureContext* NewContext(Executor* executor, const FutureContext* hooks) {
  if (executor == nullptr && ExecutorOf(hooks) == nullptr) return Share(hooks);
  LeafVector leaves;
  CollectLeaves(hooks, leaves);
  return MakeContext(executor, leaves);
}

FutureContext* WithExecutor(Executor& executor, const FutureContext* context) {
  return NewContext(&executor, context);
}

FutureContext* HooksOf(const FutureContext* context) { return NewContext(nullptr, context); }

Executor* ExecutorOf(const FutureContext* context) {
  return context == nullptr ? nullptr : context->executor;
}

FutureContext* MergeContexts(const FutureContext* base, const FutureContext* more) {
  if (more == nullptr) return Share(base);
  if (base == nullptr) return NewContext(nullptr, more);
  LeafVector leaves;
  CollectLeaves(base, leaves);
  CollectLeaves(more, leaves);
  return MakeContext(ExecutorOf(base), leaves);
}

FutureState* OkState() {
  static const Immortal<ValueState<void>> state(absl::OkStatus(), 1u, true);
  return state.get();
}

FutureState* InvalidVoidState() {
  static const Immortal<ValueState<void>> state(InvalidFutureError(), 1u, true);
  return state.get();
}

const absl::Status& InvalidFutureError() {
  static const Immortal<absl::Status> status(InvalidArgument(
      "PJRT-B023", "the future is invalid: default-constructed, moved from or consumed"));
  return *status.get();
}

absl::Status BrokenPromiseError(const char* producer) {
  return Internal("PJRT-B024", producer, " destroyed without being set");
}

absl::Status DroppedTaskError() {
  return Internal("PJRT-B024", "the executor dropped the task that was to make the value");
}

absl::Status MissingValueError() {
  return Internal("PJRT-B025", "an OK status was given where a value is due");
}

Future<> JoinHandles(absl::Span<const FutureHandle* const> handles) {
  LeafVector leaves;
  std::vector<FutureState*> pending;
  const absl::Status* error = nullptr;
  for (const FutureHandle* handle : handles) {
    FutureState* state = handle->state();
    if (state == nullptr) return {};
    if (!state->IsReady()) {
      pending.push_back(state);
      CollectLeaves(handle->context(), leaves);
    } else if (error == nullptr && !state->status().ok()) {
      error = &state->status();
    }
  }
  if (pending.empty()) return error == nullptr ? absl::OkStatus() : *error;

  auto* join = new JoinState(pending.size());
  Future<> result = FutureAccess::Wrap<void>(join, MakeContext(nullptr, leaves));
  if (error != nullptr) join->SetEarlierError(*error);
  for (size_t i = 0; i < pending.size(); ++i) join->Add(i, pending[i]);
  if (FutureState* completed = join->Seal()) {
    completed->Complete();
    completed->Release();
  }
  return result;
}

}  // namespace internal

FutureHelpers::BlockHooks::BlockHooks(OnBlockStart on_block_start, OnBlockEnd on_block_end) {
  if (!on_block_start && !on_block_end) return;
  auto* context = new internal::FutureContext;
  context->on_block_start = std::move(on_block_start);
  context->on_block_end = std::move(on_block_end);
  handle_ = internal::FutureHandle(nullptr, context);
}

Future<> JoinFutures(absl::Span<const Future<>> futures) {
  if (futures.size() == 1) return futures.front();
  std::vector<const internal::FutureHandle*> handles;
  handles.reserve(futures.size());
  for (const Future<>& future : futures) handles.push_back(&internal::FutureAccess::Handle(future));
  return internal::JoinHandles(handles);
}

InlineExecutor& InlineExecutor::Instance() {
  static const internal::Immortal<InlineExecutor> instance;
  return *instance.get();
}

void InlineExecutor::Execute(Task task) { std::move(task)(); }

}  // namespace pjrt
