// SPDX-License-Identifier: Apache-2.0
//
// Ops that move elements and compute nothing: transposes, slices, reversals, concatenations, pads,
// gathers and scatters, on some 8 MiB. of_bandwidth: bytes read and written a second, over those of
// memcpy by as many threads.
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

std::string Unary(const std::string& from, const std::string& to, const std::string& op) {
  return absl::StrCat("func.func @main(%x: tensor<", from, ">) -> tensor<", to, "> {\n  %0 = ", op,
                      " : (tensor<", from, ">) -> tensor<", to, ">\n  return %0 : tensor<", to,
                      ">\n}\n");
}

void BM_TransposeF32(benchmark::State& state) {
  MeasureOfBandwidth(
      state, Unary("1024x1024xf32", "1024x1024xf32", "stablehlo.transpose %x, dims = [1, 0]"),
      8 << 20);
}
void BM_TransposeU8(benchmark::State& state) {
  MeasureOfBandwidth(
      state, Unary("2048x2048xui8", "2048x2048xui8", "stablehlo.transpose %x, dims = [1, 0]"),
      8 << 20);
}
void BM_TransposeF64(benchmark::State& state) {
  MeasureOfBandwidth(state,
                     Unary("1000x500xf64", "500x1000xf64", "stablehlo.transpose %x, dims = [1, 0]"),
                     8000000);
}
void BM_TransposeHeads(benchmark::State& state) {
  MeasureOfBandwidth(
      state,
      Unary("16x256x8x64xbf16", "16x8x256x64xbf16", "stablehlo.transpose %x, dims = [0, 2, 1, 3]"),
      8 << 20);
}
void BM_ChannelsLast(benchmark::State& state) {
  MeasureOfBandwidth(
      state,
      Unary("8x64x56x56xf32", "8x56x56x64xf32", "stablehlo.transpose %x, dims = [0, 2, 3, 1]"),
      8 * 8 * 64 * 56 * 56);
}
void BM_Reverse(benchmark::State& state) {
  MeasureOfBandwidth(state, R"(
    func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
      %0 = stablehlo.reverse %x, dims = [0, 1] : tensor<1024x1024xf32>
      return %0 : tensor<1024x1024xf32>
    })",
                     8 << 20);
}
// The bytes of every second element are all read.
void BM_EverySecond(benchmark::State& state) {
  MeasureOfBandwidth(
      state, Unary("1024x2048xf32", "1024x1024xf32", "stablehlo.slice %x [0:1024, 0:2048:2]"),
      12 << 20);
}
void BM_Concatenate(benchmark::State& state) {
  MeasureOfBandwidth(state, R"(
    func.func @main(%x: tensor<1024x512xf32>, %y: tensor<1024x512xf32>) -> tensor<1024x1024xf32> {
      %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<1024x512xf32>, tensor<1024x512xf32>) -> tensor<1024x1024xf32>
      return %0 : tensor<1024x1024xf32>
    })",
                     8 << 20);
}
void BM_Pad(benchmark::State& state) {
  MeasureOfBandwidth(state, R"(
    func.func @main(%x: tensor<1024x1024xf32>, %v: tensor<f32>) -> tensor<1040x1040xf32> {
      %0 = stablehlo.pad %x, %v, low = [8, 8], high = [8, 8], interior = [0, 0] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1040x1040xf32>
      return %0 : tensor<1040x1040xf32>
    })",
                     8 << 20);
}

// Indices spread over `size`, computed in the program.
std::string IndexText(int64_t n, int64_t size) {
  const std::string type = absl::StrCat("tensor<", n, "x1xi32>");
  return absl::StrCat("  %count = stablehlo.iota dim = 0 : ", type,
                      "\n  %far = stablehlo.constant dense<40503> : ", type,
                      "\n  %spread = stablehlo.multiply %count, %far : ", type,
                      "\n  %mask = stablehlo.constant dense<", size - 1, "> : ", type,
                      "\n  %i = stablehlo.and %spread, %mask : ", type, "\n");
}

// `n` rows out of `size`, or added to rows of as many.
void Gather(benchmark::State& state, int64_t n, int64_t size, int64_t row) {
  const std::string from = absl::StrCat("tensor<", size, "x", row, "xf32>");
  const std::string to = absl::StrCat("tensor<", n, "x", row, "xf32>");
  MeasureOfBandwidth(
      state,
      absl::StrCat("func.func @main(%x: ", from, ") -> ", to, " {\n", IndexText(n, size),
                   "  %0 = \"stablehlo.gather\"(%x, %i) {dimension_numbers = "
                   "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], "
                   "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, ",
                   row, ">} : (", from, ", tensor<", n, "x1xi32>) -> ", to, "\n  return %0 : ", to,
                   "\n}\n"),
      8 * n * row);
}
void ScatterAdd(benchmark::State& state, int64_t n, int64_t size, int64_t row) {
  const std::string array = absl::StrCat("tensor<", size, "x", row, "xf32>");
  const std::string update = absl::StrCat("tensor<", n, "x", row, "xf32>");
  MeasureOfBandwidth(
      state,
      absl::StrCat("func.func @main(%x: ", array, ", %u: ", update, ") -> ", array, " {\n",
                   IndexText(n, size),
                   "  %0 = \"stablehlo.scatter\"(%x, %i, %u) ({\n    ^bb0(%a: tensor<f32>, %b: "
                   "tensor<f32>):\n      %s = stablehlo.add %a, %b : tensor<f32>\n      "
                   "stablehlo.return %s : tensor<f32>\n  }) {scatter_dimension_numbers = "
                   "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                   "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (",
                   array, ", tensor<", n, "x1xi32>, ", update, ") -> ", array,
                   "\n  return %0 : ", array, "\n}\n"),
      12 * n * row);
}
void BM_GatherRows(benchmark::State& state) { Gather(state, 8192, 8192, 128); }
void BM_GatherPoints(benchmark::State& state) { Gather(state, 1 << 20, 1 << 20, 1); }
void BM_ScatterAddRows(benchmark::State& state) { ScatterAdd(state, 8192, 8192, 128); }
void BM_ScatterAddPoints(benchmark::State& state) { ScatterAdd(state, 1 << 20, 1 << 20, 1); }

#define PJRT_BENCH(name)                                                          \
  BENCHMARK(name)->ArgName("threads")->Arg(1)->Arg(Cores())->UseRealTime()->Unit( \
      benchmark::kMicrosecond)
PJRT_BENCH(BM_TransposeF32);
PJRT_BENCH(BM_TransposeU8);
PJRT_BENCH(BM_TransposeF64);
PJRT_BENCH(BM_TransposeHeads);
PJRT_BENCH(BM_ChannelsLast);
PJRT_BENCH(BM_Reverse);
PJRT_BENCH(BM_EverySecond);
PJRT_BENCH(BM_Concatenate);
PJRT_BENCH(BM_Pad);
PJRT_BENCH(BM_GatherRows);
PJRT_BENCH(BM_GatherPoints);
PJRT_BENCH(BM_ScatterAddRows);
PJRT_BENCH(BM_ScatterAddPoints);

}  // namespace
}  // namespace pjrt::bench
