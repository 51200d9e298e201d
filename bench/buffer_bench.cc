// SPDX-License-Identifier: Apache-2.0
//
// What the runtime costs around a program: buffers in and out, and arguments by their number.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "benchmark/benchmark.h"
#include "pjrt/pjrt.h"

namespace pjrt {
namespace {

using Semantics = PjRtClient::HostBufferSemantics;

struct Cpu {
  Cpu()
      : client(*GetCpuClient()),
        memory(*client->addressable_devices()[0]->default_memory_space()) {}

  std::unique_ptr<PjRtBuffer> Make(const std::vector<float>& values, Semantics semantics,
                                   std::optional<absl::Span<const int64_t>> strides = std::nullopt,
                                   std::vector<int64_t> dims = {}) const {
    if (dims.empty()) dims = {static_cast<int64_t>(values.size())};
    return *client->BufferFromHostBuffer(values.data(), F32, dims, strides, semantics, nullptr,
                                         memory, nullptr);
  }

  std::unique_ptr<PjRtClient> client;
  PjRtMemorySpace* memory;
};

void BM_BufferFromHostBuffer(benchmark::State& state) {
  const Cpu cpu;
  const std::vector<float> values(static_cast<size_t>(state.range(0)), 1.0f);
  for (auto _ : state) {
    auto buffer = cpu.Make(values, Semantics::kImmutableOnlyDuringCall);
    benchmark::DoNotOptimize(buffer);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}
BENCHMARK(BM_BufferFromHostBuffer)->RangeMultiplier(64)->Range(1, 1 << 24);

void BM_CreateZeroCopyBuffer(benchmark::State& state) {
  const Cpu cpu;
  Literal literal = *Literal::Make(MakeShape(F32, {1024}));
  for (auto _ : state) {
    auto buffer = cpu.client->BufferFromHostBuffer(literal.untyped_data(), F32, {1024},
                                                   std::nullopt, Semantics::kImmutableZeroCopy,
                                                   nullptr, cpu.memory, nullptr);
    benchmark::DoNotOptimize(buffer);
  }
}
BENCHMARK(BM_CreateZeroCopyBuffer);

void BM_TransposeOnTheWayIn(benchmark::State& state) {
  const Cpu cpu;
  const int64_t n = state.range(0);
  const std::vector<float> values(static_cast<size_t>(n * n), 1.0f);
  const int64_t strides[] = {4, 4 * n};
  for (auto _ : state) {
    auto buffer =
        cpu.Make(values, Semantics::kImmutableOnlyDuringCall, absl::MakeConstSpan(strides), {n, n});
    benchmark::DoNotOptimize(buffer);
  }
  state.SetBytesProcessed(state.iterations() * n * n * 4);
}
BENCHMARK(BM_TransposeOnTheWayIn)->Arg(64)->Arg(2048);

void BM_ToLiteral(benchmark::State& state) {
  const Cpu cpu;
  const auto buffer = cpu.Make(std::vector<float>(static_cast<size_t>(state.range(0)), 1.0f),
                               Semantics::kImmutableOnlyDuringCall);
  Literal literal = *Literal::Make(MakeShape(F32, {state.range(0)}));
  for (auto _ : state) {
    absl::Status status = buffer->ToLiteralSync(&literal);
    if (!status.ok()) state.SkipWithError(status.ToString().c_str());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0) * 4);
}
BENCHMARK(BM_ToLiteral)->RangeMultiplier(64)->Range(1, 1 << 24);

// A program of n scalar parameters that returns the first of them plus itself.
std::string ProgramOfManyParameters(int64_t n) {
  std::string text = "func.func @main(";
  for (int64_t i = 0; i < n; ++i) absl::StrAppend(&text, i ? ", " : "", "%a", i, ": tensor<f32>");
  absl::StrAppend(&text, ") -> tensor<f32> {\n  %r = stablehlo.add %a0, %a0 : tensor<f32>\n",
                  "  return %r : tensor<f32>\n}");
  return text;
}

void BM_ExecuteByNumberOfArguments(benchmark::State& state) {
  const Cpu cpu;
  auto executable = *cpu.client->Compile(ProgramOfManyParameters(state.range(0)), CompileOptions());
  std::vector<std::unique_ptr<PjRtBuffer>> buffers;
  std::vector<std::vector<PjRtBuffer*>> arguments(1);
  for (int64_t i = 0; i < state.range(0); ++i) {
    const float value = 1.0f;
    buffers.push_back(*cpu.client->BufferFromHostBuffer(&value, F32, {}, std::nullopt,
                                                        Semantics::kImmutableOnlyDuringCall,
                                                        nullptr, cpu.memory, nullptr));
    arguments[0].push_back(buffers.back().get());
  }
  const ExecuteOptions options;
  for (auto _ : state) {
    auto results = executable->Execute(arguments, options);
    if (!results.ok()) state.SkipWithError(results.status().ToString().c_str());
  }
}
BENCHMARK(BM_ExecuteByNumberOfArguments)->RangeMultiplier(8)->Range(1, 512);

}  // namespace
}  // namespace pjrt
