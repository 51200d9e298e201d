// SPDX-License-Identifier: Apache-2.0
//
// Futures and promises on one thread: making, setting, awaiting, callbacks. Scenarios 189-191,
// 195-197.
#include "pjrt/base/future.h"

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "src/core/base/error.h"
#include "tests/base/future_test_util.h"

namespace pjrt {
namespace {

using MoveOnly = std::unique_ptr<int>;

static_assert(std::is_copy_constructible_v<Future<>>);
static_assert(std::is_copy_constructible_v<Future<int>>);
static_assert(!std::is_copy_constructible_v<Future<MoveOnly>>);
static_assert(!std::is_copy_assignable_v<Future<MoveOnly>>);
static_assert(!std::is_copy_constructible_v<Future<std::vector<MoveOnly>>>);
static_assert(!std::is_copy_constructible_v<Future<std::pair<int, std::vector<MoveOnly>>>>);
static_assert(std::is_copy_constructible_v<Future<std::vector<std::string>>>);
static_assert(std::is_nothrow_move_constructible_v<Future<MoveOnly>>);
static_assert(!std::is_copy_constructible_v<Promise<int>>);
static_assert(std::is_copy_constructible_v<PromiseOnce<int>>);
static_assert(std::is_same_v<PjRtFuture<int>, Future<int>>);
static_assert(std::is_same_v<PjRtPromise<>, Promise<>>);
static_assert(!std::is_convertible_v<std::string, Future<int>>);
static_assert(sizeof(Future<std::string>) == 2 * sizeof(void*));

TEST(FutureTest, StatusMakesAReadyFuture) {
  Future<> ok = absl::OkStatus();
  EXPECT_TRUE(ok.IsValid());
  EXPECT_TRUE(ok.IsReady());
  EXPECT_TRUE(ok.IsKnownReady());
  EXPECT_TRUE(ok.Await().ok());

  Future<> error(absl::NotFoundError("gone"));
  EXPECT_TRUE(error.IsReady());
  EXPECT_EQ(error.Await(), absl::NotFoundError("gone"));
}

TEST(FutureTest, ValueStatusOrAndErrorMakeAReadyFuture) {
  Future<std::string> from_value = std::string("abc");
  Future<std::string> from_convertible = "abc";
  Future<std::string> from_status_or = absl::StatusOr<std::string>("abc");
  EXPECT_EQ(*from_value.Await(), "abc");
  EXPECT_EQ(*from_convertible.Await(), "abc");
  EXPECT_EQ(*from_status_or.Await(), "abc");

  Future<std::string> from_error = absl::InternalError("x");
  EXPECT_EQ(from_error.Await().status(), absl::InternalError("x"));
}

Future<int> HalfLater(int x) {
  if (x % 2 != 0) return absl::InvalidArgumentError("odd");
  return x / 2;
}

TEST(FutureTest, FunctionsReturnStatusesAndValuesAsFutures) {
  EXPECT_EQ(*HalfLater(4).Await(), 2);
  EXPECT_EQ(HalfLater(3).Await().status(), absl::InvalidArgumentError("odd"));
}

TEST(FutureTest, OkStatusIsNoValue) {
  Future<int> future = absl::OkStatus();
  EXPECT_EQ(future.Await().status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(ErrorId(future.Await().status()), "PJRT-B025");

  auto [promise, set] = MakePromise<int>();
  EXPECT_TRUE(promise.Set(absl::OkStatus()));
  EXPECT_EQ(ErrorId(set.Await().status()), "PJRT-B025");
}

TEST(FutureTest, InvalidFutureAnswersInvalidArgumentEverywhere) {
  Future<int> invalid;
  EXPECT_FALSE(invalid.IsValid());
  EXPECT_FALSE(static_cast<bool>(invalid));
  EXPECT_TRUE(invalid.IsReady());
  EXPECT_EQ(ErrorId(invalid.Await().status()), "PJRT-B023");
  EXPECT_EQ(invalid.Await().status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ErrorId(invalid.Map([](int x) { return x; }).Await().status()), "PJRT-B023");
  EXPECT_EQ(ErrorId(Future<int>().Await().status()), "PJRT-B023");
  EXPECT_FALSE(invalid.GetReadyFuture().IsValid());
  EXPECT_FALSE(invalid.Detach(InlineExecutor::Instance()).IsValid());
  absl::Status seen;
  invalid.OnReady([&](const absl::StatusOr<int>& v) { seen = v.status(); });
  EXPECT_EQ(ErrorId(seen), "PJRT-B023");

  EXPECT_EQ(ErrorId(Future<>().Await()), "PJRT-B023");
  EXPECT_EQ(ErrorId(Future<MoveOnly>().Await().status()), "PJRT-B023");
  // Taking the error leaves it to the next one who asks.
  EXPECT_EQ(ErrorId(Future<MoveOnly>().Await().status()), "PJRT-B023");
}

TEST(FutureTest, ConsumingCallsLeaveTheFutureInvalid) {
  Future<int> a = 1, b = 2, c = 3;
  EXPECT_EQ(*std::move(a).Await(), 1);
  std::move(b).OnReady([](const absl::StatusOr<int>&) {});
  Future<int> mapped = std::move(c).Map([](int x) { return x; });
  EXPECT_FALSE(a.IsValid());  // NOLINT(bugprone-use-after-move)
  EXPECT_FALSE(b.IsValid());  // NOLINT(bugprone-use-after-move)
  EXPECT_FALSE(c.IsValid());  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(*mapped.Await(), 3);
}

TEST(FutureTest, SetFulfilsAllCopies) {
  auto [promise, future] = MakePromise<int>();
  Future<int> copy = future;
  EXPECT_FALSE(future.IsReady());
  EXPECT_FALSE(copy.IsKnownReady());
  EXPECT_TRUE(promise.Set(7));
  EXPECT_EQ(*future.Await(), 7);
  EXPECT_EQ(&*copy.Await(), &*future.Await());
}

TEST(FutureTest, SecondSetIsIgnored) {
  auto [promise, future] = MakePromise<int>();
  EXPECT_TRUE(promise.Set(1));
  EXPECT_FALSE(promise.Set(2));
  EXPECT_FALSE(promise.Set(absl::InternalError("no")));
  EXPECT_EQ(*future.Await(), 1);
  Promise<int> empty;
  EXPECT_FALSE(empty);
  EXPECT_FALSE(empty.Set(1));
  EXPECT_FALSE(empty.future().IsValid());
}

TEST(FutureTest, PromiseDestroyedUnsetFailsItsFutures) {
  Future<int> future;
  absl::Status seen;
  {
    auto [promise, f] = MakePromise<int>();
    future = f;
    f.OnReady([&](const absl::StatusOr<int>& v) { seen = v.status(); });
  }
  EXPECT_EQ(future.Await().status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(ErrorId(future.Await().status()), "PJRT-B024");
  EXPECT_EQ(future.Await().status().message(), "[PJRT-B024] Promise destroyed without being set");
  EXPECT_EQ(seen, future.Await().status());
}

TEST(FutureTest, PromiseAssignedOverFailsItsFutures) {
  auto [a, future_a] = MakePromise();
  auto [b, future_b] = MakePromise();
  a = std::move(b);
  EXPECT_EQ(ErrorId(future_a.Await()), "PJRT-B024");
  EXPECT_TRUE(a.Set());
  EXPECT_TRUE(future_b.Await().ok());
}

TEST(FutureTest, PromiseMakesFuturesBeforeAndAfterSet) {
  auto [promise, first] = MakePromise<std::string>();
  Future<std::string> second = promise.future();
  promise.Set("x");
  Future<std::string> third = promise.future();
  EXPECT_EQ(*second.Await(), "x");
  EXPECT_EQ(*third.Await(), "x");
}

TEST(FutureTest, PromiseKnowsWhenNobodyListens) {
  auto [promise, future] = MakePromise();
  EXPECT_FALSE(promise.IsUniqueReference());
  Future<> copy = future;
  future = Future<>();
  EXPECT_FALSE(promise.IsUniqueReference());
  copy = Future<>();
  EXPECT_TRUE(promise.IsUniqueReference());
  promise.future().OnReady([](absl::Status) {});
  EXPECT_FALSE(promise.IsUniqueReference());
  promise.Set();
}

TEST(FutureTest, SharedPromiseFitsIntoAStdFunction) {
  auto [promise, future] = MakePromise<MoveOnly>();
  std::shared_ptr<Promise<MoveOnly>> shared = std::move(promise).ToShared();
  std::function<void()> set = [shared] { shared->Set(std::make_unique<int>(5)); };
  set();
  EXPECT_EQ(**future.Await(), 5);
}

TEST(FutureTest, FirstSetOfAPromiseOnceWins) {
  auto [promise, future] = MakePromiseOnce<int>();
  PromiseOnce<int> copy = promise;
  EXPECT_FALSE(copy.IsUniqueReference());
  EXPECT_TRUE(copy.Set(1));
  EXPECT_FALSE(promise.Set(2));
  EXPECT_FALSE(copy.Set(absl::InternalError("no")));
  EXPECT_EQ(*future.Await(), 1);
  EXPECT_EQ(*promise.future().Await(), 1);
  EXPECT_FALSE(PromiseOnce<>().Set());
}

TEST(FutureTest, LastPromiseOnceDestroyedUnsetFailsItsFutures) {
  auto [promise, future] = MakePromiseOnce();
  auto copy = std::make_unique<PromiseOnce<>>(promise);
  promise = PromiseOnce<>();
  EXPECT_FALSE(future.IsReady());
  copy.reset();
  EXPECT_EQ(future.Await().message(), "[PJRT-B024] PromiseOnce destroyed without being set");
}

TEST(FutureTest, AwaitMovesAMoveOnlyValueOut) {
  auto [promise, future] = MakePromise<MoveOnly>();
  promise.Set(std::make_unique<int>(3));
  EXPECT_EQ(**future.Await(), 3);  // A look leaves it there.
  absl::StatusOr<MoveOnly> value = std::move(future).Await();
  EXPECT_EQ(**value, 3);
}

TEST(FutureTest, ConsumingAwaitCopiesOnlyWhatOthersSee) {
  int copies = 0;
  Future<CountsCopies> alone = CountsCopies(&copies);
  EXPECT_TRUE(std::move(alone).Await().ok());
  EXPECT_EQ(copies, 0);
  Future<CountsCopies> shared = CountsCopies(&copies);
  Future<CountsCopies> other = shared;
  EXPECT_TRUE(std::move(shared).Await().ok());
  EXPECT_EQ(copies, 1);
  EXPECT_EQ(other.Await()->copies, &copies);
}

TEST(FutureTest, AwaitOfATemporaryOutlivesIt) {
  const absl::StatusOr<std::string>& value = Future<std::string>("still here").Await();
  EXPECT_EQ(*value, "still here");
  const absl::Status& status = Future<>(absl::AbortedError("still here")).Await();
  EXPECT_EQ(status, absl::AbortedError("still here"));
}

TEST(FutureTest, OnReadyRunsInlineWhenReady) {
  int calls = 0;
  Future<int>(4).OnReady([&](const absl::StatusOr<int>& v) { calls += *v; });
  Future<>(absl::AbortedError("e")).OnReady([&](absl::Status s) { calls += s.ok() ? 0 : 10; });
  EXPECT_EQ(calls, 14);
}

TEST(FutureTest, CallbacksRunInOrderOfRegistration) {
  auto [promise, future] = MakePromise();
  std::vector<int> order;
  for (int i = 0; i < 5; ++i) {
    future.OnReady([&order, i](const absl::Status&) { order.push_back(i); });
  }
  EXPECT_TRUE(order.empty());
  promise.Set();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(FutureTest, CallbackSurvivesItsFuture) {
  auto [promise, future] = MakePromise<int>();
  int seen = 0;
  std::move(future).OnReady([&](const absl::StatusOr<int>& v) { seen = *v; });
  promise.Set(9);
  EXPECT_EQ(seen, 9);
}

TEST(FutureTest, ConsumingOnReadyPassesAMoveOnlyValueByValue) {
  MoveOnly taken;
  auto [promise, future] = MakePromise<MoveOnly>();
  std::move(future).OnReady([&](absl::StatusOr<MoveOnly> v) { taken = *std::move(v); });
  promise.Set(std::make_unique<int>(6));
  EXPECT_EQ(*taken, 6);
  Future<MoveOnly>(std::make_unique<int>(8)).OnReady([&](absl::StatusOr<MoveOnly> v) {
    taken = *std::move(v);
  });
  EXPECT_EQ(*taken, 8);
}

TEST(FutureTest, NonConsumingOnReadyLeavesTheValue) {
  auto [promise, future] = MakePromise<MoveOnly>();
  int seen = 0;
  future.OnReady([&](const absl::StatusOr<MoveOnly>& v) { seen = **v; });
  promise.Set(std::make_unique<int>(6));
  EXPECT_EQ(seen, 6);
  EXPECT_EQ(**std::move(future).Await(), 6);
}

TEST(FutureTest, CallbacksSeeTheValueWithoutCopies) {
  int copies = 0;
  auto [promise, future] = MakePromise<CountsCopies>();
  int calls = 0;
  future.OnReady([&](const absl::StatusOr<CountsCopies>&) { ++calls; });
  Future<CountsCopies>(future).OnReady([&](const absl::StatusOr<CountsCopies>&) { ++calls; });
  promise.Set(CountsCopies(&copies));
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(copies, 0);
}

TEST(FutureTest, CallbackMayDestroyThePromiseThatCallsIt) {
  auto [promise, future] = MakePromise<int>();
  auto owned = std::make_unique<Promise<int>>(std::move(promise));
  future.OnReady([&](const absl::StatusOr<int>& v) {
    owned.reset();
    EXPECT_EQ(*v, 1);
  });
  future = Future<int>();
  owned->Set(1);
  EXPECT_EQ(owned, nullptr);
}

TEST(FutureTest, ReadyFutureIsTheStatusAlone) {
  auto [promise, future] = MakePromise<int>();
  Future<> ready = future.GetReadyFuture();
  EXPECT_FALSE(ready.IsReady());
  promise.Set(absl::AbortedError("e"));
  EXPECT_EQ(ready.Await(), absl::AbortedError("e"));
  EXPECT_TRUE(Future<int>(3).GetReadyFuture().Await().ok());

  Future<MoveOnly> value = std::make_unique<int>(1);
  Future<> value_ready = value.GetReadyFuture();
  EXPECT_EQ(**std::move(value).Await(), 1);
  EXPECT_TRUE(value_ready.Await().ok());
}

TEST(FutureTest, ExecutorRunsCallbacksInBothCases) {
  ManualExecutor executor;
  int calls = 0;
  auto [promise, future] = MakePromise();
  future.OnReady(executor, [&](const absl::Status&) { ++calls; });
  EXPECT_EQ(executor.size(), 0u);
  promise.Set();
  EXPECT_EQ(executor.size(), 1u);
  future.OnReady(executor, [&](const absl::Status&) { ++calls; });
  EXPECT_EQ(calls, 0);
  executor.RunAll();
  EXPECT_EQ(calls, 2);
}

TEST(FutureTest, ExecutorKeepsTheValueForItsTask) {
  ManualExecutor executor;
  std::string seen;
  {
    auto [promise, future] = MakePromise<std::string>();
    std::move(future).OnReady(executor, [&](const absl::StatusOr<std::string>& v) { seen = *v; });
    promise.Set("kept");
  }
  executor.RunAll();
  EXPECT_EQ(seen, "kept");
}

TEST(FutureTest, DetachedFutureRunsItsCallbacksOnTheExecutor) {
  ManualExecutor executor;
  int copies = 0, calls = 0;
  auto [promise, future] = MakePromise<CountsCopies>();
  Future<CountsCopies> detached = future.Detach(executor);
  detached.OnReady([&](const absl::StatusOr<CountsCopies>&) { ++calls; });
  future.OnReady([&](const absl::StatusOr<CountsCopies>&) { calls += 10; });
  promise.Set(CountsCopies(&copies));
  EXPECT_EQ(calls, 10);
  EXPECT_EQ(executor.size(), 1u);
  executor.RunAll();
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(copies, 0);
}

TEST(FutureTest, DetachAloneGivesTheExecutorNothingToDo) {
  ManualExecutor executor;
  auto [promise, future] = MakePromise<int>();
  Future<int> detached = std::move(future).Detach(executor);
  promise.Set(1);
  EXPECT_EQ(*detached.Await(), 1);
  EXPECT_EQ(executor.size(), 0u);
}

TEST(FutureTest, PromiseOnAnExecutorRunsCallbacksThere) {
  ManualExecutor executor;
  auto [promise, future] = MakePromise<int>(executor);
  int calls = 0;
  future.OnReady([&](const absl::StatusOr<int>&) { ++calls; });
  promise.future().OnReady([&](const absl::StatusOr<int>&) { ++calls; });
  promise.Set(1);
  EXPECT_EQ(calls, 0);
  executor.RunAll();
  EXPECT_EQ(calls, 2);
}

TEST(FutureTest, DroppedTaskDestroysTheCallback) {
  ManualExecutor executor;
  auto token = std::make_shared<int>(0);
  Future<>(absl::OkStatus()).OnReady(executor, [token](const absl::Status&) { ++*token; });
  EXPECT_EQ(token.use_count(), 2);
  executor.Drop();
  EXPECT_EQ(token.use_count(), 1);
  EXPECT_EQ(*token, 0);
}

}  // namespace
}  // namespace pjrt
