// SPDX-License-Identifier: Apache-2.0
//
// Gathers and scatters, by rows of 512 bytes, by columns and by single elements, at indices in
// order and spread over the array. MiB: the size of the array. of_bandwidth: bytes of elements and
// indices read and written a second, over those of memcpy by as many threads on arrays of that
// size; memory moves whole cache lines, so single elements spread over a large array reach a
// sixteenth at best.
#include <string>

#include "absl/strings/substitute.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

constexpr int64_t kRow = 128;

// n indices below n, a power of two, computed in the program: in order, or spread over all by a
// multiplication with an odd number.
std::string Indices(int64_t n, bool is_spread) {
  return absl::Substitute(
      "  %count = stablehlo.iota dim = 0 : tensor<$0x1xi32>\n"
      "  %far = stablehlo.constant dense<$1> : tensor<$0x1xi32>\n"
      "  %spread = stablehlo.multiply %count, %far : tensor<$0x1xi32>\n"
      "  %mask = stablehlo.constant dense<$2> : tensor<$0x1xi32>\n"
      "  %i = stablehlo.and %spread, %mask : tensor<$0x1xi32>\n",
      n, is_spread ? 1640531527 : 1, n - 1);
}

// Rows of `row` f32 as many as the array has.
void Gather(benchmark::State& state, int64_t row, bool is_spread) {
  const int64_t n = (state.range(1) << 20) / (4 * row);
  MeasureOfBandwidth(
      state,
      absl::Substitute("func.func @main(%x: tensor<$0x$1xf32>) -> tensor<$0x$1xf32> {\n$2"
                       "  %0 = \"stablehlo.gather\"(%x, %i) {dimension_numbers = "
                       "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
                       "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, "
                       "$1>} : (tensor<$0x$1xf32>, tensor<$0x1xi32>) -> tensor<$0x$1xf32>\n"
                       "  return %0 : tensor<$0x$1xf32>\n}\n",
                       n, row, Indices(n, is_spread)),
      8 * n * row + 8 * n);
}
// The columns of a matrix of rows of `row` f32, in order or in another.
void GatherColumns(benchmark::State& state, int64_t row, bool is_spread) {
  const int64_t n = (state.range(1) << 20) / (4 * row);
  MeasureOfBandwidth(
      state,
      absl::Substitute("func.func @main(%x: tensor<$0x$1xf32>) -> tensor<$0x$1xf32> {\n$2"
                       "  %0 = \"stablehlo.gather\"(%x, %i) {dimension_numbers = "
                       "#stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], "
                       "start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: $0, "
                       "1>} : (tensor<$0x$1xf32>, tensor<$1x1xi32>) -> tensor<$0x$1xf32>\n"
                       "  return %0 : tensor<$0x$1xf32>\n}\n",
                       n, row, Indices(row, is_spread)),
      8 * n * row);
}
void Scatter(benchmark::State& state, int64_t row, bool is_spread, const char* combine) {
  const int64_t n = (state.range(1) << 20) / (4 * row);
  MeasureOfBandwidth(
      state,
      absl::Substitute(
          "func.func @main(%x: tensor<$0x$1xf32>, %u: tensor<$0x$1xf32>) -> tensor<$0x$1xf32> {\n$2"
          "  %0 = \"stablehlo.scatter\"(%x, %i, %u) ({\n"
          "    ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
          "      %s = stablehlo.$3 %a, %b : tensor<f32>\n"
          "      stablehlo.return %s : tensor<f32>\n"
          "  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], "
          "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} "
          ": (tensor<$0x$1xf32>, tensor<$0x1xi32>, tensor<$0x$1xf32>) -> tensor<$0x$1xf32>\n"
          "  return %0 : tensor<$0x$1xf32>\n}\n",
          n, row, Indices(n, is_spread), combine),
      // The operand is copied; its rows are read again, with the updates, and written.
      20 * n * row + 8 * n);
}
void BM_GatherRows(benchmark::State& state) { Gather(state, kRow, true); }
void BM_GatherRowsInOrder(benchmark::State& state) { Gather(state, kRow, false); }
void BM_GatherPoints(benchmark::State& state) { Gather(state, 1, true); }
void BM_GatherPointsInOrder(benchmark::State& state) { Gather(state, 1, false); }
void BM_GatherColumns(benchmark::State& state) { GatherColumns(state, kRow, true); }
void BM_GatherFewColumns(benchmark::State& state) { GatherColumns(state, 4, true); }
void BM_ScatterAddRows(benchmark::State& state) { Scatter(state, kRow, true, "add"); }
void BM_ScatterAddRowsInOrder(benchmark::State& state) { Scatter(state, kRow, false, "add"); }
void BM_ScatterAddPoints(benchmark::State& state) { Scatter(state, 1, true, "add"); }
void BM_ScatterAddPointsInOrder(benchmark::State& state) { Scatter(state, 1, false, "add"); }
void BM_ScatterMaxPoints(benchmark::State& state) { Scatter(state, 1, true, "maximum"); }

#define PJRT_BENCH(name)                      \
  BENCHMARK(name)                             \
      ->ArgNames({"threads", "MiB"})          \
      ->ArgsProduct({{1, Cores()}, {4, 128}}) \
      ->UseRealTime()                         \
      ->Unit(benchmark::kMicrosecond)
PJRT_BENCH(BM_GatherRows);
PJRT_BENCH(BM_GatherRowsInOrder);
PJRT_BENCH(BM_GatherPoints);
PJRT_BENCH(BM_GatherPointsInOrder);
PJRT_BENCH(BM_GatherColumns);
PJRT_BENCH(BM_GatherFewColumns);
PJRT_BENCH(BM_ScatterAddRows);
PJRT_BENCH(BM_ScatterAddRowsInOrder);
PJRT_BENCH(BM_ScatterAddPoints);
PJRT_BENCH(BM_ScatterAddPointsInOrder);
PJRT_BENCH(BM_ScatterMaxPoints);

}  // namespace
}  // namespace pjrt::bench
