// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms of f32. of_peak: 5 n log2(n) operations for each line of n complex numbers,
// half of that for real ones, a second, over the multiplications and additions that as many threads
// reach in registers. eigen: times that Eigen's own transform (kissfft) takes, on one thread.
#include <chrono>
#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"
#include "unsupported/Eigen/FFT"

namespace pjrt::bench {
namespace {

// Seconds that Eigen takes for `lines` lines.
double EigenSeconds(int64_t lines, int64_t n) {
  Eigen::FFT<float> fft;
  std::vector<std::complex<float>> x(n, {1, 2}), y(n);
  double best = 1e9;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < lines; ++i) fft.fwd(y.data(), x.data(), n);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count());
  }
  return best;
}

void BM_Complex(benchmark::State& state) {
  const int64_t lines = state.range(0), n = state.range(1);
  const int threads = static_cast<int>(state.range(2));
  const std::string x = absl::StrCat("tensor<", lines, "x", n, "xcomplex<f32>>");
  Program program(absl::StrCat("func.func @main(%x: ", x, ") -> ", x,
                               " {\n  %r = stablehlo.fft %x, type = FFT, length = [", n, "] : (", x,
                               ") -> ", x, "\n  return %r : ", x, "\n}\n"),
                  threads);
  const double peak = MultiplyAddPeak(threads);
  const double seconds = Repeat(state, program);
  const double points = static_cast<double>(lines) * static_cast<double>(n);
  state.counters["of_peak"] = 5 * points * std::log2(static_cast<double>(n)) / seconds / peak;
  state.counters["eigen"] = EigenSeconds(lines, n) / seconds;
}

void BM_Real(benchmark::State& state) {
  const int64_t lines = state.range(0), n = state.range(1);
  const int threads = static_cast<int>(state.range(2));
  const std::string x = absl::StrCat("tensor<", lines, "x", n, "xf32>");
  const std::string r = absl::StrCat("tensor<", lines, "x", n / 2 + 1, "xcomplex<f32>>");
  Program program(absl::StrCat("func.func @main(%x: ", x, ") -> ", r,
                               " {\n  %r = stablehlo.fft %x, type = RFFT, length = [", n, "] : (",
                               x, ") -> ", r, "\n  return %r : ", r, "\n}\n"),
                  threads);
  const double peak = MultiplyAddPeak(threads);
  const double points = static_cast<double>(lines) * static_cast<double>(n);
  state.counters["of_peak"] =
      2.5 * points * std::log2(static_cast<double>(n)) / Repeat(state, program) / peak;
}

void Sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"lines", "n", "threads"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (int threads : {1, Cores()}) {
    b->Args({256, 256, threads});
    b->Args({256, 1024, threads});
    b->Args({64, 1000, threads});
    b->Args({1, 65536, threads});
    b->Args({4, 1009, threads});
  }
}
BENCHMARK(BM_Complex)->Apply(Sizes);
BENCHMARK(BM_Real)->Apply(Sizes);

}  // namespace
}  // namespace pjrt::bench
