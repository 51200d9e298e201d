// SPDX-License-Identifier: Apache-2.0
//
// JoinFutures. Scenarios 194 and 198.
#include "pjrt/base/future_join.h"

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "tests/base/future_test_util.h"

namespace pjrt {
namespace {

using MoveOnly = std::unique_ptr<int>;

TEST(FutureJoinTest, NothingJoinsToReadyOk) {
  Future<> joined = JoinFutures(absl::Span<const Future<>>());
  EXPECT_TRUE(joined.IsReady());
  EXPECT_TRUE(joined.Await().ok());
  EXPECT_TRUE(JoinFutures(std::vector<Future<int>>()).Await()->empty());
}

TEST(FutureJoinTest, OneJoinsToItself) {
  const std::vector<Future<>> error = {absl::AbortedError("e")};
  Future<> joined = JoinFutures(error);
  EXPECT_EQ(&joined.Await(), &error[0].Await());
}

TEST(FutureJoinTest, WaitsForAllEvenAfterAnError) {
  auto [a, future_a] = MakePromise();
  auto [b, future_b] = MakePromise();
  auto [c, future_c] = MakePromise();
  Future<> joined = JoinFutures({future_a, future_b, future_c});
  b.Set(absl::AbortedError("b"));
  EXPECT_FALSE(joined.IsReady());
  a.Set();
  EXPECT_FALSE(joined.IsReady());
  c.Set();
  ASSERT_TRUE(joined.IsReady());
  EXPECT_EQ(joined.Await(), absl::AbortedError("b"));
}

TEST(FutureJoinTest, ReportsTheFirstErrorInTime) {
  auto [a, future_a] = MakePromise();
  auto [b, future_b] = MakePromise();
  Future<> joined = JoinFutures({future_a, future_b});
  b.Set(absl::AbortedError("first in time"));
  a.Set(absl::InternalError("first in order"));
  EXPECT_EQ(joined.Await(), absl::AbortedError("first in time"));

  auto [c, future_c] = MakePromise();
  Future<> early = JoinFutures({future_c, Future<>(absl::DataLossError("early"))});
  c.Set(absl::InternalError("late"));
  EXPECT_EQ(early.Await(), absl::DataLossError("early"));
}

TEST(FutureJoinTest, InvalidMemberMakesTheJoinInvalid) {
  auto [promise, future] = MakePromise();
  EXPECT_FALSE(JoinFutures({future, Future<>()}).IsValid());
  EXPECT_FALSE(JoinFutures({Future<>()}).IsValid());
  EXPECT_FALSE(JoinFutures(std::vector<Future<int>>(2)).IsValid());
  EXPECT_FALSE(JoinFutures(Future<int>(1), Future<std::string>()).IsValid());
}

TEST(FutureJoinTest, AllReadyJoinsAtOnce) {
  Future<> ok = absl::OkStatus();
  EXPECT_TRUE(JoinFutures({ok, ok}).IsReady());
  Future<> joined = JoinFutures({ok, absl::AbortedError("e"), absl::InternalError("f")});
  ASSERT_TRUE(joined.IsReady());
  EXPECT_EQ(joined.Await(), absl::AbortedError("e"));
}

TEST(FutureJoinTest, VectorKeepsTheOrderOfTheInputs) {
  auto [a, future_a] = MakePromise<int>();
  auto [b, future_b] = MakePromise<int>();
  const std::vector<Future<int>> inputs = {future_a, 5, future_b};
  Future<std::vector<int>> joined = JoinFutures(absl::MakeConstSpan(inputs));
  b.Set(2);
  EXPECT_FALSE(joined.IsReady());
  a.Set(1);
  EXPECT_EQ(*joined.Await(), (std::vector<int>{1, 5, 2}));
  EXPECT_TRUE(inputs[0].IsValid());
}

TEST(FutureJoinTest, VectorErrorComesThrough) {
  std::vector<Future<int>> inputs = {1, absl::AbortedError("e"), 3};
  EXPECT_EQ(JoinFutures(inputs).Await().status(), absl::AbortedError("e"));
}

TEST(FutureJoinTest, VectorMovesMoveOnlyValues) {
  auto [a, future_a] = MakePromise<MoveOnly>();
  std::vector<Future<MoveOnly>> inputs;
  inputs.push_back(std::move(future_a));
  inputs.push_back(std::make_unique<int>(2));
  Future<std::vector<MoveOnly>> joined = JoinFutures(absl::MakeSpan(inputs));
  a.Set(std::make_unique<int>(1));
  absl::StatusOr<std::vector<MoveOnly>> values = std::move(joined).Await();
  ASSERT_EQ(values->size(), 2u);
  EXPECT_EQ(*(*values)[0] + *(*values)[1], 3);
}

TEST(FutureJoinTest, ConsumedVectorIsNotCopied) {
  int copies = 0;
  std::vector<Future<CountsCopies>> inputs;
  inputs.emplace_back(CountsCopies(&copies));
  inputs.emplace_back(CountsCopies(&copies));
  copies = 0;
  EXPECT_EQ(JoinFutures(std::move(inputs)).Await()->size(), 2u);
  EXPECT_EQ(copies, 0);
}

TEST(FutureJoinTest, TupleLeavesVoidOut) {
  auto [a, future_a] = MakePromise<int>();
  auto [b, future_b] = MakePromise();
  auto joined = JoinFutures(future_a, future_b, Future<std::string>("s"));
  static_assert(std::is_same_v<decltype(joined), Future<std::tuple<int, std::string>>>);
  a.Set(1);
  EXPECT_FALSE(joined.IsReady());
  b.Set();
  EXPECT_EQ(*joined.Await(), std::make_tuple(1, std::string("s")));
}

TEST(FutureJoinTest, TupleOfVoidsIsAStatus) {
  auto joined = JoinFutures(Future<>(absl::OkStatus()), Future<>(absl::AbortedError("e")));
  static_assert(std::is_same_v<decltype(joined), Future<>>);
  EXPECT_EQ(joined.Await(), absl::AbortedError("e"));
}

TEST(FutureJoinTest, TupleMovesMoveOnlyValues) {
  auto [a, future_a] = MakePromise<MoveOnly>();
  auto joined = JoinFutures(std::move(future_a), Future<int>(2));
  a.Set(std::make_unique<int>(1));
  auto values = std::move(joined).Await();
  EXPECT_EQ(*std::get<0>(*values) + std::get<1>(*values), 3);
}

struct Point {
  int x;
  MoveOnly y;
};

TEST(FutureJoinTest, ValuesMakeTheTypeThatIsAskedFor) {
  auto [a, future_a] = MakePromise();
  Future<Point> joined =
      JoinFutures<Point>(Future<int>(1), future_a, Future<MoveOnly>(std::make_unique<int>(2)));
  a.Set();
  absl::StatusOr<Point> point = std::move(joined).Await();
  EXPECT_EQ(point->x, 1);
  EXPECT_EQ(*point->y, 2);
}

TEST(FutureJoinTest, JoinRunsACallbackWhenAllEventsAreThere) {
  ManualExecutor executor;
  auto [a, future_a] = MakePromise();
  auto [b, future_b] = MakePromise();
  absl::Status seen = absl::UnknownError("not called");
  JoinFutures({future_a, future_b}).OnReady(executor, [&](const absl::Status& s) { seen = s; });
  a.Set();
  EXPECT_EQ(executor.size(), 0u);
  b.Set();
  executor.RunAll();
  EXPECT_TRUE(seen.ok());
}

TEST(FutureJoinTest, DroppedJoinIsFreedWithItsInputs) {
  auto token = std::make_shared<int>(0);
  auto [a, future_a] = MakePromise<int>();
  std::vector<Future<int>> inputs = {future_a, future_a};
  (void)JoinFutures(inputs).Map([token](const std::vector<int>&) { ++*token; });
  inputs.clear();
  a.Set(1);
  EXPECT_EQ(*token, 0);
  EXPECT_EQ(token.use_count(), 1);
}

TEST(FutureJoinTest, TenThousandInputs) {
  std::vector<Promise<int>> promises;
  std::vector<Future<int>> futures;
  for (int i = 0; i < 10000; ++i) {
    auto [promise, future] = MakePromise<int>();
    promises.push_back(std::move(promise));
    futures.push_back(std::move(future));
  }
  Future<std::vector<int>> joined = JoinFutures(std::move(futures));
  for (int i = 9999; i >= 0; --i) promises[i].Set(i);
  const std::vector<int>& values = *joined.Await();
  for (int i = 0; i < 10000; ++i) ASSERT_EQ(values[i], i);
}

}  // namespace
}  // namespace pjrt
