// SPDX-License-Identifier: Apache-2.0
//
// Reductions over rows, columns, a middle dim and whole arrays. MiB: the size of the array.
// of_bandwidth: bytes that are read a second, over those that memcpy by as many threads reads and
// writes on arrays of half that size.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

int64_t Rows(const benchmark::State& state, int size) {
  return (state.range(1) << 20) / (1024 * size);
}

void Reduce(benchmark::State& state, const std::string& from, const std::string& dims,
            const std::string& to, const char* element, const char* op = "add") {
  MeasureOfBandwidth(
      state,
      absl::Substitute("func.func @main(%x: tensor<$0x$4>) -> tensor<$2$4> {\n"
                       "  %init = stablehlo.constant dense<0> : tensor<i32>\n"
                       "  %zero = stablehlo.convert %init : (tensor<i32>) -> tensor<$4>\n"
                       "  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.$3 across "
                       "dimensions = [$1] : (tensor<$0x$4>, tensor<$4>) -> tensor<$2$4>\n"
                       "  return %0 : tensor<$2$4>\n}\n",
                       from, dims, to, op, element),
      state.range(1) << 20);
}
void OfRows(benchmark::State& state, int size, const char* element, const char* op = "add") {
  const int64_t rows = Rows(state, size);
  Reduce(state, absl::StrCat(rows, "x1024"), "1", absl::StrCat(rows, "x"), element, op);
}
void OfColumns(benchmark::State& state, int size, const char* element, const char* op = "add") {
  Reduce(state, absl::StrCat(Rows(state, size), "x1024"), "0", "1024x", element, op);
}
void BM_SumOfRows(benchmark::State& state) { OfRows(state, 4, "f32"); }
void BM_SumOfColumns(benchmark::State& state) { OfColumns(state, 4, "f32"); }
void BM_SumOfAll(benchmark::State& state) {
  Reduce(state, absl::StrCat(Rows(state, 4), "x1024"), "0, 1", "", "f32");
}
void BM_SumOfMiddle(benchmark::State& state) {
  const int64_t outer = Rows(state, 4) / 64;
  Reduce(state, absl::StrCat(outer, "x256x256"), "1", absl::StrCat(outer, "x256x"), "f32");
}
void BM_SumOfOuterAndInner(benchmark::State& state) {
  const int64_t outer = Rows(state, 4) / 64;
  Reduce(state, absl::StrCat(outer, "x256x256"), "0, 2", "256x", "f32");
}
// Rows and columns that are short.
void BM_SumOfShortRows(benchmark::State& state) {
  const int64_t rows = Rows(state, 4) * 64;
  Reduce(state, absl::StrCat(rows, "x16"), "1", absl::StrCat(rows, "x"), "f32");
}
void BM_SumOfFewColumns(benchmark::State& state) {
  Reduce(state, absl::StrCat(Rows(state, 4) * 16, "x64"), "0", "64x", "f32");
}
void BM_MaximumOfRows(benchmark::State& state) { OfRows(state, 4, "f32", "maximum"); }
void BM_MaximumOfColumns(benchmark::State& state) { OfColumns(state, 4, "f32", "maximum"); }
void BM_SumOfRowsBf16(benchmark::State& state) { OfRows(state, 2, "bf16"); }
void BM_SumOfColumnsBf16(benchmark::State& state) { OfColumns(state, 2, "bf16"); }
void BM_SumOfRowsI32(benchmark::State& state) { OfRows(state, 4, "i32"); }
void BM_SumOfRowsF64(benchmark::State& state) { OfRows(state, 8, "f64"); }
void BM_SumOfColumnsF64(benchmark::State& state) { OfColumns(state, 8, "f64"); }

// The largest element of each row and its number: two operands and a region of several ops.
void ArgMax(benchmark::State& state, int dim) {
  const int64_t rows = Rows(state, 4);
  const std::string from = absl::StrCat("tensor<", rows, "x1024x");
  const std::string to = absl::StrCat("tensor<", dim == 0 ? 1024 : rows, "x");
  MeasureOfBandwidth(
      state,
      absl::Substitute(
          "func.func @main(%x: $0f32>) -> ($1f32>, $1i32>) {\n"
          "  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>\n"
          "  %none = stablehlo.constant dense<0> : tensor<i32>\n"
          "  %n = stablehlo.iota dim = $2 : $0i32>\n"
          "  %0:2 = stablehlo.reduce(%x init: %low), (%n init: %none) across dimensions = [$2] : "
          "($0f32>, $0i32>, tensor<f32>, tensor<i32>) -> ($1f32>, $1i32>)\n"
          "    reducer(%a: tensor<f32>, %b: tensor<f32>) (%i: tensor<i32>, %j: tensor<i32>) {\n"
          "    %more = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
          "    %nan = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
          "    %first = stablehlo.or %more, %nan : tensor<i1>\n"
          "    %same = stablehlo.compare EQ, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
          "    %before = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
          "    %tie = stablehlo.and %same, %before : tensor<i1>\n"
          "    %left = stablehlo.or %first, %tie : tensor<i1>\n"
          "    %v = stablehlo.select %first, %a, %b : tensor<i1>, tensor<f32>\n"
          "    %k = stablehlo.select %left, %i, %j : tensor<i1>, tensor<i32>\n"
          "    stablehlo.return %v, %k : tensor<f32>, tensor<i32>\n"
          "  }\n  return %0#0, %0#1 : $1f32>, $1i32>\n}\n",
          from, to, dim),
      state.range(1) << 20);
}
void BM_ArgMaxOfRows(benchmark::State& state) { ArgMax(state, 1); }
void BM_ArgMaxOfColumns(benchmark::State& state) { ArgMax(state, 0); }

BENCHMARK(BM_SumOfRows)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfColumns)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfAll)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfMiddle)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfOuterAndInner)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfShortRows)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfFewColumns)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_MaximumOfRows)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_MaximumOfColumns)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfRowsBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfColumnsBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfRowsI32)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfRowsF64)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SumOfColumnsF64)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ArgMaxOfRows)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ArgMaxOfColumns)->Apply(OverThreadsAndSizes);

}  // namespace
}  // namespace pjrt::bench
