// SPDX-License-Identifier: Apache-2.0
//
// Reductions over windows. of_bandwidth: bytes of operand and result a second, over those of memcpy
// by as many threads.
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

// f32 tensors by their dims, the attributes, and how many elements both have.
void Measure(benchmark::State& state, const char* op, const char* operand, const char* result,
             const char* attributes, double elements) {
  const int threads = static_cast<int>(state.range(0));
  const std::string x = absl::StrCat("tensor<", operand, "f32>");
  const std::string r = absl::StrCat("tensor<", result, "f32>");
  Program program(
      absl::StrCat("func.func @main(%x: ", x, ", %i: tensor<f32>) -> ", r,
                   " {\n  %r = \"stablehlo.reduce_window\"(%x, %i) ({\n"
                   "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %0 = stablehlo.",
                   op,
                   " %a, %b : tensor<f32>\n    stablehlo.return %0 : tensor<f32>\n"
                   "  }) {",
                   attributes, "} : (", x, ", tensor<f32>) -> ", r, "\n  return %r : ", r, "\n}\n"),
      threads);
  const double bytes = 4 * elements;
  const double bandwidth = CopyBandwidth(threads, static_cast<long long>(bytes / 2));
  state.counters["of_bandwidth"] = bytes / Repeat(state, program) / bandwidth;
}

void BM_MaxPool2x2(benchmark::State& state) {
  Measure(state, "maximum", "8x112x112x32x", "8x56x56x32x",
          "window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>",
          8. * 112 * 112 * 32 * 1.25);
}
void BM_MaxPool2x2Nchw(benchmark::State& state) {
  Measure(state, "maximum", "8x32x112x112x", "8x32x56x56x",
          "window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>",
          8. * 112 * 112 * 32 * 1.25);
}
void BM_MaxPool3x3Stride2(benchmark::State& state) {
  Measure(state, "maximum", "8x112x112x32x", "8x56x56x32x",
          "window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>, "
          "padding = dense<[[0, 0], [0, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>",
          8. * 112 * 112 * 32 * 1.25);
}
void BM_SumPool3x3Same(benchmark::State& state) {
  Measure(state, "add", "4x56x56x64x", "4x56x56x64x",
          "window_dimensions = array<i64: 1, 3, 3, 1>, "
          "padding = dense<[[0, 0], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi64>",
          4. * 56 * 56 * 64 * 2);
}
void BM_SumPool7Of1d(benchmark::State& state) {
  Measure(state, "add", "16x65536x", "16x65530x", "window_dimensions = array<i64: 1, 7>",
          16. * 65536 * 2);
}

BENCHMARK(BM_MaxPool2x2)->Apply(OverThreads);
BENCHMARK(BM_MaxPool2x2Nchw)->Apply(OverThreads);
BENCHMARK(BM_MaxPool3x3Stride2)->Apply(OverThreads);
BENCHMARK(BM_SumPool3x3Same)->Apply(OverThreads);
BENCHMARK(BM_SumPool7Of1d)->Apply(OverThreads);

}  // namespace
}  // namespace pjrt::bench
