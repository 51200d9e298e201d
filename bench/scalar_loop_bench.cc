// SPDX-License-Identifier: Apache-2.0
//
// Loops whose bodies compute a few single elements: the time of one iteration, and of one of its
// operations.
#include <string>

#include "absl/strings/str_cat.h"
#include "bench/program.h"
#include "benchmark/benchmark.h"

namespace pjrt::bench {
namespace {

constexpr int64_t kIterations = 10000;

// A loop over an i32 counter and an element of type `element`; `body` makes %y from %x and %i in
// `operations` operations, the counter's two included.
void Measure(benchmark::State& state, const std::string& element, const std::string& body,
             int operations) {
  const std::string type = absl::StrCat("tensor<", element, ">");
  Program program(
      absl::StrCat("func.func @main(%a: ", type, ") -> ", type,
                   " {\n"
                   "  %zero = stablehlo.constant dense<0> : tensor<i32>\n"
                   "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
                   "  %n = stablehlo.constant dense<",
                   kIterations,
                   "> : tensor<i32>\n"
                   "  %w:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, ",
                   type,
                   "\n  cond {\n"
                   "    %go = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> "
                   "tensor<i1>\n"
                   "    stablehlo.return %go : tensor<i1>\n  } do {\n",
                   body,
                   "    %next = stablehlo.add %i, %one : tensor<i32>\n"
                   "    stablehlo.return %next, %y : tensor<i32>, ",
                   type, "\n  }\n  return %w#1 : ", type, "\n}\n"),
      /*threads=*/1);
  const double seconds = Repeat(state, program);
  state.counters["ns_an_iteration"] = seconds * 1e9 / static_cast<double>(kIterations);
  state.counters["ns_an_operation"] = seconds * 1e9 / static_cast<double>(kIterations * operations);
}

void BM_Count(benchmark::State& state) {
  Measure(state, "i32", "    %y = stablehlo.xor %x, %i : tensor<i32>\n", 3);
}

// A Newton step towards a square root.
void BM_Newton(benchmark::State& state) {
  Measure(state, "f32", R"(
    %half = stablehlo.constant dense<0.5> : tensor<f32>
    %0 = stablehlo.divide %a, %x : tensor<f32>
    %1 = stablehlo.add %x, %0 : tensor<f32>
    %y = stablehlo.multiply %half, %1 : tensor<f32>
)",
          5);
}

// A linear congruence, and one way of two on its low bit.
void BM_Branch(benchmark::State& state) {
  Measure(state, "i64", R"(
    %p = stablehlo.constant dense<6364136223846793005> : tensor<i64>
    %q = stablehlo.constant dense<1442695040888963407> : tensor<i64>
    %bit = stablehlo.constant dense<1> : tensor<i64>
    %none = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.multiply %x, %p : tensor<i64>
    %1 = stablehlo.add %0, %q : tensor<i64>
    %2 = stablehlo.and %1, %bit : tensor<i64>
    %3 = stablehlo.compare EQ, %2, %none : (tensor<i64>, tensor<i64>) -> tensor<i1>
    %y = "stablehlo.if"(%3) ({
      %4 = stablehlo.subtract %1, %q : tensor<i64>
      stablehlo.return %4 : tensor<i64>
    }, {
      stablehlo.return %1 : tensor<i64>
    }) : (tensor<i1>) -> tensor<i64>
)",
          8);
}

BENCHMARK(BM_Count)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Newton)->UseRealTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_Branch)->UseRealTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pjrt::bench
