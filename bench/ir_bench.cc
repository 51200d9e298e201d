// SPDX-License-Identifier: Apache-2.0
//
// The program in memory: making, printing, parsing, copying and comparing modules of many ops.
// Items are ops.
#include <cstdint>
#include <memory>
#include <string>

#include "benchmark/benchmark.h"
#include "pjrt/ir/module.h"
#include "pjrt/ir/parser.h"
#include "pjrt/ir/printer.h"

namespace pjrt::ir {
namespace {

// A chain of `ops` additions and broadcasts.
std::unique_ptr<Module> Chain(int64_t ops) {
  auto module = std::make_unique<Module>();
  Context& c = module->context();
  const Type type = c.Tensor({2, 3}, F32);
  Function f = module->AddFunction("main", c.Function({type, type}, {type}));
  Value* value = f.body()->argument(0);
  for (int64_t i = 0; i < ops; ++i) {
    Value* const operands[] = {value, f.body()->argument(1)};
    const NamedAttribute dims[] = {{"broadcast_dimensions", c.I64Array({0, 1})}};
    OpState state;
    const bool add = i % 2 == 0;
    state.name = add ? "stablehlo.add" : "stablehlo.broadcast_in_dim";
    state.operands = absl::MakeConstSpan(operands, add ? 2 : 1);
    if (!add) state.attributes = dims;
    state.result_types = absl::MakeConstSpan(&type, 1);
    value = module->Append(f.body(), state)->result();
  }
  OpState state;
  state.name = "func.return";
  state.operands = absl::MakeConstSpan(&value, 1);
  module->Append(f.body(), state);
  return module;
}

void Make(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Chain(state.range(0)));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Print(benchmark::State& state) {
  const std::unique_ptr<Module> module = Chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(PrintModule(*module));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Parse(benchmark::State& state) {
  const std::string text = PrintModule(*Chain(state.range(0)));
  for (auto _ : state) {
    auto module = ParseModule(text);
    if (!module.ok()) return state.SkipWithError(std::string(module.status().message()).c_str());
    benchmark::DoNotOptimize(*module);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

void Clone(benchmark::State& state) {
  const std::unique_ptr<Module> module = Chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(module->Clone());
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void Compare(benchmark::State& state) {
  const std::unique_ptr<Module> a = Chain(state.range(0));
  const std::unique_ptr<Module> b = Chain(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(Equal(*a, *b));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(Make)->Arg(10)->Arg(1000)->Arg(100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(Print)->Arg(10)->Arg(1000)->Arg(100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(Parse)->Arg(10)->Arg(1000)->Arg(100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(Clone)->Arg(1000)->Arg(100000)->Unit(benchmark::kMicrosecond);
BENCHMARK(Compare)->Arg(1000)->Arg(100000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace pjrt::ir
