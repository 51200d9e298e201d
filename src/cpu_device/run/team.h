// SPDX-License-Identifier: Apache-2.0
//
// Splitting one loop over several threads.
//
// A Team belongs to one execution of a plan. Its master is the thread that runs the plan; helpers
// are tasks on the client's pool, asked for when the first loop is split and kept, spinning for a
// bounded time, for the loops that follow: so a plan pays for waking threads once, not once a step.
// The master takes part in each loop and never waits for a helper that has not begun, so a busy
// pool slows nothing down and cannot deadlock.
#ifndef PJRT_SRC_CPU_DEVICE_RUN_TEAM_H_
#define PJRT_SRC_CPU_DEVICE_RUN_TEAM_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "absl/functional/function_ref.h"

namespace pjrt {
class Executor;
}

namespace pjrt::cpu {

// Called with a unit of work and the number of the thread that does it: 0 for the master, 1.. for
// helpers, below Team::size(). Two calls at the same time have different numbers, so that scratch
// memory can be kept by number.
using TeamFn = absl::FunctionRef<void(int64_t unit, int member)>;

class Team : public std::enable_shared_from_this<Team> {
 public:
  // A team of up to `size` threads, the master included; helpers run on `executor`, which may be
  // null for size 1. The executor must outlive the team's last helper: the owner of the pool sees
  // to that by draining it.
  static std::shared_ptr<Team> Create(Executor* executor, int size);

  int size() const { return size_; }

  // Calls fn(unit, member) once for each unit in [0, units), on the master and whatever helpers
  // come in time; returns when all calls have. Which member does which unit is not fixed: results
  // must not depend on it. Called by the master only, not from inside fn.
  void ParallelFor(int64_t units, TeamFn fn);

  // Sends the helpers home. The master calls it when the plan is done.
  void Dismiss();

  Team(Executor* executor, int size) : executor_(executor), size_(size) {}

 private:
  void Help(int member);
  bool DoUnits(uint32_t generation, int member);

  // A loop in progress: generation in the high half, in the low half how many units nobody has
  // claimed. Helpers claim some by a compare-exchange of the whole, which needs nothing else to
  // tell whether there are any: the other fields may change between two loops, and are those of
  // this loop from the claim on, until the units have been done.
  std::atomic<uint64_t> ticket_{0};
  std::atomic<const TeamFn*> fn_{nullptr};
  std::atomic<uint32_t> units_{0};
  std::atomic<uint32_t> done_{0};
  std::atomic<bool> dismissed_{false};
  std::atomic<uint32_t> members_{1};  // bit i: member i is present
  Executor* executor_;
  int size_;
};

}  // namespace pjrt::cpu

#endif  // PJRT_SRC_CPU_DEVICE_RUN_TEAM_H_
