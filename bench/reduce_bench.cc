// SPDX-License-Identifier: Apache-2.0
//
// Reductions over rows, columns, a middle dim and whole arrays. MiB: the size of the array.
// of_bandwidth: bytes of the array and of the results a second, over those that memcpy by as many
// threads reads and writes on arrays of half that size.
#include <cstdint>
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

// `results`: how many, of `size` bytes.
void Reduce(benchmark::State& state, const std::string& from, const std::string& dims,
            const std::string& to, int64_t results, int size, const char* element,
            const char* op = "add") {
  MeasureOfBandwidth(
      state,
      absl::Substitute("func.func @main(%x: tensor<$0x$4>) -> tensor<$2$4> {\n"
                       "  %init = stablehlo.constant dense<0> : tensor<i32>\n"
                       "  %zero = stablehlo.convert %init : (tensor<i32>) -> tensor<$4>\n"
                       "  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.$3 across "
                       "dimensions = [$1] : (tensor<$0x$4>, tensor<$4>) -> tensor<$2$4>\n"
                       "  return %0 : tensor<$2$4>\n}\n",
                       from, dims, to, op, element),
      (state.range(1) << 20) + results * size);
}
void OfRows(benchmark::State& state, int size, const char* element, const char* op = "add") {
  const int64_t rows = Rows(state, size);
  Reduce(state, absl::StrCat(rows, "x1024"), "1", absl::StrCat(rows, "x"), rows, size, element, op);
}
void OfColumns(benchmark::State& state, int size, const char* element, const char* op = "add") {
  Reduce(state, absl::StrCat(Rows(state, size), "x1024"), "0", "1024x", 1024, size, element, op);
}
void BM_SumOfRows(benchmark::State& state) { OfRows(state, 4, "f32"); }
void BM_SumOfColumns(benchmark::State& state) { OfColumns(state, 4, "f32"); }
void BM_SumOfAll(benchmark::State& state) {
  Reduce(state, absl::StrCat(Rows(state, 4), "x1024"), "0, 1", "", 1, 4, "f32");
}
void BM_SumOfMiddle(benchmark::State& state) {
  const int64_t outer = Rows(state, 4) / 64;
  Reduce(state, absl::StrCat(outer, "x256x256"), "1", absl::StrCat(outer, "x256x"), outer * 256, 4,
         "f32");
}
void BM_SumOfOuterAndInner(benchmark::State& state) {
  const int64_t outer = Rows(state, 4) / 64;
  Reduce(state, absl::StrCat(outer, "x256x256"), "0, 2", "256x", 256, 4, "f32");
}
// Rows and columns that are short.
void BM_SumOfShortRows(benchmark::State& state) {
  const int64_t rows = Rows(state, 4) * 64;
  Reduce(state, absl::StrCat(rows, "x16"), "1", absl::StrCat(rows, "x"), rows, 4, "f32");
}
void BM_SumOfFewColumns(benchmark::State& state) {
  Reduce(state, absl::StrCat(Rows(state, 4) * 16, "x64"), "0", "64x", 64, 4, "f32");
}
void BM_MaximumOfRows(benchmark::State& state) { OfRows(state, 4, "f32", "maximum"); }
void BM_MaximumOfColumns(benchmark::State& state) { OfColumns(state, 4, "f32", "maximum"); }
void BM_SumOfRowsBf16(benchmark::State& state) { OfRows(state, 2, "bf16"); }
void BM_SumOfColumnsBf16(benchmark::State& state) { OfColumns(state, 2, "bf16"); }
void BM_SumOfRowsI32(benchmark::State& state) { OfRows(state, 4, "i32"); }
void BM_SumOfRowsF64(benchmark::State& state) { OfRows(state, 8, "f64"); }
void BM_SumOfColumnsF64(benchmark::State& state) { OfColumns(state, 8, "f64"); }

