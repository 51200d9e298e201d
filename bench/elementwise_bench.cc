// SPDX-License-Identifier: Apache-2.0
//
// Fused elementwise programs. MiB: the size of the array that is read, once one that stays in the
// last cache and once one that does not. of_bandwidth: bytes read and written a second, over those
// of memcpy by as many threads on arrays of that size; a program that computes little an element
// should come near 1.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "bench/machine.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

// A program from %x to %y, both of `type`, T in `body`, whose elements have `size` bytes.
void Unary(benchmark::State& state, const std::string& body, const std::string& type, int size) {
  const int64_t elements = (state.range(1) << 20) / size;
  const std::string text = absl::StrReplaceAll(
      absl::StrCat("func.func @main(%x: T) -> T {\n", body, "  return %y : T\n}\n"),
      {{"T", absl::StrCat("tensor<", elements, "x", type, ">")}});
  MeasureOfBandwidth(state, text, 2 * size * elements);
  state.counters["elements_a_second"] = benchmark::Counter(
      static_cast<double>(elements * state.iterations()), benchmark::Counter::kIsRate);
}

void BM_Tanh(benchmark::State& state) { Unary(state, "%y = stablehlo.tanh %x : T\n", "f32", 4); }
void BM_Exponential(benchmark::State& state) {
  Unary(state, "%y = stablehlo.exponential %x : T\n", "f32", 4);
}
void BM_Sine(benchmark::State& state) { Unary(state, "%y = stablehlo.sine %x : T\n", "f32", 4); }
void BM_LogPlusOne(benchmark::State& state) {
  Unary(state, "%y = stablehlo.log_plus_one %x : T\n", "f32", 4);
}
void BM_Logistic(benchmark::State& state) {
  Unary(state, "%y = stablehlo.logistic %x : T\n", "f32", 4);
}
void BM_TanhBf16(benchmark::State& state) {
  Unary(state, "%y = stablehlo.tanh %x : T\n", "bf16", 2);
}
// x * logistic(x).
void BM_SiluBf16(benchmark::State& state) {
  Unary(state, "%s = stablehlo.logistic %x : T\n  %y = stablehlo.multiply %x, %s : T\n", "bf16", 2);
}
void BM_NegateBf16(benchmark::State& state) {
  Unary(state, "%y = stablehlo.negate %x : T\n", "bf16", 2);
}

// 0.5 * x * (1 + tanh(0.79788456 * (x + 0.044715 * x^3)))
constexpr char kGelu[] = R"(
    %a = stablehlo.constant dense<0.044715> : T
    %b = stablehlo.constant dense<0.797884561> : T
    %one = stablehlo.constant dense<1.0> : T
    %half = stablehlo.constant dense<0.5> : T
    %0 = stablehlo.multiply %x, %x : T
    %1 = stablehlo.multiply %0, %x : T
    %2 = stablehlo.multiply %1, %a : T
    %3 = stablehlo.add %x, %2 : T
    %4 = stablehlo.multiply %3, %b : T
    %5 = stablehlo.tanh %4 : T
    %6 = stablehlo.add %5, %one : T
    %7 = stablehlo.multiply %x, %half : T
    %y = stablehlo.multiply %7, %6 : T
)";
void BM_Gelu(benchmark::State& state) { Unary(state, kGelu, "f32", 4); }
void BM_GeluBf16(benchmark::State& state) { Unary(state, kGelu, "bf16", 2); }

// Of c64.
void ComplexFunction(benchmark::State& state, const char* name) {
  Unary(state, absl::StrCat("%y = stablehlo.", name, " %x : T\n"), "complex<f32>", 8);
}
void BM_ComplexExponential(benchmark::State& state) { ComplexFunction(state, "exponential"); }
void BM_ComplexLog(benchmark::State& state) { ComplexFunction(state, "log"); }
void BM_ComplexSqrt(benchmark::State& state) { ComplexFunction(state, "sqrt"); }
void BM_ComplexSine(benchmark::State& state) { ComplexFunction(state, "sine"); }
void BM_ComplexTanh(benchmark::State& state) { ComplexFunction(state, "tanh"); }

// Thirty additions and multiplications in one loop.
void LongChain(benchmark::State& state, const std::string& type, int size) {
  std::string body = "%c = stablehlo.constant dense<1.001> : T\n%v0 = stablehlo.add %x, %c : T\n";
  for (int i = 0; i < 29; ++i) {
    absl::StrAppend(&body, "%v", i + 1, " = stablehlo.", i % 2 == 0 ? "multiply" : "add", " %v", i,
                    i % 3 == 0 ? ", %x" : ", %c", " : T\n");
  }
  absl::StrAppend(&body, "%y = stablehlo.negate %v29 : T\n");
  Unary(state, body, type, size);
}
void BM_LongChain(benchmark::State& state) { LongChain(state, "f32", 4); }
void BM_LongChainBf16(benchmark::State& state) { LongChain(state, "bf16", 2); }

BENCHMARK(BM_Tanh)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_Exponential)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_Sine)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_LogPlusOne)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_Logistic)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_TanhBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_SiluBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_NegateBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_Gelu)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_GeluBf16)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ComplexExponential)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ComplexLog)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ComplexSqrt)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ComplexSine)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_ComplexTanh)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_LongChain)->Apply(OverThreadsAndSizes);
BENCHMARK(BM_LongChainBf16)->Apply(OverThreadsAndSizes);

}  // namespace
}  // namespace pjrt::bench
