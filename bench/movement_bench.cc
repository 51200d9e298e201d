// SPDX-License-Identifier: Apache-2.0
//
// Ops that move elements and compute nothing: transposes, slices, reversals, concatenations, pads
// and updates. MiB: the size of the array that is read, once one that stays in the last cache and
// once one that does not. of_bandwidth: bytes read and written a second, over those of memcpy by as
// many threads on arrays of that size.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

int64_t Bytes(const benchmark::State& state) { return state.range(1) << 20; }
// The side of a square of elements of `size` bytes, a multiple of 8.
int64_t Side(const benchmark::State& state, int size) {
  int64_t side = 8;
  while ((side + 8) * (side + 8) * size <= Bytes(state)) side += 8;
  return side;
}

// One op of one operand, which reads and writes `bytes`.
void Unary(benchmark::State& state, const std::string& from, const std::string& to,
           const std::string& op, int64_t bytes) {
  MeasureOfBandwidth(state,
                     absl::Substitute("func.func @main(%x: tensor<$0>) -> tensor<$1> {\n"
                                      "  %0 = $2 : (tensor<$0>) -> tensor<$1>\n"
                                      "  return %0 : tensor<$1>\n}\n",
                                      from, to, op),
                     bytes);
}

void Transpose(benchmark::State& state, int size, const char* element, int64_t less = 0) {
  const int64_t side = Side(state, size) - less;
  const std::string type = absl::StrCat(side, "x", side, "x", element);
  Unary(state, type, type, "stablehlo.transpose %x, dims = [1, 0]", 2 * side * side * size);
}
void BM_TransposeU8(benchmark::State& state) { Transpose(state, 1, "ui8"); }
void BM_TransposeBf16(benchmark::State& state) { Transpose(state, 2, "bf16"); }
void BM_TransposeF32(benchmark::State& state) { Transpose(state, 4, "f32"); }
void BM_TransposeF64(benchmark::State& state) { Transpose(state, 8, "f64"); }
void BM_TransposeC128(benchmark::State& state) { Transpose(state, 16, "complex<f64>"); }
// Sides that are no multiple of a cache line and no power of two.
void BM_TransposeOddU8(benchmark::State& state) { Transpose(state, 1, "ui8", 21); }
void BM_TransposeOddBf16(benchmark::State& state) { Transpose(state, 2, "bf16", 21); }
void BM_TransposeOddF32(benchmark::State& state) { Transpose(state, 4, "f32", 21); }
void BM_TransposeHeads(benchmark::State& state) {
  const int64_t batch = Bytes(state) / (256 * 8 * 64 * 2);
  Unary(state, absl::StrCat(batch, "x256x8x64xbf16"), absl::StrCat(batch, "x8x256x64xbf16"),
        "stablehlo.transpose %x, dims = [0, 2, 1, 3]", 2 * batch * 256 * 8 * 64 * 2);
}
void BM_ChannelsLast(benchmark::State& state) {
  const int64_t batch = Bytes(state) / (64 * 64 * 64 * 4);
  Unary(state, absl::StrCat(batch, "x64x64x64xf32"), absl::StrCat(batch, "x64x64x64xf32"),
        "stablehlo.transpose %x, dims = [0, 2, 3, 1]", 2 * batch * 64 * 64 * 64 * 4);
}
void BM_ChannelsFirst(benchmark::State& state) {
  const int64_t batch = Bytes(state) / (56 * 56 * 64 * 4);
  Unary(state, absl::StrCat(batch, "x56x56x64xf32"), absl::StrCat(batch, "x64x56x56xf32"),
        "stablehlo.transpose %x, dims = [0, 3, 1, 2]", 2 * batch * 56 * 56 * 64 * 4);
}
// Pixels of three bytes to planes.
void BM_Planes(benchmark::State& state) {
  const int64_t batch = Bytes(state) / (256 * 256 * 3);
  Unary(state, absl::StrCat(batch, "x256x256x3xui8"), absl::StrCat(batch, "x3x256x256xui8"),
        "stablehlo.transpose %x, dims = [0, 3, 1, 2]", 2 * batch * 256 * 256 * 3);
}
// Batches of small matrices.
void BM_TransposeSmallF32(benchmark::State& state) {
  const int64_t batch = Bytes(state) / (3 * 3 * 4);
  const std::string type = absl::StrCat(batch, "x3x3xf32");
  Unary(state, type, type, "stablehlo.transpose %x, dims = [0, 2, 1]", 2 * batch * 3 * 3 * 4);
}
// All dims in the opposite order: short runs on both sides, powers of two apart, or of bytes that
// begin anywhere in a line.
void ReverseDims(benchmark::State& state, const char* inner, const char* reversed, int64_t bytes) {
  const int64_t outer = Bytes(state) / bytes;
  Unary(state, absl::StrCat(outer, "x", inner), absl::Substitute(reversed, outer),
        "stablehlo.transpose %x, dims = [3, 2, 1, 0]", 2 * outer * bytes);
}
void BM_ReverseDimsU8(benchmark::State& state) {
  ReverseDims(state, "128x128x128xui8", "128x128x128x$0xui8", 128 * 128 * 128);
}
void BM_ReverseOddDimsU8(benchmark::State& state) {
  ReverseDims(state, "31x33x125xui8", "125x33x31x$0xui8", 31 * 33 * 125);
}
void BM_ReverseDimsBf16(benchmark::State& state) {
  ReverseDims(state, "64x128x128xbf16", "128x128x64x$0xbf16", 64 * 128 * 128 * 2);
}
void BM_Reverse(benchmark::State& state) {
  const int64_t side = Side(state, 4);
  const std::string type = absl::StrCat(side, "x", side, "xf32");
  Unary(state, type, type, "stablehlo.reverse %x, dims = [0, 1]", 2 * Bytes(state));
}
// The bytes of every second element are all read.
void BM_EverySecond(benchmark::State& state) {
  const int64_t rows = Bytes(state) / 8192;
  Unary(state, absl::StrCat(rows, "x2048xf32"), absl::StrCat(rows, "x1024xf32"),
        absl::StrCat("stablehlo.slice %x [0:", rows, ", 0:2048:2]"), 3 * Bytes(state) / 2);
}
// Two arrays of `rows` x `columns`.
void Concatenate(benchmark::State& state, int dim, int64_t rows, int64_t columns) {
  MeasureOfBandwidth(
      state,
      absl::Substitute(
          "func.func @main(%x: tensor<$0xf32>, %y: tensor<$0xf32>) -> tensor<$1xf32> "
          "{\n  %0 = stablehlo.concatenate %x, %y, dim = $2 : (tensor<$0xf32>, "
          "tensor<$0xf32>) -> tensor<$1xf32>\n  return %0 : tensor<$1xf32>\n}\n",
          absl::StrCat(rows, "x", columns),
          dim == 0 ? absl::StrCat(2 * rows, "x", columns) : absl::StrCat(rows, "x", 2 * columns),
          dim),
      2 * Bytes(state));
}
// Side by side, and below each other.
void BM_Concatenate(benchmark::State& state) { Concatenate(state, 1, Bytes(state) / 4096, 512); }
void BM_ConcatenateRows(benchmark::State& state) {
  Concatenate(state, 0, Bytes(state) / 8192, 1024);
}
void BM_Pad(benchmark::State& state) {
  const int64_t rows = Bytes(state) / 4096;
  MeasureOfBandwidth(
      state,
      absl::Substitute(
          "func.func @main(%x: tensor<$0x1024xf32>, %v: tensor<f32>) -> tensor<$1x1040xf32> {\n"
          "  %0 = stablehlo.pad %x, %v, low = [8, 8], high = [8, 8], interior = [0, 0] : "
          "(tensor<$0x1024xf32>, tensor<f32>) -> tensor<$1x1040xf32>\n"
          "  return %0 : tensor<$1x1040xf32>\n}\n",
          rows, rows + 16),
      2 * Bytes(state));
}
// A copy of the array with a quarter of its columns replaced: read and written.
void BM_UpdateSlice(benchmark::State& state) {
  const int64_t rows = Bytes(state) / 4096;
  MeasureOfBandwidth(
      state,
      absl::Substitute(
          "func.func @main(%x: tensor<$0x1024xf32>, %u: tensor<$0x256xf32>, %i: tensor<i32>) -> "
          "tensor<$0x1024xf32> {\n  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i : "
          "(tensor<$0x1024xf32>, tensor<$0x256xf32>, tensor<i32>, tensor<i32>) -> "
          "tensor<$0x1024xf32>\n  return %0 : tensor<$0x1024xf32>\n}\n",
          rows),
      5 * Bytes(state) / 2);
}

BENCHMARK(BM_TransposeU8)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeF32)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeF64)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeC128)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeOddU8)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeOddBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeOddF32)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeHeads)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ChannelsLast)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ChannelsFirst)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_Planes)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TransposeSmallF32)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ReverseDimsU8)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ReverseOddDimsU8)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ReverseDimsBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_Reverse)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_EverySecond)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_Concatenate)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ConcatenateRows)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_Pad)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_UpdateSlice)->Apply(OverThreadsAndSizes);

}  // namespace
}  // namespace pjrt::bench
