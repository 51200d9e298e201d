// SPDX-License-Identifier: Apache-2.0
//
// What futures cost: nothing here waits for another thread.
#include <utility>

#include "benchmark/benchmark.h"
#include "pjrt/base/future.h"
#include "pjrt/base/future_join.h"

namespace pjrt {
namespace {

void BM_CreateOkFuture(benchmark::State& state) {
  for (auto _ : state) {
    Future<> future = absl::OkStatus();
    benchmark::DoNotOptimize(future);
  }
}
BENCHMARK(BM_CreateOkFuture);

void BM_CopyFuture(benchmark::State& state) {
  auto [promise, future] = MakePromise<int>();
  for (auto _ : state) {
    Future<int> copy = future;
    benchmark::DoNotOptimize(copy);
  }
}
BENCHMARK(BM_CopyFuture);

void BM_SetAndAwait(benchmark::State& state) {
  for (auto _ : state) {
    auto [promise, future] = MakePromise<int>();
    promise.Set(1);
    benchmark::DoNotOptimize(future.Await());
  }
}
BENCHMARK(BM_SetAndAwait);

void BM_MapReadyFuture(benchmark::State& state) {
  const Future<int> future = 1;
  for (auto _ : state) {
    Future<int> mapped = future.Map([](int x) { return x + 1; });
    benchmark::DoNotOptimize(mapped);
  }
}
BENCHMARK(BM_MapReadyFuture);

void BM_MapPendingFuture(benchmark::State& state) {
  for (auto _ : state) {
    auto [promise, future] = MakePromise<int>();
    Future<int> mapped = future.Map([](int x) { return x + 1; });
    promise.Set(1);
    benchmark::DoNotOptimize(mapped.Await());
  }
}
BENCHMARK(BM_MapPendingFuture);

void BM_CallbackOfPendingFuture(benchmark::State& state) {
  int sum = 0;
  for (auto _ : state) {
    auto [promise, future] = MakePromise<int>();
    std::move(future).OnReady([&sum](const absl::StatusOr<int>& v) { sum += *v; });
    promise.Set(1);
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(BM_CallbackOfPendingFuture);

void BM_JoinPendingFutures(benchmark::State& state) {
  for (auto _ : state) {
    auto [a, future_a] = MakePromise();
    auto [b, future_b] = MakePromise();
    Future<> joined = JoinFutures({future_a, future_b});
    a.Set();
    b.Set();
    benchmark::DoNotOptimize(joined.Await());
  }
}
BENCHMARK(BM_JoinPendingFutures);

}  // namespace
}  // namespace pjrt
