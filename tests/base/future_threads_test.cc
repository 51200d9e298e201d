// SPDX-License-Identifier: Apache-2.0
//
// Futures between threads: blocking, its hooks, long chains, races. Scenarios 189, 195, 196.
#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "pjrt/base/future.h"
#include "pjrt/base/future_join.h"
#include "src/core/base/error.h"
#include "tests/base/future_test_util.h"

namespace pjrt {
namespace {

using ProfilingKeys = FutureHelpers::ProfilingKeys;

// Links of a long chain: enough to overflow the stack if each took a frame of it.
constexpr int kLong = PJRT_TEST_SANITIZED ? 200000 : 1000000;

// Gives another thread time to park; the tests hold without it, but would show less.
void LetOthersRun() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

TEST(FutureThreadsTest, AwaitBlocksUntilSet) {
  auto [promise, future] = MakePromise<int>();
  std::thread setter([p = std::move(promise)]() mutable {
    LetOthersRun();
    p.Set(5);
  });
  EXPECT_EQ(*future.Await(), 5);
  setter.join();
}

TEST(FutureThreadsTest, ManyThreadsAwaitOneFuture) {
  auto [promise, future] = MakePromise<std::string>();
  std::vector<std::thread> threads;
  std::atomic<int> right{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([f = future, &right] { right += *f.Await() == "value"; });
  }
  LetOthersRun();
  promise.Set("value");
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 8);
}

TEST(FutureThreadsTest, OneOfManySettersWins) {
  for (int round = 0; round < 200; ++round) {
    auto [promise, future] = MakePromise<int>();
    std::atomic<int> wins{0}, winner{-1};
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&, &p = promise, i] {
        if (p.Set(i)) {
          ++wins;
          winner = i;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wins, 1);
    EXPECT_EQ(*future.Await(), winner);
  }
}

TEST(FutureThreadsTest, CallbacksRacingWithSetRunOnce) {
  for (int round = 0; round < 300; ++round) {
    auto [promise, future] = MakePromise<int>();
    std::atomic<int> calls{0}, mapped{0};
    auto add = [&calls, &mapped, f = future] {
      for (int i = 0; i < 10; ++i) {
        f.OnReady([&](const absl::StatusOr<int>& v) { calls += *v; });
        f.Map([](int x) { return x + 1; }).OnReady([&](const absl::StatusOr<int>& v) {
          mapped += *v;
        });
      }
    };
    std::thread a(add), b(add);
    promise.Set(1);
    a.join();
    b.join();
    EXPECT_EQ(calls, 20);
    EXPECT_EQ(mapped, 40);
  }
}

TEST(FutureThreadsTest, FuturesDroppedWhileThePromiseIsSet) {
  for (int round = 0; round < 500; ++round) {
    auto [promise, future] = MakePromise<std::string>();
    Future<std::string> mapped = future.Map([](const std::string& s) { return s + "!"; });
    std::thread dropper([f = std::move(future), m = std::move(mapped)]() mutable {
      f = Future<std::string>();
      m = Future<std::string>();
    });
    promise.Set("a string that is too long to be stored inline");
    dropper.join();
  }
}

TEST(FutureThreadsTest, ChainsOnAPoolDeliverTheirValues) {
  TestPool pool(2);
  std::vector<Future<int>> results;
  for (int i = 0; i < 50; ++i) {
    Future<int> f = MakeFutureOn(pool, [i] { return i; });
    for (int k = 0; k < 20; ++k) f = f.Map(pool, [](int x) { return x + 1; });
    results.push_back(std::move(f));
  }
  absl::StatusOr<std::vector<int>> values = JoinFutures(std::move(results)).Await();
  for (int i = 0; i < 50; ++i) EXPECT_EQ((*values)[i], i + 20);
}

TEST(FutureThreadsTest, ExecutorCallbacksRunOnThePool) {
  TestPool pool(2);
  auto [promise, future] = MakePromise();
  auto [seen, on_pool] = MakePromise<bool>();
  future.OnReady(pool, [&, &s = seen](const absl::Status&) { s.Set(pool.IsPoolThread()); });
  promise.Set();
  EXPECT_TRUE(*on_pool.Await());
  EXPECT_TRUE(*future.Detach(pool).Map([&] { return pool.IsPoolThread(); }).Await());
}

TEST(FutureThreadsTest, LongChainOfMapsDoesNotRecurse) {
  auto [promise, first] = MakePromise<int>();
  Future<int> last = std::move(first);
  for (int i = 0; i < kLong; ++i) last = std::move(last).Map([](int x) { return x + 1; });
  promise.Set(0);
  EXPECT_EQ(*last.Await(), kLong);
}

TEST(FutureThreadsTest, LongChainOfMapsOnAnInlineExecutorDoesNotRecurse) {
  auto [promise, first] = MakePromise<int>();
  Future<int> last = std::move(first);
  for (int i = 0; i < kLong; ++i) {
    last = last.Map(InlineExecutor::Instance(), [](int x) { return x + 1; });
  }
  promise.Set(0);
  EXPECT_EQ(*last.Await(), kLong);
}

TEST(FutureThreadsTest, LongChainFailsAsOneWhenItsPromiseIsDropped) {
  auto [promise, first] = MakePromise<int>();
  Future<int> last = std::move(first);
  for (int i = 0; i < kLong; ++i) last = last.Map([](int x) { return x + 1; });
  promise = Promise<int>();
  EXPECT_EQ(ErrorId(last.Await().status()), "PJRT-B024");
}

TEST(FutureThreadsTest, LongChainOfCallbacksThatSetPromisesDoesNotRecurse) {
  std::vector<Promise<>> promises;
  std::vector<Future<>> futures;
  promises.reserve(kLong);
  for (int i = 0; i < kLong; ++i) {
    auto [promise, future] = MakePromise();
    promises.push_back(std::move(promise));
    futures.push_back(std::move(future));
  }
  for (int i = 0; i + 1 < kLong; ++i) {
    futures[i].OnReady([&promises, i](const absl::Status& s) { promises[i + 1].Set(s); });
  }
  promises[0].Set();
  EXPECT_TRUE(futures.back().Await().ok());
}

TEST(FutureThreadsTest, LongChainOfDestroyedPromisesDoesNotRecurse) {
  auto [promise, first] = MakePromise();
  Future<> last = std::move(first);
  for (int i = 0; i < kLong; ++i) {
    auto [next, future] = MakePromise();
    // Destroyed, unset, with the callback that holds it.
    last.OnReady([p = std::move(next)](const absl::Status&) {});
    last = std::move(future);
  }
  promise.Set();
  EXPECT_EQ(ErrorId(last.Await()), "PJRT-B024");
}

TEST(FutureThreadsTest, LongListOfCallbacksRunsInOrder) {
  auto [promise, future] = MakePromise();
  int next = 0;
  bool in_order = true;
  for (int i = 0; i < kLong; ++i) {
    future.OnReady([&, i](const absl::Status&) { in_order = in_order && next++ == i; });
  }
  promise.Set();
  EXPECT_EQ(next, kLong);
  EXPECT_TRUE(in_order);
}

Future<int> CountDown(int n, Future<> tick) {
  if (n == 0) return 0;
  return tick.Map([n, tick] { return CountDown(n - 1, tick).Map([](int x) { return x + 1; }); });
}

TEST(FutureThreadsTest, NestedReturnedFuturesUnwind) {
  auto [promise, tick] = MakePromise();
  // Each level returns a pending future from the function of the one before.
  std::vector<Promise<>> gates;
  Future<int> chain = 0;
  for (int i = 0; i < 10000; ++i) {
    auto [gate, open] = MakePromise();
    gates.push_back(std::move(gate));
    chain = open.Map([inner = chain] { return inner.Map([](int x) { return x + 1; }); });
  }
  for (auto gate = gates.rbegin(); gate != gates.rend(); ++gate) gate->Set();
  EXPECT_EQ(*chain.Await(), 10000);
  Future<int> down = CountDown(100, tick);
  promise.Set();
  EXPECT_EQ(*down.Await(), 100);
}

TEST(FutureThreadsTest, CallbackMayAwaitWhatItsOwnThreadHasYetToRun) {
  auto [promise, future] = MakePromise<int>();
  Future<int> sibling;
  int seen = 0;
  future.OnReady([&](const absl::StatusOr<int>&) { seen = *sibling.Await(); });
  // Registered after the callback that waits for it, on the same future.
  sibling = future.Map([](int x) { return x + 1; });
  promise.Set(1);
  EXPECT_EQ(seen, 2);
}

// Sets a promise whose callback does the same one level deeper, then waits for a later callback.
int SetAndAwait(int depth) {
  auto [promise, future] = MakePromise<int>();
  int inner = 0;
  future.OnReady([&inner, depth](const absl::StatusOr<int>&) {
    if (depth > 0) inner = SetAndAwait(depth - 1);
  });
  Future<int> mapped = future.Map([](int x) { return x + 1; });
  promise.Set(0);
  return *mapped.Await() + inner;
}

TEST(FutureThreadsTest, CallbackMayAwaitItsOwnPromiseAtAnyDepth) {
  EXPECT_EQ(SetAndAwait(20), 21);
  EXPECT_EQ(SetAndAwait(200), 201);
}

TEST(FutureThreadsTest, HooksRunOnlyAroundABlockingAwait) {
  std::vector<std::string> log;
  auto [promise, future] = MakePromise();
  auto [inner, inner_future] = MakePromise();
  // The hook itself fulfils the future, so that the test needs no second thread.
  future = FutureHelpers::WithProfiling(
      future,
      [&, &p = promise] {
        log.push_back("start");
        p.Set();
        return ProfilingKeys{7};
      },
      [&](ProfilingKeys keys) { log.push_back("end " + std::to_string(keys.traceme_context_id)); });
  EXPECT_TRUE(future.Await().ok());
  EXPECT_EQ(log, (std::vector<std::string>{"start", "end 7"}));
  EXPECT_TRUE(future.Await().ok());
  EXPECT_EQ(log.size(), 2u);
}

TEST(FutureThreadsTest, HooksRunOnTheThreadThatWaits) {
  std::atomic<int> starts{0}, ends{0};
  const std::thread::id me = std::this_thread::get_id();
  auto [promise, future] = MakePromise<int>(
      [&] {
        starts += std::this_thread::get_id() == me;
        return ProfilingKeys();
      },
      [&](ProfilingKeys keys) {
        ends += std::this_thread::get_id() == me &&
                keys.traceme_context_id == static_cast<uint64_t>(-1);
      });
  std::thread setter([p = std::move(promise)]() mutable {
    LetOthersRun();
    p.Set(1);
  });
  EXPECT_EQ(*future.Await(), 1);
  setter.join();
  EXPECT_EQ(starts, ends);
  EXPECT_LE(starts, 1);
}

TEST(FutureThreadsTest, DerivedFuturesInheritTheHooks) {
  int starts = 0;
  std::optional<Promise<int>> open;
  FutureHelpers::BlockHooks hooks([&] {
    ++starts;
    if (open) std::exchange(open, std::nullopt)->Set(1);
    return ProfilingKeys();
  });
  auto derive = [&](auto make) {
    auto [promise, future] = MakePromise<int>(hooks);
    open.emplace(std::move(promise));
    auto derived = make(future);
    (void)derived.Await();
    return derived.IsReady();
  };
  EXPECT_TRUE(derive([](Future<int> f) { return f.Map([](int x) { return x; }); }));
  EXPECT_TRUE(derive([](Future<int> f) { return f.GetReadyFuture(); }));
  EXPECT_TRUE(derive([](Future<int> f) { return f.GetReadyFuture().MapTo(2); }));
  EXPECT_TRUE(derive([](Future<int> f) { return f.Map([](int x) { return Future<int>(x); }); }));
  EXPECT_TRUE(derive([](Future<int> f) { return f.Detach(InlineExecutor::Instance()); }));
  EXPECT_TRUE(derive([](Future<int> f) { return JoinFutures(f, Future<>(absl::OkStatus())); }));
  EXPECT_TRUE(derive([](Future<int> f) { return JoinFutures(std::vector<Future<int>>{f, f}); }));
  EXPECT_EQ(starts, 7);
}

TEST(FutureThreadsTest, PromisesSetByCallbacksCanBorrowTheHooks) {
  int starts = 0;
  std::optional<Promise<>> open;
  auto [promise, source] = MakePromise([&] {
    ++starts;
    open->Set();
    return ProfilingKeys();
  });
  open.emplace(std::move(promise));
  auto [next, future] = MakePromise<int>();
  const Future<int> helped =
      FutureHelpers::WithHooksOf(future, source.Detach(InlineExecutor::Instance()));
  source.OnReady([p = std::move(next)](const absl::Status&) mutable { p.Set(1); });
  EXPECT_EQ(*helped.Await(), 1);
  EXPECT_EQ(starts, 1);
  EXPECT_FALSE(FutureHelpers::WithHooksOf(Future<>(), source).IsValid());
}

TEST(FutureThreadsTest, JoinRunsTheHooksOfAllItsInputs) {
  int starts_a = 0, starts_b = 0, ends_b = 0;
  auto [a, future_a] = MakePromise();
  auto [b, future_b] = MakePromise();
  future_a = FutureHelpers::WithProfiling(
      future_a,
      [&, &p = a] {
        ++starts_a;
        p.Set();
        return ProfilingKeys{1};
      },
      nullptr);
  future_b = FutureHelpers::WithProfiling(
      future_b,
      [&, &p = b] {
        ++starts_b;
        p.Set();
        return ProfilingKeys{2};
      },
      [&](ProfilingKeys keys) { ends_b += keys.traceme_context_id == 2; });
  EXPECT_TRUE(JoinFutures({future_a, future_b, future_a}).Await().ok());
  EXPECT_EQ(starts_a, 1);
  EXPECT_EQ(starts_b, 1);
  EXPECT_EQ(ends_b, 1);
}

TEST(FutureThreadsTest, BlockUntilReadyCallsTheBlockerOnlyWhenPending) {
  int blocks = 0, hooks = 0;
  auto [promise, future] = MakePromise([&] {
    ++hooks;
    return ProfilingKeys();
  });
  auto block = [&, &p = promise](const Future<>& f) {
    EXPECT_FALSE(f.IsReady());
    ++blocks;
    p.Set(absl::AbortedError("e"));
  };
  EXPECT_EQ(future.BlockUntilReady(block), absl::AbortedError("e"));
  EXPECT_EQ(future.BlockUntilReady(block), absl::AbortedError("e"));
  EXPECT_EQ(blocks, 1);
  EXPECT_EQ(hooks, 1);
}

}  // namespace
}  // namespace pjrt
