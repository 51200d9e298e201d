// SPDX-License-Identifier: Apache-2.0
//
// Sorts and selections on a million elements, cumulative sums on arrays of 4 and of 256 MiB.
// of_bandwidth as elsewhere: bytes that must be read and written, a second, over those of memcpy.
// elements_a_second says how fast a sort is.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

constexpr int64_t kSize = 1 << 20;

// The bits of an argument of type `from`, read as `element`: integers over all of their range.
void Sort(benchmark::State& state, const std::string& dims, const std::string& element,
          const std::string& from) {
  const std::string type = absl::StrCat("tensor<", dims, "x", element, ">");
  const std::string scalar = absl::StrCat("tensor<", element, ">");
  MeasureOfBandwidth(
      state,
      absl::StrCat("func.func @main(%a0: tensor<", dims, "x", from, ">) -> ", type,
                   " {\n  %x = stablehlo.bitcast_convert %a0 : (tensor<", dims, "x", from, ">) -> ",
                   type, "\n  %0 = \"stablehlo.sort\"(%x) ({\n    ^bb0(%a: ", scalar, ", %b: ",
                   scalar, "):\n      %c = stablehlo.compare LT, %a, %b : (", scalar, ", ", scalar,
                   ") -> tensor<i1>\n      stablehlo.return %c : tensor<i1>\n  }) {dimension = ",
                   dims.find('x') == std::string::npos ? 0 : 1, " : i64} : (", type, ") -> ", type,
                   "\n  return %0 : ", type, "\n}\n"),
      kSize * (element == "f64" ? 16 : 8));
  state.counters["elements_a_second"] = benchmark::Counter(
      static_cast<double>(kSize * state.iterations()), benchmark::Counter::kIsRate);
}
void BM_SortF32(benchmark::State& state) { Sort(state, "1048576", "f32", "f32"); }
void BM_SortF64(benchmark::State& state) { Sort(state, "1048576", "f64", "f64"); }
void BM_SortI32(benchmark::State& state) { Sort(state, "1048576", "i32", "f32"); }
void BM_SortRowsF32(benchmark::State& state) { Sort(state, "1024x1024", "f32", "f32"); }

void BM_TopK(benchmark::State& state) {
  MeasureOfBandwidth(state, R"(
    func.func @main(%x: tensor<1048576xf32>) -> (tensor<100xf32>, tensor<100xi32>) {
      %values, %indices = chlo.top_k(%x, k = 100) : tensor<1048576xf32> -> (tensor<100xf32>, tensor<100xi32>)
      return %values, %indices : tensor<100xf32>, tensor<100xi32>
    })",
                     4 * kSize);
}

// The indices that sort an array: its numbers go along.
void BM_ArgSortF32(benchmark::State& state) {
  MeasureOfBandwidth(state, R"(
    func.func @main(%x: tensor<1048576xf32>) -> tensor<1048576xi32> {
      %n = stablehlo.iota dim = 0 : tensor<1048576xi32>
      %0:2 = "stablehlo.sort"(%x, %n) ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
          %c = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1>
      }) {dimension = 0 : i64, is_stable = true} : (tensor<1048576xf32>, tensor<1048576xi32>) -> (tensor<1048576xf32>, tensor<1048576xi32>)
      return %0#1 : tensor<1048576xi32>
    })",
                     8 * kSize);
}

// Along a dim of an array of about state.range(1) MiB.
void CumulativeSum(benchmark::State& state, const char* element, int64_t size, bool of_rows,
                   int64_t columns = 1024) {
  const int64_t rows = (state.range(1) << 20) / (columns * size);
  MeasureOfBandwidth(
      state,
      absl::Substitute("func.func @main(%x: tensor<$0x$4x$1>) -> tensor<$0x$4x$1> {\n"
                       "  %i = stablehlo.constant dense<0> : tensor<i32>\n"
                       "  %z = stablehlo.convert %i : (tensor<i32>) -> tensor<$1>\n"
                       "  %0 = \"stablehlo.reduce_window\"(%x, %z) ({\n"
                       "    ^bb0(%a: tensor<$1>, %b: tensor<$1>):\n"
                       "      %s = stablehlo.add %a, %b : tensor<$1>\n"
                       "      stablehlo.return %s : tensor<$1>\n"
                       "  }) {window_dimensions = array<i64: $2>, padding = dense<[$3]> : "
                       "tensor<2x2xi64>} : (tensor<$0x$4x$1>, tensor<$1>) -> "
                       "tensor<$0x$4x$1>\n"
                       "  return %0 : tensor<$0x$4x$1>\n}\n",
                       rows, element,
                       of_rows ? absl::StrCat("1, ", columns) : absl::StrCat(rows, ", 1"),
                       of_rows ? absl::StrCat("[0, 0], [", columns - 1, ", 0]")
                               : absl::StrCat("[", rows - 1, ", 0], [0, 0]"),
                       columns),
      2 * rows * columns * size);
}
void BM_CumulativeSumOfRowsF32(benchmark::State& state) { CumulativeSum(state, "f32", 4, true); }
void BM_CumulativeSumOfRowsI32(benchmark::State& state) { CumulativeSum(state, "i32", 4, true); }
void BM_CumulativeSumOfRowsF64(benchmark::State& state) { CumulativeSum(state, "f64", 8, true); }
void BM_CumulativeSumOfRowsBf16(benchmark::State& state) { CumulativeSum(state, "bf16", 2, true); }
void BM_CumulativeSumOfRowsF16(benchmark::State& state) { CumulativeSum(state, "f16", 2, true); }
void BM_CumulativeSumOfShortRowsF32(benchmark::State& state) {
  CumulativeSum(state, "f32", 4, true, 128);
}
void BM_CumulativeSumOfShortRowsBf16(benchmark::State& state) {
  CumulativeSum(state, "bf16", 2, true, 300);
}
void BM_CumulativeSumOfColumns(benchmark::State& state) { CumulativeSum(state, "f32", 4, false); }
void BM_CumulativeSumOfColumnsBf16(benchmark::State& state) {
  CumulativeSum(state, "bf16", 2, false);
}

BENCHMARK(BM_SortF32)->Apply(OverThreads);
BENCHMARK(BM_SortI32)->Apply(OverThreads);
BENCHMARK(BM_SortF64)->Apply(OverThreads);
BENCHMARK(BM_SortRowsF32)->Apply(OverThreads);
BENCHMARK(BM_ArgSortF32)->Apply(OverThreads);
BENCHMARK(BM_TopK)->Apply(OverThreads);
BENCHMARK(BM_CumulativeSumOfRowsF32)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_CumulativeSumOfRowsI32)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_CumulativeSumOfRowsF64)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_CumulativeSumOfRowsBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_CumulativeSumOfRowsF16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_CumulativeSumOfShortRowsF32)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_CumulativeSumOfShortRowsBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_CumulativeSumOfColumns)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_CumulativeSumOfColumnsBf16)->Apply(OverThreadsAndSizes);

}  // namespace
}  // namespace pjrt::bench
