// SPDX-License-Identifier: Apache-2.0
//
// Executor: where a piece of work runs. Spec: PJRT C++ API, section 1.12.
#ifndef PJRT_BASE_EXECUTOR_H_
#define PJRT_BASE_EXECUTOR_H_

#include "absl/functional/any_invocable.h"

namespace pjrt {

// Runs tasks: on the caller, on a pool, on an event loop of the application. Whoever hands an
// executor to a Future, or to a client, keeps it alive until the work given to it is over.
//
// Thread safety: Execute may be called by any thread at any time, also from inside a task.
class Executor {
 public:
  // A task is called at most once. A task that is destroyed without having been called counts as
  // dropped: a future that waits for it fails with an INTERNAL status.
  using Task = absl::AnyInvocable<void() &&>;

  virtual ~Executor() = default;

  // Takes `task` over and runs it once, now or later, on a thread of the executor's choice. May
  // block for want of room, never for the task's result unless the executor runs it inline.
  virtual void Execute(Task task) = 0;
};

// Runs each task on the calling thread before Execute returns.
class InlineExecutor final : public Executor {
 public:
  // The one instance; it has no state and lives for ever.
  static InlineExecutor& Instance();

  void Execute(Task task) override;
};

}  // namespace pjrt

#endif  // PJRT_BASE_EXECUTOR_H_
