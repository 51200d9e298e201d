// SPDX-License-Identifier: Apache-2.0
#include "src/cpu_device/run/team.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "pjrt/base/executor.h"
#include "src/cpu_device/backend/thread_pool.h"

namespace pjrt::cpu {
namespace {

// Keeps tasks and never runs them, as a pool that is busy with other things.
class BusyExecutor final : public Executor {
 public:
  void Execute(Task task) override { tasks.push_back(std::move(task)); }
  std::vector<Task> tasks;
};

TEST(TeamTest, CallsEachUnitOnce) {
  ThreadPool pool(3);
  const std::shared_ptr<Team> team = Team::Create(&pool, 4);
  EXPECT_EQ(team->size(), 4);
  for (int64_t units : {0, 1, 2, 3, 5, 64, 1000}) {
    std::vector<std::atomic<int>> calls(units);
    team->ParallelFor(units, [&](int64_t unit, int) { calls[unit].fetch_add(1); });
    for (int64_t i = 0; i < units; ++i) EXPECT_EQ(calls[i].load(), 1) << i << " of " << units;
  }
  team->Dismiss();
}

// Loops of few units, after which a helper still looks for more of them while the next loop, of
// more units, is opened.
TEST(TeamTest, ALoopOfMoreUnitsThanTheLastCallsEachOnce) {
  ThreadPool pool(3);
  const std::shared_ptr<Team> team = Team::Create(&pool, 4);
  std::vector<std::atomic<int>> calls(16);
  int expected = 0;
  for (int round = 0; round < 100000; ++round) {
    team->ParallelFor(2, [](int64_t, int) {});
    team->ParallelFor(16, [&](int64_t unit, int) {
      calls[static_cast<size_t>(unit)].fetch_add(1, std::memory_order_relaxed);
    });
    ++expected;
    for (size_t i = 0; i < calls.size(); ++i) ASSERT_EQ(calls[i].load(), expected) << i;
  }
  team->Dismiss();
}

TEST(TeamTest, WhatALoopWritesTheNextOneReads) {
  ThreadPool pool(3);
  const std::shared_ptr<Team> team = Team::Create(&pool, 4);
  // Plain memory: only the loops' own ordering keeps this from being a race.
  std::vector<int64_t> a(97, 1), b(97);
  for (int round = 0; round < 300; ++round) {
    team->ParallelFor(97, [&](int64_t i, int) { b[i] = a[(i + 1) % 97] + 1; });
    team->ParallelFor(97, [&](int64_t i, int) { a[i] = b[(i + 96) % 97]; });
  }
  team->Dismiss();
  for (int64_t v : a) EXPECT_EQ(v, 301);
}

TEST(TeamTest, NoTwoCallsAtATimeHaveTheSameMember) {
  ThreadPool pool(3);
  const std::shared_ptr<Team> team = Team::Create(&pool, 4);
  std::vector<std::atomic<int>> inside(4);
  std::vector<int64_t> scratch(4, 0);  // by member, without synchronisation
  for (int round = 0; round < 100; ++round) {
    team->ParallelFor(50, [&](int64_t, int member) {
      ASSERT_GE(member, 0);
      ASSERT_LT(member, 4);
      EXPECT_EQ(inside[member].fetch_add(1), 0);
      ++scratch[member];
      inside[member].fetch_sub(1);
    });
  }
  team->Dismiss();
  EXPECT_EQ(std::accumulate(scratch.begin(), scratch.end(), int64_t{0}), 5000);
}

TEST(TeamTest, TheMasterWaitsForNobodyWhoHasNotBegun) {
  BusyExecutor executor;
  const std::shared_ptr<Team> team = Team::Create(&executor, 3);
  const std::thread::id self = std::this_thread::get_id();
  int calls = 0;
  team->ParallelFor(10, [&](int64_t, int member) {
    EXPECT_EQ(std::this_thread::get_id(), self);
    EXPECT_EQ(member, 0);
    ++calls;
  });
  EXPECT_EQ(calls, 10);
  team->Dismiss();
  // Helpers that come too late go home.
  for (Executor::Task& task : executor.tasks) std::move(task)();
}

TEST(TeamTest, LateHelpersOutliveTheirMaster) {
  BusyExecutor executor;
  {
    const std::shared_ptr<Team> team = Team::Create(&executor, 3);
    team->ParallelFor(10, [](int64_t, int) {});
    team->Dismiss();
  }
  EXPECT_EQ(executor.tasks.size(), 2u);
  for (Executor::Task& task : executor.tasks) std::move(task)();
}

TEST(TeamTest, AHelperThatWentHomeIsCalledAgain) {
  ThreadPool pool(2);
  const std::shared_ptr<Team> team = Team::Create(&pool, 3);
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> calls{0};
    team->ParallelFor(20, [&](int64_t, int) { calls.fetch_add(1); });
    EXPECT_EQ(calls.load(), 20);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));  // helpers give up
  }
  team->Dismiss();
}

TEST(TeamTest, WithoutAnExecutorThereIsOneMember) {
  const std::shared_ptr<Team> team = Team::Create(nullptr, 8);
  EXPECT_EQ(team->size(), 1);
  int calls = 0;
  team->ParallelFor(3, [&](int64_t unit, int member) {
    EXPECT_EQ(unit, calls++);
    EXPECT_EQ(member, 0);
  });
  EXPECT_EQ(calls, 3);
}

TEST(TeamTest, ManyTeamsShareAPool) {
  ThreadPool pool(2);
  std::vector<std::thread> masters;
  for (int m = 0; m < 4; ++m) {
    masters.emplace_back([&pool] {
      for (int round = 0; round < 50; ++round) {
        const std::shared_ptr<Team> team = Team::Create(&pool, 3);
        std::vector<int> values(40, 0);
        team->ParallelFor(40, [&](int64_t i, int) { values[i] = static_cast<int>(i); });
        team->Dismiss();
        for (int i = 0; i < 40; ++i) ASSERT_EQ(values[i], i);
      }
    });
  }
  for (std::thread& master : masters) master.join();
}

}  // namespace
}  // namespace pjrt::cpu