// The number of the largest element along `dim`, of a NaN where there is one: two operands and a
// region of several ops.
void ArgMax(benchmark::State& state, int64_t rows, int64_t columns, int dim, const char* element) {
  const int64_t numbers = dim == 0 ? columns : rows;
  const std::string from = absl::StrCat("tensor<", rows, "x", columns, "x");
  const std::string to = absl::StrCat("tensor<", numbers, "x");
  MeasureOfBandwidth(
      state,
      absl::Substitute(
          "func.func @main(%x: $0$3>) -> $1i32> {\n"
          "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
          "  %lowest = stablehlo.constant dense<$4> : tensor<f32>\n"
          "  %low = stablehlo.convert %lowest : (tensor<f32>) -> tensor<$3>\n"
          "  %n = stablehlo.iota dim = $2 : $0i32>\n"
          "  %0:2 = stablehlo.reduce(%x init: %low), (%n init: %zero) across dimensions = [$2] : "
          "($0$3>, $0i32>, tensor<$3>, tensor<i32>) -> ($1$3>, $1i32>)\n"
          "    reducer(%a: tensor<$3>, %b: tensor<$3>) (%i: tensor<i32>, %j: tensor<i32>) {\n"
          "    %more = stablehlo.compare GT, %a, %b : (tensor<$3>, tensor<$3>) -> tensor<i1>\n"
          "    %nan = stablehlo.compare NE, %a, %a : (tensor<$3>, tensor<$3>) -> tensor<i1>\n"
          "    %first = stablehlo.or %more, %nan : tensor<i1>\n"
          "    %same = stablehlo.compare EQ, %a, %b : (tensor<$3>, tensor<$3>) -> tensor<i1>\n"
          "    %before = stablehlo.compare LT, %i, %j : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
          "    %tie = stablehlo.and %same, %before : tensor<i1>\n"
          "    %left = stablehlo.or %first, %tie : tensor<i1>\n"
          "    %v = stablehlo.select %first, %a, %b : tensor<i1>, tensor<$3>\n"
          "    %k = stablehlo.select %left, %i, %j : tensor<i1>, tensor<i32>\n"
          "    stablehlo.return %v, %k : tensor<$3>, tensor<i32>\n"
          "  }\n  return %0#1 : $1i32>\n}\n",
          from, to, dim, element, element[0] == 'u' ? "0.0" : "0xFF800000"),
      (state.range(1) << 20) + numbers * static_cast<int64_t>(sizeof(int32_t)));
}
// Of rows of state.range(2) elements.
void ArgMaxOfRows(benchmark::State& state, int size, const char* element) {
  const int64_t columns = state.range(2);
  ArgMax(state, (state.range(1) << 20) / (columns * size), columns, 1, element);
}
void ArgMaxOfColumns(benchmark::State& state, int size, const char* element) {
  ArgMax(state, Rows(state, size), 1024, 0, element);
}
void BM_ArgMaxOfRows(benchmark::State& state) { ArgMaxOfRows(state, 4, "f32"); }
void BM_ArgMaxOfRowsF64(benchmark::State& state) { ArgMaxOfRows(state, 8, "f64"); }
void BM_ArgMaxOfRowsBf16(benchmark::State& state) { ArgMaxOfRows(state, 2, "bf16"); }
void BM_ArgMaxOfRowsU8(benchmark::State& state) { ArgMaxOfRows(state, 1, "ui8"); }
void BM_ArgMaxOfColumns(benchmark::State& state) { ArgMaxOfColumns(state, 4, "f32"); }
void BM_ArgMaxOfColumnsF64(benchmark::State& state) { ArgMaxOfColumns(state, 8, "f64"); }
void BM_ArgMaxOfColumnsBf16(benchmark::State& state) { ArgMaxOfColumns(state, 2, "bf16"); }
void BM_ArgMaxOfColumnsU8(benchmark::State& state) { ArgMaxOfColumns(state, 1, "ui8"); }

// One thread; MiB and the length of rows.
void OverRowLengths(benchmark::internal::Benchmark* b) {
  b->ArgNames({"threads", "MiB", "row"})->UseRealTime()->Unit(benchmark::kMicrosecond);
  for (int64_t row : {4, 8, 10, 16, 32, 100, 1024}) b->Args({1, 256, row});
}

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
BENCHMARK(BM_ArgMaxOfRows)->Apply(OverRowLengths);
BENCHMARK(BM_ArgMaxOfRowsF64)->Apply(OverRowLengths);
BENCHMARK(BM_ArgMaxOfRowsBf16)->Apply(OverRowLengths);
BENCHMARK(BM_ArgMaxOfRowsU8)->Apply(OverRowLengths);
BENCHMARK(BM_ArgMaxOfColumns)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ArgMaxOfColumnsF64)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ArgMaxOfColumnsBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ArgMaxOfColumnsU8)->Apply(OverThreadsAndSizes);

}  // namespace
}  // namespace pjrt::bench
