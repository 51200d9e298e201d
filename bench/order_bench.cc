// SPDX-License-Identifier: Apache-2.0
//
// Sorts, selections and cumulative sums. of_bandwidth as elsewhere: bytes that must be read and
// written, a second, over those of memcpy. elements_a_second says how fast a sort is.
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

constexpr int64_t kSize = 1 << 20;

void Sort(benchmark::State& state, const std::string& dims, const std::string& element) {
  const std::string type = absl::StrCat("tensor<", dims, "x", element, ">");
  const std::string scalar = absl::StrCat("tensor<", element, ">");
  MeasureOfBandwidth(
      state,
      absl::StrCat("func.func @main(%x: ", type, ") -> ", type,
                   " {\n  %0 = \"stablehlo.sort\"(%x) ({\n    ^bb0(%a: ", scalar, ", %b: ", scalar,
                   "):\n      %c = stablehlo.compare LT, %a, %b : (", scalar, ", ", scalar,
                   ") -> tensor<i1>\n      stablehlo.return %c : tensor<i1>\n  }) {dimension = ",
                   dims.find('x') == std::string::npos ? 0 : 1, " : i64} : (", type, ") -> ", type,
                   "\n  return %0 : ", type, "\n}\n"),
      kSize * (element == "f64" ? 16 : 8));
  state.counters["elements_a_second"] = benchmark::Counter(
      static_cast<double>(kSize * state.iterations()), benchmark::Counter::kIsRate);
}
void BM_SortF32(benchmark::State& state) { Sort(state, "1048576", "f32"); }
void BM_SortF64(benchmark::State& state) { Sort(state, "1048576", "f64"); }
void BM_SortRowsF32(benchmark::State& state) { Sort(state, "1024x1024", "f32"); }

void BM_TopK(benchmark::State& state) {
  MeasureOfBandwidth(state, R"(
    func.func @main(%x: tensor<1048576xf32>) -> (tensor<100xf32>, tensor<100xi32>) {
      %values, %indices = chlo.top_k(%x, k = 100) : tensor<1048576xf32> -> (tensor<100xf32>, tensor<100xi32>)
      return %values, %indices : tensor<100xf32>, tensor<100xi32>
    })",
                     4 * kSize);
}

void CumulativeSum(benchmark::State& state, const std::string& window, const std::string& padding) {
  MeasureOfBandwidth(
      state,
      absl::StrCat(
          "func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n"
          "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
          "  %0 = \"stablehlo.reduce_window\"(%x, %z) ({\n"
          "    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
          "      %s = stablehlo.add %a, %b : tensor<f32>\n"
          "      stablehlo.return %s : tensor<f32>\n"
          "  }) {window_dimensions = array<i64: ",
          window, ">, padding = dense<", padding,
          "> : tensor<2x2xi64>} : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024x1024xf32>\n"
          "  return %0 : tensor<1024x1024xf32>\n}\n"),
      8 * kSize);
}
void BM_CumulativeSumOfRows(benchmark::State& state) {
  CumulativeSum(state, "1, 1024", "[[0, 0], [1023, 0]]");
}
void BM_CumulativeSumOfColumns(benchmark::State& state) {
  CumulativeSum(state, "1024, 1", "[[1023, 0], [0, 0]]");
}

#define PJRT_BENCH(name)                                                          \
  BENCHMARK(name)->ArgName("threads")->Arg(1)->Arg(Cores())->UseRealTime()->Unit( \
      benchmark::kMicrosecond)
PJRT_BENCH(BM_SortF32);
PJRT_BENCH(BM_SortF64);
PJRT_BENCH(BM_SortRowsF32);
PJRT_BENCH(BM_TopK);
PJRT_BENCH(BM_CumulativeSumOfRows);
PJRT_BENCH(BM_CumulativeSumOfColumns);

}  // namespace
}  // namespace pjrt::bench
