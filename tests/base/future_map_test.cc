// SPDX-License-Identifier: Apache-2.0
//
// Map, MapTo, Flatten, MakeFutureOn. Scenarios 191-193, 195.
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"
#include "pjrt/base/future.h"
#include "src/core/base/error.h"
#include "tests/base/future_test_util.h"

namespace pjrt {
namespace {

using MoveOnly = std::unique_ptr<int>;

// The type of Future<int>().Map<R...>(function).
template <typename R, typename F>
using Mapped = decltype(std::declval<Future<int>>().Map<R>(std::declval<F>()));

static_assert(std::is_same_v<Mapped<internal::Deduce, void (*)(int)>, Future<>>);
static_assert(std::is_same_v<Mapped<internal::Deduce, absl::Status (*)(int)>, Future<>>);
static_assert(std::is_same_v<Mapped<internal::Deduce, double (*)(int)>, Future<double>>);
static_assert(
    std::is_same_v<Mapped<internal::Deduce, absl::StatusOr<char> (*)(int)>, Future<char>>);
static_assert(std::is_same_v<Mapped<internal::Deduce, Future<char> (*)(int)>, Future<char>>);
static_assert(std::is_same_v<Mapped<double, int (*)(int)>, Future<double>>);

TEST(FutureMapTest, MapsReadyAndPendingValues) {
  EXPECT_EQ(*Future<int>(2).Map([](int x) { return x + 1; }).Await(), 3);
  auto [promise, future] = MakePromise<int>();
  Future<std::string> text = future.Map([](int x) { return std::to_string(x); });
  EXPECT_FALSE(text.IsReady());
  promise.Set(42);
  EXPECT_EQ(*text.Await(), "42");
}

TEST(FutureMapTest, MapsBetweenStatusAndValue) {
  auto [promise, future] = MakePromise();
  Future<int> value = future.Map([] { return 3; });
  Future<> failed = value.Map([](int) { return absl::AbortedError("no"); });
  Future<> done = value.Map([](int) {});
  promise.Set();
  EXPECT_EQ(*value.Await(), 3);
  EXPECT_EQ(failed.Await(), absl::AbortedError("no"));
  EXPECT_TRUE(done.Await().ok());
}

TEST(FutureMapTest, ExplicitResultTypeConverts) {
  auto [promise, future] = MakePromise<int>();
  Future<std::string> a = future.Map<std::string>([](int) { return "text"; });
  Future<std::string> b =
      future.Map<std::string>([](int) { return absl::Status(absl::AbortedError("e")); });
  Future<std::string> c =
      future.Map<std::string>([](int) { return absl::StatusOr<std::string>("or"); });
  Future<std::string> d = future.Map<std::string>([](int) { return absl::OkStatus(); });
  promise.Set(1);
  EXPECT_EQ(*a.Await(), "text");
  EXPECT_EQ(b.Await().status(), absl::AbortedError("e"));
  EXPECT_EQ(*c.Await(), "or");
  EXPECT_EQ(ErrorId(d.Await().status()), "PJRT-B025");
}

TEST(FutureMapTest, ErrorSkipsTheFunction) {
  int calls = 0;
  auto [promise, future] = MakePromise<int>();
  Future<int> pending = future.Map([&](int x) { return ++calls + x; });
  promise.Set(absl::DataLossError("lost"));
  Future<> ready = future.Map([&](int) { ++calls; });
  EXPECT_EQ(pending.Await().status(), absl::DataLossError("lost"));
  EXPECT_EQ(ready.Await(), absl::DataLossError("lost"));
  EXPECT_EQ(calls, 0);
}

TEST(FutureMapTest, ErrorKeepsItsPayloads) {
  absl::Status error = absl::InternalError("e");
  error.SetPayload("type/x", absl::Cord("data"));
  auto [promise, future] = MakePromise<int>();
  Future<> mapped = future.Map([](int) {}).Map([] {});
  promise.Set(error);
  EXPECT_EQ(mapped.Await().GetPayload("type/x"), absl::Cord("data"));
}

TEST(FutureMapTest, UnusedResultSkipsTheFunction) {
  auto token = std::make_shared<int>(0);
  auto [promise, future] = MakePromise<int>();
  (void)future.Map([token](int) { ++*token; });
  EXPECT_EQ(token.use_count(), 2);
  promise.Set(1);
  EXPECT_EQ(*token, 0);
  EXPECT_EQ(token.use_count(), 1);  // Destroyed all the same.
}

TEST(FutureMapTest, ResultWithACallbackIsUsed) {
  int seen = 0;
  auto [promise, future] = MakePromise<int>();
  future.Map([](int x) { return 2 * x; }).OnReady([&](const absl::StatusOr<int>& v) { seen = *v; });
  promise.Set(4);
  EXPECT_EQ(seen, 8);
}

TEST(FutureMapTest, UnusedEndOfAChainIsSkippedButItsStartRuns) {
  int first = 0, second = 0;
  auto [promise, future] = MakePromise<int>();
  (void)future.Map([&](int x) { return ++first + x; }).Map([&](int x) { return ++second + x; });
  promise.Set(0);
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 0);
}

TEST(FutureMapTest, FunctionIsDestroyedBeforeTheResultIsSeen) {
  auto token = std::make_shared<int>(0);
  long seen = 0;
  auto [promise, future] = MakePromise<int>();
  Future<> mapped = future.Map([token](int) {});
  mapped.OnReady([&](const absl::Status&) { seen = token.use_count(); });
  promise.Set(1);
  EXPECT_EQ(seen, 1);
}

TEST(FutureMapTest, PassesValuesByReference) {
  int copies = 0;
  auto [promise, future] = MakePromise<CountsCopies>();
  Future<> a = future.Map([](const CountsCopies&) {});
  Future<> b = Future<CountsCopies>(future).Map([](const CountsCopies&) {});
  promise.Set(CountsCopies(&copies));
  Future<> c = future.Map([](const CountsCopies&) {});
  EXPECT_TRUE(a.Await().ok() && b.Await().ok() && c.Await().ok());
  EXPECT_EQ(copies, 0);
}

TEST(FutureMapTest, ConsumingMapMovesAMoveOnlyValue) {
  auto [promise, future] = MakePromise<MoveOnly>();
  Future<MoveOnly> mapped = std::move(future).Map([](MoveOnly p) {
    ++*p;
    return p;
  });
  promise.Set(std::make_unique<int>(1));
  EXPECT_EQ(**std::move(mapped).Await(), 2);
  Future<int> ready = Future<MoveOnly>(std::make_unique<int>(7)).Map([](MoveOnly p) { return *p; });
  EXPECT_EQ(*ready.Await(), 7);
}

TEST(FutureMapTest, NonConsumingMapLooksAtAMoveOnlyValue) {
  auto [promise, future] = MakePromise<MoveOnly>();
  Future<int> look = future.Map([](const MoveOnly& p) { return *p; });
  promise.Set(std::make_unique<int>(5));
  EXPECT_EQ(*look.Await(), 5);
  EXPECT_EQ(**std::move(future).Await(), 5);
}

TEST(FutureMapTest, FunctionMayBeMoveOnlyAndMutable) {
  auto [promise, future] = MakePromise<int>();
  Future<int> mapped =
      future.Map([p = std::make_unique<int>(10)](int x) mutable { return *p += x; });
  promise.Set(1);
  EXPECT_EQ(*mapped.Await(), 11);
}

TEST(FutureMapTest, ReturnedFutureIsWaitedFor) {
  auto [outer, outer_future] = MakePromise<int>();
  auto [inner, inner_future] = MakePromise<std::string>();
  Future<std::string> result = outer_future.Map([f = inner_future](int) { return f; });
  outer.Set(1);
  EXPECT_FALSE(result.IsReady());
  inner.Set("inner");
  EXPECT_EQ(*result.Await(), "inner");
}

TEST(FutureMapTest, ReturnedReadyFutureIsPassedOn) {
  auto [promise, future] = MakePromise<int>();
  Future<int> pending = future.Map([](int x) { return Future<int>(x + 1); });
  promise.Set(1);
  Future<int> ready = future.Map([](int x) { return Future<int>(x + 2); });
  Future<> error = future.Map([](int) { return Future<>(absl::AbortedError("e")); });
  EXPECT_EQ(*pending.Await(), 2);
  EXPECT_EQ(*ready.Await(), 3);
  EXPECT_EQ(error.Await(), absl::AbortedError("e"));
}

TEST(FutureMapTest, ReturnedFutureMayBeMoveOnlyOrInvalid) {
  auto [promise, future] = MakePromise<int>();
  auto [inner, inner_future] = MakePromise<MoveOnly>();
  Future<MoveOnly> result =
      future.Map([f = std::move(inner_future)](int) mutable { return std::move(f); });
  Future<int> invalid = future.Map([](int) { return Future<int>(); });
  promise.Set(1);
  inner.Set(std::make_unique<int>(2));
  EXPECT_EQ(**std::move(result).Await(), 2);
  EXPECT_EQ(ErrorId(invalid.Await().status()), "PJRT-B023");
  EXPECT_EQ(ErrorId(future.Map([](int) { return Future<int>(); }).Await().status()), "PJRT-B023");
}

TEST(FutureMapTest, FlattenUnwrapsOneLevel) {
  auto [outer, outer_future] = MakePromise<Future<int>>();
  auto [inner, inner_future] = MakePromise<int>();
  Future<int> flat = outer_future.Flatten();
  outer.Set(inner_future);
  EXPECT_FALSE(flat.IsReady());
  inner.Set(3);
  EXPECT_EQ(*flat.Await(), 3);
  Future<Future<int>> failed = absl::AbortedError("outer");
  EXPECT_EQ(failed.Flatten().Await().status(), absl::AbortedError("outer"));
}

TEST(FutureMapTest, FlattenMovesMoveOnlyFutures) {
  auto [outer, outer_future] = MakePromise<Future<MoveOnly>>();
  auto [inner, inner_future] = MakePromise<MoveOnly>();
  Future<MoveOnly> flat = std::move(outer_future).Flatten();
  outer.Set(std::move(inner_future));
  inner.Set(std::make_unique<int>(4));
  EXPECT_EQ(**std::move(flat).Await(), 4);
}

TEST(FutureMapTest, MapToAttachesAValue) {
  auto [promise, future] = MakePromise();
  Future<std::string> copyable = future.MapTo(std::string("v"));
  Future<MoveOnly> move_only = future.MapTo(std::make_unique<int>(1));
  promise.Set();
  EXPECT_EQ(*copyable.Await(), "v");
  EXPECT_EQ(**std::move(move_only).Await(), 1);
  EXPECT_EQ(Future<>(absl::AbortedError("e")).MapTo(1).Await().status(), absl::AbortedError("e"));
}

TEST(FutureMapTest, ExecutorRunsTheFunction) {
  ManualExecutor executor;
  auto [promise, future] = MakePromise<int>();
  Future<int> pending = future.Map(executor, [](int x) { return x + 1; });
  promise.Set(1);
  Future<int> ready = future.Map(executor, [](int x) { return x + 2; });
  EXPECT_EQ(executor.size(), 2u);
  EXPECT_FALSE(pending.IsReady() || ready.IsReady());
  executor.RunAll();
  EXPECT_EQ(*pending.Await(), 2);
  EXPECT_EQ(*ready.Await(), 3);
}

TEST(FutureMapTest, ExecutorGetsNoTaskForUnusedResultsAndErrors) {
  ManualExecutor executor;
  auto [promise, future] = MakePromise<int>();
  auto [failing, failed] = MakePromise<int>();
  (void)future.Map(executor, [](int x) { return x; });
  Future<int> error = failed.Map(executor, [](int x) { return x; });
  promise.Set(1);
  failing.Set(absl::AbortedError("e"));
  EXPECT_EQ(executor.size(), 0u);
  EXPECT_EQ(error.Await().status(), absl::AbortedError("e"));
}

TEST(FutureMapTest, ResultDroppedWhileTheTaskWaitsSkipsTheFunction) {
  ManualExecutor executor;
  int calls = 0;
  Future<int> mapped = Future<int>(1).Map(executor, [&](int x) { return ++calls + x; });
  mapped = Future<int>();
  executor.RunAll();
  EXPECT_EQ(calls, 0);
}

TEST(FutureMapTest, DroppedTaskFailsTheResult) {
  ManualExecutor executor;
  Future<int> mapped = Future<int>(1).Map(executor, [](int x) { return x; });
  Future<int> on = MakeFutureOn(executor, [] { return 1; });
  executor.Drop();
  EXPECT_EQ(ErrorId(mapped.Await().status()), "PJRT-B024");
  EXPECT_EQ(ErrorId(on.Await().status()), "PJRT-B024");
}

TEST(FutureMapTest, DetachedFutureMapsOnItsExecutorAndTheResultDoesNot) {
  ManualExecutor executor;
  Future<int> detached = Future<int>(1).Detach(executor);
  Future<int> mapped = detached.Map([](int x) { return x + 1; });
  EXPECT_FALSE(mapped.IsReady());
  executor.RunAll();
  EXPECT_EQ(*mapped.Await(), 2);
  EXPECT_EQ(*mapped.Map([](int x) { return x + 1; }).Await(), 3);
  // Nor does a result that the function returns as a detached future.
  Future<int> returned = Future<int>(1).Map([&](int) { return detached; });
  EXPECT_EQ(*returned.Map([](int x) { return x + 4; }).Await(), 5);
}

TEST(FutureMapTest, MakeFutureOnRunsEvenIfDropped) {
  ManualExecutor executor;
  int calls = 0;
  (void)MakeFutureOn(executor, [&] { ++calls; });
  Future<std::string> deduced = MakeFutureOn(executor, [] { return std::string("a"); });
  Future<std::string> given = MakeFutureOn<std::string>(executor, [] { return "b"; });
  Future<int> nested = MakeFutureOn(executor, [] { return Future<int>(3); });
  Future<> status = MakeFutureOn(executor, [] { return absl::AbortedError("e"); });
  executor.RunAll();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(*deduced.Await(), "a");
  EXPECT_EQ(*given.Await(), "b");
  EXPECT_EQ(*nested.Await(), 3);
  EXPECT_EQ(status.Await(), absl::AbortedError("e"));
}

}  // namespace
}  // namespace pjrt
