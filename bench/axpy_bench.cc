// SPDX-License-Identifier: Apache-2.0
//
// a * x + y of f32 over sizes from the first cache to memory. of_bandwidth: bytes moved a second,
// over those of memcpy by as many threads on arrays that take as much room.
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

void BM_Axpy(benchmark::State& state) {
  const int64_t n = state.range(0);
  const int threads = static_cast<int>(state.range(1));
  Program program(AxpyText(n), threads);
  const double bandwidth =
      CopyBandwidth(threads, 6 * n);  // two copies of half the bytes of x, y and the result
  const double rate = 12.0 * static_cast<double>(n) / Repeat(state, program);
  state.counters["bytes_a_second"] = rate;
  state.counters["of_bandwidth"] = rate / bandwidth;
}
BENCHMARK(BM_Axpy)
    ->ArgNames({"n", "threads"})
    ->ArgsProduct({{1 << 10, 1 << 16, 1 << 20, 1 << 24}, {1, Cores()}})
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pjrt::bench
