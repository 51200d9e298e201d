// SPDX-License-Identifier: Apache-2.0
//
// Matrix products. of_peak: multiplications and additions a second, over those that as many threads
// reach on f32 in registers.

#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

void Measure(benchmark::State& state, const char* element, bool is_transposed = false) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const int threads = static_cast<int>(state.range(3));
  Program program(MatmulText(m, n, k, element, is_transposed), threads);
  const double peak = MultiplyAddPeak(threads);
  const double rate = 2.0 * static_cast<double>(m) * static_cast<double>(n) *
                      static_cast<double>(k) / Repeat(state, program);
  state.counters["flops"] = rate;
  state.counters["of_peak"] = rate / peak;
}

void BM_MatmulF32(benchmark::State& state) { Measure(state, "f32"); }
// Of weights: a batch of inputs, transposed, by a batch of errors.
void BM_GradientF32(benchmark::State& state) { Measure(state, "f32", /*is_transposed=*/true); }
void BM_MatmulF64(benchmark::State& state) { Measure(state, "f64"); }
void BM_MatmulBf16(benchmark::State& state) { Measure(state, "bf16"); }
void BM_MatmulS8(benchmark::State& state) { Measure(state, "i8"); }

void Square(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "n", "k", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (int threads : {1, Cores()}) {
    b->Args({512, 512, 512, threads});
    b->Args({32, 1024, 1024, threads});
  }
}
void Batches(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "n", "k", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (int threads : {1, Cores()}) {
    for (int64_t size : {32, 128, 512}) b->Args({1024, 1024, size, threads});
  }
}
void Sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "n", "k", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (int threads : {1, Cores()}) {
    for (int64_t size : {16, 64, 256, 512, 1024}) b->Args({size, size, size, threads});
    b->Args({1, 4096, 1024, threads});
    b->Args({32, 1024, 1024, threads});
    b->Args({1024, 32, 1024, threads});
  }
}
BENCHMARK(BM_MatmulF32)->Apply(Sizes);
BENCHMARK(BM_GradientF32)->Apply(Batches);
BENCHMARK(BM_MatmulF64)->Apply(Square);
BENCHMARK(BM_MatmulBf16)->Apply(Square);
BENCHMARK(BM_MatmulS8)->Apply(Square);

}  // namespace
}  // namespace pjrt::bench
