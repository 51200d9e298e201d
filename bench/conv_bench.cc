// SPDX-License-Identifier: Apache-2.0
//
// Convolutions. of_peak: multiplications and additions a second that the definition needs (none
// with the zeros of a dilated input), over those that as many threads reach on f32 in registers.
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

// f32 tensors by their dims ("4x56x56x64x"), the attributes, and how many multiply-adds there are.
struct Convolution {
  const char *input, *kernel, *output, *numbers, *window;
  int groups;
  double multiply_adds;
};

constexpr const char* kNhwc = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]";
constexpr const char* kNchw = "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]";

void Measure(benchmark::State& state, const Convolution& c) {
  const int threads = static_cast<int>(state.range(0));
  const auto tensor = [](const char* dims) { return absl::StrCat("tensor<", dims, "f32>"); };
  const std::string a = tensor(c.input), b = tensor(c.kernel), r = tensor(c.output);
  Program program(
      absl::StrCat("func.func @main(%a: ", a, ", %b: ", b, ") -> ", r,
                   " {\n  %r = stablehlo.convolution(%a, %b) dim_numbers = ", c.numbers,
                   ", window = {", c.window,
                   "} {batch_group_count = 1 : i64, feature_group_count = ", c.groups,
                   " : i64} : (", a, ", ", b, ") -> ", r, "\n  return %r : ", r, "\n}\n"),
      threads);
  const double peak = MultiplyAddPeak(threads);
  const double rate = 2 * c.multiply_adds / Repeat(state, program);
  state.counters["flops"] = rate;
  state.counters["of_peak"] = rate / peak;
}

void BM_Conv3x3(benchmark::State& state) {
  Measure(state, {"1x56x56x64x", "3x3x64x64x", "1x56x56x64x", kNhwc, "pad = [[1, 1], [1, 1]]", 1,
                  56. * 56 * 64 * 64 * 9});
}
void BM_Conv3x3Nchw(benchmark::State& state) {
  Measure(state, {"1x64x56x56x", "64x64x3x3x", "1x64x56x56x", kNchw, "pad = [[1, 1], [1, 1]]", 1,
                  56. * 56 * 64 * 64 * 9});
}
void BM_Conv1x1(benchmark::State& state) {
  Measure(state,
          {"1x28x28x128x", "1x1x128x256x", "1x28x28x256x", kNhwc, "", 1, 28. * 28 * 128 * 256});
}
void BM_Stem7x7Stride2(benchmark::State& state) {
  Measure(state, {"1x224x224x3x", "7x7x3x64x", "1x112x112x64x", kNhwc,
                  "stride = [2, 2], pad = [[3, 2], [3, 2]]", 1, 112. * 112 * 64 * 49 * 3});
}
void BM_Depthwise3x3(benchmark::State& state) {
  Measure(state, {"1x56x56x96x", "3x3x1x96x", "1x56x56x96x", kNhwc, "pad = [[1, 1], [1, 1]]", 96,
                  56. * 56 * 96 * 9});
}
void BM_Depthwise3x3Nchw(benchmark::State& state) {
  Measure(state, {"1x96x56x56x", "96x1x3x3x", "1x96x56x56x", kNchw, "pad = [[1, 1], [1, 1]]", 96,
                  56. * 56 * 96 * 9});
}
void BM_Groups32Of4(benchmark::State& state) {
  Measure(state, {"1x56x56x128x", "3x3x4x128x", "1x56x56x128x", kNhwc, "pad = [[1, 1], [1, 1]]", 32,
                  56. * 56 * 128 * 4 * 9});
}
void BM_Groups4Of32(benchmark::State& state) {
  Measure(state, {"1x56x56x128x", "3x3x32x128x", "1x56x56x128x", kNhwc, "pad = [[1, 1], [1, 1]]", 4,
                  56. * 56 * 128 * 32 * 9});
}
void BM_Transposed3x3Stride2(benchmark::State& state) {
  Measure(state, {"1x28x28x64x", "3x3x64x64x", "1x56x56x64x", kNhwc,
                  "pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2]", 1, 28. * 28 * 64 * 64 * 9});
}
void BM_Dilated3x3(benchmark::State& state) {
  Measure(state, {"1x56x56x64x", "3x3x64x64x", "1x56x56x64x", kNhwc,
                  "pad = [[2, 2], [2, 2]], rhs_dilate = [2, 2]", 1, 56. * 56 * 64 * 64 * 9});
}
void BM_GradientOfKernel3x3(benchmark::State& state) {
  Measure(state,
          {"4x28x28x64x", "4x28x28x64x", "3x3x64x64x", "[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]",
           "pad = [[1, 1], [1, 1]]", 1, 4. * 28 * 28 * 64 * 64 * 9});
}

BENCHMARK(BM_Conv3x3)->Apply(OverThreads);
BENCHMARK(BM_Conv3x3Nchw)->Apply(OverThreads);
BENCHMARK(BM_Conv1x1)->Apply(OverThreads);
BENCHMARK(BM_Stem7x7Stride2)->Apply(OverThreads);
BENCHMARK(BM_Depthwise3x3)->Apply(OverThreads);
BENCHMARK(BM_Depthwise3x3Nchw)->Apply(OverThreads);
BENCHMARK(BM_Groups32Of4)->Apply(OverThreads);
BENCHMARK(BM_Groups4Of32)->Apply(OverThreads);
BENCHMARK(BM_Transposed3x3Stride2)->Apply(OverThreads);
BENCHMARK(BM_Dilated3x3)->Apply(OverThreads);
BENCHMARK(BM_GradientOfKernel3x3)->Apply(OverThreads);

}  // namespace
}  // namespace pjrt::bench
