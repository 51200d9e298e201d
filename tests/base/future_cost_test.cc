// SPDX-License-Identifier: Apache-2.0
//
// What futures allocate. Counts allocations by replacing operator new, which sanitizers keep for
// themselves.
#include <cstdlib>
#include <new>

#include "gtest/gtest.h"
#include "pjrt/base/future.h"
#include "pjrt/base/future_join.h"
#include "tests/base/future_test_util.h"

#if !PJRT_TEST_SANITIZED

namespace {
thread_local int allocations = 0;
}  // namespace

// Not inlined: gcc warns where it sees one half of a pair inside and the other half called.
__attribute__((noinline)) void* operator new(std::size_t size) {
  ++allocations;
  if (void* p = std::malloc(size)) return p;
  std::abort();
}
__attribute__((noinline)) void operator delete(void* p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void* p, std::size_t) noexcept { std::free(p); }

namespace pjrt {
namespace {

// How many allocations `f` makes.
template <typename F>
int Allocations(F f) {
  const int before = allocations;
  f();
  return allocations - before;
}

TEST(FutureCostTest, ReadyOkFutureAllocatesNothing) {
  EXPECT_EQ(Allocations([] {
              Future<> ok = absl::OkStatus();
              Future<> copy = ok;
              EXPECT_TRUE(copy.Await().ok());
              EXPECT_TRUE(JoinFutures(ok, copy).Await().ok());
              EXPECT_TRUE(ok.Map([] {}).Await().ok());
              ok.OnReady([](const absl::Status&) {});
            }),
            0);
}

TEST(FutureCostTest, PromiseAndItsFutureAreOneAllocation) {
  EXPECT_EQ(Allocations([] {
              auto [promise, future] = MakePromise<int>();
              Future<> view = future.GetReadyFuture();
              promise.Set(1);
              EXPECT_EQ(*future.Await(), 1);
            }),
            1);
}

TEST(FutureCostTest, SharedHooksAreAllocatedOnce) {
  const FutureHelpers::BlockHooks hooks([] { return FutureHelpers::ProfilingKeys(); });
  EXPECT_EQ(Allocations([&] {
              auto [promise, future] = MakePromise<int>(hooks);
              promise.Set(1);
            }),
            1);
}

TEST(FutureCostTest, PendingMapIsOneAllocation) {
  auto [promise, future] = MakePromise<int>();
  Future<int> mapped;
  EXPECT_EQ(Allocations([&, &f = future] { mapped = f.Map([](int x) { return x + 1; }); }), 1);
  EXPECT_EQ(Allocations([&f = future] { f.OnReady([](const absl::StatusOr<int>&) {}); }), 1);
  EXPECT_EQ(Allocations([&, &p = promise] { p.Set(1); }), 0);
  EXPECT_EQ(*mapped.Await(), 2);
}

}  // namespace
}  // namespace pjrt

#endif  // !PJRT_TEST_SANITIZED
