// SPDX-License-Identifier: Apache-2.0
//
// What a call costs when there is next to nothing to compute, and what compiling costs.
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/program.h"
#include "benchmark/benchmark.h"
#include "pjrt/compile_options.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/parser.h"

namespace pjrt::bench {
namespace {

// One element, inputs ready: the call, its result buffer made and dropped.
void BM_ExecuteAxpyOfOneElement(benchmark::State& state) {
  Program program(AxpyText(1), static_cast<int>(state.range(0)));
  for (auto _ : state) program.Execute();
}
BENCHMARK(BM_ExecuteAxpyOfOneElement)->ArgName("threads")->Arg(1)->Arg(2);

void BM_ExecuteAndAwaitAxpyOfOneElement(benchmark::State& state) {
  Program program(AxpyText(1), static_cast<int>(state.range(0)));
  for (auto _ : state) program.ExecuteAndWait();
}
BENCHMARK(BM_ExecuteAndAwaitAxpyOfOneElement)->ArgName("threads")->Arg(1)->Arg(2);

// The same by a program of any size: what finding the program for the arguments adds.
void BM_ExecuteAxpyOfAnySize(benchmark::State& state) {
  Program program(AnyAxpyText(), 1);
  for (auto _ : state) program.Execute();
}
BENCHMARK(BM_ExecuteAxpyOfAnySize);

// Four programs that take turns, and one whose sizes do.
void BM_ExecuteFourAxpysInTurn(benchmark::State& state) {
  std::vector<std::unique_ptr<Program>> programs;
  for (const int64_t size : {1, 2, 3, 4}) {
    programs.push_back(std::make_unique<Program>(AxpyText(size), 1));
  }
  size_t turn = 0;
  for (auto _ : state) {
    if (++turn >= programs.size()) turn = 0;
    programs[turn]->Execute();
  }
}
BENCHMARK(BM_ExecuteFourAxpysInTurn);

void BM_ExecuteAxpyOfSizesInTurn(benchmark::State& state) {
  Program program(AnyAxpyText(), 1);
  for (const int64_t size : {2, 3, 4}) program.AddArguments(size);
  for (int i = 0; i < 4; ++i) program.ExecuteAndWait();
  for (auto _ : state) program.Execute();
}
BENCHMARK(BM_ExecuteAxpyOfSizesInTurn);

// A program that doesn't read the index that it is given, and one that is made for it.
void BM_ExecuteAxpyWithUnreadIndex(benchmark::State& state) {
  Program program(UnreadIndexAxpyText(), 1);
  for (auto _ : state) program.Execute();
}
BENCHMARK(BM_ExecuteAxpyWithUnreadIndex);

void BM_ExecuteAxpyForTwoPlatforms(benchmark::State& state) {
  Program program(PlatformsAxpyText(), 1);
  for (auto _ : state) program.Execute();
}
BENCHMARK(BM_ExecuteAxpyForTwoPlatforms);

void BM_ParseMlp(benchmark::State& state) {
  const std::string text = MlpText();
  for (auto _ : state) benchmark::DoNotOptimize(ir::ParseModule(text));
}
BENCHMARK(BM_ParseMlp)->Unit(benchmark::kMicrosecond);

void BM_CompileParsedMlp(benchmark::State& state) {
  PjRtClient& client = Client(1);
  const std::string text = MlpText();
  for (auto _ : state) {
    state.PauseTiming();
    auto module = ir::ParseModule(text);
    if (!module.ok()) state.SkipWithError(module.status().ToString().c_str());
    PjRtProgram program(*std::move(module));
    state.ResumeTiming();
    benchmark::DoNotOptimize(client.Compile(std::move(program), CompileOptions()));
  }
}
BENCHMARK(BM_CompileParsedMlp)->Unit(benchmark::kMicrosecond);

void BM_CompileMlpText(benchmark::State& state) {
  PjRtClient& client = Client(1);
  const std::string text = MlpText();
  for (auto _ : state) benchmark::DoNotOptimize(client.Compile(text, CompileOptions()));
}
BENCHMARK(BM_CompileMlpText)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pjrt::bench
