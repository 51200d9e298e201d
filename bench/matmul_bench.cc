// SPDX-License-Identifier: Apache-2.0
//
// Matrix products. of_peak: multiplications and additions a second, over those that as many threads
// reach on f32 in registers.
#include <array>
#include <cstdint>
#include <vector>

#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

void Measure(benchmark::State& state, const char* element, bool a_is_transposed = false) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const int threads = static_cast<int>(state.range(3));
  Program program(MatmulText(m, n, k, element, a_is_transposed), threads);
  const double peak = MultiplyAddPeak(threads);
  const double rate = 2.0 * static_cast<double>(m) * static_cast<double>(n) *
                      static_cast<double>(k) / Repeat(state, program);
  state.counters["flops"] = rate;
  state.counters["of_peak"] = rate / peak;
}

void BM_MatmulF32(benchmark::State& state) { Measure(state, "f32"); }
// Of weights: a batch of inputs, transposed, by a batch of errors.
void BM_GradientF32(benchmark::State& state) { Measure(state, "f32", /*a_is_transposed=*/true); }
void BM_MatmulF64(benchmark::State& state) { Measure(state, "f64"); }
void BM_MatmulBf16(benchmark::State& state) { Measure(state, "bf16"); }
void BM_MatmulS8(benchmark::State& state) { Measure(state, "i8"); }

using Shapes = std::vector<std::array<int64_t, 3>>;  // m, n, k
void OverShapes(benchmark::internal::Benchmark* b, const Shapes& shapes) {
  b->ArgNames({"m", "n", "k", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (int threads : {1, Cores()}) {
    for (const auto& [m, n, k] : shapes) b->Args({m, n, k, threads});
  }
}
void Sizes(benchmark::internal::Benchmark* b) {
  Shapes shapes;
  for (int64_t size : {16, 64, 256, 512, 1024}) shapes.push_back({size, size, size});
  shapes.insert(shapes.end(), {{1, 4096, 1024}, {32, 1024, 1024}, {1024, 32, 1024}});
  OverShapes(b, shapes);
}
void Batches(benchmark::internal::Benchmark* b) {
  OverShapes(b, {{1024, 1024, 32}, {1024, 1024, 128}, {1024, 1024, 512}});
}
void SquareAndFewRows(benchmark::internal::Benchmark* b) {
  OverShapes(b, {{512, 512, 512}, {32, 1024, 1024}});
}
BENCHMARK(BM_MatmulF32)->Apply(Sizes);
BENCHMARK(BM_GradientF32)->Apply(Batches);
BENCHMARK(BM_MatmulF64)->Apply(SquareAndFewRows);
BENCHMARK(BM_MatmulBf16)->Apply(SquareAndFewRows);
BENCHMARK(BM_MatmulS8)->Apply(SquareAndFewRows);

}  // namespace
}  // namespace pjrt::bench
